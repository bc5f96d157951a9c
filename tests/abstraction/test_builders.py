"""What builders read of a question."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from abstraction.ladders.builders import builder_for, may_depend_on_subject
from abstraction.ladders.offices import has_office_or_kin
from abstraction.maker.pipeline import LadderMaker
from kg.building import snapshot
from kg.store.sqlite import SQLiteStore
from tests.cases import case_in

DEMO = Path(__file__).resolve().parents[2] / "granola" / "demo"


class Subject(str):
    """An id that may not be looked at."""

    def __eq__(self, other: object) -> bool:
        raise AssertionError("the subject is looked at")

    __hash__ = str.__hash__

    def __bool__(self) -> NoReturn:
        raise AssertionError("the subject is looked at")


def test_who_does_not_look_at_the_subject_makes_the_same_ladder_whoever_is_asked_about(tmp_path: Path) -> None:
    snapshot.build([DEMO / "wikidata.json"], tmp_path / "demo.sqlite")
    ids = [one["id"] for one in json.loads((DEMO / "wikidata.json").read_text("utf-8")) if one["type"] == "item"]
    with SQLiteStore.open(tmp_path / "demo.sqlite") as store:
        world = LadderMaker(store)
        blind = 0
        for prop in ("P19", "P17", "P50", "P57", "P69", "P106", "P136", "P175", "P407"):
            for qid in ids[::3]:
                case = case_in(world, qid, prop)
                kinds = world.classes(qid)
                build = builder_for(case.relation.asks, kinds)
                if build is None or may_depend_on_subject(case.relation.asks, kinds):
                    continue
                if has_office_or_kin(world.graph, world.vocabulary, qid):
                    continue
                blind += bool(build(replace(case, subject=Subject("Q1"), subject_text=Subject("Nobody"))))
    assert blind > 500


def test_the_guard_of_that_test_raises() -> None:
    with pytest.raises(AssertionError, match="looked at"):
        assert Subject("Q1") == "Q1"


@pytest.mark.parametrize(
    ("asks", "kinds", "looks"),
    [
        ("place", {"place"}, False),
        ("person", {"person"}, False),
        ("person", {"person", "fictional"}, True),
        ("person", {"company"}, True),
        ("work", {"work"}, True),
        ("person", set(), True),
    ],
)
def test_looks_at_subject(asks: str, kinds: set[str], looks: bool) -> None:
    assert may_depend_on_subject(asks, kinds) is looks
