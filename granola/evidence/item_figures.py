"""Verdicts on items drawn by slice: any number by any field; figures of three papers are presets of that."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from abstraction.faults import OnReject, RejectedRow
from abstraction.files.records import Record, read_records
from abstraction.files.row_reading import accepted, read_each
from granola import __version__
from granola.attribution.evaluation import CATEGORIES, NO_LABEL, f1_of, figure, micro_f1
from granola.errors import UsageError
from granola.evidence.estimates import by_slice
from granola.evidence.evidence_task import ItemFigure
from granola.evidence.task_list import read_verdict, task_of
from granola.figures.charts import Panel, Place
from granola.grounding.grounded_samples import RELEVANT_SHARE, Relevance
from granola.grounding.grounding_items import GroundingItem
from granola.grounding.grounding_scores import GroundingSettings, bands_stated, reading_of, slice_of, value, worths
from granola.knowledge.knowledge_summary import SLICES, slice_values
from granola.run_record import record_of
from granola.scoring.aggregation import Estimate
from granola.scoring.bootstrap import RESAMPLES
from granola.scoring.statistics import mean_estimate, share_estimate

Row = Mapping[str, Any]
ANSWER = "expected_deflection"  # a field that rows of `granola grounding judge` alone have
F1 = "F1"  # the score of what `granola attribution evaluate` writes
_TITLES = {
    "popularity": "log10 of page views", "sentences": "sentences of a text", "size": "parameters, billions",
    "settings.pieces": "pieces of evidence a sentence",
}  # fmt: skip


def read_verdicts(paths: Sequence[Path], *, sizes: Sequence[float] = (), on_reject: OnReject) -> list[dict[str, Any]]:
    """The rows of all files, with further fields: `file`, `settings` that the file was made with, its `size`.

    Raises UsageError for sizes that are not one for each file, and where no file has a row.
    """
    if sizes and len(sizes) != len(paths):
        raise UsageError(f"--size is given {len(sizes)} times for {len(paths)} files; give one for each")
    rows: list[dict[str, Any]] = []
    rejected: list[RejectedRow] = []
    for at, path in enumerate(paths):
        more = {"file": path.stem, "settings": record_of(path).get("arguments", {})}
        more |= {"size": sizes[at]} if sizes else {}
        rows += [{**row, **more} for row in accepted(read_each(read_records(path), _row), rejected.append)]
    if not rows:
        why = f"; {rejected[0].source}: {rejected[0].reason}" if rejected else ""
        raise UsageError(f"{', '.join(map(str, paths))}: no row to draw{why}")
    for row in rejected:
        on_reject(row)
    return rows


def _row(record: Record) -> dict[str, Any]:
    """A row as it is; verdicts of a task are checked."""
    return dict(record.data) if task_of(record.data) is None else dict(read_verdict(record))


def item_panels(rows: Sequence[Row], plan: ItemFigure, *, resamples: int = RESAMPLES, seed: int = 0) -> list[Panel]:
    """What is to be drawn; an item without the field or the score is left out. Raises UsageError where all are."""
    # Of answers relevant_share is the one of the reading of the score, as in `granola grounding score`.
    share_tag = (reading_of(plan.y[0]) or Relevance.STRICT).share_tag
    has_readings = any(share_tag in row.get("tags", ()) for row in rows)
    panels = []
    for x in plan.x:
        along = share_tag if x == RELEVANT_SHARE and has_readings else x
        lines = _lines(rows, along, plan, resamples=resamples, seed=seed)
        if lines:
            panels.append(_panel(along, plan.y, lines))
    if not panels:
        raise UsageError(f"nothing to draw: {_lacking(rows, plan)}")
    return panels


def _lines(
    rows: Sequence[Row], x: str, plan: ItemFigure, *, resamples: int, seed: int
) -> dict[str, list[tuple[Place, Estimate]]]:
    labels = _labels(rows, plan.by)
    several = x != "size" and len(set(labels)) > 1  # along the size of models a line joins the systems
    of_texts = any("scores" in row for row in rows)  # whose intervals are the bootstrap's, as everywhere in that room
    values: dict[str, list[tuple[Place, Any]]] = {}
    for y in plan.y:
        for label, row in zip(labels, rows, strict=True):
            if x == "sentences" and len(str(row.get("knowledge") or "").split()) <= plan.longer_than:
                continue
            line = label if len(plan.y) == 1 else f"{label}, {y}" if several else y
            for place, worth in _cells(row, x, y):
                values.setdefault(line, []).append((place, (place, worth)))

    def estimate(own: Sequence[tuple[Place, Any]]) -> Estimate:
        worths_there = [worth for _, worth in own]
        return _estimate(worths_there, own[0][0], of_texts=of_texts, resamples=resamples, seed=seed)

    return {line: list(by_slice(own, estimate).items()) for line, own in values.items()}


def _panel(x: str, y: Sequence[str], lines: Mapping[str, Sequence[tuple[Place, Estimate]]]) -> Panel:
    has_names = any(isinstance(place, str) for line in lines.values() for place, _ in line)
    ends = [end for line in lines.values() for _, one in line for end in (one.interval.low, one.interval.high)]
    score = y[0] if len(y) == 1 else "score"
    return Panel(
        name=x,
        across=x.replace("_", " ") if has_names else _TITLES.get(x, x),
        score=f"{score} of a sentence" if x == "sentences" else score,
        lines=lines,
        is_share=all(0 <= end <= 1 for end in ends if not math.isnan(end)),
        is_logarithmic=x == "size",
    )


def figure_signature(rows: Sequence[Row], panels: Sequence[Panel], *, resamples: int, seed: int) -> str:
    """How scores were formed, where bands end, and who judged, as far as rows tell."""
    how = f"boot:{resamples}|seed:{seed}|version:{__version__}"
    if any(ANSWER in row for row in rows):
        how = str(GroundingSettings(resamples=resamples, seed=seed))
    judges = sorted({str(row["judge"]) for row in rows if row.get("judge")})
    bands = bands_stated([panel.name for panel in panels])
    return "|".join([how, *filter(None, [bands]), *(f"judge:[{judge}]" for judge in judges)])


def _labels(rows: Sequence[Row], by: str) -> list[str]:
    """The line that each row belongs to; a system of several files has a line for each of them."""
    files_of: dict[str, set[str]] = {}
    for row in rows:
        files_of.setdefault(str(row.get("system") or ""), set()).add(row["file"])
    labels = []
    for row in rows:
        system = str(row.get("system") or "")
        name = system if len(files_of[system]) == 1 else f"{row['file']} {system}".strip()
        told = name if by == "system" else field_of(row, by)
        if isinstance(told, bool):
            told = f"{'with' if told else 'without'} {by.rpartition('.')[2]}"
        labels.append(str(told or row["file"]))
    return labels


def _cells(row: Row, x: str, y: str) -> Iterator[tuple[Place, Any]]:
    """Where a row stands along `x`, and what it adds to `y` there: a number; to F1 the gold and the judged category."""
    if y == F1:
        if row.get("gold_category") is not None:
            pair = row["gold_category"], row.get("category") or NO_LABEL
            yield from ((place, pair) for place in (CATEGORIES if x == "category" else places(field_of(row, x))))
    elif ANSWER in row:
        item = GroundingItem.from_json(row)
        worth = value(item, y, GroundingSettings()) if y in worths() else _number(field_of(row, y))
        there = places(slice_of(x)(item) if x in item.tags else field_of(row, x))
        yield from ((place, worth) for place in there if worth is not None)
    elif "scores" in row and x in SLICES:
        yield from slice_values(row, x, y)
    elif (worth := _number(field_of(row, y))) is not None:
        yield from ((place, worth) for place in places(field_of(row, x)))


def _estimate(values: Sequence[Any], place: Place, *, of_texts: bool, resamples: int, seed: int) -> Estimate:
    if isinstance(values[0], tuple):
        statistic = f1_of(str(place)) if place in CATEGORIES else micro_f1
        return figure(values, statistic, resamples=resamples, seed=seed)
    if not of_texts and set(values) <= {0.0, 1.0}:
        return share_estimate(values)
    return mean_estimate(values, resamples=resamples, seed=seed)


def field_of(row: Row, path: str) -> Any:
    """What stands at a field, with dots between names; a tag and a score need no such prefix."""
    value: Any = row
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    if value is not None:
        return value
    return next((inner[path] for inner in (row.get("tags"), row.get("scores")) if inner and path in inner), None)


def places(told: Any) -> list[Place]:
    """The place that a value names, none where it names none."""
    if isinstance(told, bool):
        return ["yes" if told else "no"]
    return [told] if isinstance(told, str | int | float) and told != "" else []


def _number(told: Any) -> float | None:
    return float(told) if isinstance(told, int | float) and not math.isnan(told) else None


def _lacking(rows: Sequence[Row], plan: ItemFigure) -> str:
    fields = dict.fromkeys(name for row in rows for name in (*row, *row.get("tags", ()), *row.get("scores", ())))
    scores = [*worths(), "of which E, F and RAF ask a judge's --model"] if ANSWER in fields else []
    return (
        f"no item has a number as {' or '.join(plan.y)} and a place along {' or '.join(plan.x)}; the fields are "
        f"{', '.join([*fields, *scores])}"
    )
