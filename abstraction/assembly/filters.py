"""What may not stand as a tier: another name of the answer, a leak, a triviality."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from abstraction.assembly.levels import ancestors, merge, remove
from abstraction.descriptions.place_grammar import variants
from abstraction.properties import with_role
from abstraction.proposals import Proposal
from abstraction.relations import Relation
from kg.bounded_cache import bounded_cache
from kg.terms import normalise

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
_BELONGING = with_role("whole")
# What a place larger than a town of its name is called. A municipality is the town by another name.
_LARGE = """
    state province region county department district republic kingdom duchy principality prefecture canton governorate
    oblast krai territory commonwealth island islands voivodeship emirate estado provincia
"""
_DIVISIONS = frozenset(_LARGE.split())
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


def clean(
    nodes: dict[str, Proposal],
    *,
    relation: Relation,
    question: str,
    answer_names: Sequence[str],
    subject: str | None,
    is_place: bool,
    is_person: bool,
    subject_text: str | None = None,
    from_question: Collection[str] = (),
    usual: Callable[[Proposal], bool] | None = None,
) -> tuple[dict[str, Proposal], list[str]]:
    """The proposals that may stand, and the texts that turned out to name the answer.

    `answer_names` starts with the label and the gold text; `from_question` are keys of what follows from the
    question's words; `usual` tells what says nothing new of the relation's answers besides what its row lists.
    Order of the filters: alias collapse, name leak, question leak, subject leak, triviality, then aliases among the
    tiers themselves.
    """
    label = answer_names[0] if answer_names else ""
    texts_of_answer: list[str] = []

    def is_alias(p: Proposal) -> bool:
        # A larger place of the same name (New York in New York) is not the answer, unless nobody could tell.
        same = names_the_answer(p.text, answer_names[:2] if p.qid else answer_names, person=is_person)
        if same:
            texts_of_answer.append(p.text)
        return same

    nodes = _told_apart(nodes, answer_names[:2] if is_place else ())
    nodes = remove(nodes, is_alias)
    if not is_place:
        nodes = remove(nodes, lambda p: p.qid is None and leaks_name(p.text, label))
    else:  # "a city in Padua", for Padua
        inside = tuple(f" in {the}{normalise(label)}" for the in ("", "the "))
        nodes = remove(nodes, lambda p: p.qid is None and is_phrase(p.text) and normalise(p.text).endswith(inside))

    def leaks(p: Proposal) -> bool:
        if p.key in from_question:
            return True
        if is_named(p):
            return gives_away(question, subject_text, (p.text, *p.aliases))
        return leaks_question(p.text, question)

    nodes = remove(nodes, leaks)
    if subject is not None:
        nodes = remove(nodes, lambda p: p.qid == subject)
    nodes = remove(nodes, lambda p: is_trivial(p, relation) or (usual is not None and usual(p)))
    nodes = _collapse(nodes)
    return _unambiguous(nodes, answer_names[:2] if is_place else ()), texts_of_answer


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
        and (not is_named(node) or not _DIVISIONS.isdisjoint(words(alias)))
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
