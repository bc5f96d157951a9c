"""Attribution samples: categories of evidence and complexities of questions, rows, and their files.

Hu et al. 2025 (CAQA), sections 3.2 and 3.3.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator

from abstraction.base.faults import OnReject
from abstraction.files.records import Record, parse_json, read_records
from abstraction.files.row_models import RowModel, read_each_once, without_rejected
from abstraction.files.writing import write_records
from granola.errors import GranolaError, SampleError
from kg.errors import QueryShapeError
from kg.graph.logical_query import Fact, LogicalQuery


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


TWO_WAY = ("not supported", "supported")  # the labels where only two classes are told apart
# Labels of AttributionBench and of FactcheckGPT.
_ATTRIBUTABLE = {"attributable": True, "not attributable": False}
_STANCES = {
    "completely-support": Category.SUPPORTIVE, "partially-support": Category.PARTIAL,
    "refute": Category.CONTRADICTORY, "irrelevant": Category.IRRELEVANT,
}  # fmt: skip
_Nested = BeforeValidator(lambda value: parse_json(value) if isinstance(value, str) else value)  # JSON text in CSV
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
    cited: Annotated[tuple[tuple[int, ...], ...] | None, _Nested] = None
    provenance: Annotated[Mapping[str, Any], _Nested] = Field(default_factory=dict)

    @field_validator("query")
    @classmethod
    def _is_query(cls, query: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        try:
            return None if query is None else LogicalQuery.from_json(query).to_json()
        except QueryShapeError as error:
            raise ValueError(f"is no query: {error}") from error

    @field_validator("cited")
    @classmethod
    def _cited_within_evidence(
        cls, cited: tuple[tuple[int, ...], ...] | None, told: ValidationInfo
    ) -> tuple[tuple[int, ...], ...] | None:
        known, citations = len(told.data.get("evidence", ())), told.data.get("citations", ())
        if cited and (len(cited) != len(citations) or any(not 0 <= at < known for one in cited for at in one)):
            raise ValueError('has not the places of facts in "evidence" for each citation')
        # An empty list means that the row does not record which citation states which fact.
        return cited or None

    @property
    def facts_in_evidence(self) -> tuple[bool, ...]:
        """For each fact of the subgraph, whether the evidence still states it."""
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
    return without_rejected(read_each_once(read_records(path), _sample_of), on_reject)


def _sample_of(record: Record) -> AttributionSample:
    data = record.data
    if "attribution_label" in data:
        data = {
            "id": data.get("id"), "question": data.get("question"), "statement": data.get("claim"),
            "citations": data.get("references"), "attributable": _label_in(data, "attribution_label", _ATTRIBUTABLE),
            "provenance": {"source": data.get("src_dataset", "")},
        }  # fmt: skip
    elif "stance" in data:
        # These rows have neither id nor question.
        data = {
            "id": Path(record.source).name, "question": "", "statement": data.get("claim"),
            "citations": [data.get("evidence")], "category": _label_in(data, "stance", _STANCES),
            "provenance": {"source": "FactcheckGPT"},
        }  # fmt: skip
    return AttributionSample.of(replace(record, data=data))


def _label_in(data: Mapping[str, Any], field: str, labels: Mapping[str, Any]) -> Any:
    if (label := data[field]) not in labels:
        raise SampleError(f"{field} is {label!r}; expected {' or '.join(map(repr, labels))}")
    return labels[label]


def write_samples(samples: Iterable[AttributionSample], path: Path, *, format: str = "jsonl") -> int:
    """Write a file of samples atomically; return their number."""
    return write_records((sample.to_json() for sample in samples), path, format=format)
