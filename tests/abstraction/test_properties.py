"""One table of properties: what the code names is read, and what ladders climb is fetched for a selection."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from abstraction.base.properties import property_ids, with_role
from abstraction.base.relations import relations_by_id
from abstraction.errors import UnknownRelationError
from abstraction.maker.pipeline import LadderMaker
from tests.worlds import entity, row, store_of

ROOT = Path(__file__).resolve().parents[2]
NONE = {"P0"}  # stands for no property
NOT_CLIMBED = {  # named in builders for what they tell of an answer, never for what stands above it
    "P22", "P25", "P26", "P40", "P451", "P3373", "P69", "P161", "P162", "P84", "P19", "P20", "P112", "P264", "P144",
    "P150", "P457", "P527", "P463", "P1830", "P580", "P582", "P585", "P569", "P570", "P571", "P576", "P577", "P1082",
    "P1448", "P1477", "P1549", "P1813", "P2561", "P742", "P800",
}  # fmt: skip


def named(folder: str) -> dict[str, set[str]]:
    """The property ids that stand as texts in the files of a folder."""
    found: dict[str, set[str]] = {}
    for path in sorted((ROOT / folder).rglob("*.py")):
        texts = [
            node.value
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        for text in texts:
            for prop in re.findall(r"\AP[1-9]\d*\Z", text):
                found.setdefault(prop, set()).add(str(path.relative_to(ROOT)))
    return found


def test_every_property_that_the_code_names_is_read() -> None:
    known = property_ids() | set(relations_by_id()) | NONE
    assert {prop: files for prop, files in named("abstraction").items() if prop not in known} == {}


def test_what_builders_climb_is_fetched_for_a_selection() -> None:
    climbed = {
        prop
        for prop, files in named("abstraction/ladders").items()
        if any(file.count("/") == 2 for file in files)  # builders; not what assembles and weighs
    } - NOT_CLIMBED
    assert climbed <= with_role("along")


def test_an_unknown_role_is_told() -> None:
    with pytest.raises(UnknownRelationError, match="no role 'climb'; there are along, "):
        with_role("climb")


def test_an_office_goes_by_the_jurisdiction_that_only_its_own_statement_tells() -> None:
    store = store_of(
        entity("Q30", "United States", P31="Q3624078", P1549=["American"]),
        entity("Q4164871", "position"),
        entity("Q5", "Secretary of the Treasury", "head of a ministry", P31="Q4164871", P279="Q6", P1001="Q30"),
        entity("Q6", "secretary", P31="Q4164871"),
    )
    made = LadderMaker(store).make(row("Secretary of the Treasury", "P39", qid="Q5"))
    assert [tier.text for level in made.levels[1:] for tier in level.tiers] == ["American secretary", "secretary"]
