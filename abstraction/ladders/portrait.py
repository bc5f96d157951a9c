"""What the builders of persons share: the description as read, and the phrases put in so far."""

from __future__ import annotations

from dataclasses import dataclass, field

from abstraction.descriptions.person_grammar import PersonDescription, parse_person
from abstraction.language.phrases import Lattice
from abstraction.proposals import LadderCase


@dataclass(kw_only=True)
class Portrait:
    """A person under construction. `order` counts the phrases put in: the display order inside a level."""

    case: LadderCase
    text: str
    described: PersonDescription | None
    lattice: Lattice = field(default_factory=Lattice)
    order: int = 0

    @classmethod
    def of(cls, case: LadderCase) -> Portrait:
        """The answer's description read, no phrases yet."""
        text = case.graph.description(case.answer)
        return cls(case=case, text=text or "", described=parse_person(text, case.vocabulary) if text else None)
