"""Statistics of questions with passages: labels, passages by provider, deflections; as counts and as figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from abstraction.files.records import Record, read_records
from granola.evidence.evidence_task import by_slice
from granola.evidence.grounding.grounded_rows import GroundedSample, Relevance
from granola.report.charts import Panel, Place
from granola.scoring.statistics import Estimate, mean_estimate, share_estimate

_RELEVANT = {True: "RELEVANT", False: "IRRELEVANT", None: "not labelled"}  # label without second step
# Sorodoc et al. 2025 (GaRAGe): labels of questions; sources of passages with their relevance, also by knowledge base.
QUESTION_FIGURES = ("garage-3", "garage-4")
# Tags with a panel of their own in garage-3, the figure of question labels.
_LABELS = ("time_sensitivity", "complexity", "popularity", "category", "knowledge_base")


def has_questions(path: Path) -> bool:
    """Whether the first row of a file is a question with passages."""
    first = next(iter(read_records(path)), None)
    return isinstance(first, Record) and bool({"grounding", "passages"} & first.data.keys())


def statistics_of(given: Iterable[GroundedSample]) -> dict[str, Any]:
    """Counts over questions as a JSON object, most frequent values first, and shares of relevant passages.

    `contradicting` lists published rows whose signs of a deflection disagree with the human answer.
    """
    samples = list(given)
    labels = _labels_by_provider(samples)
    signs = [(sample.id, sample.signs) for sample in samples if sample.signs is not None]
    against = [{"id": id_, "by": one.by, "signs": list(one.contradicting)} for id_, one in signs if one.contradicting]
    deflections = sum(sample.deflection for sample in samples)
    return {
        "questions": len(samples),
        "passages": sum(map(len, labels.values())),
        "deflection_expected": deflections,
        "answerable": len(samples) - deflections,
        "sources": _counts(sample.source or "not told" for sample in samples),
        "providers": {name: _counts(own) for name, own in sorted(labels.items())},
        "relevant_share": {
            reading: one.to_json()
            for reading in Relevance
            for one in _relevant_share_by_place(samples, reading, lambda _: "all").values()
        },
        "relevance_by_knowledge_base": {
            base: one.to_json()
            for base, one in _relevant_share_by_place(samples, Relevance.WIDE, _knowledge_base).items()
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
    """The panels of a figure of QUESTION_FIGURES: shares of questions, or of passages, with their intervals."""
    samples = list(given)
    if figure == "garage-3":
        told = {tag: [sample.tags[tag] for sample in samples if tag in sample.tags] for tag in _LABELS}
        return [
            _panel(tag, {"questions": _value_shares(own)}, "share of questions") for tag, own in told.items() if own
        ]
    labels = _labels_by_provider(samples)
    providers = _value_shares([name for name, own in labels.items() for _ in own])
    relevant = list(_relevant_share_by_place(samples, Relevance.WIDE, _knowledge_base).items())
    return [
        _panel("provider", {"passages": providers}, "share of passages"),
        _panel("label", {name: _value_shares(own) for name, own in labels.items()}, "share of passages"),
        *([_panel("knowledge base", {"relevant passages": relevant}, "mean share")] if relevant else []),
    ]


def _panel(name: str, lines: Mapping[str, Sequence[tuple[Place, Estimate]]], score: str) -> Panel:
    return Panel(name=name, across=name.replace("_", " "), score=score, lines=lines)


def _value_shares(values: Sequence[str]) -> list[tuple[Place, Estimate]]:
    return [(value, share_estimate([float(one == value) for one in values])) for value in _counts(values)]


def _labels_by_provider(samples: Iterable[GroundedSample]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for passage in (passage for sample in samples for passage in sample.passages):
        label = passage.label or _RELEVANT[passage.relevant]
        found.setdefault(passage.provider or "not told", []).append(label)
    return found


def _relevant_share_by_place(
    samples: Iterable[GroundedSample], reading: Relevance, place_of: Callable[[GroundedSample], str]
) -> dict[str, Estimate]:
    """For each place, the mean over its questions of the share of relevant passages; questions at the place "" are
    left out.
    """
    shares = ((place_of(sample), sample.relevant_share(reading)) for sample in samples)
    return by_slice(((place, share) for place, share in shares if place and share is not None), mean_estimate)


def _knowledge_base(sample: GroundedSample) -> str:
    """The knowledge base that a question was written from, else the tag of the user's own rows."""
    return sample.tags.get("knowledge_base") or sample.tags.get("question_tag") or ""


def _counts(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items(), key=lambda one: (-one[1], one[0])))
