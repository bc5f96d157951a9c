"""Weights and tokenizer of any `transformers` checkpoint, and batches of texts of like length through them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from abstraction.errors import ModelError
from abstraction.models.local import device_of, folder_hash

LONGEST = 512  # tokens of a text where neither the model nor its tokenizer names a limit
_NO_LIMIT = 1_000_000  # what tokenizers without a limit name is far above
_FIRST_POSITIONS = {"camembert", "roberta", "xlm-roberta", "xlm-roberta-xl", "roberta-prelayernorm", "data2vec-text"}
T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, kw_only=True, slots=True)
class WeightSettings:
    """`device`: auto (a GPU where there is one), cpu, cuda or cuda:1. `batch`: texts that go through together.

    `dtype`: auto (as the weights are), float32, bfloat16 or float16. `longest`: tokens of a text, no more than the
    model holds; None for as many.
    """

    device: str = "auto"
    dtype: str = "auto"
    batch: int = 16
    longest: int | None = None


class LocalWeights:
    """A checkpoint by folder or by its name on the Hugging Face hub. The weights are read at the first use."""

    def __init__(self, place: Path | str, *, head: str, settings: WeightSettings | None = None) -> None:
        """`head` is the class of `transformers` that loads it, such as AutoModelForCausalLM.

        Raises ModelError for a place without a model, or where a library is missing.
        """
        self.place = str(place)
        self.settings = settings or WeightSettings()
        self.device = device_of(self.settings.device)
        self._head = head
        self._folder = bool(self.place) and Path(place).is_dir()
        if not self._folder and (Path(place).is_absolute() or self.place.startswith((".", "~")) or not self.place):
            raise ModelError(f"local:{place}: no such folder; name a folder with a model, or one on the hub")
        self.config: Any = self._read("AutoConfig")
        revision = getattr(self.config, "_commit_hash", None)
        self.identity: Mapping[str, Any] = {
            "kind": "local",
            **({"weights": folder_hash(Path(place))} if self._folder else {"name": self.place, "revision": revision}),
            "head": head,
            "device": self.device.split(":")[0],
            "dtype": self.settings.dtype,
            "longest": self.settings.longest,
        }
        self._loaded: tuple[Any, Any] | None = None

    def _read(self, loader: str, **more: Any) -> Any:
        import transformers
        from transformers.utils import logging

        bars = logging.is_progress_bar_enabled()
        logging.disable_progress_bar()
        try:
            return getattr(transformers, loader).from_pretrained(self.place, local_files_only=self._folder, **more)
        except (OSError, ValueError, ImportError, KeyError, RuntimeError) as error:
            cause = " ".join(str(error).split())[:300]
            raise ModelError(f"local:{self.place} cannot be loaded by {loader}: {cause}") from error
        finally:
            if bars:
                logging.enable_progress_bar()

    @property
    def tokenizer(self) -> Any:
        """The checkpoint's own."""
        return self._both()[0]

    @property
    def model(self) -> Any:
        """On its device, for inference."""
        return self._both()[1]

    def _both(self) -> tuple[Any, Any]:
        if self._loaded is None:
            tokenizer = self._read("AutoTokenizer")
            model, loading = self._read(self._head, dtype=self.settings.dtype, output_loading_info=True)
            # A pooling layer that nothing here reads may be missing; any other part would be random numbers.
            lacking = [
                key for key in sorted(loading["missing_keys"]) if self._head != "AutoModel" or "pooler" not in key
            ]
            if lacking:
                raise ModelError(
                    f"local:{self.place} has no weights for {', '.join(lacking)[:200]}: it was not trained as "
                    f"{self._head.removeprefix('AutoModelFor')}; name a checkpoint that was"
                )
            if tokenizer.pad_token_id is None:
                tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
            if model.config.get_text_config().pad_token_id is None:
                model.config.get_text_config().pad_token_id = tokenizer.pad_token_id
            self._loaded = tokenizer, model.to(self.device).eval()
        return self._loaded

    @property
    def room(self) -> int:
        """How many tokens of a text the model is given, special ones among them."""
        text = self.config.get_text_config()
        positions = getattr(text, "max_position_embeddings", None)
        if isinstance(positions, int) and positions > 0:
            # RoBERTa counts positions from the one behind its padding's.
            held = positions - (text.pad_token_id or 0) - 1 if text.model_type in _FIRST_POSITIONS else positions
        else:
            held = _NO_LIMIT
        named = self.tokenizer.model_max_length
        if isinstance(named, int) and named < _NO_LIMIT:
            held = min(held, named)
        if self.settings.longest is not None:
            return min(held, self.settings.longest)
        return held if held < _NO_LIMIT else LONGEST

    def of_each(self, items: Sequence[T], length: Callable[[T], int], run: Callable[[Sequence[T]], list[R]]) -> list[R]:
        """What `run` makes of each item, in their order: in batches of like length, the longest first.

        A batch that memory cannot hold is halved. Raises ModelError for a single item that it cannot hold.
        """
        order = sorted(range(len(items)), key=lambda at: -length(items[at]))
        output_of: dict[int, R] = {}
        for begin in range(0, len(order), self.settings.batch):
            places = order[begin : begin + self.settings.batch]
            output_of.update(zip(places, self._batch([items[at] for at in places], run), strict=True))
        return [output_of[at] for at in range(len(items))]

    def _batch(self, items: Sequence[T], run: Callable[[Sequence[T]], list[R]]) -> list[R]:
        import torch

        try:
            with torch.inference_mode():
                return run(items)
        except torch.OutOfMemoryError as error:
            if len(items) == 1:
                raise ModelError(
                    f"local:{self.place}: one text does not fit into memory; give longest=, or a smaller dtype="
                ) from error
        torch.cuda.empty_cache()
        half = len(items) // 2
        return self._batch(items[:half], run) + self._batch(items[half:], run)

    def pair_logits(
        self, pairs: Sequence[tuple[str, str]], *, cut: Literal["first", "second"] = "first"
    ) -> list[list[float]]:
        """The logits of each pair of texts, as 32-bit floats, under a head of sequence classification.

        A pair that is too long loses the end of the text that `cut` names; where the other alone takes more than half
        of the room, the longer of the two loses its end until both fit.
        """
        return self._logits([self._pair(first, second, cut) for first, second in pairs])

    def _pair(self, first: str, second: str, cut: Literal["first", "second"]) -> Any:
        tokenizer, room = self.tokenizer, self.room
        kept = second if cut == "first" else first
        alone = len(tokenizer(kept, add_special_tokens=False, truncation=True, max_length=room)["input_ids"])
        how = "longest_first" if 2 * alone > room else f"only_{cut}"
        return tokenizer(first, second, truncation=how, max_length=room)

    def text_logits(self, texts: Sequence[str]) -> list[list[float]]:
        """The logits of each text alone; one that is too long loses its end."""
        return self._logits([self.tokenizer(text, truncation=True, max_length=self.room) for text in texts])

    def _logits(self, encoded: Sequence[Any]) -> list[list[float]]:
        tokenizer, model = self._both()

        def run(some: Sequence[Any]) -> list[list[float]]:
            padded = tokenizer.pad([dict(encoding) for encoding in some], padding=True, return_tensors="pt").to(
                self.device
            )
            logits: list[list[float]] = model(**padded).logits.float().cpu().tolist()
            return logits

        return self.of_each(encoded, lambda encoding: len(encoding["input_ids"]), run)

    def close(self) -> None:
        """Release the weights; the next use reads them again."""
        self._loaded = None
