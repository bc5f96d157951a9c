"""A benchmark's card: README.md with the front matter that the `datasets` library reads."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from granola.attribution.attribution_samples import AttributionSample
from granola.attribution.benchmark_statistics import table
from granola.attribution.categories import Category

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
    "Every label is proved: the query is run on the facts of the citations and on the whole snapshot. Supportive "
    "evidence gives exactly the answers; partial evidence fewer, with a needed fact left; contradictory evidence "
    "another answer, by facts that the snapshot does not hold at any rank; irrelevant evidence none. A relation may "
    "have further values in the world: a second profession contradicts the first as a label here, as in the paper."
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
    return f"Of {built['queries']:,} queries.\n\n" + _rows(("number", "what"), rows)


def _rows(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])
