"""Several judges of the same answers: pooled by majority and by mean, how far they agree, whom each of them favours.

One judge may favour answers of its own family (Sorodoc et al. 2025, limitations); pooled judges, or people, are a cure.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, TypeVar

from granola.audit.agreement import cohen_kappa, fleiss_kappa
from granola.errors import SampleError
from granola.grounding.grounded_samples import Relevance
from granola.grounding.grounding_items import AnswerVerdict, GroundingItem, SentenceVerdict
from granola.grounding.grounding_scores import GroundingSettings, deflecting, mean_value, share_value, value, worths
from granola.grounding.ladder_levels import LadderStanding
from granola.scoring.aggregation import Estimate

V = TypeVar("V", bound=Hashable)
# Those that count against an answer, then those that do not; of as many votes the first.
_VERDICTS = (
    (SentenceVerdict.CONTRADICTORY, SentenceVerdict.UNSUPPORTED), (SentenceVerdict.SUPPORTED, SentenceVerdict.NO_NEED),
)  # fmt: skip
_GRADES = ((AnswerVerdict.MAJOR,), (AnswerVerdict.MINOR, AnswerVerdict.NO_ISSUES))
POOLED = "pooled by majority"  # what the signature of the outcome begins with


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgedTogether:
    """One answer of one system, as each judge has it, in the order of `judges`."""

    system: str
    judges: tuple[str, ...]
    items: tuple[GroundingItem, ...]


def judged_together(files: Mapping[str, Sequence[GroundingItem]]) -> list[JudgedTogether]:
    """The answers that every judge has judged; `files` are what judges said, by the judge's name.

    Raises SampleError where judges were given different answers or sentences, or share no answer.
    """
    by_judge = {judge: {(item.system, item.id): item for item in items} for judge, items in files.items()}
    for judge, items in files.items():
        if any(item.judge.startswith(POOLED) for item in items):
            raise SampleError(f"{judge} is the outcome of pooling, no judge of its own")
        if len(by_judge[judge]) < len(items):
            raise SampleError(
                f"{judge} judged one answer twice, as a judge and its replay do; one file a judge and system is wanted"
            )
    judges = tuple(by_judge)
    shared = [key for key in by_judge[judges[0]] if all(key in items for items in by_judge.values())]
    if not shared:
        raise SampleError("no answer was judged by all; judges are pooled over the same systems and questions")
    together = []
    for key in shared:
        items = tuple(by_judge[judge][key] for judge in judges)
        first = items[0]
        for judge, one in zip(judges, items, strict=True):
            if (one.answer, one.sentences) != (first.answer, first.sentences):
                what = "answer" if one.answer != first.answer else "sentences of the answer"
                raise SampleError(f"{judges[0]} and {judge} judged another {what} to {first.id!r} of {key[0]!r}")
        together.append(JudgedTogether(system=key[0], judges=judges, items=items))
    return together


def pooled_by_majority(answer: JudgedTogether) -> GroundingItem:
    """What most judges say: first whether a sentence or answer passes, then the label on that side.

    Of as many votes the worse one; an answer deflects where more than half say so. Who says nothing is left out.
    """
    items = answer.items
    first = items[0]
    n = len(first.sentences)

    def sentence_labels(verdicts: Callable[[GroundingItem], Sequence[SentenceVerdict | None]]) -> tuple[Any, ...]:
        told = [verdicts(item) for item in items]
        return tuple(_majority([own[at] if at < len(own) else None for own in told], _VERDICTS) for at in range(n))

    votes = Counter(deflecting(item) for item in items if item.deflects is not None)
    rules = [item.deflects for item in items if item.deflects]
    rule = None if not votes else rules[0] if votes[1.0] > votes[0.0] else ""
    against_all = sentence_labels(lambda item: item.against_all)
    against = {
        reading: sentence_labels(lambda item, reading=reading: item.against_relevant.get(reading, ()))  # type: ignore[misc]
        for reading in first.against_relevant
    }
    grade = _majority([item.eligibility for item in items], _GRADES)
    judges = [f"[{item.judge or name}]" for name, item in zip(answer.judges, items, strict=True)]
    lacking = {"eligibility": grade is None, "sentences all": None in against_all, "deflection": rule is None}
    lacking |= {f"sentences {reading}": None in verdicts for reading, verdicts in against.items()}
    return replace(
        first,
        eligibility=grade,
        against_all=against_all,
        against_relevant=against,
        deflects=rule,
        unjudged={
            name: next((item.unjudged[name] for item in items if name in item.unjudged), "no judge told")
            for name, lacks in lacking.items()
            if lacks
        },
        ladder=_pooled_ladder([item.ladder for item in items if item.ladder is not None]),
        judge=f"{POOLED}: {' '.join(judges)}",
    )


def _pooled_ladder(standings: Sequence[LadderStanding]) -> LadderStanding | None:
    """The level that most judges say is stated, of as many votes the coarser or none, and whether it is supported."""
    if not standings:
        return None
    counts = Counter(standing.stated for standing in standings)
    stated = max(counts, key=lambda level: (counts[level], math.inf if level is None else level))
    agreeing = [standing for standing in standings if standing.stated == stated]
    supported = {
        reading: _majority([standing.supported.get(reading) for standing in agreeing], ((False,), (True,)))
        for reading in Relevance
    }
    return replace(agreeing[0], supported=supported)


def pooled_by_mean(together: Sequence[JudgedTogether], settings: GroundingSettings) -> dict[str, Estimate]:
    """The five scores, an answer worth the mean of what it is worth to each judge; deflection likewise."""

    def pooled(answers: Sequence[JudgedTogether], worth: Callable[[GroundingItem], float | None]) -> Estimate:
        values = [_mean([worth(item) for item in answer.items]) for answer in answers]
        whole = all(one in (None, 0.0, 1.0) for one in values)
        return share_value(values) if whole else mean_value(values, settings)

    scores = {name: pooled(together, lambda item, name=name: value(item, name, settings)) for name in worths()}  # type: ignore[misc]
    for name, expected in (("deflection TP", True), ("deflection FP", False)):
        answers = [answer for answer in together if answer.items[0].expected_deflection is expected]
        scores[name] = pooled(answers, deflecting)
    return scores


def agreement_of(together: Sequence[JudgedTogether]) -> list[dict[str, Any]]:
    """By kind of label `label`, `n`, `agree` (share on which all judges agree), `kappa`, and `pairs` of judges.

    Kappa is Cohen's for two judges, Fleiss' for more, over labels that all of them gave; NaN where chance is certain.
    """
    kinds: dict[str, Callable[[JudgedTogether], list[tuple[str | None, ...]]]] = {
        "eligibility": lambda answer: [tuple(_word(item.eligibility) for item in answer.items)],
        "sentence, all passages": lambda answer: _sentence_labels(answer, None),
        **{
            f"sentence, relevant {reading}": (lambda answer, reading=reading: _sentence_labels(answer, reading))  # type: ignore[misc]
            for reading in Relevance
        },
        "deflection": lambda answer: [
            tuple(None if item.deflects is None else str(bool(item.deflects)) for item in answer.items)
        ],
    }
    judges = together[0].judges
    agreements = []
    for name, labels in kinds.items():
        every = [verdicts for answer in together for verdicts in labels(answer)]
        whole = [tuple(map(str, verdicts)) for verdicts in every if None not in verdicts]
        pairs = {
            (judges[a], judges[b]): cohen_kappa([(str(verdicts[a]), str(verdicts[b])) for verdicts in every
                                                 if verdicts[a] is not None and verdicts[b] is not None])
            for a, b in combinations(range(len(judges)), 2)
        }  # fmt: skip
        agreements.append(
            {
                "label": name, "n": len(whole),
                "agree": sum(len(set(verdicts)) == 1 for verdicts in whole) / len(whole) if whole else math.nan,
                "kappa": next(iter(pairs.values())) if len(judges) == 2 else fleiss_kappa(whole), "pairs": pairs,
            }
        )  # fmt: skip
    return agreements


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgeBias:
    """`lenient`: the judge's score minus the mean of the others', over all answers.

    `favours`: by system, how much higher still than that, nothing where there is one system alone; intervals are of
    answers resampled.
    """

    judge: str
    lenient: Estimate
    favours: Mapping[str, Estimate]


def judge_biases(together: Sequence[JudgedTogether], score: str, settings: GroundingSettings) -> list[JudgeBias]:
    """Of each judge, how lenient it is and whom it favours, in a score."""
    biases = []
    for at, judge in enumerate(together[0].judges):
        gaps: dict[str, list[float]] = {}
        for answer in together:
            told = [value(item, score, settings) for item in answer.items]
            others = _mean([other for number, other in enumerate(told) if number != at])
            own = told[at]
            if own is not None and others is not None:
                gaps.setdefault(answer.system, []).append(own - others)
        every = [gap for own_gaps in gaps.values() for gap in own_gaps]
        # Each system weighs alike, however many of its answers were judged.
        centre = _mean([sum(own_gaps) / len(own_gaps) for own_gaps in gaps.values()]) or 0.0
        biases.append(
            JudgeBias(
                judge=judge,
                lenient=mean_value(every, settings),
                favours={
                    system: mean_value([gap - centre for gap in own_gaps], settings)
                    for system, own_gaps in sorted(gaps.items())
                    if len(gaps) > 1
                },
            )
        )
    return biases


def _majority(votes: Sequence[V | None], sides: Sequence[Sequence[V]]) -> V | None:
    """The label with most votes on the side with most votes; `sides` and their labels stand worst first."""
    counts = Counter(one for one in votes if one is not None)
    if not counts:
        return None
    side = max(sides, key=lambda labels: sum(counts[one] for one in labels))
    return max(side, key=lambda label: counts[label])


def _mean(told: Sequence[float | None]) -> float | None:
    there = [one for one in told if one is not None]
    return sum(there) / len(there) if there else None


def _word(label: AnswerVerdict | SentenceVerdict | None) -> str | None:
    return None if label is None else str(label)


def _sentence_labels(answer: JudgedTogether, reading: Relevance | None) -> list[tuple[str | None, ...]]:
    by_judge = [
        item.against_all if reading is None else item.against_relevant.get(reading, ()) for item in answer.items
    ]
    if any(len(verdicts) < len(answer.items[0].sentences) for verdicts in by_judge):
        return []
    return [tuple(_word(verdicts[at]) for verdicts in by_judge) for at in range(len(answer.items[0].sentences))]
