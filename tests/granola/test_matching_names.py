"""Names in other forms and names of persons; the cases of whole answers stand in files/names.jsonl."""

from __future__ import annotations

import pytest

from granola.matching import matcher
from granola.matching.naming.person_names import compatible, whole_person
from granola.matching.naming.references import introduced


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Bill Clinton", "William Jefferson Clinton", True),
        ("J. K. Rowling", "Joanne Rowling", True),
        ("W. E. B. Du Bois", "William Edward Burghardt Du Bois", True),
        ("Ludwig van Beethoven", "Ludwig Beethoven", True),
        ("Samuel L. Jackson", "Samuel Jackson", True),
        ("Bob Dylan", "Robert Dylan", True),
        ("Dave Smith", "Davy Smith", True),
        ("George W. Bush", "George H. W. Bush", False),
        ("Martin Luther King Jr.", "Martin Luther King Sr.", False),
        ("Henry Ford II", "Henry Ford", False),
        ("Michael Jackson", "Janet Jackson", False),
        ("John Q. Adams", "John Adams", True),  # one middle name may be missing
    ],
)
def test_names_of_one_person(one: str, other: str, same: bool) -> None:
    first, second = whole_person(one), whole_person(other)
    assert first is not None
    assert second is not None
    assert first.family == second.family
    assert compatible(first, second) == compatible(second, first) == same


@pytest.mark.parametrize(
    ("said", "tier", "stated"),
    [
        ("UN", "United Nations", True),
        ("the U.N.", "United Nations", True),
        ("It was the EU that decided", "European Union", True),
        ("It was UN that decided", "United Nations", False),
        ("the US", "Union Station", False),  # a country's own
        ("LA", "Lord Ashburton", False),  # a state's own
    ],
)
def test_two_letters_stand_for_two_words_alone_or_with_an_article(said: str, tier: str, stated: bool) -> None:
    assert (matcher("rules").match(said, [[tier]]).level == 1) is stated


@pytest.mark.parametrize(
    ("said", "gold"),
    [
        ("People's Republic of China", "China"),
        ("the Islamic Republic of Iran", "Iran"),
        ("Iran", "Islamic Republic of Iran"),
        ("Federal Republic of Germany", "Germany"),
        ("It was Rudyard Kipling.", "English author Rudyard Kipling"),
        ("John F. Kennedy", "U.S. President John F. Kennedy"),
        ("It is sung by The Outfield.", "English rock band the Outfield"),
        ("It shared it with Great Britain.", "British"),
        ("The name is of English origin.", "England"),
        ("Zoroastrianism", "the Zoroastrian religion"),
        ("Gerald Ford was the only one of them to become an Eagle Scout.", "Ford"),
    ],
)
def test_other_names_of_one_thing(said: str, gold: str) -> None:
    assert matcher("rules").match(said, [[gold]]).level == 1


def test_a_name_behind_what_its_bearer_is_states_its_level_beside_coarser_ones() -> None:
    levels = [["English author Rudyard Kipling"], ["an English short-story writer"], ["a writer"]]
    assert matcher("rules").match("It was written by Rudyard Kipling in 1894.", levels).level == 1
    assert introduced("the Battle of Britain") == introduced("Lake Victoria") == introduced("rock music") == ""


def test_the_official_name_of_a_state_states_its_level_beside_a_finer_one() -> None:
    levels = [["Munich"], ["Bavaria"], ["Germany"]]
    assert matcher("rules").match("Federal Republic of Germany", levels).level == 3
