"""What the page does for newcomers: an example, completed names, choices, advice, where the interface is described."""

from __future__ import annotations

import html
import re
from contextlib import closing
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import requests

from granola.pages.evidence_rows import readable_date
from granola.service.page.example_questions import KINDS, examples
from kg.snapshot import build
from tests.granola.service.conftest import DEMO, OBAMA, Running, serving, session_of


def page(service: Running, **query: str) -> str:
    return requests.get(f"{service.address}/?{urlencode(query)}", timeout=10).text


def chosen(text: str) -> list[dict[str, list[str]]]:
    """The queries of links that ask again with another entity."""
    links = [html.unescape(link) for link in re.findall(r'href="(\./\?[^"]*answer_qid=[^"]*)"', text)]
    return [parse_qs(urlsplit(link).query) for link in links]


def test_it_opens_on_the_ladder_of_an_example(service: Running) -> None:
    text = page(service)
    assert text.index("An example.") < text.index('<ol class="ladder rungs">')
    assert text.count('<span class="rung') >= 3
    assert "Take it along" not in text
    (link,) = re.findall(r'An example. <a href="([^"]+)"', text)
    assert "predictions=" in link
    assert 'value=""' in re.findall(r'<input name="question"[^>]*>', text)[0]  # the form is empty


def test_examples_are_of_every_kind_and_of_other_languages(service: Running) -> None:
    with closing(session_of(service.snapshot)) as session:
        found = examples(session)
    assert [one.kind for one in found if one.language == "en"] == list(KINDS)
    assert len({one.language for one in found}) >= 4
    for one in found:
        text = page(service, question=one.question, answer=one.answer, language=one.language)
        assert text.count('<span class="rung') >= 3


@pytest.mark.parametrize(("typed", "found"), [("Honol", "Q18094"), ("hONOLULU", "Q18094"), ("Barack Ob", "Q76")])
def test_names_are_completed(service: Running, typed: str, found: str) -> None:
    query = {"name": typed, "begins": "true", "limit": "8"}
    got = requests.get(f"{service.address}/v1/search", params=query, timeout=10).json()
    assert found in [one["id"] for one in got["found"]]
    assert len({one["id"] for one in got["found"]}) == len(got["found"]) <= 8
    assert all(one["text"].casefold().startswith(typed.casefold()) for one in got["found"])
    whole = requests.get(f"{service.address}/v1/search", params={"name": typed}, timeout=10).json()
    assert [one["id"] for one in whole["found"]] == ([found] if typed == "hONOLULU" else [])


@pytest.mark.parametrize("typed", ["", "%", "_", "zzzzqqq", "\x00", "a" * 400])
def test_what_completes_nothing_is_no_error(service: Running, typed: str) -> None:
    query = {"name": typed, "begins": "true"}
    got = requests.get(f"{service.address}/v1/search", params=query, timeout=10)
    assert got.status_code == (422 if typed == "" else 200)
    assert typed == "" or got.json()["found"] == []


def test_rivals_are_chosen_by_a_click(service: Running) -> None:
    asked = {"question": "Where was he born?", "answer": "Portland", "predictions": "Oregon"}
    links = chosen(page(service, **asked))
    assert len({one["answer_qid"][0] for one in links}) >= 2
    for one in links:
        assert {key: one[key][0] for key in asked} == asked
        taken = page(service, **{key: values[0] for key, values in one.items()})
        assert "given by its id" in taken


def test_a_name_that_nothing_carries_tells_how_much_the_snapshot_has(service: Running) -> None:
    text = page(service, question=OBAMA["question"], answer="Honululu")
    assert re.search(r"The snapshot has [\d,]{5,} entities", text)


def test_exchanged_question_and_answer_are_told(service: Running) -> None:
    text = page(service, question="Honolulu", answer=OBAMA["question"])
    assert "look exchanged" in text
    (link,) = re.findall(r'<a href="([^"]+)">Exchange them', text)
    assert parse_qs(urlsplit(html.unescape(link)).query) == {key: [value] for key, value in OBAMA.items()}
    for question, answer in (OBAMA.values(), ("Who wrote it?", "Where the Wild Things Are"), ("x", "y")):
        assert "look exchanged" not in page(service, question=question, answer=answer)


@pytest.mark.parametrize(
    ("question", "answer", "advice"),
    [
        ("Is Honolulu in Hawaii?", "yes", "Ask for what the yes is about"),
        ("Which lap did he win?", "17", "Say in the question what the number counts"),
    ],
)
def test_what_to_do_about_an_answer_without_a_ladder(service: Running, question: str, answer: str, advice: str) -> None:
    assert advice in html.unescape(page(service, question=question, answer=answer))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("1961-08-04", "4 August 1961"),
        ("1961-08", "August 1961"),
        ("1961", "1961"),
        ("0476", "476"),
        ("0476-09-04", "4 September 476"),
        ("-0044-03-15", "15 March 44 BCE"),
        ("-13000", "13000 BCE"),
        ("1961-13-04", "1961-13-04"),
        ("330 Q11573", "330 Q11573"),
        ("-40", "-40"),
        ("unknown", "unknown"),
        ("", ""),
    ],
)
def test_dates_are_as_people_write_them(text: str, shown: str) -> None:
    assert readable_date(text) == shown


def test_guesses_at_one_question_have_no_intervals(service: Running) -> None:
    text = page(service, **OBAMA, predictions="Honolulu\nHawaii")
    (table,) = re.findall(r'<table class="scores">(.*?)</table>', text, re.S)
    assert re.findall(r'<th scope="col">(\w+)</th>', table) == ["score", "mean", "of"]
    assert "–" not in re.sub("<small>.*?</small>", "", table)


def test_where_the_interface_is_described(service: Running) -> None:
    assert 'href="docs"' in page(service)
    got = requests.get(f"{service.address}/docs", timeout=10)
    assert got.status_code == 200
    assert "<script" not in got.text
    assert "docs/service.md" in got.text
    for address in re.findall(r'(?:src|href)="([^"]+)"', got.text):
        if not address.startswith("data:"):  # beside this page, so that it holds behind a path, too
            assert requests.get(f"{service.address}/{address.removeprefix('./')}", timeout=10).status_code == 200


def test_a_snapshot_without_the_bundled_questions_has_the_form_alone(tmp_path: Path) -> None:
    build([DEMO / "wikidata.json"], tmp_path / "small.sqlite", limit=5)
    with serving(tmp_path / "small.sqlite") as small:
        got = requests.get(small.address, timeout=10)
    assert got.status_code == 200
    assert '<form id="ask"' in got.text
    assert "Examples:" not in got.text
    assert "An example." not in got.text
