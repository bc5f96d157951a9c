"""`granola knowledge describe`: ladders' evidence as knowledge texts, to be judged as any others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from granola.runs.rows_output import RowsWritten, rows_output
from granola.runs.settings import Run, Setting
from granola.runs.shared_settings import Force, Limit, Out, Tiered


@dataclass(frozen=True, kw_only=True)
class KnowledgeDescribeRun(Run):
    """Write the evidence of tiered rows in words, a text for each row, for `granola knowledge judge`."""

    verb: ClassVar[str] = "knowledge describe"

    tiered: Tiered
    out: Out
    descriptions: Annotated[bool, Setting("WikiData's descriptions alone, without statements.")] = False
    limit: Limit = None
    force: Force = False

    def run(self) -> RowsWritten:
        """Write them. Raises UsageError where there is no row."""
        from itertools import islice

        from abstraction.rows import read_tiered
        from granola.errors import UsageError
        from granola.knowledge.ladder_texts import items_of_ladders
        from granola.runs.outputs import count

        with rows_output(self, self.out, inputs=[self.tiered], force=self.force) as output:
            rows = islice(read_tiered(self.tiered, on_reject=output.rejected.append), self.limit)
            items = items_of_ladders(rows, descriptions=self.descriptions)
            if not items:
                raise UsageError(f"{self.tiered} has no tiered row; make one with granola tiers")
            output.write(item.to_json() for item in items)
        empty = sum(not item.knowledge for item in items)
        return output.ended(f"{count(len(items), 'text')}, {empty:,} of them empty", source=self.tiered)
