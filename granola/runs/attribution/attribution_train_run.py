"""`granola attribution train`: an evaluator trained on the training side of a benchmark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, ClassVar

from granola.errors import UsageError
from granola.runs.outputs import count
from granola.runs.settings import Run, Setting
from granola.terminal_lines import Verbatim, show_lines


class TrainedKind(StrEnum):
    """What `--kind` takes."""

    LINEAR = "linear"
    ENCODER = "encoder"


@dataclass(frozen=True, kw_only=True)
class AttributionTrainRun(Run):
    """Train an evaluator on samples with categories.

    linear: logistic regression on what of the statement the citations repeat, in seconds. encoder: a small transformer,
    from a checkpoint or from scratch. The folder is named with --evaluator of `granola attribution evaluate`.
    """

    verb: ClassVar[str] = "attribution train"

    samples: Annotated[Path, Setting("Samples to train on, as train.jsonl.", metavar="SAMPLES", positional=True)]
    out: Annotated[Path, Setting("The folder to write the evaluator to.")]
    kind: Annotated[TrainedKind, Setting("What is trained.")] = TrainedKind.LINEAR
    entailment: Annotated[
        str | None,
        Setting("A model of entailment whose three probabilities are features, too: local:FOLDER, openai:URL#NAME.",
                metavar="TEXT_MODEL"),
    ] = None  # fmt: skip
    checkpoint: Annotated[
        str | None, Setting("The encoder to begin with, by folder or name; without it, from scratch.")
    ] = None
    epochs: Annotated[int, Setting("Times that an encoder sees every sample.", least=1, most=1_000)] = 3
    batch: Annotated[int, Setting("Samples to a step.", least=1, most=4_096)] = 32
    rate: Annotated[float, Setting("Learning rate of an encoder at the first step; it falls to 0.", least=0)] = 5e-4
    longest: Annotated[int, Setting("Tokens of question, statement and citations.", least=16, most=8_192)] = 128
    seed: Annotated[int, Setting("Seed of everything that is drawn.", least=0)] = 0
    threads: Annotated[int | None, Setting("Threads of the processor.", least=1, recorded=False)] = None
    force: Annotated[bool, Setting("Replace an evaluator that stands there.", recorded=False)] = False

    def run(self) -> EvaluatorTrained:
        """Train it. Raises UsageError."""
        from granola.attribution.attribution_samples import read_samples
        from granola.run_record import write_run_record

        if self.out.exists() and (not self.out.is_dir() or (any(self.out.iterdir()) and not self.force)):
            raise UsageError(f"{self.out} exists; give --force to replace it, or name another folder")
        rejected: list[Any] = []
        samples = list(read_samples(self.samples, on_reject=rejected.append))
        if not any(sample.category is not None for sample in samples):
            raise UsageError(f"{self.samples}: no sample with a category; name a file of granola attribution build")
        more = self._linear(samples) if self.kind is TrainedKind.LINEAR else self._encoder(samples)
        main = self.out / ("linear.json" if self.kind is TrainedKind.LINEAR else "config.json")
        write_run_record(main, command=self.verb, arguments=self.arguments(), inputs=[self.samples], more=more)
        return EvaluatorTrained(settings=self, samples=len(samples), more=more, rejected=len(rejected))

    def _linear(self, samples: list[Any]) -> dict[str, Any]:
        from granola.attribution.linear_evaluator import LinearEvaluator
        from granola.text_models import open_entailment

        model = None if self.entailment is None else open_entailment(self.entailment)
        made = LinearEvaluator.trained(samples, seed=self.seed, entailment=model)
        made.save(self.out)
        return {"signature": made.signature()}

    def _encoder(self, samples: list[Any]) -> dict[str, Any]:
        from granola.attribution.encoder_evaluator import EncoderSettings, train_encoder

        settings = EncoderSettings(
            checkpoint=self.checkpoint, epochs=self.epochs, batch=self.batch, rate=self.rate, longest=self.longest,
            seed=self.seed, threads=self.threads,
        )  # fmt: skip
        return {"loss": train_encoder(samples, self.out, settings)}


@dataclass(frozen=True, kw_only=True, slots=True)
class EvaluatorTrained:
    """An evaluator that was trained."""

    settings: AttributionTrainRun
    samples: int
    more: Mapping[str, Any]
    rejected: int

    @property
    def failed(self) -> bool:
        """Whether rows were rejected."""
        return self.rejected > 0

    def show(self) -> None:
        """Where it is."""
        settings = ", ".join(f"{name} {value}" for name, value in self.more.items())
        kind = self.settings.kind
        show_lines(f"{kind} evaluator of {count(self.samples, 'sample')}: {settings}")
        show_lines(Verbatim(f"granola attribution evaluate SAMPLES --evaluator {kind}={self.settings.out}"))
