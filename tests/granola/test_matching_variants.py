"""Names in the forms that people and systems give them: countries in them, initials, numbers, faiths, parted text."""

from __future__ import annotations

import pytest

from granola.matching import matcher

RULES = matcher("rules")


@pytest.mark.parametrize(
    ("said", "gold", "level"),
    [
        ("US Congress", "United States Congress", 1),
        ("American Congress", "United States Congress", 1),
        ("Congress", "United States Congress", 1),
        ("U.S. Supreme Court", "Supreme Court of the United States", 1),
        ("The Supreme Court", "Supreme Court of the United States", 1),
        ("UK prime minister", "Prime Minister of the United Kingdom", 1),
        ("French president", "President of France", 1),
        ("German president", "President of France", None),
        ("the US Civil War", "American Civil War", 1),
        ("It was in the Civil War.", "American Civil War", 1),
        ("Spanish Civil War", "American Civil War", None),
        ("the Spanish Civil War", "American Civil War", None),
        ("Airways", "British Airways", None),
        ("the president", "President of France", None),
    ],
)
def test_whose_something_is(said: str, gold: str, level: int | None) -> None:
    assert RULES.match(said, [[gold]]).level == level


def test_a_country_is_not_left_out_where_a_coarser_level_does_so() -> None:
    levels = [["American Civil War"], ["civil war"]]
    assert RULES.match("It was in a civil war.", levels).level == 2
    assert RULES.match("It was in the US Civil War.", levels).level == 1


@pytest.mark.parametrize(
    ("said", "gold", "level"),
    [
        ("WWII", "World War II", 1),
        ("WW2", "World War II", 1),
        ("WWI", "World War II", None),
        ("JFK", "John F. Kennedy", 1),
        ("MLK", "Martin Luther King Jr.", 1),
        ("MLK Jr.", "Martin Luther King Jr.", 1),
        ("Al Gore Jr.", "Al Gore", 1),
        ("Al Gore Sr.", "Al Gore", None),
        ("2005 MLB Draft", "2005 Major League Baseball draft", 1),
        ("2005 NFL Draft", "2005 Major League Baseball draft", None),
        ("Tsar Nicholas II", "Nicholas II of Russia", 1),
        ("Nicholas I", "Nicholas II of Russia", None),
        ("Mrs May", "Theresa May", 1),
        ("in May", "Theresa May", None),
        ("Washington, D.C.", "George Washington", None),
        ("the Obama administration", "Barack Obama", None),
        ("alec guinnes", "Alec Guinness", 1),
        ("P!nk", "Pink", 1),
        ("Ke$ha", "Kesha", 1),
        ("conan o ' brien", "Conan O'Brien", 1),
        ("The U.S. President", "president", 1),
        ("the Vice President", "president", None),
        ("Disney", "The Walt Disney Company", 1),
        ("BBC World America", "BBC America", None),
    ],
)
def test_people_and_initials(said: str, gold: str, level: int | None) -> None:
    assert RULES.match(said, [[gold]], "Who was it?").level == level


@pytest.mark.parametrize(
    ("said", "gold", "question", "level"),
    [
        ("Hindu", "Hinduism", "What is the religion?", 1),
        ("Most people are Muslims.", "Islam", "What religion are most people?", None),
        ("Muslims", "Islam", "What is the religion?", 1),
        ("Buddhist", "Hinduism", "What is the religion?", None),
        ("Brazilian Portuguese", "Portuguese", "What language is it?", 1),
        ("H 2 O", "H2O", "What is water?", 1),
        ("H 2 O 2", "H2O", "What is water?", None),
        ("children 's book", "children's book", "What is it?", 1),
        ("Arachnephobia", "arachnophobia", "What is it called?", 1),
        ("hypertension", "hypotension", "What is it called?", None),
        ("third cousin once removed descending", "third cousin once removed ascending", None, None),
        ("women's right to vote", "the right to vote at age 18", "What is the amendment?", None),
        ("left ventricle", "the left ventricle of the heart", "Which chamber?", 1),
        ("Alexander Fleming", "Alexander Fleming in 1928", "Who and when?", None),
        ("There are 8 seasons with 73 episodes.", "73", "How many seasons are there?", None),
        ("There are 8 seasons with 73 episodes.", "8", "How many seasons are there?", 1),
        ("The Falcons won 34-28.", "Atlanta Falcons", "Who won the super bowl?", 1),
        ("The Eagles beat the Atlanta Falcons.", "Atlanta Falcons", "Who won the super bowl?", None),
        ("The Eagles beat the Atlanta Falcons.", "Atlanta Falcons", "Who did the Eagles beat?", 1),
        ("Atlanta", "Atlanta Falcons", "Who won the super bowl?", 1),
        ("Aaron", "Aaron Harrison", "Who were the twins that played for Kentucky?", None),
    ],
)
def test_what_is_asked_for(said: str, gold: str, question: str | None, level: int | None) -> None:
    assert RULES.match(said, [[gold]], question).level == level


@pytest.mark.parametrize(
    ("said", "gold", "level"),
    [
        ("November 6", "November 6, 2018", 1),
        ("on the 6th of November", "November 6, 2018", 1),
        ("November 7", "November 6, 2018", None),
        ("November 6 and November 7", "November 6, 2018", None),
        ("2017-2018", "2017–18", 1),
        ("the 2017/18 season", "2017–18", 1),
        ("2018-19", "2017–18", None),
        ("4 years", "every four years", 1),
        ("red blood cells", "erythrocytes (red blood cells)", 1),
        ("The Rock", 'Dwayne "The Rock" Johnson', 1),
        ("a rock", "Dwayne Johnson", None),
        ("Pres. Lincoln", "Abraham Lincoln", 1),
        ("Abraham Lincoln", "President Lincoln", 1),
        ("Abraham Johnson", "President Lincoln", None),
        ("Type II diabetes", "type 2 diabetes", 1),
        ("Florida Atlantic", "Florida Atlantic University", 1),
        ("Sidley Austin LLP", "Sidley Austin", 1),
    ],
)
def test_parts_of_dates_and_names(said: str, gold: str, level: int | None) -> None:
    assert RULES.match(said, [[gold]], "Who or when was it?").level == level


@pytest.mark.parametrize(
    ("said", "gold", "level"),
    [
        ("Jenna Bush", "Jenna Bush Hager", None),
        ("Martin Luther King", "Martin Luther", None),
        ("iTunes Radio Store", "iTunes Store", None),
        ("Old Orchard Beach Pier", "Old Orchard Beach", 1),
        ("Bourne Supremacy", "The Bourne Supremacy II", None),
        ("Peabody Essex", "Peabody Essex Museum", 1),
    ],
)
def test_a_word_more_or_less_in_a_name(said: str, gold: str, level: int | None) -> None:
    assert RULES.match(said, [[gold]]).level == level


def test_a_word_more_or_less_tells_levels_apart() -> None:
    assert RULES.match("Old Orchard Beach Pier", [["Old Orchard Beach"], ["Maine"]]).level is None
