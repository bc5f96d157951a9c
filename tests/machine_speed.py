"""How much slower this machine computes now than the one on which bounds in seconds of a core were set."""

from __future__ import annotations

import re
import time
from collections import Counter
from itertools import pairwise

USUAL = 0.027  # seconds that `_work` took there, with nothing else to do
_TEXT = "Honolulu, Hawaii, or 4 May 1961; the capital and largest city of the state. " * 120


def _work() -> float:
    """The time of some work like that of matching: patterns, pieces of texts, counting."""
    began = time.thread_time()
    for _ in range(18):
        words = [found[0].casefold() for found in re.finditer(r"[^\W\d_]+|\d+", _TEXT)]
        Counter(pairwise(words))
        " ".join(sorted(words)).replace("a", "ab").split()
    return time.thread_time() - began


def slowness() -> float:
    """1 where the machine is as fast as that one or faster, 2 where it takes twice as long."""
    return max(1.0, sorted(_work() for _ in range(5))[2] / USUAL)
