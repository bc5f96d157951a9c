"""The page without a browser: what it holds, that all text is text, that it asks for nothing from elsewhere."""

from __future__ import annotations

import csv
import html
import json
import re
from html.parser import HTMLParser
from urllib.parse import urlencode

import pytest
import requests

from tests.granola.service.conftest import Running

OBAMA = {"question": "Where was Barack Obama born?", "answer": "Honolulu"}
HOSTILE = "</textarea><script>alert(1)</script><img src=x onerror=alert(1)> \x07\x1b[31m‮ \" ' {{7*7}} &amp;"
FIELDS = ("question", "answer", "relation", "answer_qid", "subject", "subject_qid", "language", "predictions")


class _Elements(HTMLParser):
    """Tags with their attributes, and every address."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


class _Fields(HTMLParser):
    """What the form's fields hold, by name."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.held: dict[str, str] = {}
        self._area: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name = given.get("name")
        if tag == "input" and name:
            self.held[name] = given.get("value") or ""
        self._area = name if tag == "textarea" else self._area
        if tag == "textarea" and name:
            self.held[name] = ""

    def handle_data(self, data: str) -> None:
        if self._area:
            self.held[self._area] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea" and self._area:
            self.held[self._area] = self.held[self._area].removeprefix("\n")
            self._area = None


def values(got: requests.Response) -> dict[str, str]:
    return _Fields(got.text).held


def page(service: Running, **query: str) -> requests.Response:
    return requests.get(f"{service.address}/?{urlencode(query)}", timeout=10)


def test_without_a_question_there_is_a_form_and_examples(service: Running) -> None:
    got = page(service)
    assert got.status_code == 200
    tags = _Elements(got.text).tags
    assert {attrs.get("name") for tag, attrs in tags if tag in ("input", "textarea")} == set(FIELDS)
    links = [html.unescape(link) for link in re.findall(r'href="(\./\?[^"]+)"', got.text)]
    assert len(links) >= 4
    for link in links:
        answer = requests.get(service.address + link.removeprefix("."), timeout=10)
        assert answer.status_code == 200
        assert answer.text.count('class="rung') >= 3


def test_the_ladder_stands_there_as_the_interface_gives_it(service: Running) -> None:
    ladder = requests.post(f"{service.address}/v1/ladder", json=OBAMA, timeout=10).json()
    text = page(service, **OBAMA).text
    places = [text.index(f">{html.escape(level['tiers'][0]['text'])}</bdi>") for level in ladder["levels"]]
    assert places == sorted(places)
    widths = [float(one) for one in re.findall(r'<rect width="([\d.]+)%" height="100%"/>', text)]
    assert widths[0] == 100
    assert widths == sorted(widths, reverse=True)
    for level in ladder["levels"][1:]:
        step = level["tiers"][0]["evidence"][0]
        assert f'href="https://www.wikidata.org/wiki/{step["subject"]}#{step["statement"]}"' in text
    whole, line, columns = (
        html.unescape(one) for one in re.findall(r"<textarea readonly[^>]*>\n(.*?)</textarea>", text, re.S)
    )
    assert json.loads(whole) == json.loads(line) == ladder
    head, row = csv.reader(columns.splitlines())
    assert dict(zip(head, row, strict=True))["granola_answer_1"] == "Honolulu"


def test_predictions_stand_at_their_levels_with_rules_and_scores(service: Running) -> None:
    text = page(service, **OBAMA, predictions="Honolulu\n\nHawaii\nKenya\nI don't know").text
    assert re.findall(r'<span class="chip [^"]*">([^<]*)</span>', text)[-4:] == ["level 1", "level 3", "wrong", "idk"]
    assert "<code>no-match</code> no level is stated" in text
    assert re.search(r"GRANOLA accuracy<small>[^<]+</small></th><td[^>]*>0.500", text)
    assert re.search(r"matcher:rules\|replies:cut\|v:\w{8}\|lambda:0.5\|tiers:\w{8}\|snapshot:\w{8}\|n:4", text)


def test_how_the_question_was_read_is_named_and_linked(service: Running) -> None:
    text = page(service, **OBAMA).text
    said = re.sub(r"<[^>]+>", "", html.unescape(text))
    assert "Read as asking for place of birth P19 of Barack Obama Q76." in said
    told = "The answer is taken as Honolulu Q18094 (city in the United States: state capital and largest"
    assert f"{told} city of Hawaii, United States), with high confidence: nothing else carries the name." in said
    for link in ("Property:P19", "Q76", "Q18094"):
        assert f'href="https://www.wikidata.org/wiki/{link}"' in text


def test_values_that_are_not_of_today_stand_there_with_why(service: Running) -> None:
    text = page(service, question="Which country is Istanbul located in?", answer="Turkey").text
    (past,) = re.findall(r'<ul class="past">(.*?)</ul>', text, re.S)
    said = [" ".join(re.sub(r"<[^>]+>", " ", one).split()) for one in past.split("</li>")[:-1]]
    assert said == [
        "Istanbul country Roman Empire from 196, until 395",
        "Istanbul country Byzantine Empire from 395, until 29 May 1453",
        "Istanbul country Ottoman Empire from 29 May 1453, until 1 November 1922",
    ]
    assert len(set(re.findall(r'href="https://www.wikidata.org/wiki/Q406#(Q406\$[0-9A-F-]{36})"', past, re.I))) == 3
    assert (
        "<details" not in text[text.index('id="past"') : text.index('<ul class="past">')]
    )  # in sight, not behind a fold


def test_names_are_parted_by_what_no_name_holds(service: Running) -> None:
    ladder = requests.post(f"{service.address}/v1/ladder", json=OBAMA, timeout=10).json()
    names = re.findall(r"<li><bdi>([^<]*)</bdi></li>", page(service, **OBAMA).text)
    aliases = [name for level in ladder["levels"] for tier in level["tiers"] for name in tier["aliases"][:8]]
    assert [html.unescape(name) for name in names] == aliases
    assert any("," in name for name in aliases)


def test_without_predictions_some_to_try_are_one_click_away(service: Running) -> None:
    (link,) = re.findall(r'href="([^"]+)#predictions"', page(service, **OBAMA).text)
    tried = requests.get(f"{service.address}/{html.unescape(link)}", timeout=10).text
    assert re.findall(r'<span class="chip [^"]*">([^<]*)</span>', tried) == ["level 4", "level 1", "idk"]


def test_a_form_sent_without_scripts_ends_at_a_short_address(service: Running) -> None:
    sent = {**dict.fromkeys(FIELDS, ""), **OBAMA, "language": "en"}
    got = requests.get(service.address, params=sent, timeout=10)
    assert [one.status_code for one in got.history] == [303]
    assert got.url == f"{service.address}/?{urlencode(OBAMA)}"
    assert "://" not in got.history[0].headers["Location"]  # it holds behind a path, too


@pytest.mark.parametrize(("given", "read"), [("EN", "en"), ("de_DE", "de-de"), ("pt-BR", "pt-br")])
def test_languages_are_read_as_people_write_them(service: Running, given: str, read: str) -> None:
    got = page(service, **OBAMA, language=given)
    assert got.status_code == 200
    assert values(got)["language"] == read


MARKED = "\u200fאיפה נולד Barack Obama\u200e؟ \u202bab\u202c \u2067x\u2069"


@pytest.mark.parametrize("field", ["question", "answer", "predictions", "subject"])
def test_what_is_sent_again_is_what_was_sent(service: Running, field: str) -> None:
    asked = {**OBAMA, field: MARKED}
    assert {key: value for key, value in values(page(service, **asked)).items() if value} == {**asked, "language": "en"}


def test_control_characters_become_signs_once(service: Running) -> None:
    once = values(page(service, question="Where\x07 was\x00 he\x9b?", answer="Honolulu\x1b"))
    assert (once["question"], once["answer"]) == ("Where␇ was␀ he[U+009B]?", "Honolulu␛")
    assert values(page(service, question=once["question"], answer=once["answer"])) == once


def test_an_abstention_says_why(service: Running) -> None:
    text = page(service, question=OBAMA["question"], answer="Xyzzyville").text
    assert "no-link" in text
    assert "No entity of the snapshot carries" in text


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        ({"question": "Who?"}, 422, "give a question and its answer"),
        ({**OBAMA, "relation": "born"}, 422, "no property id"),
        ({**OBAMA, "answer_qid": "Honolulu"}, 422, "no item id"),
        ({**OBAMA, "language": "!"}, 422, "language"),
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


def test_a_browser_is_told_in_words_and_a_program_in_json(service: Running) -> None:
    browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    got = requests.get(f"{service.address}/nothing", headers=browser, timeout=10)
    assert got.status_code == 404
    assert got.headers["Content-Type"].startswith("text/html")
    assert "<p>No such path;" in got.text
    for path, headers in (("/nothing", {}), ("/v1/nothing", browser), ("/v1/entity/Q999999999", browser)):
        got = requests.get(service.address + path, headers=headers, timeout=10)
        assert got.headers["Content-Type"] == "application/problem+json"
    strange = requests.get(service.address, headers={**browser, "Host": "<b>elsewhere</b>"}, timeout=10)
    assert strange.status_code in (400, 421)
    assert strange.headers["Content-Type"].startswith("text/html")
    assert "<b>" not in strange.text


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
        if loaded:
            assert not re.match(r"(https?:)?//", loaded)
            if not loaded.startswith("data:"):
                file = requests.get(f"{service.address}/{loaded}", timeout=10)
                assert file.status_code == 200
                assert "://" not in file.text.replace("http://www.w3.org", "")
                again = requests.get(
                    f"{service.address}/{loaded}", headers={"If-None-Match": file.headers["ETag"]}, timeout=10
                )
                assert again.status_code == 304
