"""Settings that the runs on several responses share: `answer` and `aggregate`."""

from __future__ import annotations

from typing import Annotated

from granola.decoding.decision import Abstaining
from granola.decoding.drag_graph import SUPPORT
from granola.decoding.self_consistency import Counting
from granola.runs.settings import Setting

Support = Annotated[
    float | None,
    Setting(
        "drag-graph: the share that must entail the answer, above 0 and up to 1, of the responses that do not "
        f"decline. Default: {SUPPORT:g}."
    ),
]
CountedAs = Annotated[
    Counting,
    Setting("self-consistency: what counts as the same answer: its words, what they name, or what follows from them."),
]
AbstainingRule = Annotated[
    Abstaining | None,
    Setting(
        "How declining responses count. majority: not at all, but if half of the responses or more "
        "decline, the answer is IDK; ignore: not at all; against: as responses that entail nothing;"
        " pass: drag's model sees them. Default: pass for drag, else majority."
    ),
]
AggregatorModel = Annotated[
    str | None,
    Setting("drag: the model that makes one answer of the responses, if not the one that is sampled.", metavar="MODEL"),
]
ResponseLanguage = Annotated[str, Setting("Language of the responses and of the predictions.")]
PROMPTS_HELP = (
    "What models are asked with: paper (built as the paper describes its prompts; the default), guided (with "
    "instructions and examples of ours), or a folder of your own: answer, idk, idk_if_uncertain, agg, drag, each .txt; "
    "not all of them."
)
PromptSet = Annotated[str | None, Setting(PROMPTS_HELP, metavar="SET|FOLDER")]
