"""Rows, texts and verdicts as they are sent to a service and come back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from abstraction.faults import excerpt
from abstraction.rows import QARow, RejectedRow, TieredRow
from granola.matching import Comparison, Verdict


def question_json(row: QARow) -> dict[str, Any]:
    """A question as a row of a file that reads as the same question."""
    out: dict[str, Any] = {"id": row.id, "question": row.question}
    if row.relation is not None:
        out["relation"] = row.relation
    entity = {key: value for key, value in (("text", row.subject_text), ("qid", row.subject_qid)) if value}
    if entity:
        out["question_entity"] = entity
    out["answer"] = list(row.answers)
    if any(row.answer_qids):
        out["answer_qids"] = list(row.answer_qids)
    for key, value in row.extra.items():
        out.setdefault(key, value)
    return out


def tiered_of(record: Mapping[str, Any], asked: QARow) -> TieredRow | RejectedRow:
    """The row that a line of a batch's answer holds, or why there is none."""
    if "rejected" in record and "levels" not in record:
        return rejected_of(asked, str(record["rejected"]["reason"]))
    return TieredRow.from_json(record)


def rejected_of(row: QARow, reason: str) -> RejectedRow:
    """The row as one that the service rejects."""
    source = row.source or row.id
    return RejectedRow(source=source, reason=f"the service rejects it: {reason}", excerpt=excerpt(row.question))


def verdict_of(item: Mapping[str, Any]) -> Verdict:
    """The verdict of an item."""
    compared = item["compared"]
    return Verdict(
        level=item["level"],
        rule=item["rule"],
        compared=Comparison(prediction=compared["prediction"], tier=compared["tier"]) if compared else None,
        abstained=item["abstained"],
        score=item["score"],
    )


def texts_of(given: Iterable[str], name: str) -> list[str]:
    """The list that is given. Raises TypeError for a text, which would pass for a list of its letters."""
    texts = [] if isinstance(given, str) else list(given)
    if isinstance(given, str) or not all(isinstance(one, str) for one in texts):
        raise TypeError(f"{name} must be a list of texts, not {given!r:.80}")
    return texts


def levels_of(given: Sequence[Sequence[str]]) -> list[list[str]]:
    """The same for levels, each a list of names."""
    return [texts_of(names, "each of the levels") for names in given]
