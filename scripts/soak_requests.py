"""Requests to a service that are wrong in every way, each made of a right one by a seed."""

from __future__ import annotations

import copy
import json
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

RELATIONS = ("P19", "P20", "P131", "P69", "P106", "P569", "P36", "P27", "P17", "P50", "P1082", "P2048")
LANGUAGES = ("en", "de", "fr", "es", "pl", "en-gb", "aaa", "en-x-y")
RUNS = (
    " ", "a", "s", "1", ".", ",", "-", "*", "ß", "(", ")", '"', "\n", "é", "\u0301", "\U0001f334", "\x00", "\u2028",
    "Aa", "ab ", "a, ", "1 ", "c.", "not ", "or ", "( )", "1961 ", "central-", "the ", "of the ", "St. ", "1,", "II ",
    "%", "\\", "/", "{}", "km ", "two ", "no. ",
)  # fmt: skip
MISSES = (
    "central-*x", "1961 c.*x", "language of the Aa* x", "Step 1: x.\n*x Step 2:", "a* not", "1*st", "(*", "19*th ce",
    "between 1*", "Hamlet *(", "http://*", "- *\n", "**bold* ", "A. *", "1e*", "Q1*", "en-*", "the * of",
)  # fmt: skip
VALUES = (
    "null", "true", "-1", "0", "1e308", "1e999", "NaN", "-Infinity", "9" * 400, "9" * 5_000, "[]", "{}", '""', '" "',
    '"( )"', '","', '"\\ud800"', '"a\\udfffb"', '"\\u0000"', '"\\ud83d\\ude00"', "[" * 90 + "]" * 90,
    "[" * 300 + "]" * 300, "[" * 5_000 + "]" * 5_000, '{"a":' * 200 + "1" + "}" * 200, '{"\\ud800": 1}',
)  # fmt: skip
RAW = (b"\xed\xa0\x80", b"\xff", b"\xc0\x80", b"\xf8\x88\x80\x80\x80", b"\xef\xbf\xbf")


@dataclass(frozen=True)
class Request:
    """What is sent."""

    method: str
    path: str
    body: bytes
    media_type: str = "application/json"

    @property
    def route(self) -> str:
        """What it counts for in the table."""
        path = self.path.partition("?")[0]
        return path if path in ROUTES else "/v1/entity/" if path.startswith("/v1/entity/") else "other"


ROUTES = ("/v1/ladder", "/v1/ladders", "/v1/link", "/v1/aggregate", "/v1/match", "/v1/score",
          "/v1/attribution/check", "/v1/search", "/")  # fmt: skip


def question(chance: random.Random, names: list[str]) -> dict[str, Any]:
    """A question as users ask it, or nearly."""
    about, answer = chance.choice(names), chance.choice(names)
    ways = ("Where was {} born?", "What is the capital of {}?", "Who wrote {}?", "When was {} founded?", "In which {}?")
    out: dict[str, Any] = {"question": chance.choice(ways).format(about), "answer": answer, "id": str(chance.random())}
    if chance.random() < 0.5:
        out |= {"relation": chance.choice(RELATIONS), "question_entity": {"text": about}}
    if chance.random() < 0.1:
        out["answer"] = [chance.choice(names) for _ in range(chance.randint(1, 8))]
    return out


def tiered(chance: random.Random, names: list[str], key: str) -> dict[str, Any]:
    """A tiered row."""
    levels = [
        {"tiers": [{"text": chance.choice(names), "aliases": chance.choices(names, k=3), "bits": 9.0 - depth}]}
        for depth in range(chance.randint(1, 4))
    ]
    asked = question(chance, names)
    return {**asked, "id": key, "answer": [levels[0]["tiers"][0]["text"]], "levels": levels}


def right(chance: random.Random, names: list[str]) -> tuple[str, Any]:
    """The path and the body of a request that is well formed."""
    kind = chance.random()
    asked = question(chance, names)
    if kind < 0.35:
        return "/v1/ladder", {**asked, "language": chance.choice(LANGUAGES) if chance.random() < 0.1 else "en"}
    if kind < 0.45:
        return "/v1/link", asked
    if kind < 0.6:
        method = {"method": chance.choice(("drag-graph", "self-consistency")), "counting": "alias"}
        return "/v1/aggregate", {**asked, "samples": chance.choices(names, k=chance.randint(1, 10)), **method}
    if kind < 0.65:
        return "/v1/attribution/check", {"row": tiered(chance, names, "1")}
    said = [f"{chance.choice(('', 'in ', 'not ', 'I think '))}{chance.choice(names)}" for _ in range(4)]
    if kind < 0.7:
        return "/v1/match", {"predictions": said, "levels": [chance.choices(names, k=3) for _ in range(3)]}
    if kind < 0.85:
        return "/v1/match", {"predictions": said, "row": tiered(chance, names, "1")}
    if kind < 0.95:
        rows = [tiered(chance, names, str(number)) for number in range(chance.randint(1, 5))]
        predictions = [{"id": row["id"], "prediction": text} for row, text in zip(rows, said, strict=False)]
        asked = {
            "rows": rows,
            "predictions": predictions,
            "allow_missing": True,
            "resamples": chance.choice((10, 1_000)),
        }
        return "/v1/score", asked
    return "/v1/ladders", [question(chance, names) for _ in range(chance.randint(1, 8))]


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


def run(chance: random.Random) -> str:
    """A long run of a few characters, or a near-miss of what patterns look for; most are short, few very long."""
    length = int(math.exp(chance.uniform(0, math.log(4_200) if chance.random() < 0.97 else math.log(60_000))))
    if chance.random() < 0.5:
        sign = chance.choice(RUNS)
        return sign * max(1, length // len(sign)) + chance.choice(("", "x", " x", "!"))
    begins, _, ends = chance.choice(MISSES).partition("*")
    return begins + chance.choice((begins[-2:], *RUNS)) * (length // 2) + ends


def mutated(chance: random.Random, body: Any) -> bytes:
    """The bytes of a body with something wrong in it."""
    marks: list[tuple[str, bytes]] = []
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        at = chance.choice(list(places(body)))
        kind = chance.random()
        if kind < 0.45:
            text = run(chance)
            body = changed(body, at, lambda _, text=text: text)
        elif kind < 0.75:
            mark = f"@mark{len(marks)}@"
            raw = chance.choice(VALUES).encode() if chance.random() < 0.8 else b'"' + chance.choice(RAW) + b'"'
            marks.append((mark, raw))
            body = changed(body, at, lambda _, mark=mark: mark)
        else:
            body = changed(body, at, lambda old: more_of(chance, old))
    out = json.dumps(body, ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass")
    for mark, raw in marks:
        out = out.replace(f'"{mark}"'.encode(), raw)
    return out


def more_of(chance: random.Random, old: Any) -> Any:
    """More of a list, a text that is doubled, a field more or less."""
    times = int(math.exp(chance.uniform(0, math.log(30) if chance.random() < 0.97 else math.log(1_500))))
    if isinstance(old, list) and old:
        grown = [one if chance.random() < 0.5 else altered(one, number) for number, one in enumerate(old * times)]
        return grown[:3_000]
    if isinstance(old, dict) and old:
        out = dict(old)
        if chance.random() < 0.5:
            del out[chance.choice(list(out))]
        return {**out, run(chance)[:300]: run(chance)[:300]}
    return [old] * times if chance.random() < 0.5 else f"{old} " * times


def altered(one: Any, number: int) -> Any:
    """One of many that are alike."""
    if isinstance(one, str):
        return f"{one} {number}"
    return {**one, "id": str(number), "relation": f"P{number + 1}"} if isinstance(one, dict) else one


def request_of(seed: int, names: list[str]) -> Request:
    """The request of a seed: four of five are wrong in some way."""
    chance = random.Random(seed)
    if chance.random() < 0.08:
        return asked_for(chance, names)
    path, body = right(chance, names)
    if chance.random() < 0.2:
        return Request("POST", path, json.dumps(body).encode())
    if path in ("/v1/ladders", "/v1/score") and chance.random() < 0.02:
        rows = [question(chance, names) for _ in range(2_000)]
        return Request("POST", "/v1/ladders", "\n".join(map(json.dumps, rows)).encode())
    out = mutated(chance, body)
    kind = chance.random()
    if kind < 0.03:
        out = out[: chance.randrange(len(out) + 1)]
    elif kind < 0.06:
        out = json.dumps(body).encode(chance.choice(("utf-16", "utf-16-le", "utf-32", "utf-8-sig")))
    elif kind < 0.09 and out:
        spot = chance.randrange(len(out))
        out = out[:spot] + bytes([chance.randrange(256)]) + out[spot + 1 :]
    elif kind < 0.1:
        return Request(chance.choice(("PUT", "DELETE", "GET", "PATCH")), path, out)
    elif kind < 0.11:
        return Request("POST", path, out, chance.choice(("text/plain", "application/json; charset=utf-16", "x" * 900)))
    return Request("POST", path, out)


def asked_for(chance: random.Random, names: list[str]) -> Request:
    """A request without a body."""
    wild = run(chance)[:2_000] if chance.random() < 0.5 else chance.choice(names)
    text = quote(wild, errors="surrogatepass") if chance.random() < 0.8 else "%ED%A0%80%FF%00" * 3
    paths = (
        f"/v1/search?name={text}",
        f"/v1/entity/{text[:60]}",
        f"/v1/entity/Q{chance.randrange(10_000)}?language=de",
        f"/?question=Where+was+{text}+born%3F&answer={quote(chance.choice(names))}&predictions={text}%0A{text}",
        f"/?question={text}&answer=x&language={text[:20]}&relation={text[:20]}&subject={text}",
        f"/{text[:100]}",
        f"/v1/search?{text}={text}&" + "a&" * chance.randrange(2_000),
        "/v1/snapshot",
        "/v1/metrics",
        "/v1/openapi.json",
    )
    return Request(chance.choice(("GET", "GET", "GET", "HEAD", "POST")), chance.choice(paths), b"")
