"""A chat model on this machine: the library's own `generate` in batches, with a static cache on a card.

Only the draw is ours: each answer draws by its own seed, so that it is the same whatever rows share its batch, up to
the rounding of the model's own arithmetic (which in 16 bits may decide between two tokens).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from abstraction.models.answer_store import AnswerStore
from abstraction.models.chat_model import Completion, FailureReason, Request, Result, Totals, result_of
from abstraction.models.chat_protocol import body_of, choice_of
from abstraction.models.http_client import Attempt, CallFailed
from abstraction.models.local_weights import LocalSettings, LocalWeights, TokenizedModel, causal_model

if TYPE_CHECKING:
    import torch

_ON_PROCESSOR = 64  # answers together: each token's pass over the weights serves them all
_WINDOW = 4  # batches that are taken at a time and sorted by length, so that rows of a batch are alike
_ROUND = 64  # lengths of prompts and caches on a card are multiples of it, so that few shapes are compiled


@dataclass(frozen=True, slots=True)
class _Row:
    """One answer to be generated: the one number `sample` of `request`, after `prompt` (token ids)."""

    request: Request
    key: str
    sample: int
    prompt: Sequence[int]

    def way(self) -> tuple[Any, ...]:
        """What rows of one batch have in common: all of the sampling but the seed."""
        how = self.request.sampling
        return (how.max_tokens, how.temperature, how.top_p)


@dataclass(frozen=True, slots=True)
class _Made:
    completion: Completion
    tokens: int


class LocalModel:
    """A causal language model, or an encoder-decoder, with its tokenizer and its chat template."""

    def __init__(
        self,
        place: Path | str,
        *,
        settings: LocalSettings | None = None,
        cache: Path | str | None = None,
        log: Path | str | None = None,
    ) -> None:
        """Raises ModelError for a place without a model, or where a library is missing."""
        self._weights = LocalWeights(place, causal_model, settings=settings, on_processor=_ON_PROCESSOR)
        self._store = AnswerStore(self.identity, cache=cache, log=log)
        self.sampling: Mapping[str, Any] = {}  # what its word says of it, for `sampling_of`

    @property
    def identity(self) -> Mapping[str, Any]:
        """The weights, the device and the type in which it computes."""
        return self._weights.identity

    @property
    def _on_card(self) -> bool:
        """Whether shapes are kept alike for a compiled forward pass."""
        return self._weights.device.startswith("cuda")

    @property
    def totals(self) -> Totals:
        """What was done until now."""
        return self._store.totals

    def generate(self, requests: Iterable[Request]) -> Iterator[Result]:
        """As `ChatModel.generate`. A request that does not fit into the model, or memory, is a Failure."""
        source = iter(requests)
        while window := list(islice(source, _WINDOW * self._weights.block // 16)):
            known: dict[str, list[Completion | None]] = {}
            cached: dict[str, int] = {}
            failures: dict[str, CallFailed] = {}
            rows: list[_Row] = []
            for request in sorted(window, key=lambda request: -request.sampling.n):  # those that ask the same, once
                if (key := request.key()) in known:
                    continue
                known[key] = self._store.known(request, key)
                cached[key] = request.sampling.n - known[key].count(None)
                try:
                    rows += self._rows(request, key, known[key])
                except CallFailed as failure:
                    failures[key] = failure
            rows.sort(key=lambda row: (row.way(), -len(row.prompt)))
            for _, alike in groupby(rows, key=_Row.way):
                self._fill(list(alike), known, failures)
            for request in window:
                key = request.key()
                why = failures.get(key, CallFailed(FailureReason.OUT_OF_MEMORY, "not answered"))
                found = known[key][: request.sampling.n]
                yield result_of(request, found, why.reason, str(why), cached=cached[key])

    def _rows(self, request: Request, key: str, known: Sequence[Completion | None]) -> list[_Row]:
        samples = [sample for sample, completion in enumerate(known) if completion is None]
        prompt = prompt_of(request, self._weights.model, self._room()) if samples else ()
        return [_Row(request, key, sample, prompt) for sample in samples]

    def _room(self) -> int | None:
        held = getattr(self._weights.config.get_text_config(), "max_position_embeddings", None)
        return held if isinstance(held, int) and held > 0 and not self._weights.config.is_encoder_decoder else None

    def _fill(
        self, rows: Sequence[_Row], known: dict[str, list[Completion | None]], failures: dict[str, CallFailed]
    ) -> None:
        begun = time.monotonic()
        for part, done in self._weights.batches(rows, self._made):
            seconds = (time.monotonic() - begun) / len(part)
            if done is None:
                (row,) = part
                failure = failures[row.key] = CallFailed(
                    FailureReason.OUT_OF_MEMORY, f"{self._weights.place}: one answer does not fit into memory"
                )
                self._note(row, Attempt(number=1, status=None, received=None, seconds=seconds, error=str(failure)))
                continue
            for row, made in zip(part, done, strict=True):
                known[row.key][row.sample] = made.completion
                tokens = {"prompt_tokens": len(row.prompt), "completion_tokens": made.tokens}
                received = {"choices": [choice_of(made.completion)], "usage": tokens}
                self._note(row, Attempt(number=1, status=None, received=received, seconds=seconds), made)
            begun = time.monotonic()

    def _note(self, row: _Row, attempt: Attempt, made: _Made | None = None) -> None:
        self._store.called(
            row.request, row.key, range(row.sample, row.sample + 1),
            body_of(row.request, model=self._weights.place, first=row.sample), attempt,
            () if made is None else [made.completion], (0, 0) if made is None else (len(row.prompt), made.tokens),
        )  # fmt: skip

    def _made(self, rows: Sequence[_Row], batch: int) -> list[_Made]:
        """One batch through the library's `generate`."""
        from transformers import GenerationConfig

        loaded, how, on_card = self._weights.model, rows[0].request.sampling, self._on_card
        model, tokenizer = loaded.model, loaded.tokenizer
        # On a card a short batch is filled up with its last row to a power of 2: each shape is compiled once.
        size = min(batch, 1 << (len(rows) - 1).bit_length())
        filled = [*rows, *([rows[-1]] * (size - len(rows) if on_card else 0))]
        padded = tokenizer.pad(
            {"input_ids": [list(row.prompt) for row in filled]}, padding_side="left", return_tensors="pt",
            pad_to_multiple_of=_ROUND if on_card and self._room() is None else None,
        ).to(self._weights.device)  # fmt: skip
        length = padded["input_ids"].shape[1]
        ends = _ends(loaded)
        settings = GenerationConfig(
            do_sample=False, max_new_tokens=how.max_tokens, eos_token_id=ends or None,
            pad_token_id=tokenizer.pad_token_id,
            decoder_start_token_id=model.generation_config.decoder_start_token_id,
            cache_implementation="static" if on_card else None,
            max_cache_len=-(-(length + how.max_tokens) // (4 * _ROUND)) * 4 * _ROUND if on_card else None,
        )  # fmt: skip
        begin = 1 if self._weights.config.is_encoder_decoder else length
        # Settings of the model's own, such as a penalty for repetition, must not be mixed with what was asked for.
        own, model.generation_config = model.generation_config, settings
        try:
            out = model.generate(
                input_ids=padded["input_ids"], attention_mask=padded["attention_mask"], generation_config=settings,
                logits_processor=[SeededDraw(filled, self._weights.device)] if how.temperature > 0 else [],
            )  # fmt: skip
        finally:
            model.generation_config = own
        return [
            self._completion(row, tokens, ends, tokenizer)
            for row, tokens in zip(rows, out[:, begin:].tolist(), strict=False)
        ]

    def _completion(self, row: _Row, generated: list[int], ends: Sequence[int], tokenizer: Any) -> _Made:
        end = next((at for at, token in enumerate(generated) if token in ends), None)
        completion = Completion(
            text=tokenizer.decode(generated[:end], skip_special_tokens=True, clean_up_tokenization_spaces=False),
            finish_reason="length" if end is None else "stop",
            seed=row.request.sampling.seed_of(row.sample),
        )
        return _Made(completion, len(generated) if end is None else end + 1)

    def close(self) -> None:
        """Release the weights and files."""
        self._weights.close()
        self._store.close()


def _ends(loaded: TokenizedModel) -> list[int]:
    """The tokens that end an answer."""
    config = loaded.model.generation_config
    eos = config.eos_token_id if config.eos_token_id is not None else loaded.tokenizer.eos_token_id
    return [] if eos is None else list(eos) if isinstance(eos, list) else [eos]


# From a conversation to token ids.


def prompt_of(request: Request, loaded: TokenizedModel, room: int | None) -> list[int]:
    """The conversation in the model's own format, as token ids. Raises CallFailed for one that does not fit in `room`.

    Text from data is not read as the marks that part one turn from the next.
    """
    tokenizer = loaded.tokenizer
    added = [str(token) for token in tokenizer.added_tokens_decoder.values() if token.special]
    marks = sorted({*added, *tokenizer.all_special_tokens}, key=len, reverse=True)

    def harmless(text: str) -> str:
        for mark in marks:
            text = text.replace(mark, f"{mark[0]} {mark[1:]}")
        return text

    turns = [{"role": message.role, "content": harmless(message.content)} for message in request.messages]
    if tokenizer.chat_template:
        ids = list(tokenizer(_templated(tokenizer, turns), add_special_tokens=False)["input_ids"])
    elif loaded.model.config.is_encoder_decoder:  # trained on plain texts, with their special tokens
        ids = list(tokenizer("\n\n".join(turn["content"] for turn in turns))["input_ids"])
    else:  # a model that was never taught to converse
        text = "\n\n".join(turn["content"] for turn in turns) + "\n\n"
        ids = list(tokenizer(text, add_special_tokens=False)["input_ids"])
    limit = request.sampling.max_tokens
    if room is not None and len(ids) + limit > room:
        raise CallFailed(
            FailureReason.TOO_LONG, f"{len(ids)} tokens and up to {limit} more exceed the {room} that the model holds"
        )
    return ids


def _templated(tokenizer: Any, turns: Sequence[Mapping[str, str]]) -> str:
    from jinja2 import TemplateError

    merged = list(turns)
    if turns[0]["role"] == "system":  # some models know no such turn: it stands before the first of the user's
        merged = [{**turns[1], "content": "\n\n".join([turns[0]["content"], turns[1]["content"]])}, *turns[2:]]
    for given in (list(turns), merged):
        try:
            text: str = tokenizer.apply_chat_template(given, tokenize=False, add_generation_prompt=True)
            return text
        except TemplateError as error:
            refusal = str(error)
    raise CallFailed(FailureReason.REFUSED, f"the chat template refuses: {refusal}")


# How a token is drawn.


class SeededDraw:
    """Takes the next token of each row; a logits processor of `transformers`, to be used without its own sampling.

    Rows have all of the sampling in common but their seeds. A number from [0, 1) is drawn per row and step and looked
    up in the cumulative distribution after the library's temperature and top-p, so that a seed draws the same on every
    device.
    """

    def __init__(self, rows: Sequence[_Row], device: str) -> None:
        import torch
        from transformers import TemperatureLogitsWarper, TopPLogitsWarper

        how = rows[0].request.sampling
        numbers = []
        for seed in (row.request.sampling.seed_of(row.sample) for row in rows):
            generator = torch.Generator()
            if seed is None:
                generator.seed()
            else:
                generator.manual_seed(seed)
            numbers.append(torch.rand(how.max_tokens, generator=generator, dtype=torch.float64))
        self._numbers = torch.stack(numbers).to(device)
        self._warpers: list[Any] = [TemperatureLogitsWarper(float(how.temperature))] * (how.temperature != 1)
        self._warpers += [TopPLogitsWarper(how.top_p)] * (how.top_p < 1)
        self._step = 0

    def __call__(self, ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Scores of shape [rows, vocabulary] in which only the token taken is possible."""
        import torch

        warped = scores.float()
        for warper in self._warpers:
            warped = warper(ids, warped)
        heap = warped.softmax(dim=-1).cumsum(dim=-1, dtype=torch.float64)
        numbers = self._numbers[:, self._step : self._step + 1] * heap[:, -1:]
        chosen = torch.searchsorted(heap, numbers, right=True).clamp(max=scores.shape[-1] - 1)
        self._step += 1
        return torch.full_like(scores, -torch.inf).scatter_(1, chosen, 0.0)
