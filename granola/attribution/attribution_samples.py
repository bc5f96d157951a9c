"""One item of an attribution benchmark, files of them, and rows of AttributionBench read as such."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from abstraction.faults import OnReject, excerpt
from abstraction.files.cells import parsed
from abstraction.files.records import Record, read_records
from abstraction.files.row_reading import accepted, each_once
from abstraction.files.writing import write_records
from granola.attribution.categories import Category, Complexity
from granola.errors import SampleError


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
    category left or put there. `query` is the logical query as `kg.queries` writes it.
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
        out["provenance"] = dict(self.provenance)
        return out

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> AttributionSample:
        """The inverse of `to_json`. Raises SampleError where a field is missing or not as it must be."""
        return cls(
            id=_text(data, "id"),
            question=_text(data, "question"),
            statement=_text(data, "statement"),
            citations=_texts(data, "citations"),
            category=_one_of(Category, data, "category"),
            attributable=_flag(data, "attributable"),
            complexity=_one_of(Complexity, data, "complexity"),
            answers=_texts(data, "answer", needed=False),
            answer_qids=_texts(data, "answer_qids", needed=False),
            query=_mapping(data, "query"),
            subgraph=_facts(data, "subgraph"),
            evidence=_facts(data, "evidence"),
            provenance=_mapping(data, "provenance") or {},
        )


def read_samples(path: Path | str, *, on_reject: OnReject | None = None) -> Iterator[AttributionSample]:
    """The samples of a file (JSONL, Parquet), in order. Bad and repeated rows go to `on_reject`, else they raise."""
    return accepted(each_once(read_records(path), lambda record: AttributionSample.from_json(record.data)), on_reject)


def write_samples(samples: Iterable[AttributionSample], path: Path, *, format: str = "jsonl") -> int:
    """Write a file of samples, whole or not at all; how many there were."""
    return write_records((sample.to_json() for sample in samples), path, format=format)


def _text(data: Mapping[str, Any], name: str) -> str:
    value = data.get(name)
    if not isinstance(value, str) or not value.strip():
        raise SampleError(f'"{name}" is {excerpt(repr(value))}; expected a text')
    return value


def _texts(data: Mapping[str, Any], name: str, *, needed: bool = True) -> tuple[str, ...]:
    value = data.get(name)
    if value is None and not needed:
        return ()
    if not isinstance(value, list | tuple) or not all(isinstance(text, str) for text in value):
        raise SampleError(f'"{name}" is {excerpt(repr(value))}; expected a list of texts')
    return tuple(value)


def _flag(data: Mapping[str, Any], name: str) -> bool | None:
    value = data.get(name)
    if value is not None and not isinstance(value, bool):
        raise SampleError(f'"{name}" is {excerpt(repr(value))}; expected true or false')
    return value


def _one_of(kind: Any, data: Mapping[str, Any], name: str) -> Any:
    value = data.get(name)
    if value is not None and value not in list(kind):
        raise SampleError(f'"{name}" is {excerpt(repr(value))}; allowed: {", ".join(kind)}')
    return None if value is None else kind(value)


def _nested(data: Mapping[str, Any], name: str) -> Any:
    """A field that CSV and Parquet hold as JSON text."""
    value = data.get(name)
    return parsed(value) if isinstance(value, str) else value


def _mapping(data: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    value = _nested(data, name)
    return value if isinstance(value, Mapping) else None


def _facts(data: Mapping[str, Any], name: str) -> tuple[CitedFact, ...]:
    value = _nested(data, name) or ()
    if not isinstance(value, list | tuple) or not all(isinstance(fact, Mapping) for fact in value):
        raise SampleError(f'"{name}" is {excerpt(repr(value))}; expected a list of facts')
    facts = []
    for fact in value:
        names = _texts(fact, "names")
        if len(names) != 3:
            raise SampleError(f'"names" of a fact is {excerpt(repr(names))}; expected three texts')
        facts.append(
            CitedFact(
                subject=_text(fact, "subject"),
                property=_text(fact, "property"),
                object=_text(fact, "object"),
                names=(names[0], names[1], names[2]),
                text=_text(fact, "text"),
                qualifier=_text(fact, "qualifier") if fact.get("qualifier") is not None else None,
            )
        )
    return tuple(facts)


# Samples of other sets in the same columns: AttributionBench's rows, read as they are.

_LABELS = {"attributable": True, "not attributable": False}


def read_any_samples(path: Path | str, *, on_reject: OnReject | None = None) -> Iterator[AttributionSample]:
    """Samples of ours, or of AttributionBench, each told by its fields. Bad rows as in `read_samples`."""

    def read(record: Record) -> AttributionSample:
        return (_sample if "attribution_label" in record.data else AttributionSample.from_json)(record.data)

    return accepted(each_once(read_records(path), read), on_reject)


def _sample(data: Mapping[str, Any]) -> AttributionSample:
    label = data.get("attribution_label")
    if label not in _LABELS:
        raise SampleError(f'"attribution_label" is {excerpt(repr(label))}; allowed: {", ".join(_LABELS)}')
    return AttributionSample(
        id=_text(data, "id"),
        question=_text(data, "question"),
        statement=_text(data, "claim"),
        citations=_texts(data, "references"),
        attributable=_LABELS[label],
        provenance={"source": str(data.get("src_dataset") or "")},
    )
