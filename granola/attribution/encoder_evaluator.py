"""A small encoder trained on a benchmark: from a checkpoint, or from scratch with a tokenizer of the training texts."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

from abstraction.models.local import folder_hash
from granola.attribution.attribution_samples import AttributionSample
from granola.attribution.categories import Category
from granola.attribution.evaluators import AttributionJudgement, of_category
from granola.errors import UsageError
from kg.extras import install_hint

NEEDED = f"a trained encoder needs transformers and torch: {install_hint('models')}"
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


@dataclass(frozen=True, kw_only=True, slots=True)
class EncoderSettings:
    """How an encoder is trained. `checkpoint` None: from scratch, with `layers`, `width`, and a vocabulary of its own.

    `longest`: tokens of a pair, evidence cut first. `threads`: of the processor; one gives the same weights anywhere.
    """

    checkpoint: str | None = None
    epochs: int = 3
    batch: int = 32
    rate: float = 5e-4
    longest: int = 128
    layers: int = 2
    width: int = 128
    vocabulary: int = 8_000
    seed: int = 0
    threads: int | None = None


class EncoderEvaluator:
    """Question and statement as the first text, citations as the second, under a head with the categories."""

    def __init__(self, folder: Path, *, batch: int = 64, longest: int = 256) -> None:
        """Load it. Raises UsageError where there is none."""
        if find_spec("transformers") is None or find_spec("torch") is None:
            raise UsageError(NEEDED)
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            self._model: Any = AutoModelForSequenceClassification.from_pretrained(folder, local_files_only=True).eval()
            labels = self._model.config.id2label
            self._classes = tuple(Category(labels[at]) for at in sorted(labels))
        except (OSError, ValueError, ImportError) as error:
            raise UsageError(f"{folder} is no trained evaluator: {' '.join(str(error).split())[:200]}") from error
        self._batch, self._longest = batch, longest
        self._hash = folder_hash(folder)[:8]

    @property
    def classes(self) -> tuple[Category, ...]:
        """Those of its head."""
        return self._classes

    def signature(self) -> str:
        """`encoder:HASH`, of its files."""
        return f"encoder:{self._hash}"

    def judged(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionJudgement]:
        """As `AttributionEvaluator.judged`."""
        import torch

        source = iter(samples)
        while batch := list(islice(source, self._batch)):
            with torch.inference_mode():
                logits = self._model(**_encoded(self._tokenizer, batch, self._longest)).logits
            for sample, at in zip(batch, logits.argmax(dim=-1).tolist(), strict=True):
                yield of_category(sample, self._classes[at])


def train_encoder(samples: Sequence[AttributionSample], folder: Path, settings: EncoderSettings) -> float:
    """Train on samples with categories and save to a folder; the mean loss of the last epoch. Raises UsageError."""
    if find_spec("transformers") is None or find_spec("torch") is None:
        raise UsageError(NEEDED)
    import torch

    labelled = [sample for sample in samples if sample.category is not None]
    if len({sample.category for sample in labelled}) < 2:
        raise UsageError("samples of two categories or more are wanted to train on")
    before = torch.get_num_threads()
    torch.set_num_threads(settings.threads or before)
    torch.manual_seed(settings.seed)
    try:
        tokenizer, model = _begun(labelled, settings)
        loss = _trained(tokenizer, model.train(), labelled, settings)
    finally:
        torch.set_num_threads(before)
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder, safe_serialization=True)
    return loss


def _begun(samples: Sequence[AttributionSample], settings: EncoderSettings) -> tuple[Any, Any]:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer, BertConfig
    from transformers import BertForSequenceClassification as Encoder

    labels = {"id2label": dict(enumerate(map(str, Category))), "label2id": {str(c): i for i, c in enumerate(Category)}}
    if settings.checkpoint is not None:
        try:
            tokenizer = AutoTokenizer.from_pretrained(settings.checkpoint)
            model = AutoModelForSequenceClassification.from_pretrained(
                settings.checkpoint, num_labels=len(Category), ignore_mismatched_sizes=True, **labels
            )
        except (OSError, ValueError) as error:
            raise UsageError(f"{settings.checkpoint} cannot be loaded: {' '.join(str(error).split())[:200]}") from error
        return tokenizer, model
    tokenizer = _tokenizer(samples, settings)
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=settings.width, num_hidden_layers=settings.layers,
        num_attention_heads=max(1, settings.width // 32), intermediate_size=4 * settings.width,
        max_position_embeddings=settings.longest, num_labels=len(Category), **labels,
    )  # fmt: skip
    return tokenizer, Encoder(config)


def _tokenizer(samples: Sequence[AttributionSample], settings: EncoderSettings) -> Any:
    """Frequent words whole, letters for the rest: the same from the same texts, which trained merges are not."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    normal, cut = normalizers.BertNormalizer(lowercase=True), pre_tokenizers.BertPreTokenizer()
    counts: Counter[str] = Counter()
    for sample in samples:
        for text in (sample.question, sample.statement, *sample.citations):
            counts.update(word for word, _ in cut.pre_tokenize_str(normal.normalize_str(text)))
    letters = sorted({letter for word in counts for letter in word})
    words = sorted(counts, key=lambda word: (-counts[word], word))
    room = max(0, settings.vocabulary - len(_SPECIAL) - 2 * len(letters))
    entries = [*_SPECIAL, *letters, *(f"##{letter}" for letter in letters), *words[:room]]
    vocabulary = {entry: at for at, entry in enumerate(dict.fromkeys(entries))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normal, cut
    first, last = _SPECIAL.index("[CLS]"), _SPECIAL.index("[SEP]")
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", last), ("[CLS]", first))
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        mask_token="[MASK]",
    )  # fmt: skip


def _encoded(tokenizer: Any, samples: Sequence[AttributionSample], longest: int) -> Any:
    first = [f"{sample.question} {sample.statement}" for sample in samples]
    second = [" ".join(sample.citations) for sample in samples]
    return tokenizer(first, second, truncation="longest_first", max_length=longest, padding=True, return_tensors="pt")


def _trained(tokenizer: Any, model: Any, samples: Sequence[AttributionSample], settings: EncoderSettings) -> float:
    import torch

    numbers = {category: at for at, category in enumerate(Category)}
    steps = settings.epochs * -(-len(samples) // settings.batch)
    optimiser = torch.optim.AdamW(model.parameters(), lr=settings.rate)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: max(0.0, 1 - step / max(1, steps)))
    drawing = random.Random(f"epochs {settings.seed}")
    losses: list[float] = []
    for _ in range(settings.epochs):
        order = list(samples)
        drawing.shuffle(order)
        losses = []
        for start in range(0, len(order), settings.batch):
            batch = order[start : start + settings.batch]
            labels = torch.tensor([numbers[sample.category] for sample in batch if sample.category is not None])
            loss = model(**_encoded(tokenizer, batch, settings.longest), labels=labels).loss
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            losses.append(loss.item())
    model.eval()
    return sum(losses) / len(losses)
