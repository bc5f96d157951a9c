"""Reads files of judged answers, as `granola grounding judge` and `pool` write them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from abstraction.formats.records import RejectedRow, read_records
from granola.errors import SampleError, UsageError
from granola.grounding.grounding_items import GroundingItem


def read_judged_answers(path: Path, on_reject: Callable[[RejectedRow], object]) -> list[GroundingItem]:
    """The items of a file; those that name no system are of one called by the file. Raises UsageError for none."""
    items: list[GroundingItem] = []
    why = ""
    for record in read_records(path):
        try:
            if isinstance(record, RejectedRow):
                raise SampleError(record.reason)
            item = GroundingItem.from_json(record.data)
            items.append(item if item.system else replace(item, system=path.stem))
        except SampleError as error:
            why = why or f"; {record.source}: {error}"
            on_reject(RejectedRow(source=record.source, reason=str(error), excerpt=""))
    if not items:
        raise UsageError(f"{path} has no judged answer; granola grounding judge writes them{why}")
    return items


def answers_by_system(
    paths: Iterable[Path], on_reject: Callable[[RejectedRow], object]
) -> dict[str, list[GroundingItem]]:
    """Items of all files by system. Raises UsageError where a system's answer to a question stands there twice."""
    systems: dict[str, list[GroundingItem]] = {}
    seen: dict[tuple[str, str], Path] = {}
    for path in paths:
        for item in read_judged_answers(path, on_reject):
            key = (item.system, item.id)
            if key in seen:
                raise UsageError(
                    f"the answer of {item.system!r} to {item.id!r} is in {seen[key]} and in {path}: of several judges, "
                    "granola grounding pool puts them together; of two systems with one name, judge with --system NAME"
                )
            seen[key] = path
            systems.setdefault(item.system, []).append(item)
    return systems
