"""The rules that select one answer of several responses: DRAG without a model, and self-consistency.

Decoding with Response AGgregation (Yona et al. 2024, section 4) asks a model for the most specific answer consistent
with all sampled responses, or IDK. Here the ladders of the responses are compared instead: `DragGraph`.

`SelfConsistency` takes the most frequent answer after normalisation (Wang et al. 2023).
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from granola.decoding.claims import Claim, ClaimTally, decision_for_claim, fineness_sort_key, total_weight
from granola.decoding.decision import (
    SHOWN,
    SUPPORT,
    Abstaining,
    Counting,
    Decision,
    abstention,
    format_alternatives,
    format_response_count,
)
from granola.decoding.response_cleaning import CleanedResponse
from granola.errors import UsageError
from granola.matching.squad import normalise

UNSAID = 0.9  # minimum share for an answer that no response stated; measured in docs/reference/decoding.md


@dataclass(frozen=True, kw_only=True, slots=True)
class DragGraph:
    """Aggregation by ladders.

    `support`: the share of the counted responses that must entail the answer, in (0, 1]; 1 is the paper's "consistent
    with all". An answer that no response states needs the share UNSAID, if it is a kind ("an American politician" from
    five presidents) or the commonest response is unknown to the graph. A claim that the question already states is
    never the answer.

    Raises UsageError for a support outside its range.
    """

    support: float = SUPPORT
    abstaining: Abstaining = Abstaining.IGNORE

    def __post_init__(self) -> None:
        if not 0.0 < self.support <= 1.0:
            raise UsageError(f"support is {self.support:g}; allowed: above 0 and up to 1, as in 0.5")

    def decide(self, tally: ClaimTally) -> Decision:
        """The most specific claim with enough support, or IDK."""
        if self.abstaining.forces_abstention(responses=tally.responses, abstaining=tally.abstaining):
            return abstention(f"{format_response_count(tally.abstaining, tally.responses)} abstain")
        of = self.abstaining.denominator_of_shares(responses=tally.responses, abstaining=tally.abstaining)
        least = least_count_for_share(self.support, of)
        least_unsaid = least_count_for_share(max(self.support, UNSAID), of)
        most = max((claim.stated for claim in tally.claims), default=0)
        # Unless the commonest answer is linked, claims that no response states come from a minority.
        is_known = any(c.stated == most and c.basis == "graph" for c in tally.claims if c.stated_by)
        chosen = next(
            (
                claim
                for claim in tally.claims
                if claim.support >= (least if claim.stated_by or (is_known and not claim.is_kind) else least_unsaid)
                and is_uncontested(claim, tally.claims)
                and not tally.repeats_question(claim)
            ),
            None,
        )
        explanation = self._explanation(chosen, tally, of)
        if chosen is None:
            return abstention(explanation)
        declining, of_all = tally.abstaining, tally.responses
        if self.abstaining.forces_abstention(responses=of_all, abstaining=declining, support=chosen.support):
            return abstention(f"{format_response_count(declining, of_all)} abstain; {explanation}")
        return decision_for_claim(chosen, tally, votes=chosen.support, of=of, explanation=explanation)

    def _explanation(self, chosen: Claim | None, tally: ClaimTally, of: float) -> str:
        finer = tally.claims if chosen is None else tally.claims[: tally.claims.index(chosen)]
        others = sorted(finer, key=lambda claim: -claim.support)  # stable sort: among equals the finest stays first
        if chosen is None:
            # "100 %" would read as a measured share.
            demanded = "all" if self.support == 1 else f"{100 * self.support:g} %"
            parts = [f"nothing that {demanded} of {of:.4g} responses entail"]
        else:
            parts = [f"{chosen.name}: {format_response_count(chosen.support, of)}"]
        parts += format_alternatives([(claim.name, claim.support) for claim in others], of)
        answers = [claim for claim in tally.claims if claim.stated_by]
        most = max((claim.support for claim in answers), default=0)
        first = [claim for claim in answers if claim.support == most]
        if tied := [c for c in first if any(c.supporters.isdisjoint(other.supporters) for other in first)]:
            parts.append(f"a tie of {' and '.join(claim.name for claim in tied[:2])}")
        if tally.abstaining:
            parts.append(f"{tally.abstaining:.4g} of {tally.responses:.4g} abstain")
        if tally.unlinked:
            named = ", ".join(tally.unlinked[:SHOWN]) + (", ..." if len(tally.unlinked) > SHOWN else "")
            parts.append(f"not linked: {named}")
        return "; ".join(parts)


def least_count_for_share(share: float, total: float) -> float:
    """The least number that is at least a share of `total`; exact for integers: 0.1 * 10 is 1 despite rounding."""
    # Weights are floats: a tolerance replaces exact arithmetic.
    return math.ceil(Fraction(str(share)) * total) if isinstance(total, int) else share * total - 1e-9


def is_uncontested(claim: Claim, claims: Sequence[Claim]) -> bool:
    """Whether no other claim with the same or more support excludes this one, that is, has no supporter in common.

    Two claims with equal support that exclude each other both fail: the answer is a claim that both entail, if any.
    With a threshold above one half this has no effect: two such claims share a supporter.
    """
    most, supporters = claim.support, claim.supporters
    return not any(supporters.isdisjoint(other.supporters) and other.support >= most for other in claims)


def tie_break_ranks(answers: Iterable[str]) -> dict[str, bytes]:
    """A rank for each answer that breaks ties: the lowest wins.

    It is a hash of the answer and of all answers to the question: deterministic, independent of the order of
    responses, and without preference for a spelling, unlike alphabetical order.
    """
    # Sorted, so that the hash does not depend on the order of responses.
    every = sorted(set(answers))
    whole = "\n".join(every)
    return {answer: hashlib.sha256(f"{whole}\n\n{answer}".encode("utf-8", "replace")).digest() for answer in every}


def tally_by_words(responses: Sequence[CleanedResponse], weights: Sequence[float] = ()) -> ClaimTally:
    """Claims from the words of responses alone, weighted if `weights` are given."""
    votes: dict[str, list[int]] = {}
    for number, response in enumerate(responses):
        if response.abstains is None:
            votes.setdefault(normalise(response.text) or response.text, []).append(number)
    weight = partial(total_weight, weights=weights)
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
        """The answer with most votes; on a tie the finest, then see `tie_break_ranks`."""

        def votes_for(claim: Claim) -> float:
            return claim.support if self.counting is Counting.LADDER else claim.stated

        given = [claim for claim in tally.claims if claim.stated_by]
        answers = [claim for claim in given if not tally.repeats_question(claim)]
        declining, of_all = tally.abstaining, tally.responses
        # All answers repeat the question.
        if given and not answers:
            return abstention("all answers repeat the question")
        if self.abstaining.forces_abstention(responses=of_all, abstaining=declining):
            return abstention(f"{format_response_count(declining, of_all)} abstain")
        ranks = tie_break_ranks(claim.name for claim in answers)
        best, *others = sorted(
            answers, key=lambda claim: (-votes_for(claim), *fineness_sort_key(claim)[:3], ranks[claim.name])
        )
        of, most = self.abstaining.denominator_of_shares(responses=of_all, abstaining=declining), votes_for(best)
        against = self.abstaining is Abstaining.AGAINST and declining > most
        if against or self.abstaining.forces_abstention(responses=of_all, abstaining=declining, support=most):
            shown = f"{best.name}: {most:.4g} of {of:.4g}"
            return abstention(f"{format_response_count(declining, of_all)} abstain; {shown}")
        parts = [f"{best.name}: {format_response_count(most, of)}"]
        parts += format_alternatives([(claim.name, votes_for(claim)) for claim in others], of)
        if tied := [claim.name for claim in others if votes_for(claim) == most]:
            parts.append(f"a tie with {' and '.join(tied[:2])}")
        if declining:
            parts.append(f"{declining:.4g} of {of_all:.4g} abstain")
        return decision_for_claim(best, tally, votes=most, of=of, explanation="; ".join(parts))


Method = DragGraph | SelfConsistency
