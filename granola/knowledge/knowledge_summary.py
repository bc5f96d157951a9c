"""Scores of many texts as means with intervals, by system, and in slices: by popularity, by number of sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from granola import __version__
from granola.evidence.estimates import by_slice
from granola.knowledge.knowledge_metrics import LABELS
from granola.scoring.aggregation import Estimate
from granola.scoring.bootstrap import RESAMPLES
from granola.scoring.statistics import mean_estimate

Row = Mapping[str, Any]


def summary(rows: Sequence[Row], *, resamples: int = RESAMPLES, seed: int = 0) -> dict[str, dict[str, Estimate]]:
    """By system, each score's mean over the texts that have it; the shares of labels as `label:consistent` and so on.

    Rows are judged items as JSON.
    """
    estimates: dict[str, dict[str, Estimate]] = {}
    for system in dict.fromkeys(str(row.get("system") or "") for row in rows):
        of_system = [row for row in rows if str(row.get("system") or "") == system]
        names = dict.fromkeys(name for row in of_system for name in row["scores"])
        estimates[system] = {
            name: mean_estimate(values, resamples=resamples, seed=seed)
            for name in names
            if (values := [row["scores"][name] for row in of_system if row["scores"].get(name) is not None])
        }
        labels = [row["factuality_label"] for row in of_system if "factuality_label" in row]
        for label in LABELS if labels else ():
            shares = [float(likeliest == label) for likeliest in labels]
            estimates[system][f"label:{label}"] = mean_estimate(shares, resamples=resamples, seed=seed)
    return estimates


SLICES = ("popularity", "sentences")  # Figure 2
_OF_SENTENCES = {"factuality": "entailed", "non_verified": "neutral", "refuted": "refuted"}


def slice_values(row: Row, by: str, score: str) -> Iterator[tuple[int, float]]:
    """The slices of a text, and what it adds there: `popularity`, whole parts of log10 of views; `sentences`, how many.

    By sentences the sentence is the unit: a share of its vector for factuality, non_verified and refuted. A text
    without views or sentences adds nothing.
    """
    if by == "sentences":
        sentences = row.get("sentences") or []
        share = _OF_SENTENCES.get(score, "entailed")
        yield from ((len(sentences), sentence[share]) for sentence in sentences if share in sentence)
        return
    views, value = row.get("views"), row["scores"].get(score)
    if isinstance(views, int | float) and views >= 1 and value is not None:
        yield int(math.log10(views)), value


def slices(
    rows: Sequence[Row], by: str, score: str, *, resamples: int = RESAMPLES, seed: int = 0
) -> dict[str, Estimate]:
    """The mean of a score in each slice that `by`, one of SLICES, makes."""
    placed = (place for row in rows for place in slice_values(row, by, score))
    estimates = by_slice(placed, partial(mean_estimate, resamples=resamples, seed=seed))
    return {str(place): estimate for place, estimate in estimates.items()}


def signature(identity_hash: str, *, n: int, resamples: int, seed: int) -> str:
    """What someone else needs to repeat a score: the hash of models, evidence and settings, n, resamples, seed."""
    return f"judge:{identity_hash}|n:{n}|boot:{resamples}|seed:{seed}|version:{__version__}"
