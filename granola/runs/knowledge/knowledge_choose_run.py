"""`granola knowledge choose`: the best of several texts, or of examples, by their quality."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from granola.runs.knowledge.knowledge_settings import Judged, Seed
from granola.runs.rows_output import RowsWritten, rows_output
from granola.runs.settings import Run, Setting
from granola.runs.shared_settings import Force, Out, Resamples
from granola.terminal_lines import Part, TextTable, Verbatim

if TYPE_CHECKING:
    from granola.knowledge.knowledge_metrics import Coefficients


@dataclass(frozen=True, kw_only=True)
class KnowledgeChooseRun(Run):
    """Choose texts by Q, the weighted sum of factuality, relevance, paragraph coherence and informativeness.

    Without --best the best candidate of each id; with it the best texts of all, as demonstrations. Each score of what
    is chosen stands beside its mean under a random choice, with the difference and its interval.
    """

    verb: ClassVar[str] = "knowledge choose"

    judged: Judged
    out: Out
    best: Annotated[int | None, Setting("Choose so many of all texts (the paper: 8).", least=1)] = None
    of: Annotated[int | None, Setting("With --best: of so many, drawn by the seed (the paper: 30).", least=1)] = None
    coefficients: Annotated[
        str | None, Setting("Four numbers, separated by commas; by default 0.25 each, or as --fit finds them.")
    ] = None
    fit: Annotated[
        str | None, Setting("Fit the coefficients by least squares to this score of the texts, as validity.")
    ] = None
    resamples: Resamples = 1000
    seed: Seed = 0
    force: Force = False

    def run(self) -> RowsWritten:
        """Choose and write. Raises UsageError for settings that do not go together, and for scores that are lacking."""
        from granola.errors import UsageError
        from granola.knowledge.judged_rows import read_judged
        from granola.knowledge.knowledge_metrics import PARTS, best_of, best_places
        from granola.runs.outputs import count

        if self.coefficients is not None and self.fit is not None:
            raise UsageError("--coefficients and --fit are both given; give one")
        if self.of is not None and self.best is None:
            raise UsageError("--of goes with --best, which is not given")
        with rows_output(self, self.out, inputs=[self.judged], force=self.force) as output:
            rows = read_judged(self.judged, on_reject=output.rejected.append)
            gamma = self._coefficients(rows)
            chosen: list[dict[str, Any]] = []
            pairs: list[tuple[list[dict[str, Any]], Sequence[dict[str, Any]]]] = []
            for group in self._groups(rows):
                qualities = [gamma.quality(row["scores"]) for row in group]
                own = best_places(qualities, self.best) if self.best is not None else [best_of(qualities)]
                chosen += [{**group[at], "quality": qualities[at]} for at in own]
                pairs.append(([group[at] for at in own], group))
            output.write(iter(chosen))
            output.more["coefficients"] = dict(zip(PARTS, gamma.values, strict=True))
        lines = list(self._lines(pairs))
        shown = ", ".join(f"{name} {value:.3f}" for name, value in zip(PARTS, gamma.values, strict=True))
        told_of = f"{count(len(chosen), 'text')} of {len(rows):,} chosen; coefficients {shown}"
        return output.ended(told_of, *lines, source=self.judged)

    def _coefficients(self, rows: Sequence[Mapping[str, Any]]) -> Coefficients:
        from granola.knowledge.knowledge_metrics import PARTS, Coefficients, fitted, read_coefficients

        if self.fit is None:
            return Coefficients() if self.coefficients is None else read_coefficients(self.coefficients)
        given = [row["scores"] for row in rows if all(name in row["scores"] for name in PARTS)]
        return fitted([(scores, float(scores[self.fit])) for scores in given if scores.get(self.fit) is not None])

    def _groups(self, rows: Sequence[dict[str, Any]]) -> Iterable[Sequence[dict[str, Any]]]:
        """The texts that are chosen among together: the candidates of each id, or with --best those drawn of all."""
        if self.best is not None:
            ordered = sorted(rows, key=lambda row: (str(row.get("system") or ""), row["id"]))
            n = len(rows) if self.of is None else min(self.of, len(rows))
            return [random.Random(self.seed).sample(ordered, n)]
        groups: defaultdict[Any, list[dict[str, Any]]] = defaultdict(list)
        for row in rows:
            groups[row.get("system", ""), row["id"]].append(row)
        return groups.values()

    def _lines(
        self, pairs: Sequence[tuple[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]]]
    ) -> Iterator[Part]:
        from granola import __version__
        from granola.scoring.statistics import mean_estimate

        names = dict.fromkeys(name for _, group in pairs for row in group for name in row["scores"])
        rows = []
        for name in names:
            gains, chosen_scores, random_scores = [], [], []
            for chosen, group in pairs:
                best = [row["scores"][name] for row in chosen if row["scores"].get(name) is not None]
                every = [row["scores"][name] for row in group if row["scores"].get(name) is not None]
                if not best or not every:
                    continue
                mean = sum(every) / len(every)  # what a random choice brings on average
                chosen_scores += best
                random_scores += [mean] * len(best)
                gains += [score - mean for score in best]
            if gains:
                gain = mean_estimate(gains, resamples=self.resamples, seed=self.seed)
                means = (f"{sum(scores) / len(gains):.4f}" for scores in (chosen_scores, random_scores))
                spread = f"{gain.interval.low:+.4f} to {gain.interval.high:+.4f}, n {gain.n:,}"
                rows.append((name, *means, f"{gain.value:+.4f}", spread))
        yield TextTable(head=("score", "chosen", "random", "gain", "95 % interval of the gain"), rows=rows, words=(4,))
        yield Verbatim(f"boot:{self.resamples}|seed:{self.seed}|version:{__version__}")
