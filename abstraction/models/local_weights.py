"""The loader of weights on this machine: their place and identity, and batches that fit into memory."""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from abstraction.errors import ModelError
from abstraction.models.spec import LocalScoreSettings, LocalSettings
from kg.base.files import sha256_of
from kg.base.packages import install_hint

LONGEST = 512  # tokens of a text where neither the model nor its tokenizer names a limit
HUB_WAIT = 5.0  # seconds for the hub to answer
FIRST_BATCH = 16  # items; doubled while they fit into memory
_LARGEST_GPU_BATCH = 4096  # items
AGAIN = 16  # batches at the size that fits before a greater one is tried again: one long text is no measure of the rest
_NO_LIMIT = 1_000_000  # tokens; tokenizers without a limit give a far greater number
_BEHIND_PADDING = ("roberta", "camembert", "mpnet", "longformer")  # positions begin behind the padding token's id
T = TypeVar("T")
R = TypeVar("R")


class LocalWeights:
    """A checkpoint by folder or by its name on the Hugging Face hub. The weights are read at the first use."""

    # A CPU runs out of memory without an error to catch; and more texts at once cost padding and gain nothing.
    largest_cpu_batch = 16  # items

    def __init__(
        self, place: Path | str, load: Callable[[LocalWeights], Any], settings: LocalSettings | None = None
    ) -> None:
        """`load` returns the model for these weights; their `loading_options` are arguments that every loader takes.

        Raises ModelError for a place without a model, a device that is not there, or where a library is missing.
        """
        self.place = str(place)
        self.settings = settings or LocalSettings()
        self._load = load
        self._is_folder = bool(self.place) and Path(place).is_dir()
        self.offline = self._is_folder or self._must_use_cached_copy()  # before libraries that take seconds to load
        self.device = resolve_device(self.settings.device)
        if self._is_folder and not any((Path(place) / name).is_file() for name in ("config.json", "modules.json")):
            raise ModelError(
                f"local:{place}: no config.json there; name a folder with a model as transformers saves it"
                " (`hf download NAME --local-dir FOLDER` fetches one)"
            )
        self._size = self.settings.batch or FIRST_BATCH
        self._pause, self._left = AGAIN, 0
        self._most = _LARGEST_GPU_BATCH if self.device.startswith("cuda") else self.largest_cpu_batch

    def _must_use_cached_copy(self) -> bool:
        """Whether to use the copy on this machine, because the hub cannot be reached. Raises ModelError for a name
        without a model.

        The hub is asked once and briefly: its libraries try for half a minute to reach one that is away.
        """
        fetched = False
        try:
            from huggingface_hub import HfApi, try_to_load_from_cache

            fetched = isinstance(try_to_load_from_cache(self.place, "config.json"), str)
            HfApi().model_info(self.place, timeout=HUB_WAIT)
        except Exception as error:  # no name of the hub's, no such model, no connection: of several libraries
            if not fetched:
                raise ModelError(
                    f"local:{self.place}: no such folder, and no model to be had from the hub ({_first_line(error)});"
                    " name a folder with a model, or one on the hub as OWNER/NAME"
                ) from error
            return True
        return False

    @cached_property
    def config(self) -> Any:
        """The checkpoint's configuration."""
        with self._translating_errors("its configuration"):
            from transformers import AutoConfig

            return AutoConfig.from_pretrained(self.place, local_files_only=self.offline)

    @cached_property
    def identity(self) -> Mapping[str, Any]:
        """All that scores depend on here; the batch is no part of it (see docs/reference/models.md)."""
        weights: dict[str, Any]
        if self._is_folder:
            weights = {"weights": _folder_hash(Path(self.place))}
        else:
            weights = {"name": self.place, "revision": getattr(self.config, "_commit_hash", None)}
        own = getattr(self.config, "dtype", None) if self.settings.dtype == "auto" else self.settings.dtype
        dtype = str(own or "auto").removeprefix("torch.")
        return {"kind": "local", **weights, "device": self.device.split(":")[0], "dtype": dtype}

    @property
    def loading_options(self) -> dict[str, Any]:
        """The arguments of every `from_pretrained`."""
        return {"dtype": self.settings.dtype, "local_files_only": self.offline}

    @cached_property
    def model(self) -> Any:
        """The model, on its device and set for inference; loaded at the first use."""
        with self._translating_errors("the model"):
            return self._load(self)

    @cached_property
    def tokenizer(self) -> Any:
        """The checkpoint's tokenizer, with a padding token."""
        with self._translating_errors("its tokenizer"):
            from transformers import AutoTokenizer

            tokenizer = AutoTokenizer.from_pretrained(self.place, local_files_only=self.offline)
        if tokenizer.pad_token is None:
            tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
        return tokenizer

    @contextmanager
    def _translating_errors(self, loaded_part: str) -> Iterator[None]:
        """Turn errors of libraries and of the GPU into one sentence with the remedy, and hide progress bars of
        loading.
        """
        from transformers.utils import logging

        bars, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
        logging.disable_progress_bar()
        if level == logging.WARNING:  # the default; whoever asks for more gets more
            logging.set_verbosity_error()
        try:
            yield
        except ModelError:
            raise
        except Exception as error:
            if is_out_of_memory(error):
                raise ModelError(
                    f"local:{self.place} does not fit into the memory of {self.device}: "
                    "give dtype=bfloat16, another device=, or a smaller model"
                ) from error
            cause = " ".join(str(error).split())[:300]
            raise ModelError(f"local:{self.place}: {loaded_part} cannot be loaded on {self.device}: {cause}") from error
        finally:
            logging.set_verbosity(level)
            if bars:
                logging.enable_progress_bar()

    @property
    def max_positions(self) -> int | None:
        """The most tokens that the model takes, of an encoder-decoder on each side; None where its configuration gives
        no limit.
        """
        text = self.config.get_text_config()
        held = getattr(text, "max_position_embeddings", None)
        if not isinstance(held, int) or held <= 0:
            return None
        behind = any(name in text.model_type for name in _BEHIND_PADDING)
        return held - text.pad_token_id - 1 if behind else held

    def text_token_limit(self, tokenizer_limit: object = None) -> int:
        """The most tokens of a text that the model is given, special ones included."""
        asked = self.settings.longest if isinstance(self.settings, LocalScoreSettings) else None
        named = (tokenizer_limit, asked, self.max_positions)
        limits = [limit for limit in named if isinstance(limit, int) and 0 < limit < _NO_LIMIT]
        return min(limits, default=LONGEST)

    # Batches.

    @property
    def items_per_call(self) -> int:
        """The number of items to give in one call, so that batches are full and of like length."""
        return 16 * self._size

    def run_in_batches(
        self, items: Sequence[T], run: Callable[[Sequence[T], int], Sequence[R]], *, rounds: int = 1
    ) -> Iterator[tuple[Sequence[T], Sequence[R] | None]]:
        """Yield parts of the items, in order, each with the result of `run`; None for a single item that memory cannot
        hold.

        `run(part, batch)` gets up to `rounds` batches at a time. With batch=auto a batch that went well is followed by
        one of twice the size; one that memory cannot hold is halved; a greater one is tried later, ever more rarely.
        """
        import torch

        at = 0
        while at < len(items):
            part = items[at : at + self._size * rounds]
            done = self._run_if_it_fits(run, part)
            # After the `except`: inside it the error would keep the tensors of the failed batch.
            if done is None:
                gc.collect()
                if self.device.startswith("cuda"):
                    torch.cuda.empty_cache()
                if self._size > 1 and len(part) > 1:
                    self._size = max(1, min(self._size, len(part)) // 2)
                    self._pause, self._left = self._pause * (1 if self._left else 2), self._pause
                    continue
                if len(part) > 1:
                    rounds = 1
                    continue
            elif self.settings.batch is None and len(part) >= self._size:
                if self._left:
                    self._left -= 1
                else:
                    self._size = min(2 * self._size, self._most)
            at += len(part)
            yield part, done

    def _run_if_it_fits(self, run: Callable[[Sequence[T], int], Sequence[R]], part: Sequence[T]) -> Sequence[R] | None:
        import torch

        try:
            with torch.inference_mode():
                return run(part, self._size)
        except Exception as error:
            if is_out_of_memory(error):
                return None
            if any(word in str(error) for word in ("CUDA", "CUBLAS", "not implemented for")):
                raise ModelError(
                    f"local:{self.place}: {self.device} failed: {_first_line(error)}; give another device= or dtype="
                ) from error
            raise

    def run_on_each(self, items: Sequence[T], run: Callable[[Sequence[T], int], Sequence[R]]) -> list[R]:
        """The results of `run` for each item, in order. Raises ModelError for an item that memory cannot hold."""
        results: list[R] = []
        for _, done in self.run_in_batches(items, run, rounds=16):
            if done is None:
                raise ModelError(
                    f"local:{self.place}: one text does not fit into the memory of {self.device}: give longest=, or a"
                    " smaller dtype="
                )
            results += done
        return results

    def close(self) -> None:
        """Release the weights; the next use reads them again."""
        self.__dict__.pop("model", None)


def load_causal_model(weights: LocalWeights) -> Any:
    """A causal language model, or an encoder-decoder (T5, BART), as `LocalWeights` loads it."""
    import transformers

    loader = "AutoModelForSeq2SeqLM" if weights.config.is_encoder_decoder else "AutoModelForCausalLM"
    model, loading = getattr(transformers, loader).from_pretrained(
        weights.place, **weights.loading_options, output_loading_info=True
    )
    if lacking := ", ".join(sorted(loading["missing_keys"])):  # they would be random numbers
        raise ModelError(
            f"local:{weights.place} has no weights for {lacking[:200]}: it was not trained as "
            f"{loader.removeprefix('AutoModelFor')}; name a checkpoint that was"
        )
    return model.to(weights.device).eval()


def resolve_device(setting: str) -> str:
    """The device that a setting means. Raises ModelError where it is not there, or a library is missing."""
    try:
        import torch
        import transformers  # noqa: F401
    except ImportError as error:
        raise ModelError(f"a model on this machine needs {error.name}: {install_hint('models')}") from error
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if setting == "auto":
        return "cuda" if count else "cpu"
    if setting.startswith("cuda") and int(setting[5:] or 0) >= count:
        there = ", ".join(f"cuda:{at}" for at in range(count)) or "no GPU that torch finds"
        raise ModelError(f"device={setting}: this machine has {there}; give another, or leave it out")
    return setting


def is_out_of_memory(error: BaseException) -> bool:
    """Whether the memory of the GPU or of the machine was too small, by the messages of torch's several allocators."""
    import torch

    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    words = ("out of memory", "can't allocate memory", "not enough memory", "CUBLAS_STATUS_ALLOC_FAILED")
    return isinstance(error, RuntimeError) and any(word in str(error) for word in words)


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]


def _folder_hash(path: Path) -> str:
    """Hex SHA-256 over names and contents of a folder's files: weights, tokenizer, template, pooling and settings."""
    whole = hashlib.sha256()
    for file in sorted(path.rglob("*")):
        name = file.relative_to(path)
        hidden = any(part.startswith(".") for part in name.parts)
        if file.is_file() and not hidden and not name.name.endswith(".run.json"):  # how it was made: dates and places
            whole.update(f"{name.as_posix()}\0{sha256_of(file)}\n".encode())
    return whole.hexdigest()
