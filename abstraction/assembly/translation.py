"""Tiers made by reading English, named in another language: by the labels of their entities.

The rules that make tiers read English labels and descriptions. For another language each entity is named by
its label there, and a phrase that states a class alone ("a composer") is the class's label. Other phrases ("a French
composer") need the gender of nouns, which the graph seldom tells: they are left out, and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from abstraction.assembly.filters import DIVISIONS
from abstraction.assembly.levels import as_graph, remove
from abstraction.language.languages import GRAMMAR, is_known, language, notice
from abstraction.proposals import Proposal
from kg.model import ENTITY_ID, TextValue, entity_number
from kg.terms import fallback_chain, normalise
from kg.walks.graph import Graph

_OF_CLASSES = frozenset({"P31", "P106"})  # a phrase that states one of these alone is the class's name


@dataclass(frozen=True, kw_only=True, slots=True)
class Localised:
    """Proposals in the language that the graph shows; `left_out` counts phrases that there is no grammar for.

    `unnamed` counts places that only the words of an English description name, or an English phrase: "Masovian
    Voivodeship".
    `borrowed` are (entity, language) of the labels that are in another language, a fallback's own excepted.
    """

    proposals: tuple[Proposal, ...]
    left_out: int = 0
    unnamed: int = 0
    borrowed: tuple[tuple[str, str], ...] = ()


@dataclass
class Telling:
    """What the rows of one language have to say about it; one row's notes at a time."""

    code: str
    left_out: int = 0
    unnamed: int = 0
    borrowed: dict[str, str] = field(default_factory=dict)

    def add(self, ladder: Localised) -> None:
        """Take in one ladder of the row."""
        self.left_out += ladder.left_out
        self.unnamed += ladder.unnamed
        self.borrowed.update(ladder.borrowed)

    def notes(self) -> dict[str, object]:
        """ "language" of a row in any but English, "language_notes" on what it goes without; then starts anew."""
        if self.code == GRAMMAR:
            return {}
        notes = [text] if (text := notice(self.code)) else []
        if self.left_out:
            notes.append(f"{self.left_out} left out: phrases are made in English only")
        if self.unnamed:
            notes.append(f"{self.unnamed} left out: places known by their English name only")
        for code in sorted(set(self.borrowed.values())):
            ids = [qid for qid, label_code in self.borrowed.items() if label_code == code]
            notes.append(f"no label in {self.code!r}, told in {code!r}: {', '.join(sorted(ids, key=entity_number))}")
        self.left_out, self.unnamed, self.borrowed = 0, 0, {}
        return {"language": self.code, **({"language_notes": notes} if notes else {})}


def localised(
    proposals: Sequence[Proposal],
    graph: Graph,
    *,
    trivial: Callable[[Proposal], bool] = lambda _: False,
    feminine: bool = False,
    of_citizens: bool = False,
) -> Localised:
    """The proposals with their texts and aliases in `graph.shown_in`; untouched where that is what rules read.

    What is `trivial` is decided by the English wording and removed with it. `feminine` tells what a woman is by the
    feminine of its name, where the graph or the label has one; `of_citizens` gives countries the graph's demonyms.
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
        names = _names(proposal, graph, feminine=feminine, of_citizens=of_citizens)
        shown = graph.shown_label(proposal.qid) if proposal.qid else None
        foreign = shown[1] if shown is not None and shown[1] not in own_codes else None
        if not names or (foreign == GRAMMAR and not DIVISIONS.isdisjoint(normalise(names[0]).split())):
            dropped.add(proposal.key)
            out.append(proposal)
            continue
        out.append(replace(proposal, text=names[0], aliases=_others(names), language=foreign))
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
    """Whether tiers tell of a woman: the answer, or else whom the question asks about; not asked in English."""
    if graph.shown_in == graph.language:
        return False
    genders = next((told for qid in (answer, subject) if qid and (told := graph.statements(qid, "P21"))), ())
    return any(statement.target in _WOMEN for statement in genders)


_WOMEN = frozenset({"Q6581072", "Q1052281"})  # female, trans woman


def demonyms(graph: Graph, qid: str) -> list[str]:
    """What the graph calls a country's people in the language that it shows, where that is not what rules read.

    With them 25 of 26,256 answers on citizenship in seven languages (WILA) are right that were not, and none is wrong.
    """
    return _texts(graph, qid, "P1549")


def _texts(graph: Graph, qid: str, prop: str) -> list[str]:
    codes = _own_codes(graph)
    values = [s.value for s in graph.statements(qid, prop) if isinstance(s.value, TextValue)]
    return [value.text for value in values if value.language in codes]


def _own_codes(graph: Graph) -> tuple[str, ...]:
    return fallback_chain(graph.shown_in)[:-1] if graph.shown_in != graph.language else ()


def word_forms(graph: Graph, qid: str) -> tuple[list[str], list[str]]:
    """(masculine, feminine) names of a class in the language that the graph shows, by its label and its statements."""
    masculine, feminine = _texts(graph, qid, "P3321"), _texts(graph, qid, "P2521")
    shown = graph.shown_label(qid)
    is_own = shown is not None and shown[1] in _own_codes(graph)
    halves = language(graph.shown_in).halves(shown[0]) if shown is not None and is_own else ()
    return ([*masculine, halves[0]], [*feminine, halves[1]]) if len(halves) == 2 else (masculine, feminine)


def _names(proposal: Proposal, graph: Graph, *, feminine: bool, of_citizens: bool) -> list[str]:
    """The text, then other names; empty where the language cannot say it."""
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
    """The class that a phrase states and nothing else: "a composer" says what Q36834 is called; None for more."""
    if proposal.qid is not None or len(proposal.conditions) != 1:
        return None
    (condition,) = proposal.conditions
    is_class = condition.property in _OF_CLASSES and ENTITY_ID.match(condition.value)
    return condition.value if is_class else None


def _others(names: Sequence[str]) -> tuple[str, ...]:
    by_key = {normalise(name): name for name in reversed(names)}
    by_key.pop(normalise(names[0]), None)
    return tuple(reversed(by_key.values()))
