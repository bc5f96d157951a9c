"""Drag-graph and self-consistency over a small world: the issue's cases, and laws that hold whatever is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstraction.pipeline import LadderMaker
from abstraction.rows import QARow
from abstraction.tiers import Level, Tier
from granola.decoding import Abstaining, Aggregator, Counting, Decision, DragGraph, SampleRow, SelfConsistency
from granola.decoding.cleaning import Said, said
from granola.decoding.responses import Reading, ResponseReader
from granola.decoding.tally import tally
from granola.errors import UsageError
from kg.terms import normalise
from tests.worlds import entity, store_of

STORE = store_of(
    entity("Q46", "Europe", "continent", P31="Q5107"),
    entity("Q183", "Germany", "country in Europe", P31="Q3624078", P30="Q46", aliases=["Federal Republic of Germany"]),
    entity("Q142", "France", "country in Europe", P31="Q3624078", P30="Q46"),
    entity("Q30", "United States of America", "country", P31="Q3624078", aliases=["USA", "United States"]),
    entity("Q980", "Bavaria", "state of Germany", P31="Q10864048", P131="Q183", P17="Q183"),
    entity("Q1055", "Hamburg", "city in Germany", P31="Q515", P131="Q183", P17="Q183", aliases=["Hanse city"]),
    entity("Q64", "Berlin", "capital of Germany", P31="Q515", P131="Q183", P17="Q183"),
    entity("Q1726", "Munich", "city in Bavaria", P31="Q515", P131="Q980", P17="Q183", aliases=["München"]),
    entity("Q90", "Paris", "capital of France", P31="Q515", P131="Q142", P17="Q142"),
    entity("Q1204", "Illinois", "state of the United States", P31="Q35657", P131="Q30", P17="Q30"),
    entity("Q771", "Massachusetts", "state of the United States", P31="Q35657", P131="Q30", P17="Q30"),
    entity("Q28515", "Springfield", "city in Illinois", P31="Q515", P131="Q1204", P17="Q30"),
    entity("Q49158", "Springfield", "city in Massachusetts", P31="Q515", P131="Q771", P17="Q30"),
    entity("Q16", "Canada", "country", P31="Q3624078"),
    entity("Q1904", "Ontario", "province of Canada", P31="Q11828004", P131="Q16", P17="Q16"),
    entity("Q11828004", "province of Canada"),
    entity("Q92561", "London", "city in Canada", P31="Q515", P17="Q16"),
    entity("Q145", "United Kingdom", "country", P31="Q3624078", aliases=["UK"]),
    entity("Q84", "London", "capital of the United Kingdom", P31="Q515", P17="Q145", sitelinks=300),
    entity("Q28513", "Austria-Hungary", "former state", P31="Q3024240", P576=1918),
    entity("Q40", "Austria", "country in Europe", P31="Q3624078", P30="Q46"),
    entity("Q1741", "Vienna", "capital of Austria", P31="Q515", P131="Q40", P17="Q40"),
    entity("Q36834", "composer", "profession", P31="Q28640"),
    entity("Q4700", "Claude Debussy", "French composer (1862-1918)", P31="Q5", P106="Q36834", P27="Q142"),
    entity("Q1151", "Hector Berlioz", "French composer (1803-1869)", P31="Q5", P106="Q36834", P27="Q142"),
    entity("Q7351", "Robert Schumann", "German composer (1810-1856)", P31="Q5", P106="Q36834", P27="Q183"),
    entity("Q159", "Russia", "country", P31="Q3624078"),
    entity("Q36180", "writer", aliases=["author"], P31="Q28640", P279="Q482980"),
    entity("Q482980", "author", aliases=["writer"], P31="Q28640"),
    entity("Q7243", "Leo Tolstoy", "Russian writer (1828-1910)", P31="Q5", P106="Q36180", P27="Q159"),
    entity("Q42831", "Ivan Turgenev", "Russian author (1818-1883)", P31="Q5", P106="Q482980", P27="Q159"),
    entity("Q42310", "Jacques Offenbach", "French-German composer", P31="Q5", P106="Q36834", P27=["Q142", "Q183"]),
    entity("Q7312", "Clara Schumann", "German composer (1819-1896)", P31="Q5", P106="Q36834", P27="Q183"),
)
AGGREGATOR = Aggregator(STORE)
MAKER = LadderMaker(STORE)
ALL = DragGraph()
BORN = SampleRow(
    id="1", question="Where was Hans Meyer born?", samples=("",), relation="P19", subject_text="Hans Meyer"
)


def decide(responses: Sequence[str], method: DragGraph | SelfConsistency = ALL, **row: str) -> Decision:
    ((_, decision),) = AGGREGATOR.decide([replace(BORN, samples=tuple(responses), **row)], method)
    return decision


def when(responses: Sequence[str], method: DragGraph | SelfConsistency = ALL) -> Decision:
    return decide(responses, method, question="When was Hans Meyer born?", relation="P569")


def who(responses: Sequence[str]) -> Decision:
    return decide(responses, question="Who composed Foo?", relation="P86", subject_text="Foo")


@pytest.mark.parametrize(
    ("responses", "answer"),
    [
        (["Hamburg", "Answer: Hamburg"], "Hamburg"),
        (["Hamburg", "Hanse city", "Hamburg"], "Hamburg"),
        (["Hamburg", "Berlin", "Munich, Bavaria"], "Germany"),
        (["Hamburg", "Germany"], "Germany"),
        (["Munich", "Bavaria", "München, Germany"], "Bavaria"),
        (["Hamburg", "Paris"], "Europe"),
        (["Hamburg", "Springfield, Illinois"], "IDK"),
        (["Springfield, Illinois", "Springfield, Illinois, USA"], "Springfield, Illinois"),
        (["Springfield, Illinois", "Springfield, Massachusetts"], "United States of America"),
        (["Springfield, Illinois, USA", "Illinois"], "Illinois"),
        (["London, Ontario, Canada", "London, Canada"], "London, Canada"),
        (["London, UK", "London, Ontario, Canada"], "IDK"),
        (["Vienna, Austria-Hungary", "Vienna"], "Vienna"),
        (["Munich, Illinois", "Illinois"], "Illinois"),
        (["Springfield, Bavaria", "Bavaria"], "Bavaria"),
        (["Nowhere, Bavaria, Germany", "Munich"], "Bavaria"),
        (["Nowhere", "nowhere.", "Nowhere"], "Nowhere"),
        (["Nowhere", "Hamburg"], "IDK"),
        (["Nowhere, Bavaria", "Nowhere", "Munich"], "Bavaria"),
        (["Nowhere, Bavaria", "Nowhere, Illinois", "Nowhere"], "IDK"),
        (["Hamburg - a port in Germany", "Hamburg"], "Hamburg"),
        (["Hamburg in northern Germany", "Hamburg"], "Hamburg"),
        (["near Hamburg", "Hamburg"], "Germany"),  # beside it, and as a rule in its state
        (["a small town near Munich", "Munich"], "Germany"),
        (["just outside Munich, Bavaria", "Munich"], "Bavaria"),
        (["20 km north of Hamburg", "near Berlin"], "Germany"),
        (["near Germany", "Hamburg"], "IDK"),
        (["near Nowhere", "Hamburg"], "IDK"),
        (["not in Hamburg", "Hamburg"], "IDK"),
        (["She was not born in Hamburg.", "Hamburg"], "IDK"),
        (["Hamburg, although some say Berlin", "Hamburg but she left", "Hamburg to a family", "Hamburg"], "Hamburg"),
        (["Munich", "München, Bavaria"], "Munich"),  # of as many spellings the entity's own name
        (["He was born in Berlin, where he grew up.", "Hamburg"], "Germany"),
        (["I don't know", "Hamburg", "Hamburg"], "Hamburg"),
        (["I don't know", "IDK", "Hamburg"], "IDK"),
        (["I don't know"], "IDK"),
    ],
)
def test_places(responses: list[str], answer: str) -> None:
    assert decide(responses).text == answer


@pytest.mark.parametrize(
    ("responses", "answer"),
    [
        (["March 22, 1958", "May 19, 1958", "August 15, 1958"], "1958"),
        (["February 1, 1937", "November 20, 1937", "January 1937"], "1937"),
        (["He was born on May 19, 1958.", "19 May 1958"], "19 May 1958"),
        (["1958", "1952"], "the 1950s"),
        (["1958", "1937"], "the 20th century"),
        (["1958", "1737"], "IDK"),
        (["04/08/1961", "August 4, 1961"], "1961"),  # the day and the month cannot be told apart
        (["13/08/1961", "August 13, 1961"], "13/08/1961"),
        (["before 1961", "1961"], "IDK"),
        (["not 1961", "1961"], "IDK"),
    ],
)
def test_dates(responses: list[str], answer: str) -> None:
    assert when(responses).text == answer


def test_composers_of_one_nation_and_of_two() -> None:
    assert who(["Claude Debussy", "Hector Berlioz"]).text == "a French composer"
    assert who(["Claude Debussy", "Clara Schumann"]).text == "IDK"  # only "a composer", which the question says


def test_who_is_of_two_nations_is_of_each() -> None:
    """Ladders have room for "a French-German composer" and "a German composer" alone."""
    assert who(["Claude Debussy", "Jacques Offenbach"]).text == "a French composer"


def test_occupations_that_go_by_each_others_name_are_one() -> None:
    found = decide(["Leo Tolstoy", "Ivan Turgenev"], question="Who wrote Foo?", relation="P50", subject_text="Foo")
    assert found.text == "a Russian author"


def test_a_description_is_entailed_by_who_is_described_so() -> None:
    assert who(["a French composer", "Claude Debussy"]).text == "a French composer"
    assert who(["a German composer", "Claude Debussy"]).abstains
    assert who(["a composer", "Claude Debussy"]).abstains  # which the question says


def test_surnames_and_initials() -> None:
    assert who(["Claude Debussy", "Debussy", "C. Debussy", "Debussy, Claude"]).support == 1.0
    assert who(["Clara Schumann", "Schumann", "Robert Schumann"]).abstains  # who of the two
    assert who(["Claude Debussy", "P. Debussy"]).abstains
    assert who(["Debussy"]).text == "Debussy"


def test_a_name_that_is_not_known_is_one_place_wherever_it_is_put_alike() -> None:
    assert decide(["Nowhere, Bavaria, Germany", "Nowhere", "Nowhere, Germany"]).text == "Nowhere"
    assert decide(["Nowhere, Bavaria", "Nowhere, Illinois", "Nowhere"]).abstains
    assert decide(["Nowhere, Bavaria, Germany", "Nowhere", "Munich"]).text == "Bavaria"


def test_amounts() -> None:
    found = decide(["126,329", "126,000", "about 130,000"], question="What is the population of Foo?", relation="P1082")
    assert found.text == "about 130,000"
    found = decide(["at least 126,000", "126,000"], question="What is the population of Foo?", relation="P1082")
    assert found.text == "IDK"


@pytest.mark.parametrize(
    ("responses", "answer"),
    [
        (["7,000 miles", "7,000 km"], "between 1,000 and 10,000 miles"),  # 7,000 km are 4,300 miles
        (["7,200 km", "7,400 kilometres"], "about 7,000 km"),
        (["1.8 m", "180 cm", "5 ft 11 in"], "1.8 m"),
        (["5 ft 11 in", "1.83 m", "180 cm"], "about 180 cm"),
        (["8848 m", "8,849 metres", "29,029 feet"], "about 8,850 m"),
        (["100 km", "62 miles"], "100 km"),
        (["100 km", "62 miles", "2,000 miles"], "IDK"),
        (["3 km", "3 kg"], "IDK"),
        (["4,810 m", "4810 metres above sea level", "15,781 ft"], "4,810 m"),
    ],
)
def test_amounts_of_several_units(responses: list[str], answer: str) -> None:
    asked = {"question": "How long is the Foo?", "relation": "P2043"}
    assert decide(responses, **asked).text == answer
    assert decide(responses[::-1], **asked) == decide(responses, **asked)


def test_letters_for_powers_of_ten() -> None:
    asked = {"question": "What is the population of Foo?", "relation": "P1082"}
    assert decide(["12,000", "12k", "12K", "12 thousand"], **asked).support == 1.0
    assert decide(["about 12k", "1.2M"], **asked).abstains


def test_the_wording_tells_what_a_relation_does_not() -> None:
    """Nothing is known of P1104 but that the question asks how many."""
    found = decide(["320", "320 pages", "325 pages"], question="How many pages does Foo have?", relation="P1104")
    assert found.text == "about 300 pages"


def test_the_explanation_tells_who_says_what() -> None:
    found = decide(["Hamburg", "Berlin", "Hamburg", "Munich", "I don't know"])
    assert found.explanation == (
        "Germany: 4 of 4 responses; Hamburg: 2 of 4; Munich: 1 of 4; Berlin: 1 of 4; Bavaria: 1 of 4; 1 of 5 abstain"
    )
    assert (found.qid, found.support) == ("Q183", 1.0)
    tie = decide(["Hamburg", "Berlin"], DragGraph(support=0.5))
    assert tie.explanation == "Berlin: 1 of 2 responses; a tie with Hamburg, decided by fineness, then the alphabet"


def test_support_and_weighing() -> None:
    responses = ["Hamburg"] * 6 + ["Munich"] * 3 + ["Paris"]
    assert decide(responses, DragGraph(support=0.6)).text == "Hamburg"
    assert decide(responses, DragGraph(support=0.9)).text == "Germany"
    assert decide(responses).text == "Europe"
    assert decide(responses, DragGraph(support=0.2)).text == "Hamburg"  # Munich contradicts what more say
    assert decide(responses, DragGraph(support=0.1, weigh=0)).text == "Hamburg"
    assert decide(responses, DragGraph(support=0.1, weigh=2)).text in ("Germany", "Hamburg")
    assert decide(responses, DragGraph(support=0.1, weigh=99)).text == "Europe"


def test_what_abstaining_counts() -> None:
    responses = ["Hamburg", "Hamburg", "IDK", "IDK", "IDK"]
    assert decide(responses).text == "IDK"
    assert decide(responses, DragGraph(abstaining=Abstaining.IGNORE)).text == "Hamburg"
    assert decide(responses, DragGraph(abstaining=Abstaining.AGAINST)).text == "IDK"
    assert decide(responses, DragGraph(abstaining=Abstaining.AGAINST, support=0.4)).text == "Hamburg"
    assert decide(["IDK"], DragGraph(abstaining=Abstaining.IGNORE)).text == "IDK"


def test_self_consistency() -> None:
    responses = ["Hamburg", "hamburg.", "Berlin", "Berlin", "Hanse city", "Germany"]
    assert decide(responses, SelfConsistency()).support == pytest.approx(2 / 6)
    alias = decide(responses, SelfConsistency(counting=Counting.ALIAS))
    assert (alias.text, alias.support) == ("Hamburg", 0.5)
    ladder = decide(responses, SelfConsistency(counting=Counting.LADDER))
    assert (ladder.text, ladder.support) == ("Germany", 1.0)
    assert decide(["IDK", "IDK", "Hamburg"], SelfConsistency()).text == "IDK"


def test_settings_outside_their_range() -> None:
    for wrong in (0.0, -0.1, 1.1, float("nan")):
        with pytest.raises(UsageError, match="above 0 and up to 1"):
            DragGraph(support=wrong)
    with pytest.raises(UsageError, match="0 or more"):
        DragGraph(weigh=-1.0)


# What responses may be in the laws below.
_SAID = st.sampled_from(
    ["Hamburg", "Answer: Hamburg", "Hanse city", "Berlin", "Munich", "Munich, Bavaria", "Bavaria", "Germany", "Europe",
     "Paris", "Paris, France", "France", "Springfield", "Springfield, Illinois", "Springfield, Massachusetts", "USA",
     "Nowhere", "Nowhere, Bavaria", "Somewhere, Nowhere", "I don't know", "It was Berlin.", "1958"]
)  # fmt: skip
_RESPONSES = st.lists(_SAID, min_size=1, max_size=8)
_SHARES = st.sampled_from([0.1, 0.25, 0.3, 0.5, 0.6, 0.75, 0.9, 1.0])
_METHODS = st.one_of(
    st.builds(
        DragGraph,
        support=_SHARES,
        weigh=st.sampled_from([None, 0.0, 1.0, 3.0]),
        abstaining=st.sampled_from(Abstaining),
    ),
    st.builds(SelfConsistency, counting=st.sampled_from(Counting), abstaining=st.sampled_from(Abstaining)),
)


@settings(deadline=None)
@given(_SAID, _METHODS)
def test_one_response_is_its_plain_form(response: str, method: DragGraph | SelfConsistency) -> None:
    assert decide([response], method).text == said(response, subject="Hans Meyer").prediction


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
    (readings,) = ResponseReader(MAKER).read([row])
    counted = tally(readings, containers=lambda _: frozenset())
    decision = DragGraph(support=share).decide(counted)
    if decision.abstains:
        return
    claim = next(one for one in counted.claims if (one.text, one.qid) == (decision.text, decision.qid))
    assert claim.support >= share * counted.answering
    for number in claim.supporters:
        text = said(responses[number], subject="Hans Meyer").text
        longer = [said(other).text for other in responses if said(other).text.startswith(f"{text}, ")]
        told = set.intersection(*map(_entailed, longer)) if longer else set()  # where a bare name lies, by the others
        alike = claim.qid is None and _first(claim.text) == _first(text)  # a name that is not known, wherever it is put
        assert alike or claim.qid in _entailed(text) | told


def _first(text: str) -> str:
    return normalise(text.partition(",")[0])


# What the responses mean, by hand; a bare Springfield is whichever another response tells.
_MEANT = {
    "Hamburg": ["Q1055"], "Hanse city": ["Q1055"], "Berlin": ["Q64"], "Munich": ["Q1726"], "Bavaria": ["Q980"],
    "Munich, Bavaria": ["Q1726"], "Nowhere, Bavaria": ["Q980"], "Germany": ["Q183"], "Europe": ["Q46"],
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
@given(_RESPONSES, _SHARES, _SHARES, st.sampled_from([None, 1.0, 2.0]))
def test_more_support_demanded_never_gives_a_finer_answer(
    responses: list[str], one: float, other: float, weigh: float | None
) -> None:
    low, high = sorted((one, other))
    (readings,) = ResponseReader(MAKER).read([replace(BORN, samples=tuple(responses))])
    counted = tally(readings, containers=lambda _: frozenset())
    loose = DragGraph(support=low, weigh=weigh).decide(counted)
    strict = DragGraph(support=high, weigh=weigh).decide(counted)
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


def _reading(levels: list[list[Tier]]) -> Reading:
    text = " / ".join(" ".join(tier.text for tier in level) for level in levels)  # what says the same is read the same
    return Reading(
        said=Said(text=text, whole=text), levels=tuple(Level(tiers=tuple(level)) for level in levels), linked=True
    )


@settings(max_examples=300, deadline=None)
@given(st.lists(_LADDERS, min_size=1, max_size=6), _SHARES, _SHARES, st.randoms())
def test_the_laws_hold_of_ladders_that_contradict_each_other(
    ladders: list[list[list[Tier]]], one: float, other: float, random: object
) -> None:
    readings = [_reading(levels) for levels in ladders]
    counted = tally(readings, containers=lambda _: frozenset())
    for claim in counted.claims:
        held = {n for n, r in enumerate(readings) if any(t.qid == claim.qid for lv in r.levels for t in lv.tiers)}
        assert claim.supporters == held
    low, high = sorted((one, other))
    loose, strict = (DragGraph(support=share).decide(counted) for share in (low, high))
    order = [claim.qid for claim in counted.claims]
    assert strict.abstains or order.index(loose.qid) <= order.index(strict.qid)
    random.shuffle(readings)  # type: ignore[attr-defined]
    assert DragGraph(support=low).decide(tally(readings, containers=lambda _: frozenset())) == loose
