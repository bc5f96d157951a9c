"""Tiered rows against another snapshot: what does not stand any more is told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from abstraction.rows import TieredRow
from abstraction.tiers import Evidence, Level, Tier
from abstraction.verifying.revalidation import EvidenceFinding, EvidenceProblem, recheck
from kg.model import Entity, Rank
from kg.store.sqlite import SQLiteStore
from tests.worlds import entity

TOWN = entity("Q1", "Town", "town in County, Land", P131=["Q2"], P571=[1900])
COUNTY = entity("Q2", "County", P131=["Q3"])
LAND = entity("Q3", "Land")
WORLD = (TOWN, COUNTY, LAND)

ROW = TieredRow(
    id="r",
    question="Where?",
    answers=("Town",),
    question_entity={"text": "Somebody", "qid": "Q3"},
    levels=(
        Level(tiers=(Tier(text="Town", qid="Q1"),)),
        Level(
            tiers=(
                Tier(
                    text="County",
                    qid="Q2",
                    evidence=(
                        Evidence(kind="statement", subject="Q1", property="P131", value="Q2", statement="Q1$s1"),
                        Evidence(kind="statement", subject="Q1", property="P571", value="1900", statement="Q1$s2"),
                    ),
                ),
            )
        ),
        Level(
            tiers=(
                Tier(
                    text="Land",
                    qid="Q3",
                    evidence=(
                        Evidence(
                            kind="description",
                            subject="Q1",
                            language="en-gb",
                            text="town in County, Land",
                            span=(16, 20),
                        ),
                        Evidence(kind="rule", text="a rule needs no snapshot"),
                    ),
                ),
            )
        ),
    ),
)


def problems(entities: tuple[Entity, ...], redirects: dict[str, str] | None = None) -> list[EvidenceProblem]:
    store = SQLiteStore.create()
    store.write(entities)
    store.redirect(redirects or {})
    store.finish()
    ((row, found),) = recheck([ROW], store)
    assert row is ROW
    store.close()
    return found


def changed(**fields: object) -> tuple[Entity, ...]:
    first = replace(TOWN.statements[0], **fields)  # type: ignore[arg-type]
    return (replace(TOWN, statements=(first, *TOWN.statements[1:])), COUNTY, LAND)


def test_all_stands_where_nothing_changed() -> None:
    assert problems(WORLD) == []


@pytest.mark.parametrize(
    ("world", "expected"),
    [
        ((TOWN, COUNTY), EvidenceProblem(row="r", level=0, finding=EvidenceFinding.ENTITY_GONE, id="Q3")),
        (
            changed(id="Q1$other"),
            EvidenceProblem(row="r", level=2, finding=EvidenceFinding.STATEMENT_GONE, id="Q1$s1", old="Q2"),
        ),
        (
            changed(value=COUNTY.statements[0].value),
            EvidenceProblem(
                row="r", level=2, finding=EvidenceFinding.STATEMENT_CHANGED, id="Q1$s1", old="Q2", new="Q3"
            ),
        ),
        (
            changed(rank=Rank.DEPRECATED),
            EvidenceProblem(row="r", level=2, finding=EvidenceFinding.STATEMENT_DEPRECATED, id="Q1$s1", old="Q2"),
        ),
        (
            (replace(TOWN, descriptions={"en": "city in Land"}), COUNTY, LAND),
            EvidenceProblem(
                row="r",
                level=3,
                finding=EvidenceFinding.DESCRIPTION_CHANGED,
                id="Q1",
                old="town in County, Land",
                new="city in Land",
            ),
        ),
    ],
)
def test_each_thing_that_does_not_stand_is_told(world: tuple[Entity, ...], expected: EvidenceProblem) -> None:
    assert problems(world) == [expected]


def test_a_merged_entity_is_told_with_its_target() -> None:
    found = problems((TOWN, COUNTY, entity("Q9", "Land")), redirects={"Q3": "Q9"})
    assert found == [EvidenceProblem(row="r", level=0, finding=EvidenceFinding.ENTITY_MERGED, id="Q3", new="Q9")]


def test_a_changed_date_is_a_changed_statement() -> None:
    town = entity("Q1", "Town", "town in County, Land", P131=["Q2"], P571=[1901])
    (found,) = problems((town, COUNTY, LAND))
    assert (found.finding, found.old, found.new) == (EvidenceFinding.STATEMENT_CHANGED, "1900", "1901")
