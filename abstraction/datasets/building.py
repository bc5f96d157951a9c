"""Building a dataset's folder from questions and a snapshot: ladders, descriptions, phrasing, scores, cleaning, card.

The folder appears whole or not at all. Slow work is done in batches, each saved: see `abstraction.datasets.saved_work`.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

import orjson

from abstraction.base.faults import Fault, RejectedRow, UnansweredRow, attempt
from abstraction.datasets.card import card_text
from abstraction.datasets.dataset_cleaning import MOST, SCORE, STEPS, Cleaner, CleaningStep, Dropped
from abstraction.datasets.dataset_columns import Columns, write_dataset_file
from abstraction.datasets.dataset_statistics import Statistics
from abstraction.datasets.saved_work import QuestionFiles, SavedBatches, decode_row, encode_row, rules_fingerprint
from abstraction.errors import DatasetError, RowError
from abstraction.files.records import PARQUET_HELP, SCHEMA_VERSION
from abstraction.files.row_shapes import origin_sentence
from abstraction.files.rows import QARow, TieredRow
from abstraction.files.writing import json_line
from abstraction.linking.linker import link_settings_fingerprint
from abstraction.linking.review import (
    Reviewer,
    drop_refused_ladder,
    drop_uncertain_ladder,
    with_decided_qids,
    write_sheet,
)
from abstraction.maker.pipeline import LadderMakers
from abstraction.models.chat_model import Failure
from abstraction.phrasing.checking import DecisionCounts, log_lines, without_decisions
from abstraction.phrasing.phraser import with_descriptions_and_sitelinks
from kg import __version__
from kg.base.files import resolve_symlinks, sha256_of
from kg.store.protocol import Store

RECORD = "build.json"  # also the mark of a folder that may be replaced
T = TypeVar("T")
Made = TypeVar("Made", covariant=True)
BATCH = 200  # questions; a killed process loses the work on one batch at most


class ModelWork(Protocol[Made]):
    """A model's work on rows. Each row has its ladder from the graph, and the descriptions of its entities in `extra`.
    """

    @property
    def fingerprint(self) -> str:
        """The identity of the work: a text that covers everything its results depend on."""

    def __call__(self, rows: Sequence[TieredRow], /) -> Sequence[Made]:
        """One result for each row, in order."""


# The rows with phrased levels; the decisions are in their notes, see `abstraction.phrasing.checking`.
Phraser = ModelWork[TieredRow]
# The error score of a row: how likely its texts do not belong together, in [0, 1]; None if unscored.
Scorer = ModelWork[float | Failure | None]


@dataclass(frozen=True, kw_only=True, slots=True)
class DatasetSettings:
    """The name and settings of a dataset.

    `trivial` are texts that are never a coarser answer, `most` is the greatest error score with which a row is kept;
    `least` is the least link confidence with which a row gets a ladder; `decisions` are a row's id, an answer and the
    meaning that a person chose (`abstraction.linking.review`); `command` is recorded as the command that made the
    dataset.
    """

    name: str
    language: str = "en"
    linker: str = "question"
    split: str = "test"
    format: Literal["parquet", "jsonl"] = "parquet"
    steps: frozenset[CleaningStep] = frozenset(STEPS)
    trivial: tuple[str, ...] = ()
    most: float = MOST
    batch: int = BATCH
    least: str | None = None
    decisions: tuple[tuple[str, str, str], ...] = ()
    command: str = ""

    def __post_init__(self) -> None:
        if not self.name.strip() or not self.name.isprintable():
            raise DatasetError(f"name {self.name!r} is empty or not on one line; give the dataset's name")
        if not self.split.replace("_", "").isalnum() or not self.split.isascii():
            raise DatasetError(f"split {self.split!r} is no split's name; expected letters, digits, _, as in test")
        if self.batch < 1:
            raise DatasetError(f"batch {self.batch} is too small; expected 1 or more questions")
        if not 0 <= self.most <= 1:
            raise DatasetError(f"threshold {self.most} is out of range; expected a share from 0 to 1")
        if self.format == "parquet" and find_spec("pyarrow") is None:
            raise DatasetError(f"{PARQUET_HELP}; or choose the format jsonl")

    @property
    def data_file(self) -> str:
        """The path of the file with the rows, relative to the folder of the dataset."""
        return f"data/{self.split}.{self.format}"


@dataclass(frozen=True, kw_only=True, slots=True)
class BuiltDataset:
    """The result: the file with the rows, its statistics, the counts of cleaning, and the number of unreadable rows.

    `phrasing` counts the decisions on a model's words, in all rows before cleaning; `unscored` the rows whose scoring
    failed; `unanswered` those without an answer in the dataset that the questions are from.
    """

    data: Path
    statistics: Statistics
    cleaner: Cleaner
    rejected: int
    first_reject: str
    phrasing: DecisionCounts
    unscored: int = 0
    unanswered: int = 0


def build_dataset(
    questions: QuestionFiles,
    store: Store,
    out: Path,
    *,
    settings: DatasetSettings,
    phraser: Phraser | None = None,
    scorer: Scorer | None = None,
    force: bool = False,
    restart: bool = False,
    progress: Callable[[int], None] | None = None,
    review: Path | None = None,
) -> BuiltDataset:
    """Build the folder `out`: data/<split>.parquet or .jsonl, README.md, build.json; and, unless empty, dropped.jsonl,
    rejected.jsonl and phrasing.jsonl, the decisions on a model's words.

    After a kill the same call continues, and asks again where a model failed. `progress` receives the number of
    questions done, `review` is the path for the sheet of doubtful links. `force` replaces a folder that this function
    has made, never another. Raises DatasetError where replacing is refused or no question can be used, RowError for
    unusable files.
    """
    out = resolve_symlinks(out)
    check_output_folder(out, questions.files, force=force)
    request = _inputs_and_settings(questions, store, settings, phraser, scorer)
    cleaner = Cleaner(steps=settings.steps, trivial=settings.trivial, most=settings.most)
    with SavedBatches(out, request, restart=restart) as saved:
        final = saved.folder / "final"
        shutil.rmtree(final, ignore_errors=True)  # left by a killed build
        final.mkdir()
        with _SideFiles(final) as sides:
            chosen = sides.without_several_answers(questions.read_questions(sides.write_unusable), cleaner)
            batches, unscored = _make_batches_counting_unscored(
                chosen, store, saved, settings, phraser, scorer, progress
            )
            if not batches:
                raise RowError(_no_usable_question_message(questions, sides))
            rows: Iterator[TieredRow | RejectedRow] = (row for at in range(batches) for row in saved.read_rows(at))
            if review is not None:
                rows = write_sheet(rows, Reviewer(store, language=settings.language), review)
            statistics, columns, phrasing = _write_final_files(
                saved, rows, final, settings, cleaner, sides, phrased=phraser is not None
            )
        built = BuiltDataset(
            data=out / settings.data_file,
            statistics=statistics,
            cleaner=cleaner,
            rejected=sides.rejected.count,
            first_reject=sides.first,
            phrasing=phrasing,
            unscored=unscored,
            unanswered=sides.unanswered,
        )
        origin = origin_sentence(questions.shape)
        _write_readme_and_build_record(final, built, settings, request, columns=columns, origin=origin)
        _replace_folder(final, out)
    return built


def _inputs_and_settings(
    questions: QuestionFiles, store: Store, settings: DatasetSettings, phraser: Phraser | None, scorer: Scorer | None
) -> dict[str, Any]:
    """All inputs and settings that saved batches depend on: batches saved with others are not reused."""
    return {
        "questions": questions.selection_settings,
        "inputs": [{"name": path.name, "sha256": sha256_of(path)} for path in questions.files],
        "snapshot": store.manifest()["snapshot_id"],
        "language": settings.language, "linker": settings.linker, "link_settings": link_settings_fingerprint(),
        "one_answer_only": CleaningStep.SEVERAL_ANSWERS in settings.steps, "rules": rules_fingerprint(),
        "phraser": phraser.fingerprint if phraser else None, "scorer": scorer.fingerprint if scorer else None,
        "batch": settings.batch, "decisions": settings.decisions, "least": settings.least,
    }  # fmt: skip


def _no_usable_question_message(questions: QuestionFiles, sides: _SideFiles) -> str:
    why = f": {sides.unanswered} have no answer" if sides.unanswered else ""
    why += f": {sides.rejected.count} rejected, the first at {sides.first}" if sides.first else ""
    files = ", ".join(path.name for path in questions.files)
    return f"no question in {files} can be used{why or ': no row has one answer, or none is there'}"


def _write_readme_and_build_record(
    final: Path,
    built: BuiltDataset,
    settings: DatasetSettings,
    request: Mapping[str, Any],
    *,
    columns: Columns,
    origin: str,
) -> None:
    """Write README.md and build.json next to the data."""
    phrasing = built.phrasing if request["phraser"] is not None else None
    provenance = {
        "Snapshot": request["snapshot"], "Linker": f"{settings.linker} ({request['link_settings']})",
        "Phraser": request["phraser"] or "none", "Scorer": request["scorer"] or "none",
        "Version": f"granola-ladders {__version__}, rules {request['rules']}",
    }  # fmt: skip
    scored = request["scorer"] is not None
    card = card_text(
        built, settings, columns=columns, provenance=provenance, phrasing=phrasing, scored=scored, origin=origin
    )
    (final / "README.md").write_text(card, encoding="utf-8")
    record = {
        "schema_version": SCHEMA_VERSION, "command": settings.command, "request": request,
        "settings": {"name": settings.name, "split": settings.split,
                     "steps": [str(step) for step in STEPS if step in settings.steps],
                     "trivial": list(settings.trivial), "threshold": settings.most},
        "data": {"path": settings.data_file, "sha256": sha256_of(final / settings.data_file)},
        "statistics": built.statistics.to_json(),
        "cleaning": {str(step): count.to_json() for step, count in built.cleaner.counts.items()},
        "phrasing": phrasing.to_json() if phrasing is not None else None, "unscored": built.unscored,
        "rejected": built.rejected, "unanswered": built.unanswered, "version": __version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }  # fmt: skip
    (final / RECORD).write_bytes(orjson.dumps(record, option=orjson.OPT_INDENT_2) + b"\n")


def check_output_folder(out: Path, inputs: Iterable[Path], *, force: bool) -> None:
    """Raise DatasetError where `out` contains an input, is no dataset of ours, or exists without `force`."""
    own = resolve_symlinks(out)
    if any(own in (place := resolve_symlinks(path), *place.parents) for path in inputs):
        raise DatasetError(f"{out} contains the questions, which would be lost; name another folder")
    if not out.exists():
        return
    if not out.is_dir():
        raise DatasetError(f"{out} is no folder; name a folder to write the dataset to")
    if not (out / RECORD).is_file() and any(out.iterdir()):
        raise DatasetError(f"{out} is no dataset built here, and is not replaced; name another folder")
    if not force and any(out.iterdir()):
        raise DatasetError(f"{out} exists; give --force to replace it, or name another folder")


class _SideFile:
    """A file of rows next to the data."""

    def __init__(self, path: Path) -> None:
        self.path, self.stream, self.count = path, path.open("wb"), 0

    def write_record(self, record: Mapping[str, Any]) -> None:
        self.stream.write(json_line(record if self.count else {"schema_version": SCHEMA_VERSION, **record}))
        self.count += 1


class _SideFiles:
    """The files next to the data; those without a row are removed at the end. `first`: the first rejected row."""

    def __init__(self, folder: Path) -> None:
        self.rejected = _SideFile(folder / "rejected.jsonl")
        self.dropped = _SideFile(folder / "dropped.jsonl")
        self.decided = _SideFile(folder / "phrasing.jsonl")
        self.unanswered, self.first = 0, ""

    def __enter__(self) -> _SideFiles:
        return self

    def __exit__(self, *error: object) -> None:
        for file in (self.rejected, self.dropped, self.decided):
            file.stream.close()
            if not file.count:
                file.path.unlink()

    def write_rejected(self, row: RejectedRow) -> None:
        """Write a rejected row to its file."""
        self.first = self.first or f"{row.source}: {row.reason}"
        self.rejected.write_record(row.to_json())

    def write_unusable(self, row: RejectedRow) -> None:
        """Write a row without a usable question or answer to its file: dropped or rejected."""
        if isinstance(row, UnansweredRow):
            self.dropped.write_record({"step": "unanswered", **row.to_json()})
            self.unanswered += 1
        else:
            self.write_rejected(row)

    def without_several_answers(self, rows: Iterable[QARow], cleaner: Cleaner) -> Iterator[QARow]:
        """The rows that pass the first step of the cleaning; those with several answers are written to the file of
        dropped rows.
        """
        for row in rows:
            gone = cleaner.drop_if_several_answers(one_answer=len(set(row.answers)) == 1)
            if gone is None:
                yield row
            else:
                about = {"id": row.id, "question": row.question, "relation": row.relation, "answer": list(row.answers)}
                self.dropped.write_record(about | {"step": gone.step, "reason": gone.reason})


def _make_batches_counting_unscored(
    rows: Iterator[QARow],
    store: Store,
    saved: SavedBatches,
    settings: DatasetSettings,
    phraser: Phraser | None,
    scorer: Scorer | None,
    progress: Callable[[int], None] | None,
) -> tuple[int, int]:
    """Make every batch that is not complete; return the number of batches, and of rows whose scoring failed."""
    maker: LadderMakers | None = None
    decisions = {(row_id, answer): meant for row_id, answer, meant in settings.decisions}
    number = done = unscored = 0
    while batch := list(islice(rows, settings.batch)):
        if not saved.is_complete(number):
            # Built only if a batch is missing: that takes seconds.
            maker = maker or LadderMakers(store, language=settings.language, linker=settings.linker)
            faulty: list[RejectedRow] = []
            asked = [with_decided_qids(row, decisions) for row in batch]
            ladders = [drop_refused_ladder(row, decisions) for row in maker.make_all(asked, on_reject=faulty.append)]
            if settings.least is not None:
                ladders = [drop_uncertain_ladder(row, settings.least) for row in ladders]
            made: Sequence[TieredRow] = [with_descriptions_and_sitelinks(row, maker.maker().graph) for row in ladders]
            lacking = 0
            if phraser is not None:
                made = _run_isolating_faults("phrasing", phraser, made, faulty)
                counts = DecisionCounts()
                for row in made:
                    counts.add(row)
                lacking = counts.rows_with_failed_call
            if scorer is not None:
                score = partial(_score_rows_marking_failures, scorer=scorer)
                scored = _run_isolating_faults("scoring", score, made, faulty)
                made, failed = [row for row, _ in scored], sum(lacks for _, lacks in scored)
                lacking, unscored = lacking + failed, unscored + failed
            saved.save(number, [*made, *faulty], complete=not lacking)
        number, done = number + 1, done + len(batch)
        if progress is not None:
            progress(done)
    return number, unscored


def _run_isolating_faults(
    stage: str, work: Callable[[Sequence[TieredRow]], Sequence[T]], rows: Sequence[TieredRow], faulty: list[RejectedRow]
) -> Sequence[T]:
    """Apply `work` to all rows at once; after a fault, to each row alone, where a row that fails goes to `faulty`."""
    if not rows:
        return []
    together = attempt(stage, work, rows)
    if not isinstance(together, Fault):
        return together
    out: list[T] = []
    for row in rows:
        made = attempt(stage, work, [row])
        if isinstance(made, Fault):
            faulty.append(made.rejected(source=row.source, id=row.id, text=row.question))
        else:
            out += made
    return out


def _score_rows_marking_failures(rows: Sequence[TieredRow], *, scorer: Scorer) -> Sequence[tuple[TieredRow, bool]]:
    """Each row with its new score, or with an existing one if it got none; and whether scoring failed."""
    return [
        (row, score is not None)
        if score is None or isinstance(score, Failure)
        else (replace(row, extra={**row.extra, SCORE: score}), False)
        for row, score in zip(rows, scorer(rows), strict=True)
    ]


def _write_final_files(
    saved: SavedBatches,
    rows: Iterable[TieredRow | RejectedRow],
    final: Path,
    settings: DatasetSettings,
    cleaner: Cleaner,
    sides: _SideFiles,
    *,
    phrased: bool,
) -> tuple[Statistics, Columns, DecisionCounts]:
    """Write the rows that cleaning keeps to the file of the dataset, and the others to the side files."""
    statistics, columns, phrasing = Statistics(settings.language), Columns(), DecisionCounts()
    kept, staying = saved.folder / "kept.jsonl", 0
    with kept.open("wb") as stream:
        for row in rows:
            if isinstance(row, RejectedRow):
                sides.write_rejected(row)
                continue
            if phrased:  # without a phraser a field of that name comes from the questions
                phrasing.add(row)
                for one in log_lines(row):
                    sides.decided.write_record(one)
                row = without_decisions(row)
            clean = cleaner.clean(row)
            if isinstance(clean, Dropped):
                sides.dropped.write_record({**row.to_json(), "step": clean.step, "reason": clean.reason})
                continue
            stream.write(encode_row(clean))
            columns.register_fields(clean)
            staying += 1
    if not staying:
        left = ", ".join(f"{count.dropped} by {step}" for step, count in cleaner.counts.items() if count.dropped)
        raise DatasetError(f"no row is left after cleaning ({left}); leave a step out with --without, or see the links")
    data = final / "data"
    data.mkdir()
    with kept.open("rb") as lines:
        rows_to_write = statistics.count_each(map(decode_row, lines))
        write_dataset_file(rows_to_write, columns, data / f"{settings.split}.{settings.format}")
    return statistics, columns, phrasing


def _replace_folder(final: Path, out: Path) -> None:
    aside = final.with_name("replaced")
    shutil.rmtree(aside, ignore_errors=True)
    if out.exists():
        out.rename(aside)  # the old folder is deleted last, when the new one is in its place
    final.rename(out)
    shutil.rmtree(aside, ignore_errors=True)
