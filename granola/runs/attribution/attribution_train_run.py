"""`granola attribution train`: an evaluator trained on the training side of a benchmark."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from granola.errors import UsageError
from granola.runs.outputs import count
from granola.runs.settings import Run, Setting
from granola.terminal_lines import Verbatim, show_lines


@dataclass(frozen=True, kw_only=True)
class AttributionTrainRun(Run):
    """Train an evaluator on samples with categories: logistic regression on what of the statement the citations repeat.

    The folder is named with --evaluator of `granola attribution evaluate`, as linear=FOLDER.
    """

    verb: ClassVar[str] = "attribution train"

    samples: Annotated[Path, Setting("Samples to train on, as train.jsonl.", metavar="SAMPLES", positional=True)]
    out: Annotated[Path, Setting("The folder to write the evaluator to.")]
    entailment: Annotated[
        str | None,
        Setting("A model of entailment whose three probabilities are features, too: local:FOLDER, openai:URL#NAME.",
                metavar="TEXT_MODEL"),
    ] = None  # fmt: skip
    seed: Annotated[int, Setting("Seed of everything that is drawn.", least=0)] = 0
    force: Annotated[bool, Setting("Replace an evaluator that stands there.", recorded=False)] = False

    def run(self) -> EvaluatorTrained:
        """Train it. Raises UsageError."""
        from granola.attribution.attribution_samples import read_samples
        from granola.attribution.linear_evaluator import LinearEvaluator
        from granola.run_record import write_run_record
        from granola.text_models import open_entailment

        if self.out.exists() and (not self.out.is_dir() or (any(self.out.iterdir()) and not self.force)):
            raise UsageError(f"{self.out} exists; give --force to replace it, or name another folder")
        rejected: list[Any] = []
        samples = list(read_samples(self.samples, on_reject=rejected.append))
        if not any(sample.category is not None for sample in samples):
            raise UsageError(f"{self.samples}: no sample with a category; name a file of granola attribution build")
        model = None if self.entailment is None else open_entailment(self.entailment)
        evaluator = LinearEvaluator.trained(samples, seed=self.seed, entailment=model)
        evaluator.save(self.out)
        signature = evaluator.signature()
        write_run_record(
            self.out / "linear.json", command=self.verb, arguments=self.arguments(), inputs=[self.samples],
            more={"signature": signature},
        )  # fmt: skip
        return EvaluatorTrained(settings=self, samples=len(samples), signature=signature, rejected=len(rejected))


@dataclass(frozen=True, kw_only=True, slots=True)
class EvaluatorTrained:
    """An evaluator that was trained."""

    settings: AttributionTrainRun
    samples: int
    signature: str
    rejected: int

    @property
    def failed(self) -> bool:
        """Whether rows were rejected."""
        return self.rejected > 0

    def show(self) -> None:
        """Where it is."""
        show_lines(f"linear evaluator of {count(self.samples, 'sample')}: signature {self.signature}")
        show_lines(Verbatim(f"granola attribution evaluate SAMPLES --evaluator linear={self.settings.out}"))
