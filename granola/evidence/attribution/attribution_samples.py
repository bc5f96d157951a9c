"""Attribution samples: their model, their files, and readers of data sets that people labelled."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator

from abstraction.base.faults import OnReject
from abstraction.files.records import Record, parse_json, read_records
from abstraction.files.row_models import RowModel, read_each_once, without_rejected
from abstraction.files.writing import write_records
from granola.evidence.attribution.categories import Category, Complexity
from kg.errors import QueryShapeError
from kg.graph import LogicalQuery

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
    def triple(self) -> tuple[str, str, str, str | None]:
        """Subject, property, object and qualifier, without the names."""
        return self.subject, self.property, self.object, self.qualifier


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
    def supported(self) -> bool | None:
        """The two-class label: whether the citations support the whole statement; None where the row has no label."""
        return self.attributable if self.category is None else self.category is Category.SUPPORTIVE

    def to_json(self) -> dict[str, Any]:
        """The sample as a JSON row; unknown fields are omitted."""
        return {name: value for name, value in self.model_dump(mode="json").items() if value is not None}


def read_samples(path: Path | str, *, on_reject: OnReject | None = None) -> Iterator[AttributionSample]:
    """The samples of a file (JSONL, Parquet), in order. Invalid and repeated rows go to `on_reject`; without it they
    raise.
    """
    return without_rejected(read_each_once(read_records(path), AttributionSample.of), on_reject)


def write_samples(samples: Iterable[AttributionSample], path: Path, *, format: str = "jsonl") -> int:
    """Write a file of samples atomically; return their number."""
    return write_records((sample.to_json() for sample in samples), path, format=format)


# Readers of other data sets. The name of the label field identifies the set.


class _AttributionBenchRow(RowModel):
    """A row of AttributionBench, which has two classes and no categories."""

    id: _Text
    question: _Text
    claim: _Text
    references: tuple[str, ...] = Field(description="a list of texts")
    attribution_label: Literal["attributable", "not attributable"]
    src_dataset: str = ""

    def to_sample(self, _: str) -> AttributionSample:
        """The sample."""
        return AttributionSample(
            id=self.id, question=self.question, statement=self.claim, citations=self.references,
            attributable=self.attribution_label == "attributable", provenance={"source": self.src_dataset},
        )  # fmt: skip


class _StanceRow(RowModel):
    """A pair of a claim and a passage of FactcheckGPT."""

    claim: _Text
    evidence: str = Field(description="a text")
    stance: Literal["completely-support", "partially-support", "refute", "irrelevant"]

    def to_sample(self, name: str) -> AttributionSample:
        """The sample, called by its place."""
        return AttributionSample(
            id=name, question="", statement=self.claim, citations=(self.evidence,), category=_CATEGORIES[self.stance],
            provenance={"source": "FactcheckGPT"},
        )  # fmt: skip


_ROW_MODELS: Mapping[str, type[_AttributionBenchRow | _StanceRow]] = {
    "attribution_label": _AttributionBenchRow, "stance": _StanceRow
}  # fmt: skip
_CATEGORIES = {
    "completely-support": Category.SUPPORTIVE, "partially-support": Category.PARTIAL,
    "refute": Category.CONTRADICTORY, "irrelevant": Category.IRRELEVANT,
}  # fmt: skip


def read_any_samples(path: Path | str, *, on_reject: OnReject | None = None) -> Iterator[AttributionSample]:
    """Samples of our format, AttributionBench, or stances of FactcheckGPT. Invalid rows: see `read_samples`."""
    return without_rejected(read_each_once(read_records(path), _any_sample), on_reject)


def _any_sample(record: Record) -> AttributionSample:
    kind = next((row for field, row in _ROW_MODELS.items() if field in record.data), None)
    return AttributionSample.of(record) if kind is None else kind.of(record).to_sample(Path(record.source).name)
