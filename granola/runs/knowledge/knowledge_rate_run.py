"""`granola knowledge rate`: a sheet of texts for people to rate."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from granola.runs.knowledge.knowledge_settings import Judged, Seed
from granola.runs.rows_output import RowsWritten, rows_output
from granola.runs.settings import Run, Setting
from granola.runs.shared_settings import CsvRaw, Force, Out


@dataclass(frozen=True, kw_only=True)
class KnowledgeRateRun(Run):
    """Draw texts, as many of each system, and write a sheet on which people rate them from 0 to 2 on six axes.

    OUT keeps the drawn texts in the sheet's order, with systems and scores; `granola knowledge correlate` reads both.
    """

    verb: ClassVar[str] = "knowledge rate"

    judged: Judged
    out: Out
    sheet: Annotated[Path, Setting("The sheet to write, as CSV: texts without their systems and scores.")]
    each: Annotated[int, Setting("Texts of each system (the paper: 80).", least=1)] = 80
    raters: Annotated[
        int, Setting("Sheets to write, one a rater: SHEET, or SHEET.1.csv and so on where there are several.", least=1)
    ] = 1
    shared: Annotated[
        float, Setting("Share of the texts that all raters have (the paper: 0.2); the rest goes to one each.",
                       least=0, most=1)
    ] = 0.2  # fmt: skip
    seed: Seed = 0
    force: Force = False
    csv_raw: CsvRaw = False

    def run(self) -> RowsWritten:
        """Draw and write both. Raises UsageError where there is no text, or a file would be lost."""
        from abstraction.files.writing import check_kind
        from granola.knowledge.judged_rows import read_judged, shared_out, write_rating_sheet
        from granola.runs.outputs import check_outputs, count

        check_kind(self.sheet, "csv", asked="--sheet")
        sheets = [self.sheet]
        if self.raters > 1:
            sheets = [self.sheet.with_suffix(f".{number}.csv") for number in range(1, self.raters + 1)]
        for sheet in sheets:
            check_outputs(sheet, inputs=[self.judged, self.out], force=self.force, asked="--sheet")
        with rows_output(self, self.out, inputs=[self.judged], force=self.force) as output:
            rows = read_judged(self.judged, on_reject=output.rejected.append)
            source = random.Random(self.seed)
            chosen = []
            for system in sorted({str(row.get("system") or "") for row in rows}):
                of_system = sorted(
                    (row for row in rows if str(row.get("system") or "") == system),
                    key=lambda row: (row["id"], row.get("candidate", 0)),
                )
                chosen += source.sample(of_system, min(self.each, len(of_system)))
            source.shuffle(chosen)
            for sheet, numbers in zip(sheets, shared_out(len(chosen), self.raters, self.shared), strict=True):
                write_rating_sheet(chosen, sheet, csv_raw=self.csv_raw, only=numbers if self.raters > 1 else None)
            output.write(iter(chosen))
        names = ", ".join(map(str, sheets))
        return output.ended(f"{count(len(chosen), 'text')} to rate in {names}", source=self.judged)
