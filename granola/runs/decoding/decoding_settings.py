"""Settings that the runs on several responses share: `answer` and `aggregate`."""

from __future__ import annotations

from typing import Annotated

from granola.decoding.drag_graph import SUPPORT
from granola.runs.settings import Setting
from granola.shared_settings import AbstainingRule, CountedAs, ResponseLanguage

__all__ = ["PROMPTS_HELP", "AbstainingRule", "AggregatorModel", "CountedAs", "PromptSet", "ResponseLanguage", "Support"]

Support = Annotated[
    float | None,
    Setting(
        "drag-graph: the share that must entail the answer, above 0 and up to 1, of the responses that do not "
        f"decline. Default: {SUPPORT:g}."
    ),
]
AggregatorModel = Annotated[
    str | None,
    Setting("drag: the model that makes one answer of the responses, if not the one that is sampled.", metavar="MODEL"),
]
PROMPTS_HELP = (
    "What models are asked with: paper (built as the paper describes its prompts; the default), guided (with "
    "instructions and examples of ours), or a folder of your own: answer, idk, idk_if_uncertain, agg, drag, each .txt; "
    "not all of them."
)
PromptSet = Annotated[str | None, Setting(PROMPTS_HELP, metavar="SET|FOLDER")]
