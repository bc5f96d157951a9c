"""What a check of evidence costs grows with the size of its row, whatever the row is made of."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import orjson
import pytest

from abstraction.rows import TieredRow
from abstraction.verifying.entailment import EntailmentChecker
from kg.store.sqlite import SQLiteStore
from tests.worlds import entity, store_of

pytestmark = pytest.mark.thorough("abstraction/verifying")
PLACES = 800  # a chain of them, each described by the next one
SIZES = (10_000, 50_000, 100_000)  # bytes of a row


@pytest.fixture(scope="module")
def store() -> Iterator[SQLiteStore]:
    chain = [
        entity(f"Q{at}", f"Place {at}", f"city in Place {at + 1}", P131=f"Q{at + 1}", P31="Q515")
        for at in range(1, PLACES)
    ]
    made = store_of(*chain, entity("Q515", "city"), entity("Q30", "United States"))
    yield made
    made.close()


def statement(at: int) -> dict[str, Any]:
    at = 1 + at % (PLACES - 1)
    return {"kind": "statement", "subject": f"Q{at}", "property": "P131", "value": f"Q{at + 1}"}


def description(at: int) -> dict[str, Any]:
    text = f"city in Place {at % PLACES + 1}"
    return {"kind": "description", "subject": f"Q{at % PLACES}", "text": text, "span": [0, len(text)]}


def filled(size: int, item: Callable[[int], Any]) -> list[Any]:
    """Items until they have so many bytes."""
    items: list[Any] = []
    while size > 0:
        items.append(item(len(items) + 1))
        size -= len(orjson.dumps(items[-1]))
    return items


def row(*tiers: dict[str, Any], answer: Any = None, links: Sequence[Any] = ()) -> TieredRow:
    levels = [{"tiers": [answer or {"text": "Place 1", "qid": "Q1"}]}, *({"tiers": [tier]} for tier in tiers)]
    return TieredRow.from_json(
        {"id": "r", "question": "Where is it?", "answer": ["Place 1"], "levels": levels, "links": list(links)}
    )


KINDS: dict[str, Callable[[int], TieredRow]] = {
    "a chain told backwards": lambda size: row(
        {"text": "Place 9", "qid": "Q9", "evidence": filled(size, statement)[::-1]}
    ),
    "descriptions that name each other": lambda size: row(
        {"text": "a city", "evidence": filled(size, description)[::-1]}
    ),
    "steps that no step leads to": lambda size: row(
        {"text": "a city", "evidence": filled(size, description)}, answer={"text": "Place 900", "qid": "Q30"}
    ),
    "many tiers": lambda size: row(
        *filled(size, lambda at: {"text": f"Place {at + 1}", "qid": f"Q{at + 1}", "evidence": [statement(at)]})
    ),
    "many names and many steps": lambda size: row(
        {
            "text": "a town",
            "aliases": filled(size // 2, lambda at: f"town number {at}"),
            "evidence": filled(size // 2, description),
        }
    ),
    "many namesakes": lambda size: row(
        {"text": "a city", "evidence": filled(size // 2, statement)},
        answer={"text": "Place 1"},
        links=[{"qid": None, "rivals": filled(size // 2, lambda at: f"Q{10_000 + at}")}],
    ),
    "dates and their names": lambda size: row(
        *filled(size // 2, lambda at: {"text": str(2_000 + at), "evidence": [{"kind": "rule", "text": "calendar"}]}),
        answer={"text": "1 May 1900", "aliases": filled(size // 2, lambda at: f"{1 + at % 28} May {1_000 + at}")},
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_ten_times_the_body_costs_ten_times_the_calls(store: SQLiteStore, kind: str) -> None:
    """Function calls are counted, not seconds: the machine plays no part."""
    checker = EntailmentChecker(store)
    costs = []
    for size in SIZES:
        made = KINDS[kind](size)
        checker.check(made)  # what it reads of the snapshot is kept
        costs.append(_calls(lambda made=made: checker.check(made)) / size)
    assert max(costs) < 2 * costs[0], costs


def _calls(work: Callable[[], object]) -> int:
    number = 0

    def seen(frame: object, event: str, argument: object) -> None:
        nonlocal number
        number += event in ("call", "c_call")

    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(None)
    return number
