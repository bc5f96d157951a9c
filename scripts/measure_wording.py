"""Measure what the wording of questions tells.

    python scripts/measure_wording.py [--data ../shared/data] [--verbose]

EntityQuestions (test; its own template a relation), SimpleQuestions (people's wordings; a relation R... asks for the
subject and has no property to be found) and QALD-10 (the direct properties of a question's query; several lead to the
answer by steps, any of them may be told).

found     of the questions with one property, those where it is told
right     of the questions where a property is told, those where it is asked for
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from abstraction.questions.relation_wording import read_wording
from abstraction.relations import table

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"
# Two names of one question: the language of a film, a place and what administers it.
SAME = ({"P364", "P407"}, {"P22", "P25"}, {"P131", "P276"}, {"P50", "P170"})
KIN = (
    {"person", "agent"}, {"performer", "agent"}, {"owner", "agent"}, {"company", "agent"}, {"label", "agent"},
    {"place", "country"},
)  # fmt: skip
INVERSE = {"R40": "P22"}  # the parent of a child is the child's father or mother
_PROPERTY = re.compile(r"(?:wdt:|/prop/direct/|\bp:)(P\d+)")

Asked = tuple[str, frozenset[str]]
"""A question and the properties that it asks for: one, several on the way to the answer, or none."""


def entity_questions(data: Path) -> Iterator[Asked]:
    """Every test question; its file tells the property."""
    for path in sorted((data / "entityquestions" / "test").glob("P*.json")):
        relation = path.name.split(".")[0]
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
    per: dict[str, Counter[str]] = {}
    for question, asked in questions:
        wording = read_wording(question)
        one = next(iter(asked)) if len(asked) == 1 else None
        row = per.setdefault(one or ("several" if asked else "none"), Counter())
        counts["all"] += 1
        counts["with"] += one is not None
        row["all"] += 1
        if wording.relation:
            right = same(wording.relation, asked)
            counts["told"] += 1
            counts["right"] += right
            counts["found"] += right and one is not None
            row["right"] += right
            row["wrong"] += not right
            if verbose and not right:
                print(f"  {one} but {wording.relation} ({wording.subject}): {question}")
        elif wording.kind:
            counts["kind"] += 1
            if one in table() and one:
                wanted = table()[one].asks
                counts["kind asked"] += 1
                agree = wanted == wording.kind.asks or {wanted, wording.kind.asks} in KIN
                counts["kind agrees"] += agree
                if verbose and not agree:
                    print(f"  {one} asks {wanted} but {wording.kind.asks}: {question}")
        elif verbose and one in table():
            print(f"  {one} untold: {question}")

    def share(part: str, whole: str) -> str:
        return f"{counts[part]}/{counts[whole]} {100 * counts[part] / counts[whole]:.1f} %" if counts[whole] else "-"

    print(f"{name}: {counts['all']} questions, {counts['with']} with a property")
    print(f"  found {share('found', 'with')}, right {share('right', 'told')}")
    print(
        f"  else a sort of answer {counts['kind']}; it agrees with the property's {share('kind agrees', 'kind asked')}"
    )
    for relation, row in sorted(per.items(), key=lambda item: -item[1]["all"])[:24]:
        print(f"    {relation:<6} {row['all']:>5} questions, right {row['right']}, wrong {row['wrong']}")


def main(arguments: Iterable[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=DATA, help=f"folder of the public data sets [{DATA.name}]")
    parser.add_argument("--verbose", action="store_true", help="list every question that is read otherwise")
    given = parser.parse_args(None if arguments is None else list(arguments))
    if not given.data.is_dir():
        print(f"measure_wording: no folder {given.data}; give --data", file=sys.stderr)
        return 2
    measure("EntityQuestions", entity_questions(given.data), verbose=given.verbose)
    measure("SimpleQuestions", simple_questions(given.data), verbose=given.verbose)
    measure("QALD-10", qald(given.data), verbose=given.verbose)
    return 0


if __name__ == "__main__":
    sys.exit(main())
