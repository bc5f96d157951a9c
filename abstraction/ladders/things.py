"""Things told by kind, land, year and one more detail ("an American music award given by X"), and by what they are
part of: awards, events, and any other class that needs no grammar of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

from abstraction.descriptions.kind_grammar import read_kind
from abstraction.descriptions.words import words
from abstraction.evidence import from_statement
from abstraction.ladders.entity_values import current_values, entity_proposal
from abstraction.ladders.kind_chains import KindChain, described_kind, stated_kinds
from abstraction.ladders.nations import Nation, nations, speaks_english
from abstraction.ladders.phrase_parts import Wording, add_phrase, states
from abstraction.language.phrases import Lattice, indefinite, listed
from abstraction.proposals import ANSWER, LadderCase, Proposal
from abstraction.tiers import Evidence
from kg.terms import normalise

STEPS = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class ThingRecipe:
    """How a class of things is told.

    `family` names the word file of its kinds (`data/<family>_types.txt`), `noun` is its most general kind.
    `wholes` are the properties to what contains it, climbed while the target is of an answer class in `within`.
    `lands` give the nationality. `before` and `behind` find the details that stand before the kind ("1943") and behind
    it ("in Tunisia").
    """

    family: str
    noun: str
    wholes: tuple[str, ...]
    within: frozenset[str]
    lands: tuple[str, ...] = ()
    before: Callable[[LadderCase], Wording | None] = lambda case: None
    behind: Callable[[LadderCase], Sequence[Wording]] = lambda case: ()


def things(case: LadderCase, recipe: ThingRecipe) -> list[Proposal]:
    """Named wholes first, then phrases from the most telling to the kind alone; empty where nothing tells a kind."""
    above = wholes(case, recipe)
    if not speaks_english(case):
        return above
    chains, nation = _kinds(case, recipe)
    behind = recipe.behind(case)
    if not chains and (above or behind):
        chains = [_general(case, recipe)]
    lattice = Lattice()
    for chain in chains:
        _fill(lattice, chain, recipe, nation, recipe.before(case), behind)
    tops = tuple(p.key for p in above)
    noun = indefinite(recipe.noun)
    phrases = lattice.proposals()
    return [*above, *(replace(p, parents=(*p.parents, *tops)) if p.text == noun else p for p in phrases)]


def _kinds(case: LadderCase, recipe: ThingRecipe) -> tuple[list[KindChain], Nation | None]:
    """The telling kinds by the description, else by P31, else by a class with a land in its name; and the land."""
    text = case.graph.description(case.answer)
    kind = read_kind(words(text), case.vocabulary, recipe.family) if text else None
    # "October 1973 war": a date is a detail of its own.
    chains = [described_kind(case, kind, recipe.family).only(_is_dateless)] if kind is not None else []
    if all(normalise(t) in listed("general_kinds") for chain in chains for t in chain.texts):
        chains = stated_kinds(case, recipe.family) or chains
    national = kind.nationality if kind is not None else None
    nationalities = nations(case, national, recipe.lands) if recipe.lands else []
    if not chains and (classed := _national_class(case, recipe)) is not None:
        chains, nationalities = [classed[0]], [classed[1]]
    vague = listed("vague_kinds")
    telling = [chain for chain in chains if chain.wordings and normalise(chain.texts[0]) not in vague]
    return telling, nationalities[0] if len(nationalities) == 1 else None


def _is_dateless(text: str) -> bool:
    return not any(c.isdigit() for c in text)


def _national_class(case: LadderCase, recipe: ThingRecipe) -> tuple[KindChain, Nation] | None:
    """The kind and the land that a class names together: "German presidential election"."""
    for value in current_values(case.graph, case.answer, "P31"):
        kind = read_kind(words(value.label), case.vocabulary, recipe.family)
        if kind is None or kind.nationality is None or len(kind.nationality.countries) != 1:
            continue
        proof = (value.evidence,)
        adjective, country = kind.nationality.text, kind.nationality.countries[0][0]
        land = Nation(
            text=adjective, features=frozenset({f"n:{adjective}"}), evidence=proof, conditions=states("P17", country)
        )
        return KindChain.of(kind.texts, [proof] * len(kind.texts)), land
    return None


def _general(case: LadderCase, recipe: ThingRecipe) -> KindChain:
    """The class's own noun as a kind, for what nothing tells more of."""
    classes = [*case.graph.current(case.answer, "P31"), *case.graph.current(case.answer, "P279")]
    if classes:
        return KindChain.of((recipe.noun,), ((from_statement(case.graph, classes[0]),),))
    label = case.graph.label(case.answer) or recipe.noun
    rule = Evidence(kind="rule", text=f"{indefinite(label)} is {indefinite(recipe.noun)}")
    return KindChain.of((recipe.noun,), ((rule,),))


def _fill(
    lattice: Lattice,
    chain: KindChain,
    recipe: ThingRecipe,
    nation: Nation | None,
    before: Wording | None,
    behind: Sequence[Wording],
) -> None:
    """The finest kind with its details and without, the others with the land and alone."""
    order = 0
    for index, kind in enumerate(chain.wordings):
        kind = replace(kind, features=kind.features | {f"o:{recipe.noun}"})
        tails: list[Wording | None] = [*behind, None] if index == 0 else [None]
        heads = [before, None] if before is not None and index == 0 else [None]
        lands = [nation, None] if nation is not None and index >= chain.tied else [None]
        for head, land, tail in product(heads, lands, tails):
            order += 1
            if land is not None and tail is not None:
                continue  # what is given by a body of a country need not be told by the country too
            phrase = " ".join(part.text for part in (head, land, kind, tail) if part is not None)
            parts = [part for part in (kind, head, tail, land) if part is not None]
            add_phrase(lattice, phrase, parts, order=order)


def wholes(case: LadderCase, recipe: ThingRecipe) -> list[Proposal]:
    """What the answer is part of, by name: "Nobel Prize" for the one in physics, "World War II" for a battle."""
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
    return list(out.values()) or _named_after(case, recipe)


# "2004 Summer Olympics" is one of the Summer Olympics, "Grammy Award for Best Album" one of the Grammy Awards.
_EDITION = re.compile(r"^(?:\d{4}|\d+(?:st|nd|rd|th))\s+(?P<x>[A-Z].+)$|^(?P<y>[A-Z].+?)(?<!\s)\s++\d{4}$")
_CATEGORY = re.compile(r"^(?P<x>[A-Z].+?\b(?:Award|Prize|Medal)s?)\s++(?:for|[-–])\s++.")


def _named_after(case: LadderCase, recipe: ThingRecipe) -> list[Proposal]:
    """What an answer's own name says it is one of, where no statement does."""
    graph = case.graph
    label = graph.label(case.answer) or ""
    match = _EDITION.match(label) or _CATEGORY.match(label)
    if match is None or graph.language.split("-")[0] != "en":
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
