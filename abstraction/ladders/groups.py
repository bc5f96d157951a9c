"""Bands and other performing groups: kind, country and genre; never their members."""

from __future__ import annotations

from collections.abc import Sequence

from abstraction.base.tiers import Evidence
from abstraction.ladders.entity_values import current_values
from abstraction.ladders.kind_chains import KindChain, described_kind, stated_kinds
from abstraction.ladders.lattice import Lattice
from abstraction.ladders.nations import Nation, add_national, nation_of_place, nations
from abstraction.ladders.phrase_parts import Wording, add_phrase, states
from abstraction.ladders.proposals import LadderCase, Proposal
from abstraction.text.descriptions.attested_words import Vocabulary, shortenings
from abstraction.text.descriptions.kind_grammar import parse_organisation
from abstraction.text.language.phrases import indefinite, may_stand
from kg.base.terms import normalise

FAMILY = "group"
# Genres (P136) used per group, in the order of the statements.
GENRES = 2
# Nouns for groups of a certain size; each of them is also "a group".
SMALL = frozenset({"duo", "trio", "quartet", "quintet", "sextet", "septet", "octet", "supergroup"})
# Nouns that can follow a genre: "funk band".
_NOUNS = SMALL | {"band", "group", "ensemble", "orchestra", "choir"}


def groups(case: LadderCase) -> list[Proposal]:
    """ "an English rock band › a rock band | an English band", from the description or from P31, P136 and P495."""
    text = case.graph.description(case.answer)
    described = parse_organisation(text, case.vocabulary, FAMILY) if text else None
    kind = described.kind if described is not None else None
    chains = [described_kind(case, kind, FAMILY)] if kind is not None else stated_kinds(case, FAMILY)
    wordings = [text for chain in chains for text in chain.texts]
    if not any(" " in text and not text.startswith(("musical ", "music ")) for text in wordings):
        chains = _kinds_by_genre(case, chains) or chains  # the kind alone is only "group"
    national = (kind.nationality or (described.land if described else None)) if kind is not None else None
    nationalities = nations(case, national, ("P495", "P17")) or nation_of_place(case, "P740", "P495")
    lattice = Lattice()
    order = 0
    for chain in chains:
        for index, wording in enumerate(chain.wordings):
            order += 1
            _add_wording(lattice, wording, nationalities if index >= chain.tied else (), order)
        order = _add_group_wordings(lattice, chain, nationalities, order, case.vocabulary)
        if chain.wordings:
            _add_group_of_country(lattice, chain.wordings[-1], nationalities, order + 50)
    return lattice.proposals()


def _add_wording(lattice: Lattice, wording: Wording, nationalities: Sequence[Nation], order: int) -> None:
    add_national(lattice, wording, nationalities, order)
    add_phrase(lattice, wording.text, (wording,), order=order)


def _add_group_wordings(
    lattice: Lattice, chain: KindChain, nationalities: Sequence[Nation], order: int, vocabulary: Vocabulary
) -> int:
    """Add "a vocal group" for "a vocal quartet"; returns the display order of the last phrase."""
    finer: list[tuple[int, Wording]] = []
    texts: list[str] = []
    for index, wording in enumerate(chain.wordings):
        before, _, last = wording.text.rpartition(" ")
        if last in SMALL and before and vocabulary.attests(f"{before} group"):
            finer.append((index, wording))
            texts.append(f"{before} group")
    proofs = [(*small.evidence, _group_rule(small.text.rsplit(" ", 1)[-1])) for _, small in finer]
    for (index, small), large in zip(finer, KindChain.from_texts(texts, proofs).wordings, strict=True):
        order += 1
        _add_entailed_features(lattice, f"o:{normalise(small.text)}", large.features)
        _add_wording(lattice, large, nationalities if index >= chain.tied else (), order)
    return order


def _add_group_of_country(lattice: Lattice, broadest: Wording, nationalities: Sequence[Nation], order: int) -> None:
    """Add "an American group": the noun "group" is informative only with a nationality."""
    noun = broadest.text.rsplit(" ", 1)[-1]
    rule = (_group_rule(noun),) if noun in SMALL else ()
    noun = "group" if noun in SMALL else noun
    if noun not in _NOUNS or noun == broadest.text:
        return
    group = KindChain.from_texts((noun,), ((*broadest.evidence, *rule),)).wordings[0]
    _add_entailed_features(lattice, "", group.features)
    add_national(lattice, group, nationalities, order)


def _add_entailed_features(lattice: Lattice, feature: str, more: frozenset[str]) -> None:
    """Add the features `more` to all phrases with a feature, or to all phrases for ""."""
    for key, node in list(lattice.nodes.items()):
        if not feature or feature in key:
            del lattice.nodes[key]
            lattice.nodes[key | more] = node


def _group_rule(small: str) -> Evidence:
    return Evidence(kind="rule", text=f"{indefinite(small)} is a group")


def _kinds_by_genre(case: LadderCase, kinds: Sequence[KindChain]) -> list[KindChain]:
    """Kinds by genre, where the kind alone is uninformative: "funk band"."""
    kind = next((chain.wordings[0] for chain in kinds[:1] if chain.wordings), None)
    noun = kind.text.rsplit(" ", 1)[-1] if kind is not None else "group"
    if noun not in _NOUNS:
        return []
    chains: list[KindChain] = []
    for genre in current_values(case.graph, case.answer, "P136"):
        if genre.label[:1].islower() and len(chains) < GENRES:
            phrase = f"{genre.label.removesuffix(' music')} {noun}"
            texts = [t for t in shortenings(phrase, case.vocabulary) if may_stand(t)] or [phrase]
            proof = (genre.evidence, *(kind.evidence if kind is not None else ()))
            conditions = [genre.conditions, *(states("text", f"kind:{text}") for text in texts[1:])]
            chains.append(KindChain.from_texts(texts, [proof] * len(texts), conditions))
    return chains
