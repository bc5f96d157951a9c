"""A benchmark as a folder: train and test files, a data set card, statistics, and counts of skipped queries."""

from __future__ import annotations

import json
import random
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import orjson

from abstraction.base.faults import RejectedRow
from abstraction.datasets.building import RECORD
from abstraction.datasets.card import markdown_table
from abstraction.files.writing import write_records
from granola.evidence.attribution.attribution_samples import AttributionSample, write_samples
from granola.evidence.attribution.benchmark_building import PAPER_COUNTS
from granola.evidence.attribution.relation_table import CLASS
from kg.base.files import sha256_of
from kg.graph.logical_query import Hop, StoreFacts
from kg.graph.query_mining import name_of

BIN = 5  # words: bin width of the histogram of lengths
DOMAINS = 15  # classes listed by name; the others are summed
TRAIN, TEST = "train", "test"


def subjects_of(sample: AttributionSample) -> Iterator[str]:
    """The entities from which a sample's query starts, in its order."""
    return (branch["start"] for branch in (sample.query or {}).get("branches", ()))


def split(samples: Sequence[AttributionSample], *, test: float, seed: int) -> dict[str, list[AttributionSample]]:
    """Split samples into training and test sets that share no subject. The paper states no rule.

    Subjects that occur in the same sample form a group (connected components); groups are drawn at random until their
    samples reach the share `test`.
    """
    import networkx

    graph: Any = networkx.Graph()
    for sample in samples:
        # Samples that share a subject must not be in both sets, or an evaluator could memorise facts.
        networkx.add_path(graph, subjects_of(sample))
    group_of = {one: at for at, group in enumerate(networkx.connected_components(graph)) for one in group}
    sizes = Counter(group_of[next(subjects_of(sample))] for sample in samples)
    groups, lacking = sorted(sizes), test * len(samples)
    # The generator is local and named: the split depends on the seed alone.
    random.Random(f"split {seed}").shuffle(groups)
    tests: set[int] = set()
    for group in groups:
        if sizes[group] <= lacking:
            tests.add(group)
            lacking -= sizes[group]
    sides: dict[str, list[AttributionSample]] = {TRAIN: [], TEST: []}
    for sample in samples:
        sides[TEST if group_of[next(subjects_of(sample))] in tests else TRAIN].append(sample)
    return sides


def counts(samples: Iterable[AttributionSample]) -> dict[str, int]:
    """Samples: all, by category, by complexity, with the keys of `PAPER_COUNTS`. Table 4."""
    tally = Counter(str(key) for sample in samples for key in ("all", sample.category, sample.complexity))
    return {str(key): tally[key] for key in PAPER_COUNTS}


def lengths(samples: Iterable[AttributionSample]) -> dict[int, int]:
    """The histogram of citation lengths: samples by words in all citations, in bins of `BIN`, keyed by the lower end.
    Figures 3, 4.
    """
    number_of = Counter(sum(len(citation.split()) for citation in sample.citations) // BIN * BIN for sample in samples)
    return dict(sorted(number_of.items()))


def domains(samples: Iterable[AttributionSample], facts: StoreFacts) -> dict[str, int]:
    """Questions by the class of their start entity, the most frequent first; the remainder as "other". Figure 5."""
    kinds = (facts.targets(next(subjects_of(sample)), Hop(property=CLASS)) for sample in samples if sample.query)
    tally = Counter((own and name_of(facts.entity(own[0]))) or "without a class" for own in kinds)
    most = dict(tally.most_common(DOMAINS))
    others = tally.total() - sum(most.values())
    return {**most, **({"other": others} if others else {})}


def write_benchmark(
    out: Path,
    sides: Mapping[str, Sequence[AttributionSample]],
    *,
    facts: StoreFacts,
    built: Mapping[str, int],
    made: Mapping[str, str],
    wording: str,
    rejected: Sequence[RejectedRow] = (),
) -> dict[str, Any]:
    """Write the folder atomically, replacing an earlier one; return its statistics.

    `built`: counts of queries and samples by outcome. `made`: origin (snapshot, command, version) for the card.
    """
    sides = {side: samples for side, samples in sides.items() if samples}
    # In the same directory, because a rename must not cross file systems.
    with tempfile.TemporaryDirectory(dir=out.absolute().parent, prefix=f".{out.name}-") as work:
        final = Path(work) / "final"
        (final / "data").mkdir(parents=True)
        data = {}
        for side, samples in sides.items():
            path = f"data/{side}.jsonl"
            write_samples(samples, final / path)
            data[side] = {"path": path, "sha256": sha256_of(final / path)}
        tallies = {side: counts(samples) for side, samples in sides.items()}
        summary: dict[str, Any] = {
            "counts": tallies,
            "citation_words": {side: lengths(samples) for side, samples in sides.items()},
            "domains": {side: domains(samples, facts) for side, samples in sides.items()},
        }
        # The layout of Table 4.
        whole = sum((Counter(tally) for tally in tallies.values()), Counter[str]())
        rows = [
            (key, *(f"{tally[key]:,}" for tally in tallies.values()), f"{whole[key]:,}",
             f"{whole[key] / whole['all']:.1%}", f"{theirs / PAPER_COUNTS['all'][2]:.1%}")
            for key, (_, _, theirs) in PAPER_COUNTS.items()
        ]  # fmt: skip
        card = (files("granola") / "evidence" / "attribution" / "data" / "card.md").read_text(encoding="utf-8")
        text = card.format(
            name=json.dumps(out.name, ensure_ascii=False), title=out.name, wording=wording,
            table=markdown_table(("", *tallies, "all", "share", "in the paper"), rows),
            files="\n".join(f"  - split: {side}\n    path: data/{side}.jsonl" for side in sides),
            built=markdown_table(("number", "what"), [(n, what) for what, n in built.items()]),
            made=markdown_table(("", ""), [(key, f"`{value}`") for key, value in made.items()]),
        )  # fmt: skip
        (final / "README.md").write_text(text, encoding="utf-8")
        if rejected:
            write_records((row.to_json() for row in rejected), final / "rejected.jsonl", format="jsonl")
        record = {"schema_version": 2, "made": dict(made), "built": dict(built), "statistics": summary, "data": data}
        (final / RECORD).write_bytes(orjson.dumps(record, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS))
        # Rename instead of delete: an interrupted run leaves the old folder or the new one.
        if out.exists():
            out.rename(Path(work) / "replaced")
        final.rename(out)
    return summary
