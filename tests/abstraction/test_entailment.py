"""The check of tiers against their own evidence: whole ladders pass, and each kind of break is told by its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from abstraction.base.tiers import Evidence, Level, Tier, from_statement
from abstraction.files.rows import TieredRow
from abstraction.maker.pipeline import LadderMaker
from abstraction.verifying.entailment import AnswerValues, EntailmentChecker
from abstraction.verifying.verdicts import Flaw
from kg.base.model import Entity
from kg.graph.graph import Graph
from tests.tables import read_table
from tests.worlds import entity, row, store_of

WORLD = (
    entity("Q30", "United States", aliases=["USA"], P31="Q3624078"),
    entity("Q142", "France", P31="Q3624078"),
    entity("Q99", "California", "state of the United States", P31="Q35657", P131="Q30"),
    entity("Q100", "Oak County", "county in California, USA", P31="Q47168", P131="Q99"),
    entity("Q101", "Oakville", "city in Oak County, California", P31="Q515", P131="Q100"),
    entity("Q36180", "writer"),
    entity("Q482980", "novelist", P279="Q36180"),
    entity(
        "Q200", "Ann Lee", "vice president and former novelist near Oakville", P31="Q5", P27="Q30",
        P106=["Q482980", ("Q36180", {"rank": "deprecated"}), ("Q5", {"end": 1990})], P40="Q101",
    ),
    entity("Q300", "Inn", "hotel near Oakville, Oak County", P131=["Q101", ("Q100", {"rank": "preferred"})]),
)  # fmt: skip


def check(tiered: TieredRow, *more: Entity) -> list[list[Flaw]]:
    """The flaws of each tier beyond the answer."""
    return [[f.flaw for f in c.findings] for c in EntailmentChecker(store_of(*WORLD, *more)).check(tiered)]


def statement(subject: str, prop: str, value: str, id: str) -> Evidence:
    return Evidence(kind="statement", subject=subject, property=prop, value=value, statement=id)


def words(subject: str, text: str, used: str) -> Evidence:
    start = text.find(used)
    return Evidence(kind="description", subject=subject, language="en", text=text, span=(start, start + len(used)))


def ladder(answer: str, qid: str | None, *tiers: Tier, relation: str = "P19") -> TieredRow:
    levels = (Level(tiers=(Tier(text=answer, qid=qid),)), *(Level(tiers=(tier,)) for tier in tiers))
    return TieredRow(id="r", question="Where?", answers=(answer,), levels=levels, relation=relation)


def said(text: str, *evidence: Evidence, qid: str | None = None, aliases: tuple[str, ...] = ()) -> Tier:
    return Tier(text=text, qid=qid, aliases=aliases, evidence=evidence)


COUNTY = said("Oak County", statement("Q101", "P131", "Q100", "Q101$s2"), qid="Q100")
CITY = "city in Oak County, California"
NOVELIST = statement("Q200", "P106", "Q482980", "Q200$s3")
INN = "hotel near Oakville, Oak County"
PERSON = "vice president and former novelist near Oakville"


def test_what_is_made_follows_from_its_evidence() -> None:
    store = store_of(*WORLD)
    made = LadderMaker(store).make(row("Oakville", qid="Q101"))
    assert len(made.levels) > 2
    assert [c.status for c in EntailmentChecker(store).check(made)] == ["entailed"] * (len(made.levels) - 1)


def broken(tier: Tier, **changes: object) -> Tier:
    """The tier with its one step changed."""
    return replace(tier, evidence=(replace(tier.evidence[0], **changes),))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("flaw", "tier"),
    [
        (Flaw.NO_EVIDENCE, replace(COUNTY, evidence=())),
        (Flaw.ENTITY_GONE, broken(COUNTY, subject="Q999")),
        (Flaw.STATEMENT_GONE, broken(COUNTY, statement="Q101$s9")),
        (Flaw.STATEMENT_CHANGED, broken(COUNTY, value="Q99")),
        (Flaw.DISCONNECTED, said("United States", statement("Q99", "P131", "Q30", "Q99$s2"), qid="Q30")),
        (Flaw.OTHER_CONCLUSION, replace(COUNTY, text="California", qid="Q99")),
        (Flaw.FOREIGN_NAME, replace(COUNTY, aliases=("Elm County",))),
        (Flaw.FOREIGN_NAME, replace(COUNTY, text="Acorn County")),
        (Flaw.DESCRIPTION_CHANGED, said("Oak County", words("Q101", "town in Oak County", "Oak County"), qid="Q100")),
        (Flaw.SPAN_MISSING, said("Oak County", replace(words("Q101", CITY, "Oak"), span=None), qid="Q100")),
        (Flaw.SPAN_OUTSIDE, said("Oak County", replace(words("Q101", CITY, "Oak"), span=(8, 99)), qid="Q100")),
        (Flaw.OTHER_CONCLUSION, said("France", words("Q101", CITY, "California"), qid="Q142")),
    ],
)  # fmt: skip
def test_a_broken_place_is_told(flaw: Flaw, tier: Tier) -> None:
    assert flaw in check(ladder("Oakville", "Q101", tier))[0]


@pytest.mark.parametrize(
    ("flaw", "tier"),
    [
        (Flaw.STATEMENT_DEPRECATED, said("a writer", statement("Q200", "P106", "Q36180", "Q200$s4"))),
        (Flaw.STATEMENT_ENDED, said("a human", statement("Q200", "P106", "Q5", "Q200$s5"))),
        (Flaw.WRONG_PROPERTY, said("Oakville", statement("Q200", "P40", "Q101", "Q200$s6"), qid="Q101")),
        (Flaw.WORDS_UNSUPPORTED, said("a French novelist", NOVELIST)),
        (Flaw.WORDS_UNSUPPORTED, said("a novelist", NOVELIST, aliases=("a poet",))),
        (Flaw.QUALIFIER_DROPPED, said("a president", words("Q200", PERSON, "president"))),
    ],
)  # fmt: skip
def test_a_broken_phrase_is_told(flaw: Flaw, tier: Tier) -> None:
    assert flaw in check(ladder("Ann Lee", "Q200", tier, relation="P50"))[0]


def test_a_preferred_value_outranks_and_near_is_not_in() -> None:
    outranked = said("Oakville", statement("Q300", "P131", "Q101", "Q300$s1"), qid="Q101")
    near = said("Oakville", words("Q300", INN, "Oakville"), qid="Q101")
    inside = said("Oak County", words("Q300", INN, "Oak County"), qid="Q100")
    told = check(ladder("Inn", "Q300", outranked, near, inside))
    assert told == [[Flaw.STATEMENT_OUTRANKED], [Flaw.NOT_INSIDE], []]


def test_an_ended_value_stands_for_a_question_of_its_time() -> None:
    person = entity("Q7", "Old Ann", P31="Q5", P569=1950)
    town = entity("Q8", "Old Town", P31="Q515", P131=[("Q142", {"start": 1940, "end": 1960})])
    tier = said("France", statement("Q8", "P131", "Q142", "Q8$s2"), qid="Q142")
    asked = ladder("Old Town", "Q8", tier)
    assert check(asked, person, town) == [[Flaw.STATEMENT_ENDED]]
    assert check(replace(asked, question_entity={"qid": "Q7"}), person, town) == [[]]


def test_a_tier_of_an_ambiguous_answer_follows_from_every_candidate() -> None:
    other = entity("Q102", "Oakville", "city in Ohio", P31="Q515", P17="Q30")
    own = (statement("Q101", "P131", "Q100", "Q101$s2"), statement("Q100", "P131", "Q99", "Q100$s2"),
           statement("Q99", "P131", "Q30", "Q99$s2"))  # fmt: skip
    theirs = statement("Q102", "P17", "Q30", "Q102$s2")
    whole, half = Tier(text="USA", qid="Q30", evidence=(*own, theirs)), Tier(text="USA", qid="Q30", evidence=own)
    links = {"links": [{"qid": "Q101", "confidence": "low", "rivals": ["Q102"]}]}
    for tier, flaws in ((whole, []), (half, [Flaw.DISCONNECTED])):
        assert check(replace(ladder("Oakville", None, tier), extra=links), other) == [flaws]


def test_an_answer_without_entity_cannot_be_checked() -> None:
    checked = EntailmentChecker(store_of(*WORLD)).check(ladder("Oakville", None, COUNTY))
    assert [c.status for c in checked] == ["unchecked"]


def rule(text: str) -> Callable[[str], Tier]:
    return lambda tier: Tier(text=tier, evidence=(Evidence(kind="rule", text=text),))


@pytest.mark.parametrize(("answer", "tier", "right"), read_table("dates_and_amounts_entailed"))
def test_calendar_and_arithmetic_are_recomputed(answer: str, tier: str, right: bool) -> None:
    contains, wrong = AnswerValues(Level(tiers=(Tier(text=answer),))).check_containment(Tier(text=tier))
    assert contains is right
    assert bool(wrong) is not right


def test_bare_roundings_of_signed_amounts_are_names_of_what_they_round() -> None:
    tier = Tier(text="about £300,000", aliases=("£300,000", "approximately £300,000"))
    assert AnswerValues(Level(tiers=(Tier(text="£250,000"),))).check_containment(tier) == (True, "")


@pytest.mark.parametrize(("end", "flawed"), [(1918, False), (1921, True)])
def test_a_decade_holds_every_date_given_for_it(end: int, flawed: bool) -> None:
    war = entity("Q10", "The War", "war of the world", P31="Q198", P580=1914, P582=end)
    store = store_of(war, entity("Q198", "war"))
    said = [s for p in ("P31", "P580", "P582") for s in war.statements if s.property == p]
    evidence = tuple(from_statement(Graph(store), one) for one in said)
    made = ladder("The War", "Q10", Tier(text="a 1910s war", evidence=evidence))
    (checked,) = EntailmentChecker(store).check(replace(made, relation=None, question="What was it?"))
    assert (checked.status == "flawed") is flawed


def test_a_wrong_century_is_a_flaw_of_the_row() -> None:
    made = LadderMaker(store_of(*WORLD)).make(row("7 September 1630", "P569", question="When was it?"))
    checker = EntailmentChecker(store_of(*WORLD))
    assert {c.status for c in checker.check(made)} == {"entailed"}
    wrong = rule("the 18th century is the years 1701–1800")("the 18th century")
    tampered = replace(made, levels=(made.levels[0], Level(tiers=(wrong,))))
    assert [f.flaw for c in checker.check(tampered) for f in c.findings] == [Flaw.RULE_WRONG]


def test_bits_that_rise_are_told_beside_what_else_is_found() -> None:
    rising = ladder("Oakville", "Q101", replace(COUNTY, bits=3.0), said("the Moon"))
    rising = replace(rising, levels=(Level(tiers=(Tier(text="Oakville", qid="Q101", bits=2.0),)), *rising.levels[1:]))
    assert check(rising)[0] == [Flaw.BITS_RISE]
    assert check(rising)[1] == [Flaw.NO_EVIDENCE]
