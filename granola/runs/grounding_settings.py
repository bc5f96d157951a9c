"""Settings that the runs over grounded answers share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from granola.runs.settings import Setting

GroundedQuestions = Annotated[
    Path,
    Setting("Questions with passages: GaRAGe's rows, or your own with id, question and passages.", metavar="QUESTIONS",
            positional=True),
]  # fmt: skip
GroundingPrompts = Annotated[
    Path | None,
    Setting("A folder with prompts of your own: answer, eligibility, sentences, deflection, again; not all of them."),
]
ChatWord = Annotated[str, Setting("The chat model: openai:URL#NAME, local:FOLDER, replay:FILE.", metavar="MODEL")]
ChatAnswers = Annotated[Path | None, Setting("Keep the model's replies here; by default beside --out.", recorded=False)]
