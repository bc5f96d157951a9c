"""Self-consistency: the answer that most responses give (Wang et al. 2023), after normalisation.

`text` counts answers that are the same words but for case, punctuation and articles (Yona et al. 2024); `alias` those
that are the same entity, date or amount; `ladder` also counts for an answer the responses that entail it, so that
Hamburg speaks for Germany where somebody said Germany. By what they mean, what the question says is no answer.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from granola.decoding.claims import Claim, ClaimTally, fineness
from granola.decoding.decision import Abstaining, Decision, abstained, confidence, of_responses
from granola.decoding.response_cleaning import CleanedResponse
from granola.matching.squad import normalise

SHOWN = 4


class Counting(StrEnum):
    """What counts as the same answer."""

    TEXT = "text"
    ALIAS = "alias"
    LADDER = "ladder"


def tie_break(answers: Iterable[str]) -> dict[str, bytes]:
    """A rank for each answer that decides between equals: the least is taken.

    It is a hash of the answer and of all answers of the question. So no spelling is preferred, as the alphabet would,
    and the choice is the same on every run and in whatever order the responses come.
    """
    every = sorted(set(answers))
    whole = "\n".join(every)
    return {answer: hashlib.sha256(f"{whole}\n\n{answer}".encode("utf-8", "replace")).digest() for answer in every}


@dataclass(frozen=True, kw_only=True, slots=True)
class SelfConsistency:
    """The settings."""

    counting: Counting = Counting.TEXT
    abstaining: Abstaining = Abstaining.IGNORE

    def of_texts(self, responses: Sequence[CleanedResponse], weights: Sequence[float] = ()) -> Decision:
        """The answer by counting texts, each by its weight if there are any. Equal numbers: see `tie_break`."""
        votes: dict[str, list[int]] = {}
        for number, response in enumerate(responses):
            if response.abstains is None:
                votes.setdefault(normalise(response.text) or response.text, []).append(number)

        def weight(numbers: Collection[int]) -> float:
            return round(sum(weights[number] for number in numbers), 9) if weights else len(numbers)

        answers = []
        saying: dict[str, list[int]] = {}
        for group in votes.values():
            texts = Counter(responses[number].whole for number in group)
            answers.append((min(texts, key=lambda text: (-texts[text], len(text), text)), weight(group)))
            saying[answers[-1][0]] = group
        answering = sum(number for _, number in answers)
        chance = tie_break(text for text, _ in answers)
        every = weight(range(len(responses)))
        ranked = sorted(answers, key=lambda answer: (-answer[1], chance[answer[0]]))
        decided = self._decided(ranked, every, every - answering)
        return replace(decided, supporters=frozenset(saying.get(decided.text, ())))

    def of_tally(self, tally: ClaimTally) -> Decision:
        """The answer by counting what the responses mean. Equal numbers: the finest, then see `tie_break`."""

        def votes(claim: Claim) -> float:
            return claim.support if self.counting is Counting.LADDER else claim.said

        said = [claim for claim in tally.claims if claim.said_by]
        answers = [claim for claim in said if not tally.tells(claim)]
        if said and not answers:
            return abstained("nothing that the question does not say")
        chance = tie_break(claim.name for claim in answers)
        ranked = sorted(answers, key=lambda claim: (-votes(claim), *fineness(claim)[:3], chance[claim.name]))
        decided = self._decided([(claim.name, votes(claim)) for claim in ranked], tally.responses, tally.abstaining)
        if decided.abstains:
            return decided
        best = ranked[0]
        return Decision(
            text=best.text,
            explanation=decided.explanation,
            support=decided.support,
            confidence=confidence(votes(best), best.said, best.same, tally.responses),
            qid=best.qid,
            supporters=best.supporters if self.counting is Counting.LADDER else best.said_by,
            bits=best.bits,
            counted=decided.counted,
            responses=decided.responses,
            more=best.basis_and_name(),
        )

    def _decided(self, answers: Sequence[tuple[str, float]], responses: float, abstaining: float) -> Decision:
        if self.abstaining.declines(responses=responses, abstaining=abstaining):
            return abstained(f"{of_responses(abstaining, responses)} abstain")
        of = self.abstaining.counted(responses=responses, abstaining=abstaining)
        (text, votes), *others = answers
        against = self.abstaining is Abstaining.AGAINST and abstaining > votes
        if against or self.abstaining.declines(responses=responses, abstaining=abstaining, support=votes):
            return abstained(f"{of_responses(abstaining, responses)} abstain; {text}: {votes:.4g} of {of:.4g}")
        parts = [f"{text}: {of_responses(votes, of)}"]
        parts += [f"{other}: {n:.4g} of {of:.4g}" for other, n in others[:SHOWN]]
        if len(others) > SHOWN:
            parts.append(f"{len(others) - SHOWN} more")
        if tied := [other for other, n in others if n == votes]:
            parts.append(f"a tie with {' and '.join(tied[:2])}")
        if abstaining:
            parts.append(f"{abstaining:.4g} of {responses:.4g} abstain")
        return Decision(
            text=text,
            explanation="; ".join(parts),
            support=votes / of,
            confidence=confidence(votes, votes, votes, responses),
            counted=of,
            responses=responses,
        )
