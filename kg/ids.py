"""Ids of entities as integers: what a snapshot stores, and sets of entities are kept by."""

from __future__ import annotations

from kg.bounded_cache import bounded_cache
from kg.errors import SnapshotError
from kg.model import ENTITY_ID


@bounded_cache(entries=1 << 16, longest=20)
def number_of(entity_id: str) -> int | None:
    """The integer of an item or property id (items positive, properties negative), None for anything else."""
    return number_afresh(entity_id)


def number_afresh(entity_id: str) -> int | None:
    """`number_of` for ids that do not come again: nothing is kept."""
    if not ENTITY_ID.match(entity_id):
        return None
    return int(entity_id[1:]) if entity_id[0] == "Q" else -int(entity_id[1:])


def number_after(entity_id: str | None) -> int:
    """Where a walk over ids goes on: behind `entity_id`, from 0 where it is None. Raises SnapshotError for no id."""
    number = 0 if entity_id is None else number_of(entity_id)
    if number is None:
        raise SnapshotError(f"cannot go on after {entity_id!r}: it is no item or property id")
    return number


def id_of(number: int) -> str:
    """The inverse of `number_of`."""
    return f"Q{number}" if number > 0 else f"P{-number}"
