"""Self-consistency: the answer that most responses give (Wang et al. 2023), after normalisation.

`text` counts answers that are the same words; `alias` the same entity, date or amount; `ladder` also counts for an
answer the responses that entail it, so that Hamburg speaks for Germany where somebody said Germany.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from granola.decoding.cleaning import Said
from granola.decoding.decision import Abstaining, Decision, abstained, confidence, of_responses
from granola.decoding.tally import Claim, Tally
from granola.matching.text import key as folded

SHOWN = 4


class Counting(StrEnum):
    """What counts as the same answer."""

    TEXT = "text"
    ALIAS = "alias"
    LADDER = "ladder"


@dataclass(frozen=True, kw_only=True, slots=True)
class SelfConsistency:
    """The settings."""

    counting: Counting = Counting.TEXT
    abstaining: Abstaining = Abstaining.MAJORITY

    def of_texts(self, responses: Sequence[Said]) -> Decision:
        """The answer by counting texts. Equal numbers: the first in the alphabet."""
        votes: dict[tuple[str, ...], list[Said]] = {}
        for one in responses:
            if one.abstains is None:
                votes.setdefault(folded(one.text) or (one.text,), []).append(one)
        answers = []
        for own in votes.values():
            texts = Counter(one.whole for one in own)
            answers.append((min(texts, key=lambda text: (-texts[text], len(text), text)), len(own)))
        answering = sum(number for _, number in answers)
        return self._decided(
            sorted(answers, key=lambda answer: (-answer[1], answer[0])), len(responses), len(responses) - answering
        )

    def of_tally(self, tally: Tally) -> Decision:
        """The answer by counting what the responses mean. Equal numbers: the finest, then the first in the alphabet."""

        def votes(claim: Claim) -> int:
            return claim.support if self.counting is Counting.LADDER else len(claim.said_by)

        given = sorted((claim for claim in tally.claims if claim.said_by), key=lambda claim: -votes(claim))
        decided = self._decided([(claim.text, votes(claim)) for claim in given], tally.responses, tally.abstaining)
        if decided.abstains:
            return decided
        best = given[0]
        return Decision(
            text=decided.text,
            explanation=decided.explanation,
            support=decided.support,
            confidence=confidence(votes(best), tally.responses, best.bits),
            qid=best.qid,
            bits=best.bits,
        )

    def _decided(self, answers: Sequence[tuple[str, int]], responses: int, abstaining: int) -> Decision:
        if self.abstaining.declines(responses=responses, abstaining=abstaining):
            return abstained(f"{of_responses(abstaining, responses)} abstain")
        of = self.abstaining.counted(responses=responses, abstaining=abstaining)
        (text, votes), *others = answers
        if self.abstaining is Abstaining.AGAINST and abstaining > votes:
            return abstained(f"{of_responses(abstaining, responses)} abstain; {text}: {votes} of {of}")
        parts = [f"{text}: {of_responses(votes, of)}", *(f"{other}: {n} of {of}" for other, n in others[:SHOWN])]
        if len(others) > SHOWN:
            parts.append(f"{len(others) - SHOWN} more")
        if tied := [other for other, n in others if n == votes]:
            parts.append(f"a tie with {' and '.join(tied[:2])}")
        if abstaining:
            parts.append(f"{abstaining} of {responses} abstain")
        return Decision(
            text=text,
            explanation="; ".join(parts),
            support=votes / of,
            confidence=confidence(votes, responses, None),
        )
