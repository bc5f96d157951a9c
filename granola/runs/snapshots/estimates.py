"""Saying what a build will cost, before it begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kg.building.estimate import BuildEstimate

LARGE = 1 << 30  # packed bytes of sources from which on a build is estimated unasked


def lines(estimate: BuildEstimate) -> list[str]:
    """The estimate, a line for each thing."""
    twice = "once" if estimate.readings == 1 else "twice: who belongs to the selection shows only after one reading"
    texts = [
        f"source    {size(estimate.source_bytes)} packed, about {estimate.entities:,} entities",
        f"read      {twice}",
        f"time      about {duration(estimate.seconds)}",
    ]
    if estimate.snapshot_bytes is not None:
        texts.append(f"snapshot  about {size(estimate.snapshot_bytes)}, and half as much again while it is built")
    else:
        texts.append(f"snapshot  about {size(1000 * estimate.entity_bytes)} for every 1,000 entities selected")
    texts.append(f"free      {size(estimate.free_bytes)} on that disk{': too little' * (not estimate.fits)}")
    return texts


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
