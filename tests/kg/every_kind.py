"""Entities with every kind of value there is, and how two snapshots of them are compared."""

from __future__ import annotations

import dataclasses
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
from store_contract import ALL, statement

from kg.base.model import (
    Entity,
    EntityValue,
    OtherValue,
    QuantityValue,
    Rank,
    Snak,
    SnakKind,
    Statement,
    TextValue,
    TimeValue,
)
from kg.base.scope import Scope
from kg.store import open_store
from kg.web.client import RetryDelays

QUICK = RetryDelays(base=0.01, cap=0.05, tries=3, timeout=20.0)
LABEL = b"http://www.w3.org/2000/01/rdf-schema#label"
CAP = 200  # rows that our Virtuoso gives at most


def point(latitude: float, longitude: float, precision: float | None = 0.01) -> OtherValue:
    parts = {
        "altitude": None,
        "globe": "http://www.wikidata.org/entity/Q2",
        "latitude": latitude,
        "longitude": longitude,
        "precision": precision,
    }
    return OtherValue(type="globecoordinate", json=orjson.dumps(parts, option=orjson.OPT_SORT_KEYS).decode())


def qualified(value: Any, prop: str, n: int, *qualifiers: Snak, **more: Any) -> Statement:
    return statement("Q1", prop, value, n, qualifiers=qualifiers, **more)


def time(year: int, month: int | None = None, day: int | None = None, **more: Any) -> TimeValue:
    finest = 9 if month is None else 10 if day is None else 11
    return TimeValue(year=year, month=month, day=day, **{"precision": finest, **more})


TIMES = (
    time(1961, 8, 4),
    time(1961, 1, 1),
    time(1961, 8),
    time(1961),
    time(-44, 3, 15, calendar="julian"),
    time(-44),
    time(-1),
    time(-500, precision=7),
    time(-1, precision=8),
    time(1900, precision=7),
    time(1582, 10, 5, calendar="julian"),
    time(1917, 10, 25, calendar="julian"),
    time(1600, calendar="julian"),
    time(-4713, 1, 2, calendar="julian"),
    time(-13_798_000_000, precision=3),
    time(1500, 2, 29, calendar="julian"),
)
AMOUNTS = (
    QuantityValue(amount=Decimal("5")),
    QuantityValue(amount=Decimal("-0.25"), unit="Q11573"),
    QuantityValue(amount=Decimal("100.50"), unit="Q4916", lower=Decimal("99.5"), upper=Decimal("101.5")),
)
TEXTS = (
    TextValue(text='a "quoted" \\ line\nand another\ttab é 日本'),
    TextValue(text="Gesang", language="de"),
    TextValue(text="colour", language="en-gb"),
)
ALL_KINDS = Entity(
    id="Q1",
    labels={"en": "All", "zh-hant": "全", "mul": 'A"ll\\'},
    descriptions={"en": "every kind of value", "en-gb": "every kind of value"},
    aliases={"en": ("Everything", "All of it")},
    sitelinks=3,
    statements=(
        *(qualified(value, "P585", n) for n, value in enumerate(TIMES)),
        *(qualified(value, "P1082", n, datatype="quantity") for n, value in enumerate(AMOUNTS)),
        *(qualified(value, "P1476", n) for n, value in enumerate(TEXTS)),
        qualified(point(48.5, 2), "P625", 0),
        qualified(TextValue(text="Eiffel Tower, 2020 (é).jpg"), "P18", 0, datatype="commonsMedia"),
        qualified(TextValue(text="http://www.wikidata.org/entity/Q5"), "P856", 0, datatype="url"),
        qualified(TextValue(text="https://example.org/a?b=c&d=(e)"), "P856", 1, datatype="url"),
        qualified("P31", "P1", 0),
        qualified(EntityValue(id="L3-F1"), "P2", 0),
        qualified("Q2", "P31", 0, rank=Rank.PREFERRED),
        qualified("Q3", "P31", 1, rank=Rank.DEPRECATED),
        qualified(None, "P40", 0, kind=SnakKind.NOVALUE),
        qualified(None, "P40", 1, kind=SnakKind.SOMEVALUE),
        qualified(
            "Q4",
            "P39",
            0,
            Snak(property="P580", value=time(1990, 5, 1)),
            Snak(property="P580", value=time(1991)),
            Snak(property="P582", kind=SnakKind.SOMEVALUE),
            Snak(property="P1365", kind=SnakKind.NOVALUE),
            Snak(property="P642", value=EntityValue(id="Q2")),
            Snak(property="P1107", value=QuantityValue(amount=Decimal("0.5"))),
            Snak(property="P1810", value=TextValue(text="x", language="fr")),
            datatype="wikibase-item",
        ),
        qualified("Q4", "P39", 1, Snak(property="P580", value=time(1990, 5, 1)), datatype="wikibase-item"),
        statement("Q1", "P9", TextValue(text="own id")),
    ),
)
OTHERS = (
    *(one for one in ALL if one.id != "Q1"),
    Entity(id="Q2", labels={"en": "two"}, statements=(statement("Q2", "P279", "Q3"),)),
    Entity(id="Q3", labels={"en": "three"}, statements=(statement("Q3", "P279", "Q2"),)),
    Entity(id="Q4", statements=(statement("Q4", "P31", "Q3"), statement("Q4", "P131", "Q404"))),
    Entity(id="P31", labels={"en": "instance of"}, datatype="wikibase-item"),
    Entity(id="P585", datatype="time"),
)
WORLD = {one.id: one for one in (ALL_KINDS, *OTHERS)}
IDS = Scope(ids=frozenset(WORLD))


def unordered(entity: Entity) -> Entity:
    """An entity in the order that RDF is read in, without what it does not carry."""
    statements = sorted(
        (
            dataclasses.replace(one, qualifiers=tuple(sorted(one.qualifiers, key=repr)), datatype=None)
            for one in entity.statements
        ),
        key=lambda one: (int(one.property[1:]), one.id),
    )
    aliases = {code: tuple(sorted(set(texts))) for code, texts in sorted(entity.aliases.items())}
    return dataclasses.replace(entity, statements=tuple(statements), aliases=aliases, datatype=None)


def entities_of(path: Path) -> dict[str, Entity]:
    with open_store(path) as store:
        return {name: unordered(one) for name, one in store.entities(list(store.ids())).items()}


def snapshot_id(path: Path) -> Any:
    with open_store(path) as store:
        return store.manifest()["snapshot_id"]


def without_statement_nodes(path: Path, out: Path) -> Path:
    kept = [
        line
        for line in path.read_text().splitlines(keepends=True)
        if not line.startswith(("<http://www.wikidata.org/entity/statement/", "<http://www.wikidata.org/value/"))
        and "<http://www.wikidata.org/prop/P" not in line
    ]
    out.write_text("".join(kept))
    return out
