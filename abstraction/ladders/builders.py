"""The choice of the builder of a ladder: by the type of answer that the relation asks for, then by the class of the
answer.

Its proposals are kept for the next question with the same answer.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from abstraction.base.tiers import Ladder
from abstraction.ladders.assembly.filters import is_trivial
from abstraction.ladders.assembly.levels import Graph, as_graph
from abstraction.ladders.assembly.translation import Localised, is_woman, localise
from abstraction.ladders.class_terms import concepts, genres, taxa, terms
from abstraction.ladders.groups import groups
from abstraction.ladders.landholders import landholders
from abstraction.ladders.language_ladders import languages
from abstraction.ladders.office_phrases import may_name_subject
from abstraction.ladders.organisation_ladders import organisations, schools
from abstraction.ladders.person_ladders import people
from abstraction.ladders.place_ladders import places
from abstraction.ladders.positions import positions, posts
from abstraction.ladders.proposals import Builder, LadderCase, Proposal
from abstraction.ladders.things import awards, events
from abstraction.ladders.work_ladders import works
from kg.base.bounded_cache import SizedDict
from kg.base.model import TimeValue

# Builders by the type that the relation asks for, which takes precedence over the class of the answer.
_BY_ASKS: Mapping[str, Builder] = {
    "place": places,
    "country": places,
    "school": schools,
    "genre": genres,
    "occupation": terms,
    "language": languages,
    "position": positions,
    "award": awards,
    "taxon": taxa,
    "office": posts,
    "religion": concepts,
    "sport": concepts,
    "instrument": concepts,
    "color": concepts,
    "people": concepts,
    "movement": concepts,
}
# Types of answer for which a place acts as an owner or maker: "a city in Egypt" rather than "Egypt".
_ACTING = frozenset({"agent", "owner", "company", "performer"})
# Builders by the class of the answer, for questions without a relation or about any agent; the first match is used.
_BY_CLASS: tuple[tuple[str, Builder], ...] = (
    ("person", people),
    ("fictional", people),
    ("office", posts),
    ("award", awards),
    ("group", groups),
    ("label", organisations),
    ("club", organisations),
    ("school", organisations),
    ("country", places),
    ("company", organisations),
    ("place", places),
    ("work", works),
    ("genre", genres),
    ("occupation", terms),
    ("language", languages),
    ("position", positions),
    ("taxon", taxa),
    ("organisation", organisations),
    ("building", places),
    ("event", events),
)
# For answers of unknown class: the type that the relation asks for is the best guess; an unfit builder returns nothing.
_GUESSES: Mapping[str, tuple[Builder, ...]] = {
    "person": (people,),
    "performer": (people, groups),
    "agent": (people, organisations),
    "owner": (organisations,),
    "company": (organisations,),
    "label": (organisations,),
    "work": (works,),
    "any": (concepts,),
}


def builder_for(asks: str, kinds: Collection[str]) -> Builder | None:
    """The builder for an answer of these classes to a question that asks for `asks`; None where there is none."""
    if asks in _BY_ASKS:
        return _BY_ASKS[asks]
    for kind, builder in _BY_CLASS:
        if kind in kinds:
            if builder is places and asks in _ACTING:
                return landholders
            return _first_of((builder, concepts)) if asks == "any" else builder
    return _first_of(_GUESSES.get(asks, ())) if not kinds else None


# Builders that use only the date of the question; `people` also leaves out offices that name the subject.
_BLIND: frozenset[Builder] = frozenset({places, schools, genres, terms, languages, people, groups, positions})


def looks_at_subject(asks: str, kinds: Collection[str]) -> bool:
    """Whether the ladder of an answer of these classes may depend on whom the question is about.

    That of a person may where `abstraction.ladders.office_phrases.may_name_subject`.
    """
    return "fictional" in kinds or builder_for(asks, kinds) not in _BLIND


def _first_of(builders: tuple[Builder, ...]) -> Builder | None:
    """The first of several builders that has anything to propose."""
    if not builders:
        return None

    def build(case: LadderCase) -> list[Proposal]:
        return next((proposals for builder in builders if (proposals := builder(case))), [])

    return build


# Proposals before they are filtered for a question, kept for the next question with the same answer.

KEPT = 60_000_000  # bytes, as estimated
# Estimated bytes of memory per proposal.
PER_TIER = 4_000

_PLACED = frozenset({"place", "school"})  # the location of a thing is the same for all relations

Key = tuple[str, str, str, Callable[[LadderCase], list[Proposal]], TimeValue | None, bool, str | None]


@dataclass(frozen=True, slots=True)
class LocalisedProposals:
    """The proposals of an answer in the language of the ladder, also as a graph, and the ids that builders doubted.

    `key` is the key of the cache; None for proposals that are not kept.
    """

    localised: Localised
    nodes: Graph
    doubted: frozenset[str]
    key: Key | None = None


class ProposalCache:
    """Builds proposals or returns kept ones: in most datasets many questions share an answer.

    `own` keeps the proposals that no question excludes, with texts that name the answer, by everything that they
    depend on; `ladders` keeps finished ladders.
    """

    def __init__(self) -> None:
        self._proposed: SizedDict[Key, LocalisedProposals] = SizedDict(
            KEPT, lambda _, proposed: PER_TIER * (1 + len(proposed.nodes))
        )
        self.own: SizedDict[Hashable, tuple[Graph, tuple[str, ...]]] = SizedDict(
            KEPT // 4, lambda _, own: PER_TIER // 4 * (1 + len(own[0]))
        )
        self.ladders: SizedDict[Hashable, Ladder] = SizedDict(
            KEPT // 2, lambda _, ladder: PER_TIER // 2 * sum(1 + len(level.tiers) for level in ladder.levels)
        )

    def proposals(
        self,
        case: LadderCase,
        build: Callable[[LadderCase], list[Proposal]],
        kinds: Collection[str],
        row_proposals: Sequence[Proposal] = (),
    ) -> LocalisedProposals:
        """The proposals of `build` and those of the row; kept where the builder uses only the date of the question."""
        if (
            row_proposals
            or (build is not organisations and looks_at_subject(case.relation.asks, kinds))
            or ("person" in kinds and may_name_subject(case.graph, case.vocabulary, case.answer))
        ):
            return _proposed_in_language(case, [*build(case), *row_proposals])
        alike = case.relation.asks in _PLACED and case.graph.shown_in == case.graph.language
        relation = "" if alike else case.relation.id
        woman = is_woman(case.graph, case.answer, case.subject)
        subject = case.subject if build is organisations else None  # which is no owner of its own company
        key = (case.answer, relation, case.relation.asks, build, case.at, woman, subject)
        proposed = self._proposed.get(key)
        if proposed is None:
            proposed = self._proposed[key] = replace(_proposed_in_language(case, build(case)), key=key)
        return proposed


def _proposed_in_language(case: LadderCase, proposals: list[Proposal]) -> LocalisedProposals:
    in_language = localise(
        proposals,
        case.graph,
        trivial=lambda p: is_trivial(p, case.relation),
        feminine=is_woman(case.graph, case.answer, case.subject),
        of_citizens=case.relation.asks_citizenship,
    )
    return LocalisedProposals(in_language, as_graph(in_language.proposals), frozenset(case.doubted))
