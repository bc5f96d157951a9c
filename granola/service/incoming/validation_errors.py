"""What is wrong with a request, from pydantic's errors: what was given, what is allowed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from granola.service.incoming.limits import (
    LONGEST,
    LONGEST_ID,
    LONGEST_NAME,
    MOST_ANSWERS,
    MOST_LEVELS,
    MOST_NAMES,
    MOST_PREDICTIONS,
    MOST_SAMPLES,
)
from granola.service.incoming.problems import HTTPProblem

SHOWN = 5
_TEXT = f"a text of 1 to {LONGEST:,} characters, not all of them blank"
# What fields take, where pydantic's own words would be of patterns and unions.
EXPECTED = {
    "question": _TEXT,
    "answer": f"{_TEXT}; or a list of 1 to {MOST_ANSWERS} of them",
    "answers": f"{_TEXT}; or a list of 1 to {MOST_ANSWERS} of them",
    "answer_qid": "an id as Q18094, or a list with one or null for each answer",
    "question_entity": 'a name, or an object with "text" and "qid"',
    "name": f"a name of 1 to {LONGEST_NAME} characters",
    "id": f"a text of at most {LONGEST_ID} characters, or a whole number",
    "language": "a language's code, as en or pt-br",
    "relation": "a property's id, as P19",
    "samples": f"a list of 1 to {MOST_SAMPLES} texts of at most {LONGEST:,} characters",
    "levels": f"a list of 1 to {MOST_LEVELS} levels, finest first, each a list of 1 to {MOST_NAMES:,} names",
    "predictions": f"a list of 1 to {MOST_PREDICTIONS:,} texts",
}
_KINDS: Sequence[tuple[type | tuple[type, ...], str]] = (
    (bool, "true or false"),
    ((int, float), "a number"),
    (type(None), "null"),
    (Mapping, "an object"),
)


def problem_of_errors(errors: Sequence[Mapping[str, Any]]) -> HTTPProblem:
    """The problem of a request that is not as it must be; places are written as `levels.0.1`."""
    messages: dict[str, None] = {}
    for error in errors:
        place = [part for part in error["loc"] if part not in ("body", "query", "path")]
        messages[_message(place, error)] = None
    shown = list(messages)
    more = f"; and {len(shown) - SHOWN} more" if len(shown) > SHOWN else ""
    return HTTPProblem(422, "request", "; ".join(shown[:SHOWN]) + more)


def _message(place: Sequence[str | int], error: Mapping[str, Any]) -> str:
    name = str(place[0]) if place else ""
    if not name:
        return f"the body is {_kind(error.get('input'))}; expected a JSON object"
    if error["type"] == "missing":
        if len(place) == 1:
            return f"{name} is missing; expected {EXPECTED.get(name, 'a value')}"
        return f"{_at(place[:-1])} lacks {place[-1]}"
    if error["type"] == "extra_forbidden":
        return f"{_at(place)} is no field that is known here"
    if name in EXPECTED and (len(place) < 3 or error["type"].startswith(("string", "list"))):
        return f"{_at(_plain(place))} is {_kind(error.get('input'))}; expected {EXPECTED[name]}"
    context = error.get("ctx") or {}
    if error["type"] == "literal_error":
        return f"{_at(place)} is {_kind(error.get('input'))}; expected {context.get('expected')}"
    return f"{_at(_plain(place))} is {_kind(error.get('input'))}: {error['msg'][:1].lower()}{error['msg'][1:]}"


def _plain(place: Iterable[str | int]) -> list[str | int]:
    """A place without the names that pydantic gives to the members of a union."""
    return [part for part in place if isinstance(part, int) or (part.isidentifier() and part not in ("str", "int"))]


def _at(place: Iterable[str | int]) -> str:
    return ".".join(map(str, place))


def _kind(given: object) -> str:
    """What was given, without repeating it."""
    if isinstance(given, str):
        if not given.strip():
            return "a blank text" if given else "an empty text"
        return f"{given!r}" if len(given) <= 40 and given.isprintable() else f"a text of {len(given):,} characters"
    if isinstance(given, list | tuple):
        return f"a list of {len(given):,}"
    return next((word for kind, word in _KINDS if isinstance(given, kind)), "something else")
