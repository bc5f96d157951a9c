"""Works: year, country, kind and creator, one dropped after another; and the series a work belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from abstraction.base.evidence import from_statement
from abstraction.base.tiers import Condition, Evidence
from abstraction.ladders.assembly.filters import leaks_name
from abstraction.ladders.entity_values import NamedValue, current_values, entity_proposal, named_values
from abstraction.ladders.kind_chains import KindChain, described_kind, stated_kinds
from abstraction.ladders.lattice import Lattice
from abstraction.ladders.nations import Nation, nations, word_evidence
from abstraction.ladders.office_phrases import names_subject, names_whole_subject
from abstraction.ladders.phrase_parts import Wording, add_phrase, states
from abstraction.ladders.proposals import LadderCase, Proposal
from abstraction.text.descriptions.attested_words import shortenings
from abstraction.text.descriptions.kind_grammar import WorkDescription, parse_work
from kg.base.model import TimeValue
from kg.base.terms import normalise
from kg.graph.ranks import time_key

FAMILY = "work"
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
# Properties of persons involved in a work, to recognise the works of a namesake.
TAKING_PART = ("P57", "P50", "P170", "P175", "P86", "P178", "P58", "P161", "P162", "P725", "P110")
# Works with more creators than this have no tier "by X and Y".
MOST_CREATORS = 2


def works(case: LadderCase) -> list[Proposal]:
    """ "a 1958 American film by X › a film by X | a 1958 American film › an American film | a 1958 film › a film"."""
    series = [
        entity_proposal(case.graph, v.qid, v.label, (v.evidence,), v.conditions, order=-1)
        for v in named_values(case.graph, case.graph.current(case.answer, "P179")[:1])
        if v.qid != case.subject and not leaks_name(case.graph.label(case.answer) or "", v.label)  # it names the first
    ]
    if _belongs_to_another(case):
        return []
    text = case.graph.description(case.answer)
    described = parse_work(text, case.vocabulary) if text else None
    chains = [described_kind(case, described.kind, FAMILY)] if described is not None else stated_kinds(case, FAMILY)[:1]
    if not chains or not chains[0].wordings:
        return series
    chain = _with_genre(case, chains[0])
    year = _year(case, described)
    nationalities = nations(case, described.kind.nationality if described is not None else None, ("P495",))
    nation = nationalities[0] if len(nationalities) == 1 and not chain.tied else None
    if nation is not None and nation.stated and chain.texts[0][:1].isupper():
        nation = None  # a name before the kind may be a nationality that was not understood
    lattice = Lattice()
    _add_phrases(lattice, chain, year, nation, _creator(case, described, chain.texts[-1]))
    return [*series, *lattice.proposals()]


def _add_phrases(
    lattice: Lattice, chain: KindChain, year: Wording | None, nation: Nation | None, creator: Wording | None
) -> None:
    """The phrases that drop details one after another; those that lack a detail coincide and are put in once."""
    whole, short = chain.wordings[0], chain.wordings[-1]
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
    for order, details in enumerate(phrases):
        parts = [part for part in details if part is not None]
        add_phrase(lattice, " ".join(part.text for part in parts), parts, order=order)


def _with_genre(case: LadderCase, chain: KindChain) -> KindChain:
    """The chain with "film" narrowed to "comedy film" where P136 has a genre with the same noun."""
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
        narrowed = Wording(
            text=label,
            features=plain.features | {f"o:{normalise(label)}"},
            evidence=(*plain.evidence, genre.evidence),
            conditions=plain.conditions | genre.conditions,
        )
        return KindChain(wordings=(narrowed, plain), tied=chain.tied)
    return chain


def _year(case: LadderCase, described: WorkDescription | None) -> Wording | None:
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
    return Wording(text=year, features=frozenset({"y"}), evidence=evidence, conditions=states("P577", year))


def _creator(case: LadderCase, described: WorkDescription | None, kind: str) -> Wording | None:
    """The creator by the description, else by statement; never the subject of the question."""
    if case.relation.id == "P800":
        return None  # the subject is the creator, so this would repeat the question
    makers = _makers(case, kind)
    creators = described.creators if described is not None else None
    if creators is None:
        if any(maker.qid == case.subject or names_subject(case, maker.label) for maker in makers):
            return None
        return _creator_wording(" and ".join(maker.label for maker in makers), (), makers) if makers else None
    if names_subject(case, creators.names):
        return None
    makers = [maker for maker in makers if normalise(maker.label) in normalise(creators.names)]
    wording = _creator_wording(_join_names(creators.names), word_evidence(case, creators.words), makers)
    return wording if makers else replace(wording, conditions=states("text", f"by:{normalise(creators.names)}"))


def _makers(case: LadderCase, kind: str) -> list[NamedValue]:
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
    return Wording(
        text=f"by {names}",
        features=frozenset({"c"}),
        evidence=(*words, *(maker.evidence for maker in makers)),
        conditions=frozenset[Condition]().union(*(maker.conditions for maker in makers)),
    )


def _join_names(names: str) -> str:
    """A list of names with "and" before the last."""
    before, comma, last = names.rpartition(", ")
    return f"{before} and {last}" if comma and " and " not in names and " & " not in names else names


def _belongs_to_another(case: LadderCase) -> bool:
    """Whether a notable work is by somebody else, so that a namesake was linked (Steinbeck's novel, Ford's film)."""
    subject = case.subject
    if case.relation.id != "P800":
        return False
    if subject is not None:
        notable = [s.target for s in case.graph.statements(subject, "P800")]
        if notable:
            return case.answer not in notable
        makers = [s.target for prop in TAKING_PART for s in case.graph.statements(case.answer, prop)]
        if makers:
            return subject not in makers
    text = case.graph.description(case.answer)
    described = parse_work(text, case.vocabulary) if text else None
    creators = described.creators if described is not None else None
    return creators is not None and not names_whole_subject(case, creators.names)
