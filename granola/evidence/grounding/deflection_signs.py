"""Whether a good answer to a GaRAGe question deflects: decided by the human answer, with further signs to compare.

Sorodoc et al. 2025: an annotator who found the passages insufficient wrote one fixed sentence and no answer, so the
human answer decides. Such rows were not validated, have no relevant passage, and their answer cites nothing: these are
the further signs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from granola.evidence.grounding.citation_markers import cited_passages, deflecting_rule
from granola.evidence.grounding.grounded_samples import GroundingPassage, Relevance

# Sorodoc et al. 2025: the sentence of its annotators
DEFLECTING_SENTENCE = "There is not enough grounding for an answer."


@dataclass(frozen=True, kw_only=True, slots=True)
class DeflectionSigns:
    """`by`: "printed sentence", "empty answer" or the name of the rule by which the human answer deflects; "" where it
    answers.

    `others`: for each further sign of the row ("not validated", "no relevant passage" in the wide reading, "no
    citation"), whether it suggests deflection.
    """

    by: str
    others: Mapping[str, bool]

    @property
    def deflects(self) -> bool:
        """Whether the human answer deflects."""
        return bool(self.by)

    @property
    def contradicting(self) -> tuple[str, ...]:
        """The further signs that disagree with the human answer."""
        return tuple(sign for sign, told in self.others.items() if told is not self.deflects)


def deflection_signs(
    answer: str, passages: Sequence[GroundingPassage], *, validated: bool | None, cited: bool | None
) -> DeflectionSigns:
    """The signs of a row. `validated` and `cited` are None where the row lacks that field."""
    ids = [passage.id for passage in passages]
    if not answer.strip():
        by = "empty answer"
    elif " ".join(answer.split()).strip(" .\"'").casefold() == DEFLECTING_SENTENCE.rstrip(".").casefold():
        by = "printed sentence"
    else:
        by = deflecting_rule(answer, ids) or ""
    # Annotators did not validate answers that deflect.
    others = {} if validated is None else {"not validated": not validated}
    labels = [passage.is_relevant(Relevance.WIDE) for passage in passages]
    # Without any label nothing can be said about relevance.
    if any(label is not None for label in labels):
        others["no relevant passage"] = True not in labels
    marked = bool(cited_passages(answer, ids)[0])
    # A row may lack labels of citations, and its answer still contain markers.
    if cited is not None or marked:
        others["no citation"] = not (cited or marked)
    return DeflectionSigns(by=by, others=others)
