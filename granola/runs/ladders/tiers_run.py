"""`granola tiers`: questions in, ladders out."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, ClassVar

from abstraction.errors import RowError
from abstraction.files.writing import check_format, format_of
from abstraction.linking.link_settings import link_settings
from abstraction.linking.review import Decisions, Reviewer, confident, decided, read_decisions, refused, write_sheet
from abstraction.pipeline import make_ladders
from abstraction.rows import (
    QARow,
    RejectedRow,
    TieredRow,
    UnansweredRow,
    read_questions,
    write_granola_eq,
    write_tiered,
)
from granola.errors import UsageError
from granola.run_record import SUFFIX as RECORD_SUFFIX
from granola.run_record import write_run_record
from granola.runs.ladders.rejects_file import RejectsFile
from granola.runs.outputs import (
    REJECTS_SUFFIX,
    STANDARD,
    check_language,
    check_outputs,
    check_standard_input,
    count,
    note,
    removed_on_error,
    unanswered_line,
    warn_of_language,
    warn_of_relation,
    warn_of_time,
    watch_languages,
)
from granola.runs.phrasing_settings import LOG_SUFFIX, PhrasingRun, PhrasingSettings, opened
from granola.runs.progress import with_progress
from granola.runs.question_settings import QuestionSettings
from granola.runs.settings import Run, Setting
from granola.runs.shared_settings import CsvRaw, Force, Language, Limit, Linker, LinkerName, Relation, property_id
from granola.scoring.ladder_coverage import Coverage
from granola.service.service_settings import is_service
from granola.terminal_lines import counted, show_lines
from kg.store import open_store


class Engine(StrEnum):
    """What `--engine` takes."""

    LOCAL = "local"
    SPARK = "spark"


class Confidence(StrEnum):
    """What `--min-confidence` takes."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    GIVEN = "given"


class Format(StrEnum):
    """What `--format` takes."""

    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"
    GRANOLA_EQ = "granola-eq"


@dataclass(frozen=True, kw_only=True)
class TiersRun(Run, QuestionSettings, PhrasingSettings):
    """Make a ladder for every question and print the coverage per relation.

    With --phrase a model words the ladders; OUT.phrasing.jsonl has each decision on its words. After a killed run, the
    same command goes on and asks nothing again.

    Rejected rows are listed in OUT.rejects.jsonl, and the exit status is then 1.

    OUT.run.json says how the output was made.
    """

    verb: ClassVar[str] = "tiers"

    qa: Annotated[
        tuple[str, ...],
        Setting(
            "Questions: JSON, JSONL, CSV, Parquet or GRANOLA-EQ; - is standard input.", metavar="QA...", positional=True
        ),
    ]
    snapshot: Annotated[
        str,
        Setting("The snapshot to link to and climb in: a file, bolt://HOST:PORT, or a service as http://HOST:PORT."),
    ]
    out: Annotated[str, Setting("Where to write the tiered rows; - is standard output.")]
    relation: Relation = None
    format: Annotated[Format | None, Setting("Output format; by default the suffix of --out decides.")] = None
    language: Language = "en"
    linker: Linker = LinkerName.QUESTION
    limit: Limit = None
    min_confidence: Annotated[
        Confidence | None, Setting("Make no ladder where an answer's entity is less certain than this.")
    ] = None
    review: Annotated[
        Path | None,
        Setting("Write a CSV sheet of doubtful links to decide on, with rivals and what is known of them."),
    ] = None
    decisions: Annotated[Path | None, Setting("A sheet of --review with decisions: what is meant, or none.")] = None
    engine: Annotated[Engine, Setting("Where ladders are made: in this process, or by Spark for a large dataset.")] = (
        Engine.LOCAL
    )
    master: Annotated[
        str | None,
        Setting("Spark's master, as spark://HOST:7077 or local[8]; by default as spark-submit says, or local[*]."),
    ] = None
    force: Force = False
    csv_raw: CsvRaw = False

    def run(self) -> Tiers:
        """Make the ladders and write them. Raises UsageError, and RowError where no question can be used."""
        relation = property_id(self.relation)
        if relation is not None:
            warn_of_relation(relation)
        self._check()
        shape, qa = self.shape(), self.files_of(self.qa)
        decisions = read_decisions(self.decisions) if self.decisions else {}
        kind = self._kind()
        made = Tiers(settings=self)
        beside = None if self.out == STANDARD else self.out
        with (
            removed_on_error(beside),
            closing(self._store()) as store,
            ExitStack() as stack,
            RejectsFile(None if beside is None else made.listed) as made.rejected,
        ):
            warn_of_language(self.language, store)
            warn_of_time(store)
            asked = read_questions(
                qa, relation=relation, limit=self.limit, on_reject=made.reject, on_unanswered=made.leave_out,
                shape=shape, language=self.language,
            )  # fmt: skip
            questions = watch_languages((decided(row, decisions) for row in asked), self.language)
            ladders = self._reviewed(self._ladders(questions, store, made), store, decisions)
            if self.phrase is not None:
                model = stack.enter_context(opened(self.phrase, beside, self.answers, [*qa, self.snapshot]))
                made.phrasing = PhrasingRun(self.phraser(model, store, self.language), beside)
                ladders = made.phrasing.rows(ladders, on_reject=made.reject)
            self._write(made.coverage.watch(ladders), kind, made)
            made.snapshot = str(store.manifest()["snapshot_id"])
        if beside is not None:
            write_run_record(
                self.out,
                command=self.verb,
                arguments={**self.arguments(), "relation": relation},
                inputs=[*qa, self.snapshot],
                more=made.to_json(),
            )
        return made

    def _check(self) -> None:
        if self.master is not None and self.engine is not Engine.SPARK:
            raise UsageError("--master is Spark's; give --engine spark with it")
        check_language(self.language)
        check_standard_input(self.qa)
        self.check_phrasing()
        if self.review is not None and is_service(self.snapshot):
            raise UsageError("--review reads the snapshot itself; give a file or bolt://HOST:PORT")
        if self.out != STANDARD:
            sides = (REJECTS_SUFFIX, RECORD_SUFFIX, *([LOG_SUFFIX] if self.phrase else []))
            check_outputs(self.out, inputs=[*self.qa, self.snapshot], sides=sides, force=self.force)
        if self.review is not None:
            check_outputs(self.review, inputs=[*self.qa, self.snapshot, self.decisions], force=self.force)

    def _kind(self) -> str:
        """What the output is written as."""
        kind = None if self.format in (None, Format.GRANOLA_EQ) else str(self.format)
        if self.format is Format.GRANOLA_EQ:
            kind = format_of(self.out) or "jsonl"
            note("granola-eq has one text a level: aliases, siblings and evidence are not kept")
        return check_format(self.out, kind)

    def _store(self) -> Any:
        """The snapshot's store, or the client of the service that has it."""
        if not is_service(self.snapshot):
            return open_store(self.snapshot)
        if self.phrase is not None or self.engine is not Engine.LOCAL:
            raise UsageError("--phrase and --engine spark read a snapshot themselves; give a file or bolt://HOST:PORT")
        from granola.service.client import Client

        return Client(self.snapshot, pinned=True)

    def _ladders(self, questions: Iterable[QARow], store: Any, made: Tiers) -> Iterator[TieredRow]:
        how: dict[str, Any] = {"language": self.language, "linker": self.linker, "on_reject": made.reject}
        if self.engine is Engine.SPARK:
            from abstraction.datasets.spark_tiers import ladders_on_spark

            return ladders_on_spark(questions, self.snapshot, master=self.master, **how)
        if is_service(self.snapshot):
            return store.make_ladders(questions, **how)  # type: ignore[no-any-return]
        return make_ladders(questions, store, **how)

    def _reviewed(self, ladders: Iterator[TieredRow], store: Any, decisions: Decisions) -> Iterator[TieredRow]:
        """The ladders without those of refused or uncertain links; doubts go to the sheet."""
        ladders = (refused(row, decisions) for row in ladders)
        if self.review is not None:
            ladders = write_sheet(ladders, Reviewer(store, language=self.language), self.review)
        if self.min_confidence is None:
            return ladders
        least = self.min_confidence.value
        return (confident(row, least) for row in ladders)

    def _write(self, rows: Iterator[TieredRow], kind: str, made: Tiers) -> None:
        write = write_granola_eq if self.format is Format.GRANOLA_EQ else write_tiered
        some = _some(with_progress(rows), self.qa, made)
        write(some, self.out, format=kind, csv_raw=self.csv_raw, on_reject=made.reject)


class Tiers:
    """Ladders that were made: how many questions have one, by relation, and what was rejected by reason."""

    def __init__(self, *, settings: TiersRun) -> None:
        self.settings = settings
        self.coverage = Coverage()
        self.reasons: Counter[str] = Counter()
        self.listed = Path(f"{settings.out}{REJECTS_SUFFIX}")
        self.rejected = RejectsFile(None)
        self.unanswered = 0  # rows to which the dataset itself has no answer
        self.phrasing: PhrasingRun | None = None
        self.snapshot = ""

    def reject(self, row: RejectedRow) -> None:
        """Count and list a rejected row."""
        self.reasons[row.reason.split(":")[0]] += 1
        self.rejected.add(row)

    def leave_out(self, row: UnansweredRow) -> None:
        """Count a row that has no answer."""
        self.unanswered += 1

    @property
    def failed(self) -> bool:
        """Whether rows were rejected, or a model gave no answer."""
        return bool(self.rejected.count or (self.phrasing is not None and self.phrasing.counts.unanswered))

    def show(self) -> None:
        """The coverage, what became of a model's words, and the rejected rows."""
        to_stdout = self.settings.out == STANDARD
        screen = sys.stderr if to_stdout else sys.stdout
        show_lines(*self.coverage.tables(), file=screen)
        if self.phrasing is not None:
            self.phrasing.report(screen)
        if self.unanswered:
            note(unanswered_line(self.unanswered))
        if self.rejected.count:
            where = "" if to_stdout else f"; listed in {self.listed}"
            note(f"{count(self.rejected.count, 'row')} rejected{where}; the first: {self.rejected.first}")
            show_lines(counted(self.reasons), file=sys.stderr)

    def to_json(self) -> dict[str, Any]:
        """What a run record has of it."""
        linker = self.settings.linker
        fingerprint = link_settings().fingerprint if linker is LinkerName.QUESTION else None
        groups = {name: counts.to_json() for name, counts in self.coverage.ordered()}
        return {
            "snapshot": self.snapshot,
            "linker": {"name": linker, "settings": fingerprint},
            "coverage": {**groups, "total": self.coverage.total.to_json()},
            "rejected": dict(sorted(self.reasons.items())),
            "unanswered": self.unanswered,
            **({"phrasing": self.phrasing.record()} if self.phrasing is not None else {}),
        }


def _some(rows: Iterator[TieredRow], qa: Iterable[str], made: Tiers) -> Iterator[TieredRow]:
    """Hand the rows on; RowError where there is none, so that no empty file is left."""
    first = next(rows, None)
    if first is None:
        rejected = made.rejected
        why = f": {unanswered_line(made.unanswered)}" if made.unanswered else ""
        why += f": {count(rejected.count, 'row')} rejected, the first at {rejected.first}" if rejected.count else ""
        raise RowError(f"no question in {', '.join(qa)} can be used{why or ': no row stands there'}")
    yield first
    yield from rows
