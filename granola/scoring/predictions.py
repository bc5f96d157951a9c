"""Predictions: `{"id", "prediction", "samples"?}` as JSONL, a JSON array, CSV or Parquet, or in a `PredictionShape`."""

from __future__ import annotations

import json
import re
import struct
import unicodedata
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import zstandard
from pydantic import Field, PlainValidator, StrictStr

from abstraction.base.faults import RejectedRow, excerpt
from abstraction.errors import RowError
from abstraction.files.records import Record, open_for_reading, parse_json_or_text, read_records, split_cell
from abstraction.files.row_models import RowModel, finite_number, is_number, read_each
from abstraction.files.row_shapes import values_at
from granola.base.run_record import record_of
from granola.errors import PredictionError
from granola.matching.matchers import MatchCase

if TYPE_CHECKING:
    from abstraction.files.rows import TieredRow

Paths = tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class PredictionShape:
    """The paths of prediction, id and question in a row; the first path with a value counts, no path means the usual
    name.

    Several texts at the prediction's path are samples, and the first is the prediction. Rows with a value at `error`
    are no predictions. Of rows that differ only in the field `variant` the first is read: lm-eval writes one row for
    each filter.
    """

    prediction: Paths = ()
    id: Paths = ()
    question: Paths = ()
    error: Paths = ()
    variant: str = ""

    def with_usual_names(self, record: Record) -> Record:
        """The record with its fields renamed to the usual names. Raises RowError where there is no prediction."""
        data = dict(record.data)
        if reasons := _texts_at_first_filled_path(record.data, self.error):
            raise RowError(f"no prediction: {reasons[0]}")
        for name, paths in (("prediction", self.prediction), ("id", self.id), ("question", self.question)):
            if not paths:
                continue
            texts = _texts_at_first_filled_path(record.data, paths)
            # A named question path must exist; presets list several, of which a row may have none.
            is_needed = name == "prediction" or (name == "question" and len(paths) == 1)  # named in a setting
            if not texts and is_needed:
                raise RowError(f"no value under {' or '.join(paths)}; the row has {record.first_field_names}")
            if texts:
                data[name] = texts[0]
                if name == "prediction" and len(texts) > 1:
                    data["samples"] = texts
            elif name == "id":
                # An id at the usual place is not the one that was asked for.
                data.pop("id", None)
        return replace(record, data=data)


# lm-evaluation-harness: `samples_TASK_DATE.jsonl` of --log_samples (EvaluationTracker.save_results_samples);
# inspect_ai: EvalSample in logs of the formats .eval and .json (inspect_ai.log); OpenAI: the output file of a batch of
# /v1/chat/completions, /v1/completions or /v1/responses.
PREDICTION_PRESETS: Mapping[str, PredictionShape] = {
    "lm-eval": PredictionShape(
        prediction=("resps.0.*", "filtered_resps.*"),
        id=("doc.id", "doc.question_id", "doc.qid", "doc_id"),
        question=("doc.question", "doc.query", "doc.problem", "doc.input"),
        variant="filter",
    ),
    "inspect": PredictionShape(
        prediction=("output.choices.*.message.content", "output.choices.*.message.content.*.text", "output.completion"),
        id=("id",),
        question=("metadata.question", "input", "input.0.content"),
        error=("error.message",),
    ),
    "openai-batch": PredictionShape(
        prediction=(
            "response.body.choices.*.message.content", "response.body.choices.*.message.content.*.text",
            "response.body.choices.*.message.refusal", "response.body.choices.*.text",
            "response.body.output.*.content.*.text", "response.body.output.*.content.*.refusal",
        ),
        id=("custom_id",),
        error=("error.message", "response.body.error.message"),
    ),
}  # fmt: skip


def prediction_shape(
    preset: str | None = None, *, prediction: str | None = None, id: str | None = None, question: str | None = None
) -> PredictionShape | None:
    """The shape of a preset, overridden by the fields that are named; None where nothing is given.

    Raises PredictionError for an unknown preset.
    """
    if preset is not None and preset not in PREDICTION_PRESETS:
        raise PredictionError(f"preset {preset!r} is not known; there are {', '.join(PREDICTION_PRESETS)}")
    fields = {"prediction": prediction, "id": id, "question": question}
    named: dict[str, Any] = {name: (path,) for name, path in fields.items() if path}
    if preset is None and not named:
        return None
    return replace(PREDICTION_PRESETS[preset] if preset else PredictionShape(), **named)


def read_with_shape(path: Path | str, shape: PredictionShape) -> Iterator[Record | RejectedRow]:
    """The records of a file, with the usual names. Raises RowError for an unusable file."""
    first_variant: object = None
    for record in _records_or_samples(path):
        if isinstance(record, RejectedRow):
            yield record
            continue
        # lm-eval repeats each response for every filter; the first filter is read.
        if shape.variant and (variant := record.data.get(shape.variant)) is not None:
            first_variant = variant if first_variant is None else first_variant
            if variant != first_variant:
                continue
        try:
            yield shape.with_usual_names(record)
        except RowError as error:
            yield RejectedRow(source=record.source, reason=str(error), excerpt=str(record.data)[:200])


def _records_or_samples(path: Path | str) -> Iterator[Record | RejectedRow]:
    """The rows of a file in any readable format, or the samples of a log of inspect_ai."""
    if str(path) == "-" or not Path(path).is_file():
        yield from read_records(path)
    elif zipfile.is_zipfile(path):
        yield from _samples_of_archive(Path(path))
    elif (samples := _samples_of_log(Path(path))) is not None:
        for place, sample in enumerate(samples, start=1):
            yield Record(source=f"{path}:sample {place}", data=sample)
    else:
        yield from read_records(path)


ZSTANDARD = 93  # the zip method number of inspect_ai's archives, which zipfile does not support before Python 3.14


def _samples_of_archive(path: Path) -> Iterator[Record]:
    """The samples of a log in inspect_ai's format .eval: an archive with a JSON file for each sample."""
    with zipfile.ZipFile(path) as archive:
        # Other entries of the archive are its header and summaries.
        infos = [one for one in archive.infolist() if re.fullmatch(r"samples/.+\.json", one.filename)]
        for info in sorted(infos, key=lambda one: one.filename):
            data = json.loads(_entry_bytes(archive, path, info))
            if isinstance(data, dict):
                yield Record(source=f"{path}:{info.filename}", data=data)
    if not infos:
        raise RowError(f"{path}: no samples in this archive; expected a log of inspect_ai")


def _entry_bytes(archive: zipfile.ZipFile, path: Path, info: zipfile.ZipInfo) -> bytes:
    """The bytes of a file of an archive, which may be compressed with Zstandard, unknown to zipfile."""
    if info.compress_type != ZSTANDARD:
        return archive.read(info)
    with path.open("rb") as stream:
        # zipfile knows where the entry begins but not how to decompress it.
        stream.seek(info.header_offset)
        name, extra = struct.unpack("<26xHH", stream.read(30))  # the lengths of two fields that follow the local header
        stream.seek(name + extra, 1)
        return zstandard.ZstdDecompressor().decompressobj().decompress(stream.read(info.compress_size))


def _samples_of_log(path: Path) -> list[dict[str, Any]] | None:
    """The samples of a log of inspect_ai in JSON; None for any other file."""
    with open_for_reading(path) as stream:
        # The first 2,000 bytes show whether it is a log: parsing every large file as JSON is slow.
        head = stream.read(2_000).lstrip()
        if not head.startswith(b"{") or b'"eval"' not in head:
            return None
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
        except ValueError:
            return None
    samples = data.get("samples") if isinstance(data, dict) and "eval" in data else None
    return [one for one in samples if isinstance(one, dict)] if isinstance(samples, list) else None


def _texts_at_first_filled_path(data: Mapping[str, Any], paths: Iterable[str]) -> list[str]:
    """The texts under the first of the paths that has any; numbers become texts of their digits."""
    for path in paths:
        values = values_at(data, path)
        if found := [str(value) for value in values if isinstance(value, str) or is_number(value)]:
            return found
    return []


PROMPTS = re.compile(r"(?:[a-z+]{1,40}-)?[0-9a-f]{8,64}")  # "paper-1a2b3c4d": the set and the hash of prompts
LONGEST = 10_000  # characters of a question that are compared
EXPECTED = (  # the end of errors on files and rows
    'expected {"id": ..., "prediction": "..."} a line, or CSV with the columns id and prediction; on the '
    "command line --id-field and --prediction-field name other fields, and --preset lm-eval, inspect or openai-batch "
    "reads what these programs wrote"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class SystemAnswer:
    """The answer of one of several systems to a question, and whether the aggregated answer is entailed by it."""

    system: str
    response: str
    agrees: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Prediction:
    """One system's answer to one question; `samples` in the order drawn. `source` is "file:line".

    `confidence` has any scale, higher is surer; None where none is given. `scores` are the other fields that are
    finite numbers, such as another metric's score of the item, but none that `granola answer` and similar commands
    write; the reader decides which of them are scores. `question` is the question in the row, "" for none. `made_of`
    are the answers of several systems, for an answer that `granola aggregate` made from theirs.
    """

    id: str
    text: str
    samples: tuple[str, ...] = ()
    source: str = ""
    confidence: float | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    question: str = ""
    made_of: tuple[SystemAnswer, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class PredictionFile:
    """The content of a file: predictions by id in the order of the file, and the rejected lines.

    `rejected_ids` are the ids of rejected lines where they can be read: those questions are not unanswered. `asked` is
    the set and the hash of the prompts for the model, where the run record of the file has them.
    """

    name: str
    predictions: Mapping[str, Prediction]
    rejected: tuple[RejectedRow, ...] = ()
    rejected_ids: frozenset[str] = frozenset()
    asked: str = ""


@dataclass(frozen=True, slots=True)
class QuestionIds:
    """Ids of rows by the words of their questions, for predictions without an id, or with an id from elsewhere."""

    ids: Mapping[str, str]
    shared: frozenset[str] = frozenset()

    @classmethod
    def of(cls, rows: Iterable[TieredRow]) -> QuestionIds:
        """The ids of rows; `shared` are the questions that several rows ask."""
        ids: dict[str, str] = {}
        shared = set()
        for row in rows:
            words = normalised_question(row.question)
            if ids.setdefault(words, row.id) != row.id:
                shared.add(words)
        return cls(ids, frozenset(shared))

    def id_of_record(self, data: Mapping[str, Any]) -> str | None:
        """The id of the row with the record's question; the question itself if no row has it; None for a record
        without a question.

        Raises PredictionError for a question that several rows ask.
        """
        question = data.get("question")
        if not isinstance(question, str) or not question.strip():
            return None
        words = normalised_question(question)
        if words in self.shared:
            raise PredictionError("several rows ask this question; join on ids")
        # An unknown question is kept as id, so that it is counted as unknown.
        return self.ids.get(words, question)


def count_other_questions(file: PredictionFile, rows: Iterable[TieredRow]) -> tuple[int, int]:
    """Return (number of predictions whose question is not that of the row with their id, number that have a question).
    """
    with_question = other = 0
    for row in rows:
        prediction = file.predictions.get(row.id)
        if prediction is not None and prediction.question.strip():
            with_question += 1
            other += normalised_question(prediction.question) != normalised_question(row.question)
    return other, with_question


def normalised_question(question: str) -> str:
    """A question in the form for comparison: its words in lower case, without punctuation and spaces."""
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", question[:LONGEST]).casefold()))


def read_predictions(
    path: Path | str, *, by_question: QuestionIds | None = None, shape: PredictionShape | None = None
) -> PredictionFile:
    """All predictions of a file ("-": standard input); damaged and repeated lines are rejected with a reason.

    With `by_question` predictions are matched to rows by their "question", whatever their ids are. `shape` gives the
    paths of fields that do not have the usual names. An empty text is a prediction (an abstention); an absent or null
    one is not. The first line of a repeated id is used. Raises PredictionError for a file that is empty, of an unknown
    format, or without a usable line.
    """
    name = "standard input" if str(path) == "-" else str(path)
    try:
        records = read_records(path) if shape is None else read_with_shape(path, shape)
        file = predictions_of(records, name, by_question=by_question)
    except RowError as error:
        raise PredictionError(f"{error}; for predictions, {EXPECTED}") from error
    return replace(file, asked=valid_prompts_id(record_of(path).get("prompts")))


def valid_prompts_id(value: object) -> str:
    """The value, if it has the form of a set of prompts and its hash in a run record; else ""."""
    return value if isinstance(value, str) and PROMPTS.fullmatch(value) else ""


def predictions_of(
    records: Iterable[Record | RejectedRow], name: str, *, by_question: QuestionIds | None = None
) -> PredictionFile:
    """The predictions in records; see `read_predictions`. `name` takes the place of the file name in messages."""
    predictions: dict[str, Prediction] = {}
    rejected: list[RejectedRow] = []
    rejected_ids: set[str | None] = set()

    def read(record: Record) -> Prediction:
        try:
            return _parse_prediction(record, by_question)
        # The id of a damaged line explains why its question has no prediction.
        except Exception:
            rejected_ids.add(_id_text(record.data.get("id")))
            raise

    for row in read_each(records, read):
        if isinstance(row, RejectedRow):
            rejected.append(row)
        # Two systems in one file look like repeated ids; the first line counts.
        elif (first := predictions.setdefault(row.id, row)) is not row:
            reason = f"id {row.id!r} was used already at {first.source} (several systems? give each a file of its own)"
            rejected.append(RejectedRow(source=row.source, reason=reason, excerpt=excerpt(row.text)))
    if not predictions:
        reason = f" ({rejected[0].source}: {rejected[0].reason})" if rejected else ""
        lines = "1 line" if len(rejected) == 1 else f"{len(rejected):,} lines"
        raise PredictionError(f"{name}: no prediction in {lines}{reason}; {EXPECTED}")
    return PredictionFile(
        name=name,
        predictions=predictions,
        rejected=tuple(rejected),
        rejected_ids=frozenset(id_ for id_ in rejected_ids if id_ is not None and id_ not in predictions),
    )


def _prediction_text(value: object) -> str:
    if isinstance(value, str):
        return value
    if not is_number(value) or finite_number(value) is None:
        raise ValueError("is no prediction; expected a text")
    return str(value)


def _confidence(value: object) -> float | None:
    if (sure := finite_number(value)) is None and value not in (None, ""):
        raise ValueError("is no finite number")
    return sure


class RowWithPrediction(RowModel):
    """The prediction in a row: a text, a number as its digits, an empty cell of CSV as an empty text."""

    prediction: Annotated[str, PlainValidator(_prediction_text)] = Field(description="a text")

    @classmethod
    def of(cls, record: Record) -> Self:
        """The validated row of a record. Raises RowError with the reason where it is invalid."""
        # An empty cell of CSV is an abstention, a missing column is an error.
        if record.columns and "prediction" in record.columns and "prediction" not in record.data:
            record = replace(record, data={**record.data, "prediction": ""})
        return super().of(record)


class PredictionRow(RowWithPrediction):
    """The fields of a prediction in a file; CSV has no samples."""

    cells: ClassVar[Mapping[str, Callable[[str], Any]]] = {"samples": lambda cell: None}

    samples: tuple[StrictStr, ...] | None = None
    confidence: Annotated[float | None, PlainValidator(_confidence)] = None


def _parse_prediction(record: Record, by_question: QuestionIds | None) -> Prediction:
    """The prediction in a record. Raises RowError or PredictionError with the reason where it is invalid."""
    known = _id_text(record.data.get("id")) if by_question is None else by_question.id_of_record(record.data)
    if known is None:
        expected = "a text or a whole number under 'id'" if by_question is None else "a text under 'question'"
        raise PredictionError(f"no {'id' if by_question is None else 'question'}: expected {expected}")
    fields = PredictionRow.of(record)
    scores = {
        name: number
        for name, value in record.data.items()
        if name not in _NO_SCORES and (number := finite_number(value)) is not None
    }
    return Prediction(
        id=known,
        text=fields.prediction,
        samples=fields.samples or (),
        source=record.source,
        confidence=fields.confidence,
        scores=scores or _NONE,
        question=question if isinstance(question := record.data.get("question"), str) else "",
        made_of=tuple(_system_answers(record.data.get("systems"))),
    )


def _system_answers(systems: object) -> Iterator[SystemAnswer]:
    """The answers of systems in a row of `granola aggregate`; none where the field has another form."""
    for answer in systems if isinstance(systems, list) else ():
        match answer:
            # Other forms belong to other programs and are ignored.
            case {"system": str(system), "response": str(response), "agrees": bool(agrees)}:
                yield SystemAnswer(system=system, response=response, agrees=agrees)


# Fields of our own outputs that are no scores of a prediction, although some are numbers.
_NO_SCORES = frozenset({
    "id", "prediction", "samples", "confidence", "schema_version", "question", "relation", "method", "explanation",
    "qid", "support", "counted", "responses", "bits", "question_entity_sitelinks", "question_entity_page_views",
})  # fmt: skip
_NONE: Mapping[str, float] = MappingProxyType({})  # shared by the many predictions without scores, to save memory


def _id_text(value: object) -> str | None:
    # True would otherwise become the id "True".
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    return str(value).strip() or None


def _validate_names(value: object) -> tuple[str, ...]:
    names = value if isinstance(value, list) else [value]
    if not all(isinstance(name, str) or is_number(name) for name in names):
        raise ValueError("is no list of texts")
    if not any(str(name).strip() for name in names):
        raise ValueError("has no text")
    return tuple(map(str, names))


def _validate_levels(value: object) -> tuple[tuple[str, ...], ...]:
    if not isinstance(value, list) or not value or not all(isinstance(level, list) for level in value):
        raise ValueError('is no list of levels; expected lists of texts, finest first, as in [["Lyon"], ["France"]]')
    return tuple(map(_validate_names, value))


class MatchRow(RowWithPrediction):
    """The fields of a row in a file: a prediction with "answers" or "levels"; a number becomes the text of its digits.
    """

    cells: ClassVar[Mapping[str, Callable[[str], Any]]] = {"answers": split_cell, "levels": parse_json_or_text}

    question: StrictStr | None = None
    language: StrictStr | None = None
    answers: Annotated[tuple[str, ...], PlainValidator(_validate_names)] | None = None
    levels: Annotated[tuple[tuple[str, ...], ...], PlainValidator(_validate_levels)] | None = None


def read_match_case(record: Record) -> MatchCase:
    """The case of a record. Raises RowError where it has no prediction, or no acceptable answer."""
    fields = MatchRow.of(record)
    # A single set of answers is a ladder of one level.
    levels = fields.levels or (fields.answers and (fields.answers,))
    if not levels:
        raise RowError("neither 'answers' (a list of texts) nor 'levels' (lists of texts, finest first)")
    # They might contradict each other.
    if fields.levels and fields.answers:
        raise RowError("both 'answers' and 'levels': give one of them")
    return MatchCase(
        prediction=fields.prediction,
        levels=levels,
        question=fields.question or None,
        language=(fields.language or "").strip() or None,
    )
