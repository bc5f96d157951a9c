"""A baseline that guesses from the relation and the name of the subject alone.

A coarse tier may be correct without knowledge of the subject: most people in such questions were born in a few
countries, and a name often suggests which. The baseline uses the other questions of the file: how often each tier is
correct, overall and for subjects that share a word or an ending of the name. Each question is left out of its own
counts. A score above this baseline is evidence of knowledge about the subject, although a better guesser may exist.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from abstraction.files.rows import TieredRow
from abstraction.text.questions.question_wording import subject_of
from granola.decoding.decision import Decision, abstention
from granola.errors import UsageError
from kg.base.model import normalise

FEWEST = 2  # questions for which a tier must be correct before it is guessed
PRIOR = 10  # weight of the share in the relation, in questions; the weight of each sign is added
MOST = 5  # maximum weight of one sign, in questions: a frequent word should not dominate
_WORD = re.compile(r"[^\W_]+")
_ENDING = 3  # letters; the ending of the last word of a name


@dataclass(slots=True)
class _RelationCounts:
    """Counts over the questions of one relation, each question once per tier and once per sign of the subject name."""

    questions: int = 0
    tiers: Counter[str] = field(default_factory=Counter)
    texts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    signs: Counter[str] = field(default_factory=Counter)
    together: Counter[tuple[str, str]] = field(default_factory=Counter)
    levels: Counter[str] = field(default_factory=Counter)

    def add(self, row: TieredRow, signs: frozenset[str], by: int = 1) -> None:
        """Add a question to the counts; `by` = -1 removes it."""
        self.questions += by
        seen: set[str] = set()
        for number, level in enumerate(row.levels):
            for tier in level.tiers:
                key = tier.key
                self.texts[key][tier.text] += by
                if key not in seen:
                    seen.add(key)
                    self.tiers[key] += by
                    self.levels[key] += by * number
                    self.together.update({(key, sign): by for sign in signs})
        self.signs.update(dict.fromkeys(signs, by))

    def probability_correct(self, key: str, signs: Sequence[str]) -> float:
        """The estimated probability, in [0, 1], that a tier is correct for a subject with these signs: a weighted mean
        of shares.
        """
        usual = self.tiers[key] / self.questions
        held, weight = PRIOR * usual, float(PRIOR)
        for sign in signs:
            if (every := self.signs[sign]) > 0:
                counted = min(every, MOST)
                held += counted * self.together[key, sign] / every
                weight += counted
        return held / weight


def guess_from_subject_name(
    rows: Sequence[TieredRow], *, least_probability: float | None = None
) -> Iterator[tuple[TieredRow, Decision]]:
    """Each row with a guess, in order, from the other rows. Raises UsageError for `least_probability` out of range.

    `least_probability` None: guess the likeliest tier. A number in (0, 1]: guess the finest tier with at least this
    probability, else IDK.
    """
    if least_probability is not None and not 0.0 < least_probability <= 1.0:
        raise UsageError(f"least is {least_probability:g}; allowed: above 0 and up to 1")
    known: dict[str | None, _RelationCounts] = defaultdict(_RelationCounts)
    every = [(row, subject_name_words_and_ending(row)) for row in rows]
    for row, signs in every:
        known[row.relation].add(row, signs)
    for row, signs in every:
        of_relation = known[row.relation]
        # Leave one out: a question must not vote for its own answer.
        of_relation.add(row, signs, by=-1)
        yield row, _guess_tier(of_relation, signs, least_probability)
        of_relation.add(row, signs)


def subject_name_words_and_ending(row: TieredRow) -> frozenset[str]:
    """The signs of a subject: the words of its name and the ending of the last word; empty without a subject."""
    name = (row.question_entity or {}).get("text")
    if not name and row.relation:
        name = subject_of(row.question, row.relation)
    words = _WORD.findall(normalise(name or ""))
    if not words:
        return frozenset()
    # "-ini" or "-sen" suggests an origin even where the name is unknown.
    return frozenset(words) | {f"-{words[-1][-_ENDING:]}"}


def _guess_tier(counts: _RelationCounts, signs: frozenset[str], least_probability: float | None) -> Decision:
    listed = sorted(signs)  # sums do not depend on their order
    chances = {key: counts.probability_correct(key, listed) for key, held in counts.tiers.items() if held >= FEWEST}
    if least_probability is not None:
        chances = {key: chance for key, chance in chances.items() if chance >= least_probability}
    if not chances:
        return abstention("nothing is known of other questions like it")

    def mean_level(key: str) -> float:
        return counts.levels[key] / counts.tiers[key]

    def commonest_text(key: str) -> str:
        texts = counts.texts[key]
        return min((t for t in texts if texts[t] > 0), key=lambda t: (-texts[t], len(t), t))

    def sort_key(key: str) -> tuple[float, float, str]:
        likely = -chances[key]
        # The key breaks ties, so that runs agree.
        return (likely, mean_level(key), key) if least_probability is None else (mean_level(key), likely, key)

    best = min(chances, key=sort_key)
    held, of = counts.tiers[best], counts.questions
    reason = f"{held} of {of} other questions of the relation; with this name {chances[best]:.2f} likely"
    return Decision(
        text=commonest_text(best),
        explanation=f"{commonest_text(best)}: {reason}",
        support=held / of,
        confidence=chances[best],
        qid=best if re.fullmatch(r"Q\d+", best) else None,
    )
