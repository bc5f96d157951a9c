"""`--linker`: how answers without an id find their entity."""

from __future__ import annotations

from enum import StrEnum


class LinkerName(StrEnum):
    """What `--linker` takes; the methods of `abstraction.linking.linker.Linker`."""

    QUESTION = "question"
    SMALLEST = "smallest"


LINKER_HELP = (
    "How an answer's name finds its entity: by what the question asks and about whom, or, as in the paper, the "
    "smallest QID among those that carry the name, also for the entity asked about."
)
