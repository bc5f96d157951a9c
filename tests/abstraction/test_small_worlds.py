"""Ladders of small worlds: each file of tests/abstraction/ladders has the entities and what is made of their names.

A file begins with the entities that its worlds share, one a line: id, label, description, aliases, statements (with
qualifiers in brackets; a number is a year). A line of `#` names a case. The entities below it are added to the shared
ones, or put in place of those of the same id; `with` names the only shared ones that the world has. What follows tells
the levels beyond the answer, tiers of one level joined by `+`, or the code where there are none:

    Columbus (P19): Ohio / United States of America / North America
    Manila (P276, "Where is the Battle of Manila?"): - told-by-question
    people of Q900500 (P26, subject Q6882): an Irish writer + a teacher / a writer

The last is of one builder alone, nothing filtered. The checker finds the evidence of every tier sufficient.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from abstraction.ladders.class_terms import concept_tiers, language_tiers, taxon_tiers
from abstraction.ladders.offices import office_tiers
from abstraction.ladders.organisation_ladders import group_tiers, organisation_tiers
from abstraction.ladders.person_ladders import person_tiers
from abstraction.ladders.things import award_tiers, event_tiers, work_tiers
from abstraction.maker.pipeline import LadderMaker
from abstraction.verifying.entailment import EntailmentChecker
from kg.base.model import Entity
from tests.cases import case_in, ladder
from tests.worlds import entity, maker, row, store_of, texts

FOLDER = Path(__file__).parent / "ladders"
UNPROVEN = {"what lies in two states lies in neither alone"}  # "South and North Dakota": of one no span is found
BUILDERS = {  # by their names in the files
    "awards": award_tiers, "concepts": concept_tiers, "events": event_tiers, "groups": group_tiers,
    "languages": language_tiers, "organisations": organisation_tiers, "people": person_tiers, "posts": office_tiers,
    "taxa": taxon_tiers, "works": work_tiers,
}  # fmt: skip
ASKED = re.compile(r"(?P<answer>.+?) \((?P<relation>P\d+|no relation)(?:, (?P<how>.+?))?\): (?P<expected>.*)")
OPTION = re.compile(r'(?:^|, )(?:"(?P<question>[^"]*)"|qid (?P<qid>Q\d+)|subject (?P<subject>[^,]+))')
STATED = re.compile(r"(P\d+)=([^\s\[]+)(?:\[([^\]]*)\])?")


@dataclass
class Case:
    """A world and what is asked of it."""

    file: str
    title: str
    entities: dict[str, Entity]
    asked: list[re.Match[str]] = field(default_factory=list)


def decode_entity(line: str) -> Entity:
    qid, label, description, aliases, statements = (part.strip() for part in line.split("|"))
    said: dict[str, Any] = {}
    for name, value, qualifiers in STATED.findall(statements):
        extra = dict(one.split("=") for one in qualifiers.split(",") if one)
        said.setdefault(name, []).append((int(value) if re.fullmatch(r"-?\d+", value) else value, extra))
    return entity(qid, label, description, aliases=[one for one in aliases.split("; ") if one], **said)


def cases(path: Path) -> Iterator[Case]:
    shared: dict[str, Entity] = {}
    case = Case("", "", shared)
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# ") or (not line and case.asked):  # a title, or another world under the same one
            if case.asked:
                yield case
            case = Case(path.stem, line.removeprefix("# ") or case.title, dict(shared))
        elif line.startswith("with "):
            case.entities = {qid: shared[qid] for qid in line.split()[1:] if qid in shared}
        elif re.match(r"[PQ]\d+ \|", line):
            read = decode_entity(line)
            case.entities[read.id] = read
        elif line:
            asked = ASKED.fullmatch(line)
            assert asked is not None, f"{path.name}: {line}"
            case.asked.append(asked)
    if case.asked:
        yield case


def told(world: LadderMaker, asked: re.Match[str], checker: EntailmentChecker | None = None) -> str:
    """What is made, as a file has it, and with a checker what that finds wrong with it."""
    how = {name: text for one in OPTION.finditer(asked["how"] or "") for name, text in one.groupdict().items() if text}
    relation = None if asked["relation"] == "no relation" else asked["relation"]
    build, _, qid = asked["answer"].partition(" of Q")
    if build in BUILDERS and qid:
        levels = ladder(BUILDERS[build], case_in(world, f"Q{qid}", str(relation), subject=how.get("subject")))
        code = ""
    else:
        made = world.make(row(asked["answer"], relation, **how))  # type: ignore[arg-type]
        levels, code = texts(made), str(made.abstained or "")
        if checker is not None:
            assert [check.text for check in checker.check(made) if check.findings] == []
    return " / ".join(" + ".join(level) for level in levels) or f"- {code}".strip()


@pytest.mark.parametrize(
    "case",
    [case for path in sorted(FOLDER.glob("*.txt")) for case in cases(path)],
    ids=lambda one: f"{one.file}: {one.title}",
)
def test_a_small_world(case: Case) -> None:
    world = maker(*case.entities.values())
    checker = None if case.title in UNPROVEN else EntailmentChecker(store_of(*case.entities.values()))
    assert [told(world, asked, checker) for asked in case.asked] == [asked["expected"] for asked in case.asked]
