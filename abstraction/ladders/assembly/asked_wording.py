"""Containers are worded as the kind of place that a question asks for."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from abstraction.base.evidence import from_statement, join_evidence
from abstraction.base.tiers import Evidence
from abstraction.ladders.assembly.filters import is_named, is_phrase, leaks_name
from abstraction.ladders.assembly.levels import ancestors, remove
from abstraction.ladders.landholders import common_noun_of, names_for_sentences
from abstraction.ladders.proposals import LadderCase, Proposal
from abstraction.linking.gazetteer import PLACES, SETTLEMENTS, STATE
from abstraction.text.language.phrases import definite, indefinite, short
from abstraction.text.questions.question_kinds import asked_kind, singular
from kg.base.bounded_cache import bounded_cache
from kg.base.terms import normalise

_WHERE = re.compile(r"\W*(?:from )?where\b", re.I)

# "In which city ...?" is also answered by "in Germany"; "In which country ...?" only by a country.
_IN_WHICH = re.compile(r"\b(?:in|at|near|from) (?:which|what) (?!country|nation)\w+\b", re.I)

_WHICH = re.compile(
    r"(?:\A|, |\b(?:in|at|from|near) )(?:\w+ )?(?:which|what)(?: is the name of the| of the)?"
    r"(?:(?: (?!is\b|was\b|are\b|were\b)[\w.-]+){0,2}?| are the(?: [\w.-]+){0,5}?)"
    r" (?P<noun>country|cit(?:y|ies)|towns?|villages?|municipality|count(?:y|ies)|states?|provinces?|districts?"
    r"|regions?|suburb|borough|islands?|neighbou?rhood|universit(?:y|ies)|colleges?|schools?|academy)\b(?! of\b)",
    re.I,
)

_COUNTRY = "country"

_COUNTRIES = STATE | {"Q6256", "Q3336843"}  # with countries within a state, as Scotland

_SETTLEMENTS = ("city", "town", "village", "municipality", "commune")

_TOLD_PLACES = frozenset({*_SETTLEMENTS, "county", "island", "lake", "mountain", "river"})

# Classes too vague to name a city by.
_UNTOLD = frozenset({"place", "human settlement", "settlement", "municipality", "commune"})

_SCHOOLS = ("university", "college", "school", "academy")

_LOCATES = re.compile(r"\b(?:where|locat\w+|place|from|held|filmed|born|lived?)\b", re.I)

_NAMES = 5  # names of a container that are used in aliases

# A name of capitalised words: "African continent" would need an article, "FRG" is a code.
_SPELLED = re.compile(r"(?=.{4})(?:(?:[^\W\d_a-zß-ÿ][\w'’.-]+|of|the|and|de|da|del|la)(?: |\Z))+")

# Count nouns, which take an article: "a Germanic language", "a winter sport"; genres and fields of work do not.
_COUNTED = re.compile(r"^(?!an? |the ).+ (?:language|sport|religion|currency|instrument|degree|denomination|election)$")


@dataclass(frozen=True, kw_only=True, slots=True)
class AskedWording:
    """The wording of containers in tiers.

    `noun` is the noun before "in", with its `evidence`; `own`: whether the noun describes the answer itself and is not
    the one asked for; `bare`: whether bare names of containers are aliases too.
    """

    noun: str
    evidence: tuple[Evidence, ...]
    own: bool
    bare: bool


def asked_wording(case: LadderCase, *, certain: bool) -> AskedWording | None:
    """The wording for containers of the answer; None for a "where" question and for a language other than that of the
    rules.

    If the link to a settlement is not `certain`, the noun is "place".
    """
    if case.graph.shown_in != case.graph.language:
        return None
    asked = _noun_in_question(case, certain=certain)
    noun = asked or _noun_of_place(case, certain=certain)
    if noun is None:
        return None
    bare = _IN_WHICH.search(case.question) is not None
    return AskedWording(noun=noun[0], evidence=noun[1], own=asked is None, bare=bare)


def as_asked(nodes: dict[str, Proposal], case: LadderCase, wording: AskedWording | None) -> dict[str, Proposal]:
    """The proposals with containers worded by the kind that is asked for; for a "where" question only articles are
    added.

    Containers of that kind keep their names: England lies in a country, the United Kingdom. Count nouns get an
    article. A phrase that contains the answer's name ("a city in the Metropolitan City of Turin") is removed.
    """
    if case.graph.shown_in != case.graph.language:
        return nodes
    nodes = {key: _with_article(node) for key, node in nodes.items()}
    if wording is None:
        return nodes
    label = case.graph.label(case.answer) or ""
    worded = {
        key: node
        if not is_named(node) or (not wording.own and _is_such(node, wording.noun, case))
        else _with_wording(node, wording, _evidence_to(nodes, key))
        for key, node in nodes.items()
    }
    return remove(worded, lambda node: node.qid is None and is_phrase(node.text) and leaks_name(node.text, label))


def _noun_in_question(case: LadderCase, *, certain: bool) -> tuple[str, tuple[Evidence, ...]] | None:
    """The noun that the question asks for, and evidence that the answer is one; None for a "where" question or no
    noun.
    """
    relation = case.relation
    if relation.id == "P27":
        return _COUNTRY, ()  # nationality, also when asked with "where"
    if _WHERE.match(case.question):
        return None
    if relation.asks == _COUNTRY:
        return _COUNTRY, ()
    if relation.id == "P36":
        return (_settlement(case) if certain else None) or ("place", ())
    asked = _asked_noun(case.question)
    if asked is None and _is_agent(case):
        return _COUNTRY, ()  # a participant of a battle is a country, not a part of the world
    if asked is None or relation.asks not in ("place", "school"):
        return None
    for noun in _SCHOOLS if asked in _SCHOOLS else (asked,):
        for statement in case.graph.current(case.answer, "P31"):
            if statement.target and noun in _label_words(case, statement.target):
                return noun, (from_statement(case.graph, statement),)
    # A town as the answer to "which state": its containers may be the answer. To "which city" they are not.
    if asked not in _SETTLEMENTS or not case.graph.is_instance(case.answer, SETTLEMENTS):
        return None
    own = (_settlement(case) or common_noun_of(case)) if certain else None
    return own if own is not None and own[0] not in _UNTOLD else (asked, ())


def _noun_of_place(case: LadderCase, *, certain: bool) -> tuple[str, tuple[Evidence, ...]] | None:
    """The noun of a place that does not answer "where", and its evidence; None for other answers.

    A river gives "a river in Asia". A relation that containers do not inherit also uses this noun: the country around
    a capital has not the same relation to the subject.
    """
    relation = case.relation
    if relation.passes or _WHERE.match(case.question) or (not relation.id and _LOCATES.search(case.question)):
        return None
    if relation.asks not in ("place", "any") or PLACES.isdisjoint(case.gazetteer.classes(case.answer)):
        return None
    asked = asked_kind(case.question, case.graph.shown_in).detail
    return (common_noun_of(case) if certain else None) or (asked if asked in _TOLD_PLACES else "place", ())


def _is_agent(case: LadderCase) -> bool:
    """Whether the answer is a state as an actor or participant, not as a location."""
    asks = case.relation.asks
    open_ = asks == "any" or (not case.relation.id and asks == "place")
    return open_ and case.gazetteer.is_state(case.answer) and not _LOCATES.search(case.question)


def _settlement(case: LadderCase) -> tuple[str, tuple[Evidence, ...]] | None:
    """The noun of a settlement ("city", "town", "village") by the label of a class or the description, with evidence.
    """
    stated = case.graph.current(case.answer, "P31")
    for noun in _SETTLEMENTS:
        for statement in stated:
            if statement.target and noun in _label_words(case, statement.target):
                return noun, (from_statement(case.graph, statement),)
    place_noun = common_noun_of(case)
    return place_noun if place_noun and place_noun[0] in _SETTLEMENTS else None


@bounded_cache(entries=1 << 12, longest=400)  # 5 MB at most
def _asked_noun(question: str) -> str | None:
    match = _WHICH.search(question)
    return singular(normalise(match["noun"])) if match else None


def _is_such(node: Proposal, noun: str, case: LadderCase) -> bool:
    """Whether a container is itself of the kind that is asked for."""
    if node.qid is None or case.relation.id == "P36":
        return False
    if noun == _COUNTRY:
        return case.gazetteer.is_state(node.qid) or not _COUNTRIES.isdisjoint(case.graph.classes(node.qid))
    if case.gazetteer.is_state(node.qid):
        return False  # for "which state" a sovereign state is only a container
    return any(noun in _label_words(case, kind) for kind in case.graph.classes(node.qid))


def _label_words(case: LadderCase, kind: str) -> list[str]:
    return (case.graph.label(kind) or "").lower().split()


def _with_wording(node: Proposal, wording: AskedWording, way: tuple[Evidence, ...]) -> Proposal:
    usual = names_for_sentences((node.text, *node.aliases))
    names = [name for name in usual if name == node.text or _SPELLED.fullmatch(name)]
    first, *others = dict.fromkeys(indefinite(f"{wording.noun} in {definite(short(name))}") for name in names[:_NAMES])
    others += (node.text, *node.aliases) if wording.bare else ()
    evidence = join_evidence(((*wording.evidence, *way), node.evidence))
    return replace(node, text=first, qid=None, aliases=tuple(others), evidence=evidence)


def _evidence_to(nodes: dict[str, Proposal], key: str) -> tuple[Evidence, ...]:
    """The evidence of all finer tiers, since a worded container has no QID from which the next step could start."""
    finer = ancestors(nodes, key)
    return join_evidence(node.evidence for other_key, node in nodes.items() if other_key in finer)


def _with_article(node: Proposal) -> Proposal:
    if not _COUNTED.match(node.text) or is_named(node):
        return node
    return replace(node, text=indefinite(node.text), aliases=(node.text, *node.aliases))
