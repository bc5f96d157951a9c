"""Place chains in responses: "Kunming, Yunnan, China" is that Kunming, whatever its namesakes.

Where the snapshot lacks it, the rest is still said: something in Yunnan, China.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from abstraction.descriptions.place_grammar import variants
from abstraction.linking.gazetteer import Gazetteer
from abstraction.linking.linker import Linker
from abstraction.relations import Relation

_SIDE = (
    r"(?:(?:north|south|east|west|central)(?:[- ]?(?:east|west))?(?:ern)?\s++(?=[A-ZÀ-Þ]))?"  # "in northern Germany"
)
_PARTED = re.compile(
    rf"(?:(?<!\s)\s++)?+(?:,\s*+(?:in\s++)?{_SIDE}|[()]\s*+)|(?<!\s)\s++in\s++(?:the\s++)?{_SIDE}(?=[A-ZÀ-Þ])"
)
_NEGATED = re.compile(r"(?:not|never|neither|outside)\b(?! far\b)", re.IGNORECASE)  # "not in Hamburg"
LONGEST = 6  # parts of a chain


@dataclass(frozen=True, slots=True)
class AnswerContext:
    """What a response answers: the relation or its stand-in, the ids that the subject may have, the question."""

    asked: Relation
    subjects: tuple[str, ...]
    question: str


def parts_of(text: str) -> tuple[str, ...]:
    """The names in a chain, finest first; empty for a text that is no chain."""
    if _NEGATED.match(text):
        return ()
    parts = tuple(part for part in _PARTED.split(text) if part)
    return parts if 2 <= len(parts) <= LONGEST and all(any(c.isalpha() for c in part) for part in parts) else ()


class Chains:
    """Resolves chains in one graph. Answers depend on the snapshot and the context alone."""

    def __init__(self, gazetteer: Gazetteer, linker: Linker) -> None:
        self._gazetteer = gazetteer
        self._linker = linker

    def is_chain(self, parts: Sequence[str]) -> bool:
        """Whether the names behind the first end in a place that the snapshot knows."""
        return len(parts) > 1 and any(self._gazetteer.known(name) for name in (parts[-1], *variants(parts[-1])))

    def entity(self, parts: Sequence[str], context: AnswerContext) -> str | None:
        """The entity of the first name that lies in all of the others; None where none is known to."""
        name = ", ".join(parts)
        link = self._linker.link(name, context.asked, subjects=context.subjects, question=context.question)
        return None if link.abstained or link.confidence == "low" else link.qid

    def rest(self, parts: Sequence[str], context: AnswerContext) -> tuple[str, str] | None:
        """(name, id) of the finest place behind the first name that can be told; None where none can."""
        for start in range(1, len(parts)):
            if (qid := self.entity(parts[start:], context)) is not None:
                return parts[start], qid
        return None
