"""A metric for Hugging Face's `evaluate`: `evaluate.load(granola.harnesses.evaluate_metric.__file__)`.

Needs evaluate, which the package does not install.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import datasets
import evaluate

from granola.matching import matcher as named
from granola.matching.matchers import MatchCase, match_many
from granola.scoring.metrics import LAMBDA, Outcome, metrics

_TEXT = datasets.Value("string")


class Granola(evaluate.Metric):  # type: ignore[misc]  # evaluate may be missing
    """`compute(predictions=..., references=..., questions=...)`: the metrics of `granola.scoring.metrics`
    except those in bits and those by the gold name alone, since level 1 has whatever names it is given.

    `references` has for each prediction its levels, finest first, each a list of names; `questions` may be left out.
    Further settings: matcher (rules, f1, em), tau, lambda_, language. "signature" is that of the matcher.
    """

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description="Accuracy and informativeness of answers at several granularities (Yona et al. 2024).",
            citation="Yona, Aharoni and Geva 2024, ACL (long papers), pages 6737-6751",
            inputs_description=self.__doc__ or "",
            features=datasets.Features(
                {"predictions": _TEXT, "references": datasets.Sequence(datasets.Sequence(_TEXT))}
            ),
        )

    def _compute(
        self,
        predictions: Sequence[str],
        references: Sequence[Sequence[Sequence[str]]],
        questions: Sequence[str] | None = None,
        matcher: str = "rules",
        tau: float | None = None,
        lambda_: float = LAMBDA,
        language: str = "en",
    ) -> dict[str, float | str]:
        chosen = named(matcher, tau=tau, language=language)
        # questions may be missing: few rules use them
        asked: Sequence[str | None] = questions or [None] * len(predictions)
        cases = (
            MatchCase(prediction=prediction, levels=levels, question=question)
            for prediction, levels, question in zip(predictions, references, asked, strict=True)
        )
        verdicts = match_many(chosen, cases)
        counts = Counter(Outcome(level=verdict.level, abstained=verdict.abstained) for verdict in verdicts)
        chosen_metrics = [
            metric
            for metric in metrics(lambda_)
            if metric.definition.summed_field is None and not metric.name.endswith("_gold")
        ]
        scores = {metric.name: metric.of(counts)[0] for metric in chosen_metrics}
        return {**scores, "signature": chosen.signature()}
