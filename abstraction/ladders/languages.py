"""Languages: the branch that the description names, then the families that the graph puts them in."""

from __future__ import annotations

import re
from dataclasses import replace

from abstraction.hierarchy import Climbing, climb, stop_classes
from abstraction.ladders.base import ANSWER, Case, Proposal
from abstraction.ladders.terms import described_classes
from abstraction.levels import as_graph, remove
from kg.terms import normalise

_LANGUAGE = re.compile(
    r"\b(?P<x>(?:[A-Z][\w-]{1,40}+\s++){1,6})(?:language|dialect|variety|branch|group|subgroup)s?\b"
    r"|^(?:an?\s+)?(?P<y>[a-z][a-z-]+(?:\s[a-z-]+)*\s+)language\b"
)
_FAMILY_OF = re.compile(r"\bof the (?P<x>[A-Z][\w-]+(?: [A-Z][\w-]+)*?)\s*+(?:language\s++)?(?:family|branch|group)\b")
# Groupings that linguists dispute or that are no descent: never said of a language.
_NO_FAMILY = re.compile(
    r"\b(?:altaic|nostratic|ural-altaic|jewish|areal|sprachbund|southern european|languages of|by |standard"
    r"|variety|varieties|"
    r"macro|hypothetical|proposed|borean|eurasiatic|indo-uralic|satem|centum|written|extinct|ancient|dead|modern|living"
    r"|national|official|"
    r"(?<!-)(?:european|asian|african|american|oceanic|pacific) languages?|super-?family|language family"
    r"|language group|agglutinative|fusional|subject|natural|human|world|working|tonal|synthetic|nominative"
    r"|pluricentric|ethnic)\b",
    re.I,
)
FAMILIES = 4


def languages(case: Case) -> list[Proposal]:
    """ "West Germanic language › Germanic language › Indo-European language", never the country."""
    graph = case.graph

    own = {_plain(name) for name in graph.names(case.answer)}

    def keep(qid: str) -> bool:
        label = graph.label(qid) or ""
        return (
            qid not in stop_classes()
            and _plain(label) not in own
            and not _NO_FAMILY.search(label)
            and ("language" in label.casefold() or bool({"Q25295", "Q34770"}.intersection(graph.classes(qid))))
            and qid not in {"Q34770", "Q25295", "Q315", "Q33384"}
        )

    kept = climb(
        graph,
        case.answer,
        Climbing(properties=("P279",), first=("P31",), depth=9, keep=keep),
        condition="P407",
    )
    described = [
        *described_classes(case, _LANGUAGE, "P407", keep, names=_family_names),
        *described_classes(case, _FAMILY_OF, "P407", keep, names=_family_names),
    ]
    for proposal in described:
        if proposal.key in kept:
            known = kept[proposal.key]
            kept[proposal.key] = replace(known, evidence=(*known.evidence, *proposal.evidence))
            continue
        kept[proposal.key] = proposal
        if proposal.qid:
            how = Climbing(properties=("P279",), depth=8, keep=keep)
            for key, node in climb(graph, proposal.qid, how, condition="P407").items():
                parents = tuple(proposal.key if p == ANSWER else p for p in node.parents)
                if key in kept:
                    kept[key] = replace(kept[key], parents=tuple(dict.fromkeys((*kept[key].parents, *parents))))
                else:
                    kept[key] = replace(node, parents=parents)
    # The answer's own P31 says "a language of this family" only for classes below `language`.
    nodes = as_graph(_singular(node) for node in kept.values())
    return list(_thin(case, nodes).values())


def _thin(case: Case, nodes: dict[str, Proposal]) -> dict[str, Proposal]:
    """At most four: those the description names, the nearest and the largest, then what is best known: by
    sitelinks, or, where the source counts none, by how many names and direct branches it has."""
    if len(nodes) <= FAMILIES:
        return nodes
    graph = case.graph
    branches = graph.store.value_counts([("P279", n.qid) for n in nodes.values() if n.qid])
    size = {n.key: graph.size_below(n.qid) if n.qid else 0 for n in nodes.values()}

    def known(key: str) -> tuple[int, int, str]:
        qid = nodes[key].qid or ""
        entity = graph.entity(qid)
        names = len(entity.aliases.get(graph.language, ())) if entity else 0
        return entity.sitelinks if entity else 0, names + branches.get(("P279", qid), 0), nodes[key].text

    kept = [k for k, n in sorted(nodes.items()) if any(e.kind == "description" for e in n.evidence)][:FAMILIES]
    nearest = min(nodes, key=lambda k: (nodes[k].parents != (ANSWER,), size[k], k))
    largest = max(nodes, key=lambda k: (size[k], k))
    kept += [key for key in dict.fromkeys((nearest, largest)) if key not in kept]
    kept += sorted(set(nodes) - set(kept), key=known, reverse=True)[: max(0, FAMILIES - len(kept))]
    return remove(nodes, lambda n: n.key not in kept)


def _singular(node: Proposal) -> Proposal:
    def one(name: str) -> str:
        return re.sub(r"\b([Ll]anguage|[Dd]ialect)s\b", r"\1", name)

    text = one(node.text)
    aliases = [*(one(a) for a in node.aliases), *node.aliases, *([node.text] if text != node.text else [])]
    return replace(node, text=text, aliases=tuple(dict.fromkeys(a for a in aliases if a != text)))


def _plain(name: str) -> str:
    return re.sub(r"(?<!\s)\s++(?:languages?|dialects?)$", "", normalise(name))


def _family_names(written: str) -> list[str]:
    return [
        f"{written} language",
        f"{written} languages",
        f"{written} language family",
        f"{written} dialects",
    ]
