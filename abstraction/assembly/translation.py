"""Tiers made by reading English, named in another language: by the labels of their entities.

The rules that make tiers read English labels and descriptions. For another language each entity is named by
its label there, and a phrase that states a class alone ("a composer") is the class's label. Of other phrases only a
position in a sport can be made without knowing a noun's gender; the others ("a French composer") are left out, and
counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from abstraction.assembly.levels import as_graph, remove
from abstraction.language.languages import GRAMMAR, is_known, language, notice
from abstraction.proposals import Proposal
from kg.model import ENTITY_ID, TextValue, entity_number
from kg.terms import fallback_chain, normalise
from kg.walks.graph import Graph

_SPORT = "P641"
_OF_CLASSES = frozenset({"P31", "P106"})  # a phrase that states one of these alone is the class's name


@dataclass(frozen=True, kw_only=True, slots=True)
class Localised:
    """Proposals in the language that the graph shows; `left_out` counts phrases that there is no grammar for.

    `unnamed` counts places that only the words of an English description name.
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
) -> Localised:
    """The proposals with their texts and aliases in `graph.shown_in`; untouched where that is what rules read.

    What is `trivial` is decided by the English wording and removed with it. `feminine` tells what a woman is by the
    feminine of its name, where the graph or the label has one.
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
        names = _names(proposal, graph, feminine=feminine)
        if not names:
            dropped.add(proposal.key)
            out.append(proposal)
            continue
        shown = graph.shown_label(proposal.qid) if proposal.qid else None
        foreign = shown[1] if shown is not None and shown[1] not in own_codes else None
        out.append(replace(proposal, text=names[0], aliases=_others(names), language=foreign))
        if foreign is not None and proposal.qid is not None:
            borrowed.append((proposal.qid, foreign))
    nodes = remove(as_graph(out), lambda p: p.key in dropped) if dropped else as_graph(out)
    places = sum(key.startswith("text:") for key in dropped)
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


def word_forms(graph: Graph, qid: str) -> tuple[list[str], list[str]]:
    """(masculine, feminine) names of a class in the language that the graph shows, by its label and its statements."""
    codes = fallback_chain(graph.shown_in)[:-1] if graph.shown_in != graph.language else []
    told: dict[str, list[str]] = {"P3321": [], "P2521": []}
    for prop, texts in told.items():
        values = [s.value for s in graph.statements(qid, prop) if isinstance(s.value, TextValue)]
        texts += [value.text for value in values if value.language in codes]
    shown = graph.shown_label(qid)
    halves = language(graph.shown_in).halves(shown[0]) if shown is not None and shown[1] in codes else ()
    if len(halves) == 2:
        return [*told["P3321"], halves[0]], [*told["P2521"], halves[1]]
    return told["P3321"], told["P2521"]


def _names(proposal: Proposal, graph: Graph, *, feminine: bool) -> list[str]:
    """The text, then other names; empty where the language cannot say it."""
    words = language(graph.shown_in)
    qid = proposal.qid or _class_alone(proposal)
    if qid is not None:
        shown = graph.shown_label(qid)
        if shown is None or (proposal.qid is None and shown[1] not in fallback_chain(graph.shown_in)[:-2]):
            return []
        own = words.one_of(shown[0]) if is_known(graph.shown_in) else shown[0]
        name = proposal.text if shown[1] == graph.language else own
        masculine_forms, feminine_forms = word_forms(graph, qid)
        names_both = len(words.halves(name)) == 2
        gendered = feminine_forms[:1] if feminine else masculine_forms[:1] if names_both else []
        return [*gendered, name, shown[0], *masculine_forms, *feminine_forms, *graph.shown_names(qid)]
    sports = [c.value for c in proposal.conditions if c.property == _SPORT]
    alone = len(sports) == len(proposal.conditions) == 1 and proposal.text.startswith("a position in ")
    if not alone or not is_known(graph.shown_in):
        return []
    shown = graph.shown_label(sports[0])
    if shown is None or shown[1] not in fallback_chain(words.code)[:2]:
        return []
    return list(words.written("position", sport=shown[0]))


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
