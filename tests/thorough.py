"""Tests that look at a sample look at everything in `make test-thorough`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

import pytest

THOROUGH = os.environ.get("GRANOLA_THOROUGH") == "1"
thorough_only = pytest.mark.skipif(not THOROUGH, reason="takes long; make test-thorough runs it")
Item = TypeVar("Item")


def sample(items: Sequence[Item], number: int, *, of: int = 3) -> Sequence[Item]:
    """Every item in a thorough run, else every `of`-th; tests with other numbers look at others."""
    return items if THOROUGH else items[number % of :: of]
