"""Tiers, levels and ladders with their evidence: definition, invariants and JSON form.

A ladder is an ordered list of levels, finest first; `levels[0]` is the answer with its aliases. A level is a set of
equally fine tiers. A tier is one acceptable answer with the evidence that entails it: steps of reasoning, with readable
names for the ids in them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from json import loads
from typing import TYPE_CHECKING, Any, Literal

from kg.base.model import QuantityValue, Statement, TextValue, TimeValue, normalise

if TYPE_CHECKING:
    from kg.graph.graph import Graph

MAX_LEVELS = 5  # most levels beyond the answer
MAX_TIERS = 6  # most tiers of one level
MOST_BITS = 1_000_000  # of a tier in a file; far above any real value, and sums of them stay exact in floats

# Fields with a meaning here; all others are kept in `extra`.
_EVIDENCE_FIELDS = frozenset(
    {"kind", "subject", "property", "value", "statement", "language", "text", "span", "labels", "call", "check"}
)
_TIER_FIELDS = frozenset({"text", "qid", "aliases", "bits", "bits_asked", "evidence", "of", "language"})


def _unknown_fields(data: Mapping[str, Any], known: frozenset[str]) -> dict[str, Any]:
    if data.keys() <= known:
        return {}
    return {key: value for key, value in data.items() if key not in known}


class Abstention(StrEnum):
    """The reasons for which a row has no tier beyond its answer."""

    NO_LINK = "no-link"
    AMBIGUOUS_LINK = "ambiguous-link"
    TYPE_CONFLICT = "type-conflict"
    NOTHING_KNOWN = "no-description-and-no-statements"
    ONLY_TRIVIAL = "only-trivial-left"
    TOLD = "told-by-question"
    UNSUPPORTED = "unsupported-answer-class"
    YES_NO = "yes-no"
    BARE_NUMBER = "bare-number"
    CODE = "code"
    KIND_CONFLICT = "kind-conflict"
    UNCERTAIN_LINK = "uncertain-link"


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """One step of the reasoning that makes a tier true.

    kind "statement": `subject` `property` `value` (a QID or a literal_text in plain text), `statement` its id.

    kind "description": the description of `subject` in `language`, `text` the whole, `span` the [start, end) used.

    kind "rule": a fact of the calendar, of arithmetic or of grammar, named in `text`.

    kind "model": a language model wrote the tier; `call` is the key of the call, `check` the finding of its check.

    `labels` gives readable names for the ids. `extra` contains the fields of a file that are not read.
    """

    kind: Literal["statement", "description", "rule", "model"]
    subject: str | None = None
    property: str | None = None
    value: str | None = None
    statement: str | None = None
    language: str | None = None
    text: str | None = None
    span: tuple[int, int] | None = None
    call: str | None = None
    check: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """A JSON object without the fields that are not set."""
        out: dict[str, Any] = {"kind": self.kind}
        for name in ("subject", "property", "value", "statement", "language", "text", "call", "check"):
            if (value := getattr(self, name)) is not None:
                out[name] = value
        if self.span is not None:
            out["span"] = list(self.span)
        if self.labels:
            out["labels"] = dict(self.labels)
        return out | {key: value for key, value in self.extra.items() if key not in _EVIDENCE_FIELDS}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Evidence:
        """The inverse of `to_json`."""
        fields: dict[str, Any] = {name: data[name] for name in _EVIDENCE_FIELDS if data.get(name) is not None}
        if span := fields.pop("span", None):
            fields["span"] = (span[0], span[1])
        return cls(**fields, extra=_unknown_fields(data, _EVIDENCE_FIELDS))


@dataclass(frozen=True, kw_only=True, slots=True)
class Condition:
    """One conjunct of the query that a tier states: (P27, Q30), or ("text", "ordinal:15th") for wording.

    `property` is "self" where the tier *is* the entity `value` that contains the answer.
    """

    property: str
    value: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Tier:
    """One acceptable answer.

    `conditions` is the conjunctive query that the tier states (empty for the answer itself), used for counts,
    entailment and duplicates, and not written to rows. `bits` is the information content log2(N / n), None where
    unknown; `bits_asked` is the same among the answers that the relation has in the source. `of` lists the gold
    answers that entail the tier where a question has several and not all do; () where all do. `language` is set where
    the text is in another language than the row, for want of a label. `extra` contains the fields of a file that are
    not read.
    """

    text: str
    qid: str | None = None
    aliases: tuple[str, ...] = ()
    bits: float | None = None
    bits_asked: float | None = None
    evidence: tuple[Evidence, ...] = ()
    conditions: frozenset[Condition] = frozenset()
    of: tuple[str, ...] = ()
    language: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The identity of the tier: its entity, else its normalised text."""
        return self.qid or normalise(self.text)

    def names(self) -> tuple[str, ...]:
        """The text and every alias: all forms that count as this tier."""
        return (self.text, *self.aliases)

    def to_json(self) -> dict[str, Any]:
        """The tier as a JSON object of a tiered row."""
        out: dict[str, Any] = {"text": self.text}
        if self.language is not None:
            out["language"] = self.language
        if self.qid is not None:
            out["qid"] = self.qid
        out["aliases"] = list(self.aliases)
        if self.bits is not None:
            out["bits"] = round(self.bits, 3)  # finer digits are below the precision of the counts
        if self.bits_asked is not None:
            out["bits_asked"] = round(self.bits_asked, 3)
        out["evidence"] = [evidence.to_json() for evidence in self.evidence]
        if self.of:
            out["of"] = list(self.of)
        return out | {key: value for key, value in self.extra.items() if key not in _TIER_FIELDS}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Tier:
        """The inverse of `to_json`, except for conditions.

        Raises TypeError where bits are not a number in [0, MOST_BITS], qid or language not a string, aliases not a
        list.
        """
        text, bits, asked = data["text"], data.get("bits"), data.get("bits_asked")
        qid, language = data.get("qid") or None, data.get("language") or None
        aliases, of, evidence = data.get("aliases", ()), data.get("of", ()), data.get("evidence", ())
        if isinstance(evidence, str):  # one JSON text in the files of datasets
            try:
                evidence = loads(evidence) if evidence else ()
            except (ValueError, RecursionError):
                raise TypeError(f"the evidence of tier {text!r} is not valid JSON") from None
        if not (isinstance(qid, str | None) and isinstance(language, str | None)):
            raise TypeError(f"the qid or the language of tier {text!r} is not a string")
        if not (isinstance(aliases, list | tuple) and isinstance(of, list | tuple)):
            raise TypeError(f"the aliases or the answers of tier {text!r} are not a list")
        for number in (bits, asked):  # bool is a subclass of int
            is_number = isinstance(number, int | float) and not isinstance(number, bool)
            if number is not None and not (is_number and 0 <= number <= MOST_BITS):
                raise TypeError(f"the bits of tier {text!r} are not a number from 0 to {MOST_BITS:,}")
        return cls(
            text=text,
            qid=qid,
            aliases=tuple(aliases),
            bits=bits,
            bits_asked=asked,
            evidence=tuple(map(Evidence.from_json, evidence)),
            of=tuple(map(str, of)),
            language=language,
            extra=_unknown_fields(data, _TIER_FIELDS),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Level:
    """A set of equally fine tiers, in display order. `extra` contains the fields of a file that are not read."""

    tiers: tuple[Tier, ...]
    extra: Mapping[str, Any] = field(default_factory=dict)

    def names(self) -> tuple[str, ...]:
        """Every text and alias of every tier."""
        return tuple(name for tier in self.tiers for name in tier.names())

    def to_json(self) -> dict[str, Any]:
        """The level as a JSON object of a tiered row."""
        out: dict[str, Any] = {"tiers": [tier.to_json() for tier in self.tiers]}
        return out | {key: value for key, value in self.extra.items() if key != "tiers"}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Level:
        """The inverse of `to_json`."""
        return cls(
            tiers=tuple(Tier.from_json(item) for item in data["tiers"]),
            extra=_unknown_fields(data, frozenset({"tiers"})),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Ladder:
    """Levels from fine to coarse, `levels[0]` the answer; `abstained` where no coarser level can be justified."""

    levels: tuple[Level, ...]
    abstained: Abstention | None = None


REASONS: Mapping[str, str] = {
    Abstention.NO_LINK: "no entity of the snapshot carries the answer’s name, or has the id that is given; give the "
    "answer’s id, or a snapshot that has it.",
    Abstention.AMBIGUOUS_LINK: "the answer’s name may mean another entity, and nothing in the question tells which; "
    "give the answer’s id, or the entity that the question is about.",
    Abstention.TYPE_CONFLICT: "what carries the answer’s name is not what the question asks for; see whether the "
    "relation is right.",
    Abstention.NOTHING_KNOWN: "the snapshot says nothing of the answer that a coarser one would follow from.",
    Abstention.ONLY_TRIVIAL: "all that follows repeats what is asked for, or is true of most answers.",
    Abstention.TOLD: "the question itself tells all that follows.",
    Abstention.UNSUPPORTED: "answers of this sort have no ladders.",
    Abstention.YES_NO: "yes and no have no coarser answer.",
    Abstention.BARE_NUMBER: "the answer is a number, and the question does not ask how many, how old or which year.",
    Abstention.CODE: "codes, symbols and scores have no coarser answer.",
    Abstention.KIND_CONFLICT: "the answer is no such thing as the question asks for; give the relation, if the "
    "question was misread.",
    Abstention.UNCERTAIN_LINK: "which entity is meant is less certain than was demanded; give the answer’s id.",
}


def from_statement(graph: Graph, statement: Statement) -> Evidence:
    """The statement as evidence; its value as a QID, or as plain text where the value is no entity."""
    ids = [statement.subject, statement.property, *([statement.target] if statement.target else [])]
    labels = {i: shown[0] for i in ids if (shown := graph.shown_label(i))}
    return Evidence(
        kind="statement",
        subject=statement.subject,
        property=statement.property,
        value=evidence_value(statement),
        statement=statement.id,
        labels=labels,
    )


def from_description(graph: Graph, entity_id: str, words: str) -> Evidence:
    """The used words of an entity's description as evidence, with their span in the description.

    The span is None only where the words do not occur in the description, even before cleaning.
    """
    text = graph.description(entity_id) or ""
    start = text.find(words)
    if start < 0:
        start = text.casefold().find(words.casefold())
    return evidence_from_description_span(
        graph, entity_id, (start, start + len(words)) if start >= 0 else _find_cleaned_span(text, words)
    )


def evidence_from_description_span(graph: Graph, entity_id: str, span: tuple[int, int] | None) -> Evidence:
    """[start, end) of an entity's description as evidence."""
    label = graph.label(entity_id)
    return Evidence(
        kind="description",
        subject=entity_id,
        language=graph.language,
        text=graph.description(entity_id) or "",
        span=span,
        labels={entity_id: label} if label else {},
    )


# Names that cleaning writes out in full, with patterns of their abbreviations in descriptions.
_ABBREVIATIONS = {
    "united states of america": r"U\.? ?S\.?(?: ?A\b\.?)?",
    "united states": r"U\.? ?S\.?(?: ?A\b\.?)?",
    "united kingdom": r"U\.? ?K\b\.?",
    "united arab emirates": r"U\.? ?A\.? ?E\b\.?",
    "washington d.c": r"Washington,? ?D\.? ?C\b\.?",
}
_GAP = r"(?:\s|\([^()]*\)|\[[^\]]*\])+"  # cleaning removes brackets before any grammar reads the text
# Kinds of places whose plural closes a list: "Nash County" in "Edgecombe and Nash counties".
_PLURALS = {"county": "counties", "parish": "parishes", "city": "cities", "territory": "territories"}


def _find_cleaned_span(text: str, words: str) -> tuple[int, int] | None:
    """The [start, end) of words that cleaning changed: abbreviations written out, brackets removed, plurals split."""
    key = words.casefold().replace(",", "").rstrip(".")
    forms = [_ABBREVIATIONS[key]] if key in _ABBREVIATIONS else []
    parts = [re.escape(part) for part in words.split()]
    forms.append(_GAP.join(parts))
    head, _, kind = words.rpartition(" ")
    if head:
        plural = _PLURALS.get(kind.casefold(), f"{kind}s")
        forms.append(rf"{re.escape(head)}(?=[\w\s,]*\b{re.escape(plural)}\b)")
    for form in forms:
        if found := re.search(rf"(?<!\w)(?:{form})(?!\w)", text, re.I):
            return found.span()
    return None


def join_evidence(groups: Iterable[Sequence[Evidence]]) -> tuple[Evidence, ...]:
    """The evidence of several paths in order, each step once."""
    out: list[Evidence] = []
    for group in groups:
        out += [step for step in group if step not in out]
    return tuple(out)


def complete_evidence(ladder: Ladder, *, further_steps: Sequence[Evidence] = ()) -> Ladder:
    """The ladder with each tier's evidence extended to start from the answer or from the entity of a finer tier.

    A step from an entity that is no finer tier ("Manitoba is a province of Canada" for "a city in Canada") gets its
    preceding steps from the evidence of finer tiers, or from `further_steps`: steps of tiers that were removed.
    """
    known = {tier.qid for tier in ladder.levels[0].tiers if tier.qid}
    linked = bool(known)  # an ambiguous answer needs the paths of all candidates
    earlier = list(further_steps)
    levels = [ladder.levels[0]]
    for level in ladder.levels[1:]:
        earlier += [step for tier in level.tiers for step in tier.evidence if step not in earlier]
        tiers = (
            tuple(_with_completed_evidence(tier, known, earlier, linked=linked) for tier in level.tiers)
            if known
            else level.tiers
        )
        levels.append(Level(tiers=tiers))
        known |= {tier.qid for tier in tiers if tier.qid}
    return Ladder(levels=tuple(levels), abstained=ladder.abstained)


def _with_completed_evidence(tier: Tier, known: Collection[str], earlier: Sequence[Evidence], *, linked: bool) -> Tier:
    evidence = tier.evidence
    for _ in range(len(earlier)):  # each step is added at most once, so cycles end
        led = {step.value for step in evidence if step.kind == "statement"}
        opening = next((s for s in evidence if s.subject and s.subject not in known and s.subject not in led), None)
        if opening is None:
            break
        leading = next((s for s in earlier if s not in evidence and leads_to(s, opening)), None)
        rest = tuple(s for s in evidence if s is not opening)
        if leading is not None:
            evidence = (leading, *evidence)
        elif linked and tier.qid and any(s.value == tier.qid for s in rest):
            evidence = rest  # one of several paths, through a tier that was removed
        else:
            break
    return tier if evidence is tier.evidence else replace(tier, evidence=evidence)


def leads_to(step: Evidence, following: Evidence) -> bool:
    """Whether a step ends at the entity that another starts from: by its value, or by the name in its words."""
    if step.kind == "statement":
        return step.value == following.subject
    name = following.labels.get(following.subject or "")
    if step.kind != "description" or not name or not step.span or not step.text:
        return False
    said = normalise(step.text[step.span[0] : step.span[1]])
    return normalise(name) in said or said in normalise(name)


def evidence_value(statement: Statement) -> str | None:
    """The value of a statement in the form that evidence has."""
    return statement.target or literal_text(statement)


def literal_text(statement: Statement) -> str | None:
    """A value other than an entity as plain text: dates ISO-like at their precision, amounts with their unit."""
    value = statement.value
    if isinstance(value, TextValue):
        return value.text
    if isinstance(value, TimeValue):
        sign = "-" if value.year < 0 else ""
        parts = [f"{sign}{abs(value.year):04d}"]
        if value.month is not None:
            parts.append(f"{value.month:02d}")
            if value.day is not None:
                parts.append(f"{value.day:02d}")
        return "-".join(parts)
    if isinstance(value, QuantityValue):
        return f"{value.amount}" + (f" {value.unit}" if value.unit else "")
    return None
