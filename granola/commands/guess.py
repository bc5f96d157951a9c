"""`granola guess`: what could be answered without knowing anything of the subject but its name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from granola.commands.messages import count
from granola.commands.output import RowsCommand, RowsOutput, RowsWritten, writing_rows
from granola.decoding.guessing import FOLDS
from granola.errors import PredictionError
from granola.settings import Setting
from granola.shared_settings import Force, Out, Tiered


@dataclass(frozen=True, kw_only=True)
class Guess(RowsCommand):
    """Guess each answer from the other questions of its relation and the words of the subject's name.

    A baseline to stand beside systems in `granola compare` and `granola report`: how far up can one guess?
    """

    tiered: Tiered
    out: Out
    least: Annotated[
        float | None,
        Setting("Guess the finest tier that is at least so likely, rather than the likeliest; above 0 and up to 1."),
    ] = None
    folds: Annotated[int, Setting("Parts of the file; each is guessed from the others.", least=2)] = FOLDS
    force: Force = False

    def run(self) -> RowsWritten:
        """Guess and write predictions. Raises PredictionError where there is no row."""
        from abstraction.rows import read_tiered

        with writing_rows(self, self.out, inputs=[self.tiered], force=self.force) as output:
            rejected = output.rejected
            rows = list(read_tiered(self.tiered, on_reject=rejected.append))
            if not rows:
                reason = f"; {rejected[0].source}: {rejected[0].reason}" if rejected else ""
                raise PredictionError(f"{self.tiered} has no tiered row{reason}; make one with granola tiers")
            output.write(self._predictions(rows, output))
            output.more["outcomes"] = dict(output.counts)
            total = count(output.counts.total(), "question")
            line = f"{total}: {output.counts['guessed']:,} guessed, {output.counts['IDK']:,} IDK"
            return output.ended(line, source=self.tiered)

    def _predictions(self, rows: list[Any], output: RowsOutput) -> Iterator[dict[str, Any]]:
        from granola.decoding.guessing import guesses

        for row, decision in guesses(rows, least=self.least, folds=self.folds, on_reject=output.rejected.append):
            output.taken.take(row.source, row.id, row.question)
            output.counts["IDK" if decision.abstains else "guessed"] += 1
            yield {"id": row.id, "question": row.question, "method": "guess", **decision.to_json()}
