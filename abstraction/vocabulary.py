"""Words that the snapshot itself attests: occupation names, and head phrases of descriptions with counts.

A phrase may be shortened only to one that WikiData's editors use; this is where that is looked up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from kg.store.base import Store
from kg.terms import best_text, fallback_chain, normalise

DESCRIPTIONS_READ = 300_000
BATCH = 2_000
MIN_ATTESTED = 3


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """Attested words of one language. Keys are normalised.

    `occupations` maps names (labels and aliases of P106 values) to QIDs, the label's owner and the more
    frequent occupation first. `phrases` counts description openings (text before the first comma,
    preposition or relative clause), demonyms and all.
    """

    occupations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    phrases: Mapping[str, int] = field(default_factory=dict)

    def attests(self, phrase: str) -> bool:
        """Whether the phrase is an occupation's name or opens at least three descriptions."""
        key = normalise(phrase)
        return key in self.occupations or self.phrases.get(key, 0) >= MIN_ATTESTED
