"""A benchmark as a folder: the sides of the split, a card, statistics, figures, what was left out."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import orjson

from abstraction.datasets.building import RECORD
from abstraction.formats.records import RejectedRow
from abstraction.formats.writing import write_records
from granola.attribution.attribution_samples import write_samples
from granola.attribution.benchmark_card import card_text
from granola.attribution.benchmark_figures import benchmark_figures
from granola.attribution.benchmark_statistics import statistics
from granola.attribution.subject_split import SubjectSplit
from kg.files import sha256_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Benchmark:
    """What is to be written. `built` has what became of queries, `made` the facts of origin for the card."""

    name: str
    split: SubjectSplit
    built: Mapping[str, Any]
    made: Mapping[str, str]
    wording: str
    rejected: Iterable[RejectedRow] = ()

    def write(self, out: Path, *, format: str, class_of: Callable[[str], str | None]) -> dict[str, Any]:
        """Write the folder, whole or not at all, in the place of an earlier one; gives its statistics."""
        sides = {side: samples for side, samples in (("train", self.split.train), ("test", self.split.test)) if samples}
        with tempfile.TemporaryDirectory(dir=out.absolute().parent, prefix=f".{out.name}-") as work:
            final = Path(work) / "final"
            (final / "data").mkdir(parents=True)
            files = {side: f"data/{side}.{format}" for side in sides}
            for side, samples in sides.items():
                write_samples(samples, final / files[side], format=format)
            summary = statistics(sides, class_of)
            built = {**self.built, "torn": self.split.torn}
            for name, data in benchmark_figures(summary).items() if find_spec("matplotlib") is not None else ():
                (final / name).write_bytes(data)
            card = card_text(self.name, sides, files=files, made=self.made, built=built, wording=self.wording)
            (final / "README.md").write_text(card, encoding="utf-8")
            rejected = [row.to_json() for row in self.rejected]
            if rejected:
                write_records(rejected, final / "rejected.jsonl", format="jsonl")
            record = {
                "schema_version": 1, "made": dict(self.made), "built": built, "statistics": summary,
                "data": {side: {"path": path, "sha256": sha256_of(final / path)} for side, path in files.items()},
            }  # fmt: skip
            (final / RECORD).write_bytes(orjson.dumps(record, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS))
            aside = Path(work) / "replaced"
            if out.exists():
                out.rename(aside)
            final.rename(out)
            shutil.rmtree(aside, ignore_errors=True)
        return summary
