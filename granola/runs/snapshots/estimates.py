"""Saying what a build will cost, before it begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kg.building.estimate import BuildEstimate

LARGE = 1 << 30  # packed bytes of sources from which on a build is estimated unasked


def lines(found: BuildEstimate) -> list[str]:
    """The estimate, a line for each thing."""
    said = []
    if found.source_bytes is None:
        said.append("source    a pipe is among the sources: its size is not known")
    else:
        said.append(f"source    {size(found.source_bytes)} packed, about {found.entities:,} entities")
    twice = "once" if found.readings == 1 else "twice: who belongs to the selection shows only after one reading"
    said.append(f"read      {twice}")
    if found.seconds is not None:
        said.append(f"time      about {duration(found.seconds)}")
    if found.snapshot_bytes is not None:
        said.append(f"snapshot  about {size(found.snapshot_bytes)}")
    else:
        said.append(f"snapshot  about {size(1000 * found.entity_bytes)} for every 1,000 entities selected")
    if found.work_bytes is not None:
        said.append(f"work      about {size(found.work_bytes)} beside it while it is built")
        said.append(f"free      {size(found.free_bytes)} on that disk{': too little' * (not found.fits)}")
    else:
        said.append(f"free      {size(found.free_bytes)} on that disk")
    return said


def size(count: float) -> str:
    """Bytes for people."""
    units = ["bytes", "kB", "MB", "GB", "TB"]
    while count >= 1000 and len(units) > 1:
        count /= 1000
        del units[0]
    return f"{count:.0f} {units[0]}" if units[0] == "bytes" or count >= 100 else f"{count:.1f} {units[0]}"


def duration(seconds: float) -> str:
    """Seconds for people."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{seconds / 3600:.1f} h"
