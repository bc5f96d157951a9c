"""What an audit finds in tiers of open questions: values, and several gold answers."""

from __future__ import annotations

import pytest

from abstraction.base.tiers import Level, Tier
from abstraction.files.rows import TieredRow
from abstraction.text.language.calendar_dates import day_number
from abstraction.verifying.entailment import days_of
from abstraction.verifying.tier_verdicts import Judge
from abstraction.verifying.verdicts import RowVerdict
from tests.worlds import entity, store_of

WORLD = (
    entity("Q30", "United States", aliases=["USA"], P31="Q3624078", P1549=["American"]),
    entity("Q145", "United Kingdom", P31="Q3624078", P1549=["British"]),
    entity("Q11424", "film", P279="Q17537576"),
    entity("Q17537576", "creative work"),
    entity("Q33999", "actor", aliases=["actress"], P279="Q713200"),
    entity("Q713200", "performing artist"),
    entity("Q52", "Exodus", "1960 American film", P31="Q11424", P495="Q30"),
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
    assert days_of(text) == (day_number(*first), day_number(*last))
