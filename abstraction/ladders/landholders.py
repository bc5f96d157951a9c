"""Places that act: a city that owns a stadium, a country that founded a company. "A city in Egypt", never "Egypt"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from abstraction.base.classes import head_of_description
from abstraction.base.evidence import from_description
from abstraction.base.tiers import Condition, Evidence
from abstraction.ladders.entity_values import current_values
from abstraction.ladders.place_ladders import Climb
from abstraction.ladders.proposals import ANSWER, LadderCase, Proposal
from abstraction.linking.gazetteer import STATE
from abstraction.text.language.phrases import definite, indefinite, short

STATE_NOUN = "country"
# Classes whose instances are called "a country" if they are sovereign states.
_COUNTRY_CLASSES = STATE | {"Q6256"}
# Words of letters only, joined by spaces, points, apostrophes or hyphens.
_PLAIN = re.compile(r"[^\W\d_]+(?:[ .'’-]+[^\W\d_]+)*")
# Relations to another place, and vague words: no nouns for the place itself.
_ROLES = frozenset(
    {"county seat", "seat", "capital", "place", "area", "metropolitan area", "urban area", "conurbation"}
)
_SPOKEN = {"federated state": "state", "federal state": "state"}  # nouns in everyday words, by class label


def landholders(case: LadderCase) -> list[Proposal]:
    """Phrases `a NOUN in CONTAINER` for every container, then `a NOUN` unless the place is a state; empty without a
    noun or container.
    """
    named = common_noun_of(case)
    containers = Climb(case).proposals()
    if named is None or not containers:
        return []
    noun, evidence = named
    condition = Condition(property="text", value=noun)
    keys = {p.key: indefinite(f"{noun} in {definite(short(p.text))}") for p in containers}
    phrased = [
        replace(
            p,
            key=keys[p.key],
            text=keys[p.key],
            qid=None,
            parents=tuple(keys.get(parent, parent) for parent in p.parents),
            aliases=tuple(
                indefinite(f"{noun} in {definite(name)}") for name in names_for_sentences((p.text, *p.aliases))
            ),
            evidence=(*evidence, *p.evidence),
            conditions=p.conditions | {condition},
        )
        for p in containers
    ]
    if noun == STATE_NOUN:
        return phrased  # "a country" adds nothing for a state
    inner = {parent for p in phrased for parent in p.parents}
    tops = tuple(sorted(p.key for p in phrased if p.key not in inner)) or (ANSWER,)
    alone = Proposal(
        key=noun, text=indefinite(noun), parents=tops, evidence=evidence, conditions=frozenset({condition})
    )
    return [*phrased, alone]


def names_for_sentences(names: Sequence[str]) -> list[str]:
    """The first name, and those others that can be used in a sentence: words, or initials of several words.

    Codes ("CAN", "jp"), flags and names with brackets are left out.
    """
    spelled = {"".join(w[0] for w in name.split() if w[0].isupper()) for name in names}
    out = list(names[:1])
    for name in names[1:]:
        letters = name.replace(".", "").replace(" ", "")
        in_words = len(name) > 3 and name[0].isupper() and any(c.islower() for c in name) and not name.endswith(".")
        of_words = len(letters) > 1 and letters in spelled
        if (in_words and _PLAIN.fullmatch(name)) or of_words or name.startswith("the "):
            out.append(name)
    return out


def common_noun_of(case: LadderCase) -> tuple[str, tuple[Evidence, ...]] | None:
    """The common noun for the place, with evidence: a class with a plain noun as label, else the description."""
    graph = case.graph
    for value in current_values(graph, case.answer, "P31"):
        if value.qid in _COUNTRY_CLASSES and case.gazetteer.is_state(case.answer):
            return STATE_NOUN, (value.evidence,)
        head = head_of_description(value.label)
        if head == (value.label, "place") and value.label not in _ROLES:
            return _SPOKEN.get(value.label, value.label), (value.evidence,)
    description = graph.description(case.answer)
    head = head_of_description(description) if description else None
    if head and head[1] in ("place", "country") and head[0] not in _ROLES:
        return head[0], (from_description(graph, case.answer, head[0]),)
    return None
