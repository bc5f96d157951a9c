"""Verdicts on tiers that come as texts: one row for each thing that can be wrong with them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from abstraction.base.tiers import Level, Tier
from abstraction.files.rows import TieredRow, read_tiered
from abstraction.verifying.tier_verdicts import Judge, NameRelation, compare_names
from abstraction.verifying.verdicts import NOTHING_NEW, RowVerdict
from kg.store import open_store
from tests.conftest import DATA
from tests.tables import read_table
from tests.worlds import entity, store_of

WORLD = (
    entity("Q30", "United States", aliases=["USA"], P31="Q3624078", P30="Q49"),
    entity("Q145", "United Kingdom", P31="Q3624078", P1549=["British"]),
    entity("Q49", "North America", P31="Q5107"),
    entity("Q771", "Massachusetts", "state of the United States", P31="Q35657", P131="Q30"),
    entity("Q1204", "Illinois", "state of the United States", P31="Q35657", P131="Q30"),
    entity("Q541", "Hampden County", "county in Massachusetts", P31="Q47168", P131="Q771"),
    entity("Q109", "Sangamon County", "county in Illinois", P31="Q47168", P131="Q1204"),
    entity("Q491", "Springfield", "city in Massachusetts", aliases=["Springfield, Mass."], P31="Q515", P131="Q541"),
    entity("Q285", "Springfield", "city in Illinois", P31="Q515", P131="Q109"),
    entity("Q777", "Sixteen Acres", "neighbourhood of Springfield", P31="Q515", P131="Q491"),
    entity("Q12", "Ann Works", "company in Springfield", P31="Q4830453", P159="Q491"),
    entity("Q483501", "artist"),
    entity("Q1281618", "sculptor", P279="Q483501"),
    entity("Q36834", "composer"),
    entity("Q77", "Edwina Lee", "British sculptor and composer", aliases=["Edwina Rose Lee"], P31="Q5", P27="Q145",
           P106=["Q1281618", "Q36834"]),
    entity("Q78", "Tom Lee", "British composer", P31="Q5", P27="Q145"),
    entity("Q80", "The Pair", "rock band", P31="Q215380", P527="Q78"),
    entity("Q215380", "musical group"),
)  # fmt: skip


def judged(answer: str, qid: str | None, tiers: list[str], relation: str, question: str) -> RowVerdict:
    levels = (Level(tiers=(Tier(text=answer, qid=qid),)), *(Level(tiers=(Tier(text=t),)) for t in tiers))
    tiered = TieredRow(id="r", question=question, answers=(answer,), levels=levels, relation=relation)
    return Judge(store_of(*WORLD)).judge(tiered)


def place(*tiers: str) -> list[str]:
    found = judged("Springfield", "Q491", list(tiers), "P159", "Where is the headquarter of Ann Works?")
    return [str(tier.verdict) for tier in found.tiers]


def person(*tiers: str) -> list[str]:
    found = judged("Edwina Lee", "Q77", list(tiers), "P26", "Who is Piers Dixon married to?")
    return [str(tier.verdict) for tier in found.tiers]


@pytest.mark.parametrize(("tiers", "last"), read_table("verdicts_on_places"))
def test_places(tiers: list[str], last: str) -> None:
    assert place(*tiers)[-1] == last


@pytest.mark.parametrize(("tiers", "last"), read_table("verdicts_on_persons"))
def test_persons(tiers: list[str], last: str) -> None:
    assert person(*tiers)[-1] == last


def test_a_member_is_beside_the_group() -> None:
    found = judged("The Pair", "Q80", ["Tom Lee"], "P175", "Who performed Song?")
    assert [str(tier.verdict) for tier in found.tiers] == ["sibling"]


def test_the_chain_of_a_namesake_is_told_with_its_owner() -> None:
    question = "Where is the headquarter of Ann Works?"
    found = judged("Springfield", None, ["Sangamon County", "Illinois", "United States"], "P159", question)
    assert found.answer == "Q491"
    assert found.namesake == "Q285"


SCHOOLS_AND_LABELS = (
    *WORLD,
    entity("Q90", "Harvard University", "private university in Cambridge, Massachusetts", P31="Q3918", P131="Q771"),
    entity("Q91", "University of Leeds", "university in England", P31="Q3918", P17="Q145"),
    entity("Q92", "Blue Note", "record label", P31="Q18127", P127="Q93"),
    entity("Q93", "Big Records", "record label", P31="Q18127", P127="Q95"),
    entity("Q94", "Other Records", "record label", P31="Q18127", P127="Q96"),
    entity("Q95", "Huge Group", "company", P31="Q4830453"),
    entity("Q96", "Vast Group", "company", P31="Q4830453"),
    entity("Q18127", "record label"),
    entity("Q4830453", "business"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "relation", "tiers", "verdicts"),
    [
        ("Q90", "P69", ["University of Leeds"], ["contradicted"]),
        ("Q90", "P69", ["University of Leeds", "Ruritanian Academy"], ["contradicted"] * 2),
        ("Q90", "P69", ["Ivy League"], ["unknown"]),
        ("Q92", "P264", ["Big Records", "Huge Group"], ["entailed", "entailed"]),
        ("Q92", "P264", ["Big Records", "Other Records"], ["entailed", "contradicted"]),
        ("Q92", "P264", ["Nobody Knows Records", "Huge Group"], ["unknown", "entailed"]),
        ("Q80", "P175", ["Edwina Lee", "Someone Else"], ["sibling", "contradicted"]),
        ("Q92", "P264", ["Blue Note, Kensington, United Kingdom"], ["alias"]),
    ],
)
def test_names_of_others_stand_beside(answer: str, relation: str, tiers: list[str], verdicts: list[str]) -> None:
    label = {one.id: one.labels["en"] for one in SCHOOLS_AND_LABELS}[answer]
    levels = (Level(tiers=(Tier(text=label, qid=answer),)), *(Level(tiers=(Tier(text=t),)) for t in tiers))
    asked = TieredRow(id="r", question="What was it?", answers=(label,), levels=levels, relation=relation)
    found = Judge(store_of(*SCHOOLS_AND_LABELS)).judge(asked)
    assert [str(tier.verdict) for tier in found.tiers] == verdicts
    assert found.tiers[0].is_sibling_of_answer == (answer == "Q80")


@pytest.mark.parametrize(
    ("description", "tiers", "last"),
    [
        ("British comedian, actor and producer", ["a British comedian", "a British actor"], "sibling"),
        ("British comedian", ["a British comedian", "a British actor"], "entailed"),
        ("British comedian and actor", ["a British comedian and actor", "a British actor"], "entailed"),
    ],
)
def test_what_a_description_lists_stands_side_by_side(description: str, tiers: list[str], last: str) -> None:
    store = store_of(
        entity("Q145", "United Kingdom", P31="Q3624078", P1549=["British"]),
        entity("Q33999", "actor"),
        entity("Q245068", "comedian", P279="Q33999"),
        entity("Q77", "Edwina Lee", description, P31="Q5", P27="Q145", P106=["Q245068", "Q33999"]),
    )
    levels = (Level(tiers=(Tier(text="Edwina Lee", qid="Q77"),)), *(Level(tiers=(Tier(text=t),)) for t in tiers))
    asked = TieredRow(id="r", question="Who was it?", answers=("Edwina Lee",), levels=levels, relation="P26")
    assert str(Judge(store).judge(asked).tiers[-1].verdict) == last


def test_where_nobody_is_meant_for_sure_nothing_is_called_wrong() -> None:
    found = judged("Springfield", None, ["Illinois"], "P159", "Where is the headquarter of Some Firm?")
    assert [str(tier.verdict) for tier in found.tiers] in (["unknown"], ["entailed"])


@pytest.mark.parametrize(
    ("answer", "tiers", "verdicts"),
    [
        ("7 September 1630", ["September 1630", "the 1630s", "the 17th century"], ["entailed"] * 3),
        ("7 September 1630", ["the 1630s", "1630"], ["entailed", "finer_than_previous"]),
        ("7 September 1630", ["the 18th century"], ["contradicted"]),
        ("7 September 1630", ["in the reign of Charles I"], ["unknown"]),
    ],
)
def test_dates(answer: str, tiers: list[str], verdicts: list[str]) -> None:
    found = judged(answer, None, tiers, "P569", "When was it?")
    assert [str(tier.verdict) for tier in found.tiers] == verdicts


@pytest.mark.parametrize(
    ("text", "names", "is_person", "expected"),
    [
        ("Nora Barnacle Joyce", ["Nora Barnacle"], True, NameRelation.ALIAS),
        ("Wilson", ["Edward O. Wilson"], True, NameRelation.ALIAS),
        ("William Gibson Jr.", ["William Gibson"], True, NameRelation.INVENTED),
        ("a Gibson", ["William Gibson"], True, NameRelation.NONE),
        ("Virgin Group Ltd.", ["Virgin Group"], False, NameRelation.ALIAS),
        ("Virgin Group Cinemas", ["Virgin Group"], False, NameRelation.NONE),
        ("Adel Tawil feat. Azad", ["Adel Tawil"], True, NameRelation.MORE),
        ("Margaret of Burgundy", ["Margaret of Flanders"], True, NameRelation.OTHER),
    ],
)
def test_names(text: str, names: list[str], is_person: bool, expected: NameRelation) -> None:
    assert compare_names(text, names, person=is_person) is expected


@pytest.mark.skipif(not (DATA / "granola_eq").is_dir(), reason="../shared/data is not here")
def test_hand_labels_are_found(sample_snapshot: Path) -> None:
    """Against labels by hand of other people's tiers: what is called wrong or no tier mostly is."""
    path = DATA / "granola_eq" / "rows_dev.jsonl"
    labels = [json.loads(line)["reference_labels"] for line in path.read_text(encoding="utf-8").splitlines()]
    same = {"wrong": "contradicted", "good": "entailed"}
    hits, told, due = Counter[str](), Counter[str](), Counter[str]()
    judge = Judge(open_store(str(sample_snapshot)))
    for own, tiered in zip(labels, read_tiered(path), strict=True):
        for label, tier in zip(own, judge.judge(tiered).tiers, strict=True):
            wanted = same.get(label, label)
            due[wanted] += 1
            # The labels say what is true, whether or not the question tells it.
            verdict = "entailed" if tier.why == NOTHING_NEW else str(tier.verdict)
            told[verdict] += 1
            hits[wanted] += wanted == verdict
    assert hits["entailed"] / told["entailed"] > 0.94
    assert hits["entailed"] / due["entailed"] > 0.75
    assert min(hits["alias"] / told["alias"], hits["alias"] / due["alias"]) > 0.85
    assert hits["sibling"] / told["sibling"] > 0.9
    assert hits["contradicted"] / told["contradicted"] > 0.75


def test_what_the_question_tells_is_uninformative() -> None:
    found = judged("Springfield", "Q491", ["Hampden County", "Massachusetts", "United States"], "P159",
                   "Where is the headquarter of Massachusetts Works?")  # fmt: skip
    assert [str(tier.verdict) for tier in found.tiers] == ["entailed", "uninformative", "uninformative"]
    assert [str(tier.why) for tier in found.tiers][1:] == [NOTHING_NEW, NOTHING_NEW]


def test_one_of_several_places_does_not_hold_the_answer() -> None:
    world = (
        *WORLD,
        entity("Q542", "Hampshire County", "county in Massachusetts", P31="Q47168", P131="Q771"),
        entity("Q900", "Twofold", P31="Q515", P131=["Q541", "Q542"]),
    )
    levels = tuple(Level(tiers=(Tier(text=text),)) for text in ("Twofold", "Hampden County", "Massachusetts"))
    tiered = TieredRow(id="r", question="Where was Ann born?", answers=("Twofold",), levels=levels, relation="P19")
    assert [str(t.verdict) for t in Judge(store_of(*world)).judge(tiered).tiers] == ["sibling", "entailed"]


def test_what_holds_a_capital_is_none() -> None:
    found = judged("Springfield", "Q491", ["United States"], "P36", "What is the capital of Ashland?")
    assert [str(tier.verdict) for tier in found.tiers] == ["contradicted"]
