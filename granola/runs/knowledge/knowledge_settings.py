"""Settings that the runs over knowledge texts share."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import orjson

from granola.runs.settings import Setting

Items = Annotated[
    str,
    Setting(
        "Knowledge texts: JSONL, CSV or Parquet with id, query and knowledge, or CONNER's four columns (.txt, .tsv, "
        "also .gz).",
        metavar="ITEMS",
        positional=True,
    ),
]
Texts = Annotated[
    Path | None,
    Setting("With four columns: a file with the text to judge of each line; the third column is then the reference."),
]
Documents = Annotated[
    Path | None,
    Setting("With four columns: a file with what was retrieved for each line, a JSON array or separated by tabs."),
]
Judged = Annotated[
    str, Setting("Judged texts, as `granola knowledge judge` writes them.", metavar="JUDGED", positional=True)
]
Seed = Annotated[int, Setting("Seed of what is drawn.", least=0)]
SystemName = Annotated[str | None, Setting("The name of who wrote the texts, for those that name none.")]


def hash_of_identity(identity: Mapping[str, Any]) -> str:
    """The first eight letters of the hash of what scores depend on."""
    return hashlib.sha256(orjson.dumps(identity, option=orjson.OPT_SORT_KEYS)).hexdigest()[:8]
