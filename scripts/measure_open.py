"""Measure what kinds of answer are read from open questions, those of datasets that no template made.

    python scripts/measure_open.py [--data ../shared/data] [--verbose]

Natural Questions, WebQuestions, Mintaka and SimpleQA: how many kinds are read as labelled by hand, of all and of those
where a kind is told. `--verbose` prints the questions that are read otherwise.
"""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

from measuring import ROOT, arguments

from abstraction.files.rows import QARow, read_questions
from abstraction.text.questions.question_wording import QuestionKind, asked_kind

LABELS = ROOT / "docs" / "evaluation" / "question-kinds.tsv"
FILES = ("nq_open_dev.jsonl", "webquestions.jsonl", "mintaka.jsonl", "simpleqa.csv")
# Kinds that no ladder is made differently for: a label of one is read as well as the other.
_K = QuestionKind
ALIKE = (
    {_K.PERSON, _K.GROUP_OR_PERSON},
    {_K.THING, _K.TEXT, _K.UNKNOWN},
    {_K.COUNT, _K.MEASURE},
    {_K.TEAM, _K.GROUP_OR_PERSON, _K.ORGANISATION},
    {_K.PERSON, _K.CHARACTER},
    {_K.SONG, _K.FILM, _K.BOOK, _K.WORK, _K.EPISODE},
    {_K.YES_NO, _K.CHOICE},
    {_K.RANK, _K.CODE, _K.SEASON},
    {_K.ANIMAL, _K.THING, _K.UNKNOWN},
)


def kinds(rows: list[QARow], labels: Path, *, verbose: bool) -> None:
    """How many kinds are read as labelled."""
    with labels.open(encoding="utf-8", newline="") as stream:
        lines = (line for line in stream if not line.startswith("#"))
        wanted = {line["id"]: line for line in csv.DictReader(lines, delimiter="\t")}
    exact = alike = told = told_right = many = 0
    wrong = Counter[tuple[str, str]]()
    asked = [row for row in rows if row.id in wanted]
    for row in asked:
        found, label = asked_kind(row.question), QuestionKind(wanted[row.id]["kind"])
        same = found.kind is label
        near = same or any({found.kind, label} <= group for group in ALIKE)
        exact += same
        alike += near
        told += found.kind is not QuestionKind.UNKNOWN
        told_right += near and found.kind is not QuestionKind.UNKNOWN
        many += found.many == (wanted[row.id]["many"] == "1")
        if not near:
            wrong[(label, found.kind)] += 1
            if verbose:
                print(f"  {row.id} {label} read as {found.kind} ({found.detail}): {row.question}")
    n = len(asked)
    print(f"kinds as labelled: {exact} of {n} = {100 * exact / n:.1f} %; or of kinds with the same ladders: "
          f"{alike} = {100 * alike / n:.1f} %; of {told} where a kind is told {told_right} = "
          f"{100 * told_right / told:.1f} %; several or one: {100 * many / n:.1f} %")  # fmt: skip
    for (label, kind), count in wrong.most_common(12):
        print(f"  {label} read as {kind}: {count}")


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--verbose", action="store_true", help="print the questions that are read otherwise")
    given = parser.parse_args()
    rows = list(read_questions([str(given.data / "open_qa" / name) for name in FILES]))
    kinds(rows, LABELS, verbose=given.verbose)


if __name__ == "__main__":
    main()
