"""A chat model in a folder on this machine, run with `transformers`, in batches, on the processor or a GPU."""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from abstraction.errors import ModelError
from abstraction.models import wire
from abstraction.models.chat_model import Completion, FailureReason, Request, Result, TokenLogprob, Totals
from abstraction.models.fan_out import CallFailed, RequestTask
from abstraction.models.ledger import Call, Ledger
from kg.extras import install_hint
from kg.files import sha256_of

if TYPE_CHECKING:
    import torch

    from abstraction.models.chat_model import Request


# How a local model's next token is drawn: row by row, each with its own temperature, top-p and seed.
#
# The answer of a row depends on its own seed alone, whatever rows share its batch, up to the rounding of the model's
# own arithmetic. A number from [0, 1) is drawn per row and step and looked up in the cumulative distribution, so that
# the same seed draws the same on every device. Nucleus sampling: Holtzman et al. 2020, section 3.1: the smallest set
# of likeliest tokens whose probabilities add up to at least top-p.


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


# The model.


MODELS_HELP = f"a local model needs transformers and torch: {install_hint('models')}"
_BATCHES = 4  # batches that are taken at a time and sorted by length, so that rows of a batch are alike


@dataclass(frozen=True, kw_only=True, slots=True)
class LocalSettings:
    """`device`: auto (a GPU where there is one), cpu, cuda or cuda:1. `batch`: answers generated together.

    `dtype`: auto (as the weights are), float32, bfloat16 or float16.
    """

    device: str = "auto"
    dtype: str = "auto"
    batch: int = 16


class LocalModel:
    """A causal language model with its tokenizer. Weights are read when the first answer is lacking."""

    def __init__(
        self,
        path: Path | str,
        *,
        settings: LocalSettings | None = None,
        cache: Path | str | None = None,
        log: Path | str | None = None,
    ) -> None:
        """Raises ModelError for a folder without a model, or where a library is missing."""
        self.path = Path(path)
        self.settings = settings or LocalSettings()
        if not (self.path / "config.json").is_file():
            raise ModelError(
                f"local:{path}: no config.json there; name a folder with a model as transformers saves it"
                " (`hf download NAME --local-dir FOLDER` fetches one)"
            )
        self.device = device_of(self.settings.device)
        self.identity: Mapping[str, Any] = {
            "kind": "local",
            "weights": folder_hash(self.path),
            "device": self.device.split(":")[0],
            "dtype": self.settings.dtype,
        }
        self._ledger = Ledger(self.identity, cache=cache, log=log)
        self._engine: _Engine | None = None

    @property
    def totals(self) -> Totals:
        """What was done until now."""
        return self._ledger.totals

    def generate(self, requests: Iterable[Request]) -> Iterator[Result]:
        """As `ChatModel.generate`. A request that does not fit into the model, or memory, is a Failure."""
        source = iter(requests)
        while tasks := self._window(source):
            rows = self._rows([task for _, task in tasks])
            rows.sort(key=lambda row: (-len(row[1].prompt), -row[1].request.sampling.max_tokens))
            for at in range(0, len(rows), self.settings.batch):
                self._batch(rows[at : at + self.settings.batch])
            for request, task in tasks:
                yield task.result(request)

    def _window(self, source: Iterator[Request]) -> list[tuple[Request, RequestTask]]:
        """Requests for some batches, those that ask the same with one task."""
        tasks: list[tuple[Request, RequestTask]] = []
        by_key: dict[str, RequestTask] = {}
        lacking = 0
        most = _BATCHES * self.settings.batch
        while lacking < most and len(tasks) < 4 * most:
            request = next(islice(source, 1), None)
            if request is None:
                break
            key = request.key()
            task = by_key.get(key)
            if task is None or len(task.completions) < request.sampling.n:
                completions = self._ledger.known(request, key)
                lacking += completions.count(None) - (0 if task is None else task.completions.count(None))
                if task is None:
                    task = by_key[key] = RequestTask(request, key, completions)
                else:
                    task.request, task.completions = request, completions
            tasks.append((request, task))
        return tasks

    def _rows(self, tasks: Sequence[RequestTask]) -> list[tuple[RequestTask, GeneratedAnswer]]:
        rows: list[tuple[RequestTask, GeneratedAnswer]] = []
        for task in dict.fromkeys(tasks):
            samples = [sample for sample, completion in enumerate(task.completions) if completion is None]
            if not samples:
                continue
            try:
                prompt = self._loaded().prompt(task.request)
            except CallFailed as failure:
                task.failure = failure
                continue
            rows += [(task, GeneratedAnswer(task.request, task.key, sample, prompt)) for sample in samples]
        return rows

    def _loaded(self) -> _Engine:
        if self._engine is None:
            self._engine = _Engine(self.path, self.device, self.settings.dtype)
        return self._engine

    def _batch(self, rows: Sequence[tuple[RequestTask, GeneratedAnswer]]) -> None:
        import torch

        begun = time.monotonic()
        try:
            generated = self._loaded().generate([row for _, row in rows])
        except torch.OutOfMemoryError as error:
            torch.cuda.empty_cache()
            if len(rows) > 1:
                self._batch(rows[: len(rows) // 2])
                self._batch(rows[len(rows) // 2 :])
                return
            task, row = rows[0]
            task.failure = CallFailed(FailureReason.OUT_OF_MEMORY, f"{self.path}: {str(error)[:200]}")
            self._ledger.failed(self._call(row, None, begun, str(task.failure)))
            return
        for (task, row), (completion, tokens) in zip(rows, generated, strict=True):
            task.completions[row.sample] = completion
            received = wire.response_of([completion], prompt_tokens=len(row.prompt), completion_tokens=tokens)
            self._ledger.answered(
                self._call(row, received, begun),
                [completion],
                prompt_tokens=len(row.prompt),
                completion_tokens=tokens,
            )

    def _call(self, row: GeneratedAnswer, received: object, begun: float, error: str | None = None) -> Call:
        return Call(
            request=row.request,
            key=row.key,
            samples=range(row.sample, row.sample + 1),
            attempt=1,
            sent=wire.body_of(row.request, model=str(self.path), first=row.sample),
            status=None,
            received=received,
            seconds=time.monotonic() - begun,
            error=error,
        )

    def close(self) -> None:
        """Release the weights and files."""
        self._engine = None
        self._ledger.close()


class _Engine:
    """The loaded weights and tokenizer."""

    def __init__(self, path: Path, device: str, dtype: str) -> None:
        from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig
        from transformers.utils import logging

        bars = logging.is_progress_bar_enabled()
        logging.disable_progress_bar()
        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(path, local_files_only=True)
            model: Any = AutoModelForCausalLM.from_pretrained(path, dtype=dtype, local_files_only=True)
        except (OSError, ValueError, ImportError) as error:
            raise ModelError(f"local:{path} cannot be loaded: {' '.join(str(error).split())[:300]}") from error
        finally:
            if bars:
                logging.enable_progress_bar()
        self._model = model.to(device).eval()
        self._device = device
        config = model.generation_config
        eos = config.eos_token_id if config.eos_token_id is not None else self._tokenizer.eos_token_id
        self._eos: list[int] = [] if eos is None else eos if isinstance(eos, list) else [eos]
        pad = self._tokenizer.pad_token_id
        self._pad: int = pad if pad is not None else self._eos[0] if self._eos else 0
        # What else the model's own settings say of sampling must not be mixed with what was asked for.
        self._model.generation_config = GenerationConfig(eos_token_id=self._eos or None, pad_token_id=self._pad)
        room = getattr(model.config.get_text_config(), "max_position_embeddings", None)
        self._room: int | None = room if isinstance(room, int) and room > 0 else None
        # Text from data must not be read as the marks that part one turn from the next.
        added = [str(token) for token in self._tokenizer.added_tokens_decoder.values() if token.special]
        self._marks = sorted({*added, *self._tokenizer.all_special_tokens}, key=len, reverse=True)
        self._decode = Decode(self._tokenizer)

    def prompt(self, request: Request) -> list[int]:
        """The conversation in the model's own format, as token ids. Raises CallFailed for one that does not fit."""
        turns = [{"role": message.role, "content": self._harmless(message.content)} for message in request.messages]
        ids = list(self._tokenizer(self._text(turns, request), add_special_tokens=False)["input_ids"])
        limit = request.sampling.max_tokens
        if self._room is not None and len(ids) + limit > self._room:
            raise CallFailed(
                FailureReason.TOO_LONG,
                f"{len(ids)} tokens and up to {limit} more exceed the {self._room} that the model holds",
            )
        return ids

    def _text(self, turns: list[dict[str, str]], request: Request) -> str:
        if not self._tokenizer.chat_template:  # a model that was never taught to converse
            return "\n\n".join(turn["content"] for turn in turns) + "\n\n"
        from jinja2 import TemplateError

        try:
            return self._templated(turns)
        except TemplateError as error:
            system = [turn["content"] for turn in turns if turn["role"] == "system"]
            other_turns = [turn for turn in turns if turn["role"] != "system"]
            if not system:
                raise CallFailed(FailureReason.REFUSED, f"the chat template refuses: {error}") from error
            # Some models know no system's turn: it stands before the first of the user's.
            other_turns[0] = other_turns[0] | {"content": "\n\n".join([*system, other_turns[0]["content"]])}
            try:
                return self._templated(other_turns)
            except TemplateError as again:
                raise CallFailed(FailureReason.REFUSED, f"the chat template refuses: {again}") from again

    def _templated(self, turns: list[dict[str, str]]) -> str:
        text: str = self._tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        return text

    def _harmless(self, text: str) -> str:
        for mark in self._marks:
            text = text.replace(mark, f"{mark[0]} {mark[1:]}")
        return text

    def generate(self, rows: Sequence[GeneratedAnswer]) -> list[tuple[Completion, int]]:
        """For each row its completion, and how many tokens were made for it."""
        import torch

        longest = max(len(row.prompt) for row in rows)
        ids = torch.full((len(rows), longest), self._pad, dtype=torch.long)
        mask = torch.zeros_like(ids)
        for at, row in enumerate(rows):
            ids[at, longest - len(row.prompt) :] = torch.tensor(row.prompt, dtype=torch.long)
            mask[at, longest - len(row.prompt) :] = 1
        drawing = TokenDrawing(rows, self._device)
        ending = Ending(rows, longest, self._decode)
        with torch.inference_mode():
            out = self._model.generate(
                input_ids=ids.to(self._device),
                attention_mask=mask.to(self._device),
                do_sample=False,
                max_new_tokens=max(row.request.sampling.max_tokens for row in rows),
                logits_processor=[drawing],
                stopping_criteria=[ending],
            )
        tokens = out[:, longest:].tolist()
        return [self._completion(row, at, tokens[at][: ending.lengths[at]], drawing) for at, row in enumerate(rows)]

    def _completion(
        self, row: GeneratedAnswer, at: int, generated: list[int], drawing: TokenDrawing
    ) -> tuple[Completion, int]:
        how = row.request.sampling
        end = next((place for place, token in enumerate(generated) if token in self._eos), None)
        tokens = generated if end is None else generated[:end]
        text = self._decode(tokens)
        stops = [place for place in (text.find(stop) for stop in how.stop) if place >= 0]
        ended = end is not None or bool(stops)
        counted = len(tokens) if end is None else end + 1
        if stops:
            text = text[: min(stops)]
        completion = Completion(
            text=text,
            finish_reason="stop" if ended else "length",
            seed=how.seed_of(row.sample),
            logprobs=None if how.logprobs is None else self._logprobs(tokens, at, how.logprobs, drawing),
        )
        return completion, counted

    def _logprobs(self, tokens: list[int], at: int, most: int, drawing: TokenDrawing) -> tuple[TokenLogprob, ...]:
        logprobs: list[TokenLogprob] = []
        for step, token in enumerate(tokens):
            values, ids = drawing.likeliest[step]
            top = zip(values[at, :most].tolist(), ids[at, :most].tolist(), strict=True)
            logprobs.append(
                TokenLogprob(
                    token=self._decode([token]),
                    logprob=float(drawing.taken[step][at]),
                    top=tuple(TokenLogprob(token=self._decode([other]), logprob=value) for value, other in top),
                )
            )
        return tuple(logprobs)


def folder_hash(path: Path) -> str:
    """Hex SHA-256 over names and contents of a folder's files: weights, tokenizer, template and settings."""
    whole = hashlib.sha256()
    for file in sorted(path.iterdir()):
        if file.is_file() and not file.name.startswith("."):
            whole.update(f"{file.name}\0{sha256_of(file)}\n".encode())
    return whole.hexdigest()


def device_of(wanted: str) -> str:
    """The device that a setting means. Raises ModelError where it is not there, or a library is missing."""
    try:
        import torch
        import transformers  # noqa: F401
    except ImportError as error:
        raise ModelError(f"{MODELS_HELP} (no {error.name})") from error
    there = torch.cuda.is_available()
    if wanted == "auto":
        return "cuda" if there else "cpu"
    if wanted.startswith("cuda") and not there:
        raise ModelError(f"device={wanted}: torch finds no GPU here; give device=cpu or leave it out")
    return wanted
