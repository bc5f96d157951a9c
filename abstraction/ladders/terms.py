"""Answers that are classes: genres, occupations, languages and positions in a sport."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from abstraction.classes import anchors
from abstraction.descriptions.text import first_segment
from abstraction.evidence import from_description, from_statement
from abstraction.hierarchy import Climbing, climb, stop_classes, used_as_value
from abstraction.ladders.base import ANSWER, Case, Proposal
from abstraction.levels import as_graph, remove
from abstraction.tiers import Condition
from kg.terms import normalise

_GENRE_OF = re.compile(
    r"^(?:[a-z-]+\s+)*?(?:sub-?genres?|genres?|forms?|styles?|types?|branch|fusion genre"
    r"|derivative)\s+of\s+(?P<x>[\w' &-]+?)"
    r"(?=$|[,;.]|\s+(?:that|which|who|originating|characteri[sz]ed|with|and|in|from|featuring|combining"
    r"|developed|based)\b)"
)
_GENRE_HEAD = re.compile(r"^(?P<x>[\w' &-]+?)\s+(?:sub-?genre|subgenre|style)$")
_HYPERNYM = re.compile(
    r"^(?:an?\s+|the\s+)?(?P<x>[A-Za-z][\w' -]*?)\s+(?:who|whom|speciali[sz]ing|specialist|specialized|that|of"
    r"|in|with|working|writing)\b"
)
_LANGUAGE = re.compile(
    r"\b(?P<x>(?:[A-Z][\w-]+\s+)+)(?:language|dialect|variety|branch|group|subgroup)s?\b"
    r"|^(?:an?\s+)?(?P<y>[a-z][a-z-]+(?:\s[a-z-]+)*\s+)language\b"
)
_FAMILY_OF = re.compile(r"\bof the (?P<x>(?:[A-Z][\w-]+[ -]?)+?)\s*(?:language\s+)?(?:family|branch|group)\b")
_SIDE_IN_SPORT = re.compile(
    r"\b(?:(?P<side>offensive|defensive|attacking|infield|outfield|backcourt"
    r"|frontcourt)\s+)?(?:playing\s+)?position\b(?:\s+\w+)?\s+in\s+"
    r"(?P<sport>(?:the\s+sport\s+of\s+)?[\w' -]+?)(?=$|[,;.])"
    r"|^(?P<sport2>[a-z][\w' -]*?)\s+(?:playing\s+)?position\b"
)
# Groupings that linguists dispute or that are no descent: never said of a language (design note, 3.4 G).
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


def terms(case: Case) -> list[Proposal]:
    """Coarser classes of a class-valued answer, by what the relation asks for, else by the answer's class."""
    asked = case.relation.asks
    kinds = case.gazetteer.classes(case.answer)
    for kind, build in _BUILDERS.items():
        if asked == kind or (asked not in _BUILDERS and kind in kinds):
            return build(case)
    return []


def _occupations(case: Case) -> list[Proposal]:
    graph = case.graph
    used = used_as_value(graph, "P106")
    kept = climb(graph, case.answer, Climbing(properties=("P279",), depth=2, keep=used), condition="P106")
    found = _described(case, _HYPERNYM, "P106", lambda q: q not in stop_classes() and used(q))
    for proposal in found:
        if proposal.key not in kept:
            kept[proposal.key] = proposal
            # The broader class of the description's head is broader than the answer as well.
            for above in climb(
                graph, proposal.key, Climbing(properties=("P279",), depth=1, keep=used), condition="P106"
            ).values():
                lifted = replace(above, parents=(proposal.key,))
                kept.setdefault(above.key, lifted)
    return list(as_graph(kept.values()).values())


def _genres(case: Case) -> list[Proposal]:
    graph = case.graph
    used = used_as_value(graph, "P136", minimum=1)
    metaclasses = frozenset(q for q, kinds in anchors().items() if "genre" in kinds)
    own = metaclasses.intersection(graph.classes(case.answer)) - {"Q483394"}
    same_medium = _medium(case)

    def keep(qid: str) -> bool:
        kinds = metaclasses.intersection(graph.classes(qid))
        if (
            qid in stop_classes()
            or not same_medium(qid)
            or (kinds and "Q483394" not in kinds and own.isdisjoint(kinds) and own)
        ):
            return False
        return used(qid) or bool(kinds)

    kept = climb(graph, case.answer, Climbing(properties=("P279", "P31"), depth=3, keep=keep), condition="P136")
    kept = {q: p for q, p in kept.items() if q not in metaclasses}
    for pattern in (_GENRE_OF, _GENRE_HEAD):
        for proposal in _described(case, pattern, "P136", lambda q: q not in metaclasses and keep(q)):
            if proposal.key in kept:
                continue
            above = climb(
                graph,
                proposal.key,
                Climbing(properties=("P279", "P31"), depth=2, keep=keep),
                condition="P136",
            )
            for key, node in above.items():
                parents = tuple(proposal.key if p == ANSWER else p for p in node.parents)
                if key in kept:
                    kept[key] = replace(kept[key], parents=tuple(dict.fromkeys((*kept[key].parents, *parents))))
                elif key not in metaclasses:
                    kept[key] = replace(node, parents=parents)
            kept[proposal.key] = proposal
    return list(as_graph(kept.values()).values())


def _medium(case: Case) -> Callable[[str], bool]:
    """A music genre's broader genres are music: a class that is only a kind of work or activity is no genre."""
    classes = case.gazetteer.classes

    def test(qid: str) -> bool:
        kinds = classes(qid)
        return (
            not kinds
            or "genre" in kinds
            or kinds.isdisjoint({"person", "place", "event", "occupation", "organisation"})
        )

    return test


def _languages(case: Case) -> list[Proposal]:
    graph = case.graph

    def keep(qid: str) -> bool:
        label = graph.label(qid) or ""
        return (
            qid not in stop_classes()
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
        *_described(case, _LANGUAGE, "P407", keep, names=_family_names),
        *_described(case, _FAMILY_OF, "P407", keep, names=_family_names),
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
    """At most four: those the description names, then languages that people speak, then families, the
    better known first: by sitelinks, then by size."""
    if len(nodes) <= FAMILIES:
        return nodes

    pairs = [(prop, n.qid) for n in nodes.values() if n.qid for prop in ("P407", "P1412", "P364", "P103")]
    spoken = {qid for _, qid in case.graph.store.value_counts(pairs)}

    def size(node: Proposal) -> tuple[int, ...]:
        if any(e.kind == "description" for e in node.evidence):
            return (0, 0)
        if node.qid is None:
            return (3, 0)
        living = node.qid in spoken and "Q34770" in case.graph.classes(node.qid)
        entity = case.graph.entity(node.qid)
        return (1 if living else 2, -(entity.sitelinks if entity else 0), -case.graph.size_below(node.qid))

    best = {n.key for n in sorted(nodes.values(), key=lambda n: (size(n), n.text))[:FAMILIES]}
    return remove(nodes, lambda n: n.key not in best)


def _singular(node: Proposal) -> Proposal:
    def one(name: str) -> str:
        return re.sub(r"\b([Ll]anguage|[Dd]ialect)s\b", r"\1", name)

    text = one(node.text)
    aliases = [*(one(a) for a in node.aliases), *node.aliases, *([node.text] if text != node.text else [])]
    return replace(node, text=text, aliases=tuple(dict.fromkeys(a for a in aliases if a != text)))


def _family_names(written: str) -> list[str]:
    return [
        f"{written} language",
        f"{written} languages",
        f"{written} language family",
        f"{written} dialects",
    ]


def _positions(case: Case) -> list[Proposal]:
    graph = case.graph
    out: list[Proposal] = []
    description = graph.description(case.answer)
    found = _SIDE_IN_SPORT.search(first_segment(description)) if description else None
    sports = graph.current(case.answer, "P641")
    named: list[tuple[str, str | None, tuple[object, ...]]] = []
    for statement in sports:
        if statement.target and (label := graph.label(statement.target)):
            named.append((label, statement.target, (from_statement(graph, statement),)))
    side = None
    if found and description:
        sport = (found.group("sport") or found.group("sport2") or "").removeprefix("the sport of ").strip()
        side = found.group("side")
        known = next((m.id for m in graph.find(sport)), None) if sport else None
        if sport and known and not any(normalise(sport) == normalise(n) for n, _, _ in named):
            named.insert(0, (sport, known, (from_description(graph, case.answer, found.group().strip()),)))
    for name, qid, evidence in named[:2]:
        text = f"a position in {name}"
        below = ANSWER
        if side and description and found:
            fine = f"{'an' if side[0] in 'aoi' else 'a'} {side} position in {name}"
            out.append(
                Proposal(
                    key=fine,
                    text=fine,
                    aliases=(f"{side} position in {name}", f"{name} {side} position"),
                    evidence=(from_description(graph, case.answer, found.group().strip()),),
                    conditions=frozenset(
                        {
                            Condition(property="P641", value=qid or name),
                            Condition(property="text", value=side),
                        }
                    ),
                )
            )
            below = fine
        out.append(
            Proposal(
                key=text,
                text=text,
                parents=(below,),
                aliases=(f"{name} position", f"position in {name}"),
                evidence=evidence,  # type: ignore[arg-type]
                conditions=frozenset({Condition(property="P641", value=qid or name)}),
            )
        )
    used = used_as_value(graph, "P413", minimum=1)
    how = Climbing(properties=("P279",), depth=2, keep=lambda q: used(q) and q not in stop_classes())
    broader = climb(graph, case.answer, how, condition="P413")
    heads = [key for key, node in broader.items() if node.parents]
    if heads:
        last = [key for key in heads if not any(key in other.parents for other in broader.values())]
        out = [replace(p, parents=tuple(last)) if p.parents == (ANSWER,) and last else p for p in out]
    return [*broader.values(), *out]


def _described(
    case: Case,
    pattern: re.Pattern[str],
    prop: str,
    keep: Callable[[str], bool],
    *,
    names: Callable[[str], list[str]] = lambda written: [written],
) -> list[Proposal]:
    """Classes that the answer's description names, canonicalised to an entity that `keep` lets stand."""
    graph = case.graph
    description = graph.description(case.answer)
    if not description:
        return []
    out = []
    for found in pattern.finditer(first_segment(description)):
        written = next(g for g in (found["x"], found.groupdict().get("y")) if g).strip()
        for name in names(written):
            fitting = [m.id for m in graph.find(name) if m.id != case.answer and keep(m.id)]
            if not fitting:
                continue
            qid = fitting[0]
            label = graph.label(qid) or written
            out.append(
                Proposal(
                    key=qid,
                    text=label,
                    qid=qid,
                    aliases=tuple(n for n in (*graph.names(qid), name) if n != label),
                    evidence=(from_description(graph, case.answer, written),),
                    conditions=frozenset({Condition(property=prop, value=qid)}),
                )
            )
            break
    return out


_BUILDERS: dict[str, Callable[[Case], list[Proposal]]] = {
    "occupation": _occupations,
    "genre": _genres,
    "language": _languages,
    "position": _positions,
}
