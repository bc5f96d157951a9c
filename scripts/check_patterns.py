"""Finds regular expressions whose time grows faster than their text. `make lint` runs it, and a test.

    python scripts/check_patterns.py [--only granola/matching] [--new] [--record] [--limit 40]

Every pattern of the three packages is compiled: those of modules as they are imported, literal ones in calls such as
`re.split(...)`, and those of the language files. Each is attacked with texts made from its own parts: what may be
repeated is repeated, once as it is and once for every two signs of the pattern's alphabet, behind what leads there and
before what makes the match fail. Where 500 characters take more than 0.04 ms and 2 000 clearly more than 4 times as
long, the text grows until it costs 20 ms; then its time is compared with that of an eighth of it: linear patterns need
8 times as long, quadratic ones 64 times. A pattern is asked as the code asks it: one that only `match` is called of
need not be fast to search.

Exits with 1 where a pattern fails, and names its file, its line, the attack and the growth.

A pattern that has passed need not be attacked again: `--record` writes which have, with the version of Python and a
hash of this file, into scripts/linear_patterns.txt, and `--new` attacks only those that are not there.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import importlib
import inspect
import itertools
import pkgutil
import random
import re
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from re import _constants as op
from re import _parser as parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PASSED = Path(__file__).with_name("linear_patterns.txt")
PACKAGES = ("kg", "abstraction", "granola")
OF_CLDR = ("ar", "ja", "lt", "pt")  # languages without a file: other digits, no spaces, endings, words between
CALLS = {"compile", "match", "search", "fullmatch", "sub", "subn", "split", "findall", "finditer"}
ALL = frozenset({"search", "match", "fullmatch"})  # the other methods search
LONGEST = 48_000  # characters of an attack: a quadratic pattern needs a second for it
PROBE, FAST = 500, 0.00004  # characters that take no longer, in seconds, are no attack
DOUBTFUL = 1.6  # times as long as linear growth would be: worth a longer text
RINGS = 0.2  # seconds between looks at the clock
SLOW = 0.02  # seconds from which a time can be compared
GROWTH = 3.0  # times as long as linear growth would be
MISSES = ("", "\x00", "x", " x", "\n", ".")
SIGNS = 24  # of a pattern's alphabet that are tried


@dataclass(frozen=True, slots=True)
class Found:
    """A pattern and where it is written."""

    pattern: re.Pattern[str]
    place: str
    methods: frozenset[str]

    def digest(self) -> str:
        """Of all that its time depends on."""
        text = repr((self.pattern.pattern, self.pattern.flags, sorted(self.methods)))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Fault:
    """A pattern that is too slow for an attack."""

    found: Found
    attack: str
    length: int
    seconds: float
    growth: float

    def __str__(self) -> str:
        grows = "does not end" if self.growth == float("inf") else f"{self.growth:.0f} times as long as an eighth of it"
        return (
            f"{self.found.place}: {self.length:,} characters, {self.seconds:.3f} s, {grows}\n"
            f"    attack {self.attack}\n    pattern {self.found.pattern.pattern[:300]!r}"
        )


class _TooLongError(Exception):
    """A match has used up its time."""


# -- which patterns there are


def patterns(only: str = "") -> list[Found]:
    """Every pattern of the packages' files whose path begins with `only`.

    Raises RuntimeError where they are imported already: patterns are seen as they are compiled.
    """
    chosen = [package for package in PACKAGES if f"{package}/".startswith(only) or only.startswith(f"{package}/")]
    if loaded := [name for name in sys.modules if name.split(".")[0] in chosen]:
        raise RuntimeError(f"{loaded[0]} is imported already: look for patterns in a process of its own")
    seen: dict[tuple[str, int], Found] = {}
    lines = {path: path.read_text(encoding="utf-8").splitlines() for path in _files()}
    text = "\n".join(line for file in lines.values() for line in file)

    def keep(pattern: re.Pattern[Any], file: str, line: int, methods: frozenset[str] | None = None) -> None:
        path = Path(file)
        if isinstance(pattern.pattern, str) and path in lines:
            where = str(path.relative_to(ROOT))
            if where.startswith(only):
                if methods is None:
                    name = _name(lines[path], line)
                    private = name is not None and name.startswith("_")
                    methods = _methods(name, "\n".join(lines[path]) if private else text)
                before = seen.get((pattern.pattern, pattern.flags))
                known = before.methods if before else frozenset()
                seen[pattern.pattern, pattern.flags] = Found(pattern, f"{where}:{line}", methods | known)

    original = re._compile  # type: ignore[attr-defined]

    def compile_(pattern: Any, flags: Any) -> re.Pattern[Any]:
        made: re.Pattern[Any] = original(pattern, flags)
        frame = sys._getframe(1)
        while frame.f_code.co_filename == re.__file__ and frame.f_back:
            frame = frame.f_back
        keep(made, frame.f_code.co_filename, frame.f_lineno)
        return made

    re._compile = compile_  # type: ignore[attr-defined]
    try:
        _import_all(chosen)
    finally:
        re._compile = original  # type: ignore[attr-defined]
    for file in lines:
        for pattern, line, method in _literals(file):
            keep(pattern, str(file), line, frozenset({method}) if method in ALL else frozenset({"search"}))
    return list(seen.values())


def _files() -> list[Path]:
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def _name(lines: list[str], line: int) -> str | None:
    """The name that the pattern compiled in that line is given."""
    for number in range(line - 1, max(-1, line - 4), -1):
        if found := re.match(r"(\w+)(?::[^=]+)? = re\.compile\(", lines[number]):
            return found[1]
    return None


def _methods(name: str | None, text: str) -> frozenset[str]:
    """How the packages ask a pattern of that name; in every way where that cannot be seen."""
    if name is None:
        return ALL
    uses = re.findall(rf"(?<![\w.]){name}\b(?! = re\.compile)(?!,?$)(?:\.(\w+)\()?", text)
    if not uses or "" in uses:
        return ALL
    return frozenset("search" if use not in ALL else use for use in uses)


def _import_all(chosen: Sequence[str]) -> None:
    for package in chosen:
        for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            try:
                importlib.import_module(module.name)
            except ImportError as error:  # of an extra that is not installed
                print(f"{module.name}: not looked at: {error}", file=sys.stderr)
    for name in [name for name in sys.modules if name.split(".")[0] in chosen]:
        _fill(sys.modules[name])


def _fill(module: ModuleType) -> None:
    """Call the module's cached functions that read data and compile what is written there."""
    for function in list(vars(module).values()):
        if not hasattr(function, "cache_info") or function.__module__ != module.__name__:
            continue
        taken = [one.annotation for one in inspect.signature(function).parameters.values()]
        if not taken:
            function()
        elif taken == ["Language"]:
            from abstraction.language.languages import language, languages

            for code in (*languages(), *OF_CLDR):
                function(language(code))


def _literals(file: Path) -> Iterator[tuple[re.Pattern[str], int, str]]:
    """(pattern, line, method) of those that are written in calls within functions."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    inside = [call for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) for call in ast.walk(node)]
    for node in inside:
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        if isinstance(node.func.value, ast.Name) and node.func.value.id == "re" and node.func.attr in CALLS:
            text = node.args[0]
            if isinstance(text, ast.JoinedStr):  # names that are put in stand for themselves
                said = "".join(str(part.value) if isinstance(part, ast.Constant) else "name" for part in text.values)
            elif isinstance(text, ast.Constant) and isinstance(text.value, str):
                said = text.value
            else:
                continue
            named = {a.attr for a in ast.walk(node) if isinstance(a, ast.Attribute) and a is not node.func}
            flags = re.NOFLAG
            for name in named & set(re.RegexFlag.__members__):
                flags |= re.RegexFlag[name]
            try:
                yield re.compile(said, flags), node.lineno, node.func.attr
            except re.error:  # what is put in is part of the pattern
                continue


# -- what may be attacked


def _sign_of(items: Any, draw: random.Random, flags: int) -> str:
    """A sign that a set allows."""
    negated = items and items[0][0] is op.NEGATE
    candidates = [" ", "a", "A", "1", "-", ",", ".", "\n", "é", "_", "'", '"', "(", "x", "b", "0"]
    for kind, value in items:
        if kind is op.LITERAL:
            candidates.insert(0, chr(value))
        elif kind is op.RANGE:
            candidates.insert(0, chr(draw.randint(value[0], value[1])))
    draw.shuffle(candidates)
    for sign in candidates:
        if _allows(items, sign, negated):
            return sign
    return "a"


def _allows(items: Any, sign: str, negated: bool) -> bool:
    inside = False
    for kind, value in items:
        if kind is op.LITERAL:
            inside |= ord(sign) == value
        elif kind is op.RANGE:
            inside |= value[0] <= ord(sign) <= value[1]
        elif kind is op.CATEGORY:
            inside |= re.match(_CATEGORIES[value], sign) is not None
    return inside != bool(negated)


_CATEGORIES = {
    op.CATEGORY_DIGIT: r"\d", op.CATEGORY_NOT_DIGIT: r"\D", op.CATEGORY_SPACE: r"\s", op.CATEGORY_NOT_SPACE: r"\S",
    op.CATEGORY_WORD: r"\w", op.CATEGORY_NOT_WORD: r"\W",
}  # fmt: skip
REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)


def _parts(node: Any) -> list[Any]:
    """The parsed patterns within one part of a pattern."""
    kind, value = node
    if kind in REPEATS:
        return [value[2]]
    if kind is op.SUBPATTERN:
        return [value[3]]
    if kind is op.ATOMIC_GROUP:
        return [value]
    if kind is op.BRANCH:
        return list(value[1])
    if kind in (op.ASSERT, op.ASSERT_NOT):
        return [value[1]]
    if kind is op.GROUPREF_EXISTS:
        return [one for one in value[1:] if one is not None]
    return []


def _example(sequence: Any, draw: random.Random, flags: int) -> str:
    """A text that the parsed pattern matches, its conditions aside."""
    out = []
    for kind, value in sequence:
        if kind is op.LITERAL:
            out.append(chr(value))
        elif kind is op.NOT_LITERAL:
            out.append("a" if value != ord("a") else "b")
        elif kind is op.ANY:
            out.append(draw.choice("a b1,"))
        elif kind is op.IN:
            out.append(_sign_of(value, draw, flags))
        elif kind in REPEATS:
            low, high, inner = value
            times = draw.randint(low, max(low, min(int(high), low + 1)))
            out.extend(_example(inner, draw, flags) for _ in range(min(times, 50)))
        elif kind is op.BRANCH:
            out.append(_example(draw.choice(value[1]), draw, flags))
        elif kind is op.SUBPATTERN:
            out.append(_example(value[3], draw, flags))
        elif kind is op.ATOMIC_GROUP:
            out.append(_example(value, draw, flags))
    return "".join(out)


def _repeats(sequence: Any, before: list[Any]) -> Iterator[tuple[list[Any], Any]]:
    """(what stands before, what is repeated) for everything that may be repeated often."""
    lead = list(before)
    for node in sequence:
        kind, value = node
        if kind in REPEATS and int(value[1]) > 30:
            yield lead, value[2]
        for part in _parts(node):
            yield from _repeats(part, lead)
        lead = [*lead, node]


def _alphabet(sequence: Any, draw: random.Random, flags: int) -> set[str]:
    signs: set[str] = set()
    for node in sequence:
        kind, value = node
        if kind is op.LITERAL:
            signs.add(chr(value))
        elif kind is op.IN:
            signs.update(_sign_of(value, draw, flags) for _ in range(3))
        elif kind is op.ANY:
            signs.add("a")
        for part in _parts(node):
            signs |= _alphabet(part, draw, flags)
    return signs


def attacks(pattern: re.Pattern[str], draw: random.Random) -> Iterator[tuple[str, Callable[[int], str]]]:
    """(how it is told, the attack of a length) for a pattern."""
    parsed = parser.parse(pattern.pattern, pattern.flags)
    repeats = list(_repeats(parsed, []))
    if not repeats:
        return
    pumps: dict[tuple[str, str], None] = {}
    for lead, inner in repeats:
        for _ in range(4):
            before = _example(lead, draw, pattern.flags)
            one, other = (_example(inner, draw, pattern.flags) for _ in range(2))
            pumps[before, one] = pumps["", one] = None
            if one != other:
                pumps[before, one + other] = None
    signs = sorted(_alphabet(parsed, draw, pattern.flags))
    signs = draw.sample(signs, min(len(signs), SIGNS))
    leads = {_example(lead, draw, pattern.flags) for lead, _ in repeats[:6]}
    for sign in {*signs, " ", "a", "A", "1"}:
        for lead_text in {"", *leads}:
            pumps[lead_text, sign] = None
    for one, other in itertools.combinations(signs[:8], 2):  # repeated, the other order is the same but for its ends
        pumps["", one + other] = None
    for _ in range(8):
        pumps["", _example(parsed, draw, pattern.flags)[:60]] = None
    for before, pump in pumps:
        if pump:
            for miss in MISSES:
                yield f"{before!r} + {pump!r} x n + {miss!r}", _grown(before, pump, miss)


def _grown(before: str, pump: str, miss: str) -> Callable[[int], str]:
    return lambda length: before + pump * max(1, length // len(pump)) + miss


# -- how long they take


class _Clock:
    """Ends a match that takes too long. One timer rings for all, as setting one costs more than most matches."""

    def __init__(self) -> None:
        self._until = float("inf")

    def __enter__(self) -> _Clock:
        self._handler = signal.signal(signal.SIGALRM, self._ring)
        self._timer = signal.setitimer(signal.ITIMER_REAL, RINGS, RINGS)  # of whoever calls, as pytest-timeout
        return self

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._handler)
        signal.setitimer(signal.ITIMER_REAL, *self._timer)

    def _ring(self, *_: object) -> None:
        if time.perf_counter() > self._until:
            raise _TooLongError

    def seconds(self, found: Found, text: str, limit: float, now: Callable[[], float] = time.thread_time) -> float:
        """How long the pattern needs by the clock `now`. Raises _TooLongError after `limit` seconds or little more."""
        self._until = time.perf_counter() + limit
        began = now()
        try:
            if "search" in found.methods:
                for _ in found.pattern.finditer(text):
                    pass
            if "match" in found.methods:
                found.pattern.match(text)
            if "fullmatch" in found.methods:
                found.pattern.fullmatch(text)
            return now() - began
        finally:
            self._until = float("inf")


def check(found: Found, *, seed: int = 7) -> Fault | None:
    """The first attack that the pattern is too slow for."""
    with _Clock() as clock:
        for told, grown in attacks(found.pattern, random.Random(seed)):
            if (fault := _attacked(found, told, grown, clock)) is not None:
                return fault
    return None


def _attacked(found: Found, told: str, grown: Callable[[int], str], clock: _Clock) -> Fault | None:
    length, text = PROBE, grown(PROBE)
    try:
        # Never less than the time of the processor, and asked for in a fiftieth of its time.
        if (
            clock.seconds(found, text, 2.0, time.perf_counter) < FAST
            or (seconds := clock.seconds(found, text, 2.0)) < FAST
        ):
            return None
        length, text = 4 * PROBE, grown(4 * PROBE)
        longer = clock.seconds(found, text, 2.0)
        if longer < 4 * DOUBTFUL * min(seconds, clock.seconds(found, grown(PROBE), 2.0)):
            return None
        seconds = longer
        while seconds < SLOW and length < LONGEST:
            length *= 2
            text = grown(length)
            seconds = clock.seconds(found, text, 5.0)
    except _TooLongError:
        return Fault(found, told, len(text), 2.0, float("inf"))
    short = min(clock.seconds(found, grown(length // 8), 5.0) for _ in range(3))
    seconds = min(seconds, clock.seconds(found, text, 5.0))
    growth = seconds / max(short, 1e-6)
    return Fault(found, told, len(text), seconds, growth) if seconds > SLOW / 2 and growth > 8 * GROWTH else None


def faults(found: Iterable[Found]) -> Iterator[Fault]:
    """The faults of all patterns."""
    for one in found:
        if (fault := check(one)) is not None:
            yield fault


def _conditions() -> str:
    """The head of the file of patterns that have passed: another one, and none of them has."""
    here = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:16]
    return f"Python {sys.version_info[0]}.{sys.version_info[1]}, checker {here}"


def _passed() -> set[str]:
    lines = PASSED.read_text(encoding="utf-8").splitlines() if PASSED.exists() else []
    return set(lines[1:]) if lines[:1] == [_conditions()] else set()


def main() -> int:
    """Print the faults; 1 where there are any."""
    arguments = argparse.ArgumentParser(description="Find patterns whose time grows faster than their text.")
    arguments.add_argument("--only", default="", help="Files whose path from the root begins so.")
    arguments.add_argument("--list", action="store_true", help="Only say where patterns are.")
    arguments.add_argument("--limit", type=int, default=1000, help="Stop after so many faults.")
    arguments.add_argument("--new", action="store_true", help="Attack only patterns that have not passed before.")
    arguments.add_argument("--record", action="store_true", help="Write which have passed, if all of them have.")
    chosen = arguments.parse_args()
    if chosen.record and chosen.only:
        arguments.error("--record writes of all packages: give no --only")
    sys.path.insert(0, str(ROOT))
    warnings.simplefilter("ignore")
    found = patterns(chosen.only)
    if chosen.list:
        print("\n".join(one.place for one in found))
        return 0
    passed = _passed() if chosen.new else set()
    attacked = [one for one in found if one.digest() not in passed]
    bad = 0
    for fault in itertools.islice(faults(attacked), chosen.limit):
        print(fault, flush=True)
        bad += 1
    if chosen.record and not bad:
        lines = [_conditions(), *sorted({one.digest() for one in found})]
        PASSED.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(attacked)} of {len(found)} patterns attacked, {bad} too slow")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
