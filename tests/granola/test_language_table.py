"""What holds in each language: the table of docs/reference/languages.md, filled from the data and the verdicts.

`GRANOLA_WRITE_TABLES=1 python -m pytest tests/granola/test_language_table.py` writes it anew.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from abstraction.text.language.languages import language, languages
from granola.replies import refusals
from tests.granola.test_matching_languages import TABLE, as_expected, expected_answers, verdict

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "languages.md"
BOUNDS = re.compile(r"(?<=<!-- table of languages -->\n).*?(?=<!-- end of table -->)", re.DOTALL)
HEAD = (
    "language", "judged as expected", "centuries", "units named", "denials, joints", "endings", "adjectives",
    "question words", "relations",
)  # fmt: skip


def judged(code: str) -> str:
    if code not in languages():
        rows = [row for row in expected_answers() if row.startswith(f"{code}|")]
        return f"{sum(map(as_expected, rows))} of {len(rows)}" if rows else "not measured"
    alike = 0
    for kind, prediction in TABLE["predictions"]:
        english, own = (verdict(kind, prediction, one) for one in ("en", code))
        alike += (english.level, english.abstained) == (own.level, own.abstained)
    return f"{alike} of {len(TABLE['predictions'])}"


def row(code: str) -> tuple[str, ...]:
    words = language(code)
    counted = (words.units, words.around_names, words.endings, words.demonyms)
    asked = str(sum(map(len, words.asks.values()))), str(len(words.relations))
    of_english = ("all", "rules", "rules", "all", "rules", "rules")
    return (
        f"{words.name} ({code})",
        judged(code) if code != "en" else "all",
        "yes" if words.has_words_for("century") else "no",
        *(of_english if code == "en" else (*map(str, map(len, counted)), *asked)),
    )


def table() -> str:
    others = {code for code in refusals.languages() if code not in languages()}
    rows = [HEAD, tuple("-" * 3 for _ in HEAD), *map(row, (*languages(), *sorted(others)))]
    return "".join(f"|{'|'.join(cells)}|\n" for cells in rows)


def test_the_page_has_the_table() -> None:
    page = PAGE.read_text(encoding="utf-8")
    if os.environ.get("GRANOLA_WRITE_TABLES"):
        page = BOUNDS.sub(lambda _: table(), page)
        PAGE.write_text(page, encoding="utf-8")
    found = BOUNDS.search(page)
    assert found is not None
    assert found[0] == table()
