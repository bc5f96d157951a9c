"""Builders at work on small worlds: a case from one line, and its ladder as texts."""

from __future__ import annotations

from collections.abc import Sequence

from abstraction.base.relations import relation
from abstraction.base.tiers import Level
from abstraction.ladders.proposals import ANSWER, Builder, LadderCase, Proposal, as_graph, levels
from abstraction.maker.pipeline import LadderMaker
from kg.base.model import Entity, TimeValue
from tests.worlds import maker


def case_in(
    world: LadderMaker,
    answer: str,
    relation_id: str = "P112",
    *,
    subject: str | None = None,
    subject_text: str | None = None,
    at: TimeValue | None = None,
) -> LadderCase:
    """A case of a world that is there already."""
    return LadderCase(
        graph=world.graph,
        vocabulary=world.vocabulary,
        gazetteer=world.gazetteer,
        answer=answer,
        relation=relation(relation_id),
        subject=subject,
        subject_text=subject_text,
        at=at,
    )


def case_of(answer: Entity, *others: Entity, relation_id: str = "P112", subject: str | None = None) -> LadderCase:
    """A case about one entity in a world of its own."""
    return case_in(maker(answer, *others), answer.id, relation_id, subject=subject)


def ladder(build: Builder, case: LadderCase) -> list[list[str]]:
    """The levels that the proposals make, nothing filtered."""
    return [[tier.text for tier in level.tiers] for level in levels(as_graph(build(case)))]


def shown(levels: Sequence[Level]) -> list[str]:
    """The levels, tiers of one side by side."""
    return [" | ".join(tier.text for tier in level.tiers) for level in levels]


def proposed(build: Builder, case: LadderCase) -> dict[str, Proposal]:
    """The proposals by text."""
    return {proposal.text: proposal for proposal in build(case)}


def check_sound(proposals: list[Proposal], superclasses: dict[str, set[str]]) -> None:
    """What holds of every builder: unique keys, known parents, evidence in its place, conditions that follow.

    Each condition of a child is a condition of its parent, or names a class above one (`superclasses`).
    """
    by_key = {proposal.key: proposal for proposal in proposals}
    assert len(by_key) == len(proposals)
    for proposal in proposals:
        assert proposal.text
        assert proposal.evidence
        assert proposal.parents
        for evidence in proposal.evidence:
            if evidence.span is not None and evidence.text is not None:
                start, end = evidence.span
                assert 0 <= start < end <= len(evidence.text)
                assert evidence.text[start:end].strip() == evidence.text[start:end]
        for key in proposal.parents:
            if key == ANSWER:
                continue
            parent = by_key[key]
            if parent.qid is not None:
                continue  # an entity that stands before the phrases by rank, not by what it states
            for condition in proposal.conditions:
                if condition.property == "text":
                    continue
                above = {
                    value
                    for other in parent.conditions
                    if other.property == condition.property
                    for value in ({other.value} | superclasses.get(other.value, set()))
                }
                assert condition.value in above or any(other.property == "text" for other in parent.conditions), (
                    parent.text,
                    proposal.text,
                    condition,
                )
