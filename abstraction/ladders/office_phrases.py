"""Offices and kinship as phrases: "the 15th Prime Minister of Canada", "the wife of Moses"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from abstraction.descriptions.attested_words import Vocabulary
from abstraction.descriptions.office_grammar import Kin, Office, office_data, read_office
from abstraction.descriptions.person_grammar import parse_person
from abstraction.descriptions.words import words
from abstraction.evidence import from_statement
from abstraction.ladders.nations import Nation, ever, word_evidence
from abstraction.ladders.portrait import Portrait
from abstraction.language.demonyms import bundled_demonyms
from abstraction.language.phrases import Lattice, indefinite, listed
from abstraction.proposals import LadderCase
from abstraction.tiers import Condition, Evidence
from kg.model import Statement
from kg.terms import normalise
from kg.walks.graph import Graph
from kg.walks.ranks import has_ended

OFFICES = 2  # taken from P39
# Relations that ask for kin: a tier that only says so says nothing.
ASKED_SIDE = {"P26": "spouse", "P40": "child", "P22": "parent", "P25": "parent", "P3373": "sibling", "P451": "spouse"}
_FIRST = re.compile(r"\band (?:first|last|only) ")  # "founder and first khan": one person alone
_LIFE = re.compile(r"\(?\b\d{3,4}\s?[-–]\s?\d{3,4}\)?")  # of one who holds the office no more
# Who was the first prime minister is the 79th by a count of another kind.
_ORDINAL = re.compile(r"\b(?:first|second|third|fourth|fifth|last|\d{1,3}(?:st|nd|rd|th))\b", re.I)
_TOKEN = re.compile(r"[\w'’.-]+")


def add_offices(case: LadderCase, person: Portrait, nations: Sequence[Nation]) -> bool:
    """Put the offices in, described ones or else stated ones; whether any of them tells the occupation."""
    described = person.described.offices if person.described is not None else ()
    statements = [s for s in ever(case.graph, case.answer, "P39") if s.target]
    alive = not case.graph.statements(case.answer, "P570")
    told = False
    for office in described:
        told |= _add(case, person, office, nations, person.spans(office.words), _matching(case, office, statements))
    if not described and case.relation.facets is None:  # an author is no president of a jury first
        taken = 0
        for statement in statements:
            label = case.graph.label(statement.target or "")
            stated = _read(label) if label else None
            if stated is None or stated.family == "role" or taken == OFFICES:
                continue
            if alive and has_ended(statement):
                stated = replace(stated, former=True)
            _add(case, person, stated, nations, (), statement)
            taken += 1
    return told


def may_name_subject(graph: Graph, vocabulary: Vocabulary, person: str) -> bool:
    """Whether a statement or the description gives the person an office or kin, which may name a question's subject."""
    if graph.statements(person, "P39"):
        return True
    text = graph.description(person)
    described = parse_person(text, vocabulary) if text else None
    return described is not None and bool(described.offices or described.kin)


def _read(label: str) -> Office | None:
    """A P39 label as an office: "mayor of Chicago"."""
    sequence = words(label)
    nominal = next((i for i, w in enumerate(sequence) if w.key in {"of", "for", "to"}), 0)
    return read_office(sequence, nominal) if nominal else None


def _matching(case: LadderCase, office: Office, statements: Sequence[Statement]) -> Statement | None:
    wanted = _content(f"{office.title} {office.complement}")
    for statement in statements:
        label = case.graph.label(statement.target or "")
        if label and _content(label) == wanted:
            return statement
    return None


def _content(text: str) -> frozenset[str]:
    return frozenset(_TOKEN.findall(normalise(text))) - {"of", "the", "for", "to", "and"}


def names_subject(case: LadderCase, text: str) -> bool:
    """Whether the text names the subject of the question, by a whole name or by a telling part of one."""
    tokens = _content(text) - listed("telling_nothing")
    names = list(case.graph.names(case.subject)) if case.subject else []
    if case.subject_text:
        names.append(case.subject_text)
    return any(tokens & (_content(name) - listed("telling_nothing")) for name in names)


def names_whole_subject(case: LadderCase, text: str) -> bool:
    """Whether the text holds a whole name of the subject."""
    tokens = _content(text)
    names = list(case.graph.names(case.subject)) if case.subject else []
    if case.subject_text:
        names.append(case.subject_text)
    return any((name := _content(each)) and name <= tokens for each in names)


def repeats_answer(case: LadderCase, text: str) -> bool:
    """Whether the text says no more than the answer's own name does ("Countess of Flanders")."""
    told = _content(text) - {"suo", "jure"}
    return any(told <= _content(name) for name in case.graph.names(case.answer))


def _add(
    case: LadderCase,
    person: Portrait,
    office: Office,
    nations: Sequence[Nation],
    proof: tuple[Evidence, ...],
    statement: Statement | None,
) -> bool:
    described = bool(proof)
    is_dead = bool(case.graph.statements(case.answer, "P570")) or bool(_LIFE.search(person.text))
    if statement is not None:
        proof = (*proof, from_statement(case.graph, statement))
    spouse = office.title.casefold() in office_data()["spouse_titles"]
    hidden = (
        (spouse and case.relation.id in {"P26", "P451"})
        or repeats_answer(case, f"{office.title} {office.complement}")
        or names_whole_subject(case, office.complement)
    )
    former = "former " if office.former else ""
    named = f"{former}{office.title} {office.complement}"
    own = frozenset({f"f:{normalise(named)}"})
    lifts = _lifted(case, person, office, nations, proof, hidden)
    entailed = frozenset().union(*(features for _, features, _, _ in lifts))
    condition = (
        Condition(property="P39", value=statement.target)
        if statement is not None and statement.target
        else Condition(property="text", value=f"office:{normalise(named)}")
    )
    person.order += 1
    if not hidden:
        if office.ordinal is not None and not former and not _ORDINAL.search(case.question):
            ordinal = Condition(property="text", value=f"ordinal:{office.ordinal}")
            person.lattice.add(
                f"the {office.ordinal} {office.title} {office.complement}",
                own | entailed | {f"f:{office.ordinal} {normalise(named)}"},
                evidence=(*_ordinal_span(person, office), *proof), conditions={condition, ordinal}, order=person.order,
            )  # fmt: skip
        unique = office.unique or _FIRST.search(office.title)
        the = unique and office.ordinal is None and not former and described and not is_dead
        text = f"the {named}" if the else indefinite(named)
        person.lattice.add(text, own | entailed, evidence=proof, conditions={condition}, order=person.order)
    for text, features, evidence, conditions in lifts:
        person.order += 1
        person.lattice.add(indefinite(text), features, evidence=evidence, conditions=conditions, order=person.order)
    return bool(lifts)


def _ordinal_span(person: Portrait, office: Office) -> tuple[Evidence, ...]:
    start = office.words[0].start
    before = [w for w in words(person.text) if w.end <= start and w.key == (office.ordinal or "").casefold()]
    return person.spans(before[-1:]) if before else ()


Lift = tuple[str, frozenset[str], tuple[Evidence, ...], frozenset[Condition]]


def _lifted(
    case: LadderCase,
    person: Portrait,
    office: Office,
    nations: Sequence[Nation],
    proof: tuple[Evidence, ...],
    hidden: bool,
) -> list[Lift]:
    """What every holder of the office is, with a nationality where one is known and without."""
    out: list[Lift] = []
    if not _is_public(case, person, office):
        return out
    nouns = _nouns(office)
    if person.described is not None and office.lift is not None and office.lift.startswith("noble"):
        # "German nobleman, Count of Holstein": both are told, so neither is the coarser.
        told = {o.texts[-1] for o in person.described.occupations}
        nouns = [noun for noun in nouns if noun not in told]
    for noun in nouns:
        owners = case.vocabulary.labelled.get(noun, ())
        stated = [s for s in case.graph.current(case.answer, "P106") if s.target in owners]
        rule = Evidence(kind="rule", text=f"{indefinite(office.title.lower())} is {indefinite(noun)}")
        evidence = (
            *proof,
            *([from_statement(case.graph, stated[0])] if stated else [rule] if noun != office.title.lower() else []),
        )
        conditions = frozenset(
            {
                Condition(property="P106", value=owners[0])
                if owners
                else Condition(property="text", value=f"occupation:{noun}")
            }
        )
        wider = frozenset(f"o:{n}" for n in nouns[nouns.index(noun) :])
        adjective = _land(case, office)
        if adjective is not None and office.family in {"monarch", "nobleman", "noblewoman"}:
            # The land of the title, which need not be the holder's own.
            feature = frozenset({f"title:{adjective}"}).union(*(n.features for n in nations if n.text == adjective))
            condition = Condition(property="text", value=f"land:{adjective}")
            # "a Swedish monarch" says no less than "the monarch of Sweden".
            if hidden or noun != office.title.lower() or _complement_name(office) not in bundled_demonyms().names:
                out.append((f"{adjective} {noun}", wider | feature, evidence, conditions | {condition}))
        elif office.family == "monarch":
            pass  # a king's own nationality is not that of his throne
        elif nations:
            # A President of Senegal who is French as well is a Senegalese politician.
            fitting = [n for n in nations if n.text == adjective] if len(nations) > 1 else []
            for nation in fitting or nations:
                out.append(
                    (
                        f"{nation.text} {noun}",
                        wider | nation.features,
                        (*nation.evidence, *evidence),
                        conditions | nation.conditions,
                    )
                )
        elif adjective is not None and office.family == "politician":
            feature = frozenset({f"n:{adjective}"})
            condition = Condition(property="text", value=f"land:{adjective}")
            out.append((f"{adjective} {noun}", wider | feature, evidence, conditions | {condition}))
        out.append((noun, wider, evidence, conditions))
    return out


# A governor of a bank and a president of a union are no politicians.
_BODY = re.compile(
    r"(?i:\b(?:bank|union|court|compan(?:y|ies)|association|universit(?:y|ies)|federation|society|academy|college|institute?|"
    r"institution|commission|club|corporation|school|church|foundation|museum|board|fund|league|tribunal|hospital)\b)|\b[A-Z]{3,}\b"
)


def _is_public(case: LadderCase, person: Portrait, office: Office) -> bool:
    """Whether the office is one of a country or its parts, as far as the title does not say so itself."""
    if office.family != "politician":
        return True
    described = person.described.occupations if person.described is not None else ()
    if any("politician" in text for occupation in described for text in occupation.texts):
        return True
    owners = case.vocabulary.labelled.get("politician", ())
    if any(s.target in owners for s in case.graph.current(case.answer, "P106")):
        return True
    if office.title.lower() in office_data()["of_lands"]:
        return _land(case, office) is not None
    return not _BODY.search(office.complement)


def _nouns(office: Office) -> list[str]:
    """What the holder is, finer first: a count is a nobleman."""
    if office.lift is None:
        return []
    title = office.title.lower()
    if office.family in {"nobleman", "noblewoman"} and title in listed("common_titles"):
        return [title, office.lift]
    return [office.lift]


def _land(case: LadderCase, office: Office) -> str | None:
    """The adjective of the country that the complement names or ends in ("of Emperor Shirakawa of Japan")."""
    name = _complement_name(office)
    known = bundled_demonyms().names
    # Whole, else what it ends in, else the first of several lands: the King of Denmark and Norway is a Danish one.
    for land in (name, name.rsplit(" of ", 1)[-1], name.split(" and ", 1)[0]):
        if found := known.get(land.removeprefix("the ")):
            return case.vocabulary.adjective(found[0])
    return None


def _complement_name(office: Office) -> str:
    name = normalise(office.complement)
    for start in ("of ", "to ", "for "):
        name = name.removeprefix(start)
    return name.removeprefix("the ")


def add_kin(case: LadderCase, lattice: Lattice, kin: Sequence[Kin]) -> None:
    """Kinship to others than the subject: "the wife of Moses" for a child of Jethro."""
    asked = ASKED_SIDE.get(case.relation.id)
    for relative in kin:
        if relative.side == asked or not relative.of or names_subject(case, relative.of):
            continue
        if repeats_answer(case, relative.of):
            continue
        one = relative.word in listed("only_kin") or relative.word.split()[0] in {
            *listed("ordinals"),
            "eldest",
            "oldest",
            "youngest",
            "only",
        }
        of = relative.of[:-2] if relative.of.endswith(("'s", "’s")) else relative.of
        phrase = f"{relative.word} of {of}"
        lattice.add(
            f"the {phrase}" if one else indefinite(phrase),
            {f"k:{normalise(phrase)}"},
            evidence=word_evidence(case, relative.words),
            conditions={Condition(property="text", value=f"kin:{normalise(phrase)}")},
        )
