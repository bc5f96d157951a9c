"""An inspect_ai scorer and its dataset: `Task(dataset=granola_dataset("tiers.jsonl"), scorer=granola_scorer())`.

Needs inspect_ai, which the package does not install.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from granola.harnesses.grading import harness_questions, scores_of_verdict
from granola.matching import in_language
from granola.matching import matcher as named
from granola.scoring.metrics import LAMBDA, Standard


def granola_dataset(tiered: Path | str, prompt: str = "{question}", standard: Standard = "aliases") -> MemoryDataset:
    """The questions of a tiered file as samples; `prompt` is the text of the request, with {question} in it.

    `standard` "gold", the default of `granola score --matcher f1`, leaves the gold answer's other names out. A
    sample's target is the gold answers; its metadata has "levels", "question" and "language".
    """
    samples = [
        Sample(
            id=row.id,
            input=prompt.replace("{question}", row.question),
            target=list(row.levels[0]),
            metadata={
                "levels": [list(names) for names in row.levels],
                "question": row.question,
                "language": row.language,
            },
        )
        for row in harness_questions(tiered, standard)
    ]
    return MemoryDataset(samples, name=Path(tiered).stem)


@scorer(metrics={"*": [mean(), stderr()]})  # type: ignore[untyped-decorator]  # inspect_ai may be missing
def granola_scorer(matcher: str = "rules", tau: float | None = None, lambda_: float = LAMBDA) -> Scorer:
    """A scorer: scores by name as in `granola.harnesses.grading`, the deciding rule as explanation, the level in
    metadata.

    `matcher` is rules, f1 or em, `tau` the threshold of f1. Samples without "levels" in their metadata are compared
    with their target alone. Raises MatcherError for wrong settings.
    """
    chosen = named(matcher, tau=tau)

    async def score(state: TaskState, target: Target) -> Score:
        metadata = state.metadata
        # a dataset of another origin has targets alone
        levels: Sequence[Sequence[str]] = metadata.get("levels") or [list(target)]
        question = metadata.get("question") or state.input_text
        verdict = in_language(chosen, str(metadata.get("language") or "en")).match(
            state.output.completion, levels, question
        )
        return Score(
            value=dict(scores_of_verdict(verdict, lambda_)),
            # None where nothing was cut from the output
            answer=state.output.completion if verdict.answer is None else verdict.answer,
            explanation=verdict.rule,
            metadata={"level": verdict.level, "abstained": verdict.abstained, "matcher": chosen.signature()},
        )

    return score
