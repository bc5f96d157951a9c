"""What every evaluator of attribution does, and what it says of a sample."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from granola.attribution.attribution_samples import AttributionSample
from granola.attribution.categories import Category


@dataclass(frozen=True, kw_only=True, slots=True)
class AttributionJudgement:
    """What an evaluator says of one sample.

    `category` is None where it tells only whether the sample is supported, and where its reply could not be read: then
    `supported` is None too, and `failed` says why. `facts` are parts of the statement with the label of each.
    """

    id: str
    category: Category | None = None
    supported: bool | None = None
    reply: str = ""
    failed: str = ""
    facts: tuple[tuple[str, str], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """A line of a file."""
        return asdict(self)


class AttributionEvaluator(Protocol):
    """Judges samples."""

    def signature(self) -> str:
        """All that its judgements depend on, as it stands beside scores."""

    def judge(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionJudgement]:
        """One judgement for each sample, in order; a sample that cannot be judged has one too."""


def fact_verdicts(
    evaluator: AttributionEvaluator, samples: Sequence[AttributionSample]
) -> Iterator[tuple[bool | None, ...]]:
    """Of each sample, in order, a verdict on each fact of its subgraph; None where there is none.

    Evaluators with a method of this name are asked by it (Hu et al. 2025, CAQA, appendix D.2); of others each fact is
    judged as a statement: supportive is true, all other categories are false (section 5.4).
    """
    if (ask := getattr(evaluator, "fact_verdicts", None)) is not None:
        yield from ask(samples)
        return
    asked = [list(fact_samples(sample)) for sample in samples]
    judgements = iter(list(evaluator.judge([sample for facts in asked for sample in facts])))
    for facts in asked:
        yield tuple(next(judgements).supported for _ in facts)


def fact_samples(sample: AttributionSample) -> Iterator[AttributionSample]:
    """Each fact of the undamaged subgraph as a statement of its own, with the sample's citations."""
    for number, fact in enumerate(sample.subgraph, 1):
        yield sample.model_copy(update={"id": f"{sample.id}/{number}", "statement": fact.text, "category": None})


def category_judgement(sample: AttributionSample, category: Category, **more: Any) -> AttributionJudgement:
    """The judgement of a category."""
    return AttributionJudgement(id=sample.id, category=category, supported=category is Category.SUPPORTIVE, **more)


def prompt_lines(texts: Iterable[str], *, longest: int = 1_900, most: int = 24) -> list[str]:
    """Citations as lines of a prompt: long ones cut at blanks, and no more than `most` lines."""
    pieces: list[str] = []
    for text in texts:
        remainder = " ".join(text.split())
        while remainder and len(pieces) < most:
            cut = len(remainder) if len(remainder) <= longest else remainder.rfind(" ", 1, longest)
            cut = cut if cut > 0 else longest
            pieces.append(remainder[:cut])
            remainder = remainder[cut:].lstrip()
    return pieces
