"""`granola knowledge choose`: the best of several texts, or of examples, by their quality."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from granola.runs.knowledge.knowledge_settings import Judged, Resamples, Seed
from granola.runs.rows_output import RowsWritten, rows_output
from granola.runs.settings import Run, Setting
from granola.runs.shared_settings import Force, Out


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
        from granola.knowledge.overall_quality import PARTS, Coefficients, best_of, best_places, fitted
        from granola.knowledge.overall_quality import read_coefficients as read
        from granola.runs.outputs import count

        if self.coefficients is not None and self.fit is not None:
            raise UsageError("--coefficients and --fit are both given; give one")
        if self.of is not None and self.best is None:
            raise UsageError("--of goes with --best, which is not given")
        with rows_output(self, self.out, inputs=[self.judged], force=self.force) as output:
            rows = read_judged(self.judged, on_reject=output.rejected.append)
            gamma = Coefficients() if self.coefficients is None else read(self.coefficients)
            if self.fit is not None:
                targets = [
                    (row["scores"], float(row["scores"][self.fit]))
                    for row in rows
                    if row["scores"].get(self.fit) is not None and all(name in row["scores"] for name in PARTS)
                ]
                gamma = fitted(targets)
            groups: dict[Any, list[dict[str, Any]]] = {}
            if self.best is not None:
                ordered = sorted(rows, key=lambda row: (str(row.get("system") or ""), row["id"]))
                n = len(rows) if self.of is None else min(self.of, len(rows))
                groups[""] = random.Random(self.seed).sample(ordered, n)
            else:
                for row in rows:
                    groups.setdefault((row.get("system", ""), row["id"]), []).append(row)
            chosen: list[dict[str, Any]] = []
            pairs: list[tuple[list[dict[str, Any]], list[dict[str, Any]]]] = []
            for group in groups.values():
                qualities = [gamma.quality(row["scores"]) for row in group]
                places = best_places(qualities, self.best) if self.best is not None else [best_of(qualities)]
                chosen += [{**group[at], "quality": qualities[at]} for at in places]
                pairs.append(([group[at] for at in places], group))
            output.write(iter(chosen))
            output.more["coefficients"] = dict(zip(PARTS, gamma.values, strict=True))
        lines = list(self._lines(pairs))
        shown = ", ".join(f"{name} {value:.3f}" for name, value in zip(PARTS, gamma.values, strict=True))
        headline = f"{count(len(chosen), 'text')} of {len(rows):,} chosen; coefficients {shown}"
        return output.ended(headline, *lines, source=self.judged)

    def _lines(self, pairs: Sequence[tuple[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]]]) -> Iterator[str]:
        from granola import __version__
        from granola.knowledge.knowledge_summary import mean_estimate

        names = dict.fromkeys(name for _, group in pairs for row in group for name in row["scores"])
        yield f"{'score':<24}{'chosen':>9}{'random':>9}{'gain':>9}  95 % interval of the gain"
        for name in names:
            gains, chosen_values, random_means = [], [], []
            for chosen, group in pairs:
                best = [row["scores"][name] for row in chosen if row["scores"].get(name) is not None]
                every = [row["scores"][name] for row in group if row["scores"].get(name) is not None]
                if not best or not every:
                    continue
                mean = sum(every) / len(every)  # what a random choice brings on average
                chosen_values += best
                random_means += [mean] * len(best)
                gains += [value - mean for value in best]
            if gains:
                gain = mean_estimate(gains, times=self.resamples, seed=self.seed)
                at_best, at_random = (sum(values) / len(values) for values in (chosen_values, random_means))
                yield (
                    f"{name:<24}{at_best:>9.4f}{at_random:>9.4f}{gain.value:>+9.4f}  "
                    f"{gain.interval.low:+.4f} to {gain.interval.high:+.4f}, n {gain.n:,}"
                )
        yield f"boot:{self.resamples}|seed:{self.seed}|version:{__version__}"
