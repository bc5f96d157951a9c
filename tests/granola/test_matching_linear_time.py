"""Time grows about as fast as texts do, whatever stands in them and wherever they stand.

Every entry point is fed with runs of what its patterns and loops look at, at two lengths. Four times the length may
take eight times as long; what takes a few milliseconds is not compared.
"""

from __future__ import annotations

import gc
import re
import time
from collections.abc import Callable, Iterator

import pytest

from abstraction.tiers import Level, Tier
from granola.decoding.claims import tally
from granola.decoding.response_cache import DECODING
from granola.decoding.response_cleaning import CleanedResponse, clean_response, readings
from granola.decoding.responses import ReadResponse
from granola.decoding.self_consistency import SelfConsistency
from granola.matching import matcher
from granola.matching.abstention import abstention
from granola.matching.batch_matching import MatchCase, match_many
from granola.matching.squad import SQUAD
from granola.matching.text.match_cache import MATCHING
from tests.machine_speed import slowness
from tests.thorough import sample

SHORT, LONG = 1_000, 4_000  # characters
GROWTH = 8.0
COMPARED = 0.025  # seconds from which a time is compared: below, other work on the machine tells
BOUND = 1.0  # seconds of one core for the largest question

SIGNS = (
    "a", "I", "7", " ", "\n", "\t", ".", ",", "'", '"', "*", "_", "`", "#", "-", "(", ")", "[", "{", "<", "/", "\\",
    "?", "!", ":", "&", "$", "°", "½", "ß", "ﬃ", "İ", "ﷺ", "\u0301", "e\u0301", "ʻ1a", "日", "年", "’", "“", "Ã©",
)  # fmt: skip
WORDS = (
    "a ", "a. ", "A.B. ", "the ", "and ", "or ", "X or ", "not ", "but ", "in ", "of ", "by ", "is X ", "II ", "XIV ",
    "MCM ", "january ", "May ", "12 May ", "1961 ", "1961 or ", "1961-", "1,000", "1 000", "1'000", "1.5", "12/",
    "twenty-", "two hundred and ", "5 ft ", "more than ", "c.", "c. ", "a.d. ", "half a ", "one letter ",
    "Paris ", "paris ", "Paris, ", "Paris or ", "not Paris, ", "Paris and ", "near Paris ", "no Paris? ", "by Paris ",
    "Paris (", '"Paris" ', "Mozart's ", " 's", "a$a!", "born in X ", "born in Paris and died in Lyon ", "Johnson, ",
    "New York ", "South Korea ", "German composer ", "US ", "U.S. ", "von ", "Saint-", "Thames upon ", "Step 1: ",
    "so, ", "x\n", "x \n ", "Answer: ", "Q: ", "A: ", "Born: ", "the answer is ", "I don't know. ", "exactly ",
    "i'm not sure but ", "sorry, but ", "unknown ", "**", "*a* ", "**a** ", "- ", "* ", "<a>", "[a](/", "\\text{", '{"',
    "([",
)  # fmt: skip
MISSES = ("", "\x00x")
QUESTION = "Where was the composer of Paris born?"
PLACES = (("Paris", "City of Paris"), ("France",), ("Europe",))


def _levels(text: str) -> tuple[tuple[str, ...], ...]:
    return ((text, "Paris"), (text + "y", "France"), ("x " + text,))


def _matching(name: str, language: str = "en") -> dict[str, Callable[[str], object]]:
    """A matcher with a text as the prediction, as the question, as names of the levels, and as all of these."""
    chosen = matcher(name, language=language)
    match = chosen.match
    return {
        f"{name} {language} prediction": lambda text: match(text, PLACES, QUESTION),
        f"{name} {language} prediction of a person": lambda text: match(
            text, (("Wolfgang A. Paris",), ("a German composer",)), "Who composed it?"
        ),
        f"{name} {language} prediction of a date": lambda text: match(text, (("4 May 1961",), ("1961",)), "When?"),
        f"{name} {language} prediction of an amount": lambda text: match(text, (("1961 km",),), "How many km?"),
        f"{name} {language} prediction of a team": lambda text: match(
            text, (("New York Paris",), ("NASA",)), "Which team won?"
        ),
        f"{name} {language} question": lambda text: match("Paris, Lyon 5", PLACES, text),
        f"{name} {language} names": lambda text: match("Paris in May 1961", _levels(text), QUESTION),
        f"{name} {language} everything": lambda text: match(text, ((text[1:250],), (text[3:40],)), QUESTION + text),
    }


def _tallied(text: str) -> object:
    given = [CleanedResponse(text=one, whole=one) for one in (text, text[1:], text + "y", "Paris")]
    levels = [(Level(tiers=(Tier(text=one.text),)), Level(tiers=(Tier(text="x " + text),))) for one in given]
    counted = tally(
        [ReadResponse(cleaned=one, levels=own) for one, own in zip(given, levels, strict=True)],
        containers=lambda _: frozenset(),
    )
    return counted, SelfConsistency().of_texts(given)


def _scored(text: str) -> object:
    case = MatchCase(prediction=text, levels=((text[:300], "Paris"), ("France",)), question=text, language=text)
    return list(match_many(matcher("rules"), [case]))


ENTRIES: dict[str, Callable[[str], object]] = {
    **_matching("rules"),
    **_matching("rules", "de"),
    **{name: entry for name, entry in _matching("f1").items() if name.endswith(("prediction", "names"))},
    **{name: entry for name, entry in _matching("em").items() if name.endswith(("prediction", "names"))},
    "abstention": abstention,
    "abstention in German": lambda text: abstention(text, "de"),
    "response": clean_response,
    "response in Spanish": lambda text: clean_response(text, language="es"),
    "response about a subject": lambda text: clean_response(f"{text} is in {text}", subject=text),
    "response that reasons": lambda text: clean_response(f"Step 1: x.{text}So {text}"),
    "readings of a response": lambda text: readings(text[:2000]),
    "tally": _tallied,
    "row that is scored": _scored,
}


def _grown(piece: str, length: int, miss: str) -> str:
    return (piece * (length // len(piece) + 1))[:length] + miss


def _forget() -> None:
    for memory in (MATCHING, SQUAD, DECODING):
        memory.forget()


def _seconds(work: Callable[[], object]) -> float:
    _forget()
    began = time.thread_time()
    work()
    return time.thread_time() - began


@pytest.fixture(autouse=True, scope="module")
def _no_collector() -> Iterator[None]:
    """A collection takes as long as the heap of all tests before is large."""
    gc.collect()
    gc.freeze()
    gc.disable()
    yield
    gc.enable()


def _is_done_within(seconds: float, work: Callable[[], object]) -> bool:
    """Whether it takes no longer, on a machine as fast as most and without other work."""
    return any((took := _seconds(work)) < seconds or took < seconds * slowness() for _ in range(3))


def _too_slow(entry: Callable[[str], object], piece: str, miss: str) -> str | None:
    """How long an entry takes for a run of a piece, where that is too long beside a quarter of it."""
    short, long = (_grown(piece, length, miss) for length in (SHORT, LONG))
    took = 0.0
    for _ in range(3):  # other work on the machine may have been in the way
        took = _seconds(lambda: entry(long))
        if took < COMPARED or took < GROWTH * _seconds(lambda: entry(short)):
            return None
    return f"{piece!r} x n + {miss!r}: {1000 * took:.0f} ms for {LONG:,} characters"


@pytest.mark.parametrize("name", sorted(ENTRIES))
def test_time_grows_as_the_text_does(name: str) -> None:
    entry = ENTRIES[name]
    entry("Paris, 4 May 1961 km I don't know")  # reads the tables
    place = sorted(ENTRIES).index(name)
    pieces = enumerate(sample((*SIGNS, *WORDS), place), start=place // 3)  # each with one end, others with the other
    assert not [slow for number, piece in pieces if (slow := _too_slow(entry, piece, MISSES[number % 2]))]


def test_the_law_finds_what_is_quadratic() -> None:
    pattern = re.compile(r"\s*,\s*x")
    # Other work may slow the short text of one measurement.
    assert any(_too_slow(lambda text: pattern.search(text * 4), " ", "") for _ in range(5))


@pytest.mark.parametrize("size", [4_000, 450, 45])
def test_a_prediction_of_any_content_is_soon_held_against_sixty_names(size: int) -> None:
    rules = matcher("rules")
    rules.match("Paris", PLACES, QUESTION)
    slow = []
    for number, piece in enumerate(sample((*SIGNS, *WORDS), size)):
        text = _grown(piece, LONG, " x")
        run = _grown(piece, size + 200, "")
        ladders = (
            [[run[3 * level + k : 3 * level + k + size] for k in range(3)] for level in range(20)],
            [[f"{run[: size - 6]} {level} {k}" for k in range(3)] for level in range(20)],
        )
        ladder = ladders[(number + size) % 2]
        work = lambda text=text, ladder=ladder: rules.match(text, ladder, QUESTION)  # type: ignore[misc]  # noqa: E731
        if not _is_done_within(BOUND, work):
            slow.append(f"{piece!r}: {_seconds(work):.2f} s")
    assert not slow


# Inputs that once took seconds or did not end.
@pytest.mark.parametrize(
    ("text", "entry"),
    [
        ("1961 " + "c." * 25 + "x", "rules en names"),
        ("s" * 30_000, "rules en names"),
        ("s" * 30_000, "rules en prediction"),
        ("Step 1: x." + "\n" * 600 + "x Step 2:", "response"),
        ("ß" * 3_900, "rules en names"),
        ("*" * 3_990, "rules en names"),
        ("*" * 3_990, "rules en prediction"),
    ],
)
def test_inputs_that_took_seconds(text: str, entry: str) -> None:
    assert _is_done_within(0.3, lambda: ENTRIES[entry](text))


def test_many_predictions_and_many_similar_names() -> None:
    """The time of a prediction against 3,000 names is that of 3,000 comparisons."""
    names = tuple(f"Paris {number} of the region" for number in range(3_000))
    rules = matcher("rules")
    rules.match("Paris region 1", (names,), QUESTION)
    assert _is_done_within(1.0, lambda: [rules.match(f"Paris region {n}", (names,), QUESTION) for n in range(10)])


UNITS = ("km", "m", "miles", "feet", "inches", "cm", "mm", "yards")


@pytest.mark.parametrize("units", [("km",), ("",), UNITS], ids=["one unit", "no unit", "eight units"])
def test_many_amounts_are_held_against_many_amounts(units: tuple[str, ...]) -> None:
    """The work is that of claims x gold answers, for each of the few units of a dimension."""
    told = "; ".join(f"{number} {units[number % len(units)]}" for number in range(700))[:4_000]
    names = tuple(f"{1_000 + 7 * number} {units[-number % len(units)]}" for number in range(400))
    assert _is_done_within(0.5, lambda: matcher("rules").match(told, (names,), "How far is it?"))
