"""Compare the demo's entities with real WikiData: `check_demo.py [SHARED_DATA]`.

SHARED_DATA holds wikidata/entities.json.gz and wikidata/full_entities_sample.ndjson.gz (by default
../shared/data beside the repository). For every entity of ours: confirmed (the data gives the same id a
name that we use), absent (the data does not have the id) or contradicted (it has other names for it).
For every item-valued statement: whether the data states it too, says something else only, or nothing.
Exit status 1 where a name contradicts.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kg.terms import normalise

ROOT = Path(__file__).resolve().parents[1]
DEMO = ROOT / "granola" / "demo" / "wikidata.json"
DEFAULT = ROOT.parent / "shared" / "data"
SOURCES = ("wikidata/entities.json.gz", "wikidata/full_entities_sample.ndjson.gz")


def entities(path: Path) -> Iterator[dict[str, Any]]:
    """The entities of a dump or NDJSON file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            text = line.strip().rstrip(",")
            if len(text) > 1:
                yield json.loads(text)


def names(entity: dict[str, Any]) -> set[str]:
    """Every label and alias, in the comparison form."""
    found = {term["value"] for term in (entity.get("labels") or {}).values()}
    for terms in (entity.get("aliases") or {}).values():
        found |= {term["value"] for term in terms}
    return {normalise(name) for name in found}


def targets(entity: dict[str, Any]) -> dict[str, set[str]]:
    """The ids that each property points to, any rank."""
    found: dict[str, set[str]] = {}
    for prop, statements in (entity.get("claims") or {}).items():
        for statement in statements:
            value = statement["mainsnak"].get("datavalue", {}).get("value")
            if isinstance(value, dict) and "id" in value:
                found.setdefault(prop, set()).add(value["id"])
    return found


def compare(shared: Path) -> tuple[Counter[str], list[str], Counter[str]]:
    """(entities by outcome, the contradictions in words, statements by outcome)."""
    ours = {entity["id"]: entity for entity in json.loads(DEMO.read_text(encoding="utf-8"))}
    theirs: dict[str, tuple[set[str], dict[str, set[str]]]] = {}
    dangling: set[str] = set()
    for source in SOURCES:
        for entity in entities(shared / source):
            pointed = targets(entity)
            dangling.update(*pointed.values())
            if entity["id"] in ours:
                known, stated = theirs.setdefault(entity["id"], (set(), {}))
                known |= names(entity)
                for prop, ids in pointed.items():
                    stated.setdefault(prop, set()).update(ids)
    outcomes: Counter[str] = Counter()
    statements: Counter[str] = Counter()
    contradictions = []
    for qid, entity in ours.items():
        if qid not in theirs:
            outcomes["absent, but pointed to" if qid in dangling else "absent"] += 1
            continue
        known, stated = theirs[qid]
        label = next(
            iter(entity["labels"].get(code, {}).get("value", "") for code in ("en", "mul") if code in entity["labels"])
        )
        if normalise(label) in known:
            outcomes["confirmed by label or alias"] += 1
        elif names(entity) & known:
            outcomes["confirmed by an alias of ours"] += 1
        else:
            outcomes["contradicted"] += 1
            contradictions.append(f"{qid} is {label!r} here, there {sorted(known)[:4]}")
        for prop, ids in targets(entity).items():
            for target in ids:
                found = stated.get(prop, set())
                statements[
                    "stated there too" if target in found else "stated otherwise" if found else "property not there"
                ] += 1
    return outcomes, contradictions, statements


def main() -> int:
    shared = Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT
    if not (shared / SOURCES[0]).exists():
        print(f"check_demo: {shared / SOURCES[0]} is not there; nothing to compare with", file=sys.stderr)
        return 2
    outcomes, contradictions, statements = compare(shared)
    print("entities:", dict(outcomes.most_common()))
    print("item statements of the entities found:", dict(statements.most_common()))
    for text in contradictions:
        print("contradiction:", text)
    return 1 if contradictions else 0


if __name__ == "__main__":
    raise SystemExit(main())
