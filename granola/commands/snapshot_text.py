"""Manifests in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from granola.terminal_lines import Verbatim

COUNTED = (
    *("entities", "items", "properties", "statements", "preferred", "normal", "deprecated", "qualifiers"),
    *("labels", "aliases", "descriptions"),
)


def manifest_lines(manifest: dict[str, Any]) -> Iterator[str]:
    """What a snapshot holds and how it was made, line by line."""
    counts = manifest["counts"]
    yield f"snapshot     {manifest['snapshot_id']}"

    def listed(*names: str) -> str:
        return ", ".join(f"{counts[name]:,} {name}" for name in names)

    yield f"entities     {counts['entities']:,} ({listed('items', 'properties')})"
    ranks = listed("preferred", "normal", "deprecated")
    yield f"statements   {counts['statements']:,} ({ranks}), {listed('qualifiers')}"
    yield f"terms        {listed('labels', 'aliases', 'descriptions')}"
    languages = manifest.get("languages")
    yield f"languages    {'all' if languages is None else ', '.join(languages)}"
    yield f"selection    {_selection(manifest.get('selection', {}))}"
    fetched = manifest.get("fetched")
    for source in manifest.get("sources", ()):
        size = "" if source["size"] is None else f", {source['size']:,} bytes"
        how = (
            f"fetched {' to '.join(map(str, fetched))}"
            if fetched
            else f"sha256 {source['sha256'] or 'not read to its end'}"
        )
        yield f"source       {source['name']}{size}, {how}"
    if manifest.get("time_aware") is False:
        yield "time         not time-aware: truthy statements, without ranks, qualifiers and exact dates"
    yield f"read         {manifest.get('source_entities', 0):,} entities, {manifest.get('duplicates', 0):,} repeats"
    rejects = manifest.get("rejects") or {}
    yield f"rejected     {', '.join(f'{count:,} {reason}' for reason, count in rejects.items()) or 'nothing'}"
    software = f" by {manifest['software']}" if manifest.get("software") else ""
    yield f"made         {manifest.get('created')}{software}, schema {manifest['schema_version']}"
    if manifest["bytes"] is not None:
        yield f"size         {manifest['bytes']:,} bytes"
    yield Verbatim(f"rebuild      {manifest.get('command') or 'made without the command line'}")


def _selection(selection: dict[str, Any]) -> str:
    parts = ["everything"] if selection.get("everything", True) else []
    parts += [f"{selection[key]['count']:,} {key}" for key in ("ids", "names") if key in selection]
    if "classes" in selection:
        parts.append("instances of " + ", ".join(selection["classes"]))
    if "excluded" in selection:
        parts.append("without instances of " + ", ".join(selection["excluded"]))
    if "hops" in selection:
        parts.append(f"{selection['hops']} hops along " + ", ".join(selection["along"]))
    if "hub_limit" in selection:
        parts.append(f"not on from more than {selection['hub_limit']:,} values")
    if selection.get("properties") is False:
        parts.append("without the properties used")
    return "; ".join(parts)


def size(count: float) -> str:
    """Bytes for people."""
    units = ["bytes", "kB", "MB", "GB", "TB"]
    while count >= 1000 and len(units) > 1:
        count /= 1000
        del units[0]
    return f"{count:.0f} {units[0]}" if units[0] == "bytes" or count >= 100 else f"{count:.1f} {units[0]}"
