"""Sources with values that no honest one writes: what cannot be read is rejected and counted, and the build goes on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import every_kind
import hostile
import orjson
import pytest
import sparql_server as srv
import wikidata_api as api
from dump_json import entity_json, lines

from kg.base.model import Entity
from kg.base.scope import Scope
from kg.building.other_sources import build_from_api, build_from_rdf, build_from_sparql
from kg.building.snapshot import Report, build
from kg.export.comparison import verify
from kg.store import open_store

pytestmark = pytest.mark.thorough("kg")

MODEL = hostile.model_entity("Q1000")
PLACES = list(hostile.places(MODEL))
STATEMENTS = sum(map(len, MODEL["claims"].values()))
LONGEST = 100_000


def rejected(report: Report) -> list[dict[str, Any]]:
    if report.rejects_path is None:
        return []
    found = [orjson.loads(line) for line in report.rejects_path.read_bytes().splitlines()]
    assert len(found) == sum(report.rejects.values())
    assert all(len(text) <= 300 for one in found for text in one.values() if isinstance(text, str)), found
    return found


def built(folder: Path, data: bytes) -> tuple[dict[str, Entity], list[dict[str, Any]]]:
    (folder / "world.json").write_bytes(data)
    report = build([folder / "world.json"], folder / "out", force=True)
    assert verify(folder / "out").problems == ()
    return every_kind.entities_of(folder / "out"), rejected(report)


def check_json(folder: Path, changes: Iterable[tuple[tuple[Any, ...], Any]]) -> None:
    """Each change in an entity of its own: of every statement it is known what became of it."""
    texts = [lines(*every_kind.WORLD.values())[2:-3]]
    changed: dict[str, tuple[Any, ...]] = {}
    for number, (at, put) in enumerate(changes, 5000):
        name = f"Q{number}"
        data = hostile.changed(hostile.model_entity(name), at, put)
        if data["id"] == name:
            changed[name] = at
        texts.append(json.dumps(data).encode())
    found, rejects = built(folder, b"[\n" + b",\n".join(texts) + b"\n]\n")
    for name, entity in every_kind.WORLD.items():
        assert found[name] == every_kind.unordered(entity)
    told: dict[str, int] = {}
    whole = {one["entity"] for one in rejects if "entity" in one and one["reason"] in ("unknown-kind", "lexeme")}
    for one in rejects:
        told[one.get("entity", "")] = told.get(one.get("entity", ""), 0) + 1
    for name, at in changed.items():
        if name in whole:
            assert at == ("type",)
            continue
        assert name in found, at
        if (
            at[0] != "claims" or len(at) > 3
        ):  # else whole groups of statements are gone, or stand where they mean others
            lost = STATEMENTS - len(found[name].statements)
            assert lost in (0, 1) if len(at) > 3 else lost == 0, at
            assert lost <= told.get(name, 0), at


def test_every_place_of_an_entity_takes_hostile_values(tmp_path: Path) -> None:
    values = [value for value in hostile.JSON if not (isinstance(value, str) and len(value) > LONGEST)]
    check_json(tmp_path, [(at, values[(7 * n + 5 * k) % len(values)]) for n, at in enumerate(PLACES) for k in range(9)])


@pytest.mark.parametrize(
    ("kind", "value", "reason"),
    [
        ("globecoordinate", '{"latitude":361,"longitude":0}', "bad-coordinate"),
        ("globecoordinate", f'{{"globe":{"[" * 300}{"]" * 300}}}', "bad-statement"),
        ("quantity", '{"amount":"1E+1000000000"}', "bad-quantity"),
        ("time", '{"time":"+100000000000000000000-01-01","precision":9,"calendarmodel":"Q1985727"}', "bad-time"),
        ("time", '{"time":"+2001-01-01T00:00:00Z","precision":"²"}', "bad-statement"),
        ("wikibase-entityid", f'{{"id":"Q{hostile.MANY}"}}', "bad-entity-id"),
        ("wikibase-entityid", '{"id":"Q1٣"}', "bad-entity-id"),
        ("monolingualtext", f'{{"text":"x","language":"{"x" * 10_000}"}}', "bad-text"),
    ],
)
def test_a_hostile_value_costs_its_statement_alone(tmp_path: Path, kind: str, value: str, reason: str) -> None:
    text = (
        '{"type":"item","id":"Q7","labels":{"en":{"language":"en","value":"seven"}},"claims":{"P5":['
        '{"id":"Q7$a","rank":"normal","mainsnak":{"snaktype":"value","property":"P5","datavalue":'
        f'{{"type":"{kind}","value":{value}}}}}}},'
        '{"id":"Q7$b","rank":"normal","mainsnak":{"snaktype":"somevalue","property":"P5"}}]},"sitelinks":[]}'
    )
    found, rejects = built(tmp_path, text.encode())
    assert [one.id for one in found["Q7"].statements] == ["Q7$b"]
    assert [(one["reason"], one["entity"], one["statement"]) for one in rejects] == [(reason, "Q7", "Q7$a")]


def test_names_that_are_too_long_are_rejected(tmp_path: Path) -> None:
    long = "x" * 10_000
    data = entity_json(every_kind.ALL_KINDS)
    data["claims"]["P9"][0]["id"] = long
    data["claims"][f"P{hostile.MANY}"] = data["claims"].pop("P1")
    data["labels"][long] = {"language": long, "value": "x"}
    data["aliases"]["en"][0]["language"] = long
    data["sitelinks"] = "²"
    found, rejects = built(tmp_path, orjson.dumps(data))
    assert sorted(one["reason"] for one in rejects) == [
        "bad-id",
        "bad-property",
        "bad-sitelinks",
        "bad-term",
        "bad-term",
    ]
    assert len(found["Q1"].statements) == len(every_kind.ALL_KINDS.statements) - 2
    assert set(found["Q1"].labels) == set(every_kind.ALL_KINDS.labels)


# RDF

WIKIBASE, XSD, WD = (
    "http://wikiba.se/ontology#",
    "http://www.w3.org/2001/XMLSchema#",
    "http://www.wikidata.org/entity/",
)
def escaped(text: str) -> str:
    return "".join(one if one.isalnum() and one.isascii() else f"\\U{ord(one):08X}" for one in text)


def about(subject: str, *said: str) -> str:
    return "".join(f"<{WD}{subject}> {one} .\n" for one in said)


def statement_of(prop: str, simple: str, full: Mapping[str, str] | None = None) -> str:
    """A statement of Q1 by its node, and the node of its value."""
    node, value = f"{WD}statement/Q1-hostile", "http://www.wikidata.org/value/hostile"
    text = about("Q1", f"<http://www.wikidata.org/prop/{prop}> <{node}>")
    text += f"<{node}> <{WIKIBASE}rank> <{WIKIBASE}NormalRank> .\n"
    text += f"<{node}> <http://www.wikidata.org/prop/statement/{prop}> {simple} .\n"
    if full:
        text += f"<{node}> <http://www.wikidata.org/prop/statement/value/{prop}> <{value}> .\n"
        text += "".join(f"<{value}> <{WIKIBASE}{name}> {term} .\n" for name, term in full.items())
    return text


def typed(text: str, name: str) -> str:
    return f'"{text}"^^<{name if ":" in name else XSD + name}>'


DAY = typed("2001-02-03T00:00:00Z", "dateTime")
POINT = "http://www.opengis.net/ont/geosparql#wktLiteral"
DATE = {"timeValue": DAY, "timePrecision": typed("11", "integer")}
STATED = {
    "precision of 5000 digits": (
        "bad-statement", "P585", DAY, {**DATE, "timePrecision": typed(hostile.MANY, "integer")},
    ),
    "unknown calendar": ("bad-time", "P585", DAY, {**DATE, "timeCalendarModel": f"<{WD}Q12138>"}),
    "year of 20 digits": ("bad-statement", "P585", typed(f"1{'0' * 20}-01-01T00:00:00Z", "dateTime"), None),
    "amount of a million digits": ("bad-quantity", "P1082", typed("9" * 1_000_000, "decimal"), None),
    "amount that explodes": (
        "bad-quantity", "P1082", typed("1", "decimal"), {"quantityAmount": typed("1E+1000000000", "decimal")},
    ),
    "infinite point": ("bad-coordinate", "P625", typed("Point(1e999 1e308)", POINT), None),
    "target": ("bad-entity-id", "P31", f"<{WD}Q{hostile.MANY}>", None),
    "language of 10 KB": ("bad-text", "P1476", f'"x"@{"x" * 10_000}', None),
    "property": ("bad-property", f"P{hostile.MANY}", '"x"', None),
    "no JSON": ("bad-statement", "P9", typed("{", "http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON"), None),
}  # fmt: skip


@pytest.mark.parametrize("name", STATED)
def test_hostile_rdf_costs_its_statement_alone(kinds: Path, tmp_path: Path, name: str) -> None:
    reason, prop, simple, full = STATED[name]
    text = (kinds / "world.nt").read_text() + statement_of(prop, simple, full)
    (tmp_path / "world.nt").write_text(text)
    report = build_from_rdf([tmp_path / "world.nt"], tmp_path / "out")
    assert every_kind.entities_of(tmp_path / "out") == every_kind.entities_of(kinds / "dump")
    (found,) = rejected(report)
    assert (found["reason"], found["entity"], found["statement"]) == (reason, "Q1", "Q1$hostile")


@pytest.mark.parametrize(
    ("said", "reason", "entity"),
    [
        (f'<http://www.w3.org/2000/01/rdf-schema#label> "x"@{"x" * 10_000}', "bad-term", "Q700"),
    ],
)
def test_what_is_said_of_an_entity_costs_no_more_than_itself(
    kinds: Path, tmp_path: Path, said: str, reason: str, entity: str
) -> None:
    name = '<http://www.w3.org/2000/01/rdf-schema#label> "seven hundred"@en'
    (tmp_path / "world.nt").write_text((kinds / "world.nt").read_text() + about("Q700", name, said))
    report = build_from_rdf([tmp_path / "world.nt"], tmp_path / "out")
    found = every_kind.entities_of(tmp_path / "out")
    assert found.pop("Q700").labels == {"en": "seven hundred"}
    assert found == every_kind.entities_of(kinds / "dump")
    assert [(one["reason"], one["entity"]) for one in rejected(report)] == [(reason, entity)]


# Services


@pytest.mark.usefixtures("contact")
def test_an_endpoint_that_says_hostile_things_ends_no_build(kinds: Path, tmp_path: Path) -> None:
    text = (kinds / "world.nt").read_text()
    text += statement_of("P585", *STATED["unknown calendar"][2:]) + statement_of(f"P{hostile.MANY}", '"x"')
    text += about("Q4", f"<{WIKIBASE}sitelinks> {typed('²', 'integer')}")
    text = text.replace(f"<{WD}Q4> <{WIKIBASE}sitelinks> {typed('0', 'integer')} .\n", "")
    (tmp_path / "world.nt").write_text(text)
    with srv.serving(tmp_path / "world.nt") as server:
        report = build_from_sparql(server.url, tmp_path / "out", scope=every_kind.IDS, patience=every_kind.QUICK)
    assert {"bad-time": 1, "bad-property": 1}.items() <= report.rejects.items()
    assert set(every_kind.entities_of(tmp_path / "out")) == set(every_kind.WORLD)


ANSWERS: list[Any] = [
    {},
    {"id": "Q1٣"},
    {"id": f"Q{hostile.MANY}"},
    {"id": 7},
    {"id": "Q4", "claims": {"": None, "P1": 7, f"P{hostile.MANY}": [], "p31": [{"qualifiers": {"": 1}}]}},
    json.loads(f'{{"id":"Q4","claims":{"[" * 400}{"]" * 400}}}'),
    [],
    "Q4",
    None,
]


@pytest.mark.usefixtures("contact")
@pytest.mark.parametrize("answer", ANSWERS, ids=[repr(one)[:40] for one in ANSWERS])
def test_an_api_that_says_hostile_things_ends_no_build(tmp_path: Path, answer: Any) -> None:
    entities = {"Q1": entity_json(every_kind.ALL_KINDS), "Q4": answer}
    with api.serving(entities, {}) as server:
        scope = Scope(ids=frozenset(entities), hops=1, along=frozenset({"P31"}))
        report = build_from_api(tmp_path / "out", scope=scope, url=server.url, patience=every_kind.QUICK)
    with open_store(tmp_path / "out") as store:
        assert "Q1" in set(store.ids())
        assert "Q4" in set(store.ids()) or report.rejects
