"""`granola tiers` and `granola ladder`: questions in, ladders out; and one ladder in the terminal.

What makes ladders is imported where they are made: it takes longer than the help does.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from abstraction.errors import RowError
from abstraction.files.writing import check_format, format_of
from granola.commands.command import Command
from granola.commands.link_review import ReviewSettings
from granola.commands.messages import (
    count,
    note,
    unanswered_line,
    warn_of_language,
    warn_of_relation,
    warn_of_time,
    watch_rows,
    with_progress,
)
from granola.commands.models import opened
from granola.commands.output import REJECTS_SUFFIX, STANDARD, RejectsFile, check_standard_input, csv_raw, writing
from granola.commands.phrasing import LOG_SUFFIX, PhrasingRun, PhrasingSettings
from granola.errors import UsageError
from granola.run_record import SUFFIX as RECORD_SUFFIX
from granola.run_record import write_run_record
from granola.settings import Setting
from granola.shared_settings import (
    LINKED_TO,
    Force,
    Language,
    Limit,
    Linker,
    LinkerName,
    QuestionSettings,
    Relation,
    check_language,
    property_id,
)
from granola.terminal_lines import counted, show_lines, visible
from kg.store import open_store
from kg.store.protocol import Store

if TYPE_CHECKING:
    from rich.text import Text
    from rich.tree import Tree

    from abstraction.rows import QARow, RejectedRow, TieredRow, UnansweredRow
    from abstraction.tiers import Tier
    from granola.scoring.ladder_coverage import Coverage

SHOWN_ALIASES = 6
PLAIN_WIDTH = 160  # of a ladder, where the output is no terminal


class Format(StrEnum):
    """What `--format` takes."""

    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"
    GRANOLA_EQ = "granola-eq"


@dataclass(kw_only=True)
class LaddersMade:
    """Ladders that were made: how many questions have one, by relation, and how many rows were rejected, by reason.

    `unanswered` are rows to which the dataset itself has no answer; `snapshot` is the id of the one they are from.
    """

    rejects: RejectsFile
    coverage: Coverage
    reasons: Counter[str] = field(default_factory=Counter)
    unanswered: int = 0
    phrasing: PhrasingRun | None = None
    snapshot: str = ""

    def reject(self, row: RejectedRow) -> None:
        """Count and list a rejected row."""
        self.reasons[row.reason.split(":")[0]] += 1
        self.rejects.add(row)

    def leave_out(self, row: UnansweredRow) -> None:
        """Count a row that has no answer."""
        self.unanswered += 1

    @property
    def rejected(self) -> int:
        """How many rows were rejected."""
        return self.rejects.count

    def to_json(self) -> dict[str, Any]:
        """The counts, as a run record has them."""
        groups = {name: counts.to_json() for name, counts in self.coverage.ordered()}
        return {
            "coverage": {**groups, "total": self.coverage.total.to_json()},
            "rejected": dict(sorted(self.reasons.items())),
            "unanswered": self.unanswered,
            **({"phrasing": self.phrasing.record()} if self.phrasing is not None else {}),
        }


@dataclass(frozen=True, kw_only=True)
class Tiers(Command[LaddersMade], QuestionSettings, PhrasingSettings, ReviewSettings):
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
    format: Annotated[Format | None, Setting("Output format; by default the suffix of --out decides.")] = None
    language: Language = "en"
    linker: Linker = LinkerName.QUESTION
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

    def run(self) -> LaddersMade:
        """Make the ladders and write them. Raises UsageError, and RowError where no question can be used."""
        from abstraction.linking.link_settings import link_settings
        from abstraction.linking.review import decided
        from abstraction.rows import read_questions
        from granola.scoring.ladder_coverage import Coverage

        relation = property_id(self.relation)
        self._check()
        beside = None if self.out == STANDARD else self.out
        sides = (REJECTS_SUFFIX, RECORD_SUFFIX, *([LOG_SUFFIX] if self.phrase else []))
        inputs = [*self.qa, self.snapshot]
        reviewing = writing(self.review, inputs=[*inputs, self.decisions], force=self.force, asked="--review")
        rejects = RejectsFile(None if beside is None else Path(f"{self.out}{REJECTS_SUFFIX}"))
        made = LaddersMade(rejects=rejects, coverage=Coverage())
        with writing(self.out, inputs=inputs, sides=sides, force=self.force), reviewing:
            shape, qa = self.shape(), self.files_of(self.qa)
            decisions = self.decided()
            kind = self._kind()
            with closing(open_store(self.snapshot)) as store, ExitStack() as stack, rejects:
                warn_of_language(self.language, store)
                warn_of_time(store)
                warn_of_relation(relation, store)
                asked = read_questions(
                    qa, relation=relation, limit=self.limit, on_reject=made.reject, on_unanswered=made.leave_out,
                    shape=shape, language=self.language,
                )  # fmt: skip
                questions = watch_rows((decided(row, decisions) for row in asked), self.language, decisions)
                ladders = self.reviewed(self._ladders(questions, store, made), store, decisions, self.language)
                if self.phrase is not None:
                    inputs = [*qa, self.snapshot]
                    model = stack.enter_context(opened(self.phrase, beside, inputs))
                    made.phrasing = PhrasingRun(self.phraser(model, store, self.language), beside)
                    ladders = made.phrasing.rows(ladders, on_reject=made.reject)
                self._write(made.coverage.watch(ladders), kind, made)
                made.snapshot = str(store.manifest()["snapshot_id"])
            if beside is not None:
                fingerprint = link_settings().fingerprint if self.linker is LinkerName.QUESTION else None
                write_run_record(
                    self.out,
                    command=self.verb,
                    arguments={**self.arguments(), "relation": relation},
                    inputs=[*qa, self.snapshot],
                    more={
                        "snapshot": made.snapshot,
                        "linker": {"name": self.linker, "settings": fingerprint},
                        **made.to_json(),
                    },
                )
        return made

    def failed(self, result: LaddersMade) -> bool:
        """Whether rows were rejected, or a model gave no answer."""
        return bool(result.rejected or (result.phrasing is not None and result.phrasing.counts.unanswered))

    def show(self, result: LaddersMade) -> None:
        """The coverage, and what became of a model's words."""
        screen = sys.stderr if self.out == STANDARD else sys.stdout
        show_lines(*result.coverage.tables(), file=screen)
        if result.phrasing is not None:
            result.phrasing.report(screen)

    def told(self, result: LaddersMade) -> Any:
        """The counts."""
        return {"snapshot": result.snapshot, **result.to_json()}

    def tell(self, result: LaddersMade) -> None:
        """The rejected rows."""
        if result.unanswered:
            note(unanswered_line(result.unanswered))
        if result.rejected:
            where = "" if self.out == STANDARD else f"; listed in {self.out}{REJECTS_SUFFIX}"
            note(f"{count(result.rejected, 'row')} rejected{where}; the first: {result.rejects.first}")
            show_lines(counted(result.reasons), file=sys.stderr)

    def _check(self) -> None:
        check_language(self.language)
        check_standard_input(self.qa)
        self.check_phrasing()

    def _kind(self) -> str:
        """What the output is written as."""
        kind = None if self.format in (None, Format.GRANOLA_EQ) else str(self.format)
        if self.format is Format.GRANOLA_EQ:
            kind = format_of(self.out) or "jsonl"
            note("granola-eq has one text a level: aliases, siblings and evidence are not kept")
        return check_format(self.out, kind)

    def _ladders(self, questions: Iterable[QARow], store: Store, made: LaddersMade) -> Iterator[TieredRow]:
        how: dict[str, Any] = {"language": self.language, "linker": self.linker, "on_reject": made.reject}
        if self.spark is not None:
            from abstraction.datasets.spark_tiers import ladders_on_spark

            master = None if self.spark == "default" else self.spark
            return ladders_on_spark(questions, self.snapshot, master=master, **how)
        from abstraction.pipeline import make_ladders

        return make_ladders(questions, store, **how)

    def _write(self, rows: Iterator[TieredRow], kind: str, made: LaddersMade) -> None:
        from abstraction.rows import write_granola_eq, write_tiered

        write = write_granola_eq if self.format is Format.GRANOLA_EQ else write_tiered
        some = _some(with_progress(rows), self.qa, made)
        write(some, self.out, format=kind, csv_raw=csv_raw(), on_reject=made.reject)


def _some(rows: Iterator[TieredRow], qa: Iterable[str], made: LaddersMade) -> Iterator[TieredRow]:
    """Hand the rows on; RowError where there is none, so that no empty file is left."""
    first = next(rows, None)
    if first is None:
        why = f": {unanswered_line(made.unanswered)}" if made.unanswered else ""
        if made.rejected:
            listed = f"; listed in {made.rejects.path}" if made.rejects.path is not None else ""
            why += f": {count(made.rejected, 'row')} rejected, the first at {made.rejects.first}{listed}"
        raise RowError(f"no question in {', '.join(qa)} can be used{why or ': no row stands there'}")
    yield first
    yield from rows


@dataclass(frozen=True, kw_only=True, slots=True)
class ReviewedLadder:
    """A row with its ladder, and what is doubtful about it."""

    row: TieredRow
    doubts: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Ladder(Command[ReviewedLadder]):
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
    linker: Linker = LinkerName.QUESTION

    def run(self) -> ReviewedLadder:
        """Make the ladder. Raises RowError for an empty question or answer, or an id that is none."""
        from abstraction.linking.review import Reviewer, shown
        from abstraction.pipeline import make_ladders

        if not self.question.strip() or not self.answer.strip():
            raise RowError("the question and the answer must not be empty")
        if _asks(self.answer) and not _asks(self.question):
            raise RowError(f"the answer {self.answer!r} is a question; the question comes first, and ends with '?'")
        relation = self._relation()
        check_language(self.language)
        row = self._row(relation)
        with closing(open_store(self.snapshot)) as store:
            warn_of_language(self.language, store)
            warn_of_time(store)
            warn_of_relation(relation, store)
            (answer,) = row.answer_qids
            given = [qid for qid in (answer, row.subject_qid) if qid is not None]
            there = store.entities(given, languages=(), properties=())
            if answer is not None and answer not in there:
                raise UsageError(f"--answer-qid {answer}: the snapshot has no such entity")
            if row.subject_qid is not None and row.subject_qid not in there:
                note(f"--subject-qid {row.subject_qid}: the snapshot has no such entity, so it tells nothing")
            made = next(iter(make_ladders([row], store, language=self.language, linker=self.linker)))
            doubts = shown(list(Reviewer(store, language=self.language).doubts(made)))
        return ReviewedLadder(row=made, doubts=doubts)

    def show(self, result: ReviewedLadder) -> None:
        """The ladder as a tree with its evidence."""
        from rich.console import Console

        screen = Console(width=None if sys.stdout.isatty() else PLAIN_WIDTH, highlight=False)
        screen.print(_tree(result.row))
        for line in result.doubts:
            screen.print(visible(line), style="dim", markup=False)

    def told(self, result: ReviewedLadder) -> Any:
        """The row."""
        return result.row

    def _relation(self) -> str | None:
        """The relation that is given, or that the question's wording tells, which is said."""
        if self.relation is not None:
            relation = property_id(self.relation)
            assert relation is not None
            return relation
        from abstraction.questions.relation_wording import read_wording

        wording = read_wording(self.question, self.language)
        sort = f"no relation, but an answer of the kind {wording.kind.asks}" if wording.kind else "no relation"
        told = f"relation {wording.relation}" if wording.relation else f"{sort}: the ladder follows the answer's class"
        note(f"{told} (by the wording; --relation sets it)")
        return wording.relation

    def _row(self, relation: str | None) -> QARow:
        from abstraction.files.row_models import qid_of
        from abstraction.questions.relation_wording import subject_of
        from abstraction.rows import QARow

        return QARow(
            id="1",
            question=self.question.strip(),
            answers=(self.answer.strip(),),
            answer_qids=(qid_of(self.answer_qid, "--answer-qid"),),
            relation=relation,
            subject_text=self.subject or (subject_of(self.question, relation, self.language) if relation else None),
            subject_qid=qid_of(self.subject_qid, "--subject-qid"),
        )


def _asks(text: str) -> bool:
    return text.rstrip().endswith(("?", "？", "؟"))


def _tree(row: TieredRow) -> Tree:
    from rich.text import Text
    from rich.tree import Tree

    from abstraction.reasons import REASONS
    from granola.report.ladder_view import evidence_line

    entity = row.question_entity or {}
    asked = " ".join(filter(None, (row.relation, entity.get("text"), entity.get("qid"))))
    root = Tree(Text.assemble((visible(row.question), "bold"), (visible(f"  {asked}") if asked else "", "dim")))
    for number, level in enumerate(row.levels, 1):
        branch = root.add(Text(f"level {number}" + (", the answer" if number == 1 else ""), style="cyan"))
        for tier in level.tiers:
            leaf = branch.add(_heading(tier))
            for evidence in tier.evidence:
                leaf.add(Text(visible(evidence_line(evidence)), style="dim"))
    if row.abstained:
        why = REASONS.get(row.abstained, "")
        root.add(Text(f"abstained: {row.abstained}" + (f": {why}" if why else ""), style="yellow"))
    return root


def _heading(tier: Tier) -> Text:
    from rich.text import Text

    text = Text(visible(tier.text), style="bold")
    if tier.language is not None:
        text.append(f" [{tier.language}]", style="not bold yellow")
    if tier.qid:
        text.append(visible(f" {tier.qid}"), style="not bold dim")
    if tier.bits is not None:
        text.append(f" {tier.bits:.1f} bits", style="not bold dim")
    if tier.aliases:
        more = len(tier.aliases) - SHOWN_ALIASES
        shown = ", ".join(tier.aliases[:SHOWN_ALIASES]) + (f" and {more} more" if more > 0 else "")
        text.append(visible(f"  also: {shown}"), style="not bold dim")
    return text
