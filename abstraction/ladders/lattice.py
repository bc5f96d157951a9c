"""Phrases under construction: which of them entail which."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from abstraction.base.tiers import Condition, Evidence
from abstraction.ladders.proposals import ANSWER, Proposal
from kg.base.terms import normalise


@dataclass
class Lattice:
    """A lattice of phrases; `proposals` derives which entail which.

    Phrases with the same features are synonyms: the first is the text, the others become its aliases.
    """

    nodes: dict[frozenset[str], Proposal] = field(default_factory=dict)

    def add(
        self,
        text: str,
        features: Collection[str],
        *,
        evidence: Sequence[Evidence] = (),
        conditions: Collection[Condition] = (),
        aliases: Sequence[str] = (),
        order: int = 0,
    ) -> None:
        """Add a phrase. `features` contain every feature that the phrase entails, not only those in its words."""
        key = frozenset(features)
        old = self.nodes.get(key)
        if old is not None:
            if normalise(old.text) != normalise(text) and text not in old.aliases:
                self.nodes[key] = replace(old, aliases=tuple(dict.fromkeys((*old.aliases, text, *aliases))))
            return
        self.nodes[key] = Proposal(
            key=normalise(text),
            text=text,
            aliases=tuple(aliases),
            evidence=distinct(evidence),
            conditions=frozenset(conditions),
            order=order,
        )

    def proposals(self, *, under: Sequence[str] = (ANSWER,)) -> list[Proposal]:
        """All phrases with their parents; phrases that no other entails get the parents `under`."""
        sets = sorted(self.nodes, key=len)
        out: list[Proposal] = []
        taken: set[str] = set()
        for index, small in enumerate(sets):
            node = self.nodes[small]
            if node.key in taken:
                continue
            taken.add(node.key)
            above: list[frozenset[str]] = []
            for large in sets[index + 1 :]:
                if len(large) > len(small) and small < large and not any(mid < large for mid in above):
                    above.append(large)
            parents = tuple(self.nodes[s].key for s in above) or tuple(under)
            out.append(replace(node, parents=parents))
        return out


def distinct(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """The steps of evidence without duplicates, in order."""
    if len(evidence) < 2:
        return tuple(evidence)
    out = {(e.kind, e.subject, e.statement, e.property, e.value, e.span, e.text): e for e in reversed(evidence)}
    return tuple(reversed(out.values()))
