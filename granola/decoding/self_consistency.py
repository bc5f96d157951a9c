"""Self-consistency: the most frequent answer after normalisation (Wang et al. 2023).

`text` groups answers with the same words, ignoring case, punctuation and articles (Yona et al. 2024); `alias` groups
those with the same entity, date or amount; `ladder` also counts responses that entail an answer: Hamburg counts for
Germany if a response states Germany. Except with `text`, an answer that the question states is excluded.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from granola.decoding.claims import Claim, ClaimTally, decision_for, fineness
from granola.decoding.decision import Abstaining, Decision, abstention, list_others, of_responses
from granola.decoding.response_cleaning import CleanedResponse
from granola.matching.squad import normalise


class Counting(StrEnum):
    """The criterion for equal answers."""

    TEXT = "text"
    ALIAS = "alias"
    LADDER = "ladder"


def tie_break(answers: Iterable[str]) -> dict[str, bytes]:
    """A rank for each answer that breaks ties: the lowest wins.

    It is a hash of the answer and of all answers to the question: deterministic, independent of the order of
    responses, and without preference for a spelling, unlike alphabetical order.
    """
    # Sorted, so that the hash does not depend on the order of responses.
    every = sorted(set(answers))
    whole = "\n".join(every)
    return {answer: hashlib.sha256(f"{whole}\n\n{answer}".encode("utf-8", "replace")).digest() for answer in every}


def tally_of_words(responses: Sequence[CleanedResponse], weights: Sequence[float] = ()) -> ClaimTally:
    """Claims from the words of responses alone, weighted if `weights` are given."""
    votes: dict[str, list[int]] = {}
    for number, response in enumerate(responses):
        if response.abstains is None:
            votes.setdefault(normalise(response.text) or response.text, []).append(number)

    def weight(numbers: Collection[int]) -> float:
        return round(sum(weights[number] for number in numbers), 9) if weights else len(numbers)

    claims = []
    for group in votes.values():
        texts = Counter(responses[number].whole for number in group)
        # The commonest spelling; the shortest on a tie.
        text = min(texts, key=lambda whole: (-texts[whole], len(whole), whole))
        by, stated = frozenset(group), weight(group)
        claims.append(
            Claim(
                text=text, name=text, qid=None, bits=None, supporters=by, stated_by=by,
                support=stated, stated=stated, same=stated, basis="text",
            )
        )  # fmt: skip
    every = weight(range(len(responses)))
    declining = every - sum(claim.stated for claim in claims)
    return ClaimTally(claims=tuple(claims), responses=every, abstaining=declining, unlinked=())


@dataclass(frozen=True, kw_only=True, slots=True)
class SelfConsistency:
    """Selects the most frequent answer."""

    counting: Counting = Counting.TEXT
    abstaining: Abstaining = Abstaining.IGNORE

    def decide(self, tally: ClaimTally) -> Decision:
        """The answer with most votes; on a tie the finest, then see `tie_break`."""

        def votes(claim: Claim) -> float:
            return claim.support if self.counting is Counting.LADDER else claim.stated

        given = [claim for claim in tally.claims if claim.stated_by]
        answers = [claim for claim in given if not tally.repeats_question(claim)]
        declining, of_all = tally.abstaining, tally.responses
        # All answers repeat the question.
        if given and not answers:
            return abstention("all answers repeat the question")
        if self.abstaining.declines(responses=of_all, abstaining=declining):
            return abstention(f"{of_responses(declining, of_all)} abstain")
        chance = tie_break(claim.name for claim in answers)
        best, *others = sorted(answers, key=lambda claim: (-votes(claim), *fineness(claim)[:3], chance[claim.name]))
        of, most = self.abstaining.counted_responses(responses=of_all, abstaining=declining), votes(best)
        against = self.abstaining is Abstaining.AGAINST and declining > most
        if against or self.abstaining.declines(responses=of_all, abstaining=declining, support=most):
            return abstention(f"{of_responses(declining, of_all)} abstain; {best.name}: {most:.4g} of {of:.4g}")
        parts = [f"{best.name}: {of_responses(most, of)}"]
        parts += list_others([(claim.name, votes(claim)) for claim in others], of)
        if tied := [claim.name for claim in others if votes(claim) == most]:
            parts.append(f"a tie with {' and '.join(tied[:2])}")
        if declining:
            parts.append(f"{declining:.4g} of {of_all:.4g} abstain")
        return decision_for(best, tally, votes=most, of=of, explanation="; ".join(parts))
