"""Write EntityQuestions' test split as one file of questions, in GRANOLA-EQ's order and under its numbers.

    python scripts/granola_eq_questions.py EntityQuestions/test > questions.jsonl
    granola dataset questions.jsonl --one-answer --linker smallest --snapshot SNAPSHOT --out granola-eq

Yona, Aharoni and Geva (2024) print 14,830 questions before cleaning and 12,452 rows after it: 1,409 left out by the
score for potential error, 2,378 in all. --phrase and --consistency of `granola dataset` use a model, as they did.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# GRANOLA-EQ's relations in its order. Its rows are numbered through EntityQuestions' test files in this order,
# questions with several answers left out: so the ids of its published rows say. The paper counts 16 question templates
# (P131 and P276 share one); with P800 the 17 properties have 14,830 such questions.
RELATIONS = (
    "P19", "P20", "P26", "P40", "P50", "P69", "P112", "P131",
    "P159", "P127", "P170", "P175", "P176", "P264", "P276", "P740", "P800",
)  # fmt: skip


def numbered_questions(folder: Path) -> Iterator[dict[str, Any]]:
    """The questions of a folder with a file for each relation (P19.test.json); those of one answer have a number."""
    number = 0
    for name in RELATIONS:
        for place, row in enumerate(json.loads((folder / f"{name}.test.json").read_text(encoding="utf-8")), start=1):
            has_one_answer = len(set(row["answers"])) == 1
            id_ = str(number) if has_one_answer else f"{name}-{place}"
            number += has_one_answer
            yield {"id": id_, "question": row["question"], "answer": row["answers"], "relation": name}


if __name__ == "__main__":
    for question in numbered_questions(Path(sys.argv[1])):
        print(json.dumps(question, ensure_ascii=False))
