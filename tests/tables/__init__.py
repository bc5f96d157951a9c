"""Cases of tests as data: NAME.jsonl has a list of JSON a line, and why behind a #; a line of # says what follows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_DECODER = json.JSONDecoder()


def read_table(name: str) -> list[Any]:
    """The cases of a table, in order."""
    lines = Path(__file__).with_name(f"{name}.jsonl").read_text(encoding="utf-8").split("\n")
    return [_DECODER.raw_decode(line)[0] for line in lines if line and not line.startswith("#")]
