"""The time of every text entry point grows no faster than about linearly with the text, whatever it is made of."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Collection, Iterator

import pytest

from tests.abstraction.linear_entries import entries, of_world
from tests.thorough import sample

RUNS = (
    "a", "A", "1", "x", "é", "ß", "ﬃ", "\u0301", "_", " ", "\t", "\n", ".", ",", ";", "!", "?", "-", "–", "'", '"', "(",
    "()", "[", "{", "<", "`", "|", "Aa", "Aa ", "a b ", "A1-", "central-", "north and ", "of the ", "and ", "or ",
    "in ", "the ", ", ", "A, ", "August ", "1961 ", "1,000", "c. ", "XIV ", "which ", "County, ", "A County and ",
    "Award for ", "language ", "born in ", "'s ", "character from ", "genre of ", "north of ", "French ",
    "writer and ", "[inst ", "is a ",
)  # fmt: skip
MISSES = ("", "\x00")  # nothing, and what no pattern's alphabet holds
SHORT, LONG = 1_000, 4_000  # characters
UNHEARD = 0.03  # seconds that say nothing
MOST = 8.0  # times as long for four times the text
LONGEST = 1.0  # seconds of any entry with the longer text
TRIES = 4  # other work on the machine may be in the way
ENTRIES = entries()
OF_WORLDS = sample(RUNS, 0, of=4)  # a world is made of each


@pytest.fixture(autouse=True, scope="module")
def _no_collector() -> Iterator[None]:
    """A collection takes as long as the heap of all tests before is large."""
    gc.collect()
    gc.freeze()
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


def _fault(long: float, short: float) -> str | None:
    """What is wrong with the least times of a text and of a quarter of it."""
    if long < UNHEARD or (long < LONGEST and long <= MOST * short):
        return None
    return f"{long:.3f} s after {short:.3f} s"


def _check(do: Callable[[str], object], run: str, miss: str = "") -> None:
    long = short = float("inf")
    for more in range(TRIES):  # other lengths are other texts: no cache answers
        long = min(long, _seconds(do, _of(run, miss, LONG + more * len(run))))
        if long < UNHEARD:
            return
        short = min(short, _seconds(do, _of(run, miss, SHORT + more * len(run))))
        if not _fault(long, short):
            return
    pytest.fail(f"{run!r} + {miss!r}: {_fault(long, short)}")


@pytest.mark.parametrize("entry", ENTRIES)
def test_four_times_the_text_takes_about_four_times_as_long(entry: str) -> None:
    place = [*ENTRIES].index(entry)
    for number, run in enumerate(sample(RUNS, place), start=place // 3):  # each with one end, others with the other
        _check(ENTRIES[entry], run, MISSES[number % 2])


def _times(text: str, only: Collection[str] = ()) -> dict[str, float]:
    """How long each thing takes that is done with the world of a text, or only those with these names."""
    found = {}
    for number, (name, do) in enumerate(of_world(text)):
        if not number or not only or name in only:  # the first is the reading that the others need
            found[name] = _seconds(lambda _, do=do: do(), text)  # type: ignore[misc]
    return found


@pytest.mark.parametrize("part", range(6))
def test_labels_aliases_and_descriptions_of_a_snapshot_take_linear_time(part: int) -> None:
    for run in OF_WORLDS[part::6]:
        long = _times(_of(run, "", LONG))
        short: dict[str, float] = {}
        faults = {name: "" for name, seconds in long.items() if seconds >= UNHEARD}
        for more in range(TRIES):
            if not faults:
                break
            shorter = _times(_of(run, "", SHORT + more * len(run)), faults)
            longer = _times(_of(run, "", LONG + (more + 1) * len(run)), faults)
            short |= {name: min(short.get(name, shorter[name]), shorter[name]) for name in faults}
            long |= {name: min(long[name], longer[name]) for name in faults}
            faults = {name: told for name in faults if (told := _fault(long[name], short[name]))}
        assert not faults, repr(run)


def test_the_law_finds_what_grows_faster() -> None:
    def nested(text: str) -> int:
        return sum(sum(map(ord, text[at:])) for at in range(0, len(text), 2))

    def linear(text: str) -> int:
        return sum(text.count(sign) for sign in map(chr, range(20_000)))

    _check(linear, "a")
    with pytest.raises(pytest.fail.Exception, match=" s after "):
        _check(nested, "a")
