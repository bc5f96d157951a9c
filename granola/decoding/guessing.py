"""How far up can one guess? Answers from the question's relation and the subject's name alone.

A coarse tier may be right without any knowledge of the subject: most people asked about were born in a few countries,
and a name often tells which. This baseline knows only other questions of the same file: for every tier of theirs how
often it holds, and how often of subjects that share a word of their name, or its ending. The questions are
parted into folds, and each is guessed from the other folds alone. What a system scores beyond that is knowledge of the
subject, as far as this guesser goes: a better one may exist.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from abstraction.faults import Fault, OnReject, attempt
from abstraction.questions.relation_wording import subject_of
from abstraction.rows import TieredRow
from granola.decoding.decision import Decision, abstained
from granola.errors import UsageError
from kg.terms import normalise

FOLDS = 10
FEWEST = 2  # questions of which a tier holds before it is guessed
PRIOR = 10  # questions that the relation's own share counts as, beside those with a sign of the name
MOST = 5  # questions that one sign counts as, however many have it
_WORD = re.compile(r"[^\W_]+")
_ENDING = 3  # letters of a name's last word


@dataclass(slots=True)
class _Known:
    """What the questions of one relation tell: each once per tier and once per sign of its subject's name."""

    questions: int = 0
    tiers: Counter[str] = field(default_factory=Counter)
    texts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    signs: Counter[str] = field(default_factory=Counter)
    together: Counter[tuple[str, str]] = field(default_factory=Counter)
    levels: Counter[str] = field(default_factory=Counter)

    def add(self, row: TieredRow, signs: frozenset[str], by: int = 1) -> None:
        """Count a question, or with `by` -1 take it back."""
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

    def chance(self, key: str, signs: Sequence[str]) -> float:
        """How likely the tier holds of a subject with these signs: a mean of shares, in [0, 1]."""
        usual = self.tiers[key] / self.questions
        held, weight = PRIOR * usual, float(PRIOR)
        for sign in signs:
            if (every := self.signs[sign]) > 0:
                counted = min(every, MOST)
                held += counted * self.together[key, sign] / every
                weight += counted
        return held / weight


def guesses(
    rows: Sequence[TieredRow], *, least: float | None = None, folds: int = FOLDS, on_reject: OnReject | None = None
) -> Iterator[tuple[TieredRow, Decision]]:
    """Each row with a guess, in order. Raises UsageError for settings outside their ranges.

    `least` None guesses the likeliest tier; a number in (0, 1] the finest of those that are at least so likely, or IDK.
    A row with which the program is at fault goes to `on_reject`, and no other is guessed from it where it cannot be
    counted; without it the error is raised.
    """
    if least is not None and not 0.0 < least <= 1.0:
        raise UsageError(f"least is {least:g}; allowed: above 0 and up to 1")
    if folds < 2:
        raise UsageError(f"folds is {folds}; allowed: 2 and more")
    read: list[tuple[TieredRow, frozenset[str]]] = []  # each row that can be counted, with its signs

    def failed(row: TieredRow, fault: Fault) -> None:
        if on_reject is not None:
            on_reject(fault.rejected(source=row.source, id=row.id, text=row.question))
        elif fault.cause is not None:
            raise fault.cause

    for row in rows:
        signs = attempt("reading a question", _read, row)
        if isinstance(signs, Fault):
            failed(row, signs)
        else:
            read.append((row, signs))
    made = _guess_all(read, least, folds)
    for place, (row, _) in enumerate(read):
        decision = made[place]
        if isinstance(decision, Fault):
            failed(row, decision)
        else:
            yield row, decision


def _guess_all(
    read: Sequence[tuple[TieredRow, frozenset[str]]], least: float | None, folds: int
) -> dict[int, Decision | Fault]:
    """The guess of each place in `read`, from the questions of its relation in the other folds."""
    parts: dict[tuple[str | None, int], list[int]] = defaultdict(list)
    known: dict[str | None, _Known] = defaultdict(_Known)
    for place, (row, signs) in enumerate(read):
        known[row.relation].add(row, signs)
        fold = int.from_bytes(sha256(row.id.encode()).digest()[:4], "big") % folds
        parts[row.relation, fold].append(place)
    decisions: dict[int, Decision | Fault] = {}
    for (relation, _), places in sorted(parts.items(), key=lambda part: part[1]):
        here = known[relation]
        for place in places:
            here.add(*read[place], by=-1)
        for place in places:
            decisions[place] = attempt("guessing", _guess, here, read[place][1], least)
        for place in places:
            here.add(*read[place])
    return decisions


def _read(row: TieredRow) -> frozenset[str]:
    """The signs of a row that can be counted. Raises what counting it raises, before it is half counted."""
    signs = signs_of(row)
    _Known().add(row, signs)
    return signs


def signs_of(row: TieredRow) -> frozenset[str]:
    """The words of the subject's name and the ending of its last word; nothing where the question tells no subject."""
    name = (row.question_entity or {}).get("text")
    if not name and row.relation:
        name = subject_of(row.question, row.relation)
    words = _WORD.findall(normalise(name or ""))
    if not words:
        return frozenset()
    return frozenset(words) | {f"-{words[-1][-_ENDING:]}"}


def _guess(known: _Known, signs: frozenset[str], least: float | None) -> Decision:
    listed = sorted(signs)  # sums do not depend on their order
    chances = {key: known.chance(key, listed) for key, held in known.tiers.items() if held >= FEWEST}
    if least is not None:
        chances = {key: chance for key, chance in chances.items() if chance >= least}
    if not chances:
        return abstained("nothing is known of other questions like it")

    def depth(key: str) -> float:
        return known.levels[key] / known.tiers[key]

    def text(key: str) -> str:
        texts = known.texts[key]
        return min((t for t in texts if texts[t] > 0), key=lambda t: (-texts[t], len(t), t))

    def order(key: str) -> tuple[float, float, str]:
        likely = -chances[key]
        return (likely, depth(key), key) if least is None else (depth(key), likely, key)

    best = min(chances, key=order)
    held, of = known.tiers[best], known.questions
    reason = f"{held} of {of} other questions of the relation; with this name {chances[best]:.2f} likely"
    return Decision(
        text=text(best),
        explanation=f"{text(best)}: {reason}",
        support=held / of,
        confidence=chances[best],
        qid=best if re.fullmatch(r"Q\d+", best) else None,
    )
