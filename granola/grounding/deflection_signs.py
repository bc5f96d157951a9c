"""Is a question of GaRAGe's to be declined? Told by its human answer, with second signs that may say otherwise.

Sorodoc et al. 2025: an annotator who found the passages insufficient wrote one printed sentence and no answer. So the
human answer decides. Who validates answers left such rows aside; they have no relevant passage, and nothing is cited.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from granola.grounding.citation_markers import cited_passages, deflects
from granola.grounding.grounded_samples import GroundingPassage, Relevance

PRINTED = "There is not enough grounding for an answer."


@dataclass(frozen=True, kw_only=True, slots=True)
class DeflectionSigns:
    """`by`: "printed sentence", "empty answer" or the rule by which the human answer deflects, "" where it answers.

    `others` say whether the question is to be declined by each sign that a row has: "not validated", "no relevant
    passage" (wide reading), "no citation".
    """

    by: str
    others: Mapping[str, bool]

    @property
    def deflects(self) -> bool:
        """What the human answer says."""
        return bool(self.by)

    @property
    def contradicting(self) -> tuple[str, ...]:
        """The signs that say otherwise than the human answer."""
        return tuple(sign for sign, told in self.others.items() if told is not self.deflects)


def deflection_signs(
    answer: str, passages: Sequence[GroundingPassage], *, validated: bool | None, cited: bool | None
) -> DeflectionSigns:
    """The signs of a row. `validated` and `cited` are None where a row does not tell."""
    ids = [passage.id for passage in passages]
    if not answer.strip():
        by = "empty answer"
    elif " ".join(answer.split()).strip(" .\"'").casefold() == PRINTED.rstrip(".").casefold():
        by = "printed sentence"
    else:
        by = deflects(answer, ids) or ""
    others = {} if validated is None else {"not validated": not validated}
    labels = [passage.is_relevant(Relevance.WIDE) for passage in passages]
    if any(label is not None for label in labels):
        others["no relevant passage"] = True not in labels
    marked = bool(cited_passages(answer, ids)[0])
    if cited is not None or marked:
        others["no citation"] = not (cited or marked)
    return DeflectionSigns(by=by, others=others)
