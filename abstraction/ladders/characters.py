"""Figures of fiction, scripture and myth: by the work they appear in, then by their kind."""

from __future__ import annotations

import re

from abstraction.descriptions.person_grammar import parse_person
from abstraction.ladders.entity_values import NamedValue, current_values, named_values
from abstraction.ladders.nations import stretch_evidence
from abstraction.ladders.office_phrases import add_kin, names_subject, repeats_answer
from abstraction.ladders.phrase_parts import Wording, add_phrase, states
from abstraction.language.phrases import Lattice, definite
from abstraction.proposals import LadderCase, Proposal
from kg.terms import normalise

WORKS = 2  # taken from P1441
_KIND = (
    r"(?:(?:fictional|biblical|literary|mythological|mythical|legendary|comic(?:s| book)?|animated|television|film|"
    r"video game|cartoon|folklore|anime|manga)\s+)*"
    r"(?:character|superhero|superheroine|supervillain|figure|protagonist|antagonist|villain|detective|god|goddess|"
    r"deity|king|queen|hero|heroine|wizard|human|person)"
)
_DESCRIBED = re.compile(
    rf"^(?:the\s+|an?\s+)?(?P<kind>{_KIND})\b"
    r"(?:\s++(?P<link>in|from|of|on)\s++(?P<work>.+?))?"
    r"(?=$|[,;(]|(?<![A-Z])\.(?:\s|$)|(?<!\s)\s++(?:who|which|played|portrayed|created|appearing|and)\b)",
    re.I,
)
_SUPPORTED = re.compile(
    r"fictional|character|biblical|mythical|mytholog|legend|deity|god\b|goddess|superhero|supervillain", re.I
)
_RENAMED = {"fictional human": "fictional character", "human biblical figure": "biblical figure"}
_TELLING = (
    "biblical",
    "myth",
    "legend",
    "deity",
    "god",
    "literary",
    "theatrical",
    "comics",
    "video game",
    "anime",
    "animated",
    "television",
    "film",
)
_VAGUE = re.compile(r"set of|may be|topic|organism|in a work of fiction|characters")


def characters(case: LadderCase) -> list[Proposal]:
    """ "a character in the Hebrew Bible", then "a biblical figure"."""
    graph = case.graph
    lattice = Lattice()
    kind = _stated_kind(case)
    if kind is not None:
        add_phrase(lattice, kind.text, (kind,), order=11)
    if text := graph.description(case.answer):
        _add_described(case, lattice, text)
        add_kin(case, lattice, parse_person(text, case.vocabulary).kin)
    works = [s for s in graph.current(case.answer, "P1441") if s.target and s.target != case.subject]
    for home in named_values(graph, works[:WORKS]):
        if not names_subject(case, home.label):
            features = frozenset({f"w:{normalise(home.label)}"}) | (kind.features if kind is not None else frozenset())
            text = f"character in {definite(home.label, of='work')}"
            wording = Wording(text=text, features=features, evidence=(home.evidence,), conditions=home.conditions)
            add_phrase(lattice, text, (wording,), order=2)
    return lattice.proposals()


def _stated_kind(case: LadderCase) -> Wording | None:
    """The most telling class: a figure of literature has been filmed and drawn as well, and its first home counts."""
    kinds: list[tuple[int, str, NamedValue]] = []
    for value in current_values(case.graph, case.answer, "P31"):
        label = _RENAMED.get(value.label, value.label)
        # "character from Star Wars" names its work; P1441 or the description tells that.
        if label.islower() and _SUPPORTED.search(value.label) and not _VAGUE.search(value.label):
            rank = next((i for i, word in enumerate(_TELLING) if word in label), len(_TELLING))
            kinds.append((rank, label, value))
    if not kinds:
        return None
    _, label, value = min(kinds, key=lambda kind: kind[0])
    return Wording(text=label, features=_kind(label), evidence=(value.evidence,), conditions=value.conditions)


def _add_described(case: LadderCase, lattice: Lattice, text: str) -> None:
    """Put in the kind and the work that the description names."""
    match = _DESCRIBED.match(text)
    if match is None:
        return
    kind = match["kind"][:1].lower() + match["kind"][1:]
    if _SUPPORTED.search(kind) and normalise(kind) not in {"character", "fictional human"}:
        evidence = (stretch_evidence(case, match.span("kind")),)
        conditions = states("text", f"kind:{normalise(kind)}")
        wording = Wording(text=kind, features=_kind(kind), evidence=evidence, conditions=conditions)
        add_phrase(lattice, kind, (wording,), order=5)
    work, link = match["work"] or "", (match["link"] or "").lower()
    if not any(c.isupper() for c in work) or len(work.split()) > 6 or link == "on" or names_subject(case, work):
        return
    phrase = f"{kind} {link} {definite(work, of='work')}"
    if not repeats_answer(case, phrase):
        features = _kind(kind) | {f"w:{normalise(work)}"}
        evidence = (stretch_evidence(case, (match.start("kind"), match.end("work"))),)
        conditions = states("text", f"in:{normalise(work)}")
        wording = Wording(text=phrase, features=features, evidence=evidence, conditions=conditions)
        add_phrase(lattice, phrase, (wording,), order=1)


def _kind(kind: str) -> frozenset[str]:
    """The features of a kind of figure and of the kinds that it entails."""
    itself = frozenset({f"k:{kind}"})
    if "biblical" in kind:
        return itself | {"k:biblical figure"}
    is_fictional = any(word in kind for word in ("character", "superhero", "supervillain"))
    return itself | {"k:fictional character"} if is_fictional else itself
