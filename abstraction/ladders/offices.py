"""Offices: as phrases for their holders, with kinship ("the 15th Prime Minister of Canada", "the wife of Moses"); and
as answers, with ranks, titles and the positions of players, by the broader post, the side and the sport.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from abstraction.base.relations import stop_classes
from abstraction.base.tiers import Evidence, from_description, from_statement
from abstraction.ladders.class_terms import climb_classes, used_as_value
from abstraction.ladders.phrase_parts import (
    PhraseLattice,
    Wording,
    current_or_ended_statements,
    find_nationalities,
    join_wordings,
    word_evidence,
    worded,
)
from abstraction.ladders.proposals import (
    ANSWER,
    LadderCase,
    NamedValue,
    Proposal,
    current_values,
    named_values,
    one_condition,
    phrase_proposal,
)
from abstraction.text.descriptions.attested_words import Vocabulary, description_words
from abstraction.text.descriptions.office_grammar import Kin, Office, office_data, read_office
from abstraction.text.descriptions.person_grammar import parse_person
from abstraction.text.descriptions.place_grammar import first_segment
from abstraction.text.language.languages import bundled_demonyms
from abstraction.text.language.phrases import indefinite, word_list
from kg.base.model import normalise
from kg.graph.graph import Graph, has_ended


class PersonPhrases:
    """The description and nationalities of a person, and the lattice to which phrases for the person are added.

    `order` counts the phrases, and is the display order within a level.
    """

    def __init__(self, case: LadderCase) -> None:
        self.case = case
        self.described = parse_person(case.description, case.vocabulary)
        self.nations = find_nationalities(case, self.described.nationality, ("P27",))
        self.lattice = PhraseLattice()
        self.order = 0


OFFICES = 2  # most offices that are read from P39
# Emperors are not called monarchs of a country: a Roman emperor is no "Roman monarch".
EMPERORS = frozenset({"emperor", "empress"})
# Relations that ask for kin, with the relative asked for: a tier that repeats it adds nothing.
ASKED_SIDE = {"P26": "spouse", "P40": "child", "P22": "parent", "P25": "parent", "P3373": "sibling", "P451": "spouse"}
_FIRST = re.compile(r"\band (?:first|last|only) ")  # "founder and first khan": such an office has one holder
_LIFE = re.compile(r"\(?\b\d{3,4}\s?[-–]\s?\d{3,4}\)?")  # years of birth and death: the person is no longer in office
# Ordinals in questions: a "first prime minister" may be the 79th by another count.
_ORDINAL = re.compile(r"\b(?:first|second|third|fourth|fifth|last|\d{1,3}(?:st|nd|rd|th))\b", re.I)
# Words before a kinship noun that leave one person: "the eldest son".
_ONLY = frozenset({"eldest", "oldest", "youngest", "only"})
_TOKEN = re.compile(r"[\w'’.-]+")


def add_office_phrases(person: PersonPhrases) -> bool:
    """Add phrases for the described offices, else the stated ones; returns whether the nouns for a described office's
    holders ("a politician") give the occupation.
    """
    case, described = person.case, person.described.offices
    posts = named_values(case.graph, current_or_ended_statements(case.graph, case.answer, "P39"))
    gives_occupation = False
    for office in described:
        content = _content_words(f"{office.title} {office.complement}")
        same = next((post for post in posts if _content_words(post.label) == content), None)  # words in any order
        gives_occupation |= _add_office_and_holders(person, office, word_evidence(case, office.words), same)
    if described or case.relation.facets is not None:  # a stated office is rarely why an author is known
        return gives_occupation
    alive = not case.graph.statements(case.answer, "P570")
    read = ((post, office_from_label(post.label)) for post in posts)
    stated = [(post, office) for post, office in read if office is not None and office.family != "role"]
    for post, office in stated[:OFFICES]:
        left = alive and has_ended(post.statement)
        _add_office_and_holders(person, replace(office, former=True) if left else office, (), post)
    return gives_occupation


def has_office_or_kin(graph: Graph, vocabulary: Vocabulary, person: str) -> bool:
    """Whether the person has an office or kin by statement or description, which may name the subject."""
    if graph.statements(person, "P39"):
        return True
    described = parse_person(graph.description(person) or "", vocabulary)
    return bool(described.offices or described.kin)


def office_from_label(label: str) -> Office | None:
    """The office that a label names: "mayor of Chicago"."""
    sequence = description_words(label)
    nominal = next((i for i, w in enumerate(sequence) if w.key in {"of", "for", "to"}), 0)
    return read_office(sequence, nominal) if nominal else None


def _content_words(text: str) -> frozenset[str]:
    return frozenset(_TOKEN.findall(normalise(text))) - {"of", "the", "for", "to", "and"}


def names_subject(case: LadderCase, text: str) -> bool:
    """Whether the text contains a whole name of the subject of the question, or a part of one that identifies it."""
    tokens = _content_words(text) - word_list("telling_nothing")
    return any(tokens & _content_words(name) for name in _subject_names(case))


def _subject_names(case: LadderCase) -> list[str]:
    names = case.graph.names(case.subject) if case.subject else ()
    return [*names, case.subject_text] if case.subject_text else list(names)


def repeats_answer(case: LadderCase, text: str) -> bool:
    """Whether the text only repeats the name of the answer ("Countess of Flanders")."""
    tokens = _content_words(text) - {"suo", "jure"}
    return any(tokens <= _content_words(name) for name in case.graph.names(case.answer))


def _add_office_and_holders(
    person: PersonPhrases, office: Office, described: tuple[Evidence, ...], post: NamedValue | None
) -> bool:
    """Add the phrases for an office and the nouns for its holders; returns whether there are such nouns."""
    case = person.case
    title = f"{office.title} {office.complement}"
    named = f"former {title}" if office.former else title
    evidence = described if post is None else (*described, post.evidence)
    # The office repeats the question, the name of the answer or the subject of the question.
    is_spouse = office.title.casefold() in office_data()["spouse_titles"] and case.relation.id in {"P26", "P451"}
    whose, subjects = _content_words(office.complement), map(_content_words, _subject_names(case))
    hidden = is_spouse or repeats_answer(case, title) or any(name and name <= whose for name in subjects)
    holders = _holder_wordings(person, office, evidence, hidden)
    features = frozenset({f"f:{normalise(named)}"}).union(*(holder.features for holder in holders))
    conditions = one_condition("text", f"office:{normalise(named)}") if post is None else post.conditions
    wording = worded(named, features, evidence, conditions)
    person.order += 1
    if not hidden:
        if office.ordinal is not None and not office.former and not _ORDINAL.search(case.question):
            written = [w for w in description_words(case.description) if w.end <= office.words[0].start]
            written = [w for w in written if w.key == office.ordinal.casefold()][-1:]
            conditions = one_condition("text", f"ordinal:{office.ordinal}")
            holding = {f"f:{office.ordinal} {normalise(named)}"}
            ordinal = worded(office.ordinal, holding, word_evidence(case, written), conditions)
            person.lattice.add(f"{office.ordinal} {title}", (ordinal, wording), order=person.order, the=True)
        # The person is the only holder of the office, now.
        is_past = case.graph.statements(case.answer, "P570") or _LIFE.search(case.description) or office.former
        alone = office.ordinal is None and (office.unique or _FIRST.search(office.title) is not None)
        the = bool(described) and not is_past and alone
        person.lattice.add(named, (wording,), order=person.order, the=the)
    for holder in holders:
        person.order += 1
        person.lattice.add(holder.text, (holder,), order=person.order)
    return bool(holders)


def _holder_wordings(
    person: PersonPhrases, office: Office, evidence: tuple[Evidence, ...], hidden: bool
) -> list[Wording]:
    """The nouns for holders of the office ("a politician"), with a nationality where one is known and without."""
    case, nouns, title = person.case, list[str](), office.title.lower()
    if office.lift is not None and _may_be_office_of_country(person, office):  # finest first
        is_noble = office.family in {"nobleman", "noblewoman"} and title in word_list("common_titles")
        nouns = [title, office.lift] if title in EMPERORS or is_noble else [office.lift]
    if office.lift is not None and office.lift.startswith("noble"):
        # "German nobleman, Count of Holstein": the description has both, so neither is the coarser.
        occupations = {o.texts[-1] for o in person.described.occupations}
        nouns = [noun for noun in nouns if noun not in occupations]
    out: list[Wording] = []
    for at, noun in enumerate(nouns):
        owners = case.vocabulary.labelled.get(noun, ())
        backing = [from_statement(case.graph, s) for s in case.graph.current(case.answer, "P106") if s.target in owners]
        if not backing and noun != title:
            backing = [Evidence(kind="rule", text=f"{indefinite(title)} is {indefinite(noun)}")]
        conditions = one_condition("P106", owners[0]) if owners else one_condition("text", f"occupation:{noun}")
        plain = worded(noun, (f"o:{n}" for n in nouns[at:]), (*evidence, *backing[:1]), conditions)
        out += [join_wordings(land, plain) for land in _adjectives_of_holder(person, office, noun, hidden)]
        out.append(plain)
    return out


def _adjectives_of_holder(person: PersonPhrases, office: Office, noun: str, hidden: bool) -> Sequence[Wording]:
    """Adjectives before the noun for a holder: the country of the title, else the nationalities of the holder."""
    adjective, title, nations = _adjective_of_office_country(person.case, office), office.title.lower(), person.nations
    if adjective is not None and office.family in {"monarch", "nobleman", "noblewoman"}:
        # "a Swedish monarch" is as specific as "the monarch of Sweden".
        if not hidden and noun == title and _complement_without_preposition(office) in bundled_demonyms().names:
            return ()
        if title.split()[-1] in EMPERORS and noun != title:
            return ()  # a Roman emperor is no "Roman monarch"
        # The country of the title may be another than that of the holder.
        features = frozenset({f"title:{adjective}"}).union(*(n.features for n in nations if n.text == adjective))
        return (worded(adjective, features, (), one_condition("text", f"land:{adjective}")),)
    if office.family == "monarch":
        return ()  # a king's own nationality is not that of his throne
    if not nations and adjective is not None and office.family == "politician":
        return (worded(adjective, {f"n:{adjective}"}, (), one_condition("text", f"land:{adjective}")),)
    # Of several nationalities that of the office counts: a President of Senegal is a Senegalese politician.
    fitting = [n for n in nations if n.text == adjective] if len(nations) > 1 else []
    return fitting or nations


# Words for bodies other than countries: a governor of a bank and a president of a union are no politicians.
_BODY = re.compile(
    r"(?i:\b(?:bank|union|court|compan(?:y|ies)|association|universit(?:y|ies)|federation|society|academy|college|institute?|"
    r"institution|commission|club|corporation|school|church|foundation|museum|board|fund|league|tribunal|hospital)\b)|\b[A-Z]{3,}\b"
)


def _may_be_office_of_country(person: PersonPhrases, office: Office) -> bool:
    """Whether the office is one of a country or a part of it, not of a bank or a union; True where its title does not
    tell.
    """
    case = person.case
    if office.family != "politician":
        return True
    if any("politician" in text for occupation in person.described.occupations for text in occupation.texts):
        return True
    owners = case.vocabulary.labelled.get("politician", ())
    if any(s.target in owners for s in case.graph.current(case.answer, "P106")):
        return True
    if office.title.lower() in office_data()["of_lands"]:
        return _adjective_of_office_country(case, office) is not None
    return not _BODY.search(office.complement)


def _adjective_of_office_country(case: LadderCase, office: Office) -> str | None:
    """The adjective of the country that the complement names or ends in ("of Emperor Shirakawa of Japan")."""
    name = _complement_without_preposition(office)
    known = bundled_demonyms().names
    # The whole name, else its end after "of", else its start: the King of Denmark and Norway is a Danish king.
    for land in (name, name.rsplit(" of ", 1)[-1], name.split(" and ", 1)[0]):
        if countries := known.get(land.removeprefix("the ")):
            return case.vocabulary.adjective_of_country(countries[0])
    return None


def _complement_without_preposition(office: Office) -> str:
    name = normalise(office.complement)
    for start in ("of ", "to ", "for "):
        name = name.removeprefix(start)
    return name.removeprefix("the ")


def add_kin_phrases(case: LadderCase, lattice: PhraseLattice, kin: Sequence[Kin]) -> None:
    """Add phrases for kinship to others than the subject: "the wife of Moses" for a child of Jethro."""
    asked = ASKED_SIDE.get(case.relation.id)
    for relative in kin:
        if relative.side == asked or not relative.of:
            continue
        if names_subject(case, relative.of) or repeats_answer(case, relative.of):
            continue
        alone = relative.word in word_list("only_kin") or relative.word.split()[0] in _ONLY | word_list("ordinals")
        of = relative.of[:-2] if relative.of.endswith(("'s", "’s")) else relative.of
        phrase = f"{relative.word} of {of}"
        key, evidence = normalise(phrase), word_evidence(case, relative.words)
        wording = worded(phrase, {f"k:{key}"}, evidence, one_condition("text", f"kin:{key}"))
        lattice.add(phrase, (wording,), the=alone)


# Posts as answers: offices, ranks and titles, by the broader post and their country.

# The most P279 steps to a broader post.
STEPS = 2
# Answer classes that a broader post may have.
_POSTS = frozenset({"office", "occupation"})


def office_tiers(case: LadderCase) -> list[Proposal]:
    """ "American secretary of state › secretary of state": P279 to posts that are no mere "position"."""
    graph = case.graph

    def keep(qid: str) -> bool:
        label = graph.label(qid) or ""
        return (
            qid not in stop_classes()
            and label[:1].islower()
            and normalise(label) not in word_list("general_posts")
            and not _POSTS.isdisjoint(case.gazetteer.classes(qid))
        )

    above = climb_classes(graph, case.answer, depth=STEPS, keep=keep, condition="P279", skip_doubtful=True)
    out = dict(above)
    for nation in find_nationalities(case, None, ("P1001", "P17")):
        for key, node in above.items():
            if node.parents == (ANSWER,):
                text = f"{nation.text} {node.text}"
                evidence = (*nation.evidence, *node.evidence)
                conditions = node.conditions | nation.conditions
                out[text] = Proposal(key=text, text=text, evidence=evidence, conditions=conditions, order=-1)
                out[key] = replace(out[key], parents=(*(p for p in out[key].parents if p != ANSWER), text))
    return list(out.values())


# Positions of players.

# "defensive position in American football", "ice hockey position".
_SIDE_IN_SPORT = re.compile(
    r"\b(?:(?P<side>offensive|defensive|attacking|infield|outfield|backcourt"
    r"|frontcourt)\s+)?(?:playing\s+)?position\b(?:\s++\w++)?\s++in\s++"
    r"(?P<sport>(?:the\s+sport\s+of\s+)?[\w' -]{1,250}?)(?=$|[,;.])"
    r"|^(?P<sport2>[a-z][\w' -]*?)(?<!\s)\s++(?:playing\s+)?position\b"
)


def position_tiers(case: LadderCase) -> list[Proposal]:
    """ "a defensive position in American football › a position in American football"."""
    graph = case.graph
    match = _SIDE_IN_SPORT.search(first_segment(case.description))
    side = None  # the side of the field, where the description names it
    if match and match["side"]:
        evidence = from_description(graph, case.answer, match.group().strip())
        side = worded(match["side"], (), (evidence,), one_condition("text", match["side"]))
    phrases = [p for sport in _sport_wordings(case, match)[:2] for p in _positions_in_sport(sport, side)]
    used = used_as_value(graph, "P413", 1)
    broader = climb_classes(
        graph, case.answer, depth=2, keep=lambda q: used(q) and q not in stop_classes(), condition="P413"
    )
    tops = tuple(key for key in broader if not any(key in node.parents for node in broader.values()))
    if tops:
        phrases = [replace(p, parents=tops) if p.parents == (ANSWER,) else p for p in phrases]
    return [*broader.values(), *phrases]


def _sport_wordings(case: LadderCase, match: re.Match[str] | None) -> list[Wording]:
    """The sports of statements, and before them one that only the description names."""
    graph = case.graph
    sports = [worded(v.label, (), (v.evidence,), v.conditions) for v in current_values(graph, case.answer, "P641")]
    name = (match["sport"] or match["sport2"] or "").removeprefix("the sport of ").strip() if match else ""
    qid = next((m.id for m in graph.find(name)), None) if name else None
    if match and qid and normalise(name) not in {normalise(sport.text) for sport in sports}:
        evidence = from_description(graph, case.answer, match.group().strip())
        sports.insert(0, worded(name, (), (evidence,), one_condition("P641", qid)))
    return sports


def _positions_in_sport(sport: Wording, side: Wording | None) -> list[Proposal]:
    """The tier "a position in SPORT"; with a side ("defensive") before it the position on that side."""
    text = f"position in {sport.text}"
    whole = phrase_proposal(text, sport.evidence, sport.conditions, aliases=(f"{sport.text} position", text))
    if side is None:
        return [whole]
    names = (f"{side.text} {text}", f"{sport.text} {side.text} position")
    finer = phrase_proposal(names[0], side.evidence, sport.conditions | side.conditions, aliases=names)
    return [finer, replace(whole, parents=(finer.key,))]
