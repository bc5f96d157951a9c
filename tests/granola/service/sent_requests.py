"""Requests that are right, one of every route of the application, and what becomes of them when they are mutated."""

from __future__ import annotations

import copy
import json
import math
import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import quote, urlencode

from granola.service.application import Service, create_app
from granola.service.gate import BoundedRoute
from granola.service.ladder_page import LadderForm
from granola.service.limits import ServiceSettings
from granola.service.service_figures import Metrics, SharedFigures

ROW: dict[str, Any] = {
    "id": "1", "question": "Where was Barack Obama born?", "answer": ["Honolulu"], "relation": "P19", "language": "en",
    "question_entity": {"text": "Barack Obama", "qid": "Q76"}, "links": [{"qid": "Q18094", "rivals": ["Q1"]}],
    "levels": [
        {"tiers": [{"text": "Honolulu", "qid": "Q18094", "aliases": ["HNL"], "bits": 3.0}]},
        {"tiers": [{"text": "Hawaii", "qid": "Q782", "bits": 2.0, "evidence": [
            {"kind": "statement", "subject": "Q18094", "property": "P131", "value": "Q782", "labels": {"Q782": "x"}},
            {"kind": "description", "subject": "Q18094", "language": "en", "text": "city in Hawaii", "span": [8, 14]},
        ]}]},
    ],
    "note": {"a": ["b"]},
}  # fmt: skip
QUESTION: dict[str, Any] = {
    "question": ROW["question"], "answer": "Honolulu", "relation": "P19", "answer_qid": "Q18094", "id": "1",
    "question_entity": {"text": "Barack Obama", "qid": "Q76"}, "question_entity_qid": "Q76", "note": {"a": ["b"]},
    "answer_entity_description": "city", "granola_answer_1": "x", "language": "en", "linker": "question",
}  # fmt: skip
BODIES: dict[str, Any] = {
    "/v1/ladder": QUESTION,
    "/v1/link": QUESTION,
    "/v1/ladders": [QUESTION, QUESTION],
    "/v1/aggregate": {"question": ROW["question"], "samples": ["Honolulu", "Hilo"], "relation": "P19", "id": "1",
                      "question_entity": {"text": "Barack Obama"}, "method": "drag-graph", "support": 1.0, "note": "x",
                      "counting": "text", "language": "en", "linker": "question"},
    "/v1/match": {"predictions": ["Honolulu"], "row": ROW, "matcher": "rules", "lambda": 0.5, "language": "en"},
    "/v1/score": {"rows": [ROW], "predictions": [{"id": "1", "prediction": "Honolulu", "samples": ["a"], "x": 1}],
                  "system": "s", "resamples": 10, "snapshot": "abc", "prompts": "deadbeef"},
}  # fmt: skip
FURTHER = {
    "/v1/match": {"predictions": ["x"], "levels": [["Honolulu"], ["Hawaii"]], "question": "Where?", "tau": 0.5,
                  "matcher": "f1", "raw": True},
    "/v1/aggregate": {"question": "Where?", "samples": ["Honolulu", "Hilo"], "method": "self-consistency"},
}  # fmt: skip
VALUES = {
    "qid": "Q76", "kind": "css", "name": "Honolulu", "language": "de", "limit": "5", "begins": "true",
    "relation": "P19", "linker": "smallest", "question": ROW["question"], "answer": "Honolulu", "answer_qid": "Q18094",
    "subject": "Barack Obama", "subject_qid": "Q76", "predictions": "Honolulu\nin Hawaii",
}  # fmt: skip
TEXTS = (
    rb'"\ud800"', rb'"a\uDFFFb"', b'"\xed\xa0\x80"', b'"\xff"', b'"\xc0\x80"', rb'"\u0000"', b'" "', b'"( )"', b'","',
    b"1" * 30, b"1" * 400, b"1" * 5_000, b"1e999", b"NaN", b"[" * 300 + b"]" * 300, rb'{"\ud800": 1}', b"null", b"[]",
    rb'"{\"text\": \"\\ud800\"}"', rb'"[{\"tiers\": [{\"text\": \"\\ud800\"}]}]"',  # texts that are read as JSON
    b'"{' + rb'\"a\": [' * 400 + b"]" * 400 + b'}"',
)  # fmt: skip
PIECES = (
    "a", "1", " ", "\n", ".", ",", "'", '"', "*", "`", "-", "(", "[", "<", "/", "|", "&", "ß", "ﷺ", "\u0301", "A.B. ",
    "the ", "and ", "X or ", "not ", "of the ", "central-", "MCM ", "12 May ", "1961 or ", "1,000", "two hundred and ",
    "half a ", "Paris, ", "not Paris, ", "Paris (", "born in X ", "U.S. ", "County, ", "Answer: ", "Q: ", "**a** ",
    '{"', "\\text{", "<think>", "Q1 ", "is a ",
)  # fmt: skip


def application() -> list[BoundedRoute]:
    """The routes of the application, which need no snapshot to be told."""
    settings = ServiceSettings(snapshot="none.sqlite")
    gate = create_app(Service(settings, Metrics(SharedFigures(1))))
    return [route for route in gate.app.routes if isinstance(route, BoundedRoute)]


def parameters(route: BoundedRoute) -> list[str]:
    """What an address of the route has, in its path and after it."""
    told = [one.alias for one in (*route.dependant.path_params, *route.dependant.query_params)]
    return told + ([field.name for field in fields(LadderForm)] if route.path == "/" else [])  # which reads them itself


def address(route: BoundedRoute, values: Mapping[str, str]) -> str:
    """The address of a route with values of its parameters."""
    path = re.sub(r"{(\w+)}", lambda found: quote(values[found[1]], safe=""), route.path)
    query = {name: value for name, value in values.items() if f"{{{name}}}" not in route.path}
    return f"{path}?{urlencode(query, errors='surrogatepass')}" if query else path


READ = [route for route in application() if route.methods == {"GET"}]


@dataclass(frozen=True)
class Sent:
    """One request."""

    method: str
    path: str
    body: bytes
    media_type: str = "application/json"


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands in a value that JSON can hold."""
    yield at
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from places(one, (*at, key))


def changed(value: Any, at: tuple[Any, ...], change: Callable[[Any], Any]) -> Any:
    """The value with another in that place."""
    if not at:
        return change(value)
    out = copy.copy(value)
    out[at[0]] = changed(value[at[0]], at[1:], change)
    return out


def run(chance: random.Random, most: int = 60_000) -> str:
    """A long run of a piece; most are short, few very long."""
    length = int(math.exp(chance.uniform(0, math.log(4_200) if chance.random() < 0.97 else math.log(most))))
    piece = chance.choice(PIECES)
    return (piece * (length // len(piece) + 1))[:length] + chance.choice(("", "x", " x", "!", str(chance.random())))


def mutated(seed: int) -> Sent:
    """The request of a seed: of any route, and most of them wrong in some way."""
    chance = random.Random(seed)
    if chance.random() < 0.1:
        return Sent(chance.choice(("GET", "GET", "GET", "HEAD", "POST")), read(chance), b"")
    path = chance.choice(list(BODIES))
    body = FURTHER.get(path, BODIES[path]) if chance.random() < 0.3 else BODIES[path]
    marks: list[bytes] = []
    for _ in range(chance.choice((0, 1, 1, 2, 3))):
        at, kind = chance.choice(list(places(body))), chance.random()
        if kind < 0.5:
            text = run(chance)
            body = changed(body, at, lambda _, text=text: text)
        elif kind < 0.75:
            marks.append(chance.choice(TEXTS))
            mark = f"@mark{len(marks)}@"
            body = changed(body, at, lambda _, mark=mark: mark)
        else:
            body = changed(body, at, lambda old: _more_of(chance, old))
    out = json.dumps(body, ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass")
    for number, text in enumerate(marks, 1):
        out = out.replace(f'"@mark{number}@"'.encode(), text)
    kind = chance.random()
    if kind < 0.03:
        out = out[: chance.randrange(len(out) + 1)]
    elif kind < 0.05:
        out = json.dumps(body).encode(chance.choice(("utf-16", "utf-32", "utf-8-sig")), "replace")
    elif kind < 0.06:
        return Sent(chance.choice(("PUT", "DELETE", "GET", "PATCH")), path, out)
    elif kind < 0.07:
        return Sent("POST", path, out, chance.choice(("text/plain", "application/json; charset=utf-16", "x" * 900)))
    return Sent("POST", path, out)


def read(chance: random.Random) -> str:
    """An address: of any route that is read, with some of its parameters, or of none."""
    if chance.random() < 0.1:
        return f"/{quote(run(chance)[:100])}"
    route = chance.choice(READ)
    values = {name: VALUES[name] for name in parameters(route) if f"{{{name}}}" in route.path or chance.random() < 0.7}
    if values and chance.random() < 0.6:
        name = chance.choice(list(values))
        values[name] = run(chance, 3_000)[: 60 if name == "qid" else 700]
    path = address(route, values)
    return path if chance.random() < 0.9 else path.replace("=", "=%ED%A0%80%FF%00", 1)


def _more_of(chance: random.Random, old: Any) -> Any:
    """More of a list, a text that is doubled, a field more or less."""
    times = int(math.exp(chance.uniform(0, math.log(30) if chance.random() < 0.97 else math.log(1_500))))
    if isinstance(old, list) and old:
        return [_altered(one, number) for number, one in enumerate(old * times)][:3_000]
    if isinstance(old, dict) and old:
        out = dict(old)
        if chance.random() < 0.5:
            del out[chance.choice(list(out))]
        return {**out, run(chance)[:300]: run(chance)[:300]}
    return [old] * times if chance.random() < 0.5 else f"{old} " * times


def _altered(one: Any, number: int) -> Any:
    """One of many that are alike."""
    if isinstance(one, str):
        return f"{one} {number}"
    return {**one, "id": str(number), "relation": f"P{number + 1}"} if isinstance(one, dict) else one
