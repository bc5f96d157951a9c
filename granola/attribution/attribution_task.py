"""Attribution as an evidence task: what citations are to an answer (Hu et al. 2025, CAQA), with the paper's tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pydantic import Field

from abstraction.files.records import Record
from abstraction.files.row_models import RowModel
from granola.attribution.attribution_samples import AttributionSample
from granola.attribution.categories import Category, Complexity
from granola.attribution.evaluation import evaluated
from granola.attribution.evaluators import AttributionJudgement
from granola.evidence.evidence_task import (
    EvidenceTask,
    ItemFigure,
    JudgedQuestion,
    Labels,
    PaperTable,
    Report,
    Row,
    SheetForm,
    SheetLine,
)

CATEGORY = JudgedQuestion(
    field="category",
    labels={
        Category.SUPPORTIVE: "the citations hold all facts that the answer needs",
        Category.PARTIAL: "a part of the facts is missing",
        Category.IRRELEVANT: "they hold no fact that helps",
        Category.CONTRADICTORY: "they hold facts from which another answer follows",
    },
    against=(Category.PARTIAL, Category.IRRELEVANT, Category.CONTRADICTORY),
)


class AttributionVerdict(RowModel):
    """A row of `granola attribution evaluate`, or of a person; `gold_...` is what the sample says."""

    id: str = Field(min_length=1, description="a text")
    evaluator: str = Field(description="the name of who judged")
    category: Category | None = None
    supported: bool | None = None
    gold_category: Category | None = None
    gold_supported: bool | None = None
    complexity: Complexity | None = None
    source: str | None = None

    def sample(self) -> AttributionSample:
        """What is known of the sample that was judged."""
        return AttributionSample(
            id=self.id, question="", statement="", citations=(), category=self.gold_category,
            attributable=self.gold_supported, complexity=self.complexity, provenance={"source": self.source},
        )  # fmt: skip

    def judgement(self) -> AttributionJudgement:
        """What was said of it."""
        return AttributionJudgement(id=self.id, category=self.category, supported=self.supported)


def read_verdict_row(record: Record) -> dict[str, Any]:
    """The row as it is, checked. Raises RowError."""
    AttributionVerdict.of(record)
    return dict(record.data)


def _verdicts(rows: Iterable[Row]) -> list[AttributionVerdict]:
    return [AttributionVerdict.model_validate(row) for row in rows]


def _report(rows: Sequence[Row], resamples: int, seed: int) -> Report:
    by_evaluator: dict[str, list[AttributionVerdict]] = {}
    for verdict in _verdicts(rows):
        if verdict.gold_category is not None or verdict.gold_supported is not None:
            by_evaluator.setdefault(verdict.evaluator, []).append(verdict)
    return {
        name: evaluated(
            name, name, [one.sample() for one in own], [one.judgement() for one in own], resamples=resamples, seed=seed
        ).figures
        for name, own in by_evaluator.items()
    }


def _values(rows: Iterable[Row], score: str) -> list[float | None]:
    """Of micro-F1 whether the label is right, two-way whether it is rightly supported; F1 is no mean over samples."""

    def value(one: AttributionVerdict) -> float | None:
        if score == "two-way micro-F1":
            return None if one.gold_supported is None else float(one.gold_supported is one.supported)
        if score == "micro-F1":
            return None if one.gold_category is None else float(one.gold_category is one.category)
        return None

    return [value(one) for one in _verdicts(rows)]


def _sheet_lines(item: Row) -> Iterator[SheetLine]:
    citations = "\n".join(f"[{number}] {text}" for number, text in enumerate(item.get("citations") or (), 1))
    shown = {"question": str(item.get("question") or ""), "statement": str(item.get("statement") or "")}
    yield SheetLine(cells={**shown, "citations": citations})


def _of_people(item: Row, labels: Labels, annotator: str) -> dict[str, Any]:
    label = labels.get(0, {}).get(CATEGORY.field)
    category = item.get("category")
    return {
        "evaluator": annotator, "id": item["id"], "category": label,
        "supported": None if label is None else label == Category.SUPPORTIVE, "gold_category": category,
        "gold_supported": item.get("attributable") if category is None else category == Category.SUPPORTIVE,
        "complexity": item.get("complexity"),
    }  # fmt: skip


NOT_COMPARABLE = (
    "The paper's rows are of its own test set: Freebase, texts by GPT-3.5, 23,963 samples (3,000 for GPT models). Here "
    "facts are WikiData's and texts are templates', unless a model worded them: easier to read, and another difficulty."
)
_HEADS = {
    "Sup": "supportive F1", "Par": "partially supportive F1", "Con": "contradictory F1", "Irr": "irrelevant F1",
    "overall": "micro-F1", "single": "micro-F1, single", "concat.": "micro-F1, concatenation",
    "intersect.": "micro-F1, intersection", "union": "micro-F1, union",
}  # fmt: skip
# Table 5 of Hu et al. 2025 and, of decomposed evaluators, Table 15: setting and evaluator, then the columns above.
_TABLE_5: dict[str, tuple[float | None, ...]] = {
    "zero-shot, LLaMA-3 (8B)": (0.467, 0.120, 0.072, 0.007, 0.296, 0.304, 0.271, 0.283, 0.259),
    "zero-shot, LLaMA-3.1 (8B)": (0.544, 0.049, 0.130, 0.017, 0.318, 0.319, 0.326, 0.319, 0.285),
    "zero-shot, LLaMA-3.1 (70B)": (0.688, 0.168, 0.547, 0.609, 0.544, 0.545, 0.549, 0.545, 0.499),
    "zero-shot, Mistral-v0.3 (7B)": (0.661, 0.160, 0.051, 0.334, 0.362, 0.363, 0.374, 0.356, 0.337),
    "zero-shot, Mixtral-v1.0 (8x7B)": (0.677, 0.094, 0.170, 0.635, 0.494, 0.495, 0.516, 0.484, 0.487),
    "zero-shot, Vicuna (7B)": (0.513, 0.100, 0.064, 0.199, 0.327, 0.343, 0.273, 0.312, 0.256),
    "zero-shot, Vicuna (13B)": (0.634, 0.211, 0.393, 0.275, 0.405, 0.432, 0.314, 0.361, 0.374),
    "zero-shot, Gemma-2 (9B)": (0.667, 0.280, 0.498, 0.624, 0.556, 0.557, 0.572, 0.552, 0.508),
    "zero-shot, Gemma-2 (27B)": (0.653, 0.184, 0.569, 0.646, 0.566, 0.566, 0.579, 0.566, 0.537),
    "zero-shot, Qwen-2.5 (14B)": (0.680, 0.132, 0.708, 0.660, 0.617, 0.640, 0.622, 0.611, 0.547),
    "zero-shot, Qwen-2.5 (72B)": (0.629, 0.266, 0.701, 0.471, 0.571, 0.593, 0.583, 0.565, 0.530),
    "zero-shot, GPT-4": (0.771, 0.456, 0.745, 0.473, 0.630, 0.685, 0.451, 0.514, 0.616),
    "zero-shot, GPT-4o": (0.769, 0.445, 0.598, 0.626, 0.630, 0.676, 0.591, 0.470, 0.588),
    "zero-shot, GPT-4o-mini": (0.718, 0.297, 0.632, 0.703, 0.616, 0.672, 0.473, 0.444, 0.559),
    "few-shot, LLaMA-3.1 (70B)": (0.698, 0.259, 0.713, 0.665, 0.627, 0.626, 0.638, 0.632, 0.589),
    "few-shot, Qwen-2.5 (14B)": (0.699, 0.257, 0.741, 0.676, 0.646, 0.680, 0.656, 0.638, 0.608),
    "few-shot, Qwen-2.5 (72B)": (0.721, 0.400, 0.736, 0.503, 0.617, 0.635, 0.608, 0.626, 0.592),
    "few-shot, GPT-4": (0.794, 0.520, 0.728, 0.653, 0.680, 0.745, 0.492, 0.473, 0.559),
    "few-shot, GPT-4o": (0.783, 0.507, 0.683, 0.641, 0.664, 0.730, 0.559, 0.449, 0.529),
    "few-shot, GPT-4o-mini": (0.763, 0.435, 0.705, 0.700, 0.657, 0.741, 0.430, 0.404, 0.588),
    "fine-tuned, LLaMA-3 (8B)": (0.935, 0.901, 0.935, 0.928, 0.926, 0.935, 0.820, 0.930, 0.924),
    "fine-tuned, LLaMA-3.1 (8B)": (0.946, 0.919, 0.944, 0.934, 0.941, 0.953, 0.850, 0.939, 0.945),
    "fine-tuned, Mistral-v0.3 (7B)": (0.944, 0.921, 0.947, 0.935, 0.942, 0.956, 0.852, 0.937, 0.941),
    "fine-tuned, Vicuna (7B)": (0.937, 0.907, 0.940, 0.906, 0.932, 0.956, 0.823, 0.936, 0.939),
    "fine-tuned, Vicuna (13B)": (0.942, 0.923, 0.939, 0.923, 0.933, 0.950, 0.847, 0.935, 0.940),
    "existing, AutoIS (11B)": (0.609, None, None, None, None, None, None, None, None),
    "existing, AttrScore (13B)": (0.687, None, 0.523, 0.541, 0.521, 0.559, 0.410, 0.432, 0.353),
}
_TABLE_15: dict[str, tuple[float | None, ...]] = {
    "zero-shot, Gemma-2 (27B)": (0.663, 0.216, 0.550, 0.597, 0.556, 0.557, 0.667, 0.542, 0.375),
    "zero-shot, LLaMA-3.1 (70B)": (0.695, 0.166, 0.540, 0.580, 0.537, 0.527, 0.681, 0.542, 0.500),
    "zero-shot, Qwen-2.5 (72B)": (0.653, 0.294, 0.750, 0.496, 0.604, 0.585, 0.744, 0.639, 0.538),
    "zero-shot, GPT-4o": (0.746, 0.387, 0.659, 0.649, 0.624, 0.654, 0.604, 0.528, 0.688),
    "zero-shot, GPT-4o-mini": (0.698, 0.413, 0.593, 0.717, 0.607, 0.642, 0.500, 0.517, 0.688),
    "few-shot, Gemma-2 (27B)": (0.645, 0.293, 0.692, 0.554, 0.581, 0.573, 0.708, 0.592, 0.438),
    "few-shot, LLaMA-3.1 (70B)": (0.722, 0.361, 0.714, 0.637, 0.640, 0.640, 0.688, 0.637, 0.562),
    "few-shot, Qwen-2.5 (72B)": (0.755, 0.449, 0.771, 0.505, 0.646, 0.636, 0.708, 0.682, 0.500),
    "few-shot, GPT-4o": (0.817, 0.615, 0.719, 0.679, 0.716, 0.765, 0.542, 0.617, 0.688),
    "few-shot, GPT-4o-mini": (0.770, 0.497, 0.786, 0.706, 0.697, 0.741, 0.417, 0.398, 0.688),
}
# Table 7, on real text: two-way evaluators, then four categories.
_TABLE_7: dict[str, tuple[float | None, ...]] = {
    "AutoIS (T5-11B)": (0.31, 0.65, 0.54), "T5-11B trained on CAQA": (0.44, 0.72, 0.63),
}  # fmt: skip

ATTRIBUTION = EvidenceTask(
    name="attribution",
    told_by="evaluator",
    judge="evaluator",
    made_by="granola attribution evaluate",
    read=read_verdict_row,
    texts=(),
    questions=(CATEGORY,),
    report=_report,
    values=_values,
    sheet=SheetForm(
        shown=("question", "statement", "citations"), questions=(CATEGORY,), lines=_sheet_lines, verdict=_of_people
    ),
    figures={"caqa-f1": ItemFigure(x=("category", "complexity"), y=("F1",), by="evaluator")},
    tables={
        "caqa-5": PaperTable(columns=_HEADS, printed=_TABLE_5, note=NOT_COMPARABLE),
        "caqa-15": PaperTable(columns=_HEADS, printed=_TABLE_15, note=NOT_COMPARABLE),
        "caqa-7": PaperTable(
            columns={"Sup": "supported F1", "Non-Sup": "not supported F1", "overall": "two-way micro-F1"},
            printed=_TABLE_7,
            note="The paper's rows are of ALCE-FineGrained, 215 answers with unanimous labels.",
        ),
    },
)
