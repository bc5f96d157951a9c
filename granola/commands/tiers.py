"""`granola tiers` and `granola ladder`: ladders of many questions, and one ladder in the terminal."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Literal

from abstraction.base.faults import OnReject
from abstraction.errors import RowError
from abstraction.files.writing import format_of, json_line
from granola.base.settings import Setting
from granola.base.terminal_lines import Part, escape_controls
from granola.commands.command import Command
from granola.commands.messages import (
    count,
    note,
    unanswered_rows_line,
    warn_of_misread_rows,
    warn_of_snapshot_gaps,
    with_progress,
)
from granola.commands.output import (
    REJECTS_SUFFIX,
    RowsCommand,
    WrittenRows,
    check_standard_input,
    is_csv_raw,
    open_model,
    writing,
    writing_rows,
)
from granola.errors import UsageError
from granola.scoring.shared_settings import (
    LINKED_TO,
    Force,
    Language,
    Limit,
    Linker,
    QuestionSettings,
    Relation,
    check_language,
    property_id,
)
from kg.base.files import atomic_path
from kg.store import open_store
from kg.store.protocol import Store

if TYPE_CHECKING:
    from rich.text import Text
    from rich.tree import Tree

    from abstraction.base.tiers import Tier
    from abstraction.files.rows import TieredRow
    from abstraction.linking.review import Decisions
    from abstraction.models.chat_model import ChatModel
    from abstraction.phrasing.checking import DecisionCounts
    from abstraction.phrasing.phraser import Mode, ModelPhraser
    from abstraction.phrasing.prompting import Prompt

LOG_SUFFIX = ".phrasing.jsonl"  # log of decisions beside the output
SHOWN_ALIASES = 6  # aliases of a tier that fit on a line
PLAIN_WIDTH = 160  # characters of a line of a ladder where the output is no terminal


@dataclass(frozen=True, kw_only=True)
class ReviewSettings:
    """Settings: the links that count, and the sheet where a person decides on doubtful ones."""

    min_confidence: Annotated[
        Literal["low", "medium", "high", "given"] | None,
        Setting("Make no ladder where an answer's entity is less certain than this.", advanced=True),
    ] = None
    review: Annotated[
        Path | None,
        Setting(
            "Write a CSV sheet of doubtful links to decide on, with rivals and what is known of them.", advanced=True
        ),
    ] = None
    decisions: Annotated[
        Path | None, Setting("A sheet of --review with decisions: what is meant, or none.", advanced=True)
    ] = None

    def read_review(self) -> Decisions:
        """Read the decisions of a person. Raises RowError as `read_decisions`."""
        from abstraction.linking.review import read_decisions

        return read_decisions(self.decisions) if self.decisions else {}

    def apply_review(
        self, ladders: Iterator[TieredRow], store: Store, decisions: Decisions, language: str
    ) -> Iterator[TieredRow]:
        """Yield rows without the ladders of refused or uncertain links, and write doubtful links to the sheet of
        --review.
        """
        from abstraction.linking.review import Reviewer, drop_refused_ladder, drop_uncertain_ladder, write_sheet

        # Decisions first: decided links need not be reviewed again.
        ladders = (drop_refused_ladder(row, decisions) for row in ladders)
        if self.review is not None:
            ladders = write_sheet(ladders, Reviewer(store, language=language), self.review)
        if self.min_confidence is None:
            return ladders
        least = self.min_confidence
        return (drop_uncertain_ladder(row, least) for row in ladders)


@dataclass(frozen=True, kw_only=True)
class PhrasingSettings:
    """How a model phrases ladders; `phrase` is None where nothing is phrased. Other commands inherit these settings."""

    phrase: Annotated[
        str | None,
        Setting(
            "A model that words the ladders, each tier checked by the graph: openai:URL#NAME, local:FOLDER, "
            "replay:FILE.",
            metavar="MODEL",
        ),
    ] = None
    phrase_mode: Annotated[
        Literal["free", "strict"],
        Setting(
            "free: of the coarser answers that the model writes those stay that the graph does not contradict; strict: "
            "those that the graph states.",
            advanced=True,
        ),
    ] = "free"
    prompts: Annotated[
        str | None,
        Setting(
            "What models are asked with: paper (its procedure as it is: what the model writes is the ladder, and "
            "nothing is checked), guided (instructions and examples of ours, checked), or a folder of your "
            "own: ladder, again, consistency, each .txt; not all of them. Without it: the paper's prompts, "
            "each answer checked.",
            metavar="SET|FOLDER",
            advanced=True,
        ),
    ] = None

    def check_phrasing(self, *, scored: bool = False) -> None:
        """Check the settings of phrasing before anything is read or asked. Raises UsageError, ModelSpecError or
        PromptError.

        Settings without effect, for lack of a model, are refused; where `scored` a scoring model uses the prompts.
        """
        from abstraction.models.spec import parse_model_spec

        if self.phrase is None:
            strange = "--phrase-mode" if self.phrase_mode != "free" else ""
            if strange or (self.prompts is not None and not scored):
                raise UsageError(f"{strange or '--prompts'} goes with --phrase MODEL, which is not given")
            return
        parse_model_spec(self.phrase)
        if self.prompts == "paper" and self.phrase_mode == "strict":
            raise UsageError("--phrase-mode strict says what a check does: --prompts paper checks nothing")
        self.read_prompts()

    def read_prompts(self) -> Mapping[str, Prompt]:
        """The prompts, by name. Raises PromptError."""
        from abstraction.phrasing.phraser import read_prompts

        return read_prompts(self.prompts)

    def phraser(self, model: ChatModel, store: Store, language: str) -> ModelPhraser:
        """The phraser with these settings, for an open model."""
        from abstraction.phrasing.phraser import ModelPhraser

        # With the paper's prompts the model's reply is the ladder, unchecked.
        mode: Mode = "paper" if self.prompts == "paper" else "free"
        unproven: Literal["drop", "keep"] = "drop" if self.phrase_mode == "strict" else "keep"
        prompts = self.read_prompts()
        return ModelPhraser(model, store, mode=mode, prompts=prompts, unproven=unproven, language=language)


class PhrasingRun:
    """Phrases rows as they are written, and writes a log of all decisions, which appears whole or not at all."""

    def __init__(self, phraser: ModelPhraser, out: Path | str | None) -> None:
        from abstraction.phrasing.checking import DecisionCounts

        self.phraser = phraser
        self.counts: DecisionCounts = DecisionCounts()
        self._log = None if out is None else Path(f"{out}{LOG_SUFFIX}")

    def phrased_rows(self, ladders: Iterable[TieredRow], *, on_reject: OnReject | None = None) -> Iterator[TieredRow]:
        """Yield the phrased rows; the log appears after the last one. `on_reject`: see `ModelPhraser.stream`."""
        from abstraction.phrasing.checking import log_lines, without_decisions

        with ExitStack() as stack:
            stream: BinaryIO | None = None
            if self._log is not None:
                stream = stack.enter_context(stack.enter_context(atomic_path(self._log)).open("wb"))
                stream.write(json_line({"schema_version": 1, "kind": "phrasing", **self.phraser.settings}))
            for row in self.phraser.stream(ladders, on_reject=on_reject):
                self.counts.add(row)
                if stream is not None:
                    stream.writelines(map(json_line, log_lines(row)))
                yield without_decisions(row)

    def warn_of_unanswered(self) -> None:
        """Report on standard error the number of rows without an answer of the model, which another run asks for
        again.
        """
        if self.counts.rows_with_failed_call:
            asked = count(self.counts.rows_with_failed_call, "row")
            where = f"; {self._log} has the reasons" if self._log else ""
            fallback = self.counts.fallback_clause
            note(f"{asked} without an answer of the model's {fallback}{where}; another run asks again")


@dataclass(frozen=True, kw_only=True)
class Tiers(RowsCommand, QuestionSettings, PhrasingSettings, ReviewSettings):
    """Make a ladder for every question and print the coverage per relation.

    With --phrase a model words the ladders; OUT.phrasing.jsonl has each decision on its words. After a killed run, the
    same command goes on and asks nothing again.

    Rejected rows are listed in OUT.rejects.jsonl, and the exit status is then 1.

    OUT.run.json says how the output was made.
    """

    qa: Annotated[
        tuple[str, ...],
        Setting(
            "Questions: JSON, JSONL, CSV, Parquet or GRANOLA-EQ; - is standard input.", metavar="QA...", positional=True
        ),
    ]
    snapshot: Annotated[str, Setting(LINKED_TO)]
    out: Annotated[str, Setting("Where to write the tiered rows; - is standard output.")]
    relation: Relation = None
    format: Annotated[
        Literal["jsonl", "csv", "parquet", "granola-eq"] | None,
        Setting("Output format; by default the suffix of --out decides."),
    ] = None
    language: Language = "en"
    linker: Linker = "question"
    limit: Limit = None
    spark: Annotated[
        str | None,
        Setting(
            "Make the ladders of a large dataset on this Spark: spark://HOST:7077, local[8], or default, which is what "
            "spark-submit says.",
            metavar="MASTER",
            advanced=True,
        ),
    ] = None
    force: Force = False

    def run(self) -> WrittenRows:
        """Make the ladders and write the tiered file. Raises UsageError, and RowError where no question is usable."""
        from abstraction.linking.linker import link_settings_fingerprint
        from granola.scoring.ladder_coverage import LadderCoverage

        relation = property_id(self.relation)
        check_language(self.language)
        check_standard_input(self.qa)
        self.check_phrasing()
        inputs = [*self.qa, self.snapshot]
        reviewing = writing(self.review, inputs=[*inputs, self.decisions], force=self.force, option="--review")
        sides = (LOG_SUFFIX,) if self.phrase else ()
        is_granola_eq = self.format == "granola-eq"
        kind = format_of(self.out) or "jsonl" if is_granola_eq else self.format
        rows_output = writing_rows(self, self.out, inputs=inputs, force=self.force, sides=sides, format=kind)
        with rows_output as output, reviewing:
            # The published format has no room for the rest of a ladder.
            if is_granola_eq:
                note("granola-eq has one text a level: aliases, siblings and evidence are not kept")
            # The run record lists files, not folders.
            output.inputs = [*self.expand_folders(self.qa), self.snapshot]
            # Counts while rows are streamed, so that the file is not read again.
            coverage = LadderCoverage()
            with closing(open_store(self.snapshot)) as store, ExitStack() as stack:
                ladders = self._make_ladders(store, relation, output)
                phrasing = None
                if self.phrase is not None:
                    model = stack.enter_context(open_model(self.phrase, output.named_path, output.inputs))
                    phrasing = PhrasingRun(self.phraser(model, store, self.language), output.named_path)
                    ladders = phrasing.phrased_rows(ladders, on_reject=output.rejected.append)
                self._write_rows(coverage.count_while_iterating(ladders), output, kind)
                output.more["snapshot"] = str(store.manifest()["snapshot_id"])
            fingerprint = link_settings_fingerprint() if self.linker == "question" else None
            # The reason up to the colon: what follows names the single row.
            reasons = Counter(row.reason.split(":")[0] for row in output.rejected)
            output.more |= {
                "linker": {"name": self.linker, "settings": fingerprint}, "coverage": coverage.to_json(),
                "rejected": dict(sorted(reasons.items())), "unanswered": output.counts["unanswered"],
            }  # fmt: skip
            lines: list[Part] = [*coverage.tables()]
            if phrasing is not None:
                used, counts = phrasing.phraser, phrasing.counts.to_json()
                output.more["phrasing"] = {**used.settings, "fingerprint": used.fingerprint, "counts": counts}
                output.is_lacking = phrasing.counts.rows_with_failed_call > 0
                lines += phrasing.counts.lines()
                phrasing.warn_of_unanswered()
            return output.finish(*lines, source=", ".join(self.qa), relation=relation)

    def report_problems(self, result: WrittenRows) -> None:
        """Report the rejected rows, and the number of rows without an answer."""
        if unanswered := result.counts.get("unanswered"):
            note(unanswered_rows_line(unanswered))
        super().report_problems(result)

    def _make_ladders(self, store: Store, relation: str | None, output: WrittenRows) -> Iterator[TieredRow]:
        from abstraction.files.rows import read_questions
        from abstraction.linking.review import with_decided_qids
        from abstraction.maker.pipeline import make_ladders

        warn_of_snapshot_gaps(store, self.language, relation)
        decisions = self.read_review()
        asked = read_questions(
            self.expand_folders(self.qa), relation=relation, limit=self.limit, on_reject=output.rejected.append,
            on_unanswered=lambda row: output.counts.update(["unanswered"]), shape=self.shape(), language=self.language,
        )  # fmt: skip
        questions = warn_of_misread_rows((with_decided_qids(row, decisions) for row in asked), self.language, decisions)
        how: dict[str, Any] = {"language": self.language, "linker": self.linker, "on_reject": output.rejected.append}
        if self.spark is None:
            ladders = make_ladders(questions, store, **how)
        else:
            from abstraction.datasets.spark_tiers import ladders_on_spark

            # None lets spark-submit decide.
            master = None if self.spark == "default" else self.spark
            ladders = ladders_on_spark(questions, self.snapshot, master=master, **how)
        return self.apply_review(ladders, store, decisions, self.language)

    def _write_rows(self, rows: Iterator[TieredRow], output: WrittenRows, kind: str | None) -> None:
        from abstraction.files.rows import write_tiered

        def rows_or_error() -> Iterator[TieredRow]:
            """Yield the rows; raises RowError where there is none, so that no empty file is left."""
            first = next(rows, None)
            if first is None:
                # The error gives the reason why no row is left.
                unanswered, rejected = output.counts["unanswered"], output.rejected
                why = f": {unanswered_rows_line(unanswered)}" if unanswered else ""
                if rejected:
                    beside = f"; listed in {output.named_path}{REJECTS_SUFFIX}" if output.named_path is not None else ""
                    place = f"{rejected[0].source}: {rejected[0].reason}"
                    why += f": {count(len(rejected), 'row')} rejected, the first at {place}{beside}"
                raise RowError(f"no question in {', '.join(self.qa)} can be used{why or ': no row stands there'}")
            yield first
            yield from rows

        how: dict[str, Any] = {"format": kind, "csv_raw": is_csv_raw(), "as_granola_eq": self.format == "granola-eq"}
        output.write_with(lambda: write_tiered(with_progress(rows_or_error()), self.out, **how))


@dataclass(frozen=True, kw_only=True)
class Ladder(Command["tuple[TieredRow, Sequence[str]]"]):
    """Show the ladder of one answer: every tier, coarser with each level, and what entails it."""

    question: Annotated[str, Setting("The question, as asked.", positional=True)]
    answer: Annotated[str, Setting("Its gold answer.", positional=True)]
    snapshot: Annotated[str, Setting(LINKED_TO)]
    relation: Annotated[
        str | None, Setting("The property asked for, such as P19; by default read from the wording.")
    ] = None
    answer_qid: Annotated[str | None, Setting("The answer's item, as Q90; by default linked by name.")] = None
    subject: Annotated[str | None, Setting("The entity asked about; by default read from the question.")] = None
    subject_qid: Annotated[str | None, Setting("Its item, as Q76.")] = None
    language: Language = "en"
    linker: Linker = "question"

    def run(self) -> tuple[TieredRow, Sequence[str]]:
        """Return (row with its ladder, doubts about its link).

        Raises RowError for an empty question or answer, or an id that is none.
        """
        from abstraction.files.row_models import parse_qid_setting
        from abstraction.files.rows import QARow
        from abstraction.linking.review import Reviewer, doubt_lines_for_terminal
        from abstraction.maker.pipeline import make_ladders

        if not self.question.strip() or not self.answer.strip():
            raise RowError("the question and the answer must not be empty")
        # Exchanged arguments are an easy mistake.
        if _is_question(self.answer) and not _is_question(self.question):
            raise RowError(f"the answer {self.answer!r} is a question; the question comes first, and ends with '?'")
        relation = property_id(self.relation)
        check_language(self.language)
        row = QARow(
            id="1",
            question=self.question.strip(),
            answers=(self.answer.strip(),),
            answer_qids=(parse_qid_setting(self.answer_qid, "--answer-qid"),),
            relation=relation,
            subject_text=self.subject,
            subject_qid=parse_qid_setting(self.subject_qid, "--subject-qid"),
        )
        with closing(open_store(self.snapshot)) as store:
            warn_of_snapshot_gaps(store, self.language, relation)
            (answer,) = row.answer_qids
            given = [qid for qid in (answer, row.subject_qid) if qid is not None]
            # Without labels and statements: only their existence is asked.
            there = store.entities(given, languages=(), properties=())
            # Without its answer there is no ladder; without its subject there is a less certain one.
            if answer is not None and answer not in there:
                raise UsageError(f"--answer-qid {answer}: the snapshot has no such entity")
            if row.subject_qid is not None and row.subject_qid not in there:
                note(f"--subject-qid {row.subject_qid}: the snapshot has no such entity, so it is of no use")
            made = next(iter(make_ladders([row], store, language=self.language, linker=self.linker)))
            doubts = doubt_lines_for_terminal(list(Reviewer(store, language=self.language).doubts(made)))
        if relation is None:
            without = "no relation: the ladder follows the answer's class"
            read = f"relation {made.relation}" if made.relation else without
            note(f"{read} (by the wording; --relation sets it)")
        return made, doubts

    def show(self, result: tuple[TieredRow, Sequence[str]]) -> None:
        """Print the ladder as a tree with its evidence."""
        from rich.console import Console

        # rich would assume 80 characters for a pipe.
        screen = Console(width=None if sys.stdout.isatty() else PLAIN_WIDTH, highlight=False)
        row, doubts = result
        screen.print(_ladder_tree(row))
        for line in doubts:
            screen.print(escape_controls(line), style="dim", markup=False)

    def json_result(self, result: tuple[TieredRow, Sequence[str]]) -> Any:
        """The row."""
        return result[0]


def _is_question(text: str) -> bool:
    return text.rstrip().endswith(("?", "？", "؟"))  # also in Chinese and Arabic script


def _ladder_tree(row: TieredRow) -> Tree:
    from rich.text import Text
    from rich.tree import Tree

    from abstraction.base.tiers import REASONS
    from granola.report.ladder_view import evidence_line

    entity = row.question_entity or {}
    asked = " ".join(filter(None, (row.relation, entity.get("text"), entity.get("qid"))))
    root = Tree(
        Text.assemble((escape_controls(row.question), "bold"), (escape_controls(f"  {asked}") if asked else "", "dim"))
    )
    for number, level in enumerate(row.levels, 1):
        branch = root.add(Text(f"level {number}" + (", the answer" if number == 1 else ""), style="cyan"))
        for tier in level.tiers:
            leaf = branch.add(_tier_heading(tier))
            for evidence in tier.evidence:
                leaf.add(Text(escape_controls(evidence_line(evidence)), style="dim"))
    if row.abstained:
        why = REASONS.get(row.abstained, "")
        root.add(Text(f"abstained: {row.abstained}" + (f": {why}" if why else ""), style="yellow"))
    return root


def _tier_heading(tier: Tier) -> Text:
    from rich.text import Text

    text = Text(escape_controls(tier.text), style="bold")
    if tier.language is not None:
        text.append(f" [{tier.language}]", style="not bold yellow")
    if tier.qid:
        text.append(escape_controls(f" {tier.qid}"), style="not bold dim")
    if tier.bits is not None:
        text.append(f" {tier.bits:.1f} bits", style="not bold dim")
    if tier.aliases:
        more = len(tier.aliases) - SHOWN_ALIASES
        shown = ", ".join(tier.aliases[:SHOWN_ALIASES]) + (f" and {more} more" if more > 0 else "")
        text.append(escape_controls(f"  also: {shown}"), style="not bold dim")
    return text
