"""Differences between snapshots: counted, and listed one by one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_contract import ALL, CITY, FRANCE, PARIS, statement
from strategies import entities as any_entities
from test_sqlite_store import fill

from kg.base.model import Entity, Rank, Snak, TimeValue
from kg.errors import SnapshotError
from kg.export.comparison import diff
from tests.thorough import examples

NEW = Entity(id="Q7", labels={"en": "new"}, statements=(statement("Q7", "P31", "Q515"),))


def made(folder: Path, name: str, entities: tuple[Entity, ...], **more: object) -> Path:
    path = folder / name
    path.unlink(missing_ok=True)
    fill(path, entities, **more).close()  # type: ignore[arg-type]
    return path


def test_what_changed_is_told_by_property(tmp_path: Path) -> None:
    kept = (*PARIS.statements[2:], statement("Q90", "P1082", "Q1"))
    end = Snak(property="P582", value=TimeValue(year=2020, precision=9))
    paris = replace(
        PARIS,
        labels={"en": "Paris!", "mul": "Paris"},
        aliases={"en": ("Lutetia", "Panam"), "de": ("Stadt der Lichter",)},
        descriptions={},
        statements=(
            replace(PARIS.statements[0], rank=Rank.DEPRECATED, qualifiers=(end,)),
            *kept,
        ),
    )
    others = tuple(one for one in ALL if one not in (PARIS, FRANCE))
    old = made(tmp_path, "old", ALL)
    new = made(tmp_path, "new", (paris, *others, NEW), redirects={"Q142": "Q515"})
    changes: list[dict[str, Any]] = []
    found = diff(old, new, on_change=changes.append)
    assert not found.same
    assert found.entities == {"added": 1, "removed": 1, "changed": 1, "merged": 1}
    removed, changed = PARIS.statements[1], PARIS.statements[0]
    # France's capital went with it; a rank and a qualifier changed; one statement of Paris went and one came.
    assert found.statements == {"added": 2, "removed": 2, "changed": 1}
    assert found.aspects == {"qualifiers": 1, "rank": 1}
    assert found.properties == {
        "P31": {"added": 1, "removed": 1, "changed": 1},
        "P36": {"added": 0, "removed": 1, "changed": 0},
        "P1082": {"added": 1, "removed": 0, "changed": 0},
    }
    assert next(iter(found.properties)) == "P31"
    assert found.terms["label"] == {"added": 1, "removed": 1, "changed": 1}
    assert found.terms["alias"] == {"added": 1, "removed": 1, "changed": 0}
    assert found.terms["description"] == {"added": 0, "removed": 1, "changed": 0}
    assert found.redirects == {"added": 1, "removed": 0, "changed": 0}
    by_id = {change["statement"]: change for change in changes if "statement" in change}
    assert by_id[removed.id]["kind"] == "removed"
    assert by_id[changed.id] == {
        "what": "statement",
        "kind": "changed",
        "entity": "Q90",
        "property": "P31",
        "statement": changed.id,
        "aspects": ["rank", "qualifiers"],
        "old": {"rank": "normal", "value": "Q515"},
        "new": {"rank": "deprecated", "value": "Q515", "qualifiers": [["P582", [2020, 0, 0, 9]]]},
    }
    (gone,) = (change for change in changes if change["what"] == "entity" and change["kind"] == "removed")
    assert (gone["entity"], gone["merged_into"]) == ("Q142", "Q515")


def test_order_sitelinks_and_source_counts_are_no_difference(tmp_path: Path) -> None:
    paris = replace(PARIS, aliases={**PARIS.aliases, "en": ("Lutetia", "City of Light")}, sitelinks=99)
    years = tuple(Snak(property=prop, value=TimeValue(year=2020, precision=9)) for prop in ("P580", "P582", "P585"))
    before = replace(PARIS, statements=(replace(PARIS.statements[0], qualifiers=years), *PARIS.statements[1:]))
    after = (*PARIS.statements[:0:-1], replace(PARIS.statements[0], qualifiers=years[::-1]))
    found = diff(
        made(tmp_path, "old", (before, CITY)),
        made(tmp_path, "new", (CITY, replace(paris, statements=after)), other_values=[(31, 515, 5)]),
    )
    assert found.same
    assert found.to_json()["entities"] == {"added": 0, "removed": 0, "changed": 0, "merged": 0}
    assert found.old != found.new


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=examples(40))
@given(*[st.lists(any_entities(), max_size=4, unique_by=lambda entity: entity.id)] * 2)
def test_counts_add_up_and_turning_round_swaps_them(tmp_path: Path, one: list[Entity], other: list[Entity]) -> None:
    old, new = made(tmp_path, "old", tuple(one)), made(tmp_path, "new", tuple(other))
    there, back = diff(old, new), diff(new, old)
    for counted, opposite in ((there.entities, back.entities), (there.statements, back.statements)):
        assert counted["added"] == opposite["removed"]
        assert counted["changed"] == opposite["changed"]
    before, after = (sum(len(entity.statements) for entity in found) for found in (one, other))
    assert before + there.statements["added"] - there.statements["removed"] == after
    assert diff(old, old).same


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("x")
    with pytest.raises(SnapshotError, match="is no snapshot"):
        diff(tmp_path / "text", tmp_path / "text")
    with pytest.raises(SnapshotError, match=r"bolt://host:7687 is the address of a mirror; give the snapshot file"):
        diff(Path("bolt://host:7687"), tmp_path / "text")
