"""`granola pool`: several judges of the same items."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from granola.runs.rows_output import RowsWritten, rows_output
from granola.runs.settings import Run, Setting
from granola.runs.shared_settings import Force, Out
from granola.terminal_lines import Part, TextTable, Verbatim

if TYPE_CHECKING:
    from granola.evidence.judge_pools import JudgePool


@dataclass(frozen=True, kw_only=True)
class PoolRun(Run):
    """Pool judges of the same items into --out: labels by majority, numbers by mean. Show how far they agree.

    Files of one judge (by the signature in their rows, which a replay of its calls shares) belong together.
    """

    verb: ClassVar[str] = "pool"

    judged: Annotated[
        tuple[Path, ...],
        Setting("What attribution evaluate, grounding judge or knowledge judge wrote, of two judges or more.",
                metavar="JUDGED...", positional=True),
    ]  # fmt: skip
    out: Out
    force: Force = False

    def run(self) -> RowsWritten:
        """Pool and write. Raises UsageError for one judge alone, or judges of different items."""
        from granola.evidence import pool_judges

        with rows_output(self, self.out, inputs=self.judged, force=self.force) as output:
            pool = pool_judges(self.judged, on_reject=output.rejected.append)
            output.more |= {"judges": list(pool.judges), "agreement": pool.agreement, "asked": pool.costs}
            output.write(pool.rows)
        return output.ended(*_lines(pool), source=str(self.judged[0]))


def _lines(pool: JudgePool) -> list[Part]:
    lines: list[Part] = [f"{len(pool.rows):,} items, {len(pool.judges)} judges"]
    for judge in pool.judges:
        costs = [f"{cost:,.10g} {name.replace('_', ' ')}" for name, cost in pool.costs[judge].items()]
        lines.append(Verbatim("; ".join([judge, *costs])))
    rows = [
        (name, f"{one['n']:,}", f"{one['agree']:.4f}", "-" if one["kappa"] is None else f"{one['kappa']:.3f}")
        for name, one in pool.agreement.items()
    ]
    return [*lines, TextTable(head=("agreement", "n", "all agree", "kappa"), rows=rows)]
