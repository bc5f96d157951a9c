"""Answers that are classes: occupations, religions, sports, instruments, taxa, genres; each by the broader classes that
its description names and the graph has above it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import permutations

from abstraction.base.classes import anchors, stop_classes
from abstraction.base.evidence import from_description, from_statement
from abstraction.base.tiers import Evidence
from abstraction.base.trimming import first_segment
from abstraction.ladders.assembly.levels import as_graph, merge
from abstraction.ladders.class_hierarchy import Climbing, add_with_classes_above, climb, used_as_value
from abstraction.ladders.entity_values import entity_proposal
from abstraction.ladders.genre_members import shares_members
from abstraction.ladders.kept_results import kept_with_source
from abstraction.ladders.phrase_parts import states
from abstraction.ladders.proposals import ANSWER, LadderCase, Proposal
from abstraction.text.language.phrases import indefinite, may_stand
from kg.base.terms import normalise
from kg.graph.graph import Graph

# Answers that are classes of any other kind: a religion, a sport, an instrument, a field of work.

# The most P279 steps to a broader class.
_CONCEPT_STEPS = 3
# Labels of classes of classes, which do not describe an answer.
_OF_KINDS = re.compile(r"\b(?:sets?|class(?:es)?|types?|kinds?|groups?|classification) of\b")


def concepts(case: LadderCase) -> list[Proposal]:
    """ "Lutheranism › Protestantism › Christianity", "boxing › combat sport".

    Superclasses that are answers to the relation themselves, or whose labels end in the noun of the relation
    ("team sport"). Empty without a relation: the climb would have no limit ("jazz › knowledge").
    """
    if not case.relation.id:
        return []
    used = used_as_value(case.graph, case.relation.id, minimum=1)
    label = case.graph.label(case.relation.id)
    # The noun of the relation's own name: "religion", "sport", "instrument".
    noun = normalise(label).split(" of ")[0].split(" ")[-1] if label else None

    def keep(qid: str) -> bool:
        label = normalise(case.graph.label(qid) or "")
        if qid in stop_classes() or _OF_KINDS.search(label) or label == noun:
            return False
        return used(qid) or bool(noun and label.endswith(f" {noun}"))

    how = Climbing(properties=("P279",), first=("P31",), depth=_CONCEPT_STEPS, keep=keep, doubting=True)
    return list(climb(case.graph, case.answer, how, condition=case.relation.id).values())


# Taxa: the genus, family, order and class above a species; else what the description calls it.

# Ranks (P105) that readers know; the climb passes through all others.
RANKS = frozenset({"Q7432", "Q34740", "Q35409", "Q36602", "Q37517"})  # species, genus, family, order, class
_TAXON_STEPS = 60  # full lineages have some forty ranked and unranked steps
# "a species of bird": the rank and the group that it belongs to.
_KIND_OF = re.compile(
    r"^(?:an?\s+|the\s+)?(?:(?:extinct|fossil|large|small|medium-sized)\s+)*(?P<rank>sub-?species|species|breed|genus|family|order|variety|cultivar)\s+of\s+"
    r"(?P<x>[a-z][a-z-]*(?:\s[a-z-]+){0,2}?)(?=$|[,;(]|\s+(?:in|of|from|that|which|native|endemic|belonging|found|with)\b)"
)


def taxa(case: LadderCase) -> list[Proposal]:
    """The taxa of the usual ranks above the answer by P171, then the kind that the description names."""
    graph = case.graph
    out: list[Proposal] = []
    below, at, seen = ANSWER, case.answer, {case.answer}
    steps: tuple[Evidence, ...] = ()
    for _ in range(_TAXON_STEPS):
        statement = next((s for s in graph.current(at, "P171") if s.target and s.target not in seen), None)
        if statement is None:
            break
        at = statement.target or ""
        seen.add(at)
        steps = (*steps, from_statement(graph, statement))
        label = graph.label(at)
        if label is not None and not RANKS.isdisjoint(graph.targets(at, "P105")):
            out.append(entity_proposal(graph, at, label, steps, states("P171", at), parents=(below,)))
            below, steps = at, ()
    return [*out, *_kind_in_description(case)]


def _kind_in_description(case: LadderCase) -> list[Proposal]:
    """The phrase of a description for the rank of a taxon: "a species of bird"."""
    text = case.graph.description(case.answer)
    match = _KIND_OF.match(first_segment(text)) if text else None
    if match is None:
        return []
    words = f"{match['rank']} of {match['x']}"
    return [
        Proposal(
            key=indefinite(words),
            text=indefinite(words),
            aliases=(indefinite(match["x"]),) if match["rank"].endswith(("species", "breed", "variety")) else (),
            evidence=(from_description(case.graph, case.answer, words),),
            conditions=states("text", f"kind:{normalise(words)}"),
        )
    ]


# Occupations; and, for all answers that are classes, the classes that their descriptions name.


# "performer who ...", "scientist specializing in ...": the broader class at the beginning of a description.
_HYPERNYM = re.compile(
    r"^(?:an?\s+|the\s+)?(?P<x>[A-Za-z][\w' -]*?)(?<!\s)\s++(?:who|whom|speciali[sz]ing|specialist|specialized|that|of"
    r"|in|with|working|writing)\b"
)

# A negation directly before a class.
_NOT = re.compile(r"\b(?:non[\s-]+|not\s+(?:an?\s+)?)$", re.IGNORECASE)


def terms(case: LadderCase) -> list[Proposal]:
    """ "actor › performing artist › artist": only classes that enough persons have as occupation."""
    graph = case.graph
    used = used_as_value(graph, "P106")
    how = Climbing(properties=("P279",), depth=2, keep=used, doubting=True)
    proposals = climb(graph, case.answer, how, condition="P106")
    for proposal in described_classes(case, _HYPERNYM, "P106", lambda q: q not in stop_classes() and used(q)):
        if proposal.key not in proposals:
            add_with_classes_above(proposals, proposal, graph, replace(how, depth=1), condition="P106")
    # Doubtful steps are used only where there are no others.
    proposals = proposals or climb(graph, case.answer, replace(how, doubting=False), condition="P106")
    return list(as_graph(proposals.values()).values())


def described_classes(
    case: LadderCase,
    pattern: re.Pattern[str],
    prop: str,
    keep: Callable[[str], bool],
    *,
    names: Callable[[str], list[str]] = lambda written: [written],
) -> list[Proposal]:
    """Classes that the description of the answer names, each linked to an entity that passes `keep`."""
    graph = case.graph
    description = graph.description(case.answer)
    if not description:
        return []
    out = []
    segment = first_segment(description)
    for match in pattern.finditer(segment):
        group = "x" if match["x"] else "y"
        written = match[group].strip()
        if not may_stand(written) or _NOT.search(segment[: match.start(group)]):
            continue  # "officer" is ambiguous; a "non-Indo-European language" is not an Indo-European one
        fitting = ((name, m.id) for name in names(written) for m in graph.find(name))
        name, qid = next(((n, q) for n, q in fitting if q != case.answer and keep(q)), ("", ""))
        if qid:
            evidence = (from_description(graph, case.answer, written),)
            node = entity_proposal(graph, qid, graph.label(qid) or written, evidence, states(prop, qid))
            aliases = node.aliases if name == node.text else (*node.aliases, name)
            out.append(replace(node, aliases=aliases))
    return out


# Genres: broader genres by P279 and P31, and the one that a description names, without leaving their medium.

# "a subgenre of rock music": the broader genre after "of".
_GENRE_OF = re.compile(
    r"^(?:[a-z-]+\s+)*?(?:sub-?genres?|genres?|forms?|styles?|types?|branch|fusion genre"
    r"|derivative)\s++of\s++(?P<x>[\w' &-]{1,250}?)"
    r"(?=$|[,;.]|(?<!\s)\s++(?:that|which|who|originating|characteri[sz]ed|with|and|in|from|featuring|combining"
    r"|developed|based)\b)"
)
# "heavy metal subgenre": the broader genre at the beginning.
_GENRE_HEAD = re.compile(r"^(?P<x>[\w' &-]+?)(?<!\s)\s++(?:sub-?genre|subgenre|style)$")
# The class of all genres, which does not determine a medium.
_ANY_GENRE = "Q483394"
# Answer classes of things that are not genres, although a work may state them as its genre.
_NO_GENRE = frozenset({"person", "place", "event", "occupation", "organisation"})
MOST_GENRES = 5_000  # the most frequent genres, whose spellings are compared; bounds the time per graph


def genres(case: LadderCase) -> list[Proposal]:
    """ "alternative rock › rock music › popular music": only classes that are genres themselves."""
    graph = case.graph
    used = used_as_value(graph, "P136", minimum=1)
    metaclasses = frozenset(q for q, kinds in anchors().items() if "genre" in kinds)
    media = metaclasses.intersection(graph.classes(case.answer)) - {_ANY_GENRE}

    def keep(qid: str) -> bool:
        kinds = metaclasses.intersection(graph.classes(qid))
        label = graph.label(qid) or ""
        if qid in stop_classes() or qid in metaclasses:
            return False
        kinds_of_answer = case.gazetteer.classes(qid)
        if "genre" not in kinds_of_answer and not _NO_GENRE.isdisjoint(kinds_of_answer):
            return False  # only a kind of work or activity
        if label.endswith(" genre") and normalise(label) not in case.relation.trivial:
            return False
        if kinds and media and _ANY_GENRE not in kinds and media.isdisjoint(kinds):
            return False  # a genre of another medium
        return bool(kinds) or used(qid)

    def is_above(qid: str) -> bool:
        return keep(qid) and shares_members(graph, case.answer, qid)

    how = Climbing(properties=("P279", "P31"), depth=3, keep=keep, entails=partial(shares_members, graph))
    proposals = climb(graph, case.answer, how, condition="P136")
    for pattern in (_GENRE_OF, _GENRE_HEAD):
        for proposal in described_classes(case, pattern, "P136", is_above, names=_spellings(graph)):
            if proposal.key not in proposals:
                add_with_classes_above(proposals, proposal, graph, replace(how, depth=2), condition="P136")
    nodes = as_graph(proposals.values())
    for fine, coarse in permutations(list(nodes), 2):
        if fine in nodes and coarse in nodes and _is_same_genre(nodes[fine].text, nodes[coarse].text):
            nodes = merge(nodes, coarse, fine)
    return list(nodes.values())


# Endings of literary genres that readers equate with "fiction".
_ART = re.compile(r" (?:literature|novel)\Z")


def _is_same_genre(fine: str, coarse: str) -> bool:
    """Whether readers take two genres as the same: crime literature and crime fiction, Western film and Western."""
    is_short = coarse[:1].isupper() and fine == f"{coarse} film"
    return is_short or (_ART.search(fine) is not None and _ART.sub(" fiction", fine) == coarse)


# Endings in which two spellings of one genre may differ: "alternate rock" and "alternative rock".
_ENDING = re.compile(r"(?<=\w{5})(?:ative|ively|ive|ate|al|ic|ed|ing|e|s)$")


def _stems(name: str) -> tuple[str, ...]:
    return tuple(_ENDING.sub("", word) for word in normalise(name).removesuffix(" music").split())


def _spellings(graph: Graph) -> Callable[[str], list[str]]:
    """A function from a written genre to names to look up: as written, then the one genre that differs in endings."""

    def names(written: str) -> list[str]:
        other = _by_stems(graph).get(_stems(written))
        return [written, *([other] if other else [])]

    return names


@kept_with_source
def _by_stems(graph: Graph) -> dict[tuple[str, ...], str | None]:
    """Labels of the genres in use by the stems of their names; None where several genres share the stems."""
    used = list(dict.fromkeys(qid for qid, _ in graph.store.values_of("P136", limit=MOST_GENRES)))
    graph.fetch(used)
    label_of: dict[tuple[str, ...], str | None] = {}
    for qid in used:
        label = graph.label(qid)
        for stems in dict.fromkeys(_stems(name) for name in graph.names(qid)):
            known = label_of.get(stems, label)
            label_of[stems] = label if known == label else None
    return label_of
