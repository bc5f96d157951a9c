"""The bundled sample: its shape, and that its questions ask for what it states."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

REPO = Path(__file__).resolve().parents[1]
DEMO = REPO / "granola" / "demo"
SYSTEMS = ("specific", "cautious")
# Targets of these must be in the sample, or ladders and phrases break off.
CLOSED = ("P17", "P27", "P30", "P31", "P106", "P131", "P279")


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DEMO / name).read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def entities() -> dict[str, dict[str, Any]]:
    found = json.loads((DEMO / "wikidata.json").read_text(encoding="utf-8"))
    assert len({entity["id"] for entity in found}) == len(found)
    return {entity["id"]: entity for entity in found}


@pytest.fixture(scope="module")
def questions() -> list[dict[str, Any]]:
    return rows("questions.jsonl")


def statements(entity: dict[str, Any], prop: str | None = None) -> list[dict[str, Any]]:
    groups = entity["claims"].items()
    return [statement for name, group in groups if prop in (None, name) for statement in group]


def value(snak: dict[str, Any]) -> Any:
    return snak.get("datavalue", {}).get("value")


def targets(entity: dict[str, Any], prop: str) -> list[str]:
    values = (value(statement["mainsnak"]) for statement in statements(entity, prop))
    return [found["id"] for found in values if isinstance(found, dict) and "id" in found]


def english(entity: dict[str, Any]) -> str:
    return (entity["labels"].get("en") or entity["labels"]["mul"])["value"]


def names(entity: dict[str, Any]) -> set[str]:
    aliases = [a["value"] for code in ("en", "mul") for a in entity["aliases"].get(code, [])]
    return {name.casefold() for name in (english(entity), *aliases)}


def test_every_property_used_is_described(entities: dict[str, dict[str, Any]]) -> None:
    used = {prop for entity in entities.values() for prop in entity["claims"]}
    used |= {q for e in entities.values() for s in statements(e) for q in s.get("qualifiers", {})}
    assert used <= entities.keys()


def test_few_targets_are_missing(entities: dict[str, dict[str, Any]]) -> None:
    total, missing = 0, []
    for entity in entities.values():
        for prop in entity["claims"]:
            for target in targets(entity, prop):
                total += 1
                if target not in entities:
                    missing.append((entity["id"], prop, target))
    # A few spouses and children are left out on purpose: every real selection has such ends.
    assert 0 < len(missing) <= 0.05 * total
    assert not [broken for broken in missing if broken[1] in CLOSED]


def test_questions(entities: dict[str, dict[str, Any]], questions: list[dict[str, Any]]) -> None:
    assert len(questions) >= 90
    assert questions[0]["schema_version"] == 1
    assert len({row["id"] for row in questions}) == len(questions)
    assert len({row["question"] for row in questions}) == len(questions)
    relations = {row["relation"] for row in questions}
    assert len(relations) >= 16
    assert {"P569", "P570", "P571", "P577", "P1082", "P2044", "P2048"} <= relations
    assert 0.5 < sum("question_entity" in row for row in questions) / len(questions) < 0.8
    assert 0.35 < sum("answer_qid" in row for row in questions) / len(questions) < 0.65
    for row in questions:
        assert row["answer"]
        subject = row.get("question_entity")
        if subject:
            assert subject["text"].casefold() in names(entities[subject["qid"]]), row["id"]
        qids = row.get("answer_qid", [])
        qids = [qids] if isinstance(qids, str) else qids
        if qids:
            assert len(qids) == len(row["answer"])
        for qid, text in zip(qids, row["answer"], strict=False):
            assert text.casefold() in names(entities[qid]), row["id"]


def test_answers_are_what_the_sample_states(
    entities: dict[str, dict[str, Any]], questions: list[dict[str, Any]]
) -> None:
    checked = 0
    for row in questions:
        subject = row.get("question_entity")
        if not subject or row["relation"] in ("P569", "P570", "P571", "P577", "P1082", "P2044", "P2048"):
            continue
        stated: set[str] = set()
        for target in targets(entities[subject["qid"]], row["relation"]):
            stated |= names(entities[target])
        assert {text.casefold() for text in row["answer"]} <= stated, row["id"]
        checked += 1
    assert checked >= 50


@pytest.mark.parametrize("system", SYSTEMS)
def test_predictions_answer_every_question(system: str, questions: list[dict[str, Any]]) -> None:
    predictions = rows(f"predictions-{system}.jsonl")
    assert [row["id"] for row in predictions] == [row["id"] for row in questions]
    assert all(set(row) == {"id", "prediction"} and row["prediction"].strip() for row in predictions)
