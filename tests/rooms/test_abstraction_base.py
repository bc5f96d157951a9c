"""Relations as data, and the steps that entail a tier."""

from __future__ import annotations

from abstraction.base.relations import relation
from abstraction.files.rows import TieredRow


def test_a_relation_has_its_label_and_the_kind_that_answers_it() -> None:
    birthplace = relation("P19")
    assert (birthplace.id, birthplace.label, birthplace.asks) == ("P19", "place of birth", "place")


def test_every_coarser_tier_has_its_evidence(row: TieredRow) -> None:
    assert all(tier.evidence for level in row.levels[1:] for tier in level.tiers)
