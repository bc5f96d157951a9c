"""The time of every text entry point grows no faster than about linearly with the text, whatever it is made of."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator

import pytest

from tests.abstraction.linear_entries import entries, of_world

RUNS = (
    "a", "A", "1", "x", "é", "ß", "ﬃ", "\u0301", "_", " ", "\t", "\n", ".", ",", ";", "!", "?", "-", "–", "'", '"', "(",
    "()", "[", "{", "<", "`", "|", "Aa", "Aa ", "a b ", "A1-", "central-", "north and ", "of the ", "and ", "or ",
    "in ", "the ", ", ", "A, ", "August ", "1961 ", "1,000", "c. ", "XIV ", "which ", "County, ", "A County and ",
    "Award for ", "language ", "born in ", "'s ", "character from ", "genre of ", "north of ", "French ",
    "writer and ", "[inst ", "is a ",
)  # fmt: skip
MISSES = ("", "\x00")  # nothing, and what no pattern's alphabet holds
SHORT, LONG = 2_000, 8_000  # characters
UNHEARD = 0.06  # seconds that say nothing
MOST = 8.0  # times as long for four times the text
LONGEST = 1.0  # seconds of any entry with the longer text
ENTRIES = entries()


@pytest.fixture(autouse=True)
def _no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def _of(run: str, miss: str, length: int) -> str:
    """Whole runs: texts of different lengths end alike, as some ends are refused at once."""
    return run * (length // len(run)) + miss


def _seconds(do: Callable[[str], object], text: str) -> float:
    began = time.thread_time()
    do(text)
    return time.thread_time() - began


def _check(do: Callable[[str], object], run: str, miss: str = "") -> None:
    long = _seconds(do, _of(run, miss, LONG))
    if long < UNHEARD:
        return
    # Other lengths are other texts: no cache answers.
    short = min(_seconds(do, _of(run, miss, SHORT + more * len(run))) for more in range(3))
    long = min(long, _seconds(do, _of(run, miss, LONG + len(run))))
    assert long < LONGEST, f"{run!r} + {miss!r}: {long:.3f} s"
    assert long < UNHEARD or long <= MOST * short, f"{run!r} + {miss!r}: {long:.3f} s after {short:.3f} s"


@pytest.mark.parametrize("entry", ENTRIES)
def test_four_times_the_text_takes_about_four_times_as_long(entry: str) -> None:
    for run in RUNS:
        for miss in MISSES:
            _check(ENTRIES[entry], run, miss)


def _times(text: str) -> Iterator[tuple[str, float]]:
    for name, do in of_world(text):
        yield name, _seconds(lambda _, do=do: do(), text)  # type: ignore[misc]


@pytest.mark.parametrize("part", range(6))
def test_labels_aliases_and_descriptions_of_a_snapshot_take_linear_time(part: int) -> None:
    for run in RUNS[part::6]:
        long = dict(_times(_of(run, "", LONG)))
        if max(long.values()) < UNHEARD:
            continue
        short, again = dict(_times(_of(run, "", SHORT))), dict(_times(_of(run, "", LONG + len(run))))
        for name, seconds in again.items():
            least = min(seconds, long[name])
            assert least < LONGEST, f"{name}, {run!r}: {least:.3f} s"
            assert least < UNHEARD or least <= MOST * short[name], f"{name}, {run!r}: {least:.3f} s"


def test_the_law_finds_what_grows_faster() -> None:
    def nested(text: str) -> int:
        return sum(sum(map(ord, text[at:])) for at in range(0, len(text), 2))

    def linear(text: str) -> int:
        return sum(text.count(sign) for sign in map(chr, range(20_000)))

    _check(linear, "a")
    with pytest.raises(AssertionError, match=" s"):
        _check(nested, "a")
