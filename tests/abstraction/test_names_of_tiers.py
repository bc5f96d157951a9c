"""By which names a tier goes, what its evidence says of each word, how tiers of several answers stand."""

from __future__ import annotations

import pytest

from abstraction.base.tiers import Tier
from abstraction.files.rows import TieredRow
from abstraction.text.descriptions.place_grammar import parse_place
from abstraction.verifying.entailment import EntailmentChecker, amount_of, contains_amount
from abstraction.verifying.tier_verdicts import Judge
from abstraction.verifying.verdicts import VerdictKind
from kg.base.model import Entity
from tests.worlds import entity, maker, row, store_of, texts

NETHERLANDS = entity("Q55", "Netherlands", "country in Western Europe", P31="Q3624078")
PROVINCE = entity("Q752", "Groningen", "province of the Netherlands", aliases=["Groningen Province", "Gröningen"],
                  P31="Q134390", P131="Q55")  # fmt: skip
CITY = entity("Q749", "Groningen", "city in the Netherlands", P31="Q515", P131="Q752")
USA = entity("Q30", "United States of America", "country in North America",
             aliases=["United States", "USA", "US", "'Merica", "jp", "CAN", "Union, the", "🇺🇸"],
             P31="Q3624078")  # fmt: skip
JAPAN = entity("Q17", "Japan", "island country in East Asia", P31="Q3624078")


def flaws(made: TieredRow, *world: Entity) -> list[str]:
    """What the entailment check finds wrong with a row."""
    checked = EntailmentChecker(store_of(*world)).check(made)
    return [f"{check.text}: {finding.flaw} {finding.detail}" for check in checked for finding in check.findings]


def tier(made: TieredRow, text: str) -> Tier:
    """The tier of that text."""
    return next(t for level in made.levels for t in level.tiers if t.text == text)


def test_a_larger_place_of_the_same_name_is_told_by_its_longer_name() -> None:
    school = entity("Q850730", "University of Groningen", "university", P31="Q3918", P131="Q749")
    world = (NETHERLANDS, PROVINCE, CITY, school)
    made = maker(*world).make(row("University of Groningen", "P69"))
    assert texts(made) == [["Groningen"], ["Groningen Province"], ["Netherlands"]]
    assert tier(made, "Groningen").aliases == ()
    assert "Groningen" not in tier(made, "Groningen Province").aliases
    assert flaws(made, *world) == []
    of_the_city = maker(*world).make(row("Groningen", "P19", qid="Q749"))
    assert texts(of_the_city) == [["Groningen Province"], ["Netherlands"]]


def test_a_larger_place_that_goes_by_no_other_name_takes_its_names_along() -> None:
    whole = entity("Q752", "Utrecht", "province of the Netherlands", aliases=["Sticht"], P31="Q134390", P131="Q55")
    city = entity("Q749", "Utrecht", "city in the Netherlands", P31="Q515", P131="Q752")
    hall = entity("Q9", "Town Hall", "building in Utrecht", P31="Q41176", P131="Q749")
    world = (NETHERLANDS, whole, city, hall)
    made = maker(*world).make(row("Town Hall", "P276"))
    assert texts(made) == [["Utrecht"], ["Netherlands"]]
    assert "Sticht" not in tier(made, "Utrecht").aliases
    assert flaws(made, *world) == []


def test_whose_a_state_is_is_no_name_of_its_country() -> None:
    india = entity("Q668", "India", "country in South Asia", P31="Q3624078")
    town = entity("Q9", "Bapatla", "Indian town", P31="Q3957")
    made = maker(india, town).make(row("Bapatla", "P19"))
    assert all("Indian" not in t.names() for level in made.levels for t in level.tiers)


def test_phrases_take_the_names_of_a_place_that_stand_in_a_sentence() -> None:
    town = entity("Q9", "Prattville", "city in the United States", P31="Q515", P17="Q30")
    city = entity("Q515", "city", "large settlement")
    made = maker(USA, city, town).make(row("Prattville", "P127"))
    found = tier(made, "a city in the United States").names()
    assert "a city in the United States of America" in found
    assert "a city in US" in found
    assert not {"a city in jp", "a city in CAN", "a city in 🇺🇸", "a city in 'Merica", "a city in Union, the"} & set(
        found
    )


def test_a_phrase_that_only_names_the_answer_again_is_no_tier() -> None:
    italy = entity("Q38", "Italy", "country in Southern Europe", P31="Q3624078")
    province = entity("Q16", "Padua", "province of Italy", P31="Q15089", P131="Q38")
    town = entity("Q617", "Padua", "city in the province of Padua, Italy", P31="Q515", P131="Q16")
    made = maker(italy, province, town, entity("Q515", "city", "settlement")).make(row("Padua", "P127", qid="Q617"))
    assert [t for level in texts(made) for t in level] == ["a city in Italy", "a city"]


@pytest.mark.parametrize(
    ("description", "first"),
    [
        ("city in Ingham County, Eaton County and Clinton County, Michigan",
         "Ingham County and Eaton County and Clinton County"),
        ("city in Cleveland, Canadian, and Pottawatomie counties, Oklahoma",
         "Cleveland County and Canadian County and Pottawatomie County"),
        ("city in Windsor, Berkshire and Slough", "Windsor"),
        ("city in DeKalb and Fulton counties, Georgia", "DeKalb and Fulton counties"),
        ("village in Hart Township, Oceana County and nowhere", "Hart Township"),
    ],
)  # fmt: skip
def test_a_list_of_places_of_one_kind_is_one_step(description: str, first: str) -> None:
    phrase = parse_place(description)
    assert phrase is not None
    assert phrase.units[0].text == first


def test_a_former_office_is_told_by_the_words_that_say_so() -> None:
    person = entity("Q50", "Ghulam Jatoi", "former Prime Minister of Pakistan", P31="Q5", P27="Q843")
    pakistan = entity("Q843", "Pakistan", "country in South Asia", P31="Q3624078")
    made = maker(pakistan, person).make(row("Ghulam Jatoi", "P26"))
    step = tier(made, "a former Prime Minister of Pakistan").evidence[0]
    assert step.text is not None
    assert step.span is not None
    assert step.text[slice(*step.span)] == "former Prime Minister of Pakistan"
    assert flaws(made, pakistan, person) == []


def test_a_tier_of_two_answers_stands_behind_all_that_is_finer() -> None:
    state = entity("Q1384", "New York", "state of the United States", P31="Q35657", P131="Q30")
    city = entity("Q60", "New York City", "city in New York", P31="Q515", P131="Q1384")
    borough = entity("Q11299", "Manhattan", "borough of New York City", P31="Q408804", P131="Q60")
    other = entity("Q771", "Massachusetts", "state of the United States", P31="Q35657", P131="Q30")
    schools = [
        entity("Q11", "Williams College", "college in Massachusetts", P31="Q189004", P131="Q771"),
        entity("Q12", "Barnard College", "college in Manhattan", P31="Q189004", P131="Q11299"),
    ]
    world = (USA, state, city, borough, other, *schools)
    made = maker(*world).make(row(["Williams College", "Barnard College"], "P69"))
    assert texts(made) == [
        ["Massachusetts", "Manhattan"],
        ["New York City"],
        ["New York"],
        ["United States of America"],
    ]
    assert flaws(made, *world) == []
    verdicts = [one.verdict for one in Judge(store_of(*world)).judge(made).tiers]
    assert set(verdicts) == {VerdictKind.ENTAILED}


@pytest.mark.parametrize(
    ("text", "amount", "right"),
    [
        ("between 100,000 and 1 million", "350964", True),
        ("between 10 and 100 million", "35000000", True),
        ("between 10 and 100 million", "35", False),
        ("between 1 and 10 thousand", "999", False),
    ],
)
def test_the_power_of_the_higher_end_is_shared_where_it_can_be(text: str, amount: str, right: bool) -> None:
    outer, inner = amount_of(text), amount_of(amount)
    assert outer is not None
    assert inner is not None
    assert contains_amount(outer, inner) is right


def test_the_row_s_own_words_stand_beside_the_snapshot_s() -> None:
    uk = entity("Q145", "United Kingdom", "country in Western Europe", aliases=["UK"], P31="Q3624078")
    london = entity("Q84", "London", "capital of the United Kingdom", P31="Q515", P17="Q145")
    school = entity("Q1264867", "Dulwich College", "school in Dulwich, London", P31="Q3918", P17="Q145")
    extra = {"answer_entity_description": "school in Southwark, UK"}
    make = maker(uk, london, school)
    made = make.make(row("Dulwich College", "P69", qid="Q1264867", extra=extra))
    assert texts(made) == [["Dulwich", "Southwark"], ["London"], ["United Kingdom"]]
    assert flaws(made, uk, london, school) == []
    alone = make.make(row("Dulwich College", "P69", qid="Q1264867"))
    assert texts(alone) == [["Dulwich"], ["London"], ["United Kingdom"]]


def test_a_tier_that_two_finer_ones_lead_to_quotes_both() -> None:
    georgia = entity("Q1428", "Georgia", "state of the United States", P31="Q35657", P131="Q30")
    counties = [
        entity(q, f"{name} County", P31="Q47168", P131="Q1428") for q, name in (("Q81", "DeKalb"), ("Q82", "Fulton"))
    ]
    atlanta = entity("Q23556", "Atlanta", P31="Q515", P131=["Q81", "Q82"])
    world = (USA, georgia, *counties, atlanta)
    made = maker(*world).make(row("Atlanta"))
    lies = {("Q23556", "Q81"), ("Q81", "Q1428"), ("Q23556", "Q82"), ("Q82", "Q1428")}
    assert {(e.subject, e.value) for e in tier(made, "Georgia").evidence} == lies
    assert flaws(made, *world) == []
