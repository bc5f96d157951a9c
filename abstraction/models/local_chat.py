"""A chat model on this machine: the library's own `generate` in batches, with a static cache on a GPU.

The library also draws the tokens, in each batch from a seed that depends on its first answer: the same requests in the
same batches give the same answers.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from abstraction.errors import ModelError
from abstraction.models.chat_model import (
    Ask,
    Attempt,
    FailureReason,
    NoAnswer,
    OnAttempt,
    Request,
    chat_request_body,
    make_choice,
)
from abstraction.models.local_weights import LocalWeights, load_causal_model
from abstraction.models.spec import LocalSettings

_WINDOW = 4  # batches that are taken at a time and sorted by length, so that rows of a batch are alike
_ROUND = 64  # lengths of prompts and caches on a GPU are multiples of it, so that few shapes are compiled


@dataclass(frozen=True, slots=True)
class _Row:
    """One answer to generate: number `sample` of a request, after `prompt` (token ids)."""

    ask: Ask
    sample: int
    prompt: Sequence[int]

    def settings_shared_in_batch(self) -> tuple[Any, ...]:
        """The settings that rows of one batch share: all of the sampling but the seed, and whether there is one."""
        how = self.ask.request.sampling
        return (how.max_tokens, how.temperature, how.top_p, how.seed is None)


class LocalChat(LocalWeights):
    """A causal language model, or an encoder-decoder, with its tokenizer and its chat template."""

    largest_cpu_batch = 64  # answers: each token's pass over the weights serves them all

    def __init__(self, place: Path | str, settings: LocalSettings | None = None) -> None:
        """Raises ModelError for a place without a model, or where a library is missing."""
        super().__init__(place, load_causal_model, settings)

    def fetch_answers(self, asks: Iterable[Ask], on_attempt: OnAttempt) -> Generator[NoAnswer | None, None, None]:
        """See `AnswerSource.fetch_answers`. A request that exceeds the model or memory has no answer."""
        source = iter(asks)
        while window := list(islice(source, _WINDOW * self.items_per_call // 16)):
            failures: dict[int, NoAnswer] = {}
            rows: list[_Row] = []
            if lacking := [ask for ask in window if ask.samples]:
                prompts = self.prompt_token_ids([ask.request for ask in lacking])
                for ask, prompt in zip(lacking, prompts, strict=True):
                    limit, room = ask.request.sampling.max_tokens, self.max_positions
                    apart = self.config.is_encoder_decoder  # prompt and answer have places of their own
                    if room is not None and (max(len(prompt), limit) if apart else len(prompt) + limit) > room:
                        held = f"{room} that the model holds{' of each' if apart else ''}"
                        why = f"{len(prompt)} tokens and up to {limit} more exceed the {held}"
                        failures[id(ask)] = NoAnswer(FailureReason.TOO_LONG, why)
                    else:
                        rows += [_Row(ask, sample, prompt) for sample in ask.samples]
            rows.sort(key=lambda row: (row.settings_shared_in_batch(), -len(row.prompt)))
            for _, alike in groupby(rows, key=_Row.settings_shared_in_batch):
                self._generate_and_report(list(alike), failures, on_attempt)
            yield from (failures.get(id(ask)) for ask in window)

    def _generate_and_report(self, rows: Sequence[_Row], failures: dict[int, NoAnswer], on_attempt: OnAttempt) -> None:
        begun = time.monotonic()
        for part, done in self.run_in_batches(rows, self._generate_batch):
            seconds = (time.monotonic() - begun) / len(part)
            for at, row in enumerate(part):
                received, error = None if done is None else done[at], None
                if received is None:
                    error = f"{self.place}: one answer does not fit into memory"
                    failures[id(row.ask)] = NoAnswer(FailureReason.OUT_OF_MEMORY, error)
                sent = chat_request_body(row.ask.request, [row.sample], model=self.place)
                on_attempt(row.ask, [row.sample], Attempt(sent=sent, received=received, seconds=seconds, error=error))
            begun = time.monotonic()

    def _generate_batch(self, rows: Sequence[_Row], batch: int) -> list[dict[str, Any]]:
        """One batch through the library's `generate`; each answer in the form of chat completions."""
        import torch
        from transformers import GenerationConfig

        model, tokenizer = self.model, self.tokenizer
        how, on_gpu = rows[0].ask.request.sampling, self.device.startswith("cuda")
        # On a GPU a short batch is filled up with its last row to a power of 2: each shape is compiled once.
        size = min(batch, 1 << (len(rows) - 1).bit_length())
        filled = [*rows, *([rows[-1]] * (size - len(rows) if on_gpu else 0))]
        side = "right" if self.config.is_encoder_decoder else "left"  # places are counted from the first token
        padded = tokenizer.pad(
            {"input_ids": [list(row.prompt) for row in filled]}, padding_side=side, return_tensors="pt",
            pad_to_multiple_of=_ROUND if on_gpu and self.max_positions is None else None,
        ).to(self.device)  # fmt: skip
        length = padded["input_ids"].shape[1]
        own = model.generation_config
        eos = own.eos_token_id if own.eos_token_id is not None else tokenizer.eos_token_id
        ends = [] if eos is None else list(eos) if isinstance(eos, list) else [eos]
        drawn: dict[str, Any] = {"temperature": float(how.temperature), "top_p": how.top_p, "top_k": 0}
        settings = GenerationConfig(
            do_sample=how.temperature > 0, **(drawn if how.temperature > 0 else {}), max_new_tokens=how.max_tokens,
            eos_token_id=ends or None, pad_token_id=tokenizer.pad_token_id,
            decoder_start_token_id=own.decoder_start_token_id, cache_implementation="static" if on_gpu else None,
            max_cache_len=-(-(length + how.max_tokens) // (4 * _ROUND)) * 4 * _ROUND if on_gpu else None,
        )  # fmt: skip
        begin = 1 if self.config.is_encoder_decoder else length
        # Settings of the model's own, such as a penalty for repetition, must not be mixed with what was asked for.
        model.generation_config = settings
        try:
            with torch.random.fork_rng([self.device] if self.device != "cpu" else []):
                if how.seed is not None:
                    torch.manual_seed(int(rows[0].ask.key[:12], 16) + rows[0].sample)
                out = model.generate(
                    input_ids=padded["input_ids"], attention_mask=padded["attention_mask"], generation_config=settings
                )
        finally:
            model.generation_config = own
        found = []
        for row, tokens in zip(rows, out[:, begin:].tolist(), strict=False):
            end = next((at for at, token in enumerate(tokens) if token in ends), None)
            text = tokenizer.decode(tokens[:end], skip_special_tokens=True, clean_up_tokenization_spaces=False)
            usage = {"prompt_tokens": len(row.prompt), "completion_tokens": len(tokens) if end is None else end + 1}
            found.append({"choices": [make_choice(text, "length" if end is None else "stop")], "usage": usage})
        return found

    def prompt_token_ids(self, requests: Sequence[Request]) -> list[list[int]]:
        """Conversations in the model's own format, as token ids. Raises ModelError where it knows no form of one."""
        conversations = [[{"role": m.role, "content": m.content} for m in request.messages] for request in requests]
        whole = False
        if self.tokenizer.chat_template:
            texts = _apply_chat_template(self.tokenizer, conversations)
        else:  # without a chat template the prompt is one text: whole for an encoder-decoder, to be continued by others
            whole = self.config.is_encoder_decoder
            end = "" if whole else "\n\n"
            texts = ["\n\n".join(turn["content"] for turn in turns) + end for turns in conversations]
        ids: list[list[int]] = self.tokenizer(texts, add_special_tokens=whole)["input_ids"]
        return ids


def _apply_chat_template(tokenizer: Any, conversations: list[list[dict[str, str]]]) -> list[str]:
    from jinja2 import TemplateError

    def merge_system_turn(turns: list[dict[str, str]]) -> list[dict[str, str]]:
        """Messages for models without a system turn: its text goes before the user's first turn."""
        if turns[0]["role"] != "system":
            return turns
        return [{**turns[1], "content": f"{turns[0]['content']}\n\n{turns[1]['content']}"}, *turns[2:]]

    for given in (conversations, [merge_system_turn(turns) for turns in conversations]):
        try:
            texts: list[str] = tokenizer.apply_chat_template(given, tokenize=False, add_generation_prompt=True)
            return texts
        except TemplateError as error:
            refusal = error
    raise ModelError(f"the model's chat template refuses: {refusal}") from refusal
