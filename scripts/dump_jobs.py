"""The jobs of `bench_dump.py`: what a plain script does, and the same by the parts of `kg`.

    python scripts/dump_jobs.py plain-records|plain-snapshot|records DUMP OUT

Records: for each entity with a P31 statement one JSON line of its id, English label, description and aliases, and
every truthy value that is an item. Snapshot: English terms, every statement with its rank, value, qualifiers and id,
names by a normalised form, counts of values and a hash, in SQLite. The plain jobs use the standard library alone, as
one would write them for a single use.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
import sqlite3
import sys
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

LANGUAGES = ("en", "mul")
RECORDS = 1


def plain_lines(path: str) -> Iterator[Any]:
    """The entities of a dump, by the standard library."""
    module = bz2 if path.endswith(".bz2") else gzip
    with module.open(path, "rt", encoding="utf-8") as stream:
        for line in stream:
            text = line.strip().rstrip(",")
            if text and text not in ("[", "]"):
                yield json.loads(text)


def truthy_items(claims: Any) -> dict[str, list[str]]:
    """The items that an entity's best statements state, by property."""
    found = {}
    for prop, statements in claims.items():
        best = "preferred" if any(one["rank"] == "preferred" for one in statements) else "normal"
        items = []
        for one in statements:
            snak = one["mainsnak"]
            if one["rank"] == best and snak["snaktype"] == "value" and snak["datavalue"]["type"] == "wikibase-entityid":
                number = snak["datavalue"]["value"].get("id", "")
                if number.startswith("Q"):
                    items.append(number)
        if items:
            found[prop] = items
    return found


def plain_records(path: str, out: str) -> None:
    """Records by the standard library."""
    with open(out, "w", encoding="utf-8") as target:
        for entity in plain_lines(path):
            claims = entity.get("claims") or {}
            if "P31" not in claims:
                continue
            texts = {key: (entity.get(key) or {}).get("en") for key in ("labels", "descriptions", "aliases")}
            record = {
                "id": entity["id"],
                "label": texts["labels"] and texts["labels"]["value"],
                "description": texts["descriptions"] and texts["descriptions"]["value"],
                "aliases": [alias["value"] for alias in texts["aliases"] or ()],
                "facts": truthy_items(claims),
            }
            target.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n")


def plain_snapshot(path: str, out: str) -> None:
    """Terms, statements and names in SQLite by the standard library."""
    connection = sqlite3.connect(out, isolation_level=None)
    for setting in ("journal_mode = OFF", "synchronous = OFF"):
        connection.execute(f"PRAGMA {setting}")
    connection.execute("CREATE TABLE entity (id INTEGER PRIMARY KEY, sitelinks INTEGER, datatype TEXT)")
    connection.execute("CREATE TABLE term (entity, language, kind, ordinal, text)")
    connection.execute("CREATE TABLE name (key, language, kind, entity, ordinal)")
    connection.execute(
        "CREATE TABLE statement (subject, property, ordinal, rank, type, value, qualifiers, id, datatype)"
    )
    connection.execute("BEGIN")
    insert = connection.executemany
    digest = hashlib.sha256()
    for entity in plain_lines(path):
        sign = 1 if entity["id"][0] == "Q" else -1
        number = sign * int(entity["id"][1:])
        connection.execute(
            "INSERT OR REPLACE INTO entity VALUES (?, ?, ?)",
            (number, len(entity.get("sitelinks") or ()), entity.get("datatype")),
        )
        terms = []
        for language in LANGUAGES:
            for kind, key in enumerate(("labels", "descriptions")):
                if one := (entity.get(key) or {}).get(language):
                    terms.append((number, language, kind, 0, one["value"]))
            for ordinal, one in enumerate((entity.get("aliases") or {}).get(language, ())):
                terms.append((number, language, 2, ordinal, one["value"]))
        insert("INSERT INTO term VALUES (?, ?, ?, ?, ?)", terms)
        names = [
            (" ".join(unicodedata.normalize("NFKC", text).casefold().split()), language, kind, entity_number, ordinal)
            for entity_number, language, kind, ordinal, text in terms
            if kind != 1
        ]
        insert("INSERT INTO name VALUES (?, ?, ?, ?, ?)", names)
        rows = []
        for prop, statements in (entity.get("claims") or {}).items():
            for ordinal, one in enumerate(statements):
                snak = one["mainsnak"]
                qualifiers = [
                    [key, *plain_value(inner)]
                    for key, group in (one.get("qualifiers") or {}).items()
                    for inner in group
                ]
                rows.append(
                    (
                        number,
                        int(prop[1:]),
                        ordinal,
                        one["rank"],
                        *plain_value(snak),
                        json.dumps(qualifiers) if qualifiers else None,
                        one["id"],
                        snak.get("datatype"),
                    )
                )
        insert("INSERT INTO statement VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        digest.update(json.dumps([number, terms, rows]).encode())
    connection.execute("CREATE INDEX names ON name (key)")
    connection.execute("CREATE INDEX terms ON term (entity)")
    connection.execute("CREATE INDEX statements ON statement (subject, property)")
    connection.execute("CREATE INDEX targets ON statement (property, value) WHERE type = 'wikibase-entityid'")
    connection.execute(
        "CREATE TABLE value_count AS SELECT property, value, count(DISTINCT subject) AS n FROM statement"
        " WHERE type = 'wikibase-entityid' AND rank <> 'deprecated' GROUP BY property, value"
    )
    connection.execute(
        "CREATE TABLE property_count AS SELECT property, count(DISTINCT subject) AS n FROM statement"
        " WHERE rank <> 'deprecated' GROUP BY property"
    )
    connection.execute("CREATE TABLE manifest (snapshot_id)")
    connection.execute("INSERT INTO manifest VALUES (?)", (digest.hexdigest(),))
    connection.execute("COMMIT")
    connection.close()


def plain_value(snak: Any) -> tuple[str, Any]:
    """A snak's type and value."""
    if snak["snaktype"] != "value":
        return snak["snaktype"], None
    kind, value = snak["datavalue"]["type"], snak["datavalue"]["value"]
    if kind == "wikibase-entityid":
        return kind, value.get("id")
    return kind, value if isinstance(value, str) else json.dumps(value)


class Id(msgspec.Struct, gc=False):
    """An item's id."""

    id: str = ""


class Data(msgspec.Struct, gc=False):
    """A value."""

    type: str
    value: Id | str | float | None = None


class Snak(msgspec.Struct, gc=False):
    """A main snak."""

    snaktype: str
    datavalue: Data | None = None


class Claim(msgspec.Struct, gc=False):
    """A statement."""

    mainsnak: Snak
    rank: str


class Term(msgspec.Struct, gc=False):
    """A text."""

    value: str


class Texts(msgspec.Struct, gc=False):
    """The texts in English."""

    en: Term | None = None


class Aliases(msgspec.Struct, gc=False):
    """The aliases in English."""

    en: list[Term] = []


class Line(msgspec.Struct, gc=False):
    """An entity as far as a record needs it."""

    id: str
    labels: Texts | list[Any] | None = None
    descriptions: Texts | list[Any] | None = None
    aliases: Aliases | list[Any] | None = None
    claims: dict[str, list[Claim]] | list[Any] | None = None


class Record(msgspec.Struct, gc=False):
    """What comes out."""

    id: str
    label: str | None
    description: str | None
    aliases: list[str]
    facts: dict[str, list[str]]


def handlers() -> dict[int, Callable[[memoryview], bytes]]:
    """What the workers do for records."""
    from kg.building.extraction import UNPACK, lines_of, unpacked
    from kg.reading.bzip2 import unpack

    decode = msgspec.json.Decoder(Line).decode
    encode = msgspec.json.Encoder().encode

    def english(given: Any) -> str | None:
        return given.en.value if given and given.en else None

    def record(text: bytes) -> bytes | None:
        if b'"P31"' not in text:
            return None
        entity = decode(text)
        claims = entity.claims
        if not claims or "P31" not in claims:
            return None
        facts = {}
        for prop, statements in claims.items():
            best = "normal"
            for one in statements:
                if one.rank == "preferred":
                    best = "preferred"
                    break
            items = []
            for one in statements:
                data = one.mainsnak.datavalue
                wanted = one.rank == best and one.mainsnak.snaktype == "value"
                if wanted and data.type == "wikibase-entityid" and data.value.id[:1] == "Q":
                    items.append(data.value.id)
            if items:
                facts[prop] = items
        return encode(
            Record(
                id=entity.id,
                label=english(entity.labels),
                description=english(entity.descriptions),
                aliases=[alias.value for alias in entity.aliases.en] if entity.aliases else [],
                facts=facts,
            )
        )

    def read(data: memoryview) -> bytes:
        block, _ = unpacked(data)
        found = [made for _, text in lines_of(block) if (made := record(text)) is not None]
        found.append(b"")
        return b"\n".join(found)

    return {RECORDS: read, UNPACK: unpack}


def records(path: str, out: str) -> None:
    """Records by the package's reader and its workers, in the dump's order."""
    from kg.building.source_pass import SourcePass
    from kg.building.worker_pool import WorkerPool

    with WorkerPool() as crew, open(out, "wb") as target:
        crew.setup(handlers)
        reading = SourcePass([(path, path)], crew, limit=None, keep_partial=False, progress=None)
        for answer in reading.run("reading", RECORDS):
            target.write(answer.result)


JOBS = {"plain-records": plain_records, "plain-snapshot": plain_snapshot, "records": records}

if __name__ == "__main__":
    import dump_jobs  # by its name, so that workers find it too

    dump_jobs.JOBS[sys.argv[1]](*sys.argv[2:])
