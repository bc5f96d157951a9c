"""Works: year, country, kind and creator, one dropped after another; and the series a work belongs to."""

from __future__ import annotations

from dataclasses import dataclass

from abstraction.descriptions.spelling import shortenings
from abstraction.descriptions.work_grammar import WorkDescription, parse_work
from abstraction.evidence import from_statement
from abstraction.ladders.kind_chains import KindChain, described_kind, stated_kinds
from abstraction.ladders.nations import Nation, nations, speaks_english, word_evidence
from abstraction.ladders.office_phrases import names_subject, names_whole_subject
from abstraction.language.phrases import Lattice, indefinite
from abstraction.proposals import LadderCase, Proposal
from abstraction.tiers import Condition, Evidence
from kg.model import Statement, TimeValue
from kg.terms import normalise
from kg.walks.ranks import time_key

FAMILY = "work"
# Who is said to have made a work, by the last word of its kind.
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
CREATORS = ("P50", "P170")
TAKING_PART = ("P57", "P50", "P170", "P175", "P86", "P178", "P58", "P161", "P162", "P725", "P110")
MOST_CREATORS = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkPart:
    """One detail of a phrase: its words, and what backs it."""

    text: str
    evidence: tuple[Evidence, ...]
    conditions: frozenset[Condition]


def works(case: LadderCase) -> list[Proposal]:
    """ "a 1958 American film by X › a film by X | a 1958 American film › an American film | a 1958 film › a film"."""
    series = _series(case)
    if not speaks_english(case):
        return series
    if _belongs_to_another(case):
        return []
    text = case.graph.description(case.answer)
    described = parse_work(text, case.vocabulary) if text else None
    chains = [described_kind(case, described.kind, FAMILY)] if described is not None else stated_kinds(case, FAMILY)[:1]
    if not chains or not chains[0].texts:
        return series
    chain = _with_genre(case, chains[0])
    year = _year(case, described)
    found = nations(case, described.kind.nationality if described is not None else None, ("P495",))
    nation = found[0] if len(found) == 1 and not chain.tied else None
    if nation is not None and nation.stated and chain.texts[0][:1].isupper():
        nation = None  # a name before the kind may be a nationality that was not understood
    lattice = Lattice()
    _fill(lattice, chain, year, nation, _creator(case, described, chain.texts[-1]))
    return [*series, *lattice.proposals()]


def _fill(
    lattice: Lattice, chain: KindChain, year: WorkPart | None, nation: Nation | None, creator: WorkPart | None
) -> None:
    """The phrases that drop details one after another; those that lack a detail coincide and are put in once."""
    whole, short = 0, len(chain.texts) - 1
    kept = (
        (whole, True, True, True),
        (whole, False, False, True),
        (whole, True, True, False),
        (short, False, False, True),
        (whole, False, True, False),
        (short, True, False, False),
        (whole, False, False, False),
        (short, False, True, False),
        (short, False, False, False),
    )
    for order, (index, with_year, with_nation, with_creator) in enumerate(kept):
        features = set(chain.features[index])
        evidence: list[Evidence] = []
        conditions = set(chain.conditions[index])
        before: list[str] = []
        text = chain.texts[index]
        if with_year and year is not None:
            before.append(year.text)
            features.add("y")
            evidence.extend(year.evidence)
            conditions |= year.conditions
        if with_nation and nation is not None:
            before.append(nation.text)
            features |= nation.features
            evidence.extend(nation.evidence)
            conditions |= nation.conditions
        evidence.extend(chain.proofs[index])
        if with_creator and creator is not None:
            text = f"{text} by {creator.text}"
            features.add("c")
            evidence.extend(creator.evidence)
            conditions |= creator.conditions
        lattice.add(
            indefinite(" ".join([*before, text])),
            features,
            evidence=evidence,
            conditions=conditions,
            order=order,
        )


def _with_genre(case: LadderCase, chain: KindChain) -> KindChain:
    """A plain "film" made a "comedy film" where P136 says so in the same noun."""
    head = chain.texts[0]
    if len(chain.texts) > 1 or " " in head:
        return chain
    for statement in case.graph.current(case.answer, "P136"):
        label = case.graph.label(statement.target or "")
        if label is None or not label.islower() or not label.endswith(f" {head}"):
            continue
        texts = [t for t in shortenings(label, case.vocabulary) if t in (label, head)]
        if texts != [label, head]:
            continue
        proof = (*chain.proofs[0], from_statement(case.graph, statement))
        condition = Condition(property="P136", value=statement.target or "")
        return KindChain(
            texts=(label, head),
            features=(chain.features[0] | {f"o:{normalise(label)}"}, chain.features[0]),
            proofs=(proof, chain.proofs[0]),
            conditions=(chain.conditions[0] | {condition}, chain.conditions[0]),
            tied=chain.tied,
        )
    return chain


def _year(case: LadderCase, described: WorkDescription | None) -> WorkPart | None:
    """The year before the kind in the description, or that of the earliest publication."""
    statements = [s for s in case.graph.current(case.answer, "P577") if isinstance(s.value, TimeValue)]
    dated = [s for s in statements if isinstance(s.value, TimeValue) and s.value.precision >= 9 and s.value.year > 0]
    first = min(dated, key=_when) if dated else None
    word = described.kind.year if described is not None else None
    if word is not None and described is not None:
        backing = first is not None and isinstance(first.value, TimeValue) and str(first.value.year) == word.text
        proof = word_evidence(case, (word,))
        if backing and first is not None:
            proof = (*proof, from_statement(case.graph, first))
        return WorkPart(text=word.text, evidence=proof, conditions=_dated(word.text))
    if first is None or not isinstance(first.value, TimeValue):
        return None
    text = str(first.value.year)
    return WorkPart(text=text, evidence=(from_statement(case.graph, first),), conditions=_dated(text))


def _when(statement: Statement) -> tuple[int, int, int]:
    assert isinstance(statement.value, TimeValue)
    return time_key(statement.value)


def _dated(year: str) -> frozenset[Condition]:
    return frozenset({Condition(property="P577", value=year)})


def _creator(case: LadderCase, described: WorkDescription | None, kind: str) -> WorkPart | None:
    """Who made it, by the description, else by statement; never the subject of the question."""
    if case.relation.id == "P800":
        return None  # the subject made it: that is what was asked
    properties = CREATOR_OF.get(kind.rsplit(" ", 1)[-1].lower(), CREATORS)
    stated: list[tuple[Statement, str]] = []
    for prop in properties:
        statements = [s for s in case.graph.current(case.answer, prop) if s.target]
        stated = [(s, label) for s in statements if (label := case.graph.label(s.target or ""))]
        if stated and len(stated) == len(statements) <= MOST_CREATORS:
            break
        stated = []
    creators = described.creators if described is not None else None
    if creators is not None:
        if names_subject(case, creators.names):
            return None
        told = [(s, label) for s, label in stated if normalise(label) in normalise(creators.names)]
        conditions = {Condition(property=s.property, value=s.target or "") for s, _ in told}
        if not conditions:
            conditions = {Condition(property="text", value=f"by:{normalise(creators.names)}")}
        proof = (*word_evidence(case, creators.words), *(from_statement(case.graph, s) for s, _ in told))
        return WorkPart(text=_joined(creators.names), evidence=proof, conditions=frozenset(conditions))
    if not stated or any(s.target == case.subject or names_subject(case, label) for s, label in stated):
        return None
    return WorkPart(
        text=" and ".join(label for _, label in stated),
        evidence=tuple(from_statement(case.graph, s) for s, _ in stated),
        conditions=frozenset(Condition(property=s.property, value=s.target or "") for s, _ in stated),
    )


def _joined(names: str) -> str:
    """A list of names with "and" before the last."""
    before, comma, last = names.rpartition(", ")
    return f"{before} and {last}" if comma and " and " not in names and " & " not in names else names


def _belongs_to_another(case: LadderCase) -> bool:
    """Whether a notable work turns out to be someone else's: a namesake was linked (Steinbeck's novel, Ford's film)."""
    subject = case.subject
    if case.relation.id != "P800":
        return False
    if subject is not None:
        notable = [s.target for s in case.graph.statements(subject, "P800")]
        if notable:
            return case.answer not in notable
        made = [s.target for prop in TAKING_PART for s in case.graph.statements(case.answer, prop)]
        if made:
            return subject not in made
    text = case.graph.description(case.answer)
    described = parse_work(text, case.vocabulary) if text else None
    creators = described.creators if described is not None else None
    return creators is not None and not names_whole_subject(case, creators.names)


def _series(case: LadderCase) -> list[Proposal]:
    """The series that the work is part of (P179)."""
    out = []
    for statement in case.graph.current(case.answer, "P179")[:1]:
        label = case.graph.label(statement.target or "")
        if label is None or statement.target is None or statement.target == case.subject:
            continue
        out.append(
            Proposal(
                key=statement.target,
                text=label,
                qid=statement.target,
                aliases=tuple(n for n in case.graph.names(statement.target) if n != label),
                evidence=(from_statement(case.graph, statement),),
                conditions=frozenset({Condition(property="P179", value=statement.target)}),
                order=-1,
            )
        )
    return out
