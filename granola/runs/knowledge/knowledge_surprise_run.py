"""`granola knowledge surprise`: does a language model find coarser levels less surprising?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from granola.runs.knowledge.knowledge_settings import Resamples, Seed, hash_of_identity
from granola.runs.rows_output import RowsWritten, rows_output
from granola.runs.settings import Run, Setting
from granola.runs.shared_settings import Force, Limit, Out, Tiered
from granola.terminal_lines import Verbatim


@dataclass(frozen=True, kw_only=True)
class KnowledgeSurpriseRun(Run):
    """Score each level of ladders under a causal language model, beside the bits that the graph gives it.

    OUT has a row a level. Means by level stand on standard output, with Somers' D of the surprisal with the level and
    with the bits, over all levels of all rows.
    """

    verb: ClassVar[str] = "knowledge surprise"

    tiered: Tiered
    out: Out
    causal: Annotated[
        str, Setting("A causal language model: local:FOLDER_OR_NAME or openai:URL#NAME.", metavar="MODEL")
    ]
    scores: Annotated[
        Path | None, Setting("Where scores are kept (default: OUT.scores.sqlite).", metavar="FILE", recorded=False)
    ] = None
    prompts: Annotated[str | None, Setting("A folder with a prompt of your own: given_query.txt.")] = None
    resamples: Resamples = 1000
    seed: Seed = 0
    limit: Limit = None
    force: Force = False

    def run(self) -> RowsWritten:
        """Score and write. Raises UsageError where there is no row."""
        from itertools import islice

        from abstraction.models.prompts import hash_of
        from abstraction.rows import read_tiered
        from granola.errors import UsageError
        from granola.knowledge.knowledge_prompts import GIVEN_QUERY, read_knowledge_prompts
        from granola.knowledge.level_surprise import level_surprises
        from granola.runs.outputs import STANDARD, count
        from granola.text_models.kept_scores import KeptContinuations, ScoreStore
        from granola.text_models.text_model_words import open_continuations

        with rows_output(self, self.out, inputs=[self.tiered], force=self.force) as output:
            rows = list(islice(read_tiered(self.tiered, on_reject=output.rejected.append), self.limit))
            if not rows:
                raise UsageError(f"{self.tiered} has no tiered row; make one with granola tiers")
            store_path = self.scores or (None if self.out == STANDARD else Path(f"{self.out}.scores.sqlite"))
            prompts = read_knowledge_prompts(self.prompts)
            with closing(ScoreStore(store_path)) as store:
                model = KeptContinuations(open_continuations(self.causal), store)
                surprises = level_surprises(rows, model, prompts)
            output.write(surprise.to_json() for surprise in surprises)
            identity = {"model": dict(model.identity), "prompts": hash_of(prompts, GIVEN_QUERY)}
            output.more |= identity
        lines = self._lines(surprises, hash_of_identity(identity))
        return output.ended(f"{count(len(surprises), 'level')} of {len(rows):,} rows", *lines, source=self.tiered)

    def _lines(self, surprises: Sequence[Any], identity_hash: str) -> list[str]:
        from granola.knowledge.knowledge_summary import mean_estimate, signature
        from granola.knowledge.rank_association import somers_d

        numbered = [tier for tier in surprises if not math.isnan(tier.surprisal)]
        lines = []
        for level in sorted({tier.level for tier in numbered}):
            mean = mean_estimate(
                [tier.surprisal for tier in numbered if tier.level == level], times=self.resamples, seed=self.seed
            )
            lines.append(
                f"level {level}: {mean.value:.2f} bits  {mean.interval.low:.2f}–{mean.interval.high:.2f}  n {mean.n:,}"
            )
        weighed = [tier for tier in numbered if tier.bits is not None]
        for name, pairs in (
            ("level", [(float(tier.level), tier.surprisal) for tier in numbered]),
            ("bits of the graph", [(tier.bits, tier.surprisal) for tier in weighed]),
        ):
            given, surprisals = [value for value, _ in pairs], [surprisal for _, surprisal in pairs]
            d = somers_d(given, surprisals, times=self.resamples, seed=self.seed)
            lines.append(
                f"Somers' D of surprisal given {name}: {d.d:.3f}  {d.interval.low:.3f} to {d.interval.high:.3f}, "
                f"p {d.p:.3g}, n {d.n:,}"
            )
        return [*lines, Verbatim(signature(identity_hash, n=len(surprises), times=self.resamples, seed=self.seed))]
