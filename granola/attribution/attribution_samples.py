"""One item of an attribution benchmark, files of them, and rows of sets that people marked read as such."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, field_validator

from abstraction.errors import RowError
from abstraction.faults import OnReject, RejectedRow
from abstraction.files.cells import parsed
from abstraction.files.records import Record, read_records
from abstraction.files.row_models import RowModel
from abstraction.files.row_reading import accepted, each_once
from abstraction.files.writing import write_records
from granola.attribution.categories import Category, Complexity
from kg.errors import QueryShapeError
from kg.queries import LogicalQuery


@dataclass(frozen=True, kw_only=True, slots=True)
class CitedFact:
    """One triple of WikiData with its names, and the sentence that says it.

    `qualifier` is set where the object is a qualifier's value of a statement of `property`.
    """

    subject: str
    property: str
    object: str
    names: tuple[str, str, str]  # of subject, property (or qualifier) and object
    text: str
    qualifier: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The fact as it stands in a file."""
        return {
            "subject": self.subject, "property": self.property, "qualifier": self.qualifier, "object": self.object,
            "names": list(self.names), "text": self.text,
        }  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class AttributionSample:
    """A question, an answer statement, and citations of which it is known how they support it.

    `category` is one of the four; of sets that tell only whether a statement is attributable, `attributable` alone is
    set. `subgraph` has the facts that the answer needs, `evidence` those that the citations state: what the edit of the
    category left or put there; `cited` says for each citation which of these, by their places from 0, where that is
    known. `query` is the logical query as `kg.queries` writes it.
    """

    id: str
    question: str
    statement: str
    citations: tuple[str, ...]
    category: Category | None = None
    attributable: bool | None = None
    complexity: Complexity | None = None
    answers: tuple[str, ...] = ()
    answer_qids: tuple[str, ...] = ()
    query: Mapping[str, Any] | None = None
    subgraph: tuple[CitedFact, ...] = ()
    evidence: tuple[CitedFact, ...] = ()
    cited: tuple[tuple[int, ...], ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def supported(self) -> bool | None:
        """The two-way view: whether the citations support the whole statement; None where nobody says."""
        return self.attributable if self.category is None else self.category is Category.SUPPORTIVE

    def to_json(self) -> dict[str, Any]:
        """The sample as it stands in a file."""
        out: dict[str, Any] = {"id": self.id, "question": self.question, "statement": self.statement}
        out["citations"] = list(self.citations)
        for name in ("category", "attributable", "complexity"):
            if (value := getattr(self, name)) is not None:
                out[name] = value if isinstance(value, bool) else str(value)
        out["answer"], out["answer_qids"] = list(self.answers), list(self.answer_qids)
        if self.query is not None:
            out["query"] = dict(self.query)
        out["subgraph"] = [fact.to_json() for fact in self.subgraph]
        out["evidence"] = [fact.to_json() for fact in self.evidence]
        if self.cited:
            out["cited"] = [list(places) for places in self.cited]
        out["provenance"] = dict(self.provenance)
        return out

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> AttributionSample:
        """The inverse of `to_json`. Raises RowError where a field is missing or not as it must be."""
        return _SampleModel.of(Record(source="", data=data)).sample()


def _nested(value: object) -> object:
    """A field that CSV and Parquet hold as JSON text."""
    return parsed(value) if isinstance(value, str) else value


_Nested = BeforeValidator(_nested)
_Text = Annotated[str, Field(min_length=1, description="a text")]


class _FactModel(BaseModel):
    """A cited fact as it stands in a file."""

    subject: str
    property: str
    object: str
    names: tuple[str, str, str]
    text: str
    qualifier: str | None = None


class _SampleModel(RowModel):
    """A row of ours."""

    id: _Text
    question: _Text
    statement: _Text
    citations: tuple[str, ...] = Field(description="a list of texts")
    category: Category | None = None
    attributable: bool | None = None
    complexity: Complexity | None = None
    answer: tuple[str, ...] = ()
    answer_qids: tuple[str, ...] = ()
    query: Annotated[Mapping[str, Any] | None, _Nested] = None
    subgraph: Annotated[tuple[_FactModel, ...], _Nested] = ()
    evidence: Annotated[tuple[_FactModel, ...], _Nested] = ()
    cited: Annotated[tuple[tuple[int, ...], ...] | None, _Nested] = None
    provenance: Annotated[Mapping[str, Any], _Nested] = Field(default_factory=dict)

    @field_validator("query")
    @classmethod
    def _is_query(cls, query: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        try:
            return None if query is None else LogicalQuery.from_json(query).to_json()
        except QueryShapeError as error:
            raise ValueError(f"is no query: {error}") from error

    def sample(self) -> AttributionSample:
        """The sample. Raises RowError where `cited` is not of its citations and facts."""
        evidence = tuple(_fact(fact) for fact in self.evidence)
        if self.cited is not None and (
            len(self.cited) != len(self.citations)
            or not all(0 <= at < len(evidence) for places in self.cited for at in places)
        ):
            raise RowError('"cited" has not the places of facts in "evidence" for each citation')
        given = {name: getattr(self, name) for name in ("id", "question", "statement", "citations", "category")}
        return AttributionSample(
            **given, attributable=self.attributable, complexity=self.complexity, answers=self.answer,
            answer_qids=self.answer_qids, query=self.query, evidence=evidence, cited=self.cited or (),
            subgraph=tuple(_fact(fact) for fact in self.subgraph), provenance=self.provenance,
        )  # fmt: skip


def _fact(fact: _FactModel) -> CitedFact:
    return CitedFact(**fact.model_dump())


def read_samples(path: Path | str, *, on_reject: OnReject | None = None) -> Iterator[AttributionSample]:
    """The samples of a file (JSONL, Parquet), in order. Bad and repeated rows go to `on_reject`, else they raise."""
    return accepted(each_once(read_records(path), lambda record: _SampleModel.of(record).sample()), on_reject)


def write_samples(samples: Iterable[AttributionSample], path: Path, *, format: str = "jsonl") -> int:
    """Write a file of samples, whole or not at all; how many there were."""
    return write_records((sample.to_json() for sample in samples), path, format=format)


# Samples of other sets in the same columns, their rows read as they are, each told by its fields.


class _AttributionBenchRow(RowModel):
    """A row of AttributionBench."""

    id: _Text
    question: _Text
    claim: _Text
    references: tuple[str, ...] = Field(description="a list of texts")
    attribution_label: Literal["attributable", "not attributable"]
    src_dataset: str = ""

    def sample(self) -> AttributionSample:
        """The sample; it has no category."""
        return AttributionSample(
            id=self.id, question=self.question, statement=self.claim, citations=self.references,
            attributable=self.attribution_label == "attributable", provenance={"source": self.src_dataset},
        )  # fmt: skip


_STANCES = {
    "completely-support": Category.SUPPORTIVE, "partially-support": Category.PARTIAL, "refute": Category.CONTRADICTORY,
    "irrelevant": Category.IRRELEVANT,
}  # fmt: skip
_RELATIONS = {
    "Entailment": Category.SUPPORTIVE, "Contradiction": Category.CONTRADICTORY, "Neutral": Category.IRRELEVANT,
}  # fmt: skip


class _StanceRow(RowModel):
    """A pair of a claim and a passage of FactcheckGPT."""

    claim: _Text
    evidence: str = Field(description="a text")
    stance: Literal["completely-support", "partially-support", "refute", "irrelevant"]

    def sample(self, name: str) -> AttributionSample:
        """The sample, called by its place."""
        return AttributionSample(
            id=name, question="", statement=self.claim, citations=(self.evidence,), category=_STANCES[self.stance],
            provenance={"source": "FactcheckGPT"},
        )  # fmt: skip


class _TripleRow(RowModel):
    """A claim of RefChecker: a triple of a response, with the passages that it was held against."""

    triplet: tuple[str, str, str] = Field(description="three texts")
    label: Literal["Entailment", "Neutral", "Contradiction"]
    reference: tuple[str, ...] = Field(
        description="the passages that people held the claim against, which RefChecker publishes apart from its claims"
    )
    question: str = ""

    def sample(self, name: str) -> AttributionSample:
        """The sample, called by its place."""
        return AttributionSample(
            id=name, question=self.question, statement=" ".join(self.triplet), citations=self.reference,
            category=_RELATIONS[self.label], provenance={"source": "RefChecker"},
        )  # fmt: skip


def read_any_samples(path: Path | str, *, on_reject: OnReject | None = None) -> Iterator[AttributionSample]:
    """Samples of ours, of AttributionBench, FactcheckGPT's stances or RefChecker. Bad rows as in `read_samples`."""
    return accepted(each_once(_with_claims_apart(read_records(path)), _any_sample), on_reject)


def _any_sample(record: Record) -> AttributionSample:
    data, name = record.data, Path(record.source).name
    if "attribution_label" in data:
        return _AttributionBenchRow.of(record).sample()
    if "stance" in data:
        return _StanceRow.of(record).sample(name)
    return _TripleRow.of(record).sample(name) if "triplet" in data else _SampleModel.of(record).sample()


def _with_claims_apart(records: Iterable[Record | RejectedRow]) -> Iterator[Record | RejectedRow]:
    """Rows of RefChecker as one row a claim; all others as they are."""
    for record in records:
        claims = None if isinstance(record, RejectedRow) else record.data.get("claims")
        if isinstance(record, RejectedRow) or not isinstance(claims, list) or "response" not in record.data:
            yield record
            continue
        passages = record.data.get("reference") or record.data.get("context")
        shared: dict[str, Any] = {"question": str(record.data.get("question") or "")}
        if passages:
            shared["reference"] = [passages] if isinstance(passages, str) else passages
        for number, claim in enumerate(claims, 1):
            if isinstance(claim, Mapping):
                yield Record(source=f"{record.source}:{number}", data={**claim, **shared})
