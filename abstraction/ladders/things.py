"""Things by kind, nationality, year and one more detail ("an American music award given by X"), and by their wholes.

For awards, events and works; works also by their creator and the series they belong to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from abstraction.base.tiers import Condition, Evidence, from_description, from_statement
from abstraction.ladders.assembly.filters import contains_name
from abstraction.ladders.offices import names_subject
from abstraction.ladders.phrase_parts import (
    KindChain,
    Nation,
    PhraseLattice,
    Wording,
    described_kind,
    find_nationalities,
    stated_kinds,
    word_evidence,
    worded,
)
from abstraction.ladders.proposals import (
    LadderCase,
    NamedStep,
    NamedValue,
    Proposal,
    current_values,
    entities_above_answer,
    entity_proposal,
    named_values,
    one_condition,
)
from abstraction.text.descriptions.attested_words import description_words, shortenings
from abstraction.text.descriptions.kind_grammar import WorkDescription, parse_work, read_kind
from abstraction.text.descriptions.place_grammar import first_segment
from abstraction.text.language.phrases import definite, indefinite, word_list
from kg.base.model import Rank, Statement, TimeValue, normalise
from kg.graph.graph import time_key

WORK = "work"
# Properties for the creators of a work, by the last word of its kind.
CREATOR_OF = {
    **dict.fromkeys(("film", "movie", "miniseries", "documentary", "episode", "special"), ("P57",)),
    **dict.fromkeys(("series", "show", "program", "programme", "sitcom", "strip", "manga"), ("P170", "P50")),
    **dict.fromkeys(("album", "song", "single", "ep", "soundtrack", "compilation", "mixtape"), ("P175",)),
    **dict.fromkeys(
        ("symphony", "opera", "concerto", "sonata", "composition", "ballet", "operetta", "mass", "suite", "overture"),
        ("P86",),
    ),
    **dict.fromkeys(("game", "software"), ("P178",)),
}
# Creator properties of all other works: author, creator.
CREATORS = ("P50", "P170")
# Works with more creators than this have no tier "by X and Y".
MOST_CREATORS = 2


def work_tiers(case: LadderCase) -> list[Proposal]:
    """ "a 1958 American film by X › a film by X | a 1958 American film › an American film | a 1958 film › a film"."""
    series = [
        entity_proposal(case.graph, v.qid, v.label, (v.evidence,), v.conditions, order=-1)
        for v in named_values(case.graph, case.graph.current(case.answer, "P179")[:1])
        if v.qid != case.subject
        and not contains_name(case.graph.label(case.answer) or "", v.label)  # it names the first
    ]
    described = parse_work(case.description, case.vocabulary)
    chains = [described_kind(case, described.kind, WORK)] if described is not None else stated_kinds(case, WORK)[:1]
    if not chains or not chains[0].wordings:
        return series
    chain = _narrowed_by_genre_if_any(case, chains[0])
    year = _year_of_work(case, described)
    nationalities = find_nationalities(case, described.kind.nationality if described is not None else None, ("P495",))
    nation = nationalities[0] if len(nationalities) == 1 and not chain.tied else None
    if nation is not None and nation.is_from_statement and chain.texts[0][:1].isupper():
        nation = None  # a capitalised word before the kind may be a nationality unknown to the grammar
    creator = _creator_phrase_unless_subject(case, described, chain.texts[-1])
    whole, short = chain.wordings[0], chain.wordings[-1]
    # Details are dropped one after another; where a detail is unknown, phrases coincide and are added once.
    phrases: tuple[tuple[Wording | None, Wording | None, Wording, Wording | None], ...] = (
        (year, nation, whole, creator),
        (None, None, whole, creator),
        (year, nation, whole, None),
        (None, None, short, creator),
        (None, nation, whole, None),
        (year, None, short, None),
        (None, None, whole, None),
        (None, nation, short, None),
        (None, None, short, None),
    )
    lattice = PhraseLattice()
    for order, details in enumerate(phrases):
        parts = [part for part in details if part is not None]
        lattice.add(" ".join(part.text for part in parts), parts, order=order)
    return [*series, *lattice.proposals()]


def _narrowed_by_genre_if_any(case: LadderCase, chain: KindChain) -> KindChain:
    """The chain with "comedy film" before "film" where P136 has a genre that ends in the one-word kind; else the
    chain.
    """
    head = chain.texts[0]
    if len(chain.texts) > 1 or " " in head:
        return chain
    for genre in current_values(case.graph, case.answer, "P136"):
        label = genre.label
        if not label.islower() or not label.endswith(f" {head}"):
            continue
        if [text for text in shortenings(label, case.vocabulary) if text in (label, head)] != [label, head]:
            continue
        plain = chain.wordings[0]
        features = plain.features | {f"o:{normalise(label)}"}
        evidence, conditions = (*plain.evidence, genre.evidence), plain.conditions | genre.conditions
        return KindChain(wordings=(worded(label, features, evidence, conditions), plain), tied=chain.tied)
    return chain


def _year_of_work(case: LadderCase, described: WorkDescription | None) -> Wording | None:
    """The year before the kind in the description, or that of the earliest publication."""
    values = ((s.value, s) for s in case.graph.current(case.answer, "P577"))
    dated = [(v, s) for v, s in values if isinstance(v, TimeValue) and v.precision >= 9 and v.year > 0]
    published, first = min(dated, key=lambda pair: time_key(pair[0])) if dated else (None, None)
    word = described.kind.year if described is not None else None
    year = word.text if word is not None else str(published.year) if published is not None else ""
    evidence = word_evidence(case, (word,)) if word is not None else ()
    if first is not None and published is not None and str(published.year) == year:
        evidence = (*evidence, from_statement(case.graph, first))
    if not evidence:
        return None
    return worded(year, {"y"}, evidence, one_condition("P577", year))


def _creator_phrase_unless_subject(case: LadderCase, described: WorkDescription | None, kind: str) -> Wording | None:
    """The creator by the description, else by statement; never the subject of the question."""
    if case.relation.id == "P800":
        return None  # the subject is the creator, so this would repeat the question
    makers = _stated_creators(case, kind)
    creators = described.creators if described is not None else None
    if creators is None:
        if any(maker.qid == case.subject or names_subject(case, maker.label) for maker in makers):
            return None
        return _creator_wording(" and ".join(maker.label for maker in makers), (), makers) if makers else None
    if names_subject(case, creators.names):
        return None
    makers = [maker for maker in makers if normalise(maker.label) in normalise(creators.names)]
    before, comma, last = creators.names.rpartition(", ")
    is_list = comma and " and " not in creators.names and " & " not in creators.names
    names = f"{before} and {last}" if is_list else creators.names
    wording = _creator_wording(names, word_evidence(case, creators.words), makers)
    return wording if makers else replace(wording, conditions=one_condition("text", f"by:{normalise(creators.names)}"))


def _stated_creators(case: LadderCase, kind: str) -> list[NamedValue]:
    """The stated creators for this kind of work, by the first property with values; empty where there are more than
    MOST_CREATORS.
    """
    for prop in CREATOR_OF.get(kind.rsplit(" ", 1)[-1].lower(), CREATORS):
        makers = current_values(case.graph, case.answer, prop)
        statements = [s for s in case.graph.current(case.answer, prop) if s.target]
        if makers and len(makers) == len(statements) <= MOST_CREATORS:
            return makers
    return []


def _creator_wording(names: str, words: tuple[Evidence, ...], makers: Sequence[NamedValue]) -> Wording:
    """The phrase "by NAMES" with the words of the description and the statements as evidence."""
    conditions = frozenset[Condition]().union(*(maker.conditions for maker in makers))
    return worded(f"by {names}", {"c"}, (*words, *(maker.evidence for maker in makers)), conditions)


# Steps from part to whole.
STEPS = 3


def thing_tiers(
    case: LadderCase,
    family: str,
    *,
    whole_properties: Sequence[str],
    nation_properties: Sequence[str] = (),
    detail_before: Wording | None = None,
    details_after: Sequence[Wording] = (),
) -> list[Proposal]:
    """The named wholes first, then phrases from the most specific to the kind alone; empty where no kind is known.

    `family` is the answer class of the things and of their wholes, its most general kind, and names the word file of
    its kinds (`data/<family>_types.txt`). Values of `whole_properties` contain a thing, those of `nation_properties`
    are its countries. `detail_before` and `details_after` stand before the kind ("1943") and after it ("in Tunisia").
    """
    above = _named_wholes(case, family, whole_properties)
    chains, nation = _specific_kinds_and_nation(case, family, nation_properties)
    if not chains and (above or details_after):  # for answers without a more specific kind
        classes = [*case.graph.current(case.answer, "P31"), *case.graph.current(case.answer, "P279")]
        text = f"{indefinite(case.graph.label(case.answer) or family)} is {indefinite(family)}"
        proof = from_statement(case.graph, classes[0]) if classes else Evidence(kind="rule", text=text)
        chains = [KindChain.from_texts((family,), ((proof,),))]
    lattice = PhraseLattice()
    for chain in chains:
        _add_phrases_of_kinds(lattice, chain, family, nation, detail_before, details_after)
    tops = tuple(p.key for p in above)
    noun = indefinite(family)
    phrases = lattice.proposals()
    return [*above, *(replace(p, parents=(*p.parents, *tops)) if p.text == noun else p for p in phrases)]


def _specific_kinds_and_nation(
    case: LadderCase, family: str, nation_properties: Sequence[str]
) -> tuple[list[KindChain], Nation | None]:
    """The kinds by the description, or by P31 where the description has only general ones; and the nationality, if
    there is one alone.
    """
    kind = read_kind(description_words(case.description), case.vocabulary, family)
    chains = [described_kind(case, kind, family)] if kind is not None else []
    # "October 1973 war": a date is a detail of its own.
    chains = [chain.filtered(lambda text: not any(c.isdigit() for c in text)) for chain in chains]
    if all(normalise(t) in word_list("general_kinds") for chain in chains for t in chain.texts):
        chains = stated_kinds(case, family) or chains
    national = kind.nationality if kind is not None else None
    nationalities = find_nationalities(case, national, nation_properties) if nation_properties else []
    chains = [c for c in chains if c.wordings and normalise(c.texts[0]) not in word_list("vague_kinds")]
    return chains, nationalities[0] if len(nationalities) == 1 else None


def _add_phrases_of_kinds(
    lattice: PhraseLattice,
    chain: KindChain,
    family: str,
    nation: Nation | None,
    detail_before: Wording | None,
    details_after: Sequence[Wording],
) -> None:
    """Add phrases of the finest kind, with its details and without, and of the other kinds, with the nationality and
    without.
    """
    order = 0
    for index, kind in enumerate(chain.wordings):
        kind = replace(kind, features=kind.features | {f"o:{family}"})
        tails: list[Wording | None] = [*details_after, None] if index == 0 else [None]
        heads = [detail_before, None] if detail_before is not None and index == 0 else [None]
        lands = [nation, None] if nation is not None and index >= chain.tied else [None]
        for head, land, tail in product(heads, lands, tails):
            order += 1
            if land is not None and tail is not None:
                continue  # an award given by a national body needs no nationality
            phrase = " ".join(part.text for part in (head, land, kind, tail) if part is not None)
            parts = [part for part in (kind, head, tail, land) if part is not None]
            lattice.add(phrase, parts, order=order)


def _named_wholes(case: LadderCase, family: str, properties: Sequence[str]) -> list[Proposal]:
    """The named wholes that the answer is a part of: "Nobel Prize" for the one in physics, "World War II" for a
    battle.
    """

    def wholes(child: str) -> Iterator[NamedStep]:
        for value in (v for prop in properties for v in current_values(case.graph, child, prop)):
            is_name = value.qid != case.subject and not value.label[:1].islower()
            if is_name and family in case.gazetteer.classes(value.qid):
                yield value.qid, value.evidence, value.conditions

    return list(entities_above_answer(case, wholes, steps=STEPS).values())


# Awards: the prize that includes them, then the giver, the country and the kind.

# Most givers (P1027) per award.
GIVERS = 1
# "award for best album": the reason of an award.
_FOR = re.compile(
    r"\b(?:awards?|prizes?|medals?|honou?rs?)\s+(?:\w+ )?(?P<words>for\s+(?:the\s+)?(?P<x>[a-z][\w' -]{1,250}?))"
    r"(?=$|[,;.(]|(?<!\s)\s++(?:in the|in [A-Z]|by|given|since|that|which|presented|from)\b)"
)
# "presented by the Recording Academy": the giver of an award.
_BY = re.compile(
    r"\b(?:given|presented|awarded|conferred|bestowed|granted)(?:\s+\w+ly)?\s+(?P<words>by\s+(?:the\s+)?"
    r"(?P<x>[A-Z][\w'’&.-]*(?:\s+(?:(?:of|and|for|the)\s+){0,2}[A-Z&][\w'’&.-]*)*))"
)


def award_tiers(case: LadderCase) -> list[Proposal]:
    """ "Nobel Prize | a science award given by X › a Swedish science award › a science award"."""
    return thing_tiers(
        case,
        "award",
        whole_properties=("P361", "P279", "P31"),
        nation_properties=("P17",),
        details_after=_giver_and_reason_of_award(case),
    )


# Words in names of institutions and offices that take an article after "by".
_BODY = re.compile(
    r"\b(?:Academy|Association|Society|Institute|Foundation|Committee|Council|University of|President|King|Queen|"
    r"Government|Ministry|Federation|Union|Commission|Guild)\b"
)


def _giver_and_reason_of_award(case: LadderCase) -> Sequence[Wording]:
    """The giver of an award (by P1027, else by the description), and what it is given for, as words after the kind."""
    graph, details = case.graph, list[tuple[str, Evidence, frozenset[Condition]]]()
    givers = current_values(graph, case.answer, "P1027")[:GIVERS]
    for giver in givers:
        the = "the " if _BODY.search(giver.label) and not giver.label.lower().startswith("the ") else ""
        details.append((f"given by {the}{giver.label}", giver.evidence, giver.conditions))
    sentence = first_segment(case.description)
    for pattern, verb in ((_FOR, ""),) if givers else ((_BY, "given "), (_FOR, "")):
        if match := pattern.search(sentence):
            evidence = from_description(graph, case.answer, match["words"])
            details.append(
                (f"{verb}{match['words']}", evidence, one_condition("text", f"award:{normalise(match['words'])}"))
            )
    return [worded(text, {f"d:{text}"}, (evidence,), conditions) for text, evidence, conditions in details]


# Events: the larger event they belong to, then kind, year and place: "a 1943 battle in Tunisia".

YEAR, DECADE = 9, 10  # precision of a year, years of a decade


def event_tiers(case: LadderCase) -> list[Proposal]:
    """ "World War II | a 1943 battle in Tunisia › a battle in Tunisia | a 1943 battle › a battle"."""
    return thing_tiers(
        case,
        "event",
        whole_properties=("P361",),
        detail_before=_year_or_decade_of_event(case),
        details_after=_only_place_of_event(case),
    )


def _year_or_decade_of_event(case: LadderCase) -> Wording | None:
    """The year of an event, or the decade that contains its start and end."""
    start, end, point = (_first_year_and_statement(case, prop) for prop in ("P580", "P582", "P585"))
    if point is not None and start is None and end is None and len(case.graph.statements(case.answer, "P585")) == 1:
        start = end = point
    if start is None or end is None:
        return None
    first, last = start[0], end[0]
    if first // DECADE != last // DECADE:
        return None
    text = str(first) if first == last else f"{first // DECADE * DECADE}s"
    dated = (start,) if start is end else (start, end)
    evidence = tuple(from_statement(case.graph, statement) for _, statement in dated)
    return worded(text, {f"y:{text}"}, evidence, one_condition("P585", text))


def _first_year_and_statement(case: LadderCase, prop: str) -> tuple[int, Statement] | None:
    """The year of the first statement with a year CE or a finer date, and the statement."""
    for statement in case.graph.statements(case.answer, prop):
        value = statement.value
        if statement.rank is Rank.DEPRECATED or not isinstance(value, TimeValue):
            continue
        if value.precision >= YEAR and value.year > 0:
            return value.year, statement
    return None


def _only_place_of_event(case: LadderCase) -> Sequence[Wording]:
    """The one place or country of an event; empty where there are several."""
    for prop in ("P276", "P17"):
        if len(case.graph.targets(case.answer, prop)) != 1:
            continue
        for value in current_values(case.graph, case.answer, prop):
            if not case.gazetteer.classes(value.qid).isdisjoint({"place", "country"}):
                text = f"in {definite(value.label)}"
                return [worded(text, {f"d:{value.qid}"}, (value.evidence,), value.conditions)]
    return []
