"""Names in other forms and names of persons; the cases of whole answers stand in files/names.jsonl."""

from __future__ import annotations

import pytest

from granola.matching.similar_names import may_be_same_person, person_of_name


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
    first, second = person_of_name(one), person_of_name(other)
    assert first is not None
    assert second is not None
    assert first.family == second.family
    assert may_be_same_person(first, second) == may_be_same_person(second, first) == same
