"""Knowledge as an evidence task: texts judged on six dimensions (Chen et al. 2023, CONNER)."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean
from typing import Any

from pydantic import Field, FiniteFloat

from abstraction.files.row_models import RowModel
from granola.errors import UsageError
from granola.evidence.evidence_task import Cells, EstimateSettings, EvidenceTask, JudgedQuestion, Labels, Row, SheetForm
from granola.scoring.statistics import Estimate, mean_estimate
from kg.base.packages import install_hint

PARTS = ("factuality", "relevance", "coherence_paragraph", "informativeness")  # the scores in Q_know
EQUAL = (0.25, 0.25, 0.25, 0.25)  # coefficients gamma; the paper states no values


def parse_coefficients(text: str | None) -> tuple[float, ...]:
    """The coefficients gamma, in the order of PARTS: `EQUAL`, or four numbers separated by commas. Raises UsageError
    otherwise.
    """
    if text is None:
        return EQUAL
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError:
        values = ()
    if len(values) != len(PARTS) or not all(map(math.isfinite, values)):
        raise UsageError(f"--quality is {text!r}; expected four numbers, for {', '.join(PARTS)}")
    return values


def knowledge_quality(scores: Mapping[str, Any], gamma: Sequence[float]) -> float:
    """The weighted sum of the scores in PARTS. Raises UsageError for a missing score."""
    lacking = [name for name in PARTS if not isinstance(scores.get(name), int | float)]
    if lacking:
        raise UsageError(f"no score {', '.join(lacking)}: Q needs {', '.join(PARTS)}; judge with models for all")
    return math.fsum(one * scores[name] for one, name in zip(gamma, PARTS, strict=True))


@dataclass(frozen=True, kw_only=True, slots=True)
class ChosenTexts:
    """The chosen texts, each with its `quality`, and for each score the gain by choosing.

    A gain is a score minus the mean score of a random choice among the same texts, averaged over the chosen texts.
    """

    rows: Sequence[dict[str, Any]]
    gamma: Sequence[float]
    gains: Mapping[str, Estimate]


def choose_texts(rows: Sequence[Row], best: str, gamma: Sequence[float], settings: EstimateSettings) -> ChosenTexts:
    """`best`: "each" chooses the best candidate of each id, "8" the best eight texts, "8/30" the best eight of 30 that
    the seed draws.

    Raises UsageError for another choice, and for missing scores.
    """
    taken: list[dict[str, Any]] = []
    gains: dict[str, list[float]] = {}
    number, groups = _number_to_choose_and_groups(rows, best, settings.seed)
    for group in groups:
        rated = [{**row, "quality": knowledge_quality(row["scores"], gamma)} for row in group]
        # A stable sort: the first of equal texts, so that a tie is decided alike everywhere.
        own = sorted(rated, key=lambda row: -row["quality"])[:number]
        taken += own
        every, chosen = _values_by_score(group), _values_by_score(own)
        for name in every:
            gains.setdefault(name, []).extend(score - fmean(every[name]) for score in chosen.get(name, ()))
    return ChosenTexts(rows=taken, gamma=gamma, gains=_mean_estimates(gains, settings))


def _values_by_score(rows: Sequence[Row]) -> dict[str, list[float]]:
    names = dict.fromkeys(name for row in rows for name in row["scores"])
    return {name: [row["scores"][name] for row in rows if row["scores"].get(name) is not None] for name in names}


def _mean_estimates(values: Mapping[str, Sequence[float]], settings: EstimateSettings) -> dict[str, Estimate]:
    return {
        key: mean_estimate(own, resamples=settings.resamples, seed=settings.seed) for key, own in values.items() if own
    }


def _number_to_choose_and_groups(rows: Sequence[Row], best: str, seed: int) -> tuple[int, list[Sequence[Row]]]:
    """The number of texts to choose from each group, and the groups."""
    if best == "each":
        groups: dict[Any, list[Row]] = {}
        for row in rows:
            groups.setdefault((row.get("system", ""), row["id"]), []).append(row)
        return 1, list(groups.values())
    number, slash, of = best.partition("/")
    if not number.isdecimal() or int(number) < 1 or (slash and not of.isdecimal()):
        raise UsageError(f"--best is {best!r}; expected each, a number of texts as 8, or 8/30: 8 of 30 that are drawn")
    # Order by key: the same seed draws the same texts, whatever the order of the file.
    ordered = sorted(rows, key=lambda row: (str(row.get("system") or ""), row["id"]))
    if slash:
        ordered = random.Random(seed).sample(ordered, min(int(of), len(rows)))
    return int(number), [ordered]


# The scores that are compared with the ratings of an axis: the metric's own first, then baselines (Tables 9, 10, 18).
SCORES_OF_AXIS: Mapping[str, tuple[str, ...]] = {
    "factuality": ("factuality", "he_negated", "entailment_ratio", "nli_decompose"),
    "relevance": ("relevance", "knowledge_f1"),
    "coherence": ("coherence_sentence", "coherence_paragraph", "coherence_greater"),
    "informativeness": ("informativeness",),
    "helpfulness": ("helpfulness", "helpfulness_raw"),
    "validity": ("validity", "answer_em", "answer_f1"),
}
# scores of the text itself
INTRINSIC = ("factuality", "relevance", "coherence_sentence", "coherence_paragraph", "informativeness")
EXTRINSIC = ("helpfulness", "validity")  # scores of its use for an answer
RATING = "rated "  # prefix of an axis in the scores of a person


@dataclass(frozen=True, kw_only=True, slots=True)
class Association:
    """Somers' D of a score given another score or a rating, over the texts of one system, or of all.

    `d`, in [-1, 1]: among the pairs of texts that differ in the independent variable, the share that the dependent
    variable orders alike minus the share that it orders the other way round. `p` is two-sided, by the normal
    approximation, whose standard error is 0 where |D| is 1. `n` texts have both values.
    """

    system: str
    independent: str
    dependent: str
    d: float
    p: float
    n: int


def somers_d(independent: Sequence[float], dependent: Sequence[float]) -> tuple[float, float]:
    """D(dependent | independent) and its p-value; in meta-evaluation the rating is the independent variable.

    NaN where the independent variable does not vary. Raises UsageError where scipy is missing.
    """
    try:
        from scipy.stats import somersd
    except ImportError as error:
        raise UsageError(f"Somers' D needs scipy: {install_hint('evidence')}") from error
    if len(set(independent)) < 2:
        return math.nan, math.nan
    if len(set(dependent)) < 2:
        return 0.0, math.nan  # every pair is tied in the dependent variable
    found = somersd(independent, dependent)
    return float(found.statistic), float(found.pvalue)


def somers_d_of_score_pairs(rows: Sequence[Row]) -> list[Association]:
    """Somers' D over all systems and for each: of scores with ratings, where the rows contain ratings by people.

    Otherwise of intrinsic scores with helpfulness and validity (Tables 5, 6). The rating, or the extrinsic score, is
    the independent variable: pairs that are tied in it do not count.
    """

    marks: dict[tuple[Any, ...], list[float]] = {}
    texts: list[Row] = []
    for row in rows:
        rated = [name for name in row["scores"] if name.startswith(RATING)]
        if not rated:
            texts.append(row)
        for name in rated:
            marks.setdefault((*_text_key(row), name), []).append(row["scores"][name])
    pairs = list(product(EXTRINSIC, INTRINSIC))
    if marks:
        pairs = [(f"{RATING}{axis}", name) for axis, names in SCORES_OF_AXIS.items() for name in names]
    found = []
    systems = ["", *sorted({_text_key(row)[0] for row in texts} - {""})]
    for system, (independent, dependent) in product(systems, pairs):
        both = []
        for row in texts:
            ratings = marks.get((*_text_key(row), independent))
            first, second = fmean(ratings) if ratings else row["scores"].get(independent), row["scores"].get(dependent)
            if system in ("", row.get("system")) and first is not None and second is not None:
                both.append((first, second))
        if both:
            d, p = somers_d(*zip(*both, strict=True))
            names = {"system": system or "all", "independent": independent.removeprefix(RATING), "dependent": dependent}
            found.append(Association(**names, d=d, p=p, n=len(both)))
    return found


def _text_key(row: Row) -> tuple[str, str, int]:
    return str(row.get("system") or ""), row["id"], row.get("candidate") or 0


LABELS = ("consistent", "non-verified", "inconsistent")  # in the order of the shares of a vector
LABEL = JudgedQuestion(field="factuality_label", labels=dict.fromkeys(LABELS, ""), against=LABELS[1:])
# The meanings of 2, 1 and 0 on each axis (Chen et al. 2023, appendix), in our words.
AXES = {
    "factuality": ("every sentence can be verified", "some cannot", "some is wrong"),
    "relevance": ("to topic and query", "to the topic alone", "to neither"),
    "coherence": ("fluent; a cut at the end does not count", "minor slips", "hard to understand"),
    "informativeness": ("new to you", "trivial or little", "nothing"),
    "helpfulness": ("holds the answer", "helps indirectly", "no use"),
    "validity": ("the answer is right", "it cannot be told", "it is wrong"),
}
RATED = tuple(
    JudgedQuestion(field=axis, labels=dict(zip("210", meanings, strict=True)), against=("0",))
    for axis, meanings in AXES.items()
)
SHOWN = ("topic", "query", "knowledge", "answer", "gold")  # columns of a sheet for people


class KnowledgeVerdict(RowModel):
    """A row by `granola knowledge judge`, or by a person: scores, each a number or null."""

    id: str = Field(min_length=1, description="a text")
    scores: dict[str, FiniteFloat | None] = Field(description="an object of numbers")


def _score_estimates(rows: Sequence[Row], settings: EstimateSettings) -> dict[str, Estimate]:
    """The mean of each score over the texts that have it, and the share of each label as `label:consistent` and so on.
    """
    given = [row["factuality_label"] for row in rows if "factuality_label" in row]
    labels = {f"label:{label}": [float(one == label) for one in given] for label in LABELS}
    return _mean_estimates(_values_by_score(rows) | labels, settings)


# score -> share of the vector of each sentence
_VECTOR_FIELD = {"factuality": "entailed", "non_verified": "neutral", "refuted": "refuted"}


def _popularity_or_sentence_cells(row: Row, sliced_field: str, score: str, _: EstimateSettings) -> Cells | None:
    """The cells of a row (Chen et al. 2023, Figure 2): along `popularity`, log10 of page views rounded down; along
    `sentences`, the number of sentences in the text.

    Along `sentences` each sentence is a unit: its vector gives the value of factuality, non_verified and refuted.
    """
    if sliced_field == "sentences":
        sentences, share = row.get("sentences") or [], _VECTOR_FIELD.get(score, "entailed")
        return [(len(sentences), sentence[share]) for sentence in sentences if share in sentence]
    if sliced_field != "popularity":
        return None
    views, value = row.get("views"), row["scores"].get(score)
    # log10 needs at least one page view.
    if not isinstance(views, int | float) or views < 1 or value is None:
        return []
    return [(int(math.log10(views)), value)]


def _sheet_lines(item: Row) -> list[dict[str, str]]:
    cells = {name: str(item.get(name) or "") for name in SHOWN if name != "gold"}
    return [{**cells, "gold": " / ".join(item.get("gold") or ())}]


def _verdict_by_people(item: Row, labels: Labels, annotator: str) -> dict[str, Any]:
    kept = {name: item[name] for name in ("id", "system", "candidate", "knowledge") if name in item}
    return kept | {
        "judge": annotator, "scores": {f"rated {axis}": float(mark) for axis, mark in labels[0].items()}
    }  # fmt: skip


KNOWLEDGE = EvidenceTask(
    name="knowledge",
    distinctive_field="scores",
    judge="judge",
    made_by="granola knowledge judge",
    row=KnowledgeVerdict,
    texts=("knowledge",),
    questions=(LABEL,),
    main="factuality",
    scores=_score_estimates,
    value=lambda row, score, settings: row["scores"].get(score),
    cells=_popularity_or_sentence_cells,
    estimate=lambda values, settings: mean_estimate(values, resamples=settings.resamples, seed=settings.seed),
    sheet=SheetForm(shown=SHOWN, questions=RATED, lines=_sheet_lines, verdict=_verdict_by_people, draw_by="system"),
)
