"""What questions with passages consist of: labels, passages by provider, deflections; as counts and figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from abstraction.files.records import Record, read_records
from granola.figures.charts import Panel, Place
from granola.grounding.grounded_samples import GroundedSample, Relevance
from granola.scoring.aggregation import Estimate
from granola.scoring.statistics import mean_estimate, share_estimate

_RELEVANT = {True: "RELEVANT", False: "IRRELEVANT", None: "not labelled"}  # of passages without a second label
# Sorodoc et al. 2025 (GaRAGe): labels of questions; sources of passages with their relevance, also by knowledge base.
QUESTION_FIGURES = ("garage-3", "garage-4")
_LABELS = ("time_sensitivity", "complexity", "popularity", "category", "knowledge_base")


def has_questions(path: Path) -> bool:
    """Whether the first row of a file is a question with passages."""
    first = next(iter(read_records(path)), None)
    return isinstance(first, Record) and bool({"grounding", "passages"} & first.data.keys())


def statistics_of(given: Iterable[GroundedSample]) -> dict[str, Any]:
    """Counts over questions as JSON has them: most frequent values first, None for a mean of nothing.

    `contradicting` lists published rows whose signs of a deflection disagree with the human answer.
    """
    samples = list(given)
    passages = [passage for sample in samples for passage in sample.passages]
    deflections = sum(sample.deflection for sample in samples)
    signs = [(sample.id, sample.signs) for sample in samples if sample.signs is not None]
    against = [{"id": id_, "by": one.by, "signs": list(one.contradicting)} for id_, one in signs if one.contradicting]
    return {
        "questions": len(samples),
        "passages": len(passages),
        "deflection_expected": deflections,
        "answerable": len(samples) - deflections,
        "sources": _counts(sample.source or "not told" for sample in samples),
        "providers": {
            name: _counts(_label(one) for one in own) for name, own in sorted(_by_provider(samples).items())
        },
        "relevant_share": {
            str(reading): fmean(own) if (own := _shares(samples, reading)) else None for reading in Relevance
        },
        "relevance_by_knowledge_base": {
            base: {"questions": len(own), "relevant_share": fmean(shares) if (shares := _shares(own)) else None}
            for base, own in sorted(_by_base(samples).items())
        },
        "tags": {
            tag: _counts(sample.tags[tag] for sample in samples if tag in sample.tags)
            for tag in sorted({tag for sample in samples for tag in sample.tags})
        },
        "deflection_signs": _counts(one.by or "answers" for _, one in signs),
        "contradicting_signs": _counts(sign for one in against for sign in one["signs"]),
        "contradicting": against,
    }


def question_panels(given: Iterable[GroundedSample], figure: str) -> list[Panel]:
    """What a figure of QUESTION_FIGURES shows: shares of questions, or of passages, with their intervals."""
    samples = list(given)
    if figure == "garage-3":
        told = {tag: [sample.tags[tag] for sample in samples if tag in sample.tags] for tag in _LABELS}
        return [_panel(tag, {"questions": _parts(own)}, "share of questions") for tag, own in told.items() if own]
    providers = _by_provider(samples)
    names = [name for name, own in providers.items() for _ in own]
    bases = {base: shares for base, own in _by_base(samples).items() if (shares := _shares(own))}
    panels = [
        _panel("provider", {"passages": _parts(names)}, "share of passages"),
        _panel("label", {name: _parts(list(map(_label, own))) for name, own in providers.items()}, "share of passages"),
    ]
    relevant = [(base, mean_estimate(shares)) for base, shares in bases.items()]
    return [*panels, *([_panel("knowledge base", {"relevant passages": relevant}, "mean share")] if relevant else [])]


def _panel(name: str, lines: Mapping[str, Sequence[tuple[Place, Estimate]]], score: str) -> Panel:
    return Panel(name=name, across=name.replace("_", " "), score=score, lines=lines)


def _parts(values: Sequence[str]) -> list[tuple[Place, Estimate]]:
    return [(value, share_estimate([float(one == value) for one in values])) for value in _counts(values)]


def _label(passage: Any) -> str:
    return passage.label or _RELEVANT[passage.relevant]


def _shares(samples: Iterable[GroundedSample], reading: Relevance = Relevance.WIDE) -> list[float]:
    return [share for sample in samples if (share := sample.relevant_share(reading)) is not None]


def _by_provider(samples: Iterable[GroundedSample]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for passage in (passage for sample in samples for passage in sample.passages):
        found.setdefault(passage.provider or "not told", []).append(passage)
    return found


def _by_base(samples: Iterable[GroundedSample]) -> dict[str, list[GroundedSample]]:
    """Questions by what they were made from: the knowledge base, else the tag of one's own rows."""
    found: dict[str, list[GroundedSample]] = {}
    for sample in samples:
        if base := sample.tags.get("knowledge_base") or sample.tags.get("question_tag"):
            found.setdefault(base, []).append(sample)
    return found


def _counts(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items(), key=lambda one: (-one[1], one[0])))
