"""Persons: nationality, occupations, offices, kinship; and figures of fiction and myth by their work and kind.

The description of a person comes first, since it lists the reasons of fame in order. Statements fill its gaps and
support it as evidence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from abstraction.base.evidence import from_span
from abstraction.ladders.entity_values import NamedValue, current_values, named_values
from abstraction.ladders.lattice import Lattice
from abstraction.ladders.nations import Nation, nations, word_evidence
from abstraction.ladders.occupation_chains import (
    OccupationChain,
    described_occupations,
    stated_occupations,
)
from abstraction.ladders.office_phrases import Portrait, add_kin, add_offices, names_subject, repeats_answer
from abstraction.ladders.phrase_parts import Wording, add_phrase, states
from abstraction.ladders.proposals import LadderCase, Proposal
from abstraction.text.descriptions.person_grammar import parse_person
from abstraction.text.language.phrases import definite, indefinite
from kg.base.terms import normalise

# Figures of fiction, scripture and myth: by the work they appear in, then by their kind.

WORKS = 2  # taken from P1441
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
    "biblical",
    "myth",
    "legend",
    "deity",
    "god",
    "literary",
    "theatrical",
    "comics",
    "video game",
    "anime",
    "animated",
    "television",
    "film",
)
# Labels of classes that do not describe a single figure.
_VAGUE = re.compile(r"set of|may be|topic|organism|in a work of fiction|characters")


def characters(case: LadderCase) -> list[Proposal]:
    """ "a character in the Hebrew Bible", then "a biblical figure"."""
    graph = case.graph
    lattice = Lattice()
    kind = _stated_kind(case)
    if kind is not None:
        add_phrase(lattice, kind.text, (kind,), order=11)
    if text := graph.description(case.answer):
        _add_kind_and_work(case, lattice, text)
        add_kin(case, lattice, parse_person(text, case.vocabulary).kin)
    works = [s for s in graph.current(case.answer, "P1441") if s.target and s.target != case.subject]
    for home in named_values(graph, works[:WORKS]):
        if not names_subject(case, home.label):
            features = frozenset({f"w:{normalise(home.label)}"}) | (kind.features if kind is not None else frozenset())
            text = f"character in {definite(home.label, of='work')}"
            wording = Wording(text=text, features=features, evidence=(home.evidence,), conditions=home.conditions)
            add_phrase(lattice, text, (wording,), order=2)
    return lattice.proposals()


def _stated_kind(case: LadderCase) -> Wording | None:
    """The most specific class, by the rank of its medium: a figure of literature has been filmed and drawn as well,
    and its first medium counts.
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
    return Wording(
        text=label, features=_features_of_kind(label), evidence=(value.evidence,), conditions=value.conditions
    )


def _add_kind_and_work(case: LadderCase, lattice: Lattice, text: str) -> None:
    """Add the kind and the work that the description names."""
    match = _DESCRIBED.match(text)
    if match is None:
        return
    kind = match["kind"][:1].lower() + match["kind"][1:]
    if _SUPPORTED.search(kind) and normalise(kind) not in {"character", "fictional human"}:
        evidence = (from_span(case.graph, case.answer, match.span("kind")),)
        conditions = states("text", f"kind:{normalise(kind)}")
        wording = Wording(text=kind, features=_features_of_kind(kind), evidence=evidence, conditions=conditions)
        add_phrase(lattice, kind, (wording,), order=5)
    work, link = match["work"] or "", (match["link"] or "").lower()
    if not any(c.isupper() for c in work) or len(work.split()) > 6 or link == "on" or names_subject(case, work):
        return
    phrase = f"{kind} {link} {definite(work, of='work')}"
    if not repeats_answer(case, phrase):
        features = _features_of_kind(kind) | {f"w:{normalise(work)}"}
        evidence = (from_span(case.graph, case.answer, (match.start("kind"), match.end("work"))),)
        conditions = states("text", f"in:{normalise(work)}")
        wording = Wording(text=phrase, features=features, evidence=evidence, conditions=conditions)
        add_phrase(lattice, phrase, (wording,), order=1)


def _features_of_kind(kind: str) -> frozenset[str]:
    """The features of a kind of figure and of the kinds that it entails."""
    itself = frozenset({f"k:{kind}"})
    if "biblical" in kind:
        return itself | {"k:biblical figure"}
    is_fictional = any(word in kind for word in ("character", "superhero", "supervillain"))
    return itself | {"k:fictional character"} if is_fictional else itself


# Persons. Their description comes first: it lists what a person is known for, in order.


# Words for a nationality that are also what one of that nationality is called.
_IS_A_NOUN = re.compile(
    r"\A(?:(?:South|North|East|West|Saudi) )?(?:Greek|Czech|Argentine|\S+(?:(?<!Vatic)(?<!om)an|i))\Z"
)


def people(case: LadderCase) -> list[Proposal]:
    """Occupations, offices and nationality of a person, from "the 15th Prime Minister of Canada" to "a politician"."""
    if "fictional" in case.gazetteer.classes(case.answer):
        return characters(case)
    return _Person(case).proposals()


class _Person:
    def __init__(self, case: LadderCase) -> None:
        self.case = case
        self.portrait = Portrait.of(case)
        self.lattice = self.portrait.lattice

    def proposals(self) -> list[Proposal]:
        described = self.portrait.described
        national = described.nationality if described is not None else None
        nationalities = nations(self.case, national, ("P27",))
        offices = add_offices(self.case, self.portrait, nationalities)
        occupations: list[OccupationChain] = []
        if described is not None:
            add_kin(self.case, self.lattice, described.kin)
            occupations = described_occupations(self.case, described)
        if not occupations and not offices:
            occupations = stated_occupations(self.case)
        listed = {chain.text for chain in occupations}
        for chain in occupations:
            self.add_occupation(chain, nationalities, listed)
        for nation in nationalities:
            is_entailed = not self.lattice.nodes or any(nation.features <= features for features in self.lattice.nodes)
            if nation.person and is_entailed:
                self.add_nationality_alone(nation)
        return self.lattice.proposals()

    def add_occupation(self, chain: OccupationChain, nations: Sequence[Nation], listed: set[str]) -> None:
        """Every shortening of an occupation, with each nationality and without."""
        wordings = [wording for wording in chain.wordings if not (wording.lifted and wording.text in listed)]
        texts = [f"o:{wording.text}" for wording in wordings]
        for index, occupation in enumerate(wordings):
            self.portrait.order += 1
            wording = Wording(
                text=occupation.text,
                features=frozenset(texts[index:]),
                evidence=occupation.evidence,
                conditions=occupation.conditions,
            )
            for nation in nations if index >= chain.tied else ():
                self.portrait.order += 1
                is_name = wording.text[:1].isupper() and not chain.national
                is_compound = "-" in nation.text and len(nation.broader) > 0  # "German-South African"
                if not is_name and not (occupation.lifted and is_compound):
                    self.add_parts((nation, wording), occupation.other)
                for broader in nation.broader:
                    self.add_parts((broader, wording), occupation.other)
            if index == 0 and chain.lead:
                self.add_with_lead(chain, wording, nations)
            self.add_parts((wording,), occupation.other)

    def add_parts(self, parts: tuple[Wording, ...], other: str | None = None) -> None:
        """The parts as one phrase; `other` is another word for the last."""
        *before, _ = words = [part.text for part in parts]
        aliases = (indefinite(" ".join([*before, other])),) if other else ()
        add_phrase(self.lattice, " ".join(words), parts, order=self.portrait.order, aliases=aliases)

    def add_with_lead(self, chain: OccupationChain, wording: Wording, nations: Sequence[Nation]) -> None:
        """The whole phrase with the era or birthplace before it."""
        nation = nations[:1] if not chain.tied else ()
        if any(n.stated for n in nation):
            return  # "German-born" would follow a nationality that is not from the description
        text = " ".join(w.text for w in chain.lead)
        text = text if chain.lead[0].text[:1].isdigit() or "born" in text else text.lower()
        lead = Wording(
            text=text,
            features=frozenset({f"lead:{text}"}),
            evidence=word_evidence(self.case, chain.lead),
            conditions=states("text", f"mod:{text}"),
        )
        self.add_parts((lead, *nation, wording))

    def add_nationality_alone(self, nation: Nation) -> None:
        """Add "an American", "a French person", on the level of the broadest occupations."""
        phrases = [nation.text] if _IS_A_NOUN.search(nation.text) else []
        phrase, *others = [*phrases, f"{nation.text} person"]
        add_phrase(self.lattice, phrase, (nation,), order=900, aliases=[indefinite(other) for other in others])
        for broader in nation.broader:
            self.add_nationality_alone(broader)
