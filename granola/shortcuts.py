"""The Python interface in a few functions, over files, rows or DataFrames of any library.

```python
import granola

with granola.snapshot() as sample:  # the bundled one
    row = granola.ladder("Where was Barack Obama born?", "Honolulu", sample)
    granola.match("somewhere in Hawaii", row).level
```
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from abstraction.base.faults import OnReject, RejectedRow
from abstraction.base.tiers import Level
from abstraction.files.records import Record, data_files, json_text
from abstraction.files.row_models import without_rejected
from abstraction.files.row_shapes import RowShape, records_with_usual_fields, shape_of
from abstraction.files.rows import QARow, TieredRow, question_rows, read_questions, tiered_rows
from abstraction.maker.pipeline import make_ladders
from granola.errors import GranolaError, MatcherError, PredictionError, UsageError
from granola.matching.matchers import Matcher, Verdict, matcher
from granola.scoring import scores
from granola.scoring.predictions import PredictionFile, QuestionIds, predictions_of, read_predictions
from granola.scoring.scores import ScoreReport
from granola.scoring.tiered_file import TieredFile, read_tiered_file
from kg.store import open_store
from kg.store.protocol import Store
from kg.store.sqlite import SQLiteStore

if TYPE_CHECKING:
    Snapshot = Store | Path | str
    Levels = TieredRow | Sequence[Sequence[str]] | Sequence[Mapping[str, Any]] | str

BUNDLED = Path(__file__).resolve().parent / "demo"  # a piece of WikiData, questions, predictions and samples
FIRST = 5  # ladders that a notebook shows of a long list
SNAPSHOT = "snapshot"  # key of the snapshot's id: in the `attrs` of pandas, else a column of this name
EXACT = 2**53  # floats represent each whole number up to here exactly
Errors = Literal["raise", "collect"]


class LadderRows(list["TieredRow"]):
    """Rows with their ladders, and the id of their snapshot, for the signature of a score.

    `rejected` are the unusable rows, with place and reason, where errors were to be collected.
    """

    def __init__(self, rows: Iterable[TieredRow], snapshot: str, rejected: Sequence[RejectedRow] = ()) -> None:
        super().__init__(rows)
        self.snapshot = snapshot
        self.rejected = list(rejected)

    def to_pandas(self) -> Any:
        """A DataFrame of pandas: id, question, answer, ladder in words, levels, and why a row has none."""
        import pandas

        table = pandas.DataFrame({name: list(values) for name, values in _added_columns(self).items()})
        table.attrs["snapshot"] = self.snapshot
        return table

    def _repr_html_(self) -> str:
        """The first ladders, as a notebook shows them."""
        more = f"<p>and {len(self) - FIRST:,} more</p>" if len(self) > FIRST else ""
        return "".join(row._repr_html_() for row in self[:FIRST]) + more


def bundled(name: str) -> Path:
    """The path of a file of the bundled sample, found by its name without suffix."""
    paths = sorted(path for path in BUNDLED.glob(f"{name}.*") if path.is_file())
    if not paths:
        raise GranolaError(f"the bundled {name} is missing from {BUNDLED}; install granola-ladders again")
    return paths[0]


def build_sample(folder: Path | str) -> Path:
    """Build a snapshot of the bundled sample in a folder."""
    from kg.building.snapshot import build

    path = Path(folder) / "sample.sqlite"
    build([bundled("wikidata")], path)
    return path


def snapshot(where: Path | str | None = None) -> Store:
    """A snapshot, open until `close` or the end of a `with` block: a file, bolt://HOST:PORT, or the bundled sample.

    Raises what opening it raises: FileNotFoundError, DamagedSnapshotError, ...
    """
    if where is not None:
        return open_store(where)
    with tempfile.TemporaryDirectory(prefix="granola-sample-") as folder:
        # An open file stays readable after the temporary folder is removed.
        return SQLiteStore.open(build_sample(folder))


def ladder(
    question: str,
    answer: str | Sequence[str],
    snapshot: Snapshot,
    *,
    relation: str | None = None,
    subject: str | None = None,
    answer_qid: str | None = None,
    language: str = "en",
    linker: str = "question",
) -> TieredRow:
    """The ladder of one gold answer, or of several: a row whose `levels` are finest first, the answer at level 1.

    `relation` and `subject` are read from the question where they are left out; `answer_qid`, the item of the answer,
    is found by the answer's name. A row without coarser answers has `abstained`. Raises RowError for an empty question
    or answer.
    """
    if not isinstance(answer, str | Sequence):
        raise UsageError(f"answer is {answer!r}; expected a text, or several")
    answers = [answer] if isinstance(answer, str) else [*answer]
    row: dict[str, Any] = {"id": "1", "question": question, "answer": answers}
    known = {"relation": relation, "question_entity": subject and {"text": subject}, "answer_qid": answer_qid}
    row |= {name: value for name, value in known.items() if value}
    return _make_ladder_rows(_read_question_rows([row]), snapshot, language, linker)[0]


def ladders(
    questions: Any,
    snapshot: Snapshot,
    *,
    preset: str | None = None,
    question_field: str | None = None,
    answer_field: str | None = None,
    id_field: str | None = None,
    split: str | None = None,
    relation: str | None = None,
    language: str = "en",
    linker: str = "question",
    errors: Errors = "raise",
) -> Any:
    """The ladders of many questions, in order.

    `questions` is the path of a file or of a dataset's folder, mappings with "question" and "answer" (rows of such a
    file: see docs/reference/file-formats.md), or a DataFrame of pandas, polars or pyarrow with these columns.
    `preset`, the fields and `split` are the options of `granola tiers`.

    Returns a list of TieredRow; for a DataFrame one of the same library with the added columns `ladder` (the levels in
    words), `levels` (as in a tiered file, for `score`; JSON text except in pandas) and `abstained`; where fields are
    named, `id`, `question` and `answer` contain their values. Both have the id of their snapshot, which the signature
    of a score names. Rows without an answer in the dataset of the preset are left out.

    An unusable row raises RowError with its place. Where `errors` is "collect" it is left out instead: it is in the
    list's `rejected` with the reason; a DataFrame keeps it without a ladder, with the reason in the column `rejected`.
    """
    if errors not in get_args(Errors):
        raise UsageError(f"errors is {errors!r}; allowed: {', '.join(get_args(Errors))}")
    shape = shape_of(preset, question=question_field, answer=answer_field, id=id_field, split=split)
    frame = narwhals_frame(questions)
    records = questions if frame is None else frame_records(frame)
    rejected: list[RejectedRow] = []
    on_reject = rejected.append if errors == "collect" else None
    rows = _make_ladder_rows(
        _read_question_rows(records, relation, shape, language, on_reject), snapshot, language, linker, rejected
    )
    if frame is None:
        return rows
    made = {_row_index(row): row for row in rows}  # only the rows of the split, where one is named
    reasons = {_row_index(row): row.reason for row in rejected}
    # In the order of the frame, rejected rows included.
    places = sorted([*made, *reasons])
    columns = _added_columns([made.get(place) for place in places])
    # The frame has these columns already.
    if shape is None:
        named = [str(name) for name in frame.columns]
        columns = {name: values for name, values in columns.items() if name not in ("id", *ASKED) or name not in named}
    if errors == "collect":
        columns["rejected"] = [reasons.get(place) for place in places]
    return selected_rows_with_columns(frame, places, columns, rows.snapshot)


def _row_index(row: TieredRow | RejectedRow) -> int:
    """The index of a row in its frame, from 0."""
    return int(row.source.rpartition(" ")[2]) - 1


ASKED = ("question", "answer")


def _added_columns(rows: Sequence[TieredRow | None]) -> dict[str, list[Any]]:
    """The columns of ladders that are added to a table, by name; None in rejected rows."""
    return {
        "id": [row and row.id for row in rows],
        "question": [row and row.question for row in rows],
        "answer": [row and list(row.answers) for row in rows],
        "ladder": [row and " › ".join(level.tiers[0].text for level in row.levels) for row in rows],
        "levels": [row and row.to_json()["levels"] for row in rows],
        "abstained": [row and row.abstained for row in rows],
    }


def match(
    prediction: str,
    levels: Levels,
    *,
    matcher: Matcher | str = "rules",
    question: str | None = None,
    language: str | None = None,
) -> Verdict:
    """The verdict on a prediction: its level, None for none, among the levels of a row or lists of names.

    Levels are finest first, as in a row, in a tiered file's `levels` or in that column of a DataFrame. Raises
    MatcherError for an unknown matcher, and for levels of another form.
    """
    if not isinstance(prediction, str):
        given = "None" if prediction is None else f"a {type(prediction).__name__}"
        raise MatcherError(f"prediction is {given}; expected a text: the prediction comes first, then the levels")
    named: Sequence[Sequence[str]]
    if isinstance(levels, TieredRow):
        question = levels.question if question is None else question
        named = [level.names() for level in levels.levels]
    else:
        named = [_level_names(level) for level in _level_list(levels)]
    return _resolve_matcher(matcher, language).match(prediction, tuple(map(tuple, named)), question=question)


def score(
    rows: Any,
    predictions: Any,
    matcher: Matcher | str = "rules",
    *,
    join: Literal["id", "question"] = "id",
    system: str | None = None,
    snapshot: str | None = None,
    **settings: Any,
) -> ScoreReport:
    """Score one system's predictions against ladders, joined by id or by the words of the question.

    `rows` is a tiered file, a dataset's folder, rows, or a result of `ladders`. `predictions` is a file, texts by id
    (or by question), mappings with "id" (or "question") and "prediction", or a DataFrame with these columns.
    `settings` are those of `granola.scoring.scores.ScoreSettings`, such as `lambda_`, `standard`, `seed`,
    `allow_missing`. `snapshot` is the id of the snapshot of the ladders, where the rows do not have it.

    `report.overall.estimates["granola_accuracy"]` has value and interval. Raises PredictionError for ids that do not
    match, MatcherError for an unknown matcher.
    """
    if join not in ("id", "question"):
        raise UsageError(f"join is {join!r}; allowed: id, question")
    tiered = _as_tiered_rows(rows)
    if not isinstance(tiered, TieredFile):
        frame = narwhals_frame(rows)
        known = getattr(rows, "snapshot", None)
        if frame is not None and _is_pandas(frame):
            known = frame.to_native().attrs.get(SNAPSHOT)
        elif frame is not None:
            known = str(frame[SNAPSHOT][0]) if SNAPSHOT in frame.columns and len(frame) else None
        tiered = TieredFile(rows=tiered, snapshot=known or "unknown")
    if snapshot is not None:
        tiered = replace(tiered, snapshot=snapshot)
    by_question = QuestionIds.of(tiered.rows) if join == "question" else None
    given = _read_prediction_file(predictions, by_question)
    # In memory a rejected row is an error of the caller, in a file one of its writer.
    if given.rejected and not isinstance(predictions, Path | str) and not settings.get("allow_missing"):
        row = given.rejected[0]
        instead = "an empty text declines, allow_missing=True leaves it unscored"
        raise PredictionError(f"{row.source}: {row.reason}; {instead}")
    return scores.score(tiered, given, _resolve_matcher(matcher, None), scores.ScoreSettings(**settings), system=system)


def _make_ladder_rows(
    questions: Iterable[QARow],
    snapshot: Snapshot,
    language: str,
    linker: str,
    rejected: list[RejectedRow] | None = None,
) -> LadderRows:
    if isinstance(snapshot, Path | str):
        with open_store(snapshot) as store:
            return _make_ladder_rows(questions, store, language, linker, rejected)
    made = list(make_ladders(questions, snapshot, language=language, linker=linker))
    return LadderRows(made, str(snapshot.manifest()["snapshot_id"]), rejected or ())


def _read_question_rows(
    questions: Any,
    relation: str | None = None,
    shape: RowShape | None = None,
    language: str = "en",
    on_reject: OnReject | None = None,
) -> Iterator[QARow]:
    if isinstance(questions, Path | str):
        yield from read_questions([questions], relation=relation, shape=shape, language=language, on_reject=on_reject)
        return
    records: Iterable[Any] = _as_records(questions, "question", is_flat=shape is None)
    if shape is not None:
        records = records_with_usual_fields(records, shape, language)
    yield from without_rejected(question_rows(records, relation=relation), on_reject)


def _as_tiered_rows(rows: Any) -> Any:
    if isinstance(rows, Path | str):
        files = data_files(rows)
        if len(files) > 1:
            raise UsageError(f"{rows} is a folder with {len(files)} files of rows; name one of them")
        return read_tiered_file(files[0])
    if (frame := narwhals_frame(rows)) is not None:
        # Rows that `ladders` rejected are left out, as they are from its lists.
        rows = [row for row in frame_records(frame) if not (isinstance(row.get("rejected"), str) and "ladder" in row)]
    listed = list(rows)
    # Rows of this library need no validation.
    if all(isinstance(row, TieredRow) for row in listed):
        return listed
    return list(tiered_rows(_as_records(listed, "row")))


def _read_prediction_file(predictions: Any, by_question: QuestionIds | None) -> PredictionFile:
    if isinstance(predictions, PredictionFile):
        return predictions
    if isinstance(predictions, Path | str):
        return read_predictions(predictions, by_question=by_question)
    if (frame := narwhals_frame(predictions)) is not None:
        predictions = frame_records(frame)
    elif isinstance(predictions, Mapping):
        key = "id" if by_question is None else "question"
        predictions = [{key: name, "prediction": text} for name, text in predictions.items()]
    return predictions_of(_as_records(predictions, "prediction"), "predictions", by_question=by_question)


def _as_records(rows: Iterable[Mapping[str, Any]], what: str, *, is_flat: bool = False) -> Iterator[Any]:
    """Yield the rows as records; where `is_flat` None is an empty cell, as in a DataFrame."""
    # A mapping would be iterated by its keys.
    if isinstance(rows, Mapping):
        expected = "expected a list of rows: put a single row into a list, and choose one of several splits"
        raise UsageError(f"the {what}s are one {type(rows).__name__}; {expected}")
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping):
            raise UsageError(f"{what} {number} is a {type(row).__name__}; expected a mapping, as a row of a file")
        cells = ((name, _as_file_value(value)) for name, value in row.items())
        data = {name: value for name, value in cells if not (_is_missing(value) or (is_flat and value is None))}
        columns = tuple(map(str, row)) if is_flat else ()  # so that messages call an empty cell empty
        yield Record(source=f"{what} {number}", data=data, columns=columns)


def _as_file_value(value: Any) -> Any:
    """The value that a file would have: whole floats become integers, since pandas makes integers floats where one is
    missing.
    """
    value = _arrays_as_lists(value)
    # Beyond EXACT a float is no certain whole number.
    if isinstance(value, float) and value.is_integer() and abs(value) <= EXACT:
        return int(value)
    return value


def _is_missing(value: Any) -> bool:
    """Whether a value is a missing one of pandas or NumPy: NaN, NaT, pandas.NA."""
    # Not imported here: values of pandas exist only where it is loaded.
    pandas = sys.modules.get("pandas")
    if pandas is not None and (value is pandas.NA or value is pandas.NaT):
        return True
    return isinstance(value, float) and math.isnan(value)


def _arrays_as_lists(value: Any) -> Any:
    """Convert arrays to lists, also nested ones: pandas reads columns of lists from Parquet as arrays."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return value
    if isinstance(value, numpy.ndarray | numpy.generic):
        value = value.tolist()
    if isinstance(value, list):
        return [_arrays_as_lists(item) for item in value]
    return {name: _arrays_as_lists(item) for name, item in value.items()} if isinstance(value, dict) else value


def _level_names(level: Any) -> Sequence[str]:
    """The names of a level, which is a list of names or a level of a tiered file. Raises MatcherError for others."""
    if isinstance(level, Level):
        return level.names()
    if isinstance(level, Mapping) and isinstance(level.get("tiers"), list):
        try:
            return Level.from_json(level).names()
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise MatcherError(f"a level is malformed: {type(error).__name__} {error}") from error
    if isinstance(level, list | tuple) and all(isinstance(name, str) for name in level):
        return level
    raise MatcherError(f"a level is a {type(level).__name__}; {_LEVELS}")


def _level_list(levels: Any) -> Sequence[Any]:
    if isinstance(levels, str) and levels.lstrip().startswith("["):  # JSON text, as in frames of polars
        try:
            levels = json.loads(levels)
        except ValueError as error:
            raise MatcherError(f"levels are no JSON ({error}); {_LEVELS}") from error
    if not isinstance(listed := _arrays_as_lists(levels), list | tuple):
        raise MatcherError(f"levels are a {type(levels).__name__}; {_LEVELS}")
    return listed


_LEVELS = 'expected a list of names a level, as [["Honolulu"], ["Hawaii"]], or the levels of a row'


def _resolve_matcher(given: Matcher | str, language: str | None) -> Matcher:
    return matcher(given, language=language) if isinstance(given, str) else given


# DataFrames, by narwhals.


def narwhals_frame(given: Any) -> Any:
    """Wrap a DataFrame of any library in narwhals; None for other values. Raises UsageError for a lazy frame."""
    if given is None or isinstance(given, str | Path | Mapping | Sequence):
        return None  # plain types need no import of narwhals
    import narwhals

    frame = narwhals.from_native(given, pass_through=True)
    if isinstance(frame, narwhals.LazyFrame):
        raise UsageError(f"a {type(given).__name__} has no rows yet; expected a DataFrame, in polars frame.collect()")
    return frame if isinstance(frame, narwhals.DataFrame) else None


def frame_records(frame: Any) -> list[dict[str, Any]]:
    """The rows of a frame as dictionaries by column."""
    native = frame.to_native()
    rows = native.to_dict("records") if _is_pandas(frame) else frame.rows(named=True)
    return [{str(name): value for name, value in row.items()} for row in rows]


def selected_rows_with_columns(
    frame: Any, places: Sequence[int], columns: Mapping[str, Sequence[Any]], snapshot: str
) -> Any:
    """The rows at `places` with `columns` added to their own, as a frame of the same library.

    pandas keeps its index, and objects as they are; elsewhere a list of objects becomes JSON text, as in CSV.
    """
    if _is_pandas(frame):
        table = frame.to_native().iloc[list(places)].copy()
        # Only pandas keeps attributes of a frame; others get a column.
        table.attrs[SNAPSHOT] = snapshot
        for name, values in columns.items():
            table[name] = list(values)
        return table
    import narwhals

    def json_of_mixed_list(value: Any) -> Any:
        is_plain = not isinstance(value, list) or all(isinstance(item, str) for item in value)
        return value if is_plain else json_text(value)

    columns = {**columns, SNAPSHOT: [snapshot] * len(places)}
    series = [
        narwhals.new_series(name, list(map(json_of_mixed_list, values)), backend=frame.implementation)
        for name, values in columns.items()
    ]
    return frame[list(places)].with_columns(*series).to_native()


def _is_pandas(frame: Any) -> bool:
    return bool(frame.implementation.is_pandas())
