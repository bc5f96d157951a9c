"""Containers worded as the kind that is asked for: "a country in Asia", "a city in Gabon".

A container by its name answers where something is. Who asks which country or what capital wants one, and "Gabon" is no
capital: there the bare name is not among the names of the tier.
"""

from __future__ import annotations

import re
from dataclasses import replace

from abstraction.assembly.filters import is_named
from abstraction.assembly.levels import ancestors
from abstraction.evidence import from_statement, joined
from abstraction.ladders.landholders import noun_of, spoken
from abstraction.language.phrases import definite, indefinite, short
from abstraction.linking.gazetteer import SETTLEMENTS, STATE
from abstraction.proposals import LadderCase, Proposal
from abstraction.tiers import Evidence
from kg.bounded_cache import bounded_cache

_WHERE = re.compile(r"\W*(?:from )?where\b", re.I)
# "In which city ...?" wants a city, and is answered by "in Germany"; "In which country ...?" by a country alone.
_IN_WHICH = re.compile(r"\b(?:in|at|near|from) (?:which|what) (?!country|nation)\w+\b", re.I)
_WHICH = re.compile(
    r"(?:\A|, |\b(?:in|at|from|near) )(?:\w+ )?(?:which|what)(?: is the name of the| of the)?"
    r"(?:(?: (?!is\b|was\b|are\b|were\b)[\w.-]+){0,2}?| are the(?: [\w.-]+){0,5}?)"
    r" (?P<noun>country|cit(?:y|ies)|towns?|villages?|municipality|count(?:y|ies)|states?|provinces?|districts?"
    r"|regions?|suburb|borough|islands?|neighbou?rhood|universit(?:y|ies)|colleges?|schools?|academy)\b(?! of\b)",
    re.I,
)
_COUNTRY = "country"
_COUNTRIES = STATE | {"Q6256", "Q3336843"}  # Scotland is one too
_SETTLEMENTS = ("city", "town", "village", "municipality", "commune")
_SCHOOLS = ("university", "college", "school", "academy")
_LOCATES = re.compile(r"\b(?:where|locat\w+|place|from|held|filmed|born|lived?)\b", re.I)
_NAMES = 5  # names of a container that are worded
# Words with capitals: "African continent" wants an article, "FRG" is a code.
_SPELLED = re.compile(r"(?=.{4})(?:(?:[^\W\d_a-zß-ÿ][\w'’.-]+|of|the|and|de|da|del|la)(?: |\Z))+")
_LANGUAGE = re.compile(r"^(?!an? |the ).+ language$")


def as_asked(nodes: dict[str, Proposal], case: LadderCase, *, certain: bool = True) -> dict[str, Proposal]:
    """The proposals with containers worded as what the question asks for; untouched where it asks where.

    Containers that are of that kind themselves keep their names: England lies in a country, the United Kingdom.
    Families of languages get their article. Which settlement is meant may not be `certain`: then it is a place.
    """
    if case.graph.shown_in != "en":
        return nodes
    if case.relation.asks == "language":
        return {key: _with_article(node) for key, node in nodes.items()}
    noun = _noun_asked(case, certain=certain) if any(map(is_named, nodes.values())) else None
    if noun is None:
        return nodes
    word, evidence = noun
    bare = _IN_WHICH.search(case.question) is not None
    return {
        key: node
        if not is_named(node) or _is_such(node, word, case)
        else _worded(node, word, (*evidence, *_way_to(nodes, key)), bare=bare)
        for key, node in nodes.items()
    }


def _noun_asked(case: LadderCase, *, certain: bool) -> tuple[str, tuple[Evidence, ...]] | None:
    """What the question asks for, and what shows that the answer is one; None where it asks where or does not tell."""
    if case.relation.id == "P27":
        return _COUNTRY, ()  # whose nationality is asked, with "where" too
    if _WHERE.match(case.question):
        return None
    if case.relation.asks == _COUNTRY:
        return _COUNTRY, ()
    if case.relation.id == "P36":
        return (_settlement(case) if certain else None) or ("place", ())
    asked = _asked_noun(case.question)
    if asked is None and _is_agent(case):
        return _COUNTRY, ()  # who took part in a battle: a part of the world did not
    if asked is None or case.relation.asks not in ("place", "school"):
        return None
    for noun in _SCHOOLS if asked in _SCHOOLS else (asked,):
        for statement in case.graph.current(case.answer, "P31"):
            if statement.target and noun in _words(case, statement.target):
                return noun, (from_statement(case.graph, statement),)
    # A town, where the state is asked: its containers may be the answer. Where the city is, they are none.
    return ("place", ()) if asked in _SETTLEMENTS and case.graph.is_instance(case.answer, SETTLEMENTS) else None


def _is_agent(case: LadderCase) -> bool:
    """Whether the answer is a state that did or suffered something, rather than where something is."""
    asks = case.relation.asks
    open_ = asks == "any" or (not case.relation.id and asks == "place")
    return open_ and case.gazetteer.is_state(case.answer) and not _LOCATES.search(case.question)


def _settlement(case: LadderCase) -> tuple[str, tuple[Evidence, ...]] | None:
    """A city, town or village, by the label of a class or the description."""
    stated = case.graph.current(case.answer, "P31")
    for noun in _SETTLEMENTS:
        for statement in stated:
            if statement.target and noun in _words(case, statement.target):
                return noun, (from_statement(case.graph, statement),)
    place_noun = noun_of(case)
    return place_noun if place_noun and place_noun[0] in _SETTLEMENTS else None


@bounded_cache(entries=1 << 12, longest=400)  # 5 MB at most
def _asked_noun(question: str) -> str | None:
    match = _WHICH.search(question)
    if match is None:
        return None
    noun = match["noun"].lower()
    return f"{noun[:-3]}y" if noun.endswith("ies") else noun.removesuffix("s")


def _is_such(node: Proposal, noun: str, case: LadderCase) -> bool:
    """Whether a container is of the kind asked for itself."""
    if node.qid is None or case.relation.id == "P36":
        return False
    if noun == _COUNTRY:
        return case.gazetteer.is_state(node.qid) or not _COUNTRIES.isdisjoint(case.graph.classes(node.qid))
    if case.gazetteer.is_state(node.qid):
        return False  # "which state": a sovereign one holds it
    return any(noun in _words(case, kind) for kind in case.graph.classes(node.qid))


def _words(case: LadderCase, kind: str) -> list[str]:
    return (case.graph.label(kind) or "").lower().split()


def _worded(node: Proposal, noun: str, evidence: tuple[Evidence, ...], *, bare: bool) -> Proposal:
    names = [name for name in spoken((node.text, *node.aliases)) if name == node.text or _SPELLED.fullmatch(name)]
    first, *others = dict.fromkeys(indefinite(f"{noun} in {definite(short(name))}") for name in names[:_NAMES])
    others += (node.text, *node.aliases) if bare else ()
    return replace(node, text=first, qid=None, aliases=tuple(others), evidence=joined((evidence, node.evidence)))


def _way_to(nodes: dict[str, Proposal], key: str) -> tuple[Evidence, ...]:
    """The evidence of what leads to a container: its wording is no entity, from which the next step could start."""
    finer = ancestors(nodes, key)
    return joined(node.evidence for other_key, node in nodes.items() if other_key in finer)


def _with_article(node: Proposal) -> Proposal:
    if not _LANGUAGE.match(node.text):
        return node
    return replace(node, text=indefinite(node.text), aliases=(node.text, *node.aliases))
