"""Parts of phrases with what backs them, and the phrases made of several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from abstraction.language.phrases import Lattice, indefinite
from abstraction.tiers import Condition, Evidence


@dataclass(frozen=True, kw_only=True, slots=True)
class Wording:
    """Words that are a phrase or stand in one: the features that they state, and what backs them."""

    text: str
    features: frozenset[str]
    evidence: tuple[Evidence, ...]
    conditions: frozenset[Condition]


def states(prop: str, value: str) -> frozenset[Condition]:
    """That the answer has this value of a property; of the property "text", that these words are said of it."""
    return frozenset({Condition(property=prop, value=value)})


def phrase_of(*parts: Wording) -> Wording:
    """The words of several parts behind each other, which state what each of them does."""
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
    """Put in "a PHRASE" or "the PHRASE", which states all that its parts do; their evidence in the order given."""
    whole = phrase_of(*parts)
    lattice.add(
        f"the {phrase}" if the else indefinite(phrase),
        whole.features,
        evidence=whole.evidence,
        conditions=whole.conditions,
        order=order,
        aliases=aliases,
    )
