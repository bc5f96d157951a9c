"""The signature printed with every score: all that is needed to repeat it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from granola import __version__
from granola.base.run_record import record_of
from granola.scoring.metrics import Standard

SHORT = 8  # hex digits of a hash: a chance collision of two files is one in four billion
PROMPTS = re.compile(r"(?:[a-z+]{1,40}-)?[0-9a-f]{8,64}")  # "paper-1a2b3c4d": the set and the hash of prompts


@dataclass(frozen=True, kw_only=True, slots=True)
class Signature:
    """Every setting that can change a digit of a score. `str()` joins them with `|` in this order.

    `matcher` includes the hash of its code and data. `tiers` is the start of a hash of those fields of the tiered rows
    that can change a score, in any order of the rows (form: docs/reference/scoring.md). `snapshot` is the start of a
    hash of the id of the snapshot that the ladders were made from. `n` is the number of scored questions. Only where
    they apply: `missing` and `unknown` ids; `one_level`, the rows with a single level, which `rules` reads more
    leniently; `bits`, the scored questions whose answer has bits; `foreign`, the tiers in another language than their
    row; `prompts`, the set and the hash of the prompts with which a model phrased the tiers; `asked`, those with which
    a model was asked the questions; `standard`, where level 1 has the gold answers alone.
    """

    matcher: str
    lambda_: float
    tiers: str
    snapshot: str
    n: int
    resamples: int
    seed: int
    missing: int = 0
    unknown: int = 0
    bits: int = 0
    one_level: int = 0
    foreign: int = 0
    prompts: str = ""
    asked: str = ""
    standard: Standard = "aliases"
    version: str = __version__

    def __str__(self) -> str:
        parts = [
            f"matcher:{self.matcher}",
            f"lambda:{self.lambda_:g}",
            *([f"standard:{self.standard}"] if self.standard != "aliases" else []),
            f"tiers:{self.tiers}",
            f"snapshot:{self.snapshot}",
            *([f"prompts:{self.prompts}"] if self.prompts else []),
            *([f"asked:{self.asked}"] if self.asked else []),
            f"n:{self.n}",
        ]
        if self.one_level:
            parts.append(f"one-level:{self.one_level}")
        if self.foreign:
            parts.append(f"foreign:{self.foreign}")
        if self.missing:
            parts.append(f"missing:{self.missing}-unscored")
        if self.unknown:
            parts.append(f"unknown:{self.unknown}-ignored")
        if self.bits:
            parts.append(f"bits:{self.bits}")
        parts += [f"boot:{self.resamples}", f"seed:{self.seed}", f"version:{self.version}"]
        return "|".join(parts)


def snapshot_of(tiers: Path | str) -> str:
    """The start of the id of the snapshot of a tiered file, from FILE.run.json; else "unknown"."""
    found = record_of(tiers).get("snapshot")
    return found[:SHORT] if isinstance(found, str) and found else "unknown"


def prompts_of(tiers: Path | str) -> str:
    """The set and hash of the prompts with which a model phrased the tiers, from FILE.run.json; else ""."""
    phrasing = record_of(tiers).get("phrasing")
    return _prompts(phrasing.get("prompts") if isinstance(phrasing, dict) else None)


def asked_of(predictions: Path | str) -> str:
    """The set and hash of the prompts that the predicting model was asked with, from FILE.run.json; else ""."""
    return _prompts(record_of(predictions).get("prompts"))


def _prompts(found: object) -> str:
    return found if isinstance(found, str) and PROMPTS.fullmatch(found) else ""  # a run record may come from anywhere
