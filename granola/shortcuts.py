"""The whole way in a few lines of Python, over files, rows or DataFrames.

```python
import granola

with granola.snapshot() as sample:  # the bundled one
    row = granola.ladder("Where was Barack Obama born?", "Honolulu", sample)
    granola.match("somewhere in Hawaii", row).level
```
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from granola.errors import UsageError

if TYPE_CHECKING:
    from abstraction.rows import QARow, TieredRow
    from granola.matching.verdict import Matcher, Verdict
    from granola.scoring.predictions import PredictionFile
    from granola.scoring.scores import ScoreReport
    from kg.store.protocol import Store

    Snapshot = Store | Path | str
    Rows = Path | str | Iterable[TieredRow] | Iterable[Mapping[str, Any]]  # or a DataFrame


def snapshot(where: Path | str | None = None) -> Store:
    """A snapshot, open until `close` or the end of a `with` block: a file, bolt://HOST:PORT, or the bundled sample.

    Raises what opening it raises: FileNotFoundError, DamagedSnapshotError, ...
    """
    from kg.store import open_store
    from kg.store.sqlite import SQLiteStore

    if where is not None:
        return open_store(where)
    from granola.runs.demo_run import bundled
    from kg.snapshot import build

    with tempfile.TemporaryDirectory(prefix="granola-sample-") as folder:
        path = Path(folder) / "sample.sqlite"
        build([bundled("wikidata")], path)
        return SQLiteStore.open(path)  # what is open can be read when its name is gone


def ladder(
    question: str,
    answer: str | Sequence[str],
    snapshot: Snapshot,
    *,
    relation: str | None = None,
    subject: str | None = None,
    language: str = "en",
    linker: str = "question",
) -> TieredRow:
    """The ladder of one gold answer, or of several: a row whose `levels` are finest first, the answer at level 1.

    `relation` and `subject` are read from the question where they are left out. A row with the answer alone has
    `abstained`. Raises RowError for an empty question or answer.
    """
    row: dict[str, Any] = {
        "id": "1",
        "question": question,
        "answer": [answer] if isinstance(answer, str) else [*answer],
    }
    row |= {"relation": relation} if relation else {}
    row |= {"question_entity": {"text": subject}} if subject else {}
    return next(iter(_ladders(_questions([row]), snapshot, language, linker)))


def ladders(
    questions: Any,
    snapshot: Snapshot,
    *,
    relation: str | None = None,
    language: str = "en",
    linker: str = "question",
) -> Any:
    """The ladders of many questions, in order.

    `questions` is the path of a file, mappings with "question" and "answer" (as rows of such a file: see
    docs/reference/file-formats.md), or a DataFrame with these columns. Gives a list of TieredRow; of a DataFrame a
    DataFrame, with `ladder` (the levels in words), `levels` (as in a tiered file, for `score`) and `abstained` beside
    its own columns and index.

    Raises RowError for a row that cannot be used, with its place.
    """
    if (frame := _frame(questions)) is None:
        return list(_ladders(_questions(questions, relation), snapshot, language, linker))
    rows = list(_ladders(_questions(_records(frame), relation), snapshot, language, linker))
    table = frame.copy()
    if "id" not in table:
        table["id"] = [row.id for row in rows]
    table["ladder"] = [" › ".join(level.tiers[0].text for level in row.levels) for row in rows]
    table["levels"] = [row.to_json()["levels"] for row in rows]
    table["abstained"] = [row.abstained for row in rows]
    return table


def match(
    prediction: str,
    levels: TieredRow | Sequence[Sequence[str]],
    *,
    matcher: Matcher | str = "rules",
    question: str | None = None,
    language: str | None = None,
) -> Verdict:
    """Which level a prediction states, `level` None for none: of a row, or of lists of names, finest first.

    Raises MatcherError for a matcher that is not known.
    """
    from abstraction.rows import TieredRow

    named: Sequence[Sequence[str]]
    if isinstance(levels, TieredRow):
        question = levels.question if question is None else question
        named = [level.names() for level in levels.levels]
    else:
        named = levels
    return _matcher(matcher, language).match(prediction, tuple(map(tuple, named)), question=question)


def score(
    rows: Rows,
    predictions: PredictionFile | Path | str | Mapping[str, str] | Iterable[Mapping[str, Any]],
    matcher: Matcher | str = "rules",
    **settings: Any,
) -> ScoreReport:
    """Score one system's predictions against ladders, by id.

    `rows` is a tiered file, rows, or what `ladders` gave; `predictions` a file, texts by id, mappings with "id" and
    "prediction", or a DataFrame with these columns; `settings` are those of `granola.scoring.score`, as `lambda_`,
    `standard`, `seed`, `allow_missing`. `report.overall.estimates["granola_accuracy"]` has value and interval.

    Raises PredictionError for ids that do not match, MatcherError for a matcher that is not known.
    """
    from granola.scoring import scores

    return scores.score(_tiered(rows), _predictions(predictions), _matcher(matcher, None), **settings)


def _ladders(questions: Iterable[QARow], snapshot: Snapshot, language: str, linker: str) -> Iterator[TieredRow]:
    from abstraction.pipeline import make_ladders
    from kg.store import open_store

    if not isinstance(snapshot, Path | str):
        yield from make_ladders(questions, snapshot, language=language, linker=linker)
        return
    with open_store(snapshot) as store:
        yield from make_ladders(questions, store, language=language, linker=linker)


def _questions(questions: Any, relation: str | None = None) -> Iterator[QARow]:
    from abstraction.errors import RowError
    from abstraction.rows import RejectedRow, question_rows, read_questions

    if isinstance(questions, Path | str):
        yield from read_questions([questions], relation=relation)
        return
    for row in question_rows(_as_records(questions, "question"), relation=relation):
        if isinstance(row, RejectedRow):
            raise RowError(f"{row.source}: {row.reason}")
        yield row


def _tiered(rows: Any) -> Any:
    from abstraction.rows import TieredRow, tiered_rows

    if isinstance(rows, Path | str):
        return rows
    if (frame := _frame(rows)) is not None:
        rows = _records(frame)
    listed = list(rows)
    if all(isinstance(row, TieredRow) for row in listed):
        return listed
    return list(tiered_rows(_as_records(listed, "row")))


def _predictions(predictions: Any) -> PredictionFile:
    from granola.scoring.predictions import PredictionFile, predictions_of, read_predictions

    if isinstance(predictions, PredictionFile):
        return predictions
    if isinstance(predictions, Path | str):
        return read_predictions(predictions)
    if (frame := _frame(predictions)) is not None:
        predictions = _records(frame)
    elif isinstance(predictions, Mapping):
        predictions = [{"id": id, "prediction": text} for id, text in predictions.items()]
    return predictions_of(_as_records(predictions, "prediction"), "predictions")


def _as_records(rows: Iterable[Mapping[str, Any]], what: str) -> Iterator[Any]:
    from abstraction.formats.records import Record

    for number, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping):
            raise UsageError(f"{what} {number} is a {type(row).__name__}; expected a mapping, as a row of a file")
        yield Record(source=f"{what} {number}", data=row)


def _matcher(given: Matcher | str, language: str | None) -> Matcher:
    from granola.matching.registry import matcher

    return matcher(given, language=language) if isinstance(given, str) else given


def _frame(given: Any) -> Any:
    """The value where it is a DataFrame, else None; pandas is not loaded for it."""
    pandas = sys.modules.get("pandas")
    return given if pandas is not None and isinstance(given, pandas.DataFrame) else None


def _records(frame: Any) -> list[dict[str, Any]]:
    """The rows of a DataFrame, without what is missing in them."""
    return [
        {str(name): value for name, value in row.items() if not (isinstance(value, float) and value != value)}
        for row in frame.to_dict("records")
    ]
