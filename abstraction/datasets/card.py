"""A dataset's card: README.md with the front matter of the `datasets` library, and a description of the folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from abstraction.datasets.dataset_cleaning import SCORE, STEPS, WHAT_STEPS_DO, Cleaner, CleaningStep
from abstraction.datasets.dataset_columns import OWN, TIER, Columns, Kind
from abstraction.datasets.dataset_statistics import Statistics, share_of
from abstraction.phrasing.decisions import DecisionCounts
from abstraction.phrasing.phrasing_prompts import ANSWER_SITELINKS

# Size categories of dataset cards on the Hugging Face Hub.
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
# Columns and their descriptions, as on the card.
_COLUMNS = (
    ("`relation`, `question`", "the WikiData property asked for, where known, and the question"),
    ("`question_entity`, `..._qid`, `..._description`", "the entity asked about; empty where it is not surely known"),
    ("`answer`, `answer_entity_qid`, `..._description`", "the first gold answer and its entity"),
    ("`..._popularity`", "as the questions give it; nothing here measures it"),
    (f"`{SCORE}`", "in [0, 1], the share of a model's samples that call the row's descriptions inconsistent"),
    ("`granola_answer_1` to `granola_answer_14`", "the answers, finest first, one text a level"),
    ("`num_granola_answers`", "how many of them there are"),
    ("`id`", "the question's"),
    ("`answers`", "every gold answer"),
    ("`levels`", "the levels, each a list of `tiers` with text, aliases, QID and bits; `evidence` entails them (JSON)"),
    ("`abstained`", "why a row has no coarser answer, where it has none"),
    (f"`question_entity_sitelinks`, `{ANSWER_SITELINKS}`", "Wikimedia pages about it, where the snapshot counts them"),
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Card:
    """The content of a card.

    `made` maps the facts of origin in order, as "Snapshot" -> "9e28…"; `origin` is a sentence on the source of the
    questions.
    """

    name: str
    language: str
    split: str
    data_file: str
    statistics: Statistics
    cleaner: Cleaner
    columns: Columns
    made: Mapping[str, str]
    phrasing: DecisionCounts | None
    scored: bool
    rejected: int = 0
    unanswered: int = 0
    command: str = ""
    origin: str = ""

    def text(self) -> str:
        """README.md."""
        overview = self.statistics.overview
        parts = [self._front_matter(), f"# {self.name}", self._summary(), "## Ladders", overview.examples()]
        parts += ["## Rows in and out", self._row_counts(), "## Classes of answers", self._classes()]
        parts += ["## How sure the links are", self._links()]
        parts.append("## Statistics")
        parts += [_table(head, rows, numbers=True) for head, rows in self.statistics.tables()]
        parts += ["## Cleaning", self._cleaning()]
        if self.phrasing is not None:
            parts += ["## Phrasing", self._phrasing_decisions(self.phrasing)]
        parts += ["## Columns", _table(("column", "what it holds"), [*_COLUMNS, *self._other_columns()])]
        made = [(key, f"`{value}`") for key, value in self.made.items()]
        parts += ["## How it was made", _table(("", ""), made)]
        if self.command:
            parts.append(f"The command, with files named without their folders:\n\n```sh\n{self.command}\n```")
        parts += ["## Loading", self._loading(), "## Licence", self._licence()]
        return "\n\n".join(parts) + "\n"

    def _front_matter(self) -> str:
        size = next((name for limit, name in _SIZES if self.statistics.rows < limit), "n>1M")
        lines = ["---", "# license: name the licence that you publish under; see the last section"]
        lines += [
            f"pretty_name: {json.dumps(self.name, ensure_ascii=False)}",
            f"language:\n- {json.dumps(self.language)}",
        ]
        lines += ["task_categories:\n- question-answering", f"size_categories:\n- {size}"]
        lines += ["configs:", "- config_name: default", "  data_files:"]
        lines += [f"  - split: {self.split}", f"    path: {json.dumps(self.data_file)}", "dataset_info:", "  features:"]
        for name, kind in self.columns.kinds.items():
            lines.append(f"  - name: {json.dumps(name, ensure_ascii=False)}")
            lines += _feature_lines(kind)
        return "\n".join([*lines, "---"])

    def _summary(self) -> str:
        how = "The coarser answers come from WikiData's statements and descriptions alone; no model took part."
        if self.phrasing is not None:
            how = (
                "The coarser answers were phrased by a model and each was checked against WikiData, as far as that "
                "tells; see below."
            )
        follows = "Each answer follows from the finer one before it. "
        if self.phrasing is not None and self.phrasing.as_paper:
            follows, how = "", "The coarser answers are those of a model, unchecked, as in Yona et al. 2024."
        text = f"Questions with answers at several granularities, finest first. {follows}{how}"
        return text + (
            f" {self.rejected:,} input rows could not be read; see `rejected.jsonl`." if self.rejected else ""
        )

    def _row_counts(self) -> str:
        overview, left = self.statistics.overview, self.cleaner.counts.items()
        dropped = [(f"left out: {WHAT_STEPS_DO[step]}", -count.dropped) for step, count in left if count.dropped]
        unread = [
            ("could not be used", -self.rejected),
            ("left out: questions to which their dataset has no answer", -self.unanswered),
        ]
        unread = [(name, number) for name, number in unread if number]
        read = self.statistics.rows + self.rejected + self.unanswered + sum(count.dropped for _, count in left)
        rows = [("rows read", read), *unread, *dropped]
        rows += [("**rows in this dataset**", self.statistics.rows), ("of them with a ladder", overview.laddered)]
        rows += [(f"of them with the gold answer alone: {why}", n) for why, n in overview.abstained.most_common()]
        told = _table(("", "rows"), [(name, f"{count:,}") for name, count in rows])
        if not overview.foreign:
            return told
        return f"{told}\n\n{share_of(overview.foreign, overview.tiers)} coarser answers are in another language than \
their row, for want of a label in it: `language` of the tier names it."

    def _classes(self) -> str:
        text = "By what the question asks for: its relation where one is known, else its words.\n\n"
        head = ("class", "rows", "with a ladder", "levels, mean")
        return text + _table(head, self.statistics.overview.by_class())

    def _links(self) -> str:
        text = (
            "A ladder stands on the entity that the answer was linked to. Of a row with several answers the least sure "
            "link counts.\n\n"
        )
        return text + _table(("confidence", "rows"), self.statistics.overview.by_link())

    def _cleaning(self) -> str:
        rows = []
        for step in STEPS:
            count = self.cleaner.counts.get(step)
            if count is None:
                rows.append((f"`{step}`", WHAT_STEPS_DO[step], "not applied", ""))
                continue
            note = (
                f"{count.answers:,} answer{'s' * (count.answers != 1)} taken out"
                if step is CleaningStep.TRIVIAL_ANSWERS
                else ""
            )
            if step is CleaningStep.TRIVIAL_ANSWERS and count.alone:
                note += f"; {count.alone:,} rows have the gold answer alone, and stay"
            note = "; ".join(f"{n:,} {reason}" for reason, n in count.reasons.most_common()) or note
            if step is CleaningStep.INCONSISTENT_DESCRIPTIONS and count.unjudged:
                note = f"{count.unjudged:,} rows have no score and stay" + (
                    "" if self.scored else ": no model was asked"
                )
            rows.append((f"`{step}`", WHAT_STEPS_DO[step], share_of(count.dropped, count.rows), note))
        cleaning = [count for step, count in self.cleaner.counts.items() if step is not CleaningStep.SEVERAL_ANSWERS]
        if cleaning:
            whole = share_of(sum(count.dropped for count in cleaning), cleaning[0].rows)
            rows.append(("all steps", "rows of those that were to be cleaned", whole, ""))
        table = _table(("step", "takes out", "rows left out", ""), rows)
        return f"In this order; rows left out stand in `dropped.jsonl` with the step and its reason.\n\n{table}"

    def _phrasing_decisions(self, counts: DecisionCounts) -> str:
        findings = [
            (f"`{name}`", "; ".join(f"{n:,} {action}" for action, n in sorted(by.items())))
            for name, by in sorted(counts.findings.items())
        ]
        stay = "; ".join(f"{n:,} {name}" for name, n in sorted(counts.fallbacks.items()))
        stayed = f" {sum(counts.fallbacks.values()):,} rows {counts.fallback_in_words}: {stay}." if stay else ""
        return (
            f"{counts.asked:,} of {counts.rows:,} rows were asked for, before cleaning.{stayed} What checking found of "
            "the model's words, and what was done with them; each decision stands in `phrasing.jsonl`:\n\n"
            + _table(("finding", "texts"), findings)
        )

    def _licence(self) -> str:
        if self.origin:
            return f"{_LICENCE} {self.origin} They keep that licence: name it too."
        return f"{_LICENCE} The questions keep the licence of where they come from: name it too."

    def _other_columns(self) -> list[tuple[str, str]]:
        others = [name for name in self.columns.kinds if name not in OWN]
        return (
            [(", ".join(f"`{name}`" for name in others), "from the questions, or notes on linking")] if others else []
        )

    def _loading(self) -> str:
        return (
            "```python\nfrom datasets import load_dataset\n\n"
            f'rows = load_dataset("PATH/TO/THIS/FOLDER", split="{self.split}")\n```\n\n'
            "`granola.match(\"a prediction\", rows[0][\"levels\"])` tells the level that a prediction states.\n\n"
            f"Or `granola score {self.data_file} PREDICTIONS`, which reads the levels with their aliases; with "
            "`--matcher f1` as the paper scores, by the gold answers without their aliases."
        )


def _feature_lines(kind: Kind, indent: str = "    ") -> list[str]:
    """The lines of the front matter for a column of a kind."""
    if kind == "strings":
        return [f"{indent}list: string"]
    if kind != "levels":
        return [f"{indent}dtype: {kind}"]
    lines = [f"{indent}list:", f"{indent}- name: tiers", f"{indent}  list:"]
    for name, inner in TIER.items():
        lines += [f"{indent}  - name: {name}", *_feature_lines(inner, f"{indent}    ")]
    return lines


_LICENCE = (
    "Not chosen here: whoever publishes this folder names it, above as `license:` and in this place. Facts, names and "
    "descriptions from WikiData are CC0."
)


def _table(head: tuple[str, ...], rows: Sequence[Sequence[Any]], *, numbers: bool = False) -> str:
    """A table in Markdown; with `numbers` all columns but the first are right-aligned."""
    others = len(head) - 1
    lines = [f"| {' | '.join(head)} |", "|---|" + ("---:|" if numbers else "---|") * others]
    lines += [
        "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in rows
    ]
    return "\n".join(lines)
