"""Parts of phrases with their evidence, and phrases made of several parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from abstraction.base.tiers import Condition, Evidence
from abstraction.ladders.lattice import Lattice
from abstraction.text.language.phrases import indefinite


@dataclass(frozen=True, kw_only=True, slots=True)
class Wording:
    """Words of a phrase or of a part of one, with the features that they entail, evidence and conditions."""

    text: str
    features: frozenset[str]
    evidence: tuple[Evidence, ...]
    conditions: frozenset[Condition]


def states(prop: str, value: str) -> frozenset[Condition]:
    """The condition that a property of the answer has this value; for "text", that the words describe it."""
    return frozenset({Condition(property=prop, value=value)})


def phrase_of(*parts: Wording) -> Wording:
    """Several parts as one wording: their words in order, and all their features, evidence and conditions."""
    return Wording(
        text=" ".join(part.text for part in parts),
        features=frozenset[str]().union(*(part.features for part in parts)),
        evidence=tuple(step for part in parts for step in part.evidence),
        conditions=frozenset[Condition]().union(*(part.conditions for part in parts)),
    )


def add_phrase(
    lattice: Lattice,
    phrase: str,
    parts: Sequence[Wording],
    *,
    order: int = 0,
    aliases: Sequence[str] = (),
    the: bool = False,
) -> None:
    """Add "a PHRASE" or "the PHRASE" with the features and conditions of all its parts, and their evidence in the
    order given.
    """
    whole = phrase_of(*parts)
    lattice.add(
        f"the {phrase}" if the else indefinite(phrase),
        whole.features,
        evidence=whole.evidence,
        conditions=whole.conditions,
        order=order,
        aliases=aliases,
    )
