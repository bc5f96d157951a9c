"""The fine-tuned evaluator: an encoder trained with the `Trainer` of transformers on labelled samples.

Its folder stores the training settings with the weights, so that evaluation uses the same length and the same order of
texts.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from granola.errors import UsageError
from granola.evidence.attribution.attribution_samples import AttributionSample
from granola.evidence.attribution.categories import Category
from granola.evidence.attribution.evaluators import AttributionJudgement, category_judgement
from kg.base.files import atomic_path

if TYPE_CHECKING:
    from abstraction.models.local_scorers import LocalClassifier

FILE = "encoder.json"
SUPPORTED = ("not supported", "supported")  # labels where samples have two classes
_FEWEST_SAMPLES = 8  # labelled samples that training needs
_Marked = tuple[AttributionSample, int]  # a sample and the index of its label


@dataclass(frozen=True, kw_only=True, slots=True)
class EncoderTraining:
    """Settings of training. `checkpoint`: a folder or a name on the hub; an evaluator trained before is trained
    further.

    `longest`: tokens of a pair, citations truncated first. `batch`: pairs per step. `warm_up`: share of the steps in
    which the learning rate rises to `rate`. `validation`: share of the samples that select the best epoch. Training
    stops after `patience` epochs without improvement, after `epochs` at most. `device`: as for local models.
    `progress` shows a bar, `messages` the log of the library.
    """

    checkpoint: str
    longest: int = 256
    epochs: int = 8
    batch: int = 32
    rate: float = 5e-5
    warm_up: float = 0.1
    validation: float = 0.1
    patience: int = 2
    seed: int = 0
    device: str = "auto"
    progress: bool = False
    messages: bool = False

    def __post_init__(self) -> None:
        """Raises UsageError for a share of 0 or 1."""
        if not 0 < self.validation < 1:
            raise UsageError(f"validation={self.validation}: a share of the samples between 0 and 1 is allowed")

    @classmethod
    def of(cls, word: str, **more: Any) -> EncoderTraining:
        """Parse FOLDER with the settings of a local model: `FOLDER?device=cuda&batch=16`. Raises UsageError."""
        from abstraction.models.spec import ModelUse, parse_model_spec

        spec = parse_model_spec(f"local:{word}", ModelUse.CLASSIFIER)
        settings = {name: value for name, value in spec.settings.items() if value is not None}
        if unknown := settings.keys() - {"device", "longest", "batch"}:
            raise UsageError(f"--encoder: {min(unknown)} is no setting of training; allowed: device, longest, batch")
        return cls(checkpoint=spec.where, **settings, **more)


class EncoderEvaluator:
    """Reads question and statement as the first text and citations as the second, whose end is truncated.

    Its classes are those of its training samples: the four categories, or supported and not supported.
    """

    def __init__(self, word: str) -> None:
        """`word`: FOLDER with the settings of a local model (`FOLDER?device=cuda`). Raises UsageError, ModelError."""
        from abstraction.models.spec import ModelUse, open_classifier, parse_model_spec

        spec = parse_model_spec(f"local:{word}", ModelUse.CLASSIFIER)
        self.training = training_of(Path(spec.where))
        longest = self.training["longest"]
        # Another length would give scores that validation never measured.
        if spec.settings.get("longest", longest) != longest:
            raise UsageError(f"encoder={spec.where} was trained on {longest} tokens; leave out longest=")
        settings = "" if "longest" in spec.settings else f"{'&' if spec.settings else '?'}longest={longest}"
        self._model: LocalClassifier = open_classifier(f"local:{word}{settings}")
        self.labels = self._model.labels

    @property
    def classes(self) -> tuple[Category, ...]:
        """The categories; empty for an evaluator with two classes."""
        return () if set(self.labels) == set(SUPPORTED) else tuple(Category(label) for label in self.labels)

    def signature(self) -> str:
        """`encoder:HASH|longest:N`, of the folder's files."""
        return f"encoder:{self._model.identity['weights'][:8]}|longest:{self.training['longest']}"

    def judge(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionJudgement]:
        """See `AttributionEvaluator.judge`."""
        source = iter(samples)
        while block := list(islice(source, self._model.block)):
            for sample, row in zip(block, self._model.logits(list(map(pair_of, block))), strict=True):
                label = self.labels[row.index(max(row))]
                if self.classes:
                    yield category_judgement(sample, Category(label))
                else:
                    yield AttributionJudgement(id=sample.id, supported=label == SUPPORTED[1])


def pair_of(sample: AttributionSample) -> tuple[str, str]:
    """The two texts for an encoder: the question with the statement, and the citations."""
    return f"{sample.question} {sample.statement}".strip(), " ".join(sample.citations)


def training_of(folder: Path) -> Mapping[str, Any]:
    """The settings with which the encoder in a folder was trained. Raises UsageError where they are missing or
    invalid.
    """
    try:
        told = orjson.loads((folder / FILE).read_bytes())
        if told["kind"] != "encoder" or not isinstance(told["training"]["longest"], int):
            raise ValueError("no length")
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise UsageError(
            f"{folder} is no trained encoder ({FILE}: {error}); train one: granola attribution train --encoder"
        ) from error
    training: Mapping[str, Any] = told["training"]
    return training


def train_encoder(samples: Iterable[AttributionSample], folder: Path, how: EncoderTraining) -> dict[str, Any]:
    """Train, save to `folder`, and return the validation scores. Raises UsageError, ModelError.

    If all samples have categories there are four classes, else two.
    """
    labelled = [sample for sample in samples if sample.supported is not None]
    by_category = all(sample.category is not None for sample in labelled)
    labels = [str(s.category) if by_category else SUPPORTED[bool(s.supported)] for s in labelled]
    names = [str(category) for category in Category] if by_category else list(SUPPORTED)
    if len(set(labels)) < 2 or len(labelled) < _FEWEST_SAMPLES:
        raise UsageError(
            f"{len(labelled)} samples of {len(set(labels))} labels; at least {_FEWEST_SAMPLES} of two are wanted"
        )
    held = _validation_places(labelled, labels, how)
    marked = [(sample, names.index(label)) for sample, label in zip(labelled, labels, strict=True)]
    rows = [one for at, one in enumerate(marked) if at not in held]
    # Files are often sorted by label.
    random.Random(how.seed).shuffle(rows)
    found = _fine_tune(rows, [marked[at] for at in sorted(held)], names, folder, how)
    # Settings of the machine do not affect the result.
    training = {name: value for name, value in asdict(how).items() if name not in ("device", "progress", "messages")}
    told = {"schema_version": 1, "kind": "encoder", "labels": names, "training": training, "validation": found}
    with atomic_path(folder / FILE) as place:
        place.write_bytes(orjson.dumps(told, option=orjson.OPT_INDENT_2))
    return found


def _validation_places(samples: Sequence[AttributionSample], labels: Sequence[str], how: EncoderTraining) -> set[int]:
    """The positions of the validation samples: whole questions, stratified by label.

    Samples without a question form groups of one, as do all samples if there is only one question.
    """
    from sklearn.model_selection import StratifiedGroupKFold

    groups = [sample.question or f"id {sample.id}" for sample in samples]
    if len(set(groups)) < 2:
        groups = [f"id {sample.id}" for sample in samples]
    # One fold is the validation set; there cannot be more folds than groups or than samples of the commonest label.
    folds = max(2, min(round(1 / how.validation), len(set(groups)), max(Counter(labels).values())))
    split = StratifiedGroupKFold(folds, shuffle=True, random_state=how.seed).split(labels, labels, groups)
    return set(next(iter(split))[1].tolist())


def _fine_tune(
    rows: Sequence[_Marked], held: Sequence[_Marked], names: Sequence[str], folder: Path, how: EncoderTraining
) -> dict[str, Any]:
    from abstraction.errors import ModelError
    from abstraction.models.local_weights import LocalWeights, is_out_of_memory
    from abstraction.models.spec import LocalScoreSettings

    def load(weights: LocalWeights) -> Any:
        from transformers import AutoModelForSequenceClassification, set_seed

        set_seed(how.seed)  # the new classification head is initialised at random
        return AutoModelForSequenceClassification.from_pretrained(
            weights.place, num_labels=len(names), ignore_mismatched_sizes=True, dtype="float32",
            local_files_only=weights.offline, id2label=dict(enumerate(names)),
            label2id={name: at for at, name in enumerate(names)},
        )  # fmt: skip

    weights = LocalWeights(how.checkpoint, load, LocalScoreSettings(device=how.device, longest=how.longest))
    tokenizer, model = weights.tokenizer, weights.model
    if (room := weights.longest(tokenizer.model_max_length)) < how.longest:
        raise UsageError(f"{how.checkpoint} takes at most {room} tokens, fewer than the requested {how.longest}")
    # Checkpoints of decoders lack it; batches need padding.
    if model.config.pad_token_id is None:
        model.config.pad_token_id = tokenizer.pad_token_id
    with tempfile.TemporaryDirectory(prefix="granola-encoder-") as scratch:
        encoded = [_encode(tokenizer, part, how) for part in (rows, held)]
        try:
            trainer = _trainer(model, tokenizer, encoded[0], encoded[1], scratch, how)  # moves the model to the device
            with redirect_stdout(sys.stderr):  # the library prints to stdout, which is for data
                trainer.train()
                found = trainer.evaluate()
        except RuntimeError as error:
            if is_out_of_memory(error):
                raise ModelError(
                    f"{how.checkpoint}: a step of {how.batch} pairs does not fit into the memory of {weights.device}: "
                    "give a smaller batch or fewer tokens"
                ) from error
            raise
        folder.mkdir(parents=True, exist_ok=True)
        trainer.model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    best = {name: found[f"eval_{name}"] for name in ("loss", "macro_f1")}
    return {**best, "samples": len(held), "epochs": round(trainer.state.epoch or 0)}


def _encode(tokenizer: Any, rows: Sequence[_Marked], how: EncoderTraining) -> list[dict[str, Any]]:
    """Tokenise pairs as `LocalClassifier.logits` does: the longer text is truncated."""
    firsts, seconds = zip(*(pair_of(sample) for sample, _ in rows), strict=True)
    whole = tokenizer(list(firsts), list(seconds), truncation="longest_first", max_length=how.longest)
    return [{**{name: own[at] for name, own in whole.items()}, "labels": label} for at, (_, label) in enumerate(rows)]


def _trainer(model: Any, tokenizer: Any, rows: list[Any], held: list[Any], scratch: str, how: EncoderTraining) -> Any:
    import torch
    from sklearn.metrics import f1_score
    from transformers import DataCollatorWithPadding, EarlyStoppingCallback, PrinterCallback, Trainer, TrainingArguments

    if how.device.startswith("cuda:"):  # the library uses the current CUDA device
        torch.cuda.set_device(how.device)
    # Ceiling division: the last batch may be smaller.
    steps = -(-len(rows) // how.batch) * how.epochs
    settings = TrainingArguments(
        output_dir=scratch, num_train_epochs=how.epochs, learning_rate=how.rate, weight_decay=0.01, seed=how.seed,
        per_device_train_batch_size=how.batch, per_device_eval_batch_size=2 * how.batch,
        warmup_steps=round(how.warm_up * steps), train_sampling_strategy="group_by_length", eval_strategy="epoch",
        save_strategy="epoch", save_total_limit=1, load_best_model_at_end=True, metric_for_best_model="macro_f1",
        greater_is_better=True, logging_strategy="epoch", report_to="none", disable_tqdm=not how.progress,
        log_level="info" if how.messages else "error", use_cpu=how.device == "cpu", dataloader_pin_memory=False,
    )  # fmt: skip
    settings._n_gpu = min(1, settings.n_gpu)  # else the library would use all GPUs

    def metrics(predicted: Any) -> dict[str, float]:
        return {"macro_f1": float(f1_score(predicted.label_ids, predicted.predictions.argmax(-1), average="macro"))}

    trainer = Trainer(
        model=model, args=settings, train_dataset=rows, eval_dataset=held, compute_metrics=metrics,
        data_collator=DataCollatorWithPadding(tokenizer), callbacks=[EarlyStoppingCallback(how.patience)],
    )  # fmt: skip
    trainer.remove_callback(PrinterCallback)  # it prints dictionaries where the bar is disabled
    return trainer
