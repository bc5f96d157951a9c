"""The bundled sample: its shape, and what it must contain."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

REPO = Path(__file__).resolve().parents[1]
DEMO = REPO / "granola" / "demo"
SCRIPTS = REPO / "scripts"
SHARED = REPO.parent / "shared" / "data"
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


def closure(entities: dict[str, dict[str, Any]], start: str, prop: str) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        current = waiting.pop()
        if current not in seen:
            seen.add(current)
            waiting += targets(entities[current], prop) if current in entities else []
    return seen


def english(entity: dict[str, Any]) -> str:
    return (entity["labels"].get("en") or entity["labels"]["mul"])["value"]


def names(entity: dict[str, Any]) -> set[str]:
    aliases = [a["value"] for code in ("en", "mul") for a in entity["aliases"].get(code, [])]
    return {name.casefold() for name in (english(entity), *aliases)}


def test_one_entity_a_line_between_brackets() -> None:
    lines = (DEMO / "wikidata.json").read_text(encoding="utf-8").splitlines()
    assert (lines[0], lines[-1]) == ("[", "]")
    assert all(line.endswith(",") for line in lines[1:-2])
    assert not lines[-2].endswith(",")
    for line in lines[1:-1]:
        json.loads(line.rstrip(","))


def test_entities_have_the_dumps_form(entities: dict[str, dict[str, Any]]) -> None:
    items = [entity for entity in entities.values() if entity["type"] == "item"]
    assert len(items) >= 450
    identifiers = Counter(s["id"] for entity in entities.values() for s in statements(entity))
    assert max(identifiers.values()) == 1
    for entity in entities.values():
        assert entity["type"] == ("item" if entity["id"][0] == "Q" else "property")
        assert ("datatype" in entity) == (entity["type"] == "property")
        assert ("sitelinks" in entity) == (entity["type"] == "item")
        assert "en" in entity["descriptions"], entity["id"]
        for kind in ("labels", "descriptions"):
            assert all(term["language"] == code for code, term in entity[kind].items())
        for prop, group in entity["claims"].items():
            for statement in group:
                assert statement["type"] == "statement"
                assert statement["rank"] in ("preferred", "normal", "deprecated")
                assert statement["mainsnak"]["property"] == prop
                assert list(statement.get("qualifiers", {})) == statement.get("qualifiers-order", [])
                known = statement["mainsnak"]["snaktype"] == "value"
                assert known == ("datavalue" in statement["mainsnak"])


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


@pytest.mark.parametrize(
    ("start", "reached"),
    [
        ("Q1093829", {"Q515", "Q486972"}),
        ("Q515", {"Q486972", "Q43229"}),
        ("Q484170", {"Q486972", "Q15284"}),
        ("Q3624078", {"Q6256"}),
        ("Q112099", {"Q3624078"}),
        ("Q3024240", {"Q6256", "Q19953632"}),
        ("Q5741069", {"Q215380", "Q2088357", "Q43229"}),
        ("Q875538", {"Q3918", "Q38723", "Q2385804"}),
        ("Q786820", {"Q4830453", "Q6881511"}),
        ("Q208569", {"Q482994", "Q17537576"}),
        ("Q8261", {"Q7725634", "Q17537576"}),
        ("Q28640", {"Q12737077"}),
        ("Q11365", {"Q11366", "Q11399", "Q373342"}),
        ("Q7737", {"Q144713", "Q23526", "Q19860"}),
        ("Q622747", {"Q1781513"}),
        ("Q38104", {"Q7191", "Q618779"}),
    ],
)
def test_classes_reach_their_anchors(entities: dict[str, dict[str, Any]], start: str, reached: set[str]) -> None:
    assert reached <= closure(entities, start, "P279")


def test_states_are_countries_and_home_nations_are_no_states(entities: dict[str, dict[str, Any]]) -> None:
    states = [e for e in entities.values() if "Q3624078" in targets(e, "P31")]
    assert len(states) >= 30
    assert all("Q6256" in targets(state, "P31") for state in states)
    for nation in ("Q21", "Q22", "Q25", "Q26"):
        assert targets(entities[nation], "P31")[0] == "Q3336843"
        assert targets(entities[nation], "P131") == ["Q145"]
    assert "Q6256" not in targets(entities["Q26"], "P31")


def test_places_lead_to_a_state_on_every_continent(entities: dict[str, dict[str, Any]]) -> None:
    states = {q for q, e in entities.items() if "Q3624078" in targets(e, "P31")}
    continents = {q for q, e in entities.items() if "Q5107" in targets(e, "P31") or q == "Q538"}
    depth: dict[str, int] = defaultdict(int)
    for qid, entity in entities.items():
        if targets(entity, "P131") and qid not in states:
            above = closure(entities, qid, "P131")
            assert above & states, f"{qid} {english(entity)} leads to no state"
            for state in above & states:
                for continent in set(targets(entities[state], "P30")) & continents:
                    depth[continent] = max(depth[continent], len(above) - 2)
    assert len(depth) >= 6
    assert sum(levels >= 2 for levels in depth.values()) >= 5, depth


def test_homonyms(entities: dict[str, dict[str, Any]]) -> None:
    bearers: dict[str, set[str]] = defaultdict(set)
    for qid, entity in entities.items():
        if qid[0] == "Q":
            for name in names(entity):
                bearers[name].add(qid)
    shared = {name for name, qids in bearers.items() if len(qids) > 1}
    assert len(shared) >= 40
    labels = Counter(english(e) for e in entities.values() if e["type"] == "item")
    assert sum(count > 1 for count in labels.values()) >= 20
    for name in ("georgia", "cambridge", "victoria", "salem", "columbia", "springfield", "michael jordan", "queen"):
        assert name in shared


def test_ranks_qualifiers_and_unknown_values(entities: dict[str, dict[str, Any]]) -> None:
    every = [s for entity in entities.values() for s in statements(entity)]
    ranks = Counter(statement["rank"] for statement in every)
    assert ranks["preferred"] >= 15
    assert ranks["deprecated"] >= 3
    assert sum("P582" in s.get("qualifiers", {}) for s in every) >= 50
    assert {s["mainsnak"]["snaktype"] for s in every} == {"value", "somevalue", "novalue"}
    # Bonn was Prussian: no end is stated, only Prussia's own.
    prussia = [s for s in statements(entities["Q586"], "P17") if value(s["mainsnak"])["id"] == "Q27306"]
    assert "qualifiers" not in prussia[0]
    assert statements(entities["Q27306"], "P576")


def test_times_keep_precision_calendar_and_sign(entities: dict[str, dict[str, Any]]) -> None:
    times = [value(s["mainsnak"]) for e in entities.values() for s in statements(e)]
    times = [time for time in times if isinstance(time, dict) and "precision" in time and "time" in time]
    assert {7, 8, 9, 10, 11} <= {time["precision"] for time in times}
    assert {time["calendarmodel"][-8:] for time in times} == {"Q1985727", "Q1985786"}
    caesar = value(statements(entities["Q1048"], "P569")[0]["mainsnak"])
    assert caesar["time"] == "-0100-07-12T00:00:00Z"
    everest = value(statements(entities["Q513"], "P2044")[0]["mainsnak"])
    assert (everest["amount"], everest["lowerBound"], everest["upperBound"]) == ("+8848.86", "+8848.65", "+8849.07")


def test_some_labels_are_given_in_mul_alone(entities: dict[str, dict[str, Any]]) -> None:
    alone = [e for e in entities.values() if set(e["labels"]) == {"mul"}]
    assert len(alone) >= 3
    assert sum(len(entity["labels"]) > 1 for entity in entities.values()) >= 20


def test_demonyms(entities: dict[str, dict[str, Any]]) -> None:
    def english_demonyms(qid: str) -> list[str]:
        values = (value(s["mainsnak"]) for s in statements(entities[qid], "P1549"))
        return [found["text"] for found in values if found["language"] == "en"]

    assert "American" in english_demonyms("Q30")
    assert english_demonyms("Q35") == ["Dane", "Danes", "Danish"]


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


def test_some_answers_are_homonyms_without_a_qid(
    entities: dict[str, dict[str, Any]], questions: list[dict[str, Any]]
) -> None:
    bearers = Counter(name for e in entities.values() if e["type"] == "item" for name in names(e))
    open_questions = [row for row in questions if "answer_qid" not in row]
    assert sum(bearers[row["answer"][0].casefold()] > 1 for row in open_questions) >= 8
    # At least one name that no entity bears.
    assert any(bearers[row["answer"][0].casefold()] == 0 for row in open_questions if row["relation"] == "P50")


@pytest.mark.parametrize("system", SYSTEMS)
def test_predictions_answer_every_question(system: str, questions: list[dict[str, Any]]) -> None:
    predictions = rows(f"predictions-{system}.jsonl")
    assert [row["id"] for row in predictions] == [row["id"] for row in questions]
    assert all(set(row) == {"id", "prediction"} and row["prediction"].strip() for row in predictions)


def test_only_the_cautious_system_abstains() -> None:
    def abstains(text: str) -> bool:
        return text.casefold().rstrip(".") in ("idk", "i don't know", "i am not sure", "i'm not sure")

    counts = {s: sum(abstains(r["prediction"]) for r in rows(f"predictions-{s}.jsonl")) for s in SYSTEMS}
    assert counts["specific"] == 0
    assert 5 <= counts["cautious"] <= 20


@pytest.mark.skipif(not (SHARED / "wikidata" / "entities.json.gz").exists(), reason="../shared/data is not there")
def test_real_data_contradicts_no_name() -> None:
    result = subprocess.run(
        [sys.executable, SCRIPTS / "check_demo.py", SHARED], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "confirmed by label or alias" in result.stdout
