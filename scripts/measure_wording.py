"""Measure what the wording of questions tells.

    python scripts/measure_wording.py [--data ../shared/data] [--verbose]

EntityQuestions (test; its own template a relation), SimpleQuestions (people's wordings; a relation R... asks for the
subject and has no property to be found) and QALD-10 (the direct properties of a question's query; several lead to the
answer by steps, any of them may be told).

found     of the questions with one property, those where it is told
right     of the questions where a property is told, those where it is asked for
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from measuring import arguments, percent, relation_files

from abstraction.base.relations import relations_by_id
from abstraction.text.questions.question_wording import read_relation_wording

# Two names of one question: the language of a film, a place and what administers it.
SAME = ({"P364", "P407"}, {"P22", "P25"}, {"P131", "P276"}, {"P50", "P170"})
INVERSE = {"R40": "P22"}  # the parent of a child is the child's father or mother
_PROPERTY = re.compile(r"(?:wdt:|/prop/direct/|\bp:)(P\d+)")

Asked = tuple[str, frozenset[str]]
"""A question and the properties that it asks for: one, several on the way to the answer, or none."""


def entity_questions(data: Path) -> Iterator[Asked]:
    """Every test question; its file tells the property."""
    for relation, path in relation_files(data).items():
        for row in json.loads(path.read_text(encoding="utf-8")):
            yield row["question"], frozenset({relation})


def simple_questions(data: Path) -> Iterator[Asked]:
    """Every answerable test question."""
    with gzip.open(data / "simplequestions" / "test_answerable.tsv.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            _, relation, _, question = line.rstrip("\n").split("\t")
            asked = relation if relation.startswith("P") else INVERSE.get(relation)
            yield question, frozenset({asked} if asked else ())


def qald(data: Path) -> Iterator[Asked]:
    """Every question in English with the direct properties of its query."""
    with gzip.open(data / "qald10" / "qald_10.json.gz", "rt", encoding="utf-8") as stream:
        for row in json.load(stream)["questions"]:
            english = [q["string"] for q in row["question"] if q["language"] == "en"]
            asked = frozenset(_PROPERTY.findall(row["query"]["sparql"]))
            yield from ((text, asked) for text in english)


def same(told: str, asked: frozenset[str]) -> bool:
    """Whether the property told is among those asked for, by one of its names."""
    return told in asked or any(told in pair and not pair.isdisjoint(asked) for pair in SAME)


def measure(name: str, questions: Iterable[Asked], *, verbose: bool) -> None:
    """One paragraph on standard output."""
    counts: Counter[str] = Counter()
    per: dict[str, Counter[str]] = defaultdict(Counter)
    for question, asked in questions:
        told = read_relation_wording(question).relation
        one = next(iter(asked)) if len(asked) == 1 else None
        right = told is not None and same(told, asked)
        counts.update({"all": 1, "with": one is not None, "told": told is not None, "right": right})
        counts["found"] += right and one is not None
        per[one or ("several" if asked else "none")].update(all=1, right=right, wrong=told is not None and not right)
        if verbose and not right and (told or one in relations_by_id()):
            print(f"  {one} but {told}: {question}")
    print(f"{name}: {counts['all']} questions, {counts['with']} with a property")
    print(f"  found {counts['found']}/{counts['with']} {percent(counts['found'], counts['with'])},"
          f" right {counts['right']}/{counts['told']} {percent(counts['right'], counts['told'])}")  # fmt: skip
    for relation, row in sorted(per.items(), key=lambda item: -item[1]["all"])[:24]:
        print(f"    {relation:<6} {row['all']:>5} questions, right {row['right']}, wrong {row['wrong']}")


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--verbose", action="store_true", help="list every question that is read otherwise")
    given = parser.parse_args()
    measure("EntityQuestions", entity_questions(given.data), verbose=given.verbose)
    measure("SimpleQuestions", simple_questions(given.data), verbose=given.verbose)
    measure("QALD-10", qald(given.data), verbose=given.verbose)


if __name__ == "__main__":
    main()
