"""The one-file page: whole, self-contained, safe with hostile text, and the same every time."""

from __future__ import annotations

import re
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from abstraction.files.rows import read_tiered
from granola.matching import matcher
from granola.report.score_page import MOST, render
from granola.scoring.predictions import Prediction, PredictionFile, SystemAnswer, read_predictions
from granola.scoring.scores import ScoreSettings, score

FILES = Path(__file__).parent / "files"
ROWS = list(read_tiered(FILES / "tiers.jsonl"))
REPORTS = [
    score(ROWS, read_predictions(FILES / f"{name}.jsonl"), matcher("rules"), system=name)
    for name in ("specific", "cautious")
]
PAGE = render(ROWS, REPORTS, "ab12")
OPTIONAL = {"li", "td", "th", "tr"}  # their end tags may be left out
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
        while self.open[-1] in OPTIONAL - {tag}:
            self.open.pop()
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
    assert "snapshot ab12" in text
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
                assert re.fullmatch(r"https://www\.wikidata\.org/wiki/(Property:)?[QP]\d+(#P\d+)?|#q\d+", value or "")
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


def test_what_each_system_said_stands_beside_what_was_made_of_it() -> None:
    said = [
        SystemAnswer(system="small", response="<b>Rome", agrees=True),
        SystemAnswer(system="large", response="Oslo", agrees=False),
    ]
    page = render(ROWS, REPORTS, made_of={REPORTS[0].system: {ROWS[0].id: said}})
    assert "<table class=systems><tr><th scope=row>small<td>&lt;b&gt;Rome<td>agrees" in page
    assert page.count("<table class=systems>") == 1


def test_reports_on_other_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="is not on these rows"):
        render(ROWS[:-1], REPORTS)


def test_it_opens_on_a_sentence_a_ladder_and_three_scores(outline: Outline) -> None:
    text = " ".join("".join(outline.texts).split())
    assert f"specific and cautious were asked {len(ROWS)} questions." in text
    assert text.count("Yona") == 1  # the paper has one name, then it is "the paper"
    drawn, rest = PAGE[PAGE.index('<figure class="drawn">') :].split("</figure>", 1)
    assert "Gold answer: <b>" in drawn
    for system in ("specific", "cautious"):
        assert f"<b>{system}</b> said <q>" in drawn
    scores, _ = rest.split('<details class="part"', 1)
    assert re.findall(r"<th scope=col>([^<]+)", scores) == ["metric", "specific", "cautious"]
    assert re.findall(r"<th scope=row><span>([^<]+)", scores)[:3] == [
        "standard accuracy", "GRANOLA accuracy", "informativeness",
    ]  # fmt: skip


def test_explanations_are_text(outline: Outline) -> None:
    assert not any("title" in attributes for tag, attributes in outline.elements)
    text = "".join(outline.texts)
    for metric in REPORTS[0].metrics:
        assert metric.definition.source.replace("Yona et al. 2024", "the paper") in text


def test_every_question_shows_its_gold_answer_before_it_is_opened() -> None:
    summaries = re.findall(r'<details class="question".*?</summary>', PAGE, re.DOTALL)
    assert len(summaries) == len(ROWS)
    for row, summary in zip(ROWS, summaries, strict=True):
        assert f"Gold answer: {escape(row.answers[0])}" in summary


def test_of_many_questions_some_are_shown_and_this_is_told() -> None:
    many = [replace(ROWS[0], id=f"q{index}") for index in range(MOST + 1)]
    said = PredictionFile(name="x", predictions={row.id: Prediction(id=row.id, text="Kunming") for row in many})
    page = render(many, [score(many, said, matcher("rules"), ScoreSettings(resamples=10))])
    assert page.count('<details class="question"') == 151
    assert "151 of the 301 questions, evenly drawn from the file" in page


def test_of_many_questions_the_drawn_ladder_is_one_that_is_shown() -> None:
    """So that its evidence, which is read again for these alone, is there."""
    short = replace(ROWS[0], question="Where?")  # the one that would be drawn if all were shown
    many = [replace(ROWS[0] if index != 1 else short, id=f"q{index}") for index in range(MOST + 1)]
    said = PredictionFile(name="x", predictions={row.id: Prediction(id=row.id, text="Kunming") for row in many})
    page = render(many, [score(many, said, matcher("rules"), ScoreSettings(resamples=10))])
    drawn = page[page.index('<figure class="drawn">') :].partition("</figure>")[0]
    assert "<b>Where?</b>" not in drawn
    assert f"<b>{escape(ROWS[0].question)}</b>" in drawn
    assert "<ul><li>" in drawn


def test_what_turns_the_direction_of_text_is_named() -> None:
    (row,) = [row for row in ROWS if row.id == ROWS[0].id]
    said = {row.id: Prediction(id=row.id, text="Kun\u202egnim\x07")}
    page = render(
        [row],
        [score([row], PredictionFile(name="x\u2066", predictions=said), matcher("rules"), ScoreSettings(resamples=10))],
    )
    assert "Kun[U+202E]gnim\u2407" in page
    assert not re.search("[\u202e\u2066\x07]", page)


def test_questions_take_little_room() -> None:
    """The page of six questions with two systems, without its style, script and tables."""
    questions = PAGE[PAGE.index('<details class="question"') : PAGE.index("</section>")]
    assert len(questions) < len(ROWS) * 1_200
