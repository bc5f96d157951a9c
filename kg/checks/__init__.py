"""A snapshot file held against itself, against another, or against its mirror in Neo4j."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.lazy_names import lazy_names

if TYPE_CHECKING:
    from kg.checks.snapshot_diff import SnapshotDifference, diff
    from kg.checks.verification import Verification, verify

__all__ = [
    "SnapshotDifference",
    "Verification",
    "diff",
    "verify",
]
_MODULES = {
    "SnapshotDifference": ".snapshot_diff",
    "Verification": ".verification",
    "diff": ".snapshot_diff",
    "verify": ".verification",
}
if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _MODULES)
