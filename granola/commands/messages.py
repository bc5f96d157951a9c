"""Messages of commands on standard error, and printing of results."""

from __future__ import annotations

import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from granola.base.terminal_lines import escape_controls
from granola.errors import UsageError

if TYPE_CHECKING:
    from abstraction.base.faults import RejectedRow
    from abstraction.files.rows import QARow
    from abstraction.linking.review import Decisions
    from granola.scoring.system_comparison import Difference
    from kg.store.protocol import Store

_Row = TypeVar("_Row")
SHOWN = 3  # rejected rows and files that messages name
_PLACE = re.compile(r"(?::\d{1,12}|\[\d{1,12}\])\Z")  # the place of a row in its file, "FILE:12" or "FILE[12]"


def note(message: str) -> None:
    """Print one line on stderr."""
    print(f"granola: {escape_controls(message)}", file=sys.stderr)


def count(number: int, singular: str, plural: str | None = None) -> str:
    """A number with its noun: `1 row`, `2 rows`, `1,000 entities`."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def paired_test_line(test: Difference) -> str:
    """A line with the difference, interval and p-values of a paired test."""
    if not test.n:
        return f"{test.first} - {test.second}, {test.metric}: no item has this score of both"
    return (
        f"{test.first} - {test.second}, {test.metric}: {test.difference:+.3f} [{test.interval.low:+.3f}, "
        f"{test.interval.high:+.3f}], p {test.p:.4f}, after Holm {test.adjusted:.4f}, n {test.n:,}"
    )


def unanswered_rows_line(number: int) -> str:
    """A line on the rows left out because their dataset has no answer to them."""
    return f"{count(number, 'row')} left out: the dataset has no answer to {'it' if number == 1 else 'them'}"


def report_rejects(name: str, rejected: Sequence[RejectedRow], *, listed_in: Path | None = None) -> None:
    """Report on stderr the first rejected rows with places and reasons, and the number of all by reason."""
    for row in rejected[:SHOWN]:
        note(f"rejected {row.source}: {row.reason}: {row.excerpt}")
    if rejected:
        # Rejected rows may be in other files than the one that was named.
        files = dict.fromkeys(_PLACE.sub("", row.source) for row in rejected)
        others = [file for file in files if Path(file).name != Path(name).name]
        named = others if others and len(others) == len(files) else [name, *others]
        more = [f"{len(named) - SHOWN:,} more files"] if len(named) > SHOWN else []
        where = f"; listed in {listed_in}" if listed_in else ""
        note(f"{', '.join([*named[:SHOWN], *more])}: {count(len(rejected), 'row')} rejected{where}")


def warn_of_snapshot_gaps(store: Store, language: str, relation: str | None = None) -> None:
    """Warn on stderr if a snapshot lacks names in the language, times of statements, or a relation.

    Raises UsageError for a relation outside the relation table that no entity has.
    """
    from abstraction.base.relations import relations_by_id
    from abstraction.text.language.languages import has_grammar, language_gaps_notice
    from kg.base.model import fallback_chain
    from kg.store.sqlite import SQLiteStore

    if not has_grammar(language):
        note("phrase tiers exist for English only; other tiers are named in the language asked for, where they can be")
        if said := language_gaps_notice(language):
            note(said)
        if isinstance(store, SQLiteStore) and not store.has_labels(language):
            chain = ", ".join(fallback_chain(language)[1:])
            note(f"the snapshot has no label in {language!r}; names fall back to {chain}")
    if store.manifest().get("time_aware") is False:
        note("the snapshot holds truthy statements without qualifiers: a ladder cannot know what held when")
    if relation is not None and relation not in relations_by_id():
        if relation not in store.property_counts([relation]):
            raise UsageError(
                f"--relation {relation}: no entity of the snapshot has this property, and the relation table has no "
                "row of it; its page at WikiData says what it means"
            )
        note(f"relation {relation} has no row in the relation table: the ladder follows the answer's class alone")


def warn_of_misread_rows(rows: Iterable[QARow], language: str, decisions: Decisions) -> Iterator[QARow]:
    """Yield the rows unchanged; after the last one warn on stderr of rows that are probably not read as intended.

    These have an unknown language, a field whose name is almost that of a known one, two fields of answers, or a
    question as answer. Also warns of `decisions` on rows that do not exist.
    """
    from abstraction.files.records import ANSWERS, optional_field_misspelt_as
    from abstraction.files.rows import unknown_language_of_row

    others = Counter[str]()
    unread = Counter[str]()
    rows_read = exchanged = twice = 0
    without_row = {row_id for row_id, _ in decisions}
    for row in rows:
        rows_read += 1
        without_row.discard(row.id)
        # Exchanged columns are the most frequent mistake in files of questions.
        exchanged += row.answers[0].endswith("?") and not row.question.endswith("?")
        if (code := unknown_language_of_row(row)) is not None:
            others[code[:20]] += 1
        unread.update(name for name in row.extra if optional_field_misspelt_as(name) is not None)
        twice += ANSWERS[1] in row.extra
        yield row
    # A few answers may end in a question mark; most of them only by mistake.
    if 2 * exchanged > rows_read:
        note(f"{count(exchanged, 'row')} of {rows_read:,} have a question as their answer; are the columns exchanged?")
    if without_row:
        decided = count(len(without_row), "decision")
        note(f"{decided} on no row that was read, as {min(without_row)!r}; is the sheet of these questions?")
    if twice:
        first, second = map(repr, ANSWERS)
        told = f"{count(twice, 'row')} with both {first} and {second}: {first} is read, {second} is left as it is"
        note(f"{told}; --answer-field {ANSWERS[1]} reads it")
    # Five at most: a file with many unknown fields needs no longer list.
    for name, number in unread.most_common(5):
        meant = optional_field_misspelt_as(name)
        note(f"{count(number, 'row')} with the field {name!r}, which is not read; is {meant!r} meant?")
    for code, number in sorted(others.items())[:5]:
        note(f"{count(number, 'row')} with the language {code!r}, no known code: ladders are worded in {language!r}")


def warn_of_languages_without_rules(rows: Mapping[str, int]) -> None:
    """Warn on stderr of features that languages lack, and of languages without rules; `rows` are numbers of rows by
    language.
    """
    from abstraction.text.language.languages import (
        is_supported_language,
        language,
        language_gaps_notice,
        supported_languages_text,
    )

    for code, number in sorted(rows.items()):
        if not is_supported_language(code):
            note(
                f"{count(number, 'row')} in the language {code!r}, which has no rules (there are: "
                f"{supported_languages_text()}): read as {language(code).name}"
            )
        elif said := language_gaps_notice(code):
            note(f"{count(number, 'row')} in a language without a file: {said}")


def print_json(data: Any, *, file: TextIO | None = None) -> None:
    """Print one JSON object, on standard output unless `file` is given; in ASCII where the stream supports no more."""
    import json

    stream = file or sys.stdout
    # An ASCII stream gets escapes, which JSON readers decode.
    encoding = (getattr(stream, "encoding", None) or "utf-8").lower().replace("-", "")
    whole = {"schema_version": 1, **json_of(data)}
    print(json.dumps(whole, ensure_ascii=encoding != "utf8", indent=1, allow_nan=False), file=stream)


def json_of(value: Any) -> Any:
    """Convert a value for JSON: its `to_json`, or the fields of a dataclass; NaN becomes null, a path its text."""
    if hasattr(value, "to_json"):
        return json_of(value.to_json())
    if is_dataclass(value):
        return {one.name.strip("_"): json_of(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): json_of(part) for name, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        # Sets are sorted, so that equal results print equal texts.
        return [json_of(part) for part in (sorted(value) if isinstance(value, set | frozenset) else value)]
    if isinstance(value, float):
        # JSON has no NaN and no infinity.
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


@contextmanager
def progress_counter(unit: str) -> Iterator[Callable[[int], None]]:
    """A context with a function that shows the number done, if stderr is a terminal."""
    with phase_progress("") as show:
        yield lambda done: show("", done, None, f"{done:,} {unit}")


def with_progress(rows: Iterable[_Row]) -> Iterator[_Row]:
    """Yield the rows, and show their number as questions while they are read."""
    with progress_counter("questions") as show:
        for done, row in enumerate(rows, 1):
            yield row
            show(done)


@contextmanager
def phase_progress(first_phase: str) -> Iterator[Callable[[str, int, int | None, str], None]]:
    """A context with a function that shows the phase, number done, total and counter text, if stderr is a terminal."""
    # Progress bars would fill log files.
    if not sys.stderr.isatty():
        yield lambda phase, done, total, counted: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    phase_shown, counted_shown = TextColumn("{task.description}"), TextColumn("{task.fields[counted]}")
    columns = (phase_shown, BarColumn(), counted_shown, TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(first_phase, total=None, counted="")

        def show(phase: str, done: int, total: int | None, counted: str) -> None:
            bar.update(task, description=phase, completed=done, total=total, counted=counted)

        yield show
