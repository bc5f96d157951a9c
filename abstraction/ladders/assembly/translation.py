"""Translation of tiers made from English, by the labels of their entities.

The rules that make tiers read English labels and descriptions. In another language each entity has its label there,
and a phrase that states a class alone ("a composer") becomes the label of the class. Other phrases ("a French
composer") need the gender of nouns, which the graph rarely has: they are left out, and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from abstraction.ladders.assembly.filters import DIVISIONS
from abstraction.ladders.assembly.levels import as_graph, other_names, remove
from abstraction.ladders.proposals import Proposal
from abstraction.text.language.languages import GRAMMAR, is_known, language, notice
from kg.base.model import ENTITY_ID, TextValue, entity_number, fallback_chain, normalise
from kg.graph.graph import Graph

_OF_CLASSES = frozenset({"P31", "P106"})  # a phrase with one such condition alone names the class


@dataclass(frozen=True, kw_only=True, slots=True)
class Localised:
    """Proposals in the language that the graph shows; `left_out` counts phrases without a grammar in that language.

    `unnamed` counts places named only by an English description or phrase: "Masovian Voivodeship". `borrowed` are
    (entity, language) of labels in another language, except the usual fallbacks.
    """

    proposals: tuple[Proposal, ...]
    left_out: int = 0
    unnamed: int = 0
    borrowed: tuple[tuple[str, str], ...] = ()


def language_notes(code: str, ladders: Sequence[Localised]) -> dict[str, object]:
    """"language" of a row except in English, "language_notes" on missing translations in its ladders."""
    if code == GRAMMAR:
        return {}
    notes = [text] if (text := notice(code)) else []
    if left_out := sum(ladder.left_out for ladder in ladders):
        notes.append(f"{left_out} left out: phrases are made in English only")
    if unnamed := sum(ladder.unnamed for ladder in ladders):
        notes.append(f"{unnamed} left out: places known by their English name only")
    borrowed = dict(pair for ladder in ladders for pair in ladder.borrowed)
    for other in sorted(set(borrowed.values())):
        ids = sorted((qid for qid, label_code in borrowed.items() if label_code == other), key=entity_number)
        notes.append(f"no label in {code!r}, told in {other!r}: {', '.join(ids)}")
    return {"language": code, **({"language_notes": notes} if notes else {})}


def localise(
    proposals: Sequence[Proposal],
    graph: Graph,
    *,
    trivial: Callable[[Proposal], bool] = lambda _: False,
    feminine: bool = False,
    of_citizens: bool = False,
) -> Localised:
    """The proposals with texts and aliases in `graph.shown_in`; unchanged where that is the language of the rules.

    `trivial` is decided by the English wording; trivial proposals are removed. `feminine` uses the feminine form of a
    name, where the graph or the label has one; `of_citizens` adds the graph's demonyms to countries.
    """
    if graph.shown_in == graph.language:
        return Localised(proposals=tuple(proposals))
    own_codes = {*(code for code in fallback_chain(graph.shown_in) if code != graph.language), "mul"}
    proposals = tuple(remove(as_graph(proposals), trivial).values())
    out: list[Proposal] = []
    dropped: set[str] = set()
    borrowed: list[tuple[str, str]] = []
    graph.fetch(qid for p in proposals if (qid := p.qid or _class_alone(p)))
    for proposal in proposals:
        names = _localised_names(proposal, graph, feminine=feminine, of_citizens=of_citizens)
        shown = graph.shown_label(proposal.qid) if proposal.qid else None
        foreign = shown[1] if shown is not None and shown[1] not in own_codes else None
        if not names or (foreign == GRAMMAR and not DIVISIONS.isdisjoint(normalise(names[0]).split())):
            dropped.add(proposal.key)
            out.append(proposal)
            continue
        out.append(replace(proposal, text=names[0], aliases=other_names(names[0], names), language=foreign))
        if foreign is not None and proposal.qid is not None:
            borrowed.append((proposal.qid, foreign))
    named = {proposal.key for proposal in proposals if proposal.qid}
    nodes = remove(as_graph(out), lambda p: p.key in dropped) if dropped else as_graph(out)
    places = sum(key.startswith("text:") or key in named for key in dropped)
    return Localised(
        proposals=tuple(nodes.values()),
        left_out=len(dropped) - places,
        unnamed=places,
        borrowed=tuple(borrowed),
    )


def is_woman(graph: Graph, answer: str, subject: str | None) -> bool:
    """Whether the tiers describe a woman: the answer, else the subject of the question; always False in English."""
    if graph.shown_in == graph.language:
        return False
    genders = next((told for qid in (answer, subject) if qid and (told := graph.statements(qid, "P21"))), ())
    return any(statement.target in _FEMALE_GENDERS for statement in genders)


_FEMALE_GENDERS = frozenset({"Q6581072", "Q1052281"})  # female, trans woman


def demonyms(graph: Graph, qid: str) -> list[str]:
    """The demonyms of a country in the language that the graph shows; none where that is the language of the rules.

    They make 25 more of 26,256 answers on citizenship in seven languages (WILA) correct, and none wrong.
    """
    return _statement_texts(graph, qid, "P1549")


def _statement_texts(graph: Graph, qid: str, prop: str) -> list[str]:
    codes = _own_codes(graph)
    values = [s.value for s in graph.statements(qid, prop) if isinstance(s.value, TextValue)]
    return [value.text for value in values if value.language in codes]


def _own_codes(graph: Graph) -> tuple[str, ...]:
    return fallback_chain(graph.shown_in)[:-1] if graph.shown_in != graph.language else ()


def word_forms(graph: Graph, qid: str) -> tuple[list[str], list[str]]:
    """(masculine, feminine) names of a class in the language that the graph shows, by its label and its statements."""
    masculine, feminine = _statement_texts(graph, qid, "P3321"), _statement_texts(graph, qid, "P2521")
    shown = graph.shown_label(qid)
    is_own = shown is not None and shown[1] in _own_codes(graph)
    halves = language(graph.shown_in).halves(shown[0]) if shown is not None and is_own else ()
    return ([*masculine, halves[0]], [*feminine, halves[1]]) if len(halves) == 2 else (masculine, feminine)


def _localised_names(proposal: Proposal, graph: Graph, *, feminine: bool, of_citizens: bool) -> list[str]:
    """The text in the language, then other names; empty where there is no label."""
    words = language(graph.shown_in)
    qid = proposal.qid or _class_alone(proposal)
    shown = graph.shown_label(qid) if qid is not None else None
    if qid is None or shown is None:
        return []
    if proposal.qid is None and shown[1] not in fallback_chain(graph.shown_in)[:-2]:
        return []
    own = words.one_of(shown[0]) if is_known(graph.shown_in) else shown[0]
    name = proposal.text if shown[1] == graph.language else own
    masculine_forms, feminine_forms = word_forms(graph, qid)
    names_both = len(words.halves(name)) == 2
    gendered = feminine_forms[:1] if feminine else masculine_forms[:1] if names_both else []
    nationals = demonyms(graph, qid) if of_citizens else []
    return [*gendered, name, shown[0], *masculine_forms, *feminine_forms, *graph.shown_names(qid), *nationals]


def _class_alone(proposal: Proposal) -> str | None:
    """The class that a phrase states alone: Q36834 for "a composer"; None for a phrase with more conditions."""
    if proposal.qid is not None or len(proposal.conditions) != 1:
        return None
    (condition,) = proposal.conditions
    is_class = condition.property in _OF_CLASSES and ENTITY_ID.match(condition.value)
    return condition.value if is_class else None
