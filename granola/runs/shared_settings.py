"""Settings that many runs have; see `granola.shared_settings`."""

from __future__ import annotations

from typing import Annotated

from granola.settings import Setting
from granola.shared_settings import (
    LINKED_TO,
    AsJson,
    Force,
    Language,
    Limit,
    Linker,
    LinkerName,
    Out,
    Relation,
    Resamples,
    Samples,
    Tiered,
    property_id,
)

__all__ = [
    "LINKED_TO", "AsJson", "CsvRaw", "Force", "Language", "Limit", "Linker", "LinkerName", "Out", "Relation",
    "Resamples", "Samples", "Tiered", "property_id",
]  # fmt: skip
CsvRaw = Annotated[
    bool,
    Setting(
        "Write CSV without the ' that protects texts from being read as formulas by a spreadsheet.", recorded=False
    ),
]
