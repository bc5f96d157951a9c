"""Log-probabilities of texts under any causal language model that `transformers` loads."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from granola.text_models.continuations import LEAST, Continuation, TokenScores
from granola.text_models.local_weights import LocalWeights, WeightSettings


@dataclass(frozen=True, kw_only=True, slots=True)
class _Window:
    """Token ids that go through the model at once; those from `first` on are scored. `of` is the text's number."""

    of: int
    ids: tuple[int, ...]
    first: int


class LocalContinuations:
    """Prompt and text are tokenized together, and parted where the prompt's characters end.

    A start token stands before every prompt: the tokenizer's own, else its end token, as GPT-2 was trained; where it
    has neither, the very first token of a text alone is not scored. What is longer than the model holds goes through
    it in windows: each token is scored once, behind as many as fit or at least behind half a window.
    """

    def __init__(self, place: Path | str, *, settings: WeightSettings | None = None) -> None:
        """Raises ModelError for a place without a model."""
        self._weights = LocalWeights(place, head="AutoModelForCausalLM", settings=settings)

    @property
    def identity(self) -> Mapping[str, Any]:
        """The weights."""
        return {**self._weights.identity, "score": "logprobs"}

    def token_scores(self, given: Sequence[Continuation]) -> list[TokenScores]:
        """As `ContinuationModel.token_scores`."""
        windows = [window for at, one in enumerate(given) for window in self._windows(at, one)]
        scores = self._weights.of_each(windows, lambda window: len(window.ids), self._run)
        parts: dict[int, list[float]] = {}
        for window, logprobs in zip(windows, scores, strict=True):
            parts.setdefault(window.of, []).extend(logprobs)
        return [TokenScores(tuple(parts.get(at, ()))) for at in range(len(given))]

    def _windows(self, of: int, continuation: Continuation) -> list[_Window]:
        ids, begin = self._ids(continuation)
        room = self._weights.room
        half = max(1, room // 2)
        windows: list[_Window] = []
        end = begin
        while end < len(ids):
            # The first window holds all that fits; the others half a window of what has not been scored.
            new = min(len(ids), max(begin + half, room)) if end == begin else min(len(ids), end + half)
            start = max(0, new - room)
            windows.append(_Window(of=of, ids=tuple(ids[start:new]), first=end - start))
            end = new
        return windows

    def _ids(self, continuation: Continuation) -> tuple[list[int], int]:
        """Token ids of prompt and text, and which is the first that is scored."""
        tokenizer = self._weights.tokenizer
        if not continuation.text:
            return [], 0
        start = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
        if not tokenizer.is_fast:  # without offsets the two are tokenized apart
            before = (
                list(tokenizer(continuation.prompt, add_special_tokens=False)["input_ids"])
                if continuation.prompt
                else []
            )
            ids = before + list(tokenizer(continuation.text, add_special_tokens=False)["input_ids"])
            begin = len(before)
        else:
            encoding = tokenizer(
                continuation.prompt + continuation.text, add_special_tokens=False, return_offsets_mapping=True
            )
            ids = list(encoding["input_ids"])
            ends = [end for _, end in encoding["offset_mapping"]]
            begin = next((at for at, end in enumerate(ends) if end > len(continuation.prompt)), len(ids))
        if start is not None:
            return [start, *ids], begin + 1
        return ids, max(1, begin)

    def _run(self, windows: Sequence[_Window]) -> list[list[float]]:
        import torch

        weights = self._weights
        model, pad = weights.model, weights.tokenizer.pad_token_id or 0
        longest = max(len(window.ids) for window in windows)
        ids = torch.full((len(windows), longest), pad, dtype=torch.long)
        mask = torch.zeros_like(ids)
        for row, window in enumerate(windows):
            ids[row, : len(window.ids)] = torch.tensor(window.ids, dtype=torch.long)
            mask[row, : len(window.ids)] = 1
        least = min(window.first for window in windows) - 1
        more: dict[str, Any] = {}
        if _keeps_some(type(model)):  # no logits for what is not scored: they are most of the memory
            more["logits_to_keep"] = torch.arange(least, longest, device=weights.device)
        logits = model(
            input_ids=ids.to(weights.device), attention_mask=mask.to(weights.device), use_cache=False, **more
        ).logits
        shift = least if more else 0
        scores: list[list[float]] = []
        for row, window in enumerate(windows):
            row_logits = logits[row, window.first - 1 - shift : len(window.ids) - 1 - shift].float()
            targets = torch.tensor(window.ids[window.first :], device=row_logits.device)
            logprobs = row_logits.gather(1, targets[:, None])[:, 0] - row_logits.logsumexp(dim=1)
            scores.append([max(LEAST, logprob) if logprob < 0 else logprob for logprob in logprobs.cpu().tolist()])
        return scores

    def close(self) -> None:
        """Release the weights."""
        self._weights.close()


def _keeps_some(model: type) -> bool:
    return "logits_to_keep" in inspect.signature(model.forward).parameters  # type: ignore[attr-defined]
