"""Evidence as the page draws it, and what it says of codes."""

from __future__ import annotations

import pytest

from abstraction.linking.link_settings import link_settings
from abstraction.reasons import REASONS
from abstraction.tiers import Abstention, Evidence
from granola.pages.evidence_rows import EvidenceRow, past, rows
from granola.scoring.metrics import metrics
from granola.service.page.page_words import LINKED, SCORES, rule_words
from kg.walks.ranks import SetAside

GUID = "Q18094$2FE5A1B0-0000-4000-8000-00000000ABCD"
NAMES = {"Q18094": "Honolulu", "Q782": "Hawaii", "Q30": "United States", "P131": "located in", "P17": "country"}


def stated(subject: str, prop: str, value: str, statement: str = "") -> Evidence:
    return Evidence(kind="statement", subject=subject, property=prop, value=value, statement=statement, labels=NAMES)


def described(subject: str, text: str, words: str) -> Evidence:
    start = text.index(words)
    return Evidence(
        kind="description", subject=subject, text=text, span=(start, start + len(words)), language="en", labels=NAMES
    )


def read(row: EvidenceRow) -> str:
    return " ".join(part.text + part.marked + part.after for part in row.parts)


def test_steps_that_lead_on_are_one_row() -> None:
    (row,) = rows([stated("Q18094", "P131", "Q782"), stated("Q782", "P17", "Q30")])
    assert read(row) == "Honolulu located in Hawaii country United States"
    assert [part.kind for part in row.parts] == ["entity", "relation", "entity", "relation", "entity"]


def test_a_relation_leads_to_its_statement_where_it_has_an_id() -> None:
    for statement, anchor in ((GUID, GUID), ("Q18094$P131-0", "P131"), ('Q1"><script>', "P131"), ("", "P131")):
        (row,) = rows([stated("Q18094", "P131", "Q782", statement)])
        assert row.parts[1].href == f"https://www.wikidata.org/wiki/Q18094#{anchor}"


def test_each_way_begins_anew() -> None:
    found = rows(
        [
            stated("Q1", "P131", "Q2"), described("Q2", "county in Ohio, United States", "Ohio"),
            Evidence(kind="description", subject="Q3", text="state of the United States", labels={"Q3": "Ohio"}),
            stated("Q5", "P131", "Q6"), stated("Q1", "P17", "Q30"),
        ]
    )  # fmt: skip
    assert [(row.start, row.anew) for row in found] == [("Q1", False), ("Q3", False), ("Q5", True), ("Q1", False)]


def test_what_is_no_entity_stands_there_as_it_is() -> None:
    date, rule, model = rows(
        [stated("Q76", "P569", "1961-08-04"), Evidence(kind="rule", text="1961 is in the 1960s"),
         Evidence(kind="model", call="c", check="entailed: so it is")]
    )  # fmt: skip
    assert (date.parts[2].kind, date.parts[2].text, date.parts[2].href) == ("value", "4 August 1961", None)
    assert read(rule) == "1961 is in the 1960s"
    assert "entailed: so it is" in read(model)


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"because": "ended", "start": "1898", "end": "1959"}, "from 1898, until 1959"),
        ({"because": "ended"}, "has ended"),
        ({"because": "ended", "start": "-0027", "end": "0395-01-17"}, "from 27 BCE, until 17 January 395"),
        ({"because": "not-preferred"}, "WikiData prefers another value"),
        ({"because": "deprecated", "end": "1959"}, "marked as wrong (deprecated), until 1959"),
        ({"because": "historical"}, "exists no more"),
    ],
)
def test_a_value_that_does_not_hold_today_says_why(told: dict[str, str], why: str) -> None:
    one = {"id": GUID, "subject": "Q18094", "property": "P131", "entity": "Q782", "kind": "value", "names": NAMES}
    row, said = past({**one, **told})
    assert read(row) == "Honolulu located in Hawaii"
    assert row.parts[1].href == f"https://www.wikidata.org/wiki/Q18094#{GUID}"
    assert said == why


@pytest.mark.parametrize("kind", ["somevalue", "novalue"])
def test_a_value_that_is_none_says_so(kind: str) -> None:
    one = {"id": "x", "subject": "Q1", "property": "P131", "kind": kind, "names": {}, "because": "no-value"}
    assert past(one)[0].parts[2].text in ("unknown", "none")


def test_every_code_has_its_words() -> None:
    for rule in ("exact", "span", "no-match", "negated", "abstain:idk", "date:finer-than-gold", "amount:other-unit"):
        assert rule_words(rule), rule
    assert rule_words("a rule of tomorrow") == ""
    assert set(REASONS) == set(Abstention)
    assert set(LINKED) >= set(link_settings().rules)
    assert set(SCORES) <= {metric.name for metric in metrics()}
    assert {"selective_accuracy", "selective_standard_accuracy"} < set(SCORES)  # where predictions decline
    for why in SetAside:
        assert past({"id": "", "subject": "Q1", "property": "P1", "kind": "novalue", "names": {}, "because": why})[1]
