"""Claims: the tiers that the responses to one question entail, each once with its supporters, ordered by fineness.

Tiers of several responses are merged if they have the same entity or the same conditions, or if a tier without an
entity has a name of the other. The order does not depend on a threshold, so that a higher threshold selects from fewer
claims in the same order and never gives a finer answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from abstraction.base.tiers import Tier
from granola.decoding.decision import Decision
from granola.decoding.response_cleaning import DECODING, CleanedResponse
from granola.decoding.responses import ReadResponse
from granola.matching.tokens import key as folded

MOST_COMPARED = 50  # distinct responses compared to find the most typical one: comparison is quadratic
RepeatsQuestion = Callable[["Claim"], bool]
"""Whether the question says as much as a claim."""

Basis = Literal["graph", "shared name", "text"]
"""How the responses of a claim were matched: by entities, by a shared name that the graph lacks, or by words."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """One tier that responses entail.

    `name`: the commonest wording of the responses that state it, else the name of the tier. `text`: the same, or a
    whole response where all that state it are sentences. `supporters`: indices, from 0, of the responses that entail
    it; `stated_by`: of those that state it. `support`, `stated`: the numbers of these responses, or the sums of their
    weights. `same`: the largest number of supporters with the same words. `bits`: None if unknown. `basis`: how
    responses were merged. `is_kind`: it is a kind, not a place or a value. `depth`: the length of the longest chain of
    coarser tiers below it, 0 for the coarsest. `information`: its bits, or those of a coarser tier with more; depth +
    1 where no tier has bits.
    """

    text: str
    qid: str | None
    bits: float | None
    supporters: frozenset[int]
    stated_by: frozenset[int]
    is_kind: bool = False
    basis: Basis = "graph"
    depth: int = 0
    information: float = 0.0
    support: float = 0
    stated: float = 0
    same: float = 0
    name: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimTally:
    """All claims, the finest first.

    `responses` and `abstaining`: numbers or weights of all responses and of those that abstain. `unlinked`: the
    distinct answers without entity or value. `repeats_question`: whether the question already states a claim.
    """

    claims: tuple[Claim, ...]
    responses: float
    abstaining: float
    unlinked: tuple[str, ...]
    repeats_question: RepeatsQuestion = field(default=lambda _: False, compare=False)


@dataclass(slots=True)
class _Node:
    """A tier of one response, with the index of the response and the level from 0."""

    response: int
    level: int
    tier: Tier
    names: frozenset[tuple[str, ...]]
    key: str = ""


def tally_claims(
    readings: Sequence[ReadResponse],
    *,
    repeats_question: RepeatsQuestion = lambda _: False,
    weights: Sequence[float] = (),
) -> ClaimTally:
    """The claims of the responses to one question; the order of responses affects only the indices.

    `weights`: one per response, in order; empty to count each as 1.
    """
    weight = partial(total_weight, weights=weights)
    alike: dict[CleanedResponse, list[int]] = {}  # responses with the same content are processed once
    for number, reading in enumerate(readings):
        alike.setdefault(reading.cleaned, []).append(number)
    different = [readings[numbers[0]] for numbers in alike.values()]
    groups = [frozenset(numbers) for numbers in alike.values()]
    nodes = [
        _Node(number, level, tier, _folded_names(tier.names()))
        for number, reading in enumerate(different)
        for level, tiers in enumerate(reading.levels)
        for tier in tiers.tiers
    ]
    _assign_keys(nodes)
    members: dict[str, list[_Node]] = {}
    entailing: dict[str, set[int]] = {}
    for node in nodes:
        members.setdefault(node.key, []).append(node)
        entailing.setdefault(node.key, set()).add(node.response)
    for number, key in _tiers_entailed_by_shared_name(nodes, members, different):
        entailing[key].add(number)
    depths, information = _depths_and_information(nodes)
    claims = [
        _claim_of_nodes(
            members[key], entailing[key], groups, different, weight, depth=depths[key], information=information[key]
        )
        for key in members
    ]
    return ClaimTally(
        claims=tuple(sorted(claims, key=fineness_sort_key)),
        responses=weight(range(len(readings))),
        abstaining=weight([number for number, reading in enumerate(readings) if reading.abstains]),
        unlinked=tuple(
            sorted({reading.cleaned.text for reading in different if not reading.linked and not reading.abstains})
        ),
        repeats_question=repeats_question,
    )


def total_weight(numbers: Collection[int], weights: Sequence[float]) -> float:
    """The sum of the weights of responses; their number without weights."""
    # Rounding makes sums of weights independent of the order of addition.
    return round(sum(weights[number] for number in numbers), 9) if weights else len(numbers)


def decision_for_claim(claim: Claim, tally: ClaimTally, *, votes: float, of: float, explanation: str) -> Decision:
    """The decision for a claim with `votes` of `of` counted responses."""
    return Decision(
        text=claim.text,
        explanation=explanation,
        support=votes / of,
        # The added response is a virtual one that disagrees. With equal support an answer that responses state is
        # surer than one that merely follows.
        confidence=(votes + claim.stated + claim.same) / (3 * (tally.responses + 1)),
        qid=claim.qid,
        bits=claim.bits,
        supporters=claim.supporters if votes == claim.support else claim.stated_by,
        counted=of,
        responses=tally.responses,
        more={"basis": claim.basis, **({"name": claim.name} if claim.name != claim.text else {})},
    )


def fineness_sort_key(claim: Claim) -> tuple[float, int, float, str, str]:
    """Sort key: information and depth, descending; then support, descending; then text and id."""
    return -claim.information, -claim.depth, -claim.support, claim.text, claim.qid or ""


def _assign_keys(nodes: Sequence[_Node]) -> None:
    """Assign one key to all nodes of the same tier (union-find)."""
    parent: dict[str, str] = {}

    def find_representative(key: str) -> str:
        while parent.setdefault(key, key) != key:
            key = parent[key]
        return key

    def join_groups(key: str, other: str) -> None:
        # Sorted, so that the representative does not depend on the order of responses.
        first, last = sorted((find_representative(key), find_representative(other)))
        parent[last] = first

    by_name: dict[tuple[str, ...], set[str]] = {}
    # Responses with a container, such as "Springfield, Ohio", may mean a namesake of another response.
    placed = {node.response for node in nodes if node.level > 0}
    unlinked = [node for node in nodes if node.tier.qid is None]
    for node in nodes:
        if node.tier.qid is not None:
            node.key = f"qid:{node.tier.qid}"
            for name in node.names:
                by_name.setdefault(name, set()).add(node.key)
    for node in unlinked:
        text = folded(node.tier.text)
        node.key = f"text:{' '.join(text)}"
        # Equal conditions mean the same tier, whatever the wording.
        if node.tier.conditions:
            join_groups(node.key, f"conditions:{sorted((c.property, c.value) for c in node.tier.conditions)}")
        entities = by_name.get(text, ())
        # A name of several entities is ambiguous; a response with coarser tiers may contradict the entity.
        if len(entities) == 1 and node.level == 0 and node.response not in placed:
            join_groups(node.key, *entities)
    texts = {node.key for node in unlinked}
    for node in unlinked:
        for name in node.names:
            if (other := f"text:{' '.join(name)}") in texts:
                join_groups(node.key, other)
    for node in nodes:
        node.key = find_representative(node.key)


def _tiers_entailed_by_shared_name(
    nodes: Sequence[_Node], members: Mapping[str, Sequence[_Node]], readings: Sequence[ReadResponse]
) -> Iterator[tuple[int, str]]:
    """Yield (response, key) for each tier that a response with a bare name entails, because all others with this name
    and a container share the tier: "Kunming" entails Yunnan beside "Kunming, Yunnan".

    A name with different containers entails nothing.
    """
    coarser: dict[int, set[str]] = {}
    for node in nodes:
        if node.level > 0:
            coarser.setdefault(node.response, set()).add(node.key)
    for node in nodes:
        if node.level == 0 and node.response not in coarser and not readings[node.response].linked:
            others = {other.response for other in members[node.key] if other.level == 0} & coarser.keys()
            for key in sorted(set.intersection(*(coarser[other] for other in others))) if others else ():
                yield node.response, key


def _depths_and_information(nodes: Sequence[_Node]) -> tuple[dict[str, int], dict[str, float]]:
    """For each tier its depth and its information: the largest bits of the tier and of coarser ones; depth + 1 if no
    tier has bits.

    Depth: the largest number of levels below the tier in one ladder.
    """
    ladders: dict[int, dict[int, list[_Node]]] = {}
    for node in nodes:
        ladders.setdefault(node.response, {}).setdefault(node.level, []).append(node)
    depths: dict[str, int] = {}
    information: dict[str, float] = {}
    for ladder in ladders.values():
        bits = 0.0
        for depth, level in enumerate(sorted(ladder, reverse=True)):
            for node in ladder[level]:
                depths[node.key] = max(depths.get(node.key, 0), depth)
                information[node.key] = max(information.get(node.key, 0.0), bits, node.tier.bits or 0.0)
            # Information never falls towards finer tiers of one ladder.
            bits = max(information[node.key] for node in ladder[level])
    # Without bits (no counts in the snapshot) depth is the only order.
    if not any(node.tier.bits is not None for node in nodes):
        information = {key: depth + 1.0 for key, depth in depths.items()}
    return depths, information


def _claim_of_nodes(
    members: Sequence[_Node],
    entailing: Collection[int],
    groups: Sequence[frozenset[int]],
    readings: Sequence[ReadResponse],
    weight: Callable[[Collection[int]], float],
    *,
    depth: int,
    information: float,
) -> Claim:
    stating = {node.response for node in members if node.level == 0}
    qids = {node.tier.qid for node in members if node.tier.qid}
    wordings: Counter[str] = Counter()
    for number in stating:
        wordings[readings[number].name] += len(groups[number])
    entailed_texts = [node.tier.text for node in members if node.level > 0]
    if not qids and entailed_texts and stating != entailing:
        wordings = Counter(entailed_texts)  # "about 180 cm" if only one response states "180 cm"
    text = _commonest_text(wordings or Counter(entailed_texts), members)
    linked = bool(qids or entailed_texts) or any(readings[number].linked for number in stating)
    by = frozenset().union(*[groups[number] for number in stating])
    in_same_words: dict[tuple[str, ...], frozenset[int]] = {}
    for number in entailing:
        words = folded(readings[number].cleaned.text)
        in_same_words[words] = in_same_words.get(words, frozenset()) | groups[number]
    conditions = [node.tier.conditions for node in members if node.tier.conditions]
    supporters = by if stating == entailing else frozenset().union(*[groups[number] for number in entailing])
    return Claim(
        text=_most_typical_response([(readings[number], len(groups[number])) for number in sorted(stating)]) or text,
        name=text,
        # Merged entities are rare; the smallest id makes the choice stable.
        qid=min(qids) if qids else None,
        bits=min((node.tier.bits for node in members if node.tier.bits is not None), default=None),
        supporters=supporters,
        stated_by=by,
        support=weight(supporters),
        stated=weight(by),
        same=max(map(weight, in_same_words.values())),
        basis="graph" if linked else "shared name" if any(readings[number].shared for number in stating) else "text",
        # Conditions that describe a kind of answer, and not a place, date or amount.
        is_kind=any(
            all(c.property not in ("self", "time") and not c.property.startswith("amount") for c in conjuncts)
            for conjuncts in conditions
        ),
        depth=depth,
        information=information,
    )


def _most_typical_response(stating: Sequence[tuple[ReadResponse, int]]) -> str | None:
    """The response with the largest word overlap with the others, if all state the claim within longer texts; else
    None.

    The shared name may not be the answer of each, so the whole text is kept.
    """
    if not stating or not all(reading.shared for reading, _ in stating):
        return None
    given = sorted(((-times, reading.cleaned.whole) for reading, times in stating))[:MOST_COMPARED]
    words = [frozenset(folded(whole)) for _, whole in given]

    def likeness_to_others(at: int) -> float:
        return sum(
            -times * len(words[at] & other) / max(1, len(words[at] | other))
            for other, (times, _) in zip(words, given, strict=True)
        )

    return given[max(range(len(given)), key=lambda at: (likeness_to_others(at), -len(words[at]), given[at][1]))][1]


def _commonest_text(texts: Counter[str], members: Sequence[_Node]) -> str:
    """The commonest text; on a tie a label of an entity, then another of its names, then the shortest."""
    if len(texts) == 1:
        return next(iter(texts))
    entities = [node for node in members if node.tier.qid]
    labels = {node.tier.text for node in entities}
    names = frozenset().union(*[node.names for node in entities])
    return min(texts, key=lambda text: (-texts[text], text not in labels, folded(text) not in names, len(text), text))


@DECODING.memoize(1 << 15, size=lambda names: sum(map(len, names)))
def _folded_names(names: tuple[str, ...]) -> frozenset[tuple[str, ...]]:
    return frozenset(map(folded, names))
