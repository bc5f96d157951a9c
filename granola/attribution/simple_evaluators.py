"""Evaluators without any text model: the graph, and words that statement and citations share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from granola.attribution.attribution_samples import AttributionSample
from granola.attribution.categories import Category
from granola.attribution.evaluation import automatic_facts
from granola.attribution.evaluators import AttributionJudgement, of_category
from granola.attribution.label_proofs import is_true
from granola.attribution.relation_table import RelationValues
from granola.code_hash import hash_of_modules
from kg.errors import GroundingError, QueryShapeError
from kg.queries import Fact, Grounding, Hop, LogicalQuery, StoreFacts, ground
from kg.queries.query_grounding import fact_of
from kg.queries.query_mining import name_of

# An evaluator without a model: the names in the citations are looked up, and the query is tested on them.
#
# Of each hop of the query it asks whether a citation names both ends of the fact that the graph holds there, or one
# end and something else of the answer's class that the graph does not hold there.

LONGEST = 2_000  # words of a citation that are looked at
_NAME = 14  # words of a name
_CARRIERS = 20  # entities of a name that are looked at


class GraphEvaluator:
    """Looks the names in citations up and tests the query on them: what they are to the answer, by a store alone."""

    def __init__(self, facts: StoreFacts) -> None:
        self._facts = facts
        self._values = RelationValues(facts)

    def signature(self) -> str:
        """`graph|snapshot:ID|v:HASH`."""
        snapshot = str(self._facts.store.manifest()["snapshot_id"])[:8]
        return f"graph|snapshot:{snapshot}|v:{hash_of_modules('granola.attribution.simple_evaluators')}"

    def judged(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionJudgement]:
        """As `AttributionEvaluator.judged`; a sample without a query that the graph answers has no verdict."""
        for sample in samples:
            category = self._category(sample)
            if category is None:
                yield AttributionJudgement(id=sample.id, failed="no query that the graph answers")
            else:
                yield of_category(sample, category)

    def fact_verdicts(self, samples: Sequence[AttributionSample]) -> Iterator[tuple[bool | None, ...]]:
        """As `FactJudge.fact_verdicts`: what the citations state is known, so this is the automatic score itself."""
        return map(automatic_facts, samples)

    def _category(self, sample: AttributionSample) -> Category | None:
        truth = self._truth(sample)
        if truth is None:
            return None
        named = [self._named(citation) for citation in sample.citations]
        needed = truth.facts()
        stated = {fact for fact in needed if any({fact.subject, fact.object} <= names.keys() for names in named)}
        if self._is_contradicted(truth, stated, named):
            return Category.CONTRADICTORY
        if len(stated) == len(needed):
            return Category.SUPPORTIVE
        return Category.PARTIAL if stated else Category.IRRELEVANT

    def _truth(self, sample: AttributionSample) -> Grounding | None:
        if sample.query is None:
            return None
        try:
            query = LogicalQuery.from_json(sample.query)
            truth = ground(query, self._facts)
        except (QueryShapeError, GroundingError, KeyError, TypeError, ValueError):
            return None  # no query, or a damaged one: the others go on
        return truth if truth.answers else None

    def _is_contradicted(self, truth: Grounding, stated: set[Fact], named: Sequence[dict[str, str]]) -> bool:
        """Whether a citation names what leads to the answer, and in the answer's place something that is false."""
        answers = set(truth.answers)
        kinds = frozenset(kind for answer in answers for kind in self._values.classes(answer))
        for at, branch in enumerate(truth.query.branches):
            last = branch.hops[-1]
            ways = [truth.ways[answer][at] for answer in truth.answers if truth.ways[answer][at]]
            before = {way[-1].subject if last.forward else way[-1].object for way in ways}
            if ways and all(way[-1] in stated for way in ways):
                continue
            for names in named:
                for end in before & names.keys():
                    others = [other for other in names if other not in answers and other not in before]
                    if any(self._is_instead(other, end, last, names, kinds) for other in others):
                        return True
        return False

    def _is_instead(self, other: str, end: str, last: Hop, names: dict[str, str], kinds: frozenset[str]) -> bool:
        if kinds.isdisjoint(self._values.classes(other)) or names[other] == names[end]:
            return False
        if is_true(fact_of(end, last, other), self._facts):
            return False
        if not last.forward:
            return True
        # What the end is connected with otherwise is most likely mentioned for that.
        entity = self._facts.entity(end)
        return entity is not None and all(statement.target != other for statement in entity.statements)

    def _named(self, text: str) -> dict[str, str]:
        """The entities that a text names, by the longest names, each with the words that name it."""
        words = text.split()[:LONGEST]
        spans = {
            (start, length): _forms(" ".join(words[start : start + length]))
            for start in range(len(words))
            for length in range(1, min(_NAME, len(words) - start) + 1)
        }
        asked = {form for forms in spans.values() for form in forms}
        matches_of = self._facts.store.find(asked, languages=("en", "mul"))
        named: dict[str, str] = {}
        start = 0
        while start < len(words):
            for length in range(min(_NAME, len(words) - start), 0, -1):
                name = next((form for form in spans[start, length] if form in matches_of), None)
                if name is not None:
                    for match in matches_of[name][:_CARRIERS]:
                        if match.id.startswith("Q"):
                            named.setdefault(match.id, name)
                    start += length - 1
                    break
            start += 1
        self._facts.fetch(named)
        return {
            entity_id: name for entity_id, name in named.items() if name_of(self._facts.entity(entity_id)) is not None
        }


def _forms(span: str) -> tuple[str, ...]:
    """How a name may stand there: as it is, without the marks around it, without what shows possession."""
    bare = span.strip('()[]"“”,;:!?')
    forms = (bare, bare.removesuffix("."), bare.removesuffix("'s").removesuffix("’s"))
    return tuple(dict.fromkeys(form for form in forms if form))


# Words that both have in common.


@dataclass(frozen=True, kw_only=True, slots=True)
class WordEvaluator:
    """The baseline: a sample is supported where the citations have `share` of the statement's words.

    Words of four letters and more, as `granola.grounding.sentence_judges.WordSentences` takes them; it tells no
    categories.
    """

    share: float = 0.6

    def signature(self) -> str:
        """`words|share:S`."""
        return f"words|share:{self.share:g}"

    def judged(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionJudgement]:
        """As `AttributionEvaluator.judged`."""
        for sample in samples:
            words, there = long_words(sample.statement), long_words(" ".join(sample.citations))
            supported = not words or len(words & there) / len(words) >= self.share
            yield AttributionJudgement(id=sample.id, supported=supported)


def long_words(text: str) -> frozenset[str]:
    """The words of four letters and more, case aside."""
    return frozenset(re.findall(r"\w{4,60}", text.casefold()[:200_000]))
