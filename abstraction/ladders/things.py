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
from abstraction.ladders.kind_chains import KindChain, described_kind, stated_kinds
from abstraction.ladders.nations import Nation, nations, speaks_english
from abstraction.language.phrases import Lattice, indefinite, listed
from abstraction.proposals import ANSWER, LadderCase, Proposal
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
class ThingRecipe:
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
    before: Callable[[LadderCase], Detail | None] = lambda case: None
    behind: Callable[[LadderCase], Sequence[Detail]] = lambda case: ()


def things(case: LadderCase, recipe: ThingRecipe) -> list[Proposal]:
    """Named wholes first, then phrases from the most telling to the kind alone; empty where nothing tells a kind."""
    above = wholes(case, recipe)
    if not speaks_english(case):
        return above
    text = case.graph.description(case.answer)
    kind = read_kind(words(text), case.vocabulary, recipe.family) if text else None
    chains = [_plain(described_kind(case, kind, recipe.family))] if kind is not None else []
    national = kind.nationality if kind is not None else None
    if all(normalise(t) in listed("general_kinds") for chain in chains for t in chain.texts):
        chains = stated_kinds(case, recipe.family) or chains
    found = nations(case, national, recipe.lands) if recipe.lands else []
    if not chains and (classed := _national_class(case, recipe)) is not None:
        chains, found = [classed[0]], [classed[1]]
    nation = found[0] if len(found) == 1 else None
    behind = recipe.behind(case)
    vague = listed("vague_kinds")
    chains = [chain for chain in chains if chain.texts and normalise(chain.texts[0]) not in vague]
    if not chains and (above or behind):
        chains = [_general(case, recipe)]
    lattice = Lattice()
    for chain in chains:
        _fill(lattice, chain, recipe, nation, recipe.before(case), behind)
    tops = tuple(p.key for p in above)
    noun = indefinite(recipe.noun)
    phrases = lattice.proposals()
    return [*above, *(replace(p, parents=(*p.parents, *tops)) if p.text == noun else p for p in phrases)]


def _plain(chain: KindChain) -> KindChain:
    """The wordings without a date in them ("October 1973 war"): a date is a detail of its own."""
    kept = [i for i, text in enumerate(chain.texts) if not any(c.isdigit() for c in text)]
    if len(kept) == len(chain.texts):
        return chain
    return KindChain(
        texts=tuple(chain.texts[i] for i in kept),
        features=tuple(chain.features[i] for i in kept),
        proofs=tuple(chain.proofs[i] for i in kept),
        conditions=tuple(chain.conditions[i] for i in kept),
        tied=sum(1 for i in kept if i < chain.tied),
    )


def _national_class(case: LadderCase, recipe: ThingRecipe) -> tuple[KindChain, Nation] | None:
    """The kind and the land that a class names together: "German presidential election"."""
    for statement in case.graph.current(case.answer, "P31"):
        label = case.graph.label(statement.target or "")
        kind = read_kind(words(label), case.vocabulary, recipe.family) if label else None
        if kind is None or kind.nationality is None or len(kind.nationality.countries) != 1:
            continue
        proof = (from_statement(case.graph, statement),)
        texts = kind.texts
        chain = KindChain(
            texts=texts,
            features=tuple(frozenset(f"o:{normalise(t)}" for t in texts[at:]) for at in range(len(texts))),
            proofs=tuple(proof for _ in texts),
            conditions=tuple(frozenset({Condition(property="text", value=f"kind:{normalise(t)}")}) for t in texts),
        )
        adjective = kind.nationality.text
        land = Nation(
            text=adjective,
            features=frozenset({f"n:{adjective}"}),
            evidence=proof,
            conditions=frozenset({Condition(property="P17", value=kind.nationality.countries[0][0])}),
        )
        return chain, land
    return None


def _general(case: LadderCase, recipe: ThingRecipe) -> KindChain:
    """The class's own noun as a kind, for what nothing tells more of."""
    classes = [*case.graph.current(case.answer, "P31"), *case.graph.current(case.answer, "P279")]
    label = case.graph.label(case.answer) or recipe.noun
    rule = (
        from_statement(case.graph, classes[0])
        if classes
        else Evidence(kind="rule", text=f"{indefinite(label)} is {indefinite(recipe.noun)}")
    )
    condition = frozenset({Condition(property="text", value=f"kind:{recipe.noun}")})
    return KindChain(
        texts=(recipe.noun,), features=(frozenset({f"o:{recipe.noun}"}),), proofs=((rule,),), conditions=(condition,)
    )


def _fill(
    lattice: Lattice,
    chain: KindChain,
    recipe: ThingRecipe,
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


def wholes(case: LadderCase, recipe: ThingRecipe) -> list[Proposal]:
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
    return list(out.values()) or _named_after(case, recipe)


# "2004 Summer Olympics" is one of the Summer Olympics, "Grammy Award for Best Album" one of the Grammy Awards.
_EDITION = re.compile(r"^(?:\d{4}|\d+(?:st|nd|rd|th))\s+(?P<x>[A-Z].+)$|^(?P<y>[A-Z].+?)(?<!\s)\s++\d{4}$")
_CATEGORY = re.compile(r"^(?P<x>[A-Z].+?\b(?:Award|Prize|Medal)s?)\s++(?:for|[-–])\s++.")


def _named_after(case: LadderCase, recipe: ThingRecipe) -> list[Proposal]:
    """What an answer's own name says it is one of, where no statement does."""
    graph = case.graph
    label = graph.label(case.answer) or ""
    found = _EDITION.match(label) or _CATEGORY.match(label)
    if found is None or graph.language.split("-")[0] != "en":
        return []
    stem = found.groupdict()["x"] or found.groupdict().get("y") or ""
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
        return [
            Proposal(
                key=fitting[0],
                text=whole,
                qid=fitting[0],
                aliases=tuple(n for n in graph.names(fitting[0]) if n != whole),
                evidence=(rule,),
                conditions=frozenset({Condition(property="P361", value=fitting[0])}),
                order=-1,
            )
        ]
    return []
