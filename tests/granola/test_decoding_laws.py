"""Drag-graph and self-consistency over a small world: laws that hold whatever is said."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from abstraction.base.tiers import Level, Tier
from abstraction.files.rows import QARow
from granola.decoding.aggregation_rules import DragGraph, SelfConsistency
from granola.decoding.claims import tally_claims
from granola.decoding.decision import Abstaining, Counting
from granola.decoding.response_cleaning import CleanedResponse, clean_response
from granola.decoding.responses import ReadResponse, ResponseReader
from kg.base.model import normalise
from tests.decoding_world import BORN, MAKER, decide
from tests.thorough import examples

# What responses may be in the laws below.
_SAID = st.sampled_from(
    ["Hamburg", "Answer: Hamburg", "Hanse city", "Berlin", "Munich", "Munich, Bavaria", "Bavaria", "Germany", "Europe",
     "Paris", "Paris, France", "France", "Springfield", "Springfield, Illinois", "Springfield, Massachusetts", "USA",
     "Nowhere", "Nowhere, Bavaria", "Nowhere, Bavaria, Germany", "Somewhere, Nowhere", "I don't know", "It was Berlin.",
     "1958", "near Hamburg", "the city of Munich", "Ich weiß es nicht."]
)  # fmt: skip
_RESPONSES = st.lists(_SAID, min_size=1, max_size=8)
_SHARES = st.sampled_from([0.1, 0.25, 0.3, 0.5, 0.6, 0.75, 0.9, 1.0])
_METHODS = st.one_of(
    st.builds(DragGraph, support=_SHARES, abstaining=st.sampled_from(Abstaining)),
    st.builds(SelfConsistency, counting=st.sampled_from(Counting), abstaining=st.sampled_from(Abstaining)),
)


@settings(deadline=None)
@given(_SAID, _METHODS)
def test_one_response_is_its_plain_form(response: str, method: DragGraph | SelfConsistency) -> None:
    read = clean_response(response, subject="Hans Meyer")
    assert decide([response], method).text in {read.prediction, read.text or read.prediction}  # or without its kind


@settings(deadline=None)
@given(_RESPONSES, _METHODS, st.randoms())
def test_the_order_of_responses_does_not_matter(
    responses: list[str], method: DragGraph | SelfConsistency, random: object
) -> None:
    shuffled = list(responses)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert decide(responses, method) == decide(shuffled, method)


@settings(deadline=None)
@given(_RESPONSES, _SHARES)
def test_the_answer_is_entailed_by_every_supporting_response(responses: list[str], share: float) -> None:
    row = replace(BORN, samples=tuple(responses))
    (readings,) = ResponseReader(MAKER).read_responses([row])
    counted = tally_claims(readings)
    decision = DragGraph(support=share).decide(counted)
    if decision.abstains:
        return
    claim = next(one for one in counted.claims if (one.text, one.qid) == (decision.text, decision.qid))
    assert claim.support >= share * (counted.responses - counted.abstaining)
    for number in claim.supporters:
        text = clean_response(responses[number], subject="Hans Meyer").text
        longer = [
            clean_response(other).text for other in responses if clean_response(other).text.startswith(f"{text}, ")
        ]
        told = set.intersection(*map(_entailed, longer)) if longer else set()  # where a bare name lies, by the others
        alike = claim.qid is None and _first(claim.text) == _first(text)  # a name that is not known, wherever it is put
        assert alike or claim.qid in _entailed(text) | told


def _first(text: str) -> str:
    return normalise(text.partition(",")[0])


# What the responses mean, by hand; a bare Springfield is whichever another response tells.
_MEANT = {
    "Hamburg": ["Q1055"], "Hanse city": ["Q1055"], "Berlin": ["Q64"], "Munich": ["Q1726"], "Bavaria": ["Q980"],
    "Nowhere, Bavaria, Germany": ["Q980"], "near Hamburg": ["Q183"], "Munich, Bavaria": ["Q1726"],
    "Nowhere, Bavaria": ["Q980"], "Germany": ["Q183"], "Europe": ["Q46"],
    "Paris": ["Q90"], "Paris, France": ["Q90"], "France": ["Q142"], "USA": ["Q30"], "Springfield": ["Q28515", "Q49158"],
    "Springfield, Illinois": ["Q28515"], "Springfield, Massachusetts": ["Q49158"],
}  # fmt: skip


def _entailed(text: str) -> set[str | None]:
    """Ids of the tiers of the ladders of what a text may mean, as `granola tiers` makes them."""
    out: set[str | None] = set()
    for qid in _MEANT.get(text, ()):
        row = QARow(id="1", question=BORN.question, answers=(text,), answer_qids=(qid,), relation="P19")
        out |= {tier.qid for level in MAKER.make(row).levels for tier in level.tiers}
    return out - {None}


@settings(deadline=None)
@given(_RESPONSES, _SHARES, _SHARES)
def test_more_support_demanded_never_gives_a_finer_answer(responses: list[str], one: float, other: float) -> None:
    low, high = sorted((one, other))
    (readings,) = ResponseReader(MAKER).read_responses([replace(BORN, samples=tuple(responses))])
    counted = tally_claims(readings)
    loose = DragGraph(support=low).decide(counted)
    strict = DragGraph(support=high).decide(counted)
    if strict.abstains:
        return
    assert not loose.abstains
    for reading in readings:  # in every ladder that holds both
        places = {tier.qid or tier.text: depth for depth, level in enumerate(reading.levels) for tier in level.tiers}
        first, second = (places.get(found.qid or found.text) for found in (loose, strict))
        assert first is None or second is None or second >= first


# Ladders that no world need have: any tiers on any levels.
_TIER = st.sampled_from("abcdefgh").map(lambda name: Tier(text=name, qid=f"Q{ord(name)}"))
_LADDERS = st.lists(st.lists(_TIER, min_size=1, max_size=2), min_size=1, max_size=4)


def _reading(levels: list[list[Tier]]) -> ReadResponse:
    text = " / ".join(" ".join(tier.text for tier in level) for level in levels)  # what says the same is read the same
    return ReadResponse(
        cleaned=CleanedResponse(text=text, whole=text),
        levels=tuple(Level(tiers=tuple(level)) for level in levels),
        linked=True,
    )


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(_LADDERS, min_size=1, max_size=6), _SHARES, _SHARES, st.randoms())
def test_the_laws_hold_of_ladders_that_contradict_each_other(
    ladders: list[list[list[Tier]]], one: float, other: float, random: object
) -> None:
    readings = [_reading(levels) for levels in ladders]
    counted = tally_claims(readings)
    for claim in counted.claims:
        held = {n for n, r in enumerate(readings) if any(t.qid == claim.qid for lv in r.levels for t in lv.tiers)}
        assert claim.supporters == held
    low, high = sorted((one, other))
    loose, strict = (DragGraph(support=share).decide(counted) for share in (low, high))
    order = [claim.qid for claim in counted.claims]
    assert strict.abstains or order.index(loose.qid) <= order.index(strict.qid)
    random.shuffle(readings)  # type: ignore[attr-defined]
    assert DragGraph(support=low).decide(tally_claims(readings)) == loose
