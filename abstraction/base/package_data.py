"""The files of `abstraction/data`, read once."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


def package_text(name: str) -> str:
    """The text of a file in `abstraction/data`."""
    return files("abstraction").joinpath("data", name).read_text(encoding="utf-8")


@cache
def package_data(name: str) -> Any:
    """The content of a JSON file in `abstraction/data`. All callers share the object: do not change it."""
    return json.loads(package_text(name))
