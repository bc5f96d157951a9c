"""Persons: nationality, occupations, offices, kinship; and figures of fiction and myth by their work and kind.

The description of a person comes first, since it lists the reasons of fame in order. Statements fill its gaps and
support it as evidence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from abstraction.base.tiers import Evidence, evidence_from_description_span, from_statement
from abstraction.ladders.class_terms import ClassAbove, class_layers_above, denied_superclasses, used_as_value
from abstraction.ladders.offices import (
    PersonPhrases,
    add_kin_phrases,
    add_office_phrases,
    names_subject,
    repeats_answer,
)
from abstraction.ladders.phrase_parts import Nation, PhraseLattice, Wording, word_evidence, worded
from abstraction.ladders.proposals import (
    LadderCase,
    NamedValue,
    Proposal,
    cached_per_source,
    current_values,
    named_values,
    one_condition,
)
from abstraction.text.descriptions.attested_words import DescriptionWord, shortenings
from abstraction.text.descriptions.person_grammar import PersonDescription, parse_person
from abstraction.text.language.phrases import definite, indefinite, is_informative
from kg.base.model import Statement, normalise
from kg.graph.graph import Graph

STATED = 4  # most occupations that are read from P106
LOOKED_AT = 20  # P106 values that are read per person
SAME_STEM = 3  # letters at the beginning that "actress" and "actor" must share
PASSED_THROUGH = 2  # most P279 steps up to a class in use as an occupation


@dataclass(frozen=True, kw_only=True, slots=True)
class OccupationWording(Wording):
    """One wording of an occupation, with the entity of the occupation, if any.

    `other` is the label of the occupation where the description has another word: "actor" for "actress". `lifted`: the
    wording is a broader class of the wordings before it.
    """

    features: frozenset[str] = frozenset()  # set where the wordings of all occupations are known
    qid: str | None
    other: str | None = None
    lifted: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class OccupationChain:
    """An occupation in all its wordings: as in the source, shortened, then as a broader class.

    No nationality is put before the first `tied` wordings; `lead` are the words before the whole phrase (era,
    birthplace). `national`: the description has a nationality before the occupation.
    """

    wordings: tuple[OccupationWording, ...]
    lead: tuple[DescriptionWord, ...] = ()
    tied: int = 0
    national: bool = False

    @property
    def text(self) -> str:
        """The occupation as in the source."""
        return self.wordings[0].text


Stated = Mapping[str, Statement]  # P106 statements by the QID of the occupation


def described_occupations(case: LadderCase, described: PersonDescription) -> list[OccupationChain]:
    """The occupations of a description, in its order; former ones only where there are no others."""
    stated = {s.target: s for s in case.graph.current(case.answer, "P106") if s.target}
    out = []
    for occupation in described.occupations:
        if occupation.former:
            continue
        texts = occupation.texts
        proofs: list[tuple[Evidence, ...]] = []
        for text, used in zip(texts, occupation.used, strict=True):
            # The P106 statement whose occupation carries the wording as label or alias.
            named = [stated[qid] for qid in case.vocabulary.occupations.get(normalise(text), ()) if qid in stated]
            proofs.append((*word_evidence(case, used), *(from_statement(case.graph, s) for s in named[:1])))
        chain = _wordings_with_conditions(case, texts, [_find_occupation(case, text, stated) for text in texts], proofs)
        if occupation.lift is not None and occupation.lift != texts[-1]:
            rule = Evidence(kind="rule", text=f"{indefinite(texts[-1])} is {indefinite(occupation.lift)}")
            qid = _find_occupation(case, occupation.lift, stated)
            lifts = [_make_broader_wording(occupation.lift, qid or "", (*proofs[-1], rule))]
        else:
            lifts = _broader_wordings(case, chain)
        is_national = occupation.nationality is not None
        wordings = (*chain, *lifts)
        out.append(OccupationChain(wordings=wordings, lead=occupation.lead, tied=occupation.tied, national=is_national))
    return _asked_or_all_occupations(case, out)


def _asked_or_all_occupations(case: LadderCase, chains: list[OccupationChain]) -> list[OccupationChain]:
    """The occupations of the kinds that the relation asks about (`Relation.facets`); all where none is, or it asks
    about none.
    """
    facets = case.relation.facets
    if facets is None:
        return chains

    def is_asked(chain: OccupationChain) -> bool:
        if chain.text.rsplit(" ", 1)[-1] in facets.heads:
            return True
        ids = [wording.qid for wording in chain.wordings if wording.qid]
        return any(i in facets.kinds or not facets.kinds.isdisjoint(case.graph.class_and_superclasses(i)) for i in ids)

    return [chain for chain in chains if is_asked(chain)] or chains


def stated_occupations(case: LadderCase) -> list[OccupationChain]:
    """The occupations of P106 statements, best rank first."""
    values = current_values(case.graph, case.answer, "P106")
    stated = {value.qid: value.statement for value in values}
    out: list[OccupationChain] = []
    for value in [v for v in values if case.vocabulary.is_occupation(v.label)][:LOOKED_AT]:
        texts = shortenings(value.label, case.vocabulary)
        qids = [value.qid, *(_find_occupation(case, text, stated) for text in texts[1:])]
        chain = _wordings_with_conditions(case, texts, qids, [(value.evidence,)] * len(texts))
        out.append(OccupationChain(wordings=(*chain, *_broader_wordings(case, chain))))
    return _asked_or_all_occupations(case, out)[:STATED]


def _wordings_with_conditions(
    case: LadderCase, texts: Sequence[str], qids: Sequence[str | None], proofs: Sequence[tuple[Evidence, ...]]
) -> list[OccupationWording]:
    """A wording for each text, with its QID, evidence and the conditions that it states."""
    out: list[OccupationWording] = []
    for at, (text, qid, evidence) in enumerate(zip(texts, qids, proofs, strict=True)):
        behind = next((i for i in range(at, len(texts)) if qids[i] is not None), None)
        if behind is None:
            conditions = one_condition("text", f"occupation:{normalise(text)}")
        else:
            conditions = one_condition("P106", qids[behind] or "")
            if behind > at:
                before = text[: len(text) - len(texts[behind])].strip()
                conditions |= one_condition("text", f"mod:{normalise(before)}")
        label = case.graph.label(qid) if qid else None
        is_same = label is None or f" {normalise(label)}".endswith(f" {normalise(text)}")
        other = None if is_same else label
        out.append(OccupationWording(text=text, qid=qid, evidence=evidence, conditions=conditions, other=other))
    return out


def _find_occupation(case: LadderCase, text: str, stated: Stated) -> str | None:
    """The occupation that a wording names: by its label, else by an alias of an occupation that is stated for the
    person.

    Labels come first: "director" is an alias of film director, but not its meaning. An alias of a single occupation
    counts where it is a form of the word in the label.
    """
    key = normalise(text)
    labelled = case.vocabulary.labelled.get(key, ())
    owners = labelled or case.vocabulary.occupations.get(key, ())
    for qid in owners:
        if qid in stated:
            return qid
    if labelled:
        return labelled[0]
    # The one occupation with the alias "actress" is labelled "actor": the same beginning shows a form of the same word.
    label = case.graph.label(owners[0]) if len(owners) == 1 else None
    return owners[0] if label is not None and normalise(label)[:SAME_STEM] == key[:SAME_STEM] else None


def _broader_wordings(case: LadderCase, chain: Sequence[OccupationWording]) -> list[OccupationWording]:
    """The broader class of the shortest wording that names an occupation, in its own wordings."""
    for source in reversed(chain):
        above = nearest_broader_occupation_in_use(case.graph, source.qid) if source.qid is not None else None
        if above is None:
            continue
        texts = shortenings(above.label, case.vocabulary)
        owners = (above.qid, *(_find_occupation(case, text, {}) for text in texts[1:]))
        known = {normalise(wording.text) for wording in chain}
        return [
            _make_broader_wording(text, owner or above.qid, (*source.evidence, *above.path))
            for text, owner in zip(texts, owners, strict=True)
            if normalise(text) not in known and is_informative(text) and (above.qid, owner) not in denied_superclasses()
        ]
    return []


def _make_broader_wording(text: str, qid: str, evidence: tuple[Evidence, ...]) -> OccupationWording:
    return OccupationWording(text=text, qid=qid, evidence=evidence, conditions=one_condition("P106", qid), lifted=True)


@cached_per_source
def nearest_broader_occupation_in_use(graph: Graph, qid: str) -> ClassAbove | None:
    """The nearest class above an occupation that enough persons have as occupation.

    Synonyms and rare classes are passed through; stop classes and denied pairs end the climb. Of several classes the
    most frequent is used.
    """
    used = used_as_value(graph, "P106", None)
    names = {normalise(n) for n in graph.names(qid)}

    def usage_rank(above: ClassAbove) -> tuple[int, int]:
        pair = ("P106", above.qid)
        return -graph.store.value_counts([pair]).get(pair, 0), int(above.qid[1:])

    for layer in class_layers_above(graph, qid, steps=PASSED_THROUGH, denied=denied_superclasses()):
        plain = [
            a for a in layer if normalise(a.label) not in names and is_informative(a.label) and a.label[:1].islower()
        ]
        if fitting := [above for above in plain if used(above.qid)]:
            return min(fitting, key=usage_rank)
    return None


# Figures of fiction, scripture and myth: by the work they appear in, then by their kind.

WORKS = 2  # most works that are read from P1441
# Nouns for figures, with the adjectives that may come before them.
_KIND = (
    r"(?:(?:fictional|biblical|literary|mythological|mythical|legendary|comic(?:s| book)?|animated|television|film|"
    r"video game|cartoon|folklore|anime|manga)\s+)*"
    r"(?:character|superhero|superheroine|supervillain|figure|protagonist|antagonist|villain|detective|god|goddess|"
    r"deity|king|queen|hero|heroine|wizard|human|person)"
)
# "fictional character in Star Wars": the kind, and the work after a preposition.
_DESCRIBED = re.compile(
    rf"^(?:the\s+|an?\s+)?(?P<kind>{_KIND})\b"
    r"(?:\s++(?P<link>in|from|of|on)\s++(?P<work>.+?))?"
    r"(?=$|[,;(]|(?<![A-Z])\.(?:\s|$)|(?<!\s)\s++(?:who|which|played|portrayed|created|appearing|and)\b)",
    re.I,
)
# A kind must contain one of these: "king" alone may be a real person.
_SUPPORTED = re.compile(
    r"fictional|character|biblical|mythical|mytholog|legend|deity|god\b|goddess|superhero|supervillain", re.I
)
# Labels of classes, with the words to show instead.
_RENAMED = {"fictional human": "fictional character", "human biblical figure": "biblical figure"}
# Words of classes by medium, the earliest medium of a figure first.
_TELLING = (
    "biblical", "myth", "legend", "deity", "god", "literary", "theatrical", "comics", "video game", "anime", "animated",
    "television", "film",
)  # fmt: skip
# Labels of classes that do not describe a single figure.
_VAGUE = re.compile(r"set of|may be|topic|organism|in a work of fiction|characters")


def character_tiers(case: LadderCase) -> list[Proposal]:
    """ "a character in the Hebrew Bible", then "a biblical figure"."""
    graph = case.graph
    lattice = PhraseLattice()
    kind = _stated_kind_of_figure(case)
    if kind is not None:
        lattice.add(kind.text, (kind,), order=11)
    _add_described_kind_and_work(case, lattice)
    add_kin_phrases(case, lattice, parse_person(case.description, case.vocabulary).kin)
    works = [s for s in graph.current(case.answer, "P1441") if s.target and s.target != case.subject]
    for home in named_values(graph, works[:WORKS]):
        if not names_subject(case, home.label):
            features = frozenset({f"w:{normalise(home.label)}"}) | (kind.features if kind is not None else frozenset())
            text = f"character in {definite(home.label, of='work')}"
            wording = worded(text, features, (home.evidence,), home.conditions)
            lattice.add(text, (wording,), order=2)
    return lattice.proposals()


def _stated_kind_of_figure(case: LadderCase) -> Wording | None:
    """The kind of a figure by P31; of several that of the earliest medium, since figures of literature are filmed and
    drawn too.
    """
    kinds: list[tuple[int, str, NamedValue]] = []
    for value in current_values(case.graph, case.answer, "P31"):
        label = _RENAMED.get(value.label, value.label)
        # "character from Star Wars" names its work, which P1441 or the description gives.
        if label.islower() and _SUPPORTED.search(value.label) and not _VAGUE.search(value.label):
            rank = next((i for i, word in enumerate(_TELLING) if word in label), len(_TELLING))
            kinds.append((rank, label, value))
    if not kinds:
        return None
    _, label, value = min(kinds, key=lambda kind: kind[0])
    return worded(label, _features_of_kind(label), (value.evidence,), value.conditions)


def _add_described_kind_and_work(case: LadderCase, lattice: PhraseLattice) -> None:
    """Add the kind and the work that the description names."""
    match = _DESCRIBED.match(case.description)
    if match is None:
        return
    kind = match["kind"][:1].lower() + match["kind"][1:]
    if _SUPPORTED.search(kind) and normalise(kind) not in {"character", "fictional human"}:
        evidence = (evidence_from_description_span(case.graph, case.answer, match.span("kind")),)
        conditions = one_condition("text", f"kind:{normalise(kind)}")
        wording = worded(kind, _features_of_kind(kind), evidence, conditions)
        lattice.add(kind, (wording,), order=5)
    work, link = match["work"] or "", (match["link"] or "").lower()
    if not any(c.isupper() for c in work) or len(work.split()) > 6 or link == "on" or names_subject(case, work):
        return
    phrase = f"{kind} {link} {definite(work, of='work')}"
    if not repeats_answer(case, phrase):
        features = _features_of_kind(kind) | {f"w:{normalise(work)}"}
        evidence = (evidence_from_description_span(case.graph, case.answer, (match.start("kind"), match.end("work"))),)
        conditions = one_condition("text", f"in:{normalise(work)}")
        wording = worded(phrase, features, evidence, conditions)
        lattice.add(phrase, (wording,), order=1)


def _features_of_kind(kind: str) -> frozenset[str]:
    """The features of a kind of figure and of the kinds that it entails."""
    itself = frozenset({f"k:{kind}"})
    if "biblical" in kind:
        return itself | {"k:biblical figure"}
    is_fictional = any(word in kind for word in ("character", "superhero", "supervillain"))
    return itself | {"k:fictional character"} if is_fictional else itself


# Adjectives that are also nouns for a person: "a Greek", "an Italian", but not "a French".
_IS_A_NOUN = re.compile(
    r"\A(?:(?:South|North|East|West|Saudi) )?(?:Greek|Czech|Argentine|\S+(?:(?<!Vatic)(?<!om)an|i))\Z"
)


def person_tiers(case: LadderCase) -> list[Proposal]:
    """Occupations, offices and nationality of a person, from "the 15th Prime Minister of Canada" to "a politician"."""
    if "fictional" in case.gazetteer.classes(case.answer):
        return character_tiers(case)
    return _FullPersonPhrases(case).proposals()


class _FullPersonPhrases(PersonPhrases):
    def proposals(self) -> list[Proposal]:
        described = self.described
        offices = add_office_phrases(self)
        add_kin_phrases(self.case, self.lattice, described.kin)
        occupations = described_occupations(self.case, described)
        if not occupations and not offices:
            occupations = stated_occupations(self.case)
        listed = {chain.text for chain in occupations}
        for chain in occupations:
            self.add_occupation_phrases(chain, listed)
        for nation in self.nations:
            is_entailed = not self.lattice.nodes or any(nation.features <= features for features in self.lattice.nodes)
            if nation.person and is_entailed:
                self.add_nationality_alone(nation)
        return self.lattice.proposals()

    def add_occupation_phrases(self, chain: OccupationChain, listed: set[str]) -> None:
        """Add every wording of an occupation, with each nationality and without."""
        wordings = [wording for wording in chain.wordings if not (wording.lifted and wording.text in listed)]
        texts = [f"o:{wording.text}" for wording in wordings]
        for index, occupation in enumerate(wordings):
            self.order += 1
            wording = replace(occupation, features=frozenset(texts[index:]))
            for nation in self.nations if index >= chain.tied else ():
                self.order += 1
                is_name = wording.text[:1].isupper() and not chain.national
                is_compound = "-" in nation.text and len(nation.broader) > 0  # "German-South African"
                if not is_name and not (occupation.lifted and is_compound):
                    self.add_joined_parts((nation, wording), occupation.other)
                for broader in nation.broader:
                    self.add_joined_parts((broader, wording), occupation.other)
            if index == 0 and chain.lead:
                self.add_with_era_or_birthplace(chain, wording)
            self.add_joined_parts((wording,), occupation.other)

    def add_joined_parts(self, parts: tuple[Wording, ...], other_last_word: str | None = None) -> None:
        """Add the parts, joined, as one phrase; `other_last_word` replaces the last part in an alias."""
        *before, _ = words = [part.text for part in parts]
        aliases = (indefinite(" ".join([*before, other_last_word])),) if other_last_word else ()
        self.lattice.add(" ".join(words), parts, order=self.order, aliases=aliases)

    def add_with_era_or_birthplace(self, chain: OccupationChain, wording: Wording) -> None:
        """Add the whole phrase with the era or birthplace before it (`chain.lead`)."""
        nation = self.nations[:1] if not chain.tied else ()
        if any(n.is_from_statement for n in nation):
            return  # "German-born" would follow a nationality that is not from the description
        text = " ".join(w.text for w in chain.lead)
        text = text if chain.lead[0].text[:1].isdigit() or "born" in text else text.lower()
        lead = worded(
            text, {f"lead:{text}"}, word_evidence(self.case, chain.lead), one_condition("text", f"mod:{text}")
        )
        self.add_joined_parts((lead, *nation, wording))

    def add_nationality_alone(self, nation: Nation) -> None:
        """Add "an American", "a French person", on the level of the broadest occupations."""
        phrases = [nation.text] if _IS_A_NOUN.search(nation.text) else []
        phrase, *others = [*phrases, f"{nation.text} person"]
        self.lattice.add(phrase, (nation,), order=900, aliases=[indefinite(other) for other in others])
        for broader in nation.broader:
            self.add_nationality_alone(broader)
