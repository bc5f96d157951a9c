"""A dataset's card: README.md with the front matter of the `datasets` library, and a description of the folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from abstraction.base.properties import package_text
from abstraction.datasets.dataset_cleaning import STEPS, WHAT_STEPS_DO, Cleaner, CleaningStep
from abstraction.datasets.dataset_columns import OWN, TIER, Columns, Kind
from abstraction.datasets.dataset_statistics import format_share
from abstraction.files.records import json_text
from abstraction.phrasing.checking import DecisionCounts

if TYPE_CHECKING:
    from abstraction.datasets.building import BuiltDataset, DatasetSettings

# Size categories of dataset cards on the Hugging Face Hub.
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def card_text(
    built: BuiltDataset,
    settings: DatasetSettings,
    *,
    columns: Columns,
    provenance: Mapping[str, str],
    phrasing: DecisionCounts | None,
    scored: bool,
    origin: str,
) -> str:
    """The text of README.md.

    `provenance`: names and values of the facts of origin, in order, as "Snapshot" -> "9e28…"; `phrasing` is None
    without a model; `origin` is a sentence on the source of the questions.
    """
    from jinja2 import Environment, StrictUndefined

    # A value that is missing in the template is an error, not an empty text.
    environment = Environment(trim_blocks=True, keep_trailing_newline=True, undefined=StrictUndefined)
    environment.filters["json"] = json_text
    environment.globals |= {"table": markdown_table, "format_share": format_share, "feature_lines": _yaml_feature_lines}
    counts = phrasing or DecisionCounts()
    stay = "; ".join(f"{n:,} {name}" for name, n in sorted(counts.fallbacks.items()))
    text: str = environment.from_string(package_text("dataset_card.jinja")).render(
        built=built,
        settings=settings,
        columns=columns.kinds,
        others=", ".join(f"`{name}`" for name in columns.kinds if name not in OWN),
        phrasing=phrasing,
        origin=origin,
        statistics=built.statistics,
        size=next((name for limit, name in _SIZES if built.statistics.rows < limit), "n>1M"),
        row_counts=_row_count_table(built),
        cleaning=_cleaning_table_rows(built.cleaner, scored=scored),
        fallbacks=stay and f" {sum(counts.fallbacks.values()):,} rows {counts.fallback_clause}: {stay}.",
        findings=[
            (f"`{name}`", "; ".join(f"{n:,} {action}" for action, n in sorted(by.items())))
            for name, by in sorted(counts.findings.items())
        ],
        made=[(key, f"`{value}`") for key, value in provenance.items()],
    )
    return text


def _row_count_table(built: BuiltDataset) -> list[tuple[str, str]]:
    counted = built.statistics
    unread = [
        ("could not be used", built.rejected),
        ("left out: questions to which their dataset has no answer", built.unanswered),
        *((f"left out: {WHAT_STEPS_DO[step]}", count.dropped) for step, count in built.cleaner.counts.items()),
    ]
    rows = [("rows read", counted.rows + sum(number for _, number in unread))]
    rows += [(name, -number) for name, number in unread if number]  # negative: rows that were taken out
    rows += [("**rows in this dataset**", counted.rows), ("of them with a ladder", counted.rows_with_ladder)]
    rows += [(f"of them with the gold answer alone: {why}", n) for why, n in counted.abstained.most_common()]
    return [(name, f"{count:,}") for name, count in rows]


def _cleaning_table_rows(cleaner: Cleaner, *, scored: bool) -> list[tuple[str, str, str, str]]:
    rows = []
    for step in STEPS:
        count = cleaner.counts.get(step)
        if count is None:
            rows.append((f"`{step}`", WHAT_STEPS_DO[step], "not applied", ""))
            continue
        note = "; ".join(f"{n:,} {reason}" for reason, n in count.reasons.most_common())
        if step is CleaningStep.TRIVIAL_ANSWERS:
            note = f"{count.answers_taken_out:,} answer{'s' * (count.answers_taken_out != 1)} taken out"
            if count.gold_answer_alone:
                note += f"; {count.gold_answer_alone:,} rows have the gold answer alone, and stay"
        if step is CleaningStep.INCONSISTENT_DESCRIPTIONS and count.unjudged:
            note = f"{count.unjudged:,} rows have no score and stay"
            note += "" if scored else ": no model was asked"
        rows.append((f"`{step}`", WHAT_STEPS_DO[step], format_share(count.dropped, count.rows), note))
    cleaning = [count for step, count in cleaner.counts.items() if step is not CleaningStep.SEVERAL_ANSWERS]
    if cleaning:
        whole = format_share(sum(count.dropped for count in cleaning), cleaning[0].rows)
        rows.append(("all steps", "rows of those that were to be cleaned", whole, ""))
    return rows


def _yaml_feature_lines(kind: Kind, indent: str = "    ") -> list[str]:
    """The lines of the front matter for a column of a kind."""
    if kind == "strings":
        return [f"{indent}list: string"]
    if kind != "levels":
        return [f"{indent}dtype: {kind}"]
    lines = [f"{indent}list:", f"{indent}- name: tiers", f"{indent}  list:"]
    for name, inner in TIER.items():
        lines += [f"{indent}  - name: {name}", *_yaml_feature_lines(inner, f"{indent}    ")]
    return lines


def markdown_table(head: tuple[str, ...], rows: Sequence[Sequence[Any]], *, numbers: bool = False) -> str:
    """A table in Markdown; with `numbers` all columns but the first are right-aligned."""
    others = len(head) - 1
    lines = [f"| {' | '.join(head)} |", "|---|" + ("---:|" if numbers else "---|") * others]
    lines += [
        "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in rows
    ]
    return "\n".join(lines)
