"""A benchmark as a folder: the sides of the split, a card, what is in it and what was left out."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import orjson

from abstraction.datasets.building import RECORD
from abstraction.faults import RejectedRow
from abstraction.files.writing import write_records
from granola.attribution.attribution_samples import AttributionSample, write_samples
from granola.attribution.categories import PAPER_COUNTS, Category, Complexity
from granola.attribution.relation_table import CLASS
from granola.attribution.subject_split import SubjectSplit, subjects_of
from kg.files import sha256_of
from kg.queries import Hop, StoreFacts
from kg.queries.query_mining import name_of

BIN = 5  # words: the width of a bar of the histogram of lengths
DOMAINS = 15


# What is in a benchmark, as Hu et al. 2025 (CAQA) tell it of theirs.


def counts(samples: Iterable[AttributionSample]) -> dict[str, int]:
    """Samples: all, by category, by complexity, with the keys of `PAPER_COUNTS`. Table 4."""
    tally = Counter(str(key) for sample in samples for key in ("all", sample.category, sample.complexity))
    return {str(key): tally[str(key)] for key in PAPER_COUNTS}


def cross_counts(samples: Iterable[AttributionSample]) -> dict[str, dict[str, int]]:
    """Samples by complexity, then by category."""
    number_of = Counter((sample.complexity, sample.category) for sample in samples)
    return {str(row): {str(column): number_of[row, column] for column in Category} for row in Complexity}


def lengths(samples: Iterable[AttributionSample]) -> dict[int, int]:
    """How many samples have citations of so many words in all; the key is the lowest of `BIN` lengths. Figures 3, 4."""
    number_of = Counter(sum(len(citation.split()) for citation in sample.citations) // BIN * BIN for sample in samples)
    return dict(sorted(number_of.items()))


def domains(samples: Iterable[AttributionSample], facts: StoreFacts) -> dict[str, int]:
    """How many questions start from an entity of each class, most first; the rest as "other". Figure 5."""
    tally = Counter(_class_name(next(subjects_of(sample)), facts) for sample in samples if sample.query)
    most = tally.most_common(DOMAINS)
    others = sum(tally.values()) - sum(number for _, number in most)
    return {**dict(most), **({"other": others} if others else {})}


def _class_name(entity_id: str, facts: StoreFacts) -> str:
    kinds = facts.targets(entity_id, Hop(property=CLASS))
    return (kinds and name_of(facts.entity(kinds[0]))) or "without a class"


def sources(samples: Iterable[AttributionSample]) -> dict[str, int]:
    """Samples by the set that their queries are from."""
    return dict(Counter(str(sample.provenance.get("source")) for sample in samples).most_common())


def statistics(sides: Mapping[str, Sequence[AttributionSample]], facts: StoreFacts) -> dict[str, Any]:
    """Everything above, by side."""
    parts: dict[str, Callable[[Sequence[AttributionSample]], Any]] = {
        "counts": counts, "categories_by_complexity": cross_counts, "citation_words": lengths,
        "domains": partial(domains, facts=facts), "sources": sources,
    }  # fmt: skip
    return {name: {side: part(samples) for side, samples in sides.items()} for name, part in parts.items()}


# The card: README.md with the front matter that the `datasets` library reads.


def _table(sides: Mapping[str, Sequence[AttributionSample]]) -> str:
    """Table 4's layout, the paper's shares beside."""
    tallies = {name: counts(samples) for name, samples in sides.items()}
    whole = {str(key): sum(tally[str(key)] for tally in tallies.values()) for key in PAPER_COUNTS}
    rows = [
        (key, *(f"{tally[str(key)]:,}" for tally in tallies.values()), f"{whole[str(key)]:,}",
         f"{whole[str(key)] / (whole['all'] or 1):.1%}", f"{theirs / PAPER_COUNTS['all'][2]:.1%}")
        for key, (_, _, theirs) in PAPER_COUNTS.items()
    ]  # fmt: skip
    return _rows(("", *tallies, "all", "share", "in the paper"), rows)


def _left_out(built: Mapping[str, Any]) -> str:
    kinds = {"left_out": "queries", "dropped": "samples", "unread": "source rows"}
    rows = [(n, f"{what}: {reason}") for kind, what in kinds.items() for reason, n in built[kind].items()]
    rows += [(built["torn"], "samples: entities of both sides of the split")]
    rows += [(built["over"], "samples: more of their category and complexity than the paper's shares")]
    return _rows(("number", "what"), rows)


def _rows(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return "\n".join([*lines, *(f"| {' | '.join(map(str, row))} |" for row in rows)])


# The folder.


@dataclass(frozen=True, kw_only=True, slots=True)
class Benchmark:
    """What is to be written. `built` has what became of queries, `made` the facts of origin for the card."""

    name: str
    split: SubjectSplit
    built: Mapping[str, Any]
    made: Mapping[str, str]
    wording: str
    rejected: Sequence[RejectedRow] = ()

    def write(self, out: Path, *, facts: StoreFacts) -> dict[str, Any]:
        """Write the folder, whole or not at all, in the place of an earlier one; gives its statistics."""
        sides = {side: samples for side, samples in (("train", self.split.train), ("test", self.split.test)) if samples}
        with tempfile.TemporaryDirectory(dir=out.absolute().parent, prefix=f".{out.name}-") as work:
            final = Path(work) / "final"
            (final / "data").mkdir(parents=True)
            data = {}
            for side, samples in sides.items():
                path = f"data/{side}.jsonl"
                write_samples(samples, final / path)
                data[side] = {"path": path, "sha256": sha256_of(final / path)}
            built = {**self.built, "torn": self.split.torn, "over": self.split.over}
            summary = statistics(sides, facts)
            (final / "README.md").write_text(self._card(sides, built), encoding="utf-8")
            if self.rejected:
                write_records((row.to_json() for row in self.rejected), final / "rejected.jsonl", format="jsonl")
            record = {"schema_version": 1, "made": dict(self.made), "built": built, "statistics": summary, "data": data}
            (final / RECORD).write_bytes(orjson.dumps(record, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS))
            if out.exists():
                out.rename(Path(work) / "replaced")
            final.rename(out)
        return summary

    def _card(self, sides: Mapping[str, Sequence[AttributionSample]], built: Mapping[str, Any]) -> str:
        card = (files("granola") / "attribution" / "data" / "card.md").read_text(encoding="utf-8")
        return card.format(
            name=json.dumps(self.name, ensure_ascii=False), title=self.name, wording=self.wording, table=_table(sides),
            files="\n".join(f"  - split: {side}\n    path: data/{side}.jsonl" for side in sides),
            queries=built["queries"], left_out=_left_out(built),
            made=_rows(("", ""), [(key, f"`{value}`") for key, value in self.made.items()]),
        )  # fmt: skip
