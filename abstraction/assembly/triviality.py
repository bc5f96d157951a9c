"""Which classes say nothing new about a relation's answers, as measured: those that most of its answers are told to be.

Who asks for a work's language expects one of the Indo-European family. A tier holds for an answer where the answer's
own ladder has it. The answers are those of the whole source, weighted by how many entities carry each: those that
things like the question's subject have, of genres those of the answer's own art, and all where these are too few.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from abstraction.assembly.filters import without_article
from abstraction.proposals import LadderCase, Proposal
from abstraction.relations import Relation, table
from abstraction.tiers import Condition, Level, Tier
from kg.bounded_cache import SizedDict
from kg.terms import normalise
from kg.walks.graph import Graph

TRIVIAL_SHARE = 2 / 3  # of the relation's answers; docs/reference/rules.md says what lies on either side
HALF = 1 / 2  # of the different answers: what is true of one frequent answer alone tells which it is
ANSWERS = 150  # the most frequent answers of a relation that are looked at
SUBJECTS = 20  # entities with an answer whose kinds are looked at
FEWEST, STATED = 20, 250  # different answers, and entities with one, below which the relation's own list counts alone
UNLISTED = 5  # the same where the relation has no list
KEPT = 500_000  # tiers of the answers of all relations: 100 MB at most
_OF_CLASS = frozenset({"P31", "P279", "P106", "P136", "P407"})

Build = Callable[[LadderCase], list[Proposal]]


@dataclass(frozen=True, kw_only=True, slots=True)
class FrequentAnswer:
    """A frequent answer: how many entities have it, of a genre its arts, and what its ladder may say of it."""

    count: int
    arts: frozenset[str]
    tiers: frozenset[str]


class Triviality:
    """Measured shares of one graph; each relation is read once. `build` proposes the tiers of an answer."""

    def __init__(self, graph: Graph, build: Build) -> None:
        self._graph = graph
        self._build = build
        self._answers: SizedDict[str, Mapping[str, FrequentAnswer]] = SizedDict(
            KEPT, lambda _, answers: 5 + sum(5 + len(answer.tiers) for answer in answers.values())
        )
        self._kinds: SizedDict[str, Mapping[str, Counter[str]]] = SizedDict(
            KEPT, lambda _, kinds: 5 + sum(map(len, kinds.values()))
        )
        self._shares: SizedDict[tuple[str, str, str], tuple[float, float] | None] = SizedDict(KEPT, lambda *_: 1)

    def is_trivial(self, case: LadderCase, proposal: Proposal) -> bool:
        """Whether the tier names a class alone, and most of the answers are of it.

        Named places and tiers with a nationality, a place or a modifier never are.
        """
        if not case.relation.id or not proposal.conditions or not all(map(_is_class, proposal.conditions)):
            return False
        shares = self.shares(case, proposal)
        return shares is not None and shares[0] >= TRIVIAL_SHARE and shares[1] >= HALF

    def shares(self, case: LadderCase, proposal: Proposal) -> tuple[float, float] | None:
        """The shares, each in [0, 1], of entities with an answer and of different answers that the tier is true of.

        None where too few are known.
        """
        tier = _key(proposal)
        for kind in self._groups(case):
            key = (case.relation.id, kind, tier)
            if key not in self._shares:
                self._shares[key] = self._shares_among(case, kind, tier)
            if (measured := self._shares[key]) is not None:
                return measured
        return None

    def weighed(
        self,
        levels: tuple[Level, ...],
        case: LadderCase,
        worded: Mapping[str, Proposal],
        nodes: Mapping[str, Proposal],
        of_answer: Callable[[str, str], float | None],
    ) -> tuple[Level, ...]:
        """The levels, the answer's first, with bits given the question: -log2 of the share of the relation's answers.

        `worded` are the proposals as the levels have them, `nodes` the same before they were worded. A coarser level
        never tells more than a finer one. A tier that none of the measured answers has gets none.
        """
        relation = case.relation.id
        most = of_answer(case.answer, relation) if relation and len(levels) > 1 else None
        if most is None:
            return levels
        keys = {normalise(node.text): key for key, node in worded.items()}

        def with_bits(tier: Tier, bound: float) -> Tier:
            key = keys.get(normalise(tier.text))
            shares = self.shares(case, nodes[key]) if key is not None else None
            if shares is None or not shares[0]:
                return tier
            return replace(tier, bits_asked=min(bound, -math.log2(min(1.0, shares[0]))))

        out, bound = [Level(tiers=tuple(replace(tier, bits_asked=most) for tier in levels[0].tiers))], most
        for level in levels[1:]:
            tiers = tuple(with_bits(tier, bound) for tier in level.tiers)
            out.append(replace(level, tiers=tiers))
            bound = max((tier.bits_asked for tier in tiers if tier.bits_asked is not None), default=bound)
        return tuple(out)

    def _groups(self, case: LadderCase) -> Iterable[str]:
        """Kinds of subjects, or of genres, the most telling first; "" for all answers."""
        if case.subject:
            yield from (f"subject {kind}" for kind in self._graph.classes(case.subject))
        if case.relation.asks == "genre":
            yield from (f"answer {kind}" for kind in self._arts(case.answer, case.relation))
        yield ""

    def _arts(self, genre: str, relation: Relation) -> list[str]:
        """Of what art a genre is, by its classes that only repeat the question: "film" for film, film genre."""
        kinds = dict.fromkeys((*self._graph.classes(genre), *self._graph.targets(genre, "P279")))
        self._graph.fetch(kinds)
        labels = (normalise(self._graph.label(kind) or "") for kind in kinds)
        return list(
            dict.fromkeys(label.split()[0] for label in labels if label != "genre" and label in relation.trivial)
        )

    def _shares_among(self, case: LadderCase, group: str, tier: str) -> tuple[float, float] | None:
        of, _, kind = group.partition(" ")
        answers = self._of_relation(case)
        weights = {qid: float(answer.count) for qid, answer in answers.items()}
        if of == "answer":
            weights = {qid: weight for qid, weight in weights.items() if kind in answers[qid].arts}
        elif of == "subject" and answers:
            subjects = self._subjects(case.relation.id, answers)
            weights = {
                qid: weight * subjects[qid][kind] / subjects[qid][""]
                for qid, weight in weights.items()
                if subjects[qid][kind]
            }
        total = sum(weights.values())
        fewest, stated = _least(case)
        if len(weights) < fewest or total < stated:
            return None
        having = [qid for qid in weights if tier in answers[qid].tiers]
        return sum(weights[qid] for qid in having) / total, len(having) / len(weights)

    def _of_relation(self, case: LadderCase) -> Mapping[str, FrequentAnswer]:
        """The most frequent answers of the relation of which anything can be told; none where they are too few."""
        relation = case.relation.id
        known = self._answers.get(relation)
        if known is None:
            graph = self._graph
            values = graph.store.values_of(relation, limit=ANSWERS)
            known = {}
            if sum(count for _, count in values) >= _least(case)[1]:
                graph.fetch(qid for qid, _ in values)
                for qid, count in values:
                    alone = replace(case, answer=qid, question="", subject=None, subject_text=None, at=None)
                    if tiers := frozenset(map(_key, self._build(alone))):
                        known[qid] = FrequentAnswer(
                            count=count, arts=frozenset(self._arts(qid, case.relation)), tiers=tiers
                        )
            self._answers[relation] = known
        return known

    def _subjects(self, relation: str, answers: Iterable[str]) -> Mapping[str, Counter[str]]:
        """Of each answer: how many of its first entities are of a kind, and under "" how many were looked at."""
        known = self._kinds.get(relation)
        if known is None:
            store = self._graph.store
            referrers = store.referrers([(relation, qid) for qid in answers], limit=SUBJECTS)
            read = store.entities(
                {subject for subjects in referrers.values() for subject in subjects}, languages=(), properties=("P31",)
            )
            kinds = {
                subject: {"", *(s.target for s in entity.values("P31") if s.target)} for subject, entity in read.items()
            }
            known = {
                qid: Counter(
                    kind for subject in referrers.get((relation, qid), ()) for kind in kinds.get(subject, ("",))
                )
                for qid in answers
            }
            self._kinds[relation] = known
        return known


def _least(case: LadderCase) -> tuple[int, int]:
    return (FEWEST, STATED) if case.relation.id in table() else (UNLISTED, UNLISTED)


def _key(proposal: Proposal) -> str:
    return proposal.qid or without_article(proposal.text)


def _is_class(condition: Condition) -> bool:
    """Whether a condition states no more than a class."""
    return condition.property in _OF_CLASS or (
        condition.property == "text" and condition.value.rpartition(":")[0] in ("", "kind", "occupation")
    )
