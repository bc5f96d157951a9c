"""`granola attribution check`: does the evidence of a file's tiers support them?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from abstraction.files.writing import check_kind
from granola.errors import UsageError
from granola.runs.json_lines import json_lines
from granola.runs.outputs import check_outputs, count, print_json, report_rejects
from granola.runs.settings import Run, Setting
from granola.runs.shared_settings import AsJson, Language, Tiered
from granola.terminal_lines import counted, show_lines

if TYPE_CHECKING:
    from abstraction.rows import RejectedRow
    from granola.attribution.tier_checks import TierAttribution

SHOWN = 20
UNTOLD = "no verdict"


@dataclass(frozen=True, kw_only=True)
class AttributionCheckRun(Run):
    """Turn the evidence of each tier into citations, and say whether they support it.

    A tier that is not supportive is an error found: exit status 1.
    """

    verb: ClassVar[str] = "attribution check"

    tiered: Tiered
    snapshot: Annotated[str, Setting("The snapshot to judge by: a file, or bolt://HOST:PORT.")]
    language: Language = "en"
    out: Annotated[Path | None, Setting("Write every tier with its citations and verdict to this file, as JSONL.")] = (
        None
    )
    force: Annotated[bool, Setting("Replace the file of --out if it exists.", recorded=False)] = False
    as_json: AsJson = False

    def run(self) -> TiersAttributed:
        """Check every row. Raises UsageError where there is none."""
        from abstraction.faults import Fault, attempt
        from abstraction.rows import read_tiered
        from granola.attribution.categories import Category
        from granola.attribution.tier_checks import TierAttributor
        from kg.store import open_store

        if self.out is not None:
            check_outputs(self.out, inputs=[self.tiered, self.snapshot], force=self.force)
            check_kind(self.out, "jsonl")
        counts: Counter[str] = Counter()
        rejected: list[RejectedRow] = []
        errors: list[TierAttribution] = []
        rows = 0
        with closing(open_store(self.snapshot)) as store, json_lines(self.out) as write:
            attributor = TierAttributor(store, language=self.language)
            for row in read_tiered(self.tiered, on_reject=rejected.append):
                attributions = attempt("a check of evidence", attributor.checked, row)
                if isinstance(attributions, Fault):
                    rejected.append(attributions.rejected(source=row.source, id=row.id, text=row.question))
                    attributor = TierAttributor(store, language=self.language)
                    continue
                rows += 1
                for attribution in attributions:
                    counts[UNTOLD if attribution.category is None else str(attribution.category)] += 1
                    if attribution.category not in (None, Category.SUPPORTIVE):
                        errors.append(attribution)
                    if write is not None:
                        write(attribution.to_json())
            snapshot = str(store.manifest()["snapshot_id"])
        return TiersAttributed(
            settings=self, snapshot=snapshot, rows=rows, counts=counts, errors=errors, rejected=rejected
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class TiersAttributed:
    """Tiers by what their evidence is to them."""

    settings: AttributionCheckRun
    snapshot: str
    rows: int
    counts: Counter[str]
    errors: Sequence[TierAttribution]
    rejected: Sequence[RejectedRow]

    @property
    def failed(self) -> bool:
        """Whether a tier's evidence does not support it, or rows were rejected."""
        return bool(self.errors or self.rejected)

    def show(self) -> None:
        """The counts, and the tiers that are not supported. Raises UsageError where there was no row."""
        if self.settings.as_json:
            summary = {"snapshot": self.snapshot, "rows": self.rows, "tiers": dict(sorted(self.counts.items()))}
            print_json({**summary, "errors": [error.to_json() for error in self.errors]}, indent=1)
        else:
            of_what = f"{count(self.rows, 'row')}, {count(self.counts.total(), 'tier')}, snapshot {self.snapshot}"
            show_lines(of_what, counted(self.counts))
            for error in self.errors[:SHOWN]:
                place = f"{error.row} level {error.level}.{error.position}"
                show_lines(f"  {place}: {error.text!r}: {error.category}: {'; '.join(error.flaws)}")
            if len(self.errors) > SHOWN:
                show_lines(f"  and {len(self.errors) - SHOWN:,} more; --out has all of them")
        report_rejects(self.settings.tiered, self.rejected)
        if not self.rows:
            raise UsageError(f"{self.settings.tiered}: no tiered row in it; name a file that granola tiers wrote")
