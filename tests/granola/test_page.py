"""The one-file page: whole, self-contained, safe with hostile text, and the same every time."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from abstraction.rows import read_tiered
from granola.matching import matcher
from granola.report.score_page import render
from granola.scoring.predictions import read_predictions
from granola.scoring.scores import score

FILES = Path(__file__).parent / "files"
ROWS = list(read_tiered(FILES / "tiers.jsonl"))
REPORTS = [
    score(ROWS, read_predictions(FILES / f"{name}.jsonl"), matcher("rules"), system=name)
    for name in ("specific", "cautious")
]
PAGE = render(ROWS, REPORTS, {"snapshot_id": "ab12", "counts": {"entities": 1345, "statements": 20}})
VOID = {"meta", "link", "input", "br", "img", "hr"}


class Outline(HTMLParser):
    """The page's elements with their attributes, its texts, and whether every element is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.fixture(scope="module")
def outline() -> Outline:
    found = Outline()
    found.feed(PAGE)
    found.close()
    assert found.open == []
    return found


def test_every_question_ladder_and_prediction_is_there(outline: Outline) -> None:
    text = " ".join("".join(outline.texts).split())
    for row, *items in zip(ROWS, *(report.items for report in REPORTS), strict=True):
        assert " ".join(row.question.split()) in text
        for level in row.levels:
            for tier in level.tiers:
                assert tier.text in text
        for item in items:
            assert item.prediction is not None
            assert item.prediction in text
            assert item.verdict is not None
            assert item.verdict.rule in text
    for report in REPORTS:
        assert str(report.signature) in text
    assert "1,345 entities" in text
    assert "only-trivial-left" in text


def test_evidence_links_lead_to_the_statements(outline: Outline) -> None:
    links = {attrs["href"] for tag, attrs in outline.elements if tag == "a"}
    assert "https://www.wikidata.org/wiki/Q182852#P131" in links
    assert "https://www.wikidata.org/wiki/Q43194" in links
    assert "<mark>Yunnan</mark> province, China" in PAGE  # the span of the description that was used


def test_nothing_is_fetched_from_anywhere(outline: Outline) -> None:
    for tag, attributes in outline.elements:
        assert tag not in {"img", "iframe", "object", "embed", "audio", "video", "base"}
        assert "src" not in attributes
        for name, value in attributes.items():
            if name == "href" and tag == "a":
                assert re.fullmatch(r"https://www\.wikidata\.org/wiki/(Property:)?[QP]\d+(#P\d+)?", value or "")
            elif name == "href":
                assert (value or "").startswith("data:")
    assert not re.search(r"url\(|@import|fetch\(|XMLHttpRequest|import\(", PAGE)
    assert "default-src 'none'" in PAGE


def test_hostile_text_is_shown_as_text(outline: Outline) -> None:
    assert [tag for tag, _ in outline.elements].count("script") == 1
    assert not {"svg", "b onerror", "i"} & {tag for tag, _ in outline.elements}
    for tag, attributes in outline.elements:
        assert not any(name.startswith("on") for name in attributes), (tag, attributes)
        assert "javascript:" not in (attributes.get("href") or "")
    text = "".join(outline.texts)
    assert '<script>alert(1)</script> & "quotes"?' in text
    assert "<img src=x onerror=alert(1)>" in text


def test_it_works_without_scripts(outline: Outline) -> None:
    assert [tag for tag, _ in outline.elements].count("details") >= len(ROWS)
    (filters,) = [attributes for tag, attributes in outline.elements if attributes.get("id") == "filters"]
    assert "hidden" in filters  # the script shows what only the script can serve


def test_differences_are_marked(outline: Outline) -> None:
    marked = [a["data-different"] for tag, a in outline.elements if a.get("class") == "question"]
    assert marked == ["yes", "yes", "yes", "yes", "yes", "yes"]
    same = render(ROWS, REPORTS[:1])
    assert 'data-different="yes"' not in same


def test_a_text_that_looks_like_a_slot_stays_a_text() -> None:
    assert "{{script}}" in render(ROWS, REPORTS, title="{{script}}")


def test_the_same_input_gives_the_same_bytes() -> None:
    assert render(ROWS, REPORTS, {"snapshot_id": "ab12", "counts": {"entities": 1345, "statements": 20}}) == PAGE


def test_reports_on_other_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="is not on these rows"):
        render(ROWS[:-1], REPORTS)
