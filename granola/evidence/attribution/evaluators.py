"""The protocol of evaluators of attribution, and their judgements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from granola.evidence.attribution.attribution_samples import AttributionSample
from granola.evidence.attribution.categories import Category


@dataclass(frozen=True, kw_only=True, slots=True)
class AttributionJudgement:
    """The judgement of one sample.

    `category` is None for a two-class evaluator; where a reply could not be read `supported` is None too, with the
    reason in `failed`. `facts`: parts of the statement, each with its label.
    """

    id: str
    category: Category | None = None
    supported: bool | None = None
    reply: str = ""
    failed: str = ""
    facts: tuple[tuple[str, str], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The judgement as a JSON row."""
        return asdict(self)


class AttributionEvaluator(Protocol):
    """Judges samples."""

    def signature(self) -> str:
        """A signature of everything that determines the judgements."""

    def judge(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionJudgement]:
        """One judgement for each sample, in order, failures included."""


def fact_verdicts(
    evaluator: AttributionEvaluator, samples: Sequence[AttributionSample]
) -> Iterator[tuple[bool | None, ...]]:
    """For each sample, in order, the verdicts on the facts of its subgraph; None for a missing one.

    Uses the method `fact_verdicts` of the evaluator if it has one (Hu et al. 2025, CAQA, appendix D.2). Otherwise each
    fact is judged as a statement: supportive is true, every other category false (section 5.4).
    """
    if (ask := getattr(evaluator, "fact_verdicts", None)) is not None:
        yield from ask(samples)
        return
    # One call for all facts lets evaluators batch.
    asked = [list(fact_samples(sample)) for sample in samples]
    judgements = iter(list(evaluator.judge([sample for facts in asked for sample in facts])))
    for facts in asked:
        yield tuple(next(judgements).supported for _ in facts)


def fact_samples(sample: AttributionSample) -> Iterator[AttributionSample]:
    """Each fact of the original subgraph as a statement with the citations of the sample."""
    for number, fact in enumerate(sample.subgraph, 1):
        yield sample.model_copy(update={"id": f"{sample.id}/{number}", "statement": fact.text, "category": None})


def category_judgement(sample: AttributionSample, category: Category, **more: Any) -> AttributionJudgement:
    """The judgement with a category; supported if it is SUPPORTIVE."""
    return AttributionJudgement(id=sample.id, category=category, supported=category is Category.SUPPORTIVE, **more)


def prompt_lines(texts: Iterable[str], *, longest: int = 1_900, most: int = 24) -> list[str]:
    """Citations as lines of a prompt: texts above `longest` characters are cut at blanks; at most `most` lines."""
    pieces: list[str] = []
    for text in texts:
        remainder = " ".join(text.split())
        while remainder and len(pieces) < most:
            cut = len(remainder) if len(remainder) <= longest else remainder.rfind(" ", 1, longest)
            # A text without blanks is cut anywhere.
            cut = cut if cut > 0 else longest
            pieces.append(remainder[:cut])
            remainder = remainder[cut:].lstrip()
    return pieces
