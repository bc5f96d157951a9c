"""Markdown changes no verdict: emphasis anywhere, code, headings, and bullets where a text begins with one."""

from __future__ import annotations

import pytest

from granola.replies.plain_text import without_markup
from tests.tables import read_table


@pytest.mark.parametrize(("written", "read"), read_table("markdown"))
def test_marks_are_read_as_marks(written: str, read: str) -> None:
    assert without_markup(written) == read
