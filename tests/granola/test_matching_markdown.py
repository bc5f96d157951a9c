"""Markdown changes no verdict: emphasis anywhere, code, headings, and bullets where a text begins with one."""

from __future__ import annotations

import pytest

from granola.replies.plain_text import spaced


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("*Hamlet* by William Shakespeare", "Hamlet by William Shakespeare"),
        ("_Hamlet_ by William Shakespeare", "Hamlet by William Shakespeare"),
        ("`Hamlet` by William Shakespeare", "Hamlet by William Shakespeare"),
        ("It is *Hamlet*.", "It is Hamlet."),
        ("It is _The Tempest_, or `Hamlet`", "It is The Tempest, or Hamlet"),
        ("(*Hamlet*)", "(Hamlet)"),
        ("**Hamlet** by Shakespeare", "Hamlet by Shakespeare"),
        ("***Hamlet***", "Hamlet"),
        ("*Hamlet*", "Hamlet"),
        ("*Hamlet* and *Macbeth*", "Hamlet and Macbeth"),
        ("**Answer:** *Hamlet*", "Answer: Hamlet"),
        ("- Hamlet", "Hamlet"),
        ("* Hamlet", "Hamlet"),
        ("• *Hamlet*", "Hamlet"),
        ("> Hamlet", "Hamlet"),
        ("## Hamlet", "Hamlet"),
        ('"Hamlet"', "Hamlet"),
        ('- "Hamlet"', "Hamlet"),
        # no bullets, no emphasis
        ('"Hamlet" - a play', '"Hamlet" - a play'),
        ("*Paris - the city* of light", "Paris - the city of light"),
        ("M*A*S*H", "M*A*S*H"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("5*3*2", "5*3*2"),
        ("snake_case_name", "snake_case_name"),
        ("Paris* and Lyon*", "Paris* and Lyon*"),
        ("Hawai`i and O`ahu", "Hawai`i and O`ahu"),
        ("*Hamlet", "*Hamlet"),
        ("- 5 degrees", "- 5 degrees"),
        ("* *", "* *"),
        ("**", "**"),
    ],
)
def test_marks_are_read_as_marks(written: str, read: str) -> None:
    assert spaced(written) == read
