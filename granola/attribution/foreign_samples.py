"""Samples of other sets in the same columns: AttributionBench's rows, read as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from abstraction.formats.records import RejectedRow, excerpt, read_records
from granola.attribution.attribution_samples import AttributionSample, read_samples
from granola.errors import SampleError

_LABELS = {"attributable": True, "not attributable": False}


def read_any_samples(
    path: Path | str, *, on_reject: Callable[[RejectedRow], None] | None = None
) -> Iterator[AttributionSample]:
    """Samples of ours, or of AttributionBench, told by the first row's fields. Bad rows as in `read_samples`."""
    first = next((record for record in read_records(path) if not isinstance(record, RejectedRow)), None)
    if first is not None and "attribution_label" in first.data:
        yield from _attribution_bench(path, on_reject)
    else:
        yield from read_samples(path, on_reject=on_reject)


def _attribution_bench(
    path: Path | str, on_reject: Callable[[RejectedRow], None] | None
) -> Iterator[AttributionSample]:
    seen: dict[str, str] = {}
    for record in read_records(path):
        if isinstance(record, RejectedRow):
            row = record
        else:
            try:
                sample = _sample(record.data)
                if sample.id in seen:
                    raise SampleError(f"id {sample.id!r} stands already at {seen[sample.id]}")
                seen[sample.id] = record.source
                yield sample
                continue
            except SampleError as error:
                row = RejectedRow(source=record.source, reason=str(error), excerpt=excerpt(repr(dict(record.data))))
        if on_reject is None:
            raise SampleError(f"{row.source}: {row.reason}")
        on_reject(row)


def _sample(data: Mapping[str, Any]) -> AttributionSample:
    label, references = data.get("attribution_label"), data.get("references")
    if label not in _LABELS:
        raise SampleError(f'"attribution_label" is {excerpt(repr(label))}; allowed: {", ".join(_LABELS)}')
    texts = {name: data.get(name) for name in ("id", "question", "claim")}
    for name, text in texts.items():
        if not isinstance(text, str) or not text.strip():
            raise SampleError(f'"{name}" is {excerpt(repr(text))}; expected a text')
    if not isinstance(references, list) or not all(isinstance(reference, str) for reference in references):
        raise SampleError(f'"references" is {excerpt(repr(references))}; expected a list of texts')
    return AttributionSample(
        id=str(texts["id"]),
        question=str(texts["question"]),
        statement=str(texts["claim"]),
        citations=tuple(references),
        attributable=_LABELS[label],
        provenance={"source": str(data.get("src_dataset") or "")},
    )
