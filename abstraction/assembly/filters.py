"""What may not stand as a tier: another name of the answer, what the question tells, and what holds of most answers of
the relation, as measured."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from abstraction.assembly.levels import ancestors, merge, remove
from abstraction.descriptions.place_grammar import variants
from abstraction.language.phrases import is_well_formed
from abstraction.properties import with_role
from abstraction.proposals import LadderCase, Proposal
from abstraction.relations import Relation, table
from abstraction.tiers import Condition, Level, Tier
from kg.bounded_cache import SizedDict, bounded_cache
from kg.terms import normalise
from kg.walks.graph import Graph

_WORDS = re.compile(r"[^\W_]+(?:['’.][^\W_]+)*")
_ARTICLE = re.compile(r"^(?:an?|the)\s+")
_NAME = re.compile(r"[^\W\d_]+(?:[ .'’-]+[^\W\d_]+)*")  # no brackets, no list
# What follows tells where the subject is.
_TOLD = re.compile(r"(?:(?<!\s)\s++)?[,()]\s*+|(?<!\s)\s++(?:in|near)\s++(?=[A-ZÀ-Þ]|the\b)")
_WITHOUT_CONTENT = """
    a an the of in on at for from by to and or with is was are were be been did do does which who whom whose what when
    where how its it his her their that this as into
"""
_FUNCTION_WORDS = frozenset(_WITHOUT_CONTENT.split())
_IN_TOWN = re.compile(r" in ([A-ZÀ-Þ][^,]*), [A-ZÀ-Þ]")
_BELONGING = with_role("whole")
# What a place larger than a town of its name is called. A municipality is the town by another name.
_LARGE = """
    state province region county department district republic kingdom duchy principality prefecture canton governorate
    oblast krai territory territories commonwealth island islands voivodeship emirate estado provincia
"""
DIVISIONS = frozenset(_LARGE.split())
# Words that may stand beside an answer's whole name without making it anything else.
_BESIDE = """
    ltd limited inc incorporated corp corporation company co plc llc gmbh ag sa nv bv kk group holdings jr sr i ii iii
    iv v the of and city town language languages f.c fc a.f.c s.p.a spa
"""
_NAME_DECORATION = frozenset(_BESIDE.split())


@bounded_cache(entries=1 << 13, longest=200)  # 50 MB at most, of words of one letter
def words(text: str) -> tuple[str, ...]:
    """The normalised words of a text, possessives without their ending."""
    return tuple(re.sub(r"['’]s$", "", w) for w in _WORDS.findall(normalise(text)))


@bounded_cache(entries=1 << 13, longest=200)  # 50 MB at most, of words of one letter
def content_words(text: str) -> frozenset[str]:
    """Words that carry content: no articles, prepositions or question words."""
    return frozenset(w for w in words(text) if w not in _FUNCTION_WORDS)


def without_article(text: str) -> str:
    """The normalised text without its leading article."""
    return _ARTICLE.sub("", normalise(text))


def names_the_answer(text: str, answer_names: Collection[str], *, person: bool) -> bool:
    """Whether a tier text is only another way to write the answer.

    Equal under normalisation, the whole name with legal forms or ordinals beside it, or, for persons, a part
    of the name ("E. Wilson" of "Edward O. Wilson").
    """
    mine = words(text)
    return any(_writes(mine, theirs, person=person) for name in answer_names if (theirs := words(name)))


def _writes(mine: Sequence[str], name: Sequence[str], *, person: bool) -> bool:
    """Whether words write a name."""
    carrying = [w for w in mine if w not in _FUNCTION_WORDS]
    if mine == name or (carrying and carrying == [w for w in name if w not in _FUNCTION_WORDS]):
        return True
    known = frozenset(name)
    if known.issubset(mine) and (added := Counter(mine) - Counter(name)) and _NAME_DECORATION.issuperset(added):
        return True
    initials = {w[0] for w in known}
    return person and len(mine) > 1 and all(w in known or (len(w.rstrip(".")) == 1 and w[0] in initials) for w in mine)


def leaks_name(text: str, answer_label: str) -> bool:
    """Whether the whole label of the answer stands inside the tier, as words."""
    inner = words(answer_label)
    return bool(inner) and f" {' '.join(inner)} " in f" {' '.join(words(text))} "


def _lies_in_its_name(text: str, answer_label: str) -> bool:
    """Whether a phrase tells a town that the answer is called after: "in Kent, Ohio" for Kent State University."""
    match = _IN_TOWN.search(text)
    return match is not None and leaks_name(answer_label, match[1])


def is_phrase(text: str) -> bool:
    """Whether a tier describes ("a city in Ohio") and is no name."""
    return _ARTICLE.match(text) is not None and text[:1].islower()


def leaks_question(text: str, question: str) -> bool:
    """Whether every content word of the tier stands in the question already."""
    mine = content_words(text)
    asked = content_words(question)
    return bool(mine) and all(word in asked or f"{word}s" in asked for word in mine)  # "who were the mathematicians"


def gives_away(question: str, subject_text: str | None, names: Sequence[str]) -> bool:
    """Whether the question itself says the answer lies in the place of these names, the usual one first.

    It does where the place is the subject ("the capital of Pitkin County"), where it stands behind the subject's
    name to say where that is ("Springfield, Illinois"; "Academy (Lyon)"), and where the question's own words name
    it. A word inside a name says nothing: Massachusetts Mutual may have its seat anywhere.
    """
    if not subject_text:
        return leaks_question(names[0], question)
    subject_names = _said_by(subject_text)
    return any(without_article(name) in subject_names for name in names) or leaks_question(
        names[0], question.replace(subject_text, " ")
    )


@bounded_cache(entries=1 << 12, longest=200)  # 10 MB at most
def _said_by(subject_text: str) -> frozenset[str]:
    """The subject's name without article, and where its text says that it is."""
    parts = [part for part in _TOLD.split(subject_text) if part.strip()]
    return frozenset(without_article(name) for name in (*(variants(parts[0]) if parts else ()), *parts[1:]))


def is_trivial(proposal: Proposal, relation: Relation) -> bool:
    """Whether the tier, or any name of its entity, only repeats what the relation asks for."""
    if without_article(proposal.text) in relation.trivial:
        return True
    is_class = proposal.qid is not None and proposal.text[:1].islower()
    return is_class and any(normalise(alias) in relation.trivial for alias in proposal.aliases[:3])


def own_tiers(
    nodes: dict[str, Proposal], *, relation: Relation, answer_names: Sequence[str], is_place: bool, is_person: bool
) -> tuple[dict[str, Proposal], tuple[str, ...]]:
    """The proposals that may stand whatever a question says, and the texts that turned out to name the answer.

    `answer_names` starts with the label and the gold text. Order of the filters: alias collapse, name leak, form,
    triviality by the relation's row.
    """
    label = answer_names[0] if answer_names else ""
    texts_of_answer: list[str] = []

    def is_alias(p: Proposal) -> bool:
        # A larger place of the same name (New York in New York) is not the answer, unless nobody could tell.
        same = names_the_answer(p.text, answer_names[:2] if p.qid else answer_names, person=is_person)
        same = same or (relation.asks == "genre" and p.text[:1].isupper() and f"{p.text} film" == label)
        if same:
            texts_of_answer.append(p.text)
        return same

    nodes = _told_apart(nodes, answer_names[:2] if is_place else ())
    nodes = remove(nodes, is_alias)
    inside = tuple(f" in {the}{normalise(label)}" for the in ("", "the "))  # "a city in Padua", for Padua

    def leaks(p: Proposal) -> bool:
        if is_place:
            return p.qid is None and is_phrase(p.text) and normalise(p.text).endswith(inside)
        return (p.qid is None and leaks_name(p.text, label)) or _lies_in_its_name(p.text, label)

    nodes = remove(nodes, lambda p: leaks(p) or not is_well_formed(p.text) or is_trivial(p, relation))
    return nodes, tuple(texts_of_answer)


def leaked_keys(
    nodes: Mapping[str, Proposal], *, question: str, subject: str | None, subject_text: str | None
) -> frozenset[str]:
    """Keys of the proposals that name the subject, or that the words of the question give away."""

    def leaks(p: Proposal) -> bool:
        if p.qid is not None and p.qid == subject:
            return True
        if is_named(p):
            return gives_away(question, subject_text, (p.text, *p.aliases))
        return leaks_question(p.text, question)

    return frozenset(key for key, node in nodes.items() if leaks(node))


def left_over(
    nodes: dict[str, Proposal], unwanted: Collection[str], answer_names: Sequence[str]
) -> dict[str, Proposal]:
    """The proposals without those of the `unwanted` keys, and without aliases among the tiers themselves.

    `answer_names` are those that an alias of a tier may not be.
    """
    return _unambiguous(_collapse(remove(nodes, lambda p: p.key in unwanted)), answer_names)


def _told_apart(nodes: dict[str, Proposal], answer_names: Sequence[str]) -> dict[str, Proposal]:
    """Named entities that share their label with the answer or a finer one, under a name that tells more.

    "Groningen Province" around Groningen. Where no name does, the label stays and the filters have their way.
    """
    taken = {normalise(n) for n in answer_names}
    out = dict(nodes)
    for key in sorted(nodes, key=lambda k: (len(ancestors(nodes, k)), k)):
        node = nodes[key]
        if node.qid is None or not (is_named(node) or any(c.property in _BELONGING for c in node.conditions)):
            continue
        if normalise(node.text) in taken and (text := telling_name(node, taken)):
            aliases = (node.text, *(a for a in node.aliases if a != text))
            node = out[key] = replace(node, text=text, aliases=aliases)
        taken.add(normalise(node.text))
    return out


def telling_name(node: Proposal, taken: Collection[str]) -> str | None:
    """The shortest alias that holds the label and, of a place, says what it is the name of."""
    longer = [
        alias
        for alias in node.aliases
        if _NAME.fullmatch(alias)
        and normalise(alias) not in taken
        and leaks_name(alias, node.text)
        and (not is_named(node) or not DIVISIONS.isdisjoint(words(alias)))
    ]
    return min(longer, key=lambda alias: (len(alias), alias), default=None)


def is_named(proposal: Proposal) -> bool:
    """Whether the tier is a place or an institution by its name, and no class or description."""
    return any(c.property == "self" for c in proposal.conditions)


def _collapse(nodes: dict[str, Proposal]) -> dict[str, Proposal]:
    """Tiers that say the same become one: the finer takes the coarser's names and children."""
    by_name: dict[str, str] = {}
    for key in sorted(nodes, key=lambda k: (len(ancestors(nodes, k)), k)):
        node = nodes[key]
        name = without_article(node.text)
        twin = by_name.get(name)
        if twin is not None and twin in nodes:
            nodes = merge(nodes, key, twin)
            continue
        by_name[name] = key
        # A bare name from a description that a finer or equal entity carries as an alias is that entity.
        if node.qid is None:
            for other, candidate in nodes.items():
                if other != key and candidate.qid and name in {normalise(a) for a in candidate.aliases}:
                    nodes = merge(nodes, key, other)
                    break
    return nodes


def _unambiguous(nodes: dict[str, Proposal], answer_names: Sequence[str]) -> dict[str, Proposal]:
    """An alias that is another tier's own text, or the answer's name, belongs to that tier alone."""
    texts = {normalise(name): "" for name in answer_names}
    texts.update((normalise(node.text), key) for key, node in nodes.items())
    out = {}
    for key, node in nodes.items():
        aliases = tuple(a for a in node.aliases if texts.get(normalise(a), key) == key)
        out[key] = replace(node, aliases=aliases) if aliases != node.aliases else node
    return out


# Which classes say nothing new about a relation's answers, as measured: those that most of its answers are told to
# be.
#
# Who asks for a work's language expects one of the Indo-European family. A tier holds for an answer where the
# answer's own ladder has it. The answers are those of the whole source, weighted by how many entities carry each:
# those that things like the question's subject have, of genres those of the answer's own art, and all where these are
# too few.

TRIVIAL_SHARE = 2 / 3  # of the relation's answers; docs/reference/rules.md says what lies on either side
HALF = 1 / 2  # of the different answers: what is true of one frequent answer alone tells which it is
ANSWERS = 150  # the most frequent answers of a relation that are looked at
SUBJECTS = 20  # entities with an answer whose kinds are looked at
FEWEST, STATED = 20, 250  # different answers, and entities with one, below which the relation's own list counts alone
UNLISTED = 5  # the same where the relation has no list
KEPT = 500_000  # tiers of the answers of all relations: 100 MB at most
_OF_CLASS = frozenset({"P31", "P279", "P106", "P136", "P407"})

Build = Callable[[LadderCase], list[Proposal]]


@dataclass(frozen=True, kw_only=True, slots=True)
class FrequentAnswer:
    """A frequent answer: how many entities have it, of a genre its arts, and what its ladder may say of it."""

    count: int
    arts: frozenset[str]
    tiers: frozenset[str]


class MeasuredRelations:
    """What was measured of the answers of relations: they are kept by relation, for all graphs of one store.

    Graphs that read the same language give the same: to measure a relation anew takes up to half a second.
    """

    def __init__(self) -> None:
        self.answers: SizedDict[str, Mapping[str, FrequentAnswer]] = SizedDict(
            KEPT, lambda _, answers: 5 + sum(5 + len(answer.tiers) for answer in answers.values())
        )
        self.kinds: SizedDict[str, Mapping[str, Counter[str]]] = SizedDict(
            KEPT, lambda _, kinds: 5 + sum(map(len, kinds.values()))
        )
        self.shares: SizedDict[tuple[str, str, str], tuple[float, float] | None] = SizedDict(
            KEPT, lambda key, _: 1 + len(key[2]) // 200  # a tier's text may come from outside
        )


class Triviality:
    """Measured shares of one graph; each relation is read once. `build` proposes the tiers of an answer."""

    def __init__(self, graph: Graph, build: Build, measured: MeasuredRelations) -> None:
        self._graph = graph
        self._build = build
        self._measured = measured
        self._weights: SizedDict[tuple[str, str], Mapping[str, float]] = SizedDict(
            KEPT // 5, lambda _, weights: 5 + len(weights)
        )

    def is_trivial(self, case: LadderCase, proposal: Proposal) -> bool:
        """Whether the tier names a class alone, and most of the answers are of it.

        Named places and tiers with a nationality, a place or a modifier never are.
        """
        if not case.relation.id or not proposal.conditions or not all(map(_is_class, proposal.conditions)):
            return False
        shares = self.shares(case, proposal)
        return shares is not None and shares[0] >= TRIVIAL_SHARE and shares[1] >= HALF

    def shares(self, case: LadderCase, proposal: Proposal) -> tuple[float, float] | None:
        """The shares, each in [0, 1], of entities with an answer and of different answers that the tier is true of.

        None where too few are known.
        """
        tier = _key(proposal)
        for kind in self._groups(case):
            key = (case.relation.id, kind, tier)
            if key not in self._measured.shares:
                self._measured.shares[key] = self._shares_among(case, kind, tier)
            if (measured := self._measured.shares[key]) is not None:
                return measured
        return None

    def weighed(
        self,
        levels: tuple[Level, ...],
        case: LadderCase,
        worded: Mapping[str, Proposal],
        nodes: Mapping[str, Proposal],
        of_answer: Callable[[str, str], float | None],
    ) -> tuple[Level, ...]:
        """The levels, the answer's first, with bits given the question: -log2 of the share of the relation's answers.

        `worded` are the proposals as the levels have them, `nodes` the same before they were worded. A coarser level
        never tells more than a finer one. A tier that none of the measured answers has gets none.
        """
        relation = case.relation.id
        most = of_answer(case.answer, relation) if relation and len(levels) > 1 else None
        if most is None:
            return levels
        keys = {normalise(node.text): key for key, node in worded.items()}

        def with_bits(tier: Tier, bound: float) -> Tier:
            key = keys.get(normalise(tier.text))
            shares = self.shares(case, nodes[key]) if key is not None else None
            if shares is None or not shares[0]:
                return tier
            return replace(tier, bits_asked=min(bound, -math.log2(min(1.0, shares[0]))))

        out, bound = [Level(tiers=tuple(replace(tier, bits_asked=most) for tier in levels[0].tiers))], most
        for level in levels[1:]:
            tiers = tuple(with_bits(tier, bound) for tier in level.tiers)
            out.append(replace(level, tiers=tiers))
            bound = max((tier.bits_asked for tier in tiers if tier.bits_asked is not None), default=bound)
        return tuple(out)

    def _groups(self, case: LadderCase) -> Iterable[str]:
        """Kinds of subjects, or of genres, the most telling first; "" for all answers."""
        if case.subject:
            yield from (f"subject {kind}" for kind in self._graph.classes(case.subject))
        if case.relation.asks == "genre":
            yield from (f"answer {kind}" for kind in self._arts(case.answer, case.relation))
        yield ""

    def _arts(self, genre: str, relation: Relation) -> list[str]:
        """Of what art a genre is, by its classes that only repeat the question: "film" for film, film genre."""
        kinds = dict.fromkeys((*self._graph.classes(genre), *self._graph.targets(genre, "P279")))
        self._graph.fetch(kinds)
        labels = (normalise(self._graph.label(kind) or "") for kind in kinds)
        return list(
            dict.fromkeys(label.split()[0] for label in labels if label != "genre" and label in relation.trivial)
        )

    def _shares_among(self, case: LadderCase, group: str, tier: str) -> tuple[float, float] | None:
        if (key := (case.relation.id, group)) not in self._weights:
            self._weights[key] = self._weights_of(case, group)
        weights = self._weights[key]
        total = sum(weights.values())
        fewest, stated = _least(case)
        if len(weights) < fewest or total < stated:
            return None
        answers = self._of_relation(case)
        having = [qid for qid in weights if tier in answers[qid].tiers]
        return sum(weights[qid] for qid in having) / total, len(having) / len(weights)

    def _weights_of(self, case: LadderCase, group: str) -> Mapping[str, float]:
        """How many entities of a group have each of the relation's frequent answers."""
        of, _, kind = group.partition(" ")
        answers = self._of_relation(case)
        weights = {qid: float(answer.count) for qid, answer in answers.items()}
        if of == "answer":
            weights = {qid: weight for qid, weight in weights.items() if kind in answers[qid].arts}
        elif of == "subject" and answers:
            subjects = self._subjects(case.relation.id, answers)
            weights = {
                qid: weight * subjects[qid][kind] / subjects[qid][""]
                for qid, weight in weights.items()
                if subjects[qid][kind]
            }
        return weights

    def _of_relation(self, case: LadderCase) -> Mapping[str, FrequentAnswer]:
        """The most frequent answers of the relation of which anything can be told; none where they are too few."""
        relation = case.relation.id
        known = self._measured.answers.get(relation)
        if known is None:
            graph = self._graph
            values = graph.store.values_of(relation, limit=ANSWERS)
            known = {}
            if sum(count for _, count in values) >= _least(case)[1]:
                graph.fetch_along((qid for qid, _ in values), steps=3)
                for qid, count in values:
                    alone = replace(case, answer=qid, question="", subject=None, subject_text=None, at=None)
                    if tiers := frozenset(map(_key, self._build(alone))):
                        known[qid] = FrequentAnswer(
                            count=count, arts=frozenset(self._arts(qid, case.relation)), tiers=tiers
                        )
            self._measured.answers[relation] = known
        return known

    def _subjects(self, relation: str, answers: Iterable[str]) -> Mapping[str, Counter[str]]:
        """Of each answer: how many of its first entities are of a kind, and under "" how many were looked at."""
        known = self._measured.kinds.get(relation)
        if known is None:
            store = self._graph.store
            referrers = store.referrers([(relation, qid) for qid in answers], limit=SUBJECTS)
            read = store.entities(
                {subject for subjects in referrers.values() for subject in subjects}, languages=(), properties=("P31",)
            )
            kinds = {
                subject: {"", *(s.target for s in entity.values("P31") if s.target)} for subject, entity in read.items()
            }
            known = {
                qid: Counter(
                    kind for subject in referrers.get((relation, qid), ()) for kind in kinds.get(subject, ("",))
                )
                for qid in answers
            }
            self._measured.kinds[relation] = known
        return known


def _least(case: LadderCase) -> tuple[int, int]:
    return (FEWEST, STATED) if case.relation.id in table() else (UNLISTED, UNLISTED)


def _key(proposal: Proposal) -> str:
    return proposal.qid or without_article(proposal.text)


def _is_class(condition: Condition) -> bool:
    """Whether a condition states no more than a class."""
    return condition.property in _OF_CLASS or (
        condition.property == "text" and condition.value.rpartition(":")[0] in ("", "kind", "occupation")
    )
