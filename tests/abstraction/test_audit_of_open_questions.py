"""What an audit finds in tiers of open questions: the kind of answer asked for, and several gold answers."""

from __future__ import annotations

import pytest

from abstraction.language.calendar_units import day_number
from abstraction.rows import TieredRow
from abstraction.tiers import Evidence, Level, Tier
from abstraction.verifying.tier_verdicts import Judge
from abstraction.verifying.value_ranges import span_of_words
from abstraction.verifying.verdicts import RowVerdict
from tests.worlds import entity, store_of

WORLD = (
    entity("Q30", "United States", aliases=["USA"], P31="Q3624078", P1549=["American"]),
    entity("Q145", "United Kingdom", P31="Q3624078", P1549=["British"]),
    entity("Q11424", "film", P279="Q17537576"),
    entity("Q7366", "song", P279="Q17537576"),
    entity("Q17537576", "creative work"),
    entity("Q33999", "actor", aliases=["actress"], P279="Q713200"),
    entity("Q713200", "performing artist"),
    entity("Q50", "Yellow Boat", "1968 British film", P31="Q11424", P495="Q145"),
    entity("Q52", "Exodus", "1960 American film", P31="Q11424", P495="Q30"),
    entity("Q53", "Sixth", "city in the United States", P31="Q515", P17="Q30"),
    entity("Q55", "Oakton", "city in the United States", P31="Q515", P17="Q30"),
    entity("Q54", "Thirteen", "2003 American film", P31="Q11424", P495="Q30"),
    entity("Q57", "Matt Roe", "American actor", P31="Q5", P27="Q30", P106="Q33999"),
    entity("Q58", "Ann Lee", "British economist", P31="Q5", P27="Q145", P106="Q188094"),
    entity("Q59", "Eve Wood", "American actress", P31="Q5", P27="Q30", P106="Q33999"),
    entity("Q188094", "economist"),
)


def judged(question: str, answers: dict[str, str | None], *levels: list[str | Tier]) -> RowVerdict:
    first = Level(tiers=tuple(Tier(text=text, qid=qid) for text, qid in answers.items()))
    coarser = (Level(tiers=tuple(t if isinstance(t, Tier) else Tier(text=t) for t in texts)) for texts in levels)
    row = TieredRow(id="r", question=question, answers=tuple(answers), levels=(first, *coarser))
    return Judge(store_of(*WORLD)).judge(row)


def verdicts(question: str, answers: dict[str, str | None], *levels: list[str | Tier]) -> list[str]:
    return [str(tier.verdict) for tier in judged(question, answers, *levels).tiers]


def of_entity(text: str, qid: str) -> Tier:
    """A tier that the file says rests on an entity."""
    return Tier(text=text, evidence=(Evidence(kind="statement", subject=qid, property="P31", value="Q11424"),))


@pytest.mark.parametrize(
    ("question", "answer", "qid", "tier", "why"),
    [
        ("What is the number of presidential electoral votes?", "538", None, "the 530s", "an amount is read as a date"),
        ("most consecutive games with 20+ points", "126", None, "the 2nd century", "a number is read as a date"),
        ("What episode does the hero give up?", "165", None, "the 160s", "the number of an episode"),
        ("Which rank did Ann Lee achieve?", "563", None, "the 560s", "the number of a rank"),
        ("how long has it been since they won", "2018", None, "about 2,020", "how long, and the answer is a year"),
        ("What is the area code for Phoenix?", "(602)", None, "the 600s", "the answer is a code"),
        ("Was he re-elected in 1992?", "No", None, "Europe", "yes or no"),
        ("How many seasons are there?", "13", "Q54", of_entity("an American film", "Q54"), "the answer is an amount"),
        ("How deep is the lake?", "Oakton", "Q55", of_entity("United States", "Q55"), "asks for an amount"),
        ("What is the final season of the show?", "Sixth", "Q53", "United States", "the number of a season"),
        ("Where are the commandments?", "Exodus", "Q52", "an American film", "asks for a place, and Exodus (Q52)"),
        ("What does Ringo sing?", "Yellow Boat", "Q50", "a British film", "asks for a song, and Yellow Boat (Q50)"),
        ("Who voiced the lion?", "Matt Roe", "Q57", "an American film", "a film is no person"),
    ],
)  # fmt: skip
def test_what_is_no_answer_of_the_kind_asked_for(
    question: str, answer: str, qid: str | None, tier: str | Tier, why: str
) -> None:
    (found,) = judged(question, {answer: qid}, [tier]).tiers
    assert str(found.verdict) == "contradicted"
    assert why in found.why


@pytest.mark.parametrize(
    ("question", "answers", "tier"),
    [
        ("How many members are there?", {"538": None}, "about 540"),
        ("how much money did it cost", {"137": None}, "between 100 and 1,000"),
        ("What year is it in the Jewish calendar?", {"5778": None}, "the 5770s"),
        ("last world series without seven games", {"2015": None}, "the 2010s"),
        ("When did the company close?", {"2005.": None}, "the 2000s"),
        ("When was it held?", {"13 to 22 June 2012": None}, "June 2012"),
        ("When did Eagles win in 2017?", {"February 4, 2018": None}, "2018"),
        ("Who won the award for best picture?", {"Exodus": "Q52"}, "an American film"),
        ("Where did the story come from?", {"Ann Lee": "Q58"}, "a British economist"),
        ("Who voiced the lion?", {"Matt Roe": "Q57"}, "an American actor"),
        ("Who are the founders?", {"Matt Roe": "Q57", "Ann Lee": "Q58"}, "an economist"),
        ("When did he win?", {"Matt Roe": "Q57", "5 May 1982": None}, "the 1980s"),
    ],
)
def test_what_may_be_an_answer(question: str, answers: dict[str, str | None], tier: str) -> None:
    assert verdicts(question, answers, [tier]) == ["entailed"]


def test_a_value_stands_above_one_tier_before_it() -> None:
    """2000 belongs to the 20th century by the calendar, the 2000s lie in the 21st but for one year."""
    levels = [["the 2000s", "the end of the 20th century"], ["the 20th century"]]
    assert verdicts("What year was it published?", {"2000": None}, *levels) == ["entailed"] * 3
    assert verdicts("What year was it published?", {"1984": None}, ["the 1980s"], ["1984–1991"])[1] == "sibling"


def test_a_tier_must_hold_of_each_answer_that_it_is_said_to_be_of() -> None:
    answers: dict[str, str | None] = {"1982": None, "1991": None}
    free, told = Tier(text="the 1980s"), Tier(text="the 1980s", of=("1982",))
    assert verdicts("When did they win?", answers, [free]) == ["entailed"]
    assert verdicts("When did they win?", answers, [told]) == ["entailed"]
    wrong = Tier(text="the 1980s", of=("1991",))
    assert verdicts("When did they win?", answers, [wrong]) == ["contradicted"]


def test_an_unknown_answer_has_no_say_about_evidence_of_another() -> None:
    told = of_entity("a British film", "Q50")
    assert verdicts("What does Ringo sing?", {"Yellow Boat": "Q50", "Good Night": None}, [told]) == ["contradicted"]


def test_a_gold_answer_on_a_coarser_level_is_not_the_answer() -> None:
    row = TieredRow(
        id="r", question="When was it?", answers=("1972", "14 December 1972"),
        levels=(Level(tiers=(Tier(text="14 December 1972"),)), Level(tiers=(Tier(text="1972"),))),
    )  # fmt: skip
    (found,) = Judge(store_of(*WORLD)).judge(row).tiers
    assert str(found.verdict) == "entailed"


def test_phrases_widen_by_aliases_of_occupations() -> None:
    assert verdicts("Who is it?", {"Eve Wood": "Q59"}, ["an American actress"], ["an American performing artist"]) == [
        "entailed",
        "entailed",
    ]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("13 to 22 June 2012", (2012, 6, 13), (2012, 6, 22)),
        ("June 13 to July 2, 2012", (2012, 6, 13), (2012, 7, 2)),
        ("1914 to 1918", (1914, 1, 1), (1918, 12, 31)),
    ],
)
def test_two_days_share_their_month_and_year(
    text: str, first: tuple[int, int, int], last: tuple[int, int, int]
) -> None:
    found = span_of_words(text)
    assert found is not None
    assert (found.first, found.last) == (day_number(*first), day_number(*last))
