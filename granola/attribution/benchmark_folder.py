"""A benchmark as a folder: the sides of the split, a card, statistics, figures, what was left out."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import orjson

from abstraction.datasets.building import RECORD
from abstraction.faults import RejectedRow
from abstraction.files.writing import write_records
from granola.attribution.attribution_samples import AttributionSample, write_samples
from granola.attribution.categories import PAPER_COUNTS, Category, Complexity
from granola.attribution.subject_split import SubjectSplit
from granola.figures.charts import bars_figure, histogram_figure
from kg.files import sha256_of

# What is in a benchmark: counts as in Table 4 of Hu et al. 2025 (CAQA), lengths of citations, domains.

BIN = 5  # words: the width of a bar of the histogram of lengths
DOMAINS = 15


def counts(samples: Iterable[AttributionSample]) -> dict[str, int]:
    """Samples: all, by category, by complexity, with the keys of `PAPER_COUNTS`."""
    tally = Counter[str]()
    for sample in samples:
        tally["all"] += 1
        if sample.category is not None:
            tally[sample.category] += 1
        if sample.complexity is not None:
            tally[sample.complexity] += 1
    return {str(key): tally[key] for key in PAPER_COUNTS}


def cross_counts(samples: Iterable[AttributionSample]) -> dict[str, dict[str, int]]:
    """Samples by complexity, then by category."""
    number_of = Counter((sample.complexity, sample.category) for sample in samples)
    return {str(row): {str(column): number_of[row, column] for column in Category} for row in Complexity}


def lengths(samples: Iterable[AttributionSample]) -> dict[int, int]:
    """How many samples have citations of so many words in all; the key is the lowest of `BIN` lengths. Figures 3, 4."""
    number_of = Counter(sum(len(citation.split()) for citation in sample.citations) // BIN * BIN for sample in samples)
    return dict(sorted(number_of.items()))


def domains(samples: Iterable[AttributionSample], class_of: Callable[[str], str | None]) -> dict[str, int]:
    """How many questions start from an entity of each class, most first; the rest as "other". Figure 5."""
    tally = Counter[str]()
    for sample in samples:
        branches = (sample.query or {}).get("branches", ())
        if branches:
            tally[class_of(branches[0]["start"]) or "without a class"] += 1
    most = tally.most_common(DOMAINS)
    others = sum(tally.values()) - sum(number for _, number in most)
    return {**dict(most), **({"other": others} if others else {})}


def table(sides: Mapping[str, Sequence[AttributionSample]]) -> list[str]:
    """Lines of Table 4's layout in Markdown, the paper's shares beside."""
    tallies = {name: counts(samples) for name, samples in sides.items()}
    whole = {key: sum(tally[key] for tally in tallies.values()) for key in map(str, PAPER_COUNTS)}
    lines = [f"| | {' | '.join(tallies)} | all | share | in the paper |", f"|---|{'---|' * (len(tallies) + 3)}"]
    for key, (_, _, theirs) in PAPER_COUNTS.items():
        cells = [f"{tally[key]:,}" for tally in tallies.values()]
        share = whole[key] / whole["all"] if whole["all"] else 0.0
        lines.append(
            f"| {key} | {' | '.join(cells)} | {whole[key]:,} | {share:.1%} | {theirs / PAPER_COUNTS['all'][2]:.1%} |"
        )
    return lines


def statistics(
    sides: Mapping[str, Sequence[AttributionSample]], class_of: Callable[[str], str | None]
) -> dict[str, Any]:
    """Everything above, as JSON has it."""
    return {
        "counts": {name: counts(samples) for name, samples in sides.items()},
        "categories_by_complexity": {name: cross_counts(samples) for name, samples in sides.items()},
        "citation_words": {name: lengths(samples) for name, samples in sides.items()},
        "domains": {name: domains(samples, class_of) for name, samples in sides.items()},
        "sources": {
            name: dict(Counter(str(sample.provenance.get("source")) for sample in samples).most_common())
            for name, samples in sides.items()
        },
    }


# A benchmark's card: README.md with the front matter that the `datasets` library reads.

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_SHOWN = 1  # examples of each category
_MEANINGS = {
    Category.SUPPORTIVE: "the citations hold facts that fully support the statement",
    Category.PARTIAL: "a part of the facts that it needs is missing",
    Category.CONTRADICTORY: "the citations state a different answer, which the snapshot does not hold true at any time",
    Category.IRRELEVANT: "true facts about the same subjects that give no answer",
}
_COLUMNS = (
    ("`id`, `question`, `statement`", "the question, and the true answer in a sentence: the same for every category"),
    ("`citations`", "the evidence, a list of texts"),
    ("`category`, `complexity`", "what is to be told, and what of the citations must come together"),
    ("`answer`, `answer_qids`", "the true answers"),
    ("`query`", "the logical query: branches from given entities to the answer"),
    ("`subgraph`", "the facts that the answer needs"),
    ("`evidence`", "the facts that the citations state, after the edit of the category"),
    ("`cited`", "for each citation the places of its facts in `evidence`, from 0"),
    ("`provenance`", "where the query is from, how it was extended, the question before that"),
)


def card_text(
    name: str,
    sides: Mapping[str, Sequence[AttributionSample]],
    *,
    files: Mapping[str, str],
    made: Mapping[str, str],
    built: Mapping[str, Any],
    wording: str,
) -> str:
    """README.md. `files` are those of the sides, `made` the facts of origin, `built` what became of the queries."""
    total = sum(map(len, sides.values()))
    size = next((text for limit, text in _SIZES if total < limit), "n>1M")
    front = ["---", "license: cc0-1.0", f"pretty_name: {json.dumps(name, ensure_ascii=False)}", "language:\n- en"]
    front += ["task_categories:\n- text-classification\n- question-answering", f"size_categories:\n- {size}"]
    front += ["configs:", "- config_name: default", "  data_files:"]
    for side, file in files.items():
        front += [f"  - split: {side}", f"    path: {json.dumps(file)}"]
    parts = ["\n".join([*front, "---"]), f"# {name}", _summary(wording), "## Statistics", "\n".join(table(sides))]
    parts += ["## Categories", _rows(("category", "the citations"), [(str(k), v) for k, v in _MEANINGS.items()])]
    parts += [_PROVED, "## Examples", *_examples(sides), "## Columns", _rows(("column", "what it holds"), _COLUMNS)]
    parts += ["## What was left out", _left_out(built), "## How it was made"]
    parts += [_rows(("", ""), [(key, f"`{value}`") for key, value in made.items()])]
    parts += ["## Loading", f'```python\nfrom datasets import load_dataset\n\nload_dataset("{name}")\n```', _LICENCE]
    return "\n\n".join(parts) + "\n"


def _summary(wording: str) -> str:
    return (
        "Does evidence support an answer? Questions with a true answer and citations of which it is known how they "
        "support it, made from WikiData as Hu et al. 2025 (CAQA) made theirs from Freebase. " + wording
    )


_PROVED = (
    "Every label is proved for the facts: the query is run on those of the citations and on the whole snapshot; that a "
    "model's words say them is checked by names, and by entailment where a model of that was given. Supportive "
    "evidence gives exactly the answers; partial evidence fewer, with a needed fact left; contradictory evidence "
    "another answer, by facts that the snapshot does not hold at any rank; irrelevant evidence none. Relations whose "
    "subjects often have several values carry no contradiction."
)
_LICENCE = (
    "## Licence\n\nThe facts are WikiData's, CC0. Questions from other sets keep the licences of their sets; see "
    "`provenance`."
)


def _examples(sides: Mapping[str, Sequence[AttributionSample]]) -> list[str]:
    shown = []
    samples = next((side for side in sides.values() if side), ())
    for category in Category:
        for sample in [sample for sample in samples if sample.category is category][:_SHOWN]:
            citations = "\n".join(f"- {text}" for text in sample.citations)
            shown.append(f"**{category}**: {sample.question}\n\n{sample.statement}\n\n{citations}")
    return shown


def _left_out(built: Mapping[str, Any]) -> str:
    rows = [(str(n), f"queries: {reason}") for reason, n in built["left_out"].items()]
    rows += [(str(n), f"samples, {reason}") for reason, n in built["dropped"].items()]
    rows += [(str(n), f"source rows: {reason}") for reason, n in built["unread"].items()]
    rows += [(str(built["torn"]), "samples: entities of both sides of the split")]
    rows += [(str(built["over"]), "samples: more of their category and complexity than the paper's shares")]
    return f"Of {built['queries']:,} queries.\n\n" + _rows(("number", "what"), rows)


def _rows(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


# Figures of a benchmark: lengths of citations (the paper's Figures 3 and 4) and domains (Figure 5).


def benchmark_figures(statistics: Mapping[str, Any]) -> dict[str, bytes]:
    """SVG by file name. Raises UsageError without matplotlib."""
    total: Counter[str] = Counter()
    for of_side in statistics["domains"].values():
        total.update(of_side)
    most_first = dict(sorted(total.items(), key=lambda one: (one[0] != "other", one[1]))[::-1])
    return {
        "citation-words.svg": histogram_figure(
            statistics["citation_words"], BIN, along="words of all citations of a sample", up="share of samples"
        ),
        "domains.svg": bars_figure(most_first, along="share of questions, by the class of the entity asked about"),
    }


# The folder.


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
            built = {**self.built, "torn": self.split.torn, "over": self.split.over}
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
