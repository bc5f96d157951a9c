"""Reads questions with passages: GaRAGe's rows and rows of one's own.

One's own rows have `id`, `question`, `passages` (each a text, or {"id", "text", "date"?, "provider"?, "private"?,
"relevant"?, "label"?}), and where there are any `question_date`, `reference`, `reference_citations`, `deflection`,
`tags`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from abstraction.formats.records import RejectedRow, excerpt, read_records
from granola.errors import SampleError
from granola.grounding.garage_rows import garage_sample
from granola.grounding.grounded_samples import GroundedSample, GroundingPassage
from granola.grounding.sample_fields import (
    LONGEST,
    both_steps,
    is_private,
    label_word,
    optional_text,
    passage_list,
    text_field,
)


def read_grounded(
    path: Path | str,
    *,
    on_reject: Callable[[RejectedRow], None] | None = None,
    unknown: Counter[str] | None = None,
) -> Iterator[GroundedSample]:
    """The questions of a file, GaRAGe's or one's own, told row by row.

    Bad and repeated rows go to `on_reject`, else they raise. `unknown` counts what was not understood, in words that
    say what it counts as: labels that are none of the known ones or contradict each other, and heads of passages.
    """
    seen: dict[str, str] = {}
    for record in read_records(path):
        row = record if isinstance(record, RejectedRow) else None
        if row is None and not isinstance(record, RejectedRow):
            try:
                read = garage_sample if "grounding" in record.data else _plain_sample
                sample = read(record.data, unknown)
                if sample.id in seen:
                    raise SampleError(f"id {sample.id!r} stands already at {seen[sample.id]}")
                seen[sample.id] = record.source
                yield sample
                continue
            except SampleError as error:
                row = RejectedRow(source=record.source, reason=str(error), excerpt=excerpt(repr(dict(record.data))))
        assert row is not None
        if on_reject is None:
            raise SampleError(f"{row.source}: {row.reason}")
        on_reject(row)


def _plain_sample(data: Mapping[str, Any], unknown: Counter[str] | None) -> GroundedSample:
    passages = tuple(_passage(one, at, unknown) for at, one in enumerate(passage_list(data, "passages"), 1))
    known = {one.id for one in passages}
    if len(known) < len(passages):
        raise SampleError("two passages have one id")
    tags = data.get("tags") or {}
    if not isinstance(tags, Mapping):
        raise SampleError(f'"tags" is {excerpt(repr(tags))}; expected an object')
    cited = data.get("reference_citations")
    if cited is not None and not isinstance(cited, list):
        raise SampleError(f'"reference_citations" is {excerpt(repr(cited))}; expected a list of ids')
    if strange := [str(one) for one in cited or () if str(one) not in known]:
        raise SampleError(f'"reference_citations" names {excerpt(strange[0])}, which is no passage\'s id')
    deflection = data.get("deflection")
    if deflection is not None and not isinstance(deflection, bool):
        raise SampleError(f'"deflection" is {excerpt(repr(deflection))}; expected true or false')
    return GroundedSample(
        id=text_field(data, "id"),
        question=text_field(data, "question"),
        passages=passages,
        question_date=optional_text(data, "question_date"),
        reference=optional_text(data, "reference") or "",
        cited=None if cited is None else tuple(map(str, cited)),
        deflection=deflection is True,
        tags={str(key)[:60]: str(value)[:200] for key, value in tags.items() if value not in (None, "")},
    )


def _passage(given: object, number: int, unknown: Counter[str] | None) -> GroundingPassage:
    if isinstance(given, str) and given.strip():
        return GroundingPassage(id=str(number), text=given[:LONGEST])
    if not isinstance(given, Mapping):
        raise SampleError(f"passage {number} is {excerpt(repr(given))}; expected a text or an object with text")
    label, relevant, private = label_word(given.get("label")), given.get("relevant"), given.get("private")
    for name, value in (("relevant", relevant), ("private", private)):
        if value is not None and not isinstance(value, bool):
            raise SampleError(f'passage {number}: "{name}" is {excerpt(repr(value))}; expected true or false')
    relevant, label = both_steps(relevant, label, unknown)
    provider = optional_text(given, "provider")
    return GroundingPassage(
        id=str(number) if given.get("id") in (None, "") else text_field(given, "id"), text=text_field(given, "text"),
        date=optional_text(given, "date"), age=optional_text(given, "age"), provider=provider, relevant=relevant,
        label=label, private=is_private(provider) if private is None else private,
    )  # fmt: skip
