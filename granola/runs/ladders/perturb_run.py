"""`granola derive perturb`: tiered rows in, the same questions asking for less out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from granola.decoding.perturbing import AskedUnit
from granola.runs.rows_output import RowsOutput, RowsWritten, rows_output
from granola.runs.settings import Run, Setting
from granola.runs.shared_settings import CsvRaw, Force, Out, Tiered
from granola.terminal_lines import counted

if TYPE_CHECKING:
    from abstraction.rows import TieredRow


@dataclass(frozen=True, kw_only=True)
class PerturbRun(Run):
    """Ask for less: "In what year was ..." from "When was ...", with the ladder cut to match.

    Questions that cannot be asked so are left out and counted by reason.
    """

    verb: ClassVar[str] = "derive perturb"

    tiered: Tiered
    out: Out
    unit: Annotated[AskedUnit, Setting("What the new questions ask for.")] = AskedUnit.YEAR
    force: Force = False
    csv_raw: CsvRaw = False

    def run(self) -> RowsWritten:
        """Write the new rows. Raises PredictionError where no question can ask for less."""
        from abstraction.rows import write_tiered
        from granola.runs.outputs import count
        from granola.scoring.signature import snapshot_of

        reasons: Counter[str] = Counter()
        with rows_output(self, self.out, inputs=[self.tiered], force=self.force, csv_raw=self.csv_raw) as output:
            output.by(
                lambda: write_tiered(
                    self._rows(output, reasons), self.out, csv_raw=self.csv_raw, on_reject=output.rejected.append
                )
            )
            output.more |= {
                "snapshot": snapshot_of(self.tiered), "left_out": dict(reasons), "rejected": len(output.rejected)
            }  # fmt: skip
        made, left = count(output.counts["made"], "question"), count(reasons.total(), "question")
        return output.ended(f"{made} for a {self.unit}; left out: {left}", counted(reasons), source=self.tiered)

    def _rows(self, output: RowsOutput, reasons: Counter[str]) -> Iterator[TieredRow]:
        from abstraction.faults import Fault, attempt
        from abstraction.rows import read_tiered
        from granola.decoding.perturbing import Kept, perturbed
        from granola.errors import PredictionError

        for row in read_tiered(self.tiered, on_reject=output.rejected.append):
            outcome = attempt("perturbing", perturbed, row, self.unit)
            if isinstance(outcome, Fault):
                output.rejected.append(outcome.rejected(source=row.source, id=row.id, text=row.question))
            elif isinstance(outcome, Kept):
                reasons[outcome.reason] += 1
            else:
                output.counts["made"] += 1
                yield outcome
        if not output.counts["made"]:
            why = "; ".join(f"{number:,} {reason}" for reason, number in reasons.most_common())
            raise PredictionError(f"{self.tiered}: no question can ask for a {self.unit}: {why or 'no tiered row'}")
