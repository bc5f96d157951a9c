"""Grounding as an evidence task: judged long answers from passages, and their scores (Sorodoc et al. 2025, GaRAGe).

Section 5. E: share of eligible answers; uF, uRAF: share of factual answers, against all passages or the relevant ones;
F, RAF: share of answers both eligible and factual. The paper defines neither the set of questions behind these scores
nor the score of a deflecting answer: both are settings, printed with every score.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, Field, StrictBool, StrictStr, ValidationError, field_serializer

from abstraction.files.row_models import RowModel
from granola.errors import UsageError
from granola.evidence.evidence_task import Cells, EstimateSettings, EvidenceTask, JudgedQuestion, Labels, Row, SheetForm
from granola.evidence.grounding.grounded_rows import RELEVANT_SHARE, Relevance
from granola.scoring.statistics import (
    RESAMPLES,
    Estimate,
    bootstrap_estimate,
    divide_or_nan,
    mean_statistic_of,
    share_estimate,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class AnswerVerdict(StrEnum):
    """The grade of an answer, compared with the reference answer."""

    NO_ISSUES = "no issues"
    MINOR = "minor issues"
    MAJOR = "major issues"


class SentenceVerdict(StrEnum):
    """The verdict on a sentence, given passages."""

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    CONTRADICTORY = "contradictory"
    NO_NEED = "no attribution needed"


_AGAINST = (SentenceVerdict.UNSUPPORTED, SentenceVerdict.CONTRADICTORY)
Verdicts = tuple[SentenceVerdict | None, ...]
Whole = Annotated[int, Field(ge=0, strict=True)]


class CitationCounts(NamedTuple):
    """Counts of one answer: `right` citations, all passages `cited` (citations of no passage included), and passages
    `wanted`, which it should cite.
    """

    right: Whole
    cited: Whole
    wanted: Whole

    @classmethod
    def of(cls, cited: Iterable[str], wanted: Iterable[str], *, unknown: int = 0) -> CitationCounts:
        """The counts of an answer; `unknown` is the number of its citations that name no passage, which count as
        wrong.
        """
        given, right = set(cited), set(wanted)
        return cls(right=len(given & right), cited=len(given) + unknown, wanted=len(right))


class AnsweredSentence(BaseModel, frozen=True):
    """A sentence with its verdict against all passages, and against the relevant ones in each judged reading.

    None where a judge gave no verdict.
    """

    text: StrictStr
    all: SentenceVerdict | None = None
    strict: SentenceVerdict | None = None
    wide: SentenceVerdict | None = None


class GroundingItem(RowModel):
    """One judged answer, as a line of a file contains it.

    `unjudged` maps each missing verdict to the reason. `deflects` names the rule by which the answer deflects; it is
    "" where it does not, None where the judge gave no verdict. `readings` are the readings for which passages are
    labelled. `citations` are None where the passages to cite are unknown. `system` wrote the answer, `judge` judged
    it.
    """

    id: Annotated[StrictStr, Field(min_length=1)]
    answer: StrictStr
    expected_deflection: StrictBool
    eligibility: AnswerVerdict | None = None
    sentences: tuple[AnsweredSentence, ...] = ()
    deflects: StrictStr | None = ""
    citations: CitationCounts | None = None
    readings: tuple[Relevance, ...] = ()
    tags: dict[str, str] = Field(default_factory=dict)
    unjudged: dict[str, str] = Field(default_factory=dict)
    system: StrictStr = ""
    judge: StrictStr = ""

    @field_serializer("sentences")
    def _sentences_as_json(self, sentences: tuple[AnsweredSentence, ...]) -> list[dict[str, Any]]:
        """The sentences as JSON; the field of a reading that was not judged is left out."""
        return [one.model_dump(mode="json", exclude_unset=True) for one in sentences]

    @property
    def is_eligible(self) -> bool | None:
        """Whether the answer has no major issues; None where it was not judged."""
        return None if self.eligibility is None else self.eligibility is not AnswerVerdict.MAJOR

    def is_factual(self, reading: Relevance | None = None) -> bool | None:
        """Whether every sentence is supported or needs no attribution, by all passages or the relevant ones; None
        where undecided.

        An answer without sentences states nothing and is not factual.
        """
        # Without labels there is no set of relevant passages to judge by.
        if reading is not None and reading not in self.readings:
            return None
        verdicts = [getattr(one, reading or "all") for one in self.sentences]
        # One bad sentence decides, even if others lack a verdict.
        if not verdicts or any(one in _AGAINST for one in verdicts):
            return False
        return None if None in verdicts else True


# Settings of scores.

_Ends = Annotated[tuple[Annotated[float, Field(gt=0, lt=1)], ...], AfterValidator(lambda ends: tuple(sorted(ends)))]
THIRDS = (1 / 3, 2 / 3)  # upper ends of all bands but the last; the paper's text does not give its own


class GroundingRules(BaseModel, frozen=True, extra="forbid"):
    """The rules of `EstimateSettings` that GaRAGe's paper leaves open; the signature contains all of them.

    `over`: the questions that enter the five scores, all or those whose passages suffice. `deflecting`: how these
    scores count an answer that deflects. `bands`: the ends of bands of the share of relevant passages, each in (0, 1).
    """

    over: Literal["answerable", "all"] = "answerable"
    deflecting: Literal["as-judged", "fails", "left-out"] = "as-judged"
    bands: _Ends = THIRDS


@lru_cache(maxsize=8)
def parse_grounding_rules(settings: EstimateSettings) -> GroundingRules:
    """The rules from texts such as over=all and deflecting=fails. Raises UsageError for another rule."""
    rules = GroundingRules()
    for rule in settings.rules:
        name, _, word = rule.partition("=")
        chosen = {name: word.split(",") if name == "bands" else word}
        try:
            rules = GroundingRules.model_validate(rules.model_dump() | chosen)
        except ValidationError:
            allowed = "over=all|answerable, deflecting=as-judged|fails|left-out, bands=0.3,0.7"
            raise UsageError(f"--rule is {rule!r}; allowed: {allowed}") from None
    return rules


# Scores of items.


# The scores of eligible and factual answers, with the passages that sentences are judged against (None: all).
_AGAINST_PASSAGES = {"F": None, "RAF strict": Relevance.STRICT, "RAF wide": Relevance.WIDE}
# The five scores of an item; those against relevant passages once per reading.
SCORES = ("E", *(name for factual in _AGAINST_PASSAGES for name in (f"u{factual}", factual)))
DEFLECTIONS = {"deflection TP": True, "deflection FP": False}  # by score: whether its questions expect a deflection


def item_score(row: Row | GroundingItem, score: str, settings: EstimateSettings) -> float | None:
    """The contribution of an item to one of the five scores, or to one of DEFLECTIONS: 0 or 1. None where the item
    does not count for the score, and for other scores.
    """
    if score not in SCORES and score not in DEFLECTIONS:
        return None
    item = GroundingItem.model_validate(row)
    if score in DEFLECTIONS:
        counts = item.expected_deflection is DEFLECTIONS[score] and item.deflects is not None
        return float(bool(item.deflects)) if counts else None
    rules = parse_grounding_rules(settings)
    # A good answer to such a question deflects, and is scored by DEFLECTIONS.
    if rules.over == "answerable" and item.expected_deflection:
        return None
    worth = item.is_eligible if score == "E" else item.is_factual(_AGAINST_PASSAGES[score.removeprefix("u")])
    if score in _AGAINST_PASSAGES:
        # Unknown if one verdict is missing, even if the other is False: counting these as 0 would lower the score.
        worth = None if item.is_eligible is None or worth is None else item.is_eligible and worth
    if rules.deflecting != "as-judged":
        if item.deflects is None:
            worth = None  # no judge decided whether it deflects
        elif item.deflects:
            # None leaves the answer out of the denominator, 0 keeps it.
            return None if rules.deflecting == "left-out" else 0.0
    return None if worth is None else float(worth)


def grounding_scores(rows: Sequence[Row | GroundingItem], settings: EstimateSettings) -> dict[str, Estimate]:
    """Every score with its interval and n: the five, `deflection TP` and `FP`, and citations.

    An answer without a verdict on deflection is in neither `deflection` score. Citations are compared with those of
    the reference, where it has any, over answerable questions, whatever `over` is.
    """
    items = [GroundingItem.model_validate(row) for row in rows]
    report = {
        name: share_estimate([item_score(item, name, settings) for item in items]) for name in (*SCORES, *DEFLECTIONS)
    }
    cited = [item.citations for item in items if item.citations is not None and not item.expected_deflection]
    scores = citation_scores(cited, resamples=settings.resamples, seed=settings.seed)
    return report | {f"cited {name}": estimate for name, estimate in scores.items()}


def citation_scores(
    counts: Sequence[CitationCounts], *, resamples: int = RESAMPLES, seed: int = 0
) -> dict[str, Estimate]:
    """Precision, recall and F1 of cited passages, each over the answers for which it is defined.

    An answer that cites nothing has no precision, one that should cite nothing no recall. Table 4 prints F1 that are
    the harmonic mean of the printed P and R: `f1_of_means`, 0 where no citation is right. A score that no answer
    defines is NaN with n 0.
    """
    defined = {
        "mean_precision": sum(one.cited > 0 for one in counts),
        "mean_recall": sum(one.wanted > 0 for one in counts),
        "f1_of_means": len(counts),
    }
    scores = {}
    for name, n in defined.items():
        value, interval = bootstrap_estimate(
            counts, partial(_citation_score_per_resample, name), resamples=resamples, seed=seed
        )
        scores[name] = Estimate(value=value, interval=interval, n=0 if math.isnan(value) else n)
    return scores


def _citation_score_per_resample(
    name: str, kinds: Sequence[CitationCounts], numbers: NDArray[np.int64]
) -> NDArray[np.float64]:
    """A citation score for each resample. `numbers`: how often each kind of answer occurs, [resamples, kinds]."""
    import numpy as np

    right, cited, wanted = np.array(kinds, dtype=np.float64).T
    precision, recall = (
        mean_statistic_of([None if math.isnan(share) else share for share in divide_or_nan(right, below)])(numbers)
        for below in (cited, wanted)
    )
    if name != "f1_of_means":
        return precision if name == "mean_precision" else recall
    # 0 / 0 counts as 0, as no citation is right.
    return np.where(precision + recall == 0, 0.0, divide_or_nan(2 * precision * recall, precision + recall))


def band_of(share: float, bands: Sequence[float] = THIRDS) -> str:
    """The band of a share of relevant passages, such as "0.33-0.67"; a share equal to a limit is in the band below it.
    """
    limits = (0.0, *bands, 1.0)
    at = sum(share > limit for limit in bands)
    return f"{limits[at]:.2f}-{limits[at + 1]:.2f}"


# The task: rows of verdicts, and sheets for people.

_SHARE_TAGS = frozenset(reading.share_tag for reading in Relevance)  # tags with a share, which slices cut into bands
ELIGIBILITY = JudgedQuestion(
    field="eligibility",
    labels={
        AnswerVerdict.NO_ISSUES: "it answers what was asked, as the reference does",
        AnswerVerdict.MINOR: "something is missing or said badly",
        AnswerVerdict.MAJOR: "it does not answer, or contradicts the reference",
    },
    against=(AnswerVerdict.MAJOR,),
)
DEFLECTS = JudgedQuestion(
    field="deflects",
    labels={"deflects": "it says that the passages do not suffice", "answers": "it answers, if in part"},
    against=("answers",),
    lacking="deflection",
)
_SENTENCE: dict[str, str] = {
    SentenceVerdict.NO_NEED: "it states nothing that needs a source",
    SentenceVerdict.SUPPORTED: "the passages say it, or it follows from them",
    SentenceVerdict.UNSUPPORTED: "they do not say it",
    SentenceVerdict.CONTRADICTORY: "they say what cannot be true together with it",
}
SENTENCES = tuple(
    JudgedQuestion(field=name, labels=_SENTENCE, against=_AGAINST, of_sentences=True, lacking=f"sentences {name}")
    for name in ("all", "strict", "wide")
)


def _band_cells(row: Row, sliced_field: str, score: str, settings: EstimateSettings) -> Cells | None:
    """The cell of a row along a share of relevant passages, which is cut into bands; None along other fields."""
    if sliced_field not in _SHARE_TAGS:
        return None
    share, worth = row.get("tags", {}).get(sliced_field), item_score(row, score, settings)
    bands = parse_grounding_rules(settings).bands
    return [] if share is None or worth is None else [(band_of(float(share), bands), worth)]


def _share_tag_or_field(field: str, score: str) -> str:
    """The field or tag by which rows are sliced: `relevant_share` means the tag for the reading of the score, strict
    if the score has no reading.
    """
    reading = Relevance.WIDE if score.endswith(" wide") else Relevance.STRICT
    return reading.share_tag if field == RELEVANT_SHARE else field


def _signature(settings: EstimateSettings, fields: Iterable[str]) -> str:
    """The settings, and the limits of the bands of each field that is cut into them."""
    rules = parse_grounding_rules(settings)
    limits = ",".join(f"{limit:g}" for limit in rules.bands)
    parts = (
        f"over:{rules.over}|deflecting:{rules.deflecting}|citations over:answerable",
        "strict:answers,related,relevant without second label",
        "wide:strict,outdated,unknown,relevant with another second label",
        f"intervals:wilson of shares, else {settings}",
        *(f"bands of {tag}:{limits}" for tag in fields if tag in _SHARE_TAGS),
    )
    return "|".join(parts)


def _sheet_lines(item: Row) -> list[dict[str, str]]:
    asked = item.get("asked") or {}
    passages = "\n".join(f"[{one['id']}] {one['text']}" for one in asked.get("passages") or ())
    shown = {name: str(asked.get(name) or "") for name in ("question", "reference")}
    sentences = [{"text": str(sentence["text"])} for sentence in item.get("sentences") or ()]
    return [{**shown, "text": str(item["answer"]), "passages": passages}, *sentences]


def _verdict_by_people(item: Row, labels: Labels, annotator: str) -> dict[str, Any]:
    whole, *parts = labels
    sentences = [
        {"text": sentence["text"], "all": own.get("all")}
        for sentence, own in zip(item.get("sentences") or (), parts, strict=True)
    ]
    row = {name: value for name, value in item.items() if name not in ("asked", "unjudged")}
    return row | {
        "judge": annotator, "eligibility": whole.get("eligibility"), "sentences": sentences, "readings": [],
        "deflects": {"deflects": "people", "answers": ""}.get(whole.get("deflects", "")),
    }  # fmt: skip


GROUNDING = EvidenceTask(
    name="grounding",
    distinctive_field="expected_deflection",
    judge="judge",
    made_by="granola grounding judge",
    row=GroundingItem,
    texts=("answer",),
    questions=(ELIGIBILITY, DEFLECTS, *SENTENCES),
    main="RAF strict",
    scores=grounding_scores,
    value=item_score,
    cells=_band_cells,
    sliced_field=_share_tag_or_field,
    signature=_signature,
    lacking="E, F and RAF ask a judge's --model, and a reference",
    sheet=SheetForm(
        shown=("question", "reference", "text", "passages"), questions=(ELIGIBILITY, DEFLECTS, SENTENCES[0]),
        lines=_sheet_lines, verdict=_verdict_by_people, draw_by="system",
    ),
)  # fmt: skip
