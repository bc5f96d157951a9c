"""SPARQL queries over WikiData, parsed into logical queries by rdflib's algebra.

Supported are SELECT queries for one variable whose triples are of `wdt:`, or of the statement form `p:`, `ps:`, `pq:`,
with property paths of one sequence, and a UNION of such. Triples for labels, which users of the query service often
add, do not change the answers and are left out. All else is rejected with its reason: a filter, a count, an order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from typing import Any

from kg.errors import QueryShapeError
from kg.graph.logical_query import Branch, Hop, LogicalQuery, Shape
from kg.reading.rdf_entities import ENTITY, NAMESPACES, PROP

MOST_HOPS, MOST_SUBJECTS = 2, 2  # of a path; entities that a tree starts from
_LONGEST, _MARKS = 4_000, 100  # characters of a query, and commas and semicolons: bounds of the parsing time
# The prefixes that the query service predefines, so that queries that use them can be parsed.
_PREFIXES = {
    **NAMESPACES, "psn": f"{PROP}statement/value-normalized/", "wdtn": f"{PROP}direct-normalized/",
    "pr": f"{PROP}reference/", "prov": "http://www.w3.org/ns/prov#", "bd": "http://www.bigdata.com/rdf#",
    "hint": "http://www.bigdata.com/queryHints#",
}  # fmt: skip
_LABEL = _PREFIXES["rdfs"] + "label"
_LABEL_SERVICE = re.compile(
    r"\bSERVICE\s+(?:wikibase:label|<http://wikiba\.se/ontology#label>)\s*\{[^{}]*\}\s*\.?", re.I
)
_ENTITY = re.compile(re.escape(ENTITY) + r"(Q[1-9][0-9]{0,17})\Z")
_PROPERTY = re.compile(re.escape(PROP) + r"(direct/|statement/|qualifier/|)(P[1-9][0-9]{0,17})\Z")
_PASSED = {"SelectQuery", "Project", "Distinct", "Reduced"}  # nodes that do not change the set of answers
_CALLED = {
    "Filter": "a filter", "LeftJoin": "an optional part", "Extend": "a computed value", "Group": "a count",
    "AggregateJoin": "a count", "Slice": "an order or limit", "OrderBy": "an order or limit", "Minus": "a negation",
    "ToMultiSet": "given values", "Values": "given values", "Graph": "a named graph",
    "ServiceGraphPattern": "a service",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Edge:
    """One hop between two nodes, each an entity's id or "?name"."""

    source: str
    hop: Hop
    target: str


def query_of_sparql(text: str) -> LogicalQuery:
    """The logical query of a SPARQL text. Raises QueryShapeError, whose `reason` is one of a few short labels.

    A path has at most MOST_HOPS hops, a tree at most MOST_SUBJECTS subjects. A text of more than 4,000 characters, or
    of over 100 commas and semicolons, is refused unread, for parsing time grows with the square of the objects of a
    triple. Of 13,651 published queries the longest has 1,722 characters, and none has more than 32 of these marks.
    """
    if len(text) > _LONGEST or text.count(",") + text.count(";") > _MARKS:
        raise QueryShapeError(
            f"a query of more than {_LONGEST:,} characters, or {_MARKS} commas and semicolons", reason="tree too wide"
        )
    from pyparsing import ParseException
    from rdflib.plugins.sparql import prepareQuery

    try:
        algebra = prepareQuery(_LABEL_SERVICE.sub(" ", text), initNs=_PREFIXES).algebra
    except (ParseException, RecursionError) as error:
        raise QueryShapeError(f"not SPARQL: {str(error)[:200]}", reason="not SPARQL") from error
    except Exception as error:  # rdflib raises bare ones, such as for an unknown prefix
        raise QueryShapeError(f"not read by rdflib: {str(error)[:200]}", reason="not SPARQL") from error
    answer, groups = _answer_and_triple_groups(algebra)
    numbers = count()  # names of nodes within property paths are new in the whole query
    queries = [_branches_to_answer(answer, _edges_of_triples(group, numbers)) for group in groups]
    if len(queries) == 1:
        query = LogicalQuery(branches=queries[0])
    elif all(len(branches) == 1 for branches in queries):
        query = LogicalQuery(branches=tuple(branches[0] for branches in queries), union=True)
    else:
        raise QueryShapeError("a part of the union is a tree; expected paths", reason="union of trees")
    if any(len(branch.hops) > MOST_HOPS for branch in query.branches):
        raise QueryShapeError(f"a path has more than {MOST_HOPS} hops", reason="path too long")
    if query.shape is Shape.TREE and len(query.branches) > MOST_SUBJECTS:
        raise QueryShapeError(f"a tree has more than {MOST_SUBJECTS} entities", reason="tree too wide")
    return query


def _answer_and_triple_groups(algebra: Any) -> tuple[str, list[list[Any]]]:
    """(the variable that is selected, the triples of each part of the union)."""
    if algebra.name == "AskQuery":
        raise QueryShapeError("ASK has no answer among the entities", reason="yes or no")
    if algebra.name != "SelectQuery":
        raise QueryShapeError(f"{algebra.name}: only SELECT asks for entities", reason="not a SELECT")
    node = algebra
    while node.name in _PASSED:
        node = node.p
    node, labels = _remove_label_triples(node)
    names = list(dict.fromkeys(map(str, algebra.PV)))
    asked = [name for name in names if name not in labels and name.removesuffix("Label") not in {*names} - {name}]
    if len(asked) != 1:
        raise QueryShapeError(f"{len(asked)} variables are asked for, expected one", reason="several variables")
    return f"?{asked[0]}", list(_triples_of_each_union_part(node))


def _remove_label_triples(node: Any) -> tuple[Any, set[str]]:
    """A node without the triples that only fetch labels, and the variables of those labels."""
    labels: set[str] = set()
    if node.name == "BGP":
        for _, predicate, target in node.triples:
            labels.update([str(target)] if str(predicate) == _LABEL else [])
        node.triples[:] = [triple for triple in node.triples if str(triple[1]) != _LABEL]
    elif node.name == "Filter":
        node.p, labels = _remove_label_triples(node.p)
        if labels and node.expr.name.startswith("Relational"):
            asked = node.expr.expr
            if getattr(asked, "name", "") == "Builtin_LANG" and str(asked.arg) in labels:
                return node.p, labels  # FILTER(LANG(?xLabel) = "en")
    elif node.name in ("LeftJoin", "Join"):
        for side in ("p1", "p2"):
            node[side], found = _remove_label_triples(node[side])
            labels |= found
        if node.p2.name == "BGP" and not node.p2.triples:
            return node.p1, labels
    return node, labels


def _triples_of_each_union_part(node: Any) -> Iterable[list[Any]]:
    if node.name == "Union":
        yield from _triples_of_each_union_part(node.p1)
        yield from _triples_of_each_union_part(node.p2)
    elif node.name == "BGP":
        yield list(node.triples)
    elif node.name == "Join":
        left, right = list(_triples_of_each_union_part(node.p1)), list(_triples_of_each_union_part(node.p2))
        if len(left) > 1 or len(right) > 1:
            raise QueryShapeError("a union within a conjunction", reason="union within a conjunction")
        yield left[0] + right[0]
    elif node.name == "Extend" and node.p.name == "AggregateJoin":
        raise QueryShapeError("it counts or adds up", reason="an aggregate")
    else:
        raise QueryShapeError(f"it has {_CALLED.get(node.name, node.name)}", reason=_CALLED.get(node.name, "another"))


def _edges_of_triples(triples: list[Any], numbers: Iterable[int]) -> list[_Edge]:
    """The edges of triples: one per `wdt:` triple, and one per pair of triples through a statement node."""
    from rdflib import URIRef
    from rdflib.paths import Path, SequencePath

    plain: list[tuple[str, str, str, str]] = []  # node, kind, property, node
    fresh = iter(numbers)
    for subject, predicate, target in triples:
        steps = [predicate]
        if isinstance(predicate, SequencePath):
            steps = list(predicate.args)
        nodes = [
            _entity_or_variable_of_term(subject),
            *(f"? {next(fresh)}" for _ in steps[1:]),
            _entity_or_variable_of_term(target),
        ]
        for at, step in enumerate(steps):
            if isinstance(step, Path) or not isinstance(step, URIRef):
                raise QueryShapeError("a property path with *, +, | or ^", reason="property path")
            match = _PROPERTY.match(str(step))
            if match is None:
                raise QueryShapeError(f"{step} is no property of WikiData", reason="another vocabulary")
            plain.append((nodes[at], match[1], match[2], nodes[at + 1]))
    return _edges_of_statements(plain)


def _edges_of_statements(plain: list[tuple[str, str, str, str]]) -> list[_Edge]:
    edges: list[_Edge] = []
    statements = {target: (node, prop) for node, kind, prop, target in plain if kind == ""}
    used: dict[str, int] = dict.fromkeys(statements, 0)
    for node, kind, prop, target in plain:
        if kind == "direct/":
            edges.append(_Edge(node, Hop(property=prop), target))
        elif kind in ("statement/", "qualifier/"):
            if node not in statements:
                raise QueryShapeError(f"{node} is no statement of the query", reason="statement without an entity")
            owner, owned = statements[node]
            used[node] += 1
            if kind == "statement/" and prop != owned:
                raise QueryShapeError(f"ps:{prop} of a statement of {owned}", reason="statement of two properties")
            hop = Hop(property=prop) if kind == "statement/" else Hop(property=owned, qualifier=prop)
            edges.append(_Edge(owner, hop, target))
    if any(number != 1 for number in used.values()):
        raise QueryShapeError("a statement with several conditions, or none", reason="condition on a statement")
    return edges


def _entity_or_variable_of_term(term: Any) -> str:
    from rdflib import BNode, URIRef, Variable

    if isinstance(term, Variable | BNode):
        return f"?{term}"
    if isinstance(term, URIRef) and (match := _ENTITY.match(str(term))):
        return match[1]
    raise QueryShapeError(f"{str(term)[:80]!r} is no entity", reason="a value that is no entity")


def _branches_to_answer(answer: str, edges: list[_Edge]) -> tuple[Branch, ...]:
    """Branches from entities to the answer. Every node in between has one way in and one way out."""
    at: dict[str, list[_Edge]] = {}
    for edge in edges:
        if edge.source == edge.target:
            raise QueryShapeError("a triple leads to itself", reason="cycle")
        for node in (edge.source, edge.target):
            at.setdefault(node, []).append(edge)
    if answer not in at:
        raise QueryShapeError(f"{answer} is in no triple", reason="answer not bound")
    taken: set[int] = set()
    branches = tuple(_branch_from_edge(answer, edge, at, taken) for edge in at[answer])
    if len(taken) < len(edges):
        raise QueryShapeError("triples that do not lead to the answer", reason="apart from the answer")
    return branches


def _branch_from_edge(answer: str, first: _Edge, at: dict[str, list[_Edge]], taken: set[int]) -> Branch:
    hops: list[Hop] = []
    edge, node = first, answer
    while True:
        if id(edge) in taken:  # compared by identity, for equal triples may be repeated
            raise QueryShapeError("the triples form a cycle", reason="cycle")
        taken.add(id(edge))
        forward = edge.target == node
        if not forward and edge.hop.qualifier is not None:
            raise QueryShapeError("a qualifier's value leads to the answer", reason="qualifier against its direction")
        hops.append(edge.hop if forward else Hop(property=edge.hop.property, forward=False))
        node = edge.source if forward else edge.target
        if not node.startswith("?"):
            return Branch(start=node, hops=tuple(reversed(hops)))
        others = [other for other in at[node] if other is not edge]
        if len(others) != 1:
            kind = "condition on a node in between" if others else "an entity is lacking"
            raise QueryShapeError(f"{node} has {len(others) + 1} triples, expected two", reason=kind)
        edge = others[0]
