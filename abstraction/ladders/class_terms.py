"""Answers that are classes: occupations, religions, sports, instruments, taxa, genres and languages; each by the
broader classes that its description names and the graph has above it.

Families of one language contain each other. Where the graph does not give their order, the family nearest to the
language is put below the described one, and the others are left out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import permutations

from abstraction.base.properties import package_data
from abstraction.base.relations import answer_classes_by_anchor, stop_classes
from abstraction.base.tiers import Evidence, from_description, join_evidence
from abstraction.ladders.proposals import (
    ANSWER,
    LadderCase,
    NamedValue,
    Proposal,
    ProposalGraph,
    ancestors,
    as_graph,
    cached_per_source,
    current_values,
    entity_proposal,
    merge,
    one_condition,
    phrase_proposal,
    remove,
)
from abstraction.text.descriptions.attested_words import common_occupations
from abstraction.text.descriptions.place_grammar import first_segment
from abstraction.text.language.phrases import indefinite, is_informative, modifier_negates
from kg.base.model import normalise
from kg.graph.graph import Graph

# "Used as an occupation by at least 20 persons" was measured on a source with 11 000 persons that have one.
USES, USES_OF = 20, 11_000


@cache
def denied_superclasses(*marks: str) -> frozenset[tuple[str, str]]:
    """(class, broader class) pairs of P279 statements by which a person of the class is not called by the broader
    class.

    With marks only the pairs that have one of them: "person" marks pairs that are right for the occupation itself,
    "never" those that are wrong even where nothing else is known about the occupation; other pairs have the mark "".
    """
    rows = package_data("lifts.json")["denied"]
    return frozenset((row[0], row[2]) for row in rows if not marks or "".join(row[4:]) in marks)


@cached_per_source
def used_as_value(graph: Graph, prop: str, minimum: int | None) -> Callable[[str], bool]:
    """A test whether at least `minimum` entities of the whole source have the class as value of `prop`.

    `minimum` None is the measured threshold, scaled to the size of the source and at least 1. Sources that were
    fetched from services do not know the counts of the whole source: there everyday names of occupations pass as well.
    """
    memory: dict[str, bool] = {}
    need, store = minimum, graph.store  # a closure over the graph would keep its own weak key alive
    is_fetched = prop == "P106" and store.manifest().get("source_kind") in ("api", "sparql")
    everyday = common_occupations() if is_fetched else frozenset()

    def test(qid: str) -> bool:
        nonlocal need
        if need is None:
            total = store.property_counts([prop]).get(prop, 0)
            need = max(1, min(USES, math.ceil(total * USES / USES_OF)))
        if qid not in memory:
            memory[qid] = store.value_counts([(prop, qid)]).get((prop, qid), 0) >= need
            if everyday and not memory[qid]:
                entity = store.entities([qid], languages=("en", "mul"), properties=()).get(qid)
                labels = entity.labels if entity is not None else {}
                memory[qid] = normalise(labels.get("en") or labels.get("mul") or "") in everyday
        return memory[qid]

    return test


@dataclass(frozen=True, slots=True)
class ClassAbove:
    """A class above another, with the P279 statements that lead up to it."""

    qid: str
    label: str
    path: tuple[Evidence, ...]


def class_layers_above(
    graph: Graph, start: str, *, steps: int, denied: frozenset[tuple[str, str]] = frozenset()
) -> Iterator[list[ClassAbove]]:
    """The classes one step above a class by current P279, then those one step higher, and so on; each class once, only
    those with a label.

    The climb ends at stop classes and at `denied` pairs of a class with the one directly below it or with `start`.
    """
    stop = stop_classes()
    seen = {start}
    layer = [ClassAbove(start, "", ())]
    for _ in range(steps):
        above: list[ClassAbove] = []
        graph.fetch(below.qid for below in layer)
        for below in layer:
            for value in current_values(graph, below.qid, "P279"):
                if value.qid in seen or value.qid in stop:
                    continue
                if denied.isdisjoint(((below.qid, value.qid), (start, value.qid))):
                    seen.add(value.qid)
                    above.append(ClassAbove(value.qid, value.label, (*below.path, value.evidence)))
        yield above
        layer = above


# The most P279 steps from a class to one that it entails.
ENTAILED_STEPS = 4


@cached_per_source
def entailed_classes(graph: Graph, qid: str) -> frozenset[str]:
    """The classes that a class entails by current P279: few steps, never through a stop class or a denied pair."""
    layers = class_layers_above(graph, qid, steps=ENTAILED_STEPS, denied=denied_superclasses())
    return frozenset(above.qid for layer in layers for above in layer)


# A class to climb from, the key of the nearest proposal at or below it, and the evidence of the steps in between.
_Rung = tuple[str, str, tuple[Evidence, ...]]


def climb_classes(
    graph: Graph,
    start: str,
    *,
    depth: int,
    keep: Callable[[str], bool],
    condition: str,
    properties: tuple[str, ...] = ("P279",),
    first: tuple[str, ...] = (),
    skip_doubtful: bool = False,
) -> dict[str, Proposal]:
    """Superclasses of `start` in at most `depth` steps that pass `keep`, as proposals by QID with their edges.

    The climb continues through classes that do not pass; stop classes end their branch. `condition` is the property by
    which the entities of a tier are counted. `first` are further properties for the first step only (the family of a
    language is its P31). `skip_doubtful` leaves out the P279 pairs that are known to be noise or whose names show it
    (vice president, president).
    """
    proposals: dict[str, Proposal] = {}
    seen = {start}
    layer: list[_Rung] = [(start, ANSWER, ())]
    for step in range(depth):
        graph.fetch(qid for qid, _, _ in layer)
        followed = properties if step else (*properties, *first)
        upward: list[_Rung] = []
        for qid, below, trail in layer:
            for value in _broader_values(graph, qid, followed, skip_doubtful=skip_doubtful):
                target, path = value.qid, (*trail, value.evidence)
                if target in proposals and below != target:
                    proposals[target] = with_parents_added(proposals[target], (below,), path)
                if target in seen:
                    continue
                seen.add(target)
                if keep(target):
                    conditions = one_condition(condition, target)
                    proposals[target] = entity_proposal(graph, target, value.label, path, conditions, parents=(below,))
                    upward.append((target, target, ()))
                else:
                    upward.append((target, below, path))
        layer = upward
    return proposals


def _broader_values(
    graph: Graph, qid: str, properties: Collection[str], *, skip_doubtful: bool
) -> Iterator[NamedValue]:
    """The statements from a class to the broader classes that the climb may visit."""
    stop = stop_classes()
    denied = denied_superclasses("", "never") if skip_doubtful else denied_superclasses("never")
    for prop in properties:
        for value in current_values(graph, qid, prop):
            if value.qid in stop or (qid, value.qid) in denied:
                continue
            if not (skip_doubtful and modifier_negates(graph.label(qid) or "", value.label)):
                yield value


def with_parents_added(node: Proposal, parents: Collection[str], evidence: Sequence[Evidence] = ()) -> Proposal:
    """The proposal with the parents added, and with the evidence of the steps from them."""
    return replace(
        node,
        parents=tuple(dict.fromkeys((*node.parents, *parents))),
        evidence=join_evidence((node.evidence, evidence)) if evidence else node.evidence,
    )


def add_with_classes_above(proposals: dict[str, Proposal], described: Proposal, above: Mapping[str, Proposal]) -> None:
    """Add the class that a description names, and its superclasses `above`, to the proposals; both are broader than
    the answer.
    """
    for key, node in above.items():
        parents = tuple(described.key if parent == ANSWER else parent for parent in node.parents)
        proposals[key] = (
            with_parents_added(proposals[key], parents) if key in proposals else replace(node, parents=parents)
        )
    proposals[described.key] = described


# The most steps from the answer to a broader class: P31 or P279 first, then P279.
_CONCEPT_STEPS = 3
# Labels of classes of classes, which do not describe an answer.
_OF_KINDS = re.compile(r"\b(?:sets?|class(?:es)?|types?|kinds?|groups?|classification) of\b")


def concept_tiers(case: LadderCase) -> list[Proposal]:
    """ "Lutheranism › Protestantism › Christianity", "boxing › combat sport".

    Superclasses that are answers to the relation themselves, or whose labels end in the noun of the relation
    ("team sport"). Empty without a relation: the climb would have no limit ("jazz › knowledge").
    """
    if not case.relation.id:
        return []
    used = used_as_value(case.graph, case.relation.id, 1)
    label = case.graph.label(case.relation.id)
    # The noun of the relation's own name: "religion", "sport", "instrument".
    noun = normalise(label).split(" of ")[0].split(" ")[-1] if label else None

    def keep(qid: str) -> bool:
        label = normalise(case.graph.label(qid) or "")
        if qid in stop_classes() or _OF_KINDS.search(label) or label == noun:
            return False
        return used(qid) or bool(noun and label.endswith(f" {noun}"))

    proposals = climb_classes(
        case.graph, case.answer, first=("P31",), depth=_CONCEPT_STEPS, keep=keep, condition=case.relation.id,
        skip_doubtful=True,
    )  # fmt: skip
    return list(proposals.values())


# Ranks (P105) that readers know; the climb passes through all others.
RANKS = frozenset({"Q7432", "Q34740", "Q35409", "Q36602", "Q37517"})  # species, genus, family, order, class
_TAXON_STEPS = 60  # full lineages have some forty ranked and unranked steps
# "a species of bird": the rank and the group that it belongs to.
_KIND_OF = re.compile(
    r"^(?:an?\s+|the\s+)?(?:(?:extinct|fossil|large|small|medium-sized)\s+)*(?P<rank>sub-?species|species|breed|genus|family|order|variety|cultivar)\s+of\s+"
    r"(?P<x>[a-z][a-z-]*(?:\s[a-z-]+){0,2}?)(?=$|[,;(]|\s+(?:in|of|from|that|which|native|endemic|belonging|found|with)\b)"
)


def taxon_tiers(case: LadderCase) -> list[Proposal]:
    """The taxa of the usual ranks above the answer by P171, then the kind that the description names."""
    graph = case.graph

    def has_usual_rank(qid: str) -> bool:
        return not RANKS.isdisjoint(graph.targets(qid, "P105"))

    ranked = climb_classes(
        graph, case.answer, properties=("P171",), depth=_TAXON_STEPS, keep=has_usual_rank, condition="P171"
    )
    out = list(ranked.values())
    match = _KIND_OF.match(first_segment(case.description))
    if match is not None:  # "a species of bird"
        words = f"{match['rank']} of {match['x']}"
        aliases = (indefinite(match["x"]),) if match["rank"].endswith(("species", "breed", "variety")) else ()
        evidence = from_description(graph, case.answer, words)
        conditions = one_condition("text", f"kind:{normalise(words)}")
        out.append(phrase_proposal(words, (evidence,), conditions, aliases=aliases))
    return out


# "performer who ...", "scientist specializing in ...": the broader class at the beginning of a description.
_HYPERNYM = re.compile(
    r"^(?:an?\s+|the\s+)?(?P<x>[A-Za-z][\w' -]*?)(?<!\s)\s++(?:who|whom|speciali[sz]ing|specialist|specialized|that|of"
    r"|in|with|working|writing)\b"
)

# A negation directly before a class.
_NOT = re.compile(r"\b(?:non[\s-]+|not\s+(?:an?\s+)?)$", re.IGNORECASE)


def occupation_tiers(case: LadderCase) -> list[Proposal]:
    """ "actor › performing artist › artist": only classes that enough persons have as occupation."""
    graph = case.graph
    used = used_as_value(graph, "P106", None)
    above = partial(climb_classes, graph, keep=used, condition="P106")
    proposals = above(case.answer, depth=2, skip_doubtful=True)
    for proposal in described_classes(case, _HYPERNYM, "P106", lambda q: q not in stop_classes() and used(q)):
        if proposal.key not in proposals:
            add_with_classes_above(proposals, proposal, above(proposal.key, depth=1, skip_doubtful=True))
    # Doubtful P279 steps are better than no tier at all.
    proposals = proposals or above(case.answer, depth=2)
    return list(as_graph(proposals.values()).values())


def described_classes(
    case: LadderCase,
    pattern: re.Pattern[str],
    prop: str,
    keep: Callable[[str], bool],
    *,
    names: Callable[[str], list[str]] = lambda written: [written],
) -> list[Proposal]:
    """A proposal for each phrase in the description of the answer that matches `pattern` and is a name of a class in
    the graph.

    Of the entities with that name the first that passes `keep` is the class. `prop` is the property of the proposal's
    condition; `names` lists the spellings of a phrase to look up.
    """
    graph = case.graph
    out = []
    segment = first_segment(case.description)
    for match in pattern.finditer(segment):
        group = "x" if match["x"] else "y"
        written = match[group].strip()
        # "genre of music" only repeats the question; "officer" is ambiguous; a "non-Indo-European language" is not one.
        is_trivial = normalise(written) in case.relation.trivial
        if is_trivial or not is_informative(written) or _NOT.search(segment[: match.start(group)]):
            continue
        fitting = ((name, m.id) for name in names(written) for m in graph.find(name))
        name, qid = next(((n, q) for n, q in fitting if q != case.answer and keep(q)), ("", ""))
        if qid:
            evidence = (from_description(graph, case.answer, written),)
            node = entity_proposal(graph, qid, graph.label(qid) or written, evidence, one_condition(prop, qid))
            aliases = node.aliases if name == node.text else (*node.aliases, name)
            out.append(replace(node, aliases=aliases))
    return out


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


def genre_tiers(case: LadderCase) -> list[Proposal]:
    """ "alternative rock › rock music › popular music": only classes that are genres themselves."""
    graph = case.graph
    used = used_as_value(graph, "P136", 1)
    metaclasses = frozenset(q for q, kinds in answer_classes_by_anchor().items() if "genre" in kinds)
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

    def names_to_look_up(written: str) -> list[str]:
        other = _genre_labels_by_stems(graph).get(_word_stems(written))  # the one genre with the same stems
        return [written, other] if other else [written]

    above = partial(climb_classes, graph, properties=("P279", "P31"), keep=keep, condition="P136")
    proposals = above(case.answer, depth=3)
    for pattern in (_GENRE_OF, _GENRE_HEAD):
        for proposal in described_classes(case, pattern, "P136", keep, names=names_to_look_up):
            if proposal.key not in proposals:
                add_with_classes_above(proposals, proposal, above(proposal.key, depth=2))
    nodes = as_graph(proposals.values())
    for fine, coarse in permutations(list(nodes), 2):
        if fine in nodes and coarse in nodes:
            # Readers take them as the same: crime literature and crime fiction, Western film and Western.
            small, large = nodes[fine].text, nodes[coarse].text
            is_short = large[:1].isupper() and small == f"{large} film"
            if is_short or (_ART.search(small) is not None and _ART.sub(" fiction", small) == large):
                nodes = merge(nodes, coarse, fine)
    return list(nodes.values())


# Endings of literary genres that readers equate with "fiction".
_ART = re.compile(r" (?:literature|novel)\Z")
# Endings in which two spellings of one genre may differ: "alternate rock" and "alternative rock".
_ENDING = re.compile(r"(?<=\w{5})(?:ative|ively|ive|ate|al|ic|ed|ing|e|s)$")
MOST_GENRES = 5_000  # the most frequent genres, whose spellings are compared; bounds the time per graph


def _word_stems(name: str) -> tuple[str, ...]:
    return tuple(_ENDING.sub("", word) for word in normalise(name).removesuffix(" music").split())


@cached_per_source
def _genre_labels_by_stems(graph: Graph) -> dict[tuple[str, ...], str | None]:
    """Labels of the genres in use by the stems of their names; None where several genres share the stems."""
    used = list(dict.fromkeys(qid for qid, _ in graph.store.values_of("P136", limit=MOST_GENRES)))
    graph.fetch(used)
    label_of: dict[tuple[str, ...], str | None] = {}
    for qid in used:
        label = graph.label(qid)
        for stems in {_word_stems(name) for name in graph.names(qid)}:
            label_of[stems] = label if label_of.get(stems, label) == label else None
    return label_of


# "West Germanic language", "sign language": the family or kind before the noun.
_LANGUAGE = re.compile(
    r"\b(?P<x>(?:[A-Z][\w-]{1,40}+\s++){1,6})(?:language|dialect|variety|branch|group|subgroup)s?\b"
    r"|^(?:an?\s+)?(?P<y>[a-z][a-z-]+(?:\s[a-z-]+)*\s+)language\b"
)
# "of the Uralic family": the family after "of the".
_FAMILY_OF = re.compile(r"\bof the (?P<x>[A-Z][\w-]+(?: [A-Z][\w-]+)*?)\s*+(?:language\s++)?(?:family|branch|group)\b")
# Groupings that linguists dispute, that are not about descent, or that only linguists know (English and Scots are
# Anglic): never used as tiers.
_NO_FAMILY = re.compile(
    r"\b(?:anglic|anglo-frisian|italo-western"
    r"|altaic|nostratic|ural-altaic|jewish|areal|sprachbund|southern european|languages of|by |standard"
    r"|variety|varieties|"
    r"macro|hypothetical|proposed|dené|borean|eurasiatic|indo-uralic|satem|centum|written|extinct|ancient|dead|modern|living"
    r"|national|official|"
    r"(?<!-)(?:european|asian|african|american|oceanic|pacific) languages?|super-?family|language family"
    r"|language group|endangered|vulnerable|sacred|liturgical|a posteriori|a priori|dialects?|pro-drop|historical"
    r"|agglutinative|fusional|subject|natural|human|world|working|tonal|synthetic|nominative"
    r"|pluricentric|ethnic)\b",
    re.I,
)
# Descriptions of families that linguists do not agree on.
_PROPOSED = re.compile(r"(?:an? )?(?:proposed|hypothetical|controversial|disputed|hypothesi[sz]ed)\b", re.I)
# The kinds that the label of a family or branch ends in.
_LANGUAGE_KINDS = ("language", "languages", "language family", "dialects")
# The most families per language.
FAMILIES = 4
MEMBERS = 50  # read per family, to see whether all are forms of one language


def language_tiers(case: LadderCase) -> list[Proposal]:
    """ "a West Germanic language › a Germanic language › an Indo-European language", never the country."""
    graph = case.graph
    answer_names = {_without_language_noun(name) for name in graph.names(case.answer)}

    def keep(qid: str) -> bool:
        label = graph.label(qid) or ""
        return (
            qid not in stop_classes()
            and _without_language_noun(label) not in answer_names
            and not _NO_FAMILY.search(label)
            and not _PROPOSED.match(graph.description(qid) or "")
            and not _contains_only_forms_of(graph, case.answer, qid)
            and ("language" in label.casefold() or bool({"Q25295", "Q34770"}.intersection(graph.classes(qid))))
            and qid not in {"Q34770", "Q25295", "Q315", "Q33384"}
        )

    above = partial(climb_classes, graph, keep=keep, condition="P407")
    proposals = above(case.answer, first=("P31",), depth=9)
    nearest = [key for key, node in proposals.items() if ANSWER in node.parents]

    described = [
        proposal
        for pattern in (_LANGUAGE, _FAMILY_OF)
        for proposal in described_classes(
            case, pattern, "P407", keep, names=lambda written: [f"{written} {kind}" for kind in _LANGUAGE_KINDS]
        )
    ]
    for proposal in described:
        if proposal.key in proposals:
            known = proposals[proposal.key]
            proposals[proposal.key] = replace(known, evidence=(*known.evidence, *proposal.evidence))
        else:
            add_with_classes_above(proposals, proposal, above(proposal.key, depth=8))
    # The P31 of the answer means "a language of this family" only for subclasses of `language`.
    nodes = as_graph(_language_names_in_singular(node) for node in proposals.values())
    keys = [proposal.key for proposal in described]
    for key in keys:
        if key in nodes:
            nodes = _put_above_nearest_families(nodes, key, nearest, keys)
    return [
        _with_article_if_kind_of_language(graph, node) for node in _keep_most_important_families(case, nodes).values()
    ]


@cached_per_source
def _contains_only_forms_of(graph: Graph, language: str, family: str) -> bool:
    """Whether a family is the language under another name: all its members are forms of the language, as in Hellenic.

    A family without another member counts only if it is named after the language: Koreanic.
    """
    name = normalise(graph.label(language) or "")
    referrers = graph.store.referrers([("P279", family)], limit=MEMBERS)
    members = [i for ids in referrers.values() for i in ids if i != language]
    graph.fetch(members)
    forms = [normalise(graph.label(i) or "").endswith(f" {name}") for i in members]
    called = re.match(rf"{re.escape(name)}(?![-–])", normalise(graph.label(family) or "")) is not None
    return bool(name) and (called or bool(forms)) and all(forms)


def _put_above_nearest_families(
    nodes: ProposalGraph, described_key: str, nearest_keys: Collection[str], described_keys: Collection[str]
) -> ProposalGraph:
    """The families, with the described one directly above the nearest; those whose position relative to it is unknown
    are left out.
    """
    related = {described_key, *ancestors(nodes, described_key)}
    beside = [other for other in nodes if other not in related and described_key not in ancestors(nodes, other)]
    below = tuple(other for other in beside if other in nearest_keys and other not in described_keys)
    unknown = set(beside) - set(nearest_keys)
    nodes = remove(nodes, lambda proposal: proposal.key in unknown)
    if below:
        nodes[described_key] = replace(nodes[described_key], parents=below)
    return nodes


def _with_article_if_kind_of_language(graph: Graph, node: Proposal) -> Proposal:
    """ "a Germanic language", for a kind of language that is no language of its own."""
    text = node.text
    if not text.endswith((" language", "language isolate")):
        if node.qid is None or "Q25295" not in graph.classes(node.qid):
            return node
        text = f"{text} language"
    return replace(node, text=indefinite(text), aliases=tuple(dict.fromkeys((text, node.text, *node.aliases))))


def _keep_most_important_families(case: LadderCase, nodes: dict[str, Proposal]) -> dict[str, Proposal]:
    """At most FAMILIES of the families: those that the description names, then the nearest, the largest, and the best
    known.

    The best known have the most sitelinks, or in sources without sitelinks the most names and direct branches.
    """
    if len(nodes) <= FAMILIES:
        return nodes
    graph = case.graph
    branches = graph.store.value_counts([("P279", n.qid) for n in nodes.values() if n.qid])
    size = {n.key: graph.capped_size_below(n.qid) if n.qid else 0 for n in nodes.values()}

    def prominence(key: str) -> tuple[int, int, str]:
        qid = nodes[key].qid or ""
        entity = graph.entity(qid)
        names = len(entity.aliases.get(graph.language, ())) if entity else 0
        return entity.sitelinks if entity else 0, names + branches.get(("P279", qid), 0), nodes[key].text

    chosen = [k for k, n in sorted(nodes.items()) if any(e.kind == "description" for e in n.evidence)][:FAMILIES]
    nearest = min(nodes, key=lambda k: (nodes[k].parents != (ANSWER,), size[k], k))
    largest = max(nodes, key=lambda k: (size[k], k))
    chosen += [key for key in dict.fromkeys((nearest, largest)) if key not in chosen]
    chosen += sorted(set(nodes) - set(chosen), key=prominence, reverse=True)[: max(0, FAMILIES - len(chosen))]
    return remove(nodes, lambda n: n.key not in chosen)


def _language_names_in_singular(node: Proposal) -> Proposal:
    text, *names = (re.sub(r"\b([Ll]anguage|[Dd]ialect)s\b", r"\1", name) for name in (node.text, *node.aliases))
    aliases = dict.fromkeys(name for name in (*names, *node.aliases, node.text) if name != text)
    return replace(node, text=text, aliases=tuple(aliases))


def _without_language_noun(name: str) -> str:
    return re.sub(r"(?<!\s)\s++(?:languages?|dialects?)$", "", normalise(name))
