"""Languages: the branch that the description names, then the families in the graph.

Families of one language contain each other. Where the graph does not give their order, the family nearest to the
language is put below the described one, and the others are left out.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from abstraction.base.classes import stop_classes
from abstraction.ladders.assembly.levels import Graph as ProposalGraph
from abstraction.ladders.assembly.levels import ancestors, as_graph, remove
from abstraction.ladders.class_hierarchy import Climbing, add_with_classes_above, climb
from abstraction.ladders.class_terms import described_classes
from abstraction.ladders.kept_results import kept_with_source
from abstraction.ladders.proposals import ANSWER, LadderCase, Proposal
from abstraction.text.language.phrases import indefinite
from kg.base.terms import normalise
from kg.graph.graph import Graph

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
# The most families per language.
FAMILIES = 4
MEMBERS = 50  # read per family, to see whether all are forms of one language


def languages(case: LadderCase) -> list[Proposal]:
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

    upward = Climbing(properties=("P279",), depth=8, keep=keep)
    proposals = climb(graph, case.answer, replace(upward, first=("P31",), depth=9), condition="P407")
    nearest = [key for key, node in proposals.items() if ANSWER in node.parents]

    def names_with_kind(written: str) -> list[str]:
        return [f"{written} {kind}" for kind in ("language", "languages", "language family", "dialects")]

    described = [
        proposal
        for pattern in (_LANGUAGE, _FAMILY_OF)
        for proposal in described_classes(case, pattern, "P407", keep, names=names_with_kind)
    ]
    for proposal in described:
        if proposal.key in proposals:
            known = proposals[proposal.key]
            proposals[proposal.key] = replace(known, evidence=(*known.evidence, *proposal.evidence))
        else:
            add_with_classes_above(proposals, proposal, graph, upward, condition="P407")
    # The P31 of the answer means "a language of this family" only for subclasses of `language`.
    nodes = as_graph(_in_singular(node) for node in proposals.values())
    keys = [proposal.key for proposal in described]
    for key in keys:
        if key in nodes:
            nodes = _above_nearest(nodes, key, nearest, keys)
    return [_with_article(graph, node) for node in _best_known_families(case, nodes).values()]


@kept_with_source
def _contains_only_forms_of(graph: Graph, language: str, family: str) -> bool:
    """Whether a family is the language under another name: it contains only forms of the language, as Hellenic does.

    A family without any other member counts only if it is named after the language: Koreanic.
    """
    name = normalise(graph.label(language) or "")
    referrers = graph.store.referrers([("P279", family)], limit=MEMBERS)
    members = [i for ids in referrers.values() for i in ids if i != language]
    graph.fetch(members)
    forms = [normalise(graph.label(i) or "").endswith(f" {name}") for i in members]
    called = re.match(rf"{re.escape(name)}(?![-–])", normalise(graph.label(family) or "")) is not None
    return bool(name) and (called or bool(forms)) and all(forms)


def _above_nearest(
    nodes: ProposalGraph, key: str, nearest: Collection[str], described: Collection[str]
) -> ProposalGraph:
    """The families with the described one above the nearest; families with an unknown position relative to it are left
    out.
    """
    related = {key, *ancestors(nodes, key)}
    beside = [other for other in nodes if other not in related and key not in ancestors(nodes, other)]
    below = tuple(other for other in beside if other in nearest and other not in described)
    unknown = set(beside) - set(nearest)
    nodes = remove(nodes, lambda proposal: proposal.key in unknown)
    if below:
        nodes[key] = replace(nodes[key], parents=below)
    return nodes


def _with_article(graph: Graph, node: Proposal) -> Proposal:
    """ "a Germanic language", for a kind of language that is no language of its own."""
    text = node.text
    if not text.endswith((" language", "language isolate")):
        if node.qid is None or "Q25295" not in graph.classes(node.qid):
            return node
        text = f"{text} language"
    return replace(node, text=indefinite(text), aliases=tuple(dict.fromkeys((text, node.text, *node.aliases))))


def _best_known_families(case: LadderCase, nodes: dict[str, Proposal]) -> dict[str, Proposal]:
    """At most four families: described ones, the nearest, the largest, then the best known.

    Best known: by the number of sitelinks, or in sources without sitelinks by the number of names and direct branches.
    """
    if len(nodes) <= FAMILIES:
        return nodes
    graph = case.graph
    branches = graph.store.value_counts([("P279", n.qid) for n in nodes.values() if n.qid])
    size = {n.key: graph.size_below(n.qid) if n.qid else 0 for n in nodes.values()}

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


def _in_singular(node: Proposal) -> Proposal:
    def in_singular(name: str) -> str:
        return re.sub(r"\b([Ll]anguage|[Dd]ialect)s\b", r"\1", name)

    text = in_singular(node.text)
    aliases = [*(in_singular(a) for a in node.aliases), *node.aliases, *([node.text] if text != node.text else [])]
    return replace(node, text=text, aliases=tuple(dict.fromkeys(a for a in aliases if a != text)))


def _without_language_noun(name: str) -> str:
    return re.sub(r"(?<!\s)\s++(?:languages?|dialects?)$", "", normalise(name))
