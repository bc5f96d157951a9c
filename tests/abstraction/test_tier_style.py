"""The style of tiers, as far as a machine can check it, on every tier of all relations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from abstraction.base.relations import relations_by_id
from abstraction.base.tiers import Tier
from abstraction.files.rows import QARow, TieredRow, read_questions
from abstraction.maker.pipeline import LadderMaker
from kg.building import snapshot
from kg.store import open_store
from tests.conftest import DATA
from tests.thorough import thorough_only

DEMO = Path(__file__).resolve().parents[2] / "granola" / "demo"
QUESTIONS = DATA / "entityquestions" / "test"
A_RELATION = 150  # questions of each file that are read

_OPEN_END = re.compile(r"\b(?:an?|the|of|in|and|or|for|to|with|from|by|at|who|former|first)\Z", re.I)
_WEAK = re.compile(
    r"an? (?:host|member|head|fan|native|son|daughter|part|type|kind|form|name|one|other|citizen|figure|holder)"
)
_DESCRIBES = re.compile(r"(?:District|Canton|Isle|Commonwealth|Duchy) of ")
_VOWEL = re.compile(
    r"(?!(?:eu|one\b|once|ubi|ufo|u[bcfkrst][aeiu]|uni(?!n|m)))[aeiou]|(?:hour|hono|heir)|8|1[18]\b|18\d\d", re.I
)
_CONTAINED = re.compile(r"[a-z]+ (?:in|from|of) [A-Z]")
_LETTERS_AN = re.compile(r"[AEFHILMNORSX](?:[A-Z0-9&.-]|\Z)")
_LETTERS_A = re.compile(r"[BCDGJKPQTUVWYZ](?:[A-Z0-9&.-]|\Z)")


def faults(tier: Tier) -> Iterator[str]:
    """What the style sheet forbids of a tier's text."""
    text = tier.text
    if text != " ".join(text.split()):
        yield "blanks"
    if re.search(r"\b([\w-]+) \1\b", text, re.I):
        yield "a word twice"
    if _OPEN_END.search(text) or _WEAK.fullmatch(text):
        yield "needs more behind it"
    if text.count("(") != text.count(")") or re.search(r"\([^)]*\d{3}", text):
        yield "brackets"
    if re.search(
        r"\b(?:in|of|from) (?:United (?:States|Kingdom)|Netherlands|Philippines|Czech Republic|Bahamas)\b", text
    ):
        yield "no article inside"
    if tier.qid is not None and _DESCRIBES.match(text):
        yield "no article before a name that describes"
    article, _, rest = text.partition(" ")
    if article in ("a", "an"):
        begins = rest.split(" ")[0]
        vowel = not _LETTERS_A.match(begins) and bool(_LETTERS_AN.match(begins) or _VOWEL.match(begins))
        if vowel != (article == "an"):
            yield "article"
        if re.fullmatch(r"(?:(?!Roman)\w+an|Israeli|Greek|Czech) person", rest):
            yield "a noun would do"
    elif article != "the" and (text.endswith(" language") or (tier.qid is None and _CONTAINED.match(text))):
        yield "no article"


def told(rows: Iterable[TieredRow]) -> tuple[list[str], set[str], int]:
    """The faults found, the relations that have tiers, and how many tiers."""
    found, relations, count = [], set(), 0
    for row in rows:
        for level in row.levels[1:]:
            for tier in level.tiers:
                relations.add(row.relation or "")
                count += 1
                found += [f"{row.relation} {fault}: {tier.text!r}" for fault in faults(tier)]
    return found, relations, count


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a American", "article"), ("an university", "article"), ("an R&B singer", None), ("a hour", "article"),
        ("an American person", "a noun would do"), ("a French person", None), ("a host", "needs more behind it"),
        ("a film film", "a word twice"), ("a city in United States", "no article inside"), ("a European country", None),
        ("a member of", "needs more behind it"), ("Germanic language", "no article"), ("city in Gabon", "no article"),
    ],
)  # fmt: skip
def test_the_check_finds_what_it_should(text: str, fault: str | None) -> None:
    assert list(faults(Tier(text=text))) == ([fault] if fault else [])


def test_tiers_of_the_demo_are_worded_by_the_style_sheet(tmp_path: Path) -> None:
    snapshot.build([DEMO / "wikidata.json"], tmp_path / "demo.sqlite")
    maker = LadderMaker(open_store(str(tmp_path / "demo.sqlite")))
    found, relations, count = told(map(maker.make, read_questions([DEMO / "questions.jsonl"])))
    assert found == []
    assert len(relations) >= 24
    assert count > 300


@thorough_only
@pytest.mark.skipif(not QUESTIONS.is_dir(), reason="EntityQuestions is not in ../shared/data")
def test_tiers_of_all_relations_of_entityquestions_are_worded_by_the_style_sheet(sample_snapshot: Path) -> None:
    maker = LadderMaker(open_store(str(sample_snapshot)))
    rows: list[QARow] = []
    for file in sorted(QUESTIONS.glob("*.json")):
        rows += list(read_questions([file]))[:A_RELATION]
    found, relations, count = told(maker.make_all(rows))
    assert found == []
    assert len(relations) == 24
    assert relations <= set(relations_by_id())
    assert count > 4_000
