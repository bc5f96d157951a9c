"""Options that the commands on several responses share: `answer`, `aggregate` and `targets`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from granola.cli.linking_options import LINKER_HELP, LinkerName
from granola.decoding.decision import Abstaining
from granola.decoding.drag_graph import SUPPORT
from granola.decoding.self_consistency import Counting

Support = Annotated[
    float | None,
    typer.Option(
        help="drag-graph: the share that must entail the answer, above 0 and up to 1, of the responses that do not "
        f"decline. Default: {SUPPORT:g}."
    ),
]
Weigh = Annotated[
    float | None,
    typer.Option(
        help="drag-graph: of what has enough support take the greatest bits times share to this power, rather than the "
        "finest; 0 or more. 2 prefers what many say, 0 changes nothing."
    ),
]
CalibrationOption = Annotated[
    Path | None,
    typer.Option(
        "--calibration",
        help="drag-graph: how much support answers need by their fineness, as `granola calibrate` wrote it; in the "
        "place of --support.",
        metavar="FILE",
    ),
]
CountingOption = Annotated[
    Counting,
    typer.Option(
        help="self-consistency: what counts as the same answer: its words, what they name, or what follows from them."
    ),
]
AbstainingOption = Annotated[
    Abstaining | None,
    typer.Option(
        help="What responses count that decline. majority: nothing, but where they are half of them or more the "
        "answer is IDK; ignore: nothing; against: as entailing nothing; pass: drag's model sees them. Default: drag "
        "pass, others majority."
    ),
]
AggregatorOption = Annotated[
    str | None,
    typer.Option(
        "--aggregator",
        help="drag: the model that makes one answer of the responses, if not the one that is sampled.",
        metavar="MODEL",
    ),
]
ResponseLanguage = Annotated[str, typer.Option(help="Language of the responses and of the predictions.")]
Linker = Annotated[LinkerName, typer.Option(help=LINKER_HELP)]
Limit = Annotated[int | None, typer.Option(min=1, help="Stop after so many questions.")]
PROMPTS_HELP = (
    "What models are asked with: paper (built as the paper describes its prompts; the default), guided (with "
    "instructions and examples of ours), or a folder of your own: answer, idk, idk_if_uncertain, agg, drag, each .txt; "
    "not all of them."
)
Force = Annotated[bool, typer.Option("--force", help="Replace an existing output.")]
