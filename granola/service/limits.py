"""Limits of one request: sizes of texts and lists, and the work that grows with several sizes together.

All limits are checked before work begins, for every route: `granola.service.gate` accepts no route without its
`Bound`. With these limits a body of less than 64 KiB takes at most about a second of one core, and a larger one in
proportion.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from abstraction.errors import RowError
from abstraction.files.records import KNOWN
from abstraction.files.rows import TieredRow
from granola.scoring.metrics import names_of
from granola.service.problems import HTTPProblem, too_many_problem

MIB = 1 << 20
SNAPSHOT_HEADER = "granola-snapshot"  # HTTP header of every response


@dataclass(frozen=True, kw_only=True, slots=True)
class ServiceSettings:
    """All limits are for one worker process; sizes in bytes, times in seconds.

    `token` None serves everyone who can connect; `hosts` are the names that the service may be asked under, in small
    letters, None for any. `rows` bounds a batch and a file to score, `waiting` the requests that wait for a thread,
    `batches` those that are answered row by row at the same time, `buffered` all bodies that are being received.
    `seconds` is for one request, `batch_seconds` for a batch or a file to score. `dataset` is a page of ladders.
    A worker that holds more than `memory` of its own ends and is replaced, and so is one
    whose thread goes on for `stuck_seconds` beyond its time, or that gives no sign of life for `hang_seconds`.
    """

    snapshot: str
    dataset: bytes | None = None
    language: str = "en"
    token: str | None = None
    hosts: frozenset[str] | None = None
    body: int = 16 * MIB
    buffered: int = 64 * MIB
    rows: int = 10_000
    seconds: float = 10.0
    batch_seconds: float = 600.0
    body_seconds: float = 30.0
    write_seconds: float = 20.0
    waiting: int = 32
    batches: int = 4
    memory: int = 700 * MIB
    hang_seconds: float = 10.0
    stuck_seconds: float = 60.0
    access_log: bool = False


SMALL = 1 << 20  # bytes of a request about one question, and of one line of a batch
MOST_VALUES = 1_200_000  # JSON values in one body: reading more would delay all other requests
LONGEST = 4_000  # most characters of a question, answer, prediction or name
MOST_ANSWERS = 100  # gold answers of a question
MOST_SAMPLES = 200  # responses to a question
MOST_LEVELS = 20  # levels of a row
MOST_NAMES = 1_000  # names of one level
MOST_PREDICTIONS = 1_000  # predictions compared with one row
LONGEST_NAME = 400  # characters of a name to search for
MOST_FOUND = 50  # entities in the answer to a search
MOST_TEXT = 200_000  # characters of all answers, or of all samples, of one question
MOST_COMPARED = 1_500_000  # characters compared in one request, about a second of work
COMPARED_AT_LEAST = 40  # characters added to the cost of each pair of texts: even two empty texts take time to compare
COMPARED_FOR_EACH = 24  # characters that may be compared per sent character, if that is more than MOST_COMPARED
ANSWERS_OF_ALL = 1_000  # answers in all rows of a small batch
BYTES_AN_ANSWER = 64  # bytes per answer of a batch with more than ANSWERS_OF_ALL answers
RELATIONS_OF_ALL = 60  # relations in all rows of a small batch
BYTES_A_RELATION = 600  # bytes per relation of a batch with more than RELATIONS_OF_ALL relations
MOST_RESAMPLED = 60_000  # samples drawn of all relations together
RESAMPLED_A_ROW = 120  # samples per row, if that is more than MOST_RESAMPLED
RESAMPLED_AT_ALL = 500_000  # all draws are in memory until intervals are computed
CODE = "too-much-work"  # code of the problem for all limits of work
_READ = (KNOWN - {"levels"}) | {"answer_description", "answer_entity_description"}  # fields whose texts are limited


def _limit_problem(given: int, most: int, what: str, instead: str) -> HTTPProblem:
    return too_many_problem(CODE, f"{given:,} {what}; allowed are {most:,}: {instead}", most, given)


def check_comparisons(pairs: Iterable[tuple[Sequence[int], Sequence[int]]]) -> None:
    """Raise HTTPProblem for too many character comparisons between predictions and names.

    `pairs` are (lengths of predictions, lengths of the names that each of them is compared with); a comparison costs
    the characters of both texts.
    """
    compared = sent = 0
    for predictions, names in pairs:
        told, named = sum(predictions), sum(names)
        compared += told * len(names) + named * len(predictions) + COMPARED_AT_LEAST * len(predictions) * len(names)
        sent += told + named
    most = max(MOST_COMPARED, COMPARED_FOR_EACH * sent)
    if compared > most:
        what = f"characters to compare (of each prediction with each name, and {COMPARED_AT_LEAST} more for each pair)"
        raise _limit_problem(compared, most, what, "send fewer predictions at a time, or fewer names")


def checked_name_lengths(row: TieredRow) -> list[int]:
    """The lengths of all names of a row. Raises RowError for a name or question that is too long, and for too many
    names.
    """
    names = names_of(row)
    if len(names) > MOST_LEVELS or any(len(level) > MOST_NAMES for level in names):
        raise RowError(f"more than {MOST_LEVELS} levels, or {MOST_NAMES:,} names in one")
    if len(row.question) > LONGEST:
        raise RowError(f"a question of more than {LONGEST:,} characters")
    lengths = [len(name) for level in names for name in level]
    if max(lengths) > LONGEST:
        raise RowError(f"a name of more than {LONGEST:,} characters")
    return lengths


def check_resamples(resamples: int, relations: int, rows: int) -> None:
    """Raise HTTPProblem where intervals need too many bootstrap samples: `resamples` of each relation."""
    drawn, most = resamples * relations, min(RESAMPLED_AT_ALL, max(MOST_RESAMPLED, RESAMPLED_A_ROW * rows))
    if drawn > most:
        what = f"samples to draw ({resamples:,} of each of {relations:,} relations)"
        raise _limit_problem(drawn, most, what, "set resamples lower, or send relations in several requests")


def check_row(data: Mapping[str, Any]) -> None:
    """Raise RowError where a field of a row has a text that is too long, or a list with too many texts."""
    for name in _READ & data.keys():
        value = data[name]
        texts = value if isinstance(value, list) else [value.get("text") if isinstance(value, Mapping) else value]
        if len(texts) > MOST_ANSWERS:
            raise RowError(f"{name} has {len(texts):,} parts; {MOST_ANSWERS} are allowed")
        longest = max((len(text) for text in texts if isinstance(text, str)), default=0)
        if longest > LONGEST:
            raise RowError(f"{name} has {longest:,} characters; {LONGEST:,} are allowed")


def check_text_length(texts: Iterable[str], what: str) -> None:
    """Raise HTTPProblem where texts have too many characters together; `what` names them in the message."""
    if (total := sum(map(len, texts))) > MOST_TEXT:
        raise _limit_problem(total, MOST_TEXT, f"characters of {what}", "send shorter ones, or fewer")


def check_batch(answers: int, relations: int, size: int) -> None:
    """Raise HTTPProblem where a batch of `size` bytes has too many answers or relations.

    Each answer is looked up in the snapshot, and for each new relation the most frequent answers are read.
    """
    if answers > (most := max(ANSWERS_OF_ALL, size // BYTES_AN_ANSWER)):
        raise _limit_problem(answers, most, "answers in all rows", "send several requests")
    if relations > (most := max(RELATIONS_OF_ALL, size // BYTES_A_RELATION)):
        raise _limit_problem(relations, most, "relations in all rows", "send several requests, each with some of them")


def check_rows(rows: int, most: int) -> None:
    """Raise HTTPProblem for more rows than one request may have."""
    if rows > most:
        raise too_many_problem("too-many-rows", f"more than {most:,} rows; send them in several requests", most)
