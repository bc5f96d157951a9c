"""Measure linking against a snapshot's own statements.

    python scripts/measure_linking.py SNAPSHOT [--data ../shared/data] [--seed 1] [--verbose]

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

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from measuring import arguments, relation_files

from abstraction.base.properties import property_ids
from abstraction.base.relations import Classifier, Relation, relation, relations_by_id
from abstraction.linking.candidates import ValueCounts
from abstraction.linking.gazetteer import Gazetteer
from abstraction.linking.linker import Link, Linker
from kg.graph.graph import Graph
from kg.store.sqlite import SQLiteStore

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


def questions(graph: Graph, relations: Iterable[str], seed: int) -> Iterator[Question]:
    """The statements of the relations, in the order of the counts, drawn by the seed."""
    draw = random.Random(seed)
    for prop in relations:
        targets = [target for target, _ in graph.store.values_of(prop)]
        graph.fetch(targets)
        named = {t: label for t in targets if (label := graph.label(t))}
        graph.prefetch_names(named.values())
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


class OneUseLess(ValueCounts):
    """Counts without one use of the entity that is the right answer."""

    target: str | None = None

    def uses(self, relation: Relation, qid: str) -> int:
        """The uses of the entity, without that of the statement asked about."""
        return max(0, super().uses(relation, qid) - (qid == self.target))


def unaware(graph: Graph, asked: Question) -> Linker:
    """A linker that does not know the statement asked about, nor its inverse."""
    subject, target = graph.entity(asked.subject), graph.entity(asked.target)
    assert subject is not None
    assert target is not None
    statements = tuple(s for s in subject.statements if s.property != asked.relation.id)
    hidden = graph.with_entity(replace(subject, statements=statements))
    inverse = tuple(s for s in target.statements if s.target != asked.subject)
    hidden = hidden.with_entity(replace(target, statements=inverse))
    priors = OneUseLess(graph.store)
    priors.target = asked.target
    return Linker(hidden, Gazetteer(hidden, Classifier(hidden)), priors=priors)


def answers(linker: Linker, smallest: Linker, graph: Graph, asked: Question) -> dict[str, Link]:
    """The link of one question in each mode."""
    around = linker.subject_ids(graph.label(asked.subject), None, asked.relation)
    hidden = unaware(graph, asked)
    return {
        "smallest": smallest.link(asked.text, asked.relation),
        "name": hidden.link(asked.text, asked.relation),
        "name, counted": linker.link(asked.text, asked.relation),
        "subject": hidden.link(asked.text, asked.relation, subjects=around),
        "subject, all": linker.link(asked.text, asked.relation, subjects=around),
    }


class Tally:
    """Right, wrong and abstained links, by triples and by names, of `all` and of `ambiguous` names."""

    def __init__(self) -> None:
        self.triples: Counter[tuple[str, str, str]] = Counter()
        self.names: dict[tuple[str, str], dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
        self.confidence: Counter[tuple[str, str, bool]] = Counter()

    def add(self, asked: Question, links: dict[str, Link]) -> None:
        """Count one question."""
        for mode, link in links.items():
            gave_up = link.qid is None or link.abstained is not None
            right = not gave_up and link.qid == asked.target
            for part in ("all", "ambiguous") if asked.ambiguous else ("all",):
                for outcome in ("asked", "abstained" if gave_up else "right" if right else "wrong"):
                    self.triples[mode, part, outcome] += asked.weight  # type: ignore[assignment]
                self.names[mode, part][f"{asked.relation.id} {asked.target}"].append(right)
            self.confidence[mode, link.confidence or "abstained", right] += 1

    def share(self, mode: str, outcome: str) -> str:
        """Percent of the triples with this outcome, and of those of ambiguous names."""
        shares = ((self.triples[mode, part, outcome], self.triples[mode, part, "asked"]) for part in PARTS)
        return _of_both(shares)

    def share_of_names(self, mode: str) -> str:
        """Percent of the pairs of relation and value that are linked rightly, each counted once."""
        pairs = ([sum(one) / len(one) for one in self.names[mode, part].values()] for part in PARTS)
        return _of_both((sum(shares), len(shares)) for shares in pairs)


PARTS = ("all", "ambiguous")


def _of_both(shares: Iterable[tuple[float, float]]) -> str:
    first, second = (f"{100 * part / whole:.1f}" if whole else "-" for part, whole in shares)
    return f"{first} ({second})"


def report(per_relation: dict[str, Tally], total: Tally) -> None:
    """The tables on standard output."""

    def line(name: str, cells: Iterable[str]) -> None:
        print(f"{name:<22}" + "".join(f"{cell:>16}" for cell in cells))

    line("right, %, by triples", MODES)
    for name, tally in (*per_relation.items(), ("total", total)):
        line(name, (tally.share(mode, "right") for mode in MODES))
    for outcome in ("wrong", "abstained"):
        line(outcome, (total.share(mode, outcome) for mode in MODES))
    line("right, by names", map(total.share_of_names, MODES))
    print("in brackets ambiguous names alone\n\nright among links of a confidence, of how many questions:")
    for level in ("high", "medium", "low", "abstained"):
        counts = ([total.confidence[mode, level, right] for right in (True, False)] for mode in MODES)
        line(level, (f"{100 * right / (right + wrong):.1f} of {right + wrong}" if right + wrong else "-"
                     for right, wrong in counts))  # fmt: skip


def main() -> None:
    parser = arguments(__doc__, snapshot=True)
    parser.add_argument("--seed", type=int, default=1, help="which subjects are drawn")
    parser.add_argument("--verbose", action="store_true", help="list what is wrong with the subject given")
    given = parser.parse_args()
    with SQLiteStore.open(given.snapshot) as store:
        graph = Graph(store, properties=property_ids() | set(relations_by_id()))
        gazetteer = Gazetteer(graph, Classifier(graph))
        linker, smallest = Linker(graph, gazetteer), Linker(graph, gazetteer, method="smallest")
        asked = list(questions(graph, relation_files(given.data), given.seed))
        per_relation: dict[str, Tally] = defaultdict(Tally)
        total = Tally()
        for question in asked:
            links = answers(linker, smallest, graph, question)
            per_relation[question.relation.id].add(question, links)
            total.add(question, links)
            if given.verbose and links["subject"].qid != question.target:
                print(f"{question.relation.id} {graph.label(question.subject)} - {question.text}: {question.target}, "
                      f"{links['subject']}")  # fmt: skip
        report(per_relation, total)


if __name__ == "__main__":
    main()
