"""How a local model's next token is drawn: row by row, each with its own temperature, top-p and seed.

The answer of a row depends on its own seed alone, whatever rows share its batch, up to the rounding of the model's own
arithmetic. A number from [0, 1) is drawn per row and step and looked up in the cumulative distribution, so that the
same seed draws the same on every device. Nucleus sampling: Holtzman et al. 2020, section 3.1: the smallest set of
likeliest tokens whose probabilities add up to at least top-p.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    from abstraction.models.chat_request import Request


@dataclass(frozen=True, slots=True)
class GeneratedAnswer:
    """One answer to be generated: the one number `sample` of `request`, after `prompt` (token ids)."""

    request: Request
    key: str
    sample: int
    prompt: Sequence[int]


class TokenDrawing:
    """Takes the next token of each row; a logits processor of `transformers`, to be used without its own sampling.

    Keeps, where rows ask for them, the log-probabilities of the model's own distribution (temperature 1, no top-p):
    `taken[step]` of shape [rows], `likeliest[step]` as (values, ids) of shape [rows, most alternatives].
    """

    def __init__(self, rows: Sequence[GeneratedAnswer], device: torch.device | str) -> None:
        import torch

        samplings = [row.request.sampling for row in rows]
        self._random = [random.Random(row.request.sampling.seed_of(row.sample)) for row in rows]
        self._drawn = torch.tensor([sampling.temperature > 0 for sampling in samplings], device=device)
        self._any_drawn = any(sampling.temperature > 0 for sampling in samplings)
        self._nucleus = any(sampling.top_p < 1 for sampling in samplings)
        self._temperature = torch.tensor([[sampling.temperature or 1.0] for sampling in samplings], device=device)
        self._top_p = torch.tensor([[sampling.top_p] for sampling in samplings], device=device, dtype=torch.float64)
        self._wanted = max((sampling.logprobs for sampling in samplings if sampling.logprobs is not None), default=None)
        self.taken: list[torch.Tensor] = []
        self.likeliest: list[tuple[torch.Tensor, torch.Tensor]] = []

    def __call__(self, _ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Scores of shape [rows, vocabulary] in which only the token taken is possible."""
        import torch

        chosen = scores.argmax(dim=-1)
        if self._any_drawn:
            chosen = torch.where(self._drawn, self._draw(scores), chosen)
        if self._wanted is not None:
            logprobs = torch.log_softmax(scores.float(), dim=-1)
            self.taken.append(logprobs.gather(1, chosen[:, None])[:, 0])
            best = logprobs.topk(min(self._wanted, logprobs.shape[-1]), dim=-1)
            self.likeliest.append((best.values, best.indices))
        return torch.full_like(scores, -torch.inf).scatter_(1, chosen[:, None], 0.0)

    def _draw(self, scores: torch.Tensor) -> torch.Tensor:
        import torch

        numbers = torch.tensor([[generator.random()] for generator in self._random], dtype=torch.float64).to(
            scores.device
        )
        chances = torch.softmax(scores.float() / self._temperature, dim=-1)
        if self._nucleus:
            ranked, order = chances.sort(dim=-1, descending=True, stable=True)
            # Kept is what the tokens before it do not reach top-p without; in the vocabulary's order again, so that a
            # row draws the same whether or not another has a top-p.
            before = ranked.cumsum(dim=-1, dtype=torch.float64) - ranked
            ranked = ranked.masked_fill((before >= self._top_p) & (self._top_p < 1), 0.0)
            chances = torch.zeros_like(chances).scatter_(1, order, ranked)
        heap = chances.cumsum(dim=-1, dtype=torch.float64)
        at = torch.searchsorted(heap, numbers * heap[:, -1:], right=True).clamp(max=scores.shape[-1] - 1)
        return at[:, 0]


class Ending:
    """Tells which rows are over: those with as many tokens as they may have, or with a stop text at their end.

    A stopping criterion of `transformers`.
    """

    def __init__(self, rows: Sequence[GeneratedAnswer], prompt_length: int, decode: Decode) -> None:
        self._rows = rows
        self._prompt_length = prompt_length
        self._decode = decode
        self.lengths: list[int | None] = [None] * len(rows)  # tokens of each row that is over; padding follows
        # A token is a letter at least, or part of one: so many tokens hold the longest stop text.
        self._looked_at = [max((4 * len(stop) for stop in row.request.sampling.stop), default=0) + 8 for row in rows]

    def __call__(self, ids: torch.Tensor, _scores: torch.Tensor, **_more: object) -> torch.Tensor:
        """True for each row that is over; shape [rows]."""
        import torch

        number = ids.shape[1] - self._prompt_length
        for at, row in enumerate(self._rows):
            how = row.request.sampling
            if self.lengths[at] is None and (number >= how.max_tokens or (how.stop and self._stops(ids, at, number))):
                self.lengths[at] = number
        return torch.tensor([length is not None for length in self.lengths], device=ids.device)

    def _stops(self, ids: torch.Tensor, at: int, number: int) -> bool:
        tail = self._decode(ids[at, -min(number, self._looked_at[at]) :].tolist())
        return any(stop in tail for stop in self._rows[at].request.sampling.stop)


class Decode:
    """Token ids to text, without special tokens."""

    def __init__(self, tokenizer: object) -> None:
        self._tokenizer = tokenizer

    def __call__(self, ids: Sequence[int]) -> str:
        """The text of some tokens."""
        text: str = self._tokenizer.decode(  # type: ignore[attr-defined]
            ids, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return text
