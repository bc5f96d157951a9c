"""Bands and other performing groups: what kind, of which country, of which genre; never their members."""

from __future__ import annotations

from collections.abc import Sequence

from abstraction.descriptions.attested_words import Vocabulary
from abstraction.descriptions.organisation_grammar import parse_organisation
from abstraction.descriptions.spelling import shortenings
from abstraction.evidence import from_statement
from abstraction.ladders.kind_chains import KindChain, described_kind, stated_kinds
from abstraction.ladders.nations import Nation, nations, speaks_english
from abstraction.language.phrases import Lattice, indefinite, may_stand
from abstraction.proposals import LadderCase, Proposal
from abstraction.tiers import Condition, Evidence
from kg.terms import normalise

FAMILY = "group"
GENRES = 2
SMALL = frozenset({"duo", "trio", "quartet", "quintet", "sextet", "septet", "octet", "supergroup"})
_NOUNS = SMALL | {"band", "group", "ensemble", "orchestra", "choir"}


def groups(case: LadderCase) -> list[Proposal]:
    """ "an English rock band › a rock band | an English band", from the description or from P31, P136 and P495."""
    if not speaks_english(case):
        return []
    text = case.graph.description(case.answer)
    described = parse_organisation(text, case.vocabulary, FAMILY) if text else None
    kind = described.kind if described is not None else None
    chains = [described_kind(case, kind, FAMILY)] if kind is not None else stated_kinds(case, FAMILY)
    if not any(_tells(text) for chain in chains for text in chain.texts):
        chains = _by_genre(case, chains) or chains
    national = (kind.nationality or (described.land if described else None)) if kind is not None else None
    found = nations(case, national, ("P495", "P17")) or _of_formation(case)
    lattice = Lattice()
    order = 0
    for chain in chains:
        for index, phrase in enumerate(chain.texts):
            order += 1
            taken = found if index >= chain.tied else ()
            _add(lattice, phrase, chain.features[index], chain.proofs[index], chain.conditions[index], taken, order)
        order = _as_groups(lattice, chain, found, order, case.vocabulary)
        _of_country(lattice, chain, found, order + 50)
    return lattice.proposals()


def _add(
    lattice: Lattice,
    phrase: str,
    features: frozenset[str],
    proof: tuple[Evidence, ...],
    conditions: frozenset[Condition],
    found: Sequence[Nation],
    order: int,
) -> None:
    for nation in found:
        for each in (nation, *nation.broader):
            lattice.add(
                indefinite(f"{each.text} {phrase}"),
                features | each.features,
                evidence=(*each.evidence, *proof),
                conditions=conditions | each.conditions,
                order=order,
            )
    if may_stand(phrase):
        lattice.add(indefinite(phrase), features, evidence=proof, conditions=conditions, order=order)


def _as_groups(lattice: Lattice, chain: KindChain, found: Sequence[Nation], order: int, vocabulary: Vocabulary) -> int:
    """A vocal quartet is a vocal group."""
    wider: list[tuple[int, str]] = []
    for index, phrase in enumerate(chain.texts):
        before, _, last = phrase.rpartition(" ")
        if last in SMALL and before and vocabulary.attests(f"{before} group"):
            wider.append((index, f"{before} group"))
    for at, (index, phrase) in enumerate(wider):
        order += 1
        own = frozenset(f"o:{normalise(p)}" for _, p in wider[at:])
        # The small group entails the large one.
        for key, node in list(lattice.nodes.items()):
            if f"o:{normalise(chain.texts[index])}" in key:
                del lattice.nodes[key]
                lattice.nodes[key | own] = node
        condition = frozenset({Condition(property="text", value=f"kind:{normalise(phrase)}")})
        proof = (*chain.proofs[index], _is_group(chain.texts[index].rsplit(" ", 1)[-1]))
        _add(lattice, phrase, own, proof, condition, found if index >= chain.tied else (), order)
    return order


def _of_country(lattice: Lattice, chain: KindChain, found: Sequence[Nation], order: int) -> None:
    """ "an American group": the noun alone says too little, with a nationality it does not."""
    noun = chain.texts[-1].rsplit(" ", 1)[-1] if chain.texts else ""
    rule = (_is_group(noun),) if noun in SMALL else ()
    noun = "group" if noun in SMALL else noun
    if noun not in _NOUNS or noun in chain.texts:
        return
    feature = frozenset({f"o:{noun}"})
    for key, node in list(lattice.nodes.items()):
        del lattice.nodes[key]
        lattice.nodes[key | feature] = node
    last = len(chain.texts) - 1
    for nation in found:
        for each in (nation, *nation.broader):
            lattice.add(
                indefinite(f"{each.text} {noun}"),
                feature | each.features,
                evidence=(*each.evidence, *chain.proofs[last], *rule),
                conditions=each.conditions | {Condition(property="text", value=f"kind:{noun}")},
                order=order,
            )


def _is_group(small: str) -> Evidence:
    return Evidence(kind="rule", text=f"{indefinite(small)} is a group")


def _tells(text: str) -> bool:
    """Whether a kind says more than that it is a group."""
    return " " in text and not text.startswith(("musical ", "music "))


def _by_genre(case: LadderCase, kinds: Sequence[KindChain]) -> list[KindChain]:
    """By genre where the kind tells nothing: "funk band"."""
    noun = kinds[0].texts[0].rsplit(" ", 1)[-1] if kinds and kinds[0].texts else "group"
    out: list[KindChain] = []
    genres = [s for s in case.graph.current(case.answer, "P136") if s.target]
    case.graph.fetch(s.target for s in genres if s.target)
    for statement in genres:
        label = case.graph.label(statement.target or "")
        if label is None or not label[:1].islower() or len(out) == GENRES or noun not in _NOUNS:
            continue
        phrase = f"{label.removesuffix(' music')} {noun}"
        texts = [t for t in shortenings(phrase, case.vocabulary) if may_stand(t)] or [phrase]
        proof: tuple[Evidence, ...] = (from_statement(case.graph, statement), *(kinds[0].proofs[0] if kinds else ()))
        features = tuple(frozenset(f"o:{t}" for t in texts[i:]) for i in range(len(texts)))
        genre = Condition(property="P136", value=statement.target or "")
        shorter = [frozenset({Condition(property="text", value=f"kind:{t}")}) for t in texts[1:]]
        out.append(
            KindChain(
                texts=tuple(texts),
                features=features,
                proofs=tuple(proof for _ in texts),
                conditions=(frozenset({genre}), *shorter),
            )
        )
    return out


def _of_formation(case: LadderCase) -> list[Nation]:
    """The country of the place where the group was formed."""
    for formed in [s for s in case.graph.current(case.answer, "P740") if s.target][:1]:
        for statement in case.graph.current(formed.target or "", "P17")[:1]:
            adjective = case.vocabulary.adjective(statement.target or "")
            if adjective is not None:
                proof = (from_statement(case.graph, formed), from_statement(case.graph, statement))
                condition = Condition(property="P495", value=statement.target or "")
                return [
                    Nation(
                        text=adjective,
                        features=frozenset({f"n:{adjective}"}),
                        evidence=proof,
                        conditions=frozenset({condition}),
                    )
                ]
    return []
