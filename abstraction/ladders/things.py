"""Things by kind, nationality, year and one more detail ("an American music award given by X"), and by their wholes.

For awards, events, and any class without a grammar of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

from abstraction.base.evidence import from_description, from_statement
from abstraction.base.tiers import Condition, Evidence
from abstraction.base.trimming import first_segment
from abstraction.ladders.entity_values import current_values, entity_proposal
from abstraction.ladders.kind_chains import KindChain, described_kind, stated_kinds
from abstraction.ladders.lattice import Lattice
from abstraction.ladders.nations import Nation, nation_of, nations
from abstraction.ladders.phrase_parts import Wording, add_phrase, states
from abstraction.ladders.proposals import ANSWER, LadderCase, Proposal
from abstraction.text.descriptions.attested_words import words
from abstraction.text.descriptions.kind_grammar import read_kind
from abstraction.text.language.phrases import definite, indefinite, listed
from kg.base.model import Rank, Statement, TimeValue
from kg.base.terms import normalise

# Steps from part to whole.
STEPS = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class ThingRecipe:
    """The recipe for phrases about a class of things.

    `family` names the word file of its kinds (`data/<family>_types.txt`), `noun` is its most general kind. `wholes`
    are the properties whose values contain it, followed while a value is of an answer class in `within`. `lands` are
    the properties of nationality. `before` and `behind` return the details before the kind ("1943") and after it ("in
    Tunisia").
    """

    family: str
    noun: str
    wholes: tuple[str, ...]
    within: frozenset[str]
    lands: tuple[str, ...] = ()
    before: Callable[[LadderCase], Wording | None] = lambda case: None
    behind: Callable[[LadderCase], Sequence[Wording]] = lambda case: ()


def things(case: LadderCase, recipe: ThingRecipe) -> list[Proposal]:
    """The named wholes first, then phrases from the most specific to the kind alone; empty where no kind is known."""
    above = wholes(case, recipe)
    chains, nation = _kinds(case, recipe)
    behind = recipe.behind(case)
    if not chains and (above or behind):
        chains = [_general_kind(case, recipe)]
    lattice = Lattice()
    for chain in chains:
        _add_phrases(lattice, chain, recipe, nation, recipe.before(case), behind)
    tops = tuple(p.key for p in above)
    noun = indefinite(recipe.noun)
    phrases = lattice.proposals()
    return [*above, *(replace(p, parents=(*p.parents, *tops)) if p.text == noun else p for p in phrases)]


def _kinds(case: LadderCase, recipe: ThingRecipe) -> tuple[list[KindChain], Nation | None]:
    """The specific kinds by the description, else by P31, else by a class with a nationality in its name; and the
    nationality.
    """
    text = case.graph.description(case.answer)
    kind = read_kind(words(text), case.vocabulary, recipe.family) if text else None
    chains = [described_kind(case, kind, recipe.family)] if kind is not None else []
    # "October 1973 war": a date is a detail of its own.
    chains = [chain.filtered(lambda text: not any(c.isdigit() for c in text)) for chain in chains]
    if all(normalise(t) in listed("general_kinds") for chain in chains for t in chain.texts):
        chains = stated_kinds(case, recipe.family) or chains
    national = kind.nationality if kind is not None else None
    nationalities = nations(case, national, recipe.lands) if recipe.lands else []
    if not chains and (classed := _national_class(case, recipe)) is not None:
        chains, nationalities = [classed[0]], [classed[1]]
    vague = listed("vague_kinds")
    telling = [chain for chain in chains if chain.wordings and normalise(chain.texts[0]) not in vague]
    return telling, nationalities[0] if len(nationalities) == 1 else None


def _national_class(case: LadderCase, recipe: ThingRecipe) -> tuple[KindChain, Nation] | None:
    """The kind and the nationality in the label of a class: "German presidential election"."""
    for value in current_values(case.graph, case.answer, "P31"):
        kind = read_kind(words(value.label), case.vocabulary, recipe.family)
        if kind is None or kind.nationality is None or len(kind.nationality.countries) != 1:
            continue
        proof = (value.evidence,)
        adjective, country = kind.nationality.text, kind.nationality.countries[0][0]
        return KindChain.from_texts(kind.texts, [proof] * len(kind.texts)), nation_of(adjective, "P17", country, proof)
    return None


def _general_kind(case: LadderCase, recipe: ThingRecipe) -> KindChain:
    """The noun of the recipe as a kind, for answers without a more specific kind."""
    classes = [*case.graph.current(case.answer, "P31"), *case.graph.current(case.answer, "P279")]
    if classes:
        return KindChain.from_texts((recipe.noun,), ((from_statement(case.graph, classes[0]),),))
    label = case.graph.label(case.answer) or recipe.noun
    rule = Evidence(kind="rule", text=f"{indefinite(label)} is {indefinite(recipe.noun)}")
    return KindChain.from_texts((recipe.noun,), ((rule,),))


def _add_phrases(
    lattice: Lattice,
    chain: KindChain,
    recipe: ThingRecipe,
    nation: Nation | None,
    before: Wording | None,
    behind: Sequence[Wording],
) -> None:
    """Add the finest kind with its details and without, the other kinds with the nationality and alone."""
    order = 0
    for index, kind in enumerate(chain.wordings):
        kind = replace(kind, features=kind.features | {f"o:{recipe.noun}"})
        tails: list[Wording | None] = [*behind, None] if index == 0 else [None]
        heads = [before, None] if before is not None and index == 0 else [None]
        lands = [nation, None] if nation is not None and index >= chain.tied else [None]
        for head, land, tail in product(heads, lands, tails):
            order += 1
            if land is not None and tail is not None:
                continue  # an award given by a national body needs no nationality
            phrase = " ".join(part.text for part in (head, land, kind, tail) if part is not None)
            parts = [part for part in (kind, head, tail, land) if part is not None]
            add_phrase(lattice, phrase, parts, order=order)


def wholes(case: LadderCase, recipe: ThingRecipe) -> list[Proposal]:
    """The wholes of the answer, by name: "Nobel Prize" for the one in physics, "World War II" for a battle."""
    graph = case.graph
    out: dict[str, Proposal] = {}
    layer = [(case.answer, ANSWER)]
    for _ in range(STEPS):
        above: list[tuple[str, str]] = []
        for child, key in layer:
            for value in (v for prop in recipe.wholes for v in current_values(graph, child, prop)):
                qid, label = value.qid, value.label
                if qid in out or qid in (case.answer, case.subject) or label[:1].islower():
                    continue
                if not recipe.within.isdisjoint(case.gazetteer.classes(qid)):
                    proof = (value.evidence,)
                    out[qid] = entity_proposal(graph, qid, label, proof, value.conditions, parents=(key,), order=-1)
                    above.append((qid, qid))
        layer = above
    return list(out.values()) or _whole_in_name(case, recipe)


# "2004 Summer Olympics" is one of the Summer Olympics, "Grammy Award for Best Album" one of the Grammy Awards.
_EDITION = re.compile(r"^(?:\d{4}|\d+(?:st|nd|rd|th))\s+(?P<x>[A-Z].+)$|^(?P<y>[A-Z].+?)(?<!\s)\s++\d{4}$")
_CATEGORY = re.compile(r"^(?P<x>[A-Z].+?\b(?:Award|Prize|Medal)s?)\s++(?:for|[-–])\s++.")


def _whole_in_name(case: LadderCase, recipe: ThingRecipe) -> list[Proposal]:
    """The whole that the name of the answer contains, where no statement gives one."""
    graph = case.graph
    label = graph.label(case.answer) or ""
    match = _EDITION.match(label) or _CATEGORY.match(label)
    if match is None:
        return []
    stem = match.groupdict()["x"] or match.groupdict().get("y") or ""
    for name in (stem, f"{stem}s", stem.removesuffix("s"), f"{stem.removesuffix('s')} Games"):
        fitting = [m.id for m in graph.find(name) if m.id not in (case.answer, case.subject)]
        fitting = [i for i in fitting if not recipe.within.isdisjoint(case.gazetteer.classes(i))]
        whole = graph.label(fitting[0]) if len(fitting) == 1 else None
        if whole is None:
            continue
        rule = Evidence(
            kind="rule",
            subject=case.answer,
            text=f"{indefinite(label)} is {indefinite(whole)}",
            labels={case.answer: label, fitting[0]: whole},
        )
        return [entity_proposal(graph, fitting[0], whole, (rule,), states("P361", fitting[0]), order=-1)]
    return []


# Awards: the prize that includes them, then the giver, the country and the kind.

# Givers (P1027) used per award.
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


def awards(case: LadderCase) -> list[Proposal]:
    """ "Nobel Prize | a science award given by X › a Swedish science award › a science award"."""
    return things(case, _AWARD)


def _award_details(case: LadderCase) -> Sequence[Wording]:
    """The giver of an award (P1027, else the description), and its reason."""
    graph = case.graph
    givers = current_values(graph, case.answer, "P1027")[:GIVERS]
    details = [_detail(f"given by {_with_article(v.label)}", v.evidence, v.conditions) for v in givers]
    sentence = first_segment(graph.description(case.answer) or "")
    for pattern, verb in ((_FOR, ""),) if givers else ((_BY, "given "), (_FOR, "")):
        if match := pattern.search(sentence):
            evidence = from_description(graph, case.answer, match["words"])
            conditions = states("text", f"award:{normalise(match['words'])}")
            details.append(_detail(f"{verb}{match['words']}", evidence, conditions))
    return details


def _detail(text: str, evidence: Evidence, conditions: frozenset[Condition]) -> Wording:
    return Wording(text=text, features=frozenset({f"d:{text}"}), evidence=(evidence,), conditions=conditions)


# Words in names of institutions and offices that take an article after "by".
_BODY = re.compile(
    r"\b(?:Academy|Association|Society|Institute|Foundation|Committee|Council|University of|President|King|Queen|"
    r"Government|Ministry|Federation|Union|Commission|Guild)\b"
)


def _with_article(label: str) -> str:
    return f"the {label}" if _BODY.search(label) and not label.lower().startswith("the ") else label


_AWARD = ThingRecipe(
    family="award",
    noun="award",
    wholes=("P361", "P279", "P31"),
    within=frozenset({"award"}),
    lands=("P17",),
    behind=_award_details,
)


# Events: the larger event they belong to, then kind, year and place: "a 1943 battle in Tunisia".

YEAR, DECADE = 9, 10  # precision of a year, years of a decade


def events(case: LadderCase) -> list[Proposal]:
    """ "World War II | a 1943 battle in Tunisia › a battle in Tunisia | a 1943 battle › a battle"."""
    return things(case, _EVENT)


def _event_time(case: LadderCase) -> Wording | None:
    """The year of an event, or the decade that contains its start and end."""
    start, end = _first_dated_statement(case, "P580"), _first_dated_statement(case, "P582")
    point = _first_dated_statement(case, "P585")
    if point is not None and start is None and end is None and len(case.graph.statements(case.answer, "P585")) == 1:
        return _date_wording(case, str(_year(point)), (point,))
    if start is None or end is None:
        return None
    first, last = _year(start), _year(end)
    if first == last:
        return _date_wording(case, str(first), (start, end))
    if first // DECADE == last // DECADE:
        return _date_wording(case, f"{first // DECADE * DECADE}s", (start, end))
    return None


def _date_wording(case: LadderCase, text: str, statements: Sequence[Statement]) -> Wording:
    evidence = tuple(from_statement(case.graph, s) for s in statements)
    return Wording(text=text, features=frozenset({f"y:{text}"}), evidence=evidence, conditions=states("P585", text))


def _first_dated_statement(case: LadderCase, prop: str) -> Statement | None:
    """The first statement with a year CE or a finer date."""
    for statement in case.graph.statements(case.answer, prop):
        value = statement.value
        is_year = isinstance(value, TimeValue) and value.precision >= YEAR and value.year > 0
        if is_year and statement.rank is not Rank.DEPRECATED:
            return statement
    return None


def _year(statement: Statement) -> int:
    assert isinstance(statement.value, TimeValue)
    return statement.value.year


def _event_places(case: LadderCase) -> Sequence[Wording]:
    """The one place or country of an event; empty where there are several."""
    for prop in ("P276", "P17"):
        if len(case.graph.targets(case.answer, prop)) != 1:
            continue
        for value in current_values(case.graph, case.answer, prop):
            if not case.gazetteer.classes(value.qid).isdisjoint({"place", "country"}):
                text, features = f"in {definite(value.label)}", frozenset({f"d:{value.qid}"})
                return [Wording(text=text, features=features, evidence=(value.evidence,), conditions=value.conditions)]
    return []


_EVENT = ThingRecipe(
    family="event",
    noun="event",
    wholes=("P361",),
    within=frozenset({"event"}),
    before=_event_time,
    behind=_event_places,
)
