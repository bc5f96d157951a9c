"""Measure linking against a snapshot's own statements.

    python scripts/measure_linking.py SNAPSHOT [--data ../shared/data] [--seed 1] [--verbose] [--absent]

Every statement subject - relation - value of EntityQuestions' relations is a question with a known answer: which
entity does the value's label mean? The linker gets the label and the relation, and where said the subject's label.
Each pair of relation and value is asked with up to five of its subjects, drawn by the seed; a pair counts as often as
its value does ("by triples") or once ("by names"). A name is ambiguous where several entities of the snapshot carry it.

smallest       the smallest id among all that carry the name
name           the linker, without subject; the statement asked about is taken out of the counts
name, counted  the same with the counts as they are
subject        with the subject's label; the statement and its inverse are not used, nor counted
subject, all   the same with all that the snapshot has: the answer may be looked up
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from abstraction.classes import Classifier
from abstraction.linking.gazetteer import Gazetteer
from abstraction.linking.link_features import Measured
from abstraction.linking.linker import Link, Linker
from abstraction.linking.priors import Priors
from abstraction.properties import properties
from abstraction.relations import Relation, relation, table
from kg.model import entity_number
from kg.store.protocol import NameMatch
from kg.store.sqlite import SQLiteStore
from kg.walks.graph import Graph

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"
SUBJECTS = 5
MODES = ("smallest", "name", "name, counted", "subject", "subject, all")


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """One statement asked about; `weight` is how many statements it stands for."""

    relation: Relation
    subject: str
    target: str
    text: str
    weight: float
    ambiguous: bool


class Partial(Graph):
    """A graph that names lead to an entity in, unless it is the `absent` one."""

    absent: str | None = None

    def find(self, text: str) -> tuple[NameMatch, ...]:
        """Who carries the name, as the linker shall see it."""
        found = super().find(text)
        return tuple(m for m in found if m.id != self.absent) if self.absent else found


def questions(graph: Graph, relations: Iterable[str], seed: int) -> Iterator[Question]:
    """The statements of the relations, in the order of the counts, drawn by the seed."""
    draw = random.Random(seed)
    for prop in relations:
        targets = [target for target, _ in graph.store.values_of(prop)]
        graph.fetch(targets)
        named = {t: label for t in targets if (label := graph.label(t))}
        graph.find_all(named.values())
        asked = graph.store.referrers([(prop, t) for t in named])
        for (_, target), subjects in asked.items():
            drawn = draw.sample(subjects, min(SUBJECTS, len(subjects)))
            graph.fetch(drawn)
            ambiguous = len({m.id for m in graph.find(named[target]) if m.id.startswith("Q")}) > 1
            for subject in drawn:
                yield Question(
                    relation=relation(prop),
                    subject=subject,
                    target=target,
                    text=named[target],
                    weight=len(subjects) / len(drawn),
                    ambiguous=ambiguous,
                )


def answers(linker: Linker, smallest: Linker, graph: Graph, asked: Question) -> dict[str, Link]:
    """The link of one question in each mode."""
    measured = Measured(subject=asked.subject, property=asked.relation.id, target=asked.target)
    around = linker.subjects(graph.label(asked.subject), None, asked.relation)
    return {
        "smallest": smallest.link(asked.text, asked.relation),
        "name": linker.link(asked.text, asked.relation, measured=measured),
        "name, counted": linker.link(asked.text, asked.relation),
        "subject": linker.link(asked.text, asked.relation, subjects=around, measured=measured),
        "subject, all": linker.link(asked.text, asked.relation, subjects=around),
    }


class Tally:
    """Right, wrong and abstained links, by triples and by names, all and ambiguous."""

    def __init__(self) -> None:
        self.triples: Counter[tuple[str, str, str]] = Counter()
        self.names: dict[tuple[str, str, bool], list[float]] = defaultdict(list)
        self.confidence: Counter[tuple[str, str, bool]] = Counter()

    def add(self, asked: Question, links: dict[str, Link]) -> None:
        """Count one question."""
        for mode, link in links.items():
            gave_up = link.qid is None or link.abstained is not None
            right = not gave_up and link.qid == asked.target
            outcome = "abstained" if gave_up else "right" if right else "wrong"
            for part in ("all", "ambiguous") if asked.ambiguous else ("all",):
                self.triples[mode, part, outcome] += asked.weight  # type: ignore[assignment]
                self.triples[mode, part, "all"] += asked.weight  # type: ignore[assignment]
            self.names[mode, f"{asked.relation.id} {asked.target}", asked.ambiguous].append(right)
            self.confidence[mode, link.confidence or "abstained", right] += 1

    def share(self, mode: str, part: str, outcome: str) -> str:
        """Percent of the triples of a part with this outcome."""
        whole = self.triples[mode, part, "all"]
        return f"{100 * self.triples[mode, part, outcome] / whole:.1f}" if whole else "-"

    def share_of_names(self, mode: str, *, ambiguous: bool) -> str:
        """Percent of the pairs of relation and value that are linked rightly, each counted once."""
        shares = [sum(r) / len(r) for (m, _, hard), r in self.names.items() if m == mode and hard >= ambiguous]
        return f"{100 * sum(shares) / len(shares):.1f}" if shares else "-"


def report(per_relation: dict[str, Tally], total: Tally) -> None:
    """The tables on standard output."""
    print(f"{'right, %, by triples':<22}" + "".join(f"{mode:>16}" for mode in MODES) + "   (ambiguous names)")
    for name, tally in (*per_relation.items(), ("total", total)):
        cells = (f"{tally.share(m, 'all', 'right')} ({tally.share(m, 'ambiguous', 'right')})" for m in MODES)
        print(f"{name:<22}" + "".join(f"{cell:>16}" for cell in cells))
    for label, outcome in (("wrong", "wrong"), ("abstained", "abstained")):
        cells = (f"{total.share(m, 'all', outcome)} ({total.share(m, 'ambiguous', outcome)})" for m in MODES)
        print(f"{label:<22}" + "".join(f"{cell:>16}" for cell in cells))
    cells = (f"{total.share_of_names(m, ambiguous=False)} ({total.share_of_names(m, ambiguous=True)})" for m in MODES)
    print(f"{'right, by names':<22}" + "".join(f"{cell:>16}" for cell in cells))
    print("\nright among links of a confidence, of how many questions:")
    for level in ("high", "medium", "low", "abstained"):
        line = f"{level:<22}"
        for mode in MODES:
            right, wrong = (total.confidence[mode, level, ok] for ok in (True, False))
            line += f"{f'{100 * right / (right + wrong):.1f} of {right + wrong}' if right + wrong else '-':>16}"
        print(line)


def absent(graph: Partial, gazetteer: Gazetteer, asked: list[Question]) -> None:
    """How often a namesake is believed where the snapshot lacks the entity that is meant."""
    priors = Priors(graph.store)
    counts: Counter[str] = Counter()
    for question in asked:
        if not question.ambiguous:
            continue
        graph.absent = question.target
        linker = Linker(graph, gazetteer, priors=priors)  # keeps what a name may mean
        around = linker.subjects(graph.label(question.subject), None, question.relation)
        link = linker.link(question.text, question.relation, subjects=around)
        counts["abstained" if link.abstained or not link.qid else link.confidence or ""] += 1
    graph.absent = None
    print(f"\nwith the right entity taken out, {sum(counts.values())} ambiguous questions with the subject's label:")
    print("  ".join(f"{name} {counts[name]}" for name in ("abstained", "low", "medium", "high")))


def main(arguments: Iterable[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("snapshot", type=Path, help="a snapshot of wikidata/entities.json.gz")
    parser.add_argument("--data", type=Path, default=DATA, help=f"folder of the public data sets [{DATA.name}]")
    parser.add_argument("--seed", type=int, default=1, help="which subjects are drawn [1]")
    parser.add_argument("--verbose", action="store_true", help="list what is wrong with the subject given")
    parser.add_argument("--absent", action="store_true", help="also with the right entity taken out")
    given = parser.parse_args(None if arguments is None else list(arguments))
    files = sorted((given.data / "entityquestions" / "test").glob("P*.json"))
    if not files:
        print(f"measure_linking: no entityquestions/test/P*.json in {given.data}; give --data", file=sys.stderr)
        return 2
    relations = sorted({path.name.split(".")[0] for path in files}, key=entity_number)
    with SQLiteStore.open(given.snapshot) as store:
        graph = Partial(store, properties=properties() | set(table()))
        gazetteer = Gazetteer(graph, Classifier(graph))
        linker, smallest = Linker(graph, gazetteer), Linker(graph, gazetteer, method="smallest")
        asked = list(questions(graph, relations, given.seed))
        per_relation: dict[str, Tally] = defaultdict(Tally)
        total = Tally()
        for question in asked:
            links = answers(linker, smallest, graph, question)
            per_relation[question.relation.id].add(question, links)
            total.add(question, links)
            link = links["subject"]
            if given.verbose and link.qid != question.target:
                print(
                    f"{question.relation.id} {graph.label(question.subject)} - {question.text}: {question.target} "
                    f"({graph.description(question.target)}), linked {link.qid} "
                    f"({graph.description(link.qid) if link.qid else link.abstained}; {link.confidence} {link.rule})"
                )
        report(per_relation, total)
        if given.absent:
            absent(graph, gazetteer, asked)
    return 0


if __name__ == "__main__":
    sys.exit(main())
