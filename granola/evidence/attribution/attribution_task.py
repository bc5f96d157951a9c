"""Attribution as an evidence task: samples and their files, verdicts, F1 per class, micro- and macro-F1, FActScore.

Hu et al. 2025 (CAQA): samples, sections 3.2 and 3.3; scores, 5.2. A reply without a label counts as wrong; the paper
leaves this open.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import orjson
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator

from abstraction.base.faults import OnReject
from abstraction.files.records import Record, parse_json_or_text, read_records
from abstraction.files.row_models import RowModel, read_each_id_once, without_rejected
from granola.errors import GranolaError, SampleError
from granola.evidence.evidence_task import EstimateSettings, EvidenceTask, JudgedQuestion, Labels, Row, SheetForm
from granola.scoring.statistics import Estimate, bootstrap_estimate, divide_or_nan, mean_estimate, share_estimate
from kg.errors import QueryShapeError
from kg.graph.logical_query import Fact, LogicalQuery

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Category(StrEnum):
    """The relation of citations to an answer statement.

    SUPPORTIVE: they contain facts that fully support it. PARTIAL: some facts that it needs are missing. CONTRADICTORY:
    their facts imply a different answer. IRRELEVANT: they contain no fact that bears on it.
    """

    SUPPORTIVE = "supportive"
    PARTIAL = "partially supportive"
    CONTRADICTORY = "contradictory"
    IRRELEVANT = "irrelevant"


class Complexity(StrEnum):
    """How citations combine to the answer: one citation, a union, an intersection, or a chain of several."""

    SINGLE = "single"
    UNION = "union"
    INTERSECTION = "intersection"
    CONCATENATION = "concatenation"


class NoSampleError(GranolaError, ValueError):
    """No sample can be made of a query, or of one category; the message is the reason, and a key of counts."""


TWO_WAY = ("not supported", "supported")  # labels of data sets and evaluators with two classes
# "table_4": samples of the paper (training, testing, all). "replies": names of categories in replies, which are ours,
# those of the paper's prompts and of AttrScore, and participles. "prompts": their names in prompts. "sources": labels
# of AttributionBench and of FactcheckGPT. "sheets": meanings of labels on sheets.
LABELS: Mapping[str, Any] = orjson.loads(
    (files("granola") / "evidence" / "attribution" / "data" / "labels.json").read_bytes()
)
_Nested = BeforeValidator(
    lambda value: parse_json_or_text(value) if isinstance(value, str) else value
)  # JSON text in CSV
_Text = Annotated[str, Field(min_length=1, description="a text")]


class CitedFact(BaseModel):
    """A WikiData triple with the names of its parts, and a sentence that expresses it.

    With `qualifier` set, the object is the value of that qualifier on a statement of `property`.
    """

    model_config = ConfigDict(frozen=True)

    subject: str
    property: str
    qualifier: str | None = None
    object: str
    names: tuple[str, str, str]  # of subject, property (or qualifier) and object
    text: str

    @builtins.property  # `property` is a field here
    def fact(self) -> Fact:
        """The fact without the names."""
        return Fact(self.subject, self.property, self.object, self.qualifier)


_Facts = Annotated[tuple[CitedFact, ...], _Nested]
_FactPositions = tuple[tuple[int, ...], ...] | None


class AttributionSample(RowModel):
    """A question, an answer statement and citations, with the known relation of the citations to the statement.

    `category` is one of four; data sets with two classes only have `attributable` instead. `subgraph`: the facts that
    the answer needs. `evidence`: the facts that the citations state, after the edit of the category. `cited`: for each
    citation, the positions in `evidence` (from 0) of the facts that it states; None where unknown. `query`: the
    logical query in the JSON of `kg.graph`.
    """

    model_config = ConfigDict(frozen=True)

    id: _Text
    question: str = Field(description="a text")
    statement: str = Field(description="a text")
    citations: tuple[str, ...] = Field(description="a list of texts")
    category: Category | None = None
    attributable: bool | None = None
    complexity: Complexity | None = None
    answer: tuple[str, ...] = ()
    answer_qids: tuple[str, ...] = ()
    query: Annotated[Mapping[str, Any] | None, _Nested] = None
    subgraph: _Facts = ()
    evidence: _Facts = ()
    cited: Annotated[_FactPositions, _Nested] = None
    provenance: Annotated[Mapping[str, Any], _Nested] = Field(default_factory=dict)

    @field_validator("query")
    @classmethod
    def _normalised_query(cls, query: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        try:
            return None if query is None else LogicalQuery.from_json(query).to_json()
        except QueryShapeError as error:
            raise ValueError(f"is no query: {error}") from error

    @field_validator("cited")
    @classmethod
    def _check_cited_positions(cls, cited: _FactPositions, row: ValidationInfo) -> _FactPositions:
        known, citations = len(row.data.get("evidence", ())), row.data.get("citations", ())
        if cited and (len(cited) != len(citations) or any(not 0 <= at < known for one in cited for at in one)):
            raise ValueError('does not list, for each citation, positions of facts in "evidence"')
        # An empty list means that the row does not record which citation states which fact.
        return cited or None

    @property
    def needed_facts_stated(self) -> tuple[bool, ...]:
        """For each fact that the answer needs (the subgraph), whether the evidence states it."""
        left = {one.fact for one in self.evidence}
        return tuple(one.fact in left for one in self.subgraph)

    @property
    def supported(self) -> bool | None:
        """The two-class label: whether the citations support the whole statement; None where the row has no label."""
        return self.attributable if self.category is None else self.category is Category.SUPPORTIVE

    def to_json(self) -> dict[str, Any]:
        """The sample as a JSON row; unknown fields are omitted."""
        return {name: value for name, value in self.model_dump(mode="json").items() if value is not None}


def read_samples(path: Path | str, *, on_reject: OnReject | None = None) -> Iterator[AttributionSample]:
    """The samples of a file, in order; rows of AttributionBench and of FactcheckGPT's stances are read as they are.

    Invalid and repeated rows go to `on_reject`; without it they raise.
    """
    return without_rejected(read_each_id_once(read_records(path), _parse_sample), on_reject)


def _parse_sample(record: Record) -> AttributionSample:
    data = record.data
    if (field := next((name for name in LABELS["sources"] if name in data), None)) is not None:
        labels = LABELS["sources"][field]
        if (label := labels.get(data[field])) is None:
            raise SampleError(f"{field} is {data[field]!r}; expected {' or '.join(map(repr, labels))}")
        if field == "stance":
            # These rows have neither id nor question.
            own: dict[str, Any] = {"id": Path(record.source).name, "question": "", "citations": [data.get("evidence")]}
            source, kind = "FactcheckGPT", "category"
        else:
            own = {"id": data.get("id"), "question": data.get("question"), "citations": data.get("references")}
            source, kind = data.get("src_dataset", ""), "attributable"
        data = {**own, "statement": data.get("claim"), kind: label, "provenance": {"source": source}}
    return AttributionSample.of(replace(record, data=data))


NO_LABEL = "unparsed"  # a missing verdict in pairs: it never equals a gold label
CATEGORIES = tuple(map(str, Category))
FACT_SCORE = "FActScore"  # section 5.4; means in Table 6: 0.58 by judgements of people, 0.62 by remaining triples
TRIPLES_LEFT = "FActScore by triples left"
BY_PEOPLE = "micro-F1 by people's labels"
Pair = tuple[str, str]  # gold, judged
Statistic = Callable[[Sequence[Pair], "NDArray[np.int64]"], "NDArray[np.float64]"]


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

    @classmethod
    def of(cls, sample: AttributionSample, label: Category | bool, **more: Any) -> AttributionJudgement:
        """The judgement with `label`: a category, of which only SUPPORTIVE counts as supported, or whether it is
        supported.
        """
        if isinstance(label, Category):
            return cls(id=sample.id, category=label, supported=label is Category.SUPPORTIVE, **more)
        return cls(id=sample.id, supported=label, **more)


class AttributionVerdict(RowModel):
    """A row of `granola attribution evaluate`, or a label of a person.

    `gold_...` are the labels of the sample, `people_category` the unanimous label of people. For partially supportive
    samples, `fact_score` is the share of facts that the evaluator finds supported, `triples_left` the share that the
    citations still state. `two_way`: whether the evaluator only decides between supported and not supported.
    """

    id: str = Field(min_length=1, description="a text")
    evaluator: str = Field(description="the name of who judged")
    category: Category | None = None
    supported: bool | None = None
    gold_category: Category | None = None
    gold_supported: bool | None = None
    people_category: Category | None = None
    two_way: bool = False
    complexity: Complexity | None = None
    source: str | None = None
    fact_score: float | None = None
    triples_left: float | None = None

    def gold_and_judged(self, gold: Category | None = None) -> Pair:
        """The gold category (`gold`, where given, in its place), and the judged category, "unparsed" where it is
        missing.
        """
        return str(gold or self.gold_category), str(self.category or NO_LABEL)

    def value(self, score: str) -> float | None:
        """The contribution of the row to a score that is a mean over samples; None for other scores and unlabelled
        rows. An unreadable reply counts as wrong, in the classes of its evaluator: a two-way one has no micro-F1.
        """
        if score == "two-way micro-F1":
            return None if self.gold_supported is None else float(self.gold_supported is self.supported)
        if score in (FACT_SCORE, TRIPLES_LEFT):
            return self.fact_score if score == FACT_SCORE else self.triples_left
        gold = {"micro-F1": self.gold_category, BY_PEOPLE: self.people_category}.get(score)
        is_two_way = self.two_way or (self.category is None and self.supported is not None)
        return None if gold is None or is_two_way else float(gold is self.category)


def verdict_row(
    name: str,
    sample: AttributionSample,
    judged: AttributionJudgement,
    fact_verdicts: Sequence[bool | None] = (),
    **more: Any,
) -> dict[str, Any]:
    """The row of a judgement. `fact_verdicts`: whether each fact of the subgraph is supported; empty if the evaluator
    was not asked about facts.
    """
    # A fact without a verdict counts as unsupported. FActScore is for partially supportive samples (section 5.4).
    by_score = {"triples_left": sample.needed_facts_stated, "fact_score": fact_verdicts}
    is_partial = sample.category is Category.PARTIAL
    shares = {score: sum(map(bool, own)) / len(own) for score, own in by_score.items() if own and is_partial}
    return {
        "evaluator": name, **asdict(judged), "gold_supported": sample.supported, "gold_category": sample.category,
        "complexity": sample.complexity, "source": sample.provenance.get("source"), **shares, **more,
    }  # fmt: skip


def scores_of(rows: Sequence[Mapping[str, Any]], settings: EstimateSettings) -> dict[str, Estimate]:
    """The scores of one evaluator: "supportive F1", "micro-F1", "micro-F1, single", "two-way micro-F1" and so on.

    Two-class samples or evaluators get only the two-way scores.
    """
    verdicts = [AttributionVerdict.model_validate(row) for row in rows]
    # A two-class evaluator has no four-way scores.
    is_four_way = any(one.category is not None for one in verdicts)
    four = [one for one in verdicts if is_four_way and one.gold_category is not None]
    asked: list[tuple[str, Sequence[Pair], Statistic]] = []
    two: list[Pair] = [
        (TWO_WAY[bool(one.gold_supported)], NO_LABEL if one.supported is None else TWO_WAY[one.supported])
        for one in verdicts
        if one.gold_supported is not None
    ]
    for which, labels, own in ("", CATEGORIES, [one.gold_and_judged() for one in four]), ("two-way ", TWO_WAY, two):
        asked += [(f"{label} F1", own, macro_f1([label])) for label in labels]
        asked += [(f"{which}micro-F1", own, micro_f1), (f"{which}macro-F1", own, macro_f1(labels))]
    for kind in Complexity:
        asked.append((f"micro-F1, {kind}", [one.gold_and_judged() for one in four if one.complexity is kind], micro_f1))
    by_people = [one.gold_and_judged(one.people_category) for one in four if one.people_category is not None]
    asked.append((BY_PEOPLE, by_people, micro_f1))
    estimates: dict[str, Estimate] = {}
    for title, pairs, statistic in asked:
        if pairs:
            found, interval = bootstrap_estimate(pairs, statistic, resamples=settings.resamples, seed=settings.seed)
            estimates[title] = Estimate(value=found, interval=interval, n=len(pairs))
    for title in (FACT_SCORE, TRIPLES_LEFT):
        values = [value for one in verdicts if (value := one.value(title)) is not None]
        if values:
            estimates[title] = mean_estimate(values, resamples=settings.resamples, seed=settings.seed)
    if estimates:
        estimates["without a label"] = share_estimate([float(one.supported is None) for one in verdicts])
    return estimates


def micro_f1(pairs: Sequence[Pair], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Micro-F1, in [0, 1]: with one label per item it equals accuracy."""
    import numpy as np

    right = counts @ np.array([gold == judged for gold, judged in pairs], dtype=np.int64)
    return divide_or_nan(right.astype(np.float64), counts.sum(axis=1).astype(np.float64))


def macro_f1(labels: Sequence[str]) -> Statistic:
    """Macro-F1, in [0, 1]: the unweighted mean over the labels that occur of F1 = 2 TP / (2 TP + FP + FN).

    NaN where none of them occurs; of a single label it is the label's F1.
    """

    def macro(pairs: Sequence[Pair], counts: NDArray[np.int64]) -> NDArray[np.float64]:
        import numpy as np

        gold, judged = (np.array([[one[at] == label for label in labels] for one in pairs]) * 1 for at in (0, 1))
        # Rows are resamples, columns labels; 2 TP + FP + FN = occurrences as gold + occurrences as judged.
        right, there = counts @ (gold * judged), counts @ (gold + judged)
        each = divide_or_nan((2 * right).astype(np.float64), there.astype(np.float64))
        # A resample may lack a label: its F1 is undefined there.
        return divide_or_nan(np.nansum(each, axis=1), (there > 0).sum(axis=1).astype(np.float64))

    return macro


CATEGORY = JudgedQuestion(field="category", **LABELS["sheets"]["category"])


def _sheet_lines(item: Row) -> list[dict[str, str]]:
    citations = "\n".join(f"[{number}] {text}" for number, text in enumerate(item.get("citations") or (), 1))
    shown = {"question": str(item.get("question") or ""), "statement": str(item.get("statement") or "")}
    return [{**shown, "citations": citations}]


def _verdict_by_people(item: Row, labels: Labels, annotator: str) -> dict[str, Any]:
    label = labels[0].get(CATEGORY.field)
    category = item.get("category")
    return {
        "evaluator": annotator, "id": item["id"], "category": label,
        "supported": None if label is None else label == Category.SUPPORTIVE, "gold_category": category,
        "gold_supported": item.get("attributable") if category is None else category == Category.SUPPORTIVE,
        "complexity": item.get("complexity"),
    }  # fmt: skip


ATTRIBUTION = EvidenceTask(
    name="attribution",
    distinctive_field="evaluator",
    judge="evaluator",
    line="evaluator",
    made_by="granola attribution evaluate",
    row=AttributionVerdict,
    texts=(),
    questions=(CATEGORY,),
    main="micro-F1",
    scores=scores_of,
    value=lambda row, score, _: AttributionVerdict.model_validate(row).value(score),
    sheet=SheetForm(
        shown=("question", "statement", "citations"),
        questions=(CATEGORY,),
        lines=_sheet_lines,
        verdict=_verdict_by_people,
    ),
)
