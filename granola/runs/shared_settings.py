"""Settings that many runs have, each with its words once."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from granola.runs.settings import Setting


class LinkerName(StrEnum):
    """What `--linker` takes; the methods of `abstraction.linking.linker.Linker`."""

    QUESTION = "question"
    SMALLEST = "smallest"


Linker = Annotated[
    LinkerName,
    Setting(
        "How an answer's name finds its entity: question weighs what the question asks and about "
        "whom; smallest takes the smallest QID of that name, as in the paper, also for the entity "
        "asked about."
    ),
]
CsvRaw = Annotated[
    bool,
    Setting(
        "Write CSV without the ' that protects texts from being read as formulas by a spreadsheet.", recorded=False
    ),
]
Force = Annotated[bool, Setting("Replace an existing output.", recorded=False)]
AsJson = Annotated[bool, Setting("Print the result as one JSON object.", flag="--json", recorded=False)]
Limit = Annotated[int | None, Setting("Stop after so many questions.", least=1)]
Language = Annotated[
    str, Setting("The language of names and tiers, for rows that name none; its fallbacks are used as well.")
]
LINKED_TO = "The snapshot to link to and climb in: a file, or bolt://HOST:PORT."
Relation = Annotated[str | None, Setting("The property of rows that name none, such as P19.")]
Out = Annotated[str, Setting("Where to write the rows; - is standard output.")]
Resamples = Annotated[int, Setting("Bootstrap resamples, and permutations of paired tests.", least=10, most=100_000)]
Tiered = Annotated[
    str,
    Setting(
        "Tiered rows, as `granola tiers` writes them, or the folder of `granola dataset`; - is standard input.",
        metavar="TIERED",
        positional=True,
        folder=True,
    ),
]
Samples = Annotated[
    str,
    Setting(
        'Rows with "id", "question" and "samples", as JSONL, CSV or Parquet; - is standard input.',
        metavar="SAMPLES",
        positional=True,
    ),
]


def property_id(relation: str | None) -> str | None:
    """The id of a relation as it was given, "p19" for "P19". Raises RelationError for what is none."""
    from abstraction.relations import relation as relation_row

    if relation is None:
        return None
    return relation_row(relation.upper() if relation[:1] == "p" else relation).id
