"""Files of questions and tiered rows: records in and out, whatever the format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.lazy_names import lazy_names

if TYPE_CHECKING:
    from abstraction.files.records import Record, RejectedRow, read_records
    from abstraction.files.writing import write_records

__all__ = [
    "Record",
    "RejectedRow",
    "read_records",
    "write_records",
]
_MODULES = {
    "Record": ".records",
    "RejectedRow": ".records",
    "read_records": ".records",
    "write_records": ".writing",
}
if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _MODULES)
