"""The files of `abstraction/data`, read once."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


def package_text(name: str) -> str:
    """The text of a file there."""
    return files("abstraction").joinpath("data", name).read_text(encoding="utf-8")


@cache
def package_data(name: str) -> Any:
    """What a JSON file there holds. Whoever asks next gets the same object: it is not to be changed."""
    return json.loads(package_text(name))
