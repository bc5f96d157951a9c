"""Things told by kind, land, year and one more detail ("an American music award given by X"), and by what they are
part of: awards, events, and any other class that needs no grammar of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

from abstraction.descriptions.kinds import read_kind
from abstraction.descriptions.words import words
from abstraction.evidence import from_statement
from abstraction.ladders.base import ANSWER, Case, Proposal
from abstraction.ladders.kinds import KindChain, described_kind, stated_kinds
from abstraction.ladders.nations import Nation, nations, speaks_english
from abstraction.phrases import Lattice, indefinite, listed
from abstraction.tiers import Condition, Evidence
from kg.terms import normalise

STEPS = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Detail:
    """One detail of a phrase, told before the kind ("1943") or behind it ("in Tunisia"), and what backs it."""

    text: str
    evidence: tuple[Evidence, ...]
    conditions: frozenset[Condition]


@dataclass(frozen=True, kw_only=True, slots=True)
class Recipe:
    """How a class of things is told.

    `family` names the word file of its kinds (`data/<family>_types.txt`), `noun` is its most general kind.
    `wholes` are the properties to what contains it, climbed while the target is of an answer class in `within`.
    `lands` give the nationality. `before` and `behind` find the details.
    """

    family: str
    noun: str
    wholes: tuple[str, ...]
    within: frozenset[str]
    lands: tuple[str, ...] = ()
    before: Callable[[Case], Detail | None] = lambda case: None
    behind: Callable[[Case], Sequence[Detail]] = lambda case: ()


def things(case: Case, recipe: Recipe) -> list[Proposal]:
    """Named wholes first, then phrases from the most telling to the kind alone; empty where nothing tells a kind."""
    above = wholes(case, recipe)
    if not speaks_english(case):
        return above
    text = case.graph.description(case.answer)
    kind = read_kind(words(text), case.vocabulary, recipe.family) if text else None
    chains = [*([described_kind(case, kind, recipe.family)] if kind is not None else [])]
    general = all(normalise(t) in listed("general_kinds") for chain in chains for t in chain.texts)
    if general:
        chains = stated_kinds(case, recipe.family) or chains
    found = nations(case, kind.nationality if kind is not None else None, recipe.lands)
    nation = found[0] if len(found) == 1 else None
    behind = recipe.behind(case)
    chains = [chain for chain in chains if chain.texts] or (
        [_general(recipe, nation, behind)] if above or behind else []
    )
    lattice = Lattice()
    for chain in chains:
        _fill(lattice, chain, recipe, nation, recipe.before(case), behind)
    return [*above, *lattice.proposals()]


def _general(recipe: Recipe, nation: Nation | None, behind: Sequence[Detail]) -> KindChain:
    """The class's own noun as a kind, for what nothing tells more of."""
    rule = Evidence(kind="rule", text=f"asked for {indefinite(recipe.noun)}")
    condition = frozenset({Condition(property="text", value=f"kind:{recipe.noun}")})
    return KindChain(
        texts=(recipe.noun,), features=(frozenset({f"o:{recipe.noun}"}),), proofs=((rule,),), conditions=(condition,)
    )


def _fill(
    lattice: Lattice,
    chain: KindChain,
    recipe: Recipe,
    nation: Nation | None,
    before: Detail | None,
    behind: Sequence[Detail],
) -> None:
    base = f"o:{recipe.noun}"
    order = 0
    for index, text in enumerate(chain.texts):
        whole = index == 0
        tails: list[Detail | None] = [*behind, None] if whole else [None]
        heads = [before, None] if before is not None and whole else [None]
        lands = [nation, None] if nation is not None and index >= chain.tied else [None]
        for head, land, tail in product(heads, lands, tails):
            order += 1
            if land is not None and tail is not None:
                continue  # what is given by a body of a country need not be told by the country too
            _add(lattice, text, chain, index, (head, land, tail), order, base)


def _add(
    lattice: Lattice,
    text: str,
    chain: KindChain,
    index: int,
    parts: tuple[Detail | None, Nation | None, Detail | None],
    order: int,
    base: str,
) -> None:
    head, land, tail = parts
    features = {*chain.features[index], base}
    evidence = list(chain.proofs[index])
    conditions = set(chain.conditions[index])
    for name, part in (("y", head), ("d", tail)):
        if part is not None:
            features.add(f"{name}:{part.text}")
            evidence += part.evidence
            conditions |= part.conditions
    if land is not None:
        features |= land.features
        evidence += land.evidence
        conditions |= land.conditions
    phrase = " ".join(p for p in (head and head.text, land and land.text, text, tail and tail.text) if p)
    lattice.add(indefinite(phrase), features, evidence=evidence, conditions=conditions, order=order)


def wholes(case: Case, recipe: Recipe) -> list[Proposal]:
    """What the answer is part of, by name: "Nobel Prize" for the one in physics, "World War II" for a battle."""
    graph = case.graph
    out: dict[str, Proposal] = {}
    layer = [(case.answer, ANSWER)]
    for _ in range(STEPS):
        above: list[tuple[str, str]] = []
        for child, key in layer:
            for prop in recipe.wholes:
                for statement in graph.current(child, prop):
                    target = statement.target
                    if target is None or target in out or target in (case.answer, case.subject):
                        continue
                    label = graph.label(target)
                    named = label is not None and not label[:1].islower()
                    if label is None or not named or recipe.within.isdisjoint(case.gazetteer.classes(target)):
                        continue
                    out[target] = Proposal(
                        key=target,
                        text=label,
                        qid=target,
                        parents=(key,),
                        aliases=tuple(name for name in graph.names(target) if name != label),
                        evidence=(from_statement(graph, statement),),
                        conditions=frozenset({Condition(property=prop, value=target)}),
                        order=-1,
                    )
                    above.append((target, target))
        layer = above
    return list(out.values())
