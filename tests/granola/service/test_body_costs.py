"""A body of less than 64 KiB that is accepted costs about a second of one core at most, whatever stands in it.

So does a text of the longest length, in whatever field and of whatever pieces: no pattern or loop that texts from
outside reach may take time that grows with the square of its text.

Measured is the processor time of the worker, so that other work on the machine hardly tells. The bodies are the worst
that were found for each route: made of few words over and over, whose every place may begin a name, a phrase, an
amount, a date or a chain of places.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import requests

from abstraction.language.languages import asking_languages
from granola.service.incoming.bounded_routes import BoundedRoute
from granola.service.incoming.limits import check_compared
from granola.service.incoming.problems import HTTPProblem
from tests.granola.service.conftest import Running, children, serving
from tests.granola.service.sent_requests import READ, VALUES, address, application, parameters
from tests.machine_speed import slowness

pytestmark = pytest.mark.thorough("granola/service")

SMALL = 64 << 10  # bytes
MOST = 1.5  # seconds of a core: half again as many as the dearest body takes, which other work makes dearer
TRIES = 4
Body = Callable[[str], Any]
ASKED = "Where was Barack Obama born?"


def run(piece: str, length: int, end: str = "") -> str:
    return (piece * (length // len(piece) + 1))[: length - len(end)] + end


def compared(
    piece: str, *, predictions: int, length: int, names: int, size: int, levels: int = 1, names_of: str = "",
    question: str | None = ASKED, language: str | None = None,
) -> Body:  # fmt: skip
    """Predictions and names that are runs of pieces: as many predictions as are allowed, up to `predictions`."""

    def body(salt: str) -> dict[str, Any]:
        told = [run(piece, length, f" {salt}{number}") for number in range(predictions)]
        own = [run(names_of or piece, size, f" {number}" if size > 8 else "") for number in range(names)]
        ladder = [own[level::levels] for level in range(levels)]
        while told:
            asked = {"predictions": told, "levels": ladder, **({"question": question} if question else {}),
                     **({"language": language} if language else {})}  # fmt: skip
            try:
                check_compared([(list(map(len, told)), list(map(len, own)))])
            except HTTPProblem:
                told.pop()
                continue
            if len(json.dumps(asked, ensure_ascii=False).encode()) < SMALL:
                return asked
            told.pop()
        raise AssertionError("no such body is accepted")

    return body


def amounts(salt: str) -> dict[str, Any]:
    units = ("km", "miles", "feet", "m")
    told = [
        "; ".join(f"{number + start} {units[number % 4]}" for number in range(700))[:3_900] + salt for start in range(4)
    ]
    return {"predictions": told[:2], "levels": [[f"{1_000 + 7 * n} {units[n % 4]}" for n in range(150)]]}


def ladders(salt: str) -> list[dict[str, str]]:
    return [{"question": f"{salt}?", "answer": f"{salt}{number:x}"} for number in range(990)]


def scored(salt: str) -> dict[str, Any]:
    rows = [
        {"id": str(n), "question": run("MCM ", 100), "answer": [f"MCM {n}"], "relation": f"P{n + 1}",
         "levels": [{"tiers": [{"text": f"MCM {n}"}]}, {"tiers": [{"text": run("MCM ", 25)}]}]} for n in range(140)
    ]  # fmt: skip
    told = [{"id": str(n), "prediction": run("MCM ", 60, f" {salt}{n}")} for n in range(140)]
    return {"rows": rows, "predictions": told, "resamples": 400}


def aggregated(piece: str, method: str) -> Body:
    return lambda salt: {
        "question": run(piece, 350),
        "samples": [run(piece, 290, f" {salt}{number}") for number in range(190)],
        "method": method,
    }


def asked(piece: str) -> Body:
    return lambda salt: {
        "question": run(piece, 2_000),
        "answer": [run(piece, 500, f" {salt}{number}") for number in range(100)],
    }


BODIES: dict[str, tuple[str, Body]] = {
    "long predictions, short names": ("match", compared("or ", predictions=15, length=3_900, names=20, size=20)),
    "names of one letter": ("match", compared("I ", predictions=15, length=3_900, names=30, size=3)),
    "initials": ("match", compared("U.S. ", predictions=15, length=3_900, names=32, size=3, question=None)),
    "many short ones": ("match", compared("Paris123 ", predictions=170, length=13, names=127, size=16)),
    "a thousand predictions": ("match", compared("& ", predictions=1_000, length=50, names=10, size=24)),
    "long names": ("match", compared("or ", predictions=28, length=2_000, names=13, size=450)),
    "equally long": ("match", compared("and ", predictions=40, length=450, names=40, size=450)),
    "chains of places": ("match", compared("France, ", predictions=30, length=20, names=900, size=13, levels=20)),
    "nothing but ß": ("match", compared("ß", predictions=2, length=3_900, names=8, size=3_000, levels=8)),
    "digits glued to words": ("match", compared("12abc ", predictions=170, length=13, names=127, size=16)),
    "quotes": ("match", compared("'a' ", predictions=15, length=3_900, names=20, size=20)),
    "dates": ("match", compared("May 4, 1961 or ", predictions=15, length=3_900, names=20, size=20, question="When?")),
    "persons": ("match", compared("John J. ", predictions=100, length=60, names=100, size=30, question="Who was it?")),
    "mojibake": ("match", compared("cafÃ© ", predictions=120, length=20, names=120, size=16)),
    "refusals": ("match", compared("I don't know. ", predictions=15, length=3_900, names=20, size=20)),
    "descriptions with words between": ("match", compared("&", predictions=15, length=3_900, names=20, size=38,
                                                          names_of="&&&&&&&&&&&&&&&&&&&x&&&&&&&&&&&&&&&& y")),
    "phrases": ("match", compared("1.5 's ", predictions=15, length=3_900, names=18, size=100, levels=2,
                                  names_of="one letter 1.5 's ", question="What genre is it?")),
    **{
        f"one word, in {code}": ("match", compared("a", predictions=15, length=3_900, names=1, size=4, question=None,
                                                   language=code))
        for code in asking_languages()
    },
    "amounts": ("match", amounts),
    "scores": ("score", scored),
    "a batch of short rows": ("ladders", ladders),
    "a ladder of many answers": ("ladder", asked("Straße ")),
    "links": ("link", asked("exactly ")),
    "samples by the graph": ("aggregate", aggregated("City of ", "drag-graph")),
    "samples by what they say": ("aggregate", aggregated("University of ", "self-consistency")),
}  # fmt: skip


LONGEST = 4_000  # characters of a field
MOST_OF_A_TEXT = 0.3  # seconds of a core
PIECES = (
    "a", "A", "1", " ", "\n", "\t", ".", ",", ";", "'", '"', "*", "_", "`", "#", "-", "–", "(", "()", "[", "{", "<",
    "/", "\\", "|", "?", "!", ":", "&", "$", "°", "½", "ß", "ﬃ", "ﷺ", "\u0301", "日", "’", "Ã©", "Aa ", "a. ", "A.B. ",
    "the ", "and ", "or ", "X or ", "not ", "in ", "of the ", "north and ", "central-", "II ", "XIV ", "MCM ",
    "12 May ", "1961 ", "1961 or ", "1961-", "1,000", "1 000", "1.5", "12/", "twenty-", "two hundred and ", "5 ft ",
    "c. ", "half a ", "one letter ", "Paris, ", "Paris or ", "not Paris, ", "Paris (", "Mozart's ", "born in X ",
    "New York ", "U.S. ", "Saint-", "County, ", "Award for ", "genre of ", "French ", "writer and ", "Step 1: ", "so, ",
    "x \n ", "Answer: ", "Q: ", "the answer is ", "I don't know. ", "sorry, but ", "**a** ", "<a>", "[a](/", "\\text{",
    '{"', "is a ",
)  # fmt: skip
PLACES = [["Paris", "City of Paris"], ["France"], ["Europe"]]
FIELDS: dict[str, tuple[str, Body]] = {
    "prediction of a place": ("match", lambda t: {"predictions": [t], "levels": PLACES, "question": ASKED}),
    "prediction of a date": ("match", lambda t: {"predictions": [t], "levels": [["4 May 1961"], ["1961"]]}),
    "prediction of an amount": ("match", lambda t: {"predictions": [t], "levels": [["1961 km"]]}),
    "prediction in German": ("match", lambda t: {"predictions": [t], "levels": PLACES, "language": "de"}),
    "prediction for token-F1": ("match", lambda t: {"predictions": [t], "levels": PLACES, "matcher": "f1"}),
    "names": ("match", lambda t: {"predictions": ["Paris in May 1961"], "levels": [[t, "Paris"], ["x" + t[1:]]]}),
    "question of a match": ("match", lambda t: {"predictions": ["Paris, Lyon 5"], "levels": PLACES, "question": t}),
    "question": ("ladder", lambda t: {"question": t, "answer": "Honolulu"}),
    "question of a relation": ("ladder", lambda t: {"question": t, "answer": "Honolulu", "relation": "P19"}),
    "answer": ("ladder", lambda t: {"question": ASKED, "answer": t}),
    "answer in French": ("ladder", lambda t: {"question": ASKED, "answer": t, "language": "fr"}),
    "subject": ("link", lambda t: {"question": ASKED, "answer": "Honolulu", "question_entity": {"text": t}}),
    "samples": ("aggregate", lambda t: {"question": ASKED, "samples": [t, t[1:], "Honolulu"]}),
    "samples that say alike": (
        "aggregate", lambda t: {"question": t, "samples": [t, t[1:], "Paris"], "method": "self-consistency"},
    ),
    "evidence": (
        "attribution/check",
        lambda t: {"row": {"id": "1", "question": ASKED, "answer": ["Honolulu"], "levels": [["Honolulu"], {"tiers": [
            {"text": t, "evidence": [{"kind": "description", "subject": "Q18094", "language": "en", "text": t}]},
        ]}]}},
    ),
}  # fmt: skip


ADDRESSES = [(route, name) for route in READ for name in parameters(route)]
LONGEST_ADDRESS = 7_000  # bytes: heads have 8,190


def test_every_route_is_measured() -> None:
    measured = {f"/v1/{route}" for route, _ in (*BODIES.values(), *FIELDS.values())}
    assert measured == {route.path for route in application() if route.bound.body != "none"}


@pytest.fixture(scope="module")
def worker(demo_snapshot: Path) -> Iterator[tuple[Running, Path]]:
    """A service with one worker, and the file that tells its processor time."""
    with serving(demo_snapshot) as service:
        (pid,) = children(service.process.pid)
        yield service, Path(f"/proc/{pid}/stat")


def seconds(of: Path) -> float:
    spent = of.read_text().rpartition(")")[2].split()[11:13]  # in user and system mode
    return sum(map(int, spent)) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("what", BODIES)
def test_what_is_accepted_takes_about_a_second(worker: tuple[Running, Path], what: str) -> None:
    service, stat = worker
    route, body = BODIES[what]
    took = []
    for number in range(TRIES):  # each with other texts, or caches would answer
        data = json.dumps(body(f"k{number}"), ensure_ascii=False).encode()
        assert len(data) < SMALL
        before = seconds(stat)
        got = requests.post(
            f"{service.address}/v1/{route}", data=data, headers={"Content-Type": "application/json"}, timeout=60
        )
        assert got.status_code == 200, got.text[:300]
        took.append(seconds(stat) - before)
        if took[-1] < MOST or took[-1] < MOST * slowness():
            return
    pytest.fail(f"{min(took):.2f} s of a core for {len(data):,} bytes")


@pytest.mark.parametrize("field", FIELDS)
def test_the_longest_text_of_any_pieces_takes_less(worker: tuple[Running, Path], field: str) -> None:
    service, stat = worker
    route, body = FIELDS[field]
    slow = []
    with requests.Session() as session:
        for number, piece in enumerate(PIECES):
            text = run(piece, LONGEST, ("", "\x00x", " x")[number % 3])
            before = seconds(stat)
            got = session.post(f"{service.address}/v1/{route}", json=body(text), timeout=60)
            assert got.status_code in (200, 413, 422), got.text[:300]
            took = seconds(stat) - before
            if took > MOST_OF_A_TEXT and took > MOST_OF_A_TEXT * slowness():
                slow.append(f"{piece!r}: {took:.2f} s")
    assert not slow


@pytest.mark.parametrize(("route", "name"), ADDRESSES, ids=lambda one: one if isinstance(one, str) else one.path)
def test_the_longest_address_of_any_pieces_takes_less(
    worker: tuple[Running, Path], route: BoundedRoute, name: str
) -> None:
    service, stat = worker
    slow = []
    with requests.Session() as session:
        for piece in PIECES:
            text = run(piece, LONGEST_ADDRESS // len(quote(piece, safe="")) * len(piece))
            path = address(route, {**{one: VALUES[one] for one in parameters(route)}, name: text})
            before = seconds(stat)
            got = session.get(service.address + path, timeout=60)
            assert got.status_code in (200, 404, 413, 422), got.text[:300]
            took = seconds(stat) - before
            if took > MOST_OF_A_TEXT and took > MOST_OF_A_TEXT * slowness():
                slow.append(f"{piece!r}: {took:.2f} s")
    assert not slow
