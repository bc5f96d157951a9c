"""The page without a browser: what it holds, that all text is text, that it asks for nothing from elsewhere."""

from __future__ import annotations

import html
import json
import re
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import requests

from abstraction.base.tiers import Evidence
from abstraction.linking.linker import link_settings
from granola.report.ladder_view import EvidenceRow, evidence_rows, readable_date
from granola.service.ladder_page import _WORDS, answerable_examples
from tests.granola.service.conftest import OBAMA, Running, serving, session_of

HOSTILE = "</textarea><script>alert(1)</script><img src=x onerror=alert(1)> \x07\x1b[31m‮ \" ' {{7*7}} &amp;"
FIELDS = ("question", "answer", "relation", "answer_qid", "subject", "subject_qid", "language", "predictions")


class _Elements(HTMLParser):
    """Tags with their attributes, and what the form's fields hold, by name."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.held: dict[str, str] = {}
        self._area: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append((tag, given))
        if (name := given.get("name")) and tag in ("input", "textarea"):
            self.held[name] = given.get("value") or ""
            self._area = name if tag == "textarea" else None

    def handle_data(self, data: str) -> None:
        if self._area:
            self.held[self._area] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea" and self._area:
            self.held[self._area] = self.held[self._area].removeprefix("\n")
            self._area = None


def page(service: Running, **query: str) -> requests.Response:
    return requests.get(f"{service.address}/?{urlencode(query)}", timeout=10)


def levels(text: str) -> int:
    found = re.search(r"<ol class=levels>(.*?)</ol>", text, re.S)
    return found[1].count("<li><div>") if found else 0


def test_without_a_question_there_are_a_form_and_examples_of_all_sorts(service: Running) -> None:
    got = page(service)
    assert got.status_code == 200
    assert set(_Elements(got.text).held) == set(FIELDS)
    with closing(session_of(service.snapshot)) as session:
        found = answerable_examples(session)
    assert len({one.language for one in found}) >= 4
    links = [html.unescape(link) for link in re.findall(r'href="(\./\?[^"]+)"', got.text)]
    assert links == [one.page_address() for one in found]
    for one in found:
        asked = {"question": one.question, "answer": one.answer, "language": one.language}
        assert levels(page(service, **asked).text) >= 3


def test_the_ladder_stands_there_as_the_interface_gives_it(service: Running) -> None:
    ladder = requests.post(f"{service.address}/v1/ladder", json=OBAMA, timeout=10).json()
    text = page(service, **OBAMA).text
    places = [text.index(f"<li><div><b>{html.escape(level['tiers'][0]['text'])}</b>") for level in ladder["levels"]]
    assert places == sorted(places)
    widths = [float(one) for one in re.findall(r'<rect width="([\d.]+)%" height="100%"/>', text)]
    assert widths[0] == 100
    assert widths == sorted(widths, reverse=True)
    for level in ladder["levels"][1:]:
        step = level["tiers"][0]["evidence"][0]
        assert f"href=https://www.wikidata.org/wiki/{step['subject']}#{step['statement']}" in text
    (whole,) = re.findall(r"<textarea id=\"json\"[^>]*>\n(.*?)</textarea>", text, re.S)
    assert json.loads(html.unescape(whole)) == ladder


def test_predictions_stand_there_with_level_and_rule(service: Running) -> None:
    text = page(service, **OBAMA, predictions="Honolulu\n\nHawaii\nKenya\nI don't know").text
    assert re.findall(r'<span class="chip [^"]*">([^<]*)</span>', text) == ["level 1", "level 3", "wrong", "idk"]
    assert "<code>no-match</code>" in text


def test_how_the_question_was_read_is_named_and_linked(service: Running) -> None:
    text = page(service, **OBAMA).text
    said = re.sub(r"<[^>]+>", "", html.unescape(text))
    assert "Read as asking for place of birth P19 of Barack Obama Q76." in said
    assert re.search(r"taken as Honolulu Q18094 \(.+\), with high confidence: nothing else carries the name\.", said)
    for link in ("Property:P19", "Q76", "Q18094"):
        assert f'href="https://www.wikidata.org/wiki/{link}"' in text


def test_rivals_are_chosen_by_a_click(service: Running) -> None:
    asked = {"question": "Where was he born?", "answer": "Portland", "predictions": "Oregon"}
    links = re.findall(r'href="(\./\?[^"]*answer_qid=[^"]*)"', page(service, **asked).text)
    assert links
    for link in links:
        query = {name: values[0] for name, values in parse_qs(urlsplit(html.unescape(link)).query).items()}
        assert query.items() >= asked.items()
        assert "given by its id" in page(service, **query).text


@pytest.mark.parametrize(
    ("question", "answer", "told"),
    [
        (OBAMA["question"], "Xyzzyville", r"no-link.*No entity of the snapshot.*has [\d,]{5,} entities"),
        ("Is Honolulu in Hawaii?", "yes", "Ask for what the yes is about"),
        ("Which lap did he win?", "17", "Say in the question what the number counts"),
    ],
)
def test_an_abstention_says_why_and_what_to_do(service: Running, question: str, answer: str, told: str) -> None:
    text = html.unescape(page(service, question=question, answer=answer).text)
    assert re.search(told, text, re.S | re.I)


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        ({"question": "Who?"}, 422, "give a question and its answer"),
        ({**OBAMA, "relation": "born"}, 422, "no property id"),
        ({**OBAMA, "answer_qid": "Honolulu"}, 422, "no item id"),
        ({**OBAMA, "language": "!"}, 422, "a language's code"),
        ({**OBAMA, "language": "zz"}, 422, "the snapshot has no names in it"),
        ({**OBAMA, "predictions": "x\n" * 101}, 413, "granola score"),
    ],
)
def test_errors_are_told_on_the_page_and_the_form_is_kept(
    service: Running, query: dict[str, str], status: int, said: str
) -> None:
    got = page(service, **query)
    assert got.status_code == status
    assert said in html.unescape(got.text)
    assert 'role="alert"' in got.text
    assert html.escape(query["question"]) in got.text


@pytest.mark.parametrize("field", ["question", "answer", "predictions", "subject"])
def test_what_is_sent_again_is_what_was_sent(service: Running, field: str) -> None:
    marked = "\u200fאיפה נולד Barack Obama\u200e؟ \u202bab\u202c \u2067x\u2069"
    asked = {**OBAMA, field: marked}
    held = _Elements(page(service, **asked).text).held
    assert {key: value for key, value in held.items() if value} == {**asked, "language": "en"}


def test_control_characters_become_signs_once(service: Running) -> None:
    once = _Elements(page(service, question="Where\x07 was\x00 he\x9b?", answer="Honolulu\x1b").text).held
    assert (once["question"], once["answer"]) == ("Where␇ was␀ he[U+009B]?", "Honolulu␛")
    assert _Elements(page(service, question=once["question"], answer=once["answer"]).text).held == once


@pytest.mark.parametrize("field", FIELDS)
def test_hostile_text_is_text(service: Running, field: str) -> None:
    got = page(service, **{**OBAMA, field: HOSTILE})
    tags = _Elements(got.text).tags
    assert sum(tag == "script" for tag, _ in tags) == 1
    assert not any(tag == "img" or any(name.startswith("on") for name in attrs) for tag, attrs in tags)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f‪-‮]", got.text)
    assert "{{7*7}}" in got.text


def test_nothing_is_asked_of_anybody_else_and_the_policy_is_strict(service: Running) -> None:
    got = page(service, **OBAMA)
    policy = got.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for tag, attrs in _Elements(got.text).tags:
        assert "style" not in attrs
        loaded = attrs.get("src") or (attrs.get("href") if tag == "link" else None)
        if loaded and not loaded.startswith("data:"):
            assert not re.match(r"(https?:)?//", loaded)
            file = requests.get(f"{service.address}/{loaded}", timeout=10)
            assert file.status_code == 200
            assert "://" not in file.text


def test_where_the_interface_is_described(service: Running) -> None:
    assert 'href="docs"' in page(service).text
    got = requests.get(f"{service.address}/docs", timeout=10)
    assert got.status_code == 200
    assert "<script" not in got.text
    for address in re.findall(r'(?:src|href)="([^"]+)"', got.text):
        if not address.startswith("data:"):  # beside this page, so that it holds behind a path, too
            assert requests.get(f"{service.address}/{address.removeprefix('./')}", timeout=10).status_code == 200


def test_the_ladders_of_a_dataset_are_a_page_of_their_own(service: Running, tmp_path: Path) -> None:
    row = requests.post(f"{service.address}/v1/ladder", json=OBAMA, timeout=10).json()
    (tmp_path / "tiers.jsonl").write_text("".join(json.dumps({**row, "id": one}) + "\n" for one in ("a<b>", "c")))
    assert "dataset" not in page(service).text
    with serving(service.snapshot, "--dataset", str(tmp_path / "tiers.jsonl")) as browsed:
        assert 'href="dataset"' in page(browsed).text
        got = requests.get(f"{browsed.address}/dataset", timeout=10)
    assert got.status_code == 200
    tags = _Elements(got.text).tags
    assert [given["id"] for tag, given in tags if tag == "details" and given.get("class") == "question"] == ["q1", "q2"]
    controls = {given.get("id") for tag, given in tags if tag in ("select", "input")}
    assert controls >= {"relation", "field", "order", "text"}
    assert "a<b>" not in got.text
    policy = got.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'sha256-" in policy
    assert "frame-ancestors 'none'" in policy


# Names that complete themselves, and evidence as the page draws it.


@pytest.mark.parametrize(("typed", "found"), [("Honol", "Q18094"), ("hONOLULU", "Q18094"), ("Barack Ob", "Q76")])
def test_names_are_completed(service: Running, typed: str, found: str) -> None:
    query = {"name": typed, "begins": "true", "limit": "8"}
    got = requests.get(f"{service.address}/v1/search", params=query, timeout=10).json()
    assert found in [one["id"] for one in got["found"]]
    assert len({one["id"] for one in got["found"]}) == len(got["found"]) <= 8
    assert all(one["text"].casefold().startswith(typed.casefold()) for one in got["found"])
    whole = requests.get(f"{service.address}/v1/search", params={"name": typed}, timeout=10).json()
    assert [one["id"] for one in whole["found"]] == ([found] if typed == "hONOLULU" else [])


GUID = "Q18094$2FE5A1B0-0000-4000-8000-00000000ABCD"
NAMES = {"Q18094": "Honolulu", "Q782": "Hawaii", "Q30": "United States", "P131": "located in", "P17": "country"}


def stated(subject: str, prop: str, value: str, statement: str = "") -> Evidence:
    return Evidence(kind="statement", subject=subject, property=prop, value=value, statement=statement, labels=NAMES)


def read(row: EvidenceRow) -> str:
    return " ".join(part.text + part.marked + part.after for part in row)


def test_steps_that_lead_on_are_one_row() -> None:
    (row,) = evidence_rows([stated("Q18094", "P131", "Q782"), stated("Q782", "P17", "Q30")])
    assert read(row) == "Honolulu located in Hawaii country United States"
    assert [part.kind for part in row] == ["entity", "relation", "entity", "relation", "entity"]
    for statement, anchor in ((GUID, GUID), ("Q18094$P131-0", "P131"), ('Q1"><script>', "P131"), ("", "P131")):
        (row,) = evidence_rows([stated("Q18094", "P131", "Q782", statement)])
        assert row[1].href == f"https://www.wikidata.org/wiki/Q18094#{anchor}"


def test_what_is_no_entity_stands_there_as_it_is() -> None:
    date, rule, model = evidence_rows(
        [stated("Q76", "P569", "1961-08-04"), Evidence(kind="rule", text="1961 is in the 1960s"),
         Evidence(kind="model", call="c", check="entailed: so it is")]
    )  # fmt: skip
    assert (date[2].kind, date[2].text, date[2].href) == ("value", "4 August 1961", None)
    assert read(rule) == "1961 is in the 1960s"
    assert "entailed: so it is" in read(model)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("1961-08-04", "4 August 1961"),
        ("1961-08", "August 1961"),
        ("0476", "476"),
        ("-0044-03-15", "15 March 44 BCE"),
        ("-13000", "13000 BCE"),
        ("1961-13-04", "1961-13-04"),
        ("330 Q11573", "330 Q11573"),
        ("", ""),
    ],
)
def test_dates_are_as_people_write_them(text: str, shown: str) -> None:
    assert readable_date(text) == shown


def test_every_rule_of_linking_has_its_words() -> None:
    assert set(_WORDS["linked"]) >= set(link_settings()["rules"])
