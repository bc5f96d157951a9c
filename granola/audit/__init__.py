"""Audits of tiered files: the paper's three axes by the graph, evidence replayed, and annotation sheets for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.lazy_names import lazy_names

if TYPE_CHECKING:
    from granola.audit.annotation import rates
    from granola.audit.offences import audit_axes, audit_entailment
    from granola.audit.sheets import read_sheet, write_sheet

__all__ = [
    "audit_axes",
    "audit_entailment",
    "rates",
    "read_sheet",
    "write_sheet",
]
_MODULES = {
    "audit_axes": ".offences",
    "audit_entailment": ".offences",
    "rates": ".annotation",
    "read_sheet": ".sheets",
    "write_sheet": ".sheets",
}
if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _MODULES)
