"""Replays evidence: does the snapshot contain the statement or description of a step, and does a rule (the calendar,
arithmetic, "a king is a monarch") give its conclusion?

For the calendar and arithmetic, wordings of dates and amounts are read as intervals, and one must contain the other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from abstraction.base.properties import package_data
from abstraction.base.tiers import Evidence, Level, Tier, value_of
from abstraction.text.language.amount_finder import convert_claim, whole_amount
from abstraction.text.language.calendar_units import unit_of
from abstraction.text.language.date_finder import IntervalClaim, whole_date
from abstraction.text.language.languages import folded, language
from abstraction.text.language.phrases import bare
from abstraction.verifying.verdicts import Finding, Flaw
from kg.base.model import Entity, Rank, SnakKind, Statement, TimeValue, normalise
from kg.graph.graph import Graph, has_ended, valid_at

# Statements and descriptions: does the snapshot contain them, and may the statement be used today?


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplayedStep:
    """A replayed step from `subject`: to the entity `target`, or to the `words` of a description or a literal.

    `words` begin at offset `start` of `description`.
    """

    subject: str
    property: str | None = None
    target: str | None = None
    words: str = ""
    description: str = ""
    start: int = 0


def replay(
    graph: Graph, evidence: Evidence, *, dates: Sequence[TimeValue] = (), own_words: str | None = None
) -> tuple[ReplayedStep | None, list[Finding]]:
    """The step of a piece of evidence, and its flaws; the step is None for a rule, a call of a model, or missing data.

    `dates` are the question's own dates: an ended statement may be used for one that it covers. `own_words` is the
    row's own description of an answer that the snapshot describes differently or not at all.
    """
    if evidence.kind in ("rule", "model"):
        return None, []
    subject = evidence.subject
    entity = graph.entity(subject) if subject else None
    if subject is None or (entity is None and own_words is None):
        return None, [Finding(flaw=Flaw.ENTITY_GONE, detail=str(subject))]
    if evidence.kind == "description":
        return _replay_description(graph, evidence, subject, own_words)
    return _replay_statement(graph, evidence, subject, entity, dates)


def _replay_statement(
    graph: Graph, evidence: Evidence, subject: str, entity: Entity | None, dates: Sequence[TimeValue]
) -> tuple[ReplayedStep | None, list[Finding]]:
    in_words = f"{subject} {evidence.property} {evidence.value}"
    # The statement that the evidence names; for evidence without a statement id, the one with its value.
    held = [s for s in entity.statements if s.property == evidence.property] if entity is not None else []
    statement = next((s for s in held if s.id == evidence.statement), None)
    if statement is None and evidence.statement is None:
        statement = next((s for s in held if value_of(s) == evidence.value), None)
    if statement is None:
        return None, [Finding(flaw=Flaw.STATEMENT_GONE, detail=f"{in_words} ({evidence.statement})")]
    if value_of(statement) != evidence.value:
        detail = f"{in_words}: the snapshot says {value_of(statement)}"
        return None, [Finding(flaw=Flaw.STATEMENT_CHANGED, detail=detail)]
    step = ReplayedStep(
        subject=subject,
        property=statement.property,
        target=statement.target,
        words="" if statement.target else evidence.value or "",
    )
    return step, [Finding(flaw=flaw, detail=in_words) for flaw in _statement_flaws(graph, statement, dates)]


def _statement_flaws(graph: Graph, statement: Statement, dates: Sequence[TimeValue]) -> list[Flaw]:
    if statement.rank is Rank.DEPRECATED:
        return [Flaw.STATEMENT_DEPRECATED]
    if any(valid_at(statement, at) for at in dates):
        return []  # it was true at the question's date, which is asked about
    if has_ended(statement):
        return [Flaw.STATEMENT_ENDED]
    if statement.rank is Rank.NORMAL and any(
        s.rank is Rank.PREFERRED and s.kind is SnakKind.VALUE
        for s in graph.statements(statement.subject, statement.property)
    ):
        return [Flaw.STATEMENT_OUTRANKED]
    return []


def _replay_description(
    graph: Graph, evidence: Evidence, subject: str, own_words: str | None
) -> tuple[ReplayedStep | None, list[Finding]]:
    text = evidence.text or ""
    if text not in (graph.description(subject), own_words) or not text:
        detail = f"{subject}: {evidence.text!r}; the snapshot says {graph.description(subject)!r}"
        return None, [Finding(flaw=Flaw.DESCRIPTION_CHANGED, detail=detail)]
    if evidence.span is None:
        return None, [Finding(flaw=Flaw.SPAN_MISSING, detail=f"{subject}: {text!r}")]
    start, end = evidence.span
    if not 0 <= start < end <= len(text) or not text[start:end].strip():
        return None, [Finding(flaw=Flaw.SPAN_OUTSIDE, detail=f"{subject}: [{start}, {end}) of {text!r}")]
    return ReplayedStep(subject=subject, words=text[start:end], description=text, start=start), []


# Values: dates and amounts are read as closed intervals, and a coarser one must contain the answer's.

YEAR = 12 * 31  # days of a year in `calendar_units.day_number`, which counts 31 days per month
_CENTURY = 99 * YEAR  # least width of a century
_SHORT = re.compile(r"(?:the )?(?P<year>\d{1,2})(?P<decade>'?s)?")  # an age is no date, but 41 lies in the 40s


def days_of(text: str, code: str = "en") -> tuple[float, float] | None:
    """The first and last `day_number` of a wording in a language; None where it is not read as a date.

    Two digits are years of the first century, which orders ages like dates. Centuries begin a year early: most people
    count 2000 to the 21st century, the calendar to the 20th.
    """
    if short := _SHORT.fullmatch(text.strip()):
        year = int(short["year"])
        unit = unit_of(TimeValue(year=year, precision=8 if short["decade"] else 9)) if year else None
        return unit.days() if unit else None
    claim = whole_date(text, code, "ranges")
    if claim is None:
        return None
    early = YEAR if claim.width >= _CENTURY and claim.low > YEAR else 0
    return claim.low - early, claim.high


def amount_of(text: str, code: str = "en") -> IntervalClaim | None:
    """The interval of a wording in a language; None where it is no amount. A plain number without "about" is exact."""
    if not any(map(str.isdigit, text)):
        return None  # "Six Degrees of Separation" is no amount
    lower = folded(text)
    about = language(code).patterns["about"].match(lower)
    bare_text = lower[about.end() :] if about else lower
    if days_of(text, code) is not None and any(map(str.isalpha, bare_text)):
        return None  # "the 20th century" is a date, but 1969 may be an amount
    claim = whole_amount(text, code)
    if claim is None or claim.exact is None or about:
        return claim
    return replace(claim, low=claim.exact, high=claim.exact)


def contains_amount(outer: IntervalClaim, inner: IntervalClaim) -> bool:
    """Whether the outer amount contains the inner one, in its own unit; conversions may be off by a hundredth."""
    slack = 0.0
    if outer.label and inner.label and outer.label != inner.label:
        inner, slack = convert_claim(inner, outer.label), abs(outer.low) / 100
        if inner.label != outer.label:
            return False
    return outer.low - slack <= inner.low and inner.high <= outer.high + slack


def is_value(text: str) -> bool:
    """Whether a text is a date, a span of time or an amount."""
    return days_of(text) is not None or amount_of(text) is not None


@lru_cache(maxsize=1)
def titles() -> Mapping[str, str]:
    """Title -> what every holder of it is ("king" -> "monarch"), from the table of offices."""
    data = package_data("offices.json")
    out: dict[str, str] = {}
    for family in data["families"].values():
        for title in (*family["unique"], *family["titles"]):
            if family["lift"]:
                out[normalise(title)] = family["lift"]
    return out


class AnswerValues:
    """The days and amounts of an answer, read once for all tiers of its row."""

    def __init__(self, answer: Level, code: str = "en") -> None:
        self._code = code
        names = [name for tier in answer.tiers for name in tier.names()][:_NAMES]
        self._first = names[0] if names else ""
        self._days = tuple(dict.fromkeys(days for name in names if (days := days_of(name, code))))
        self._amounts = tuple(dict.fromkeys(amount for name in names if (amount := amount_of(name, code))))

    def check_tier(self, tier: Tier) -> tuple[bool, str]:
        """Whether a date or an amount contains the answer, False where undecided too, and the contradiction in words,
        else "": each name of the tier must contain one of the answer's names.

        A coarser tier may contain the answer in one calendar or unit only, so one name of the answer is enough. A bare
        number may be a year or a count: one reading of a name is enough.
        """
        amount = amount_of(tier.text, self._code)
        rounded = amount is not None and amount.low < amount.high
        read = False
        for name in tier.names():
            if rounded and name != tier.text and _NUMBER_FIRST.match(bare(name)):
                continue  # the rounded number itself, without "about", contains only itself
            readings = []
            outer, about = days_of(name, self._code), amount_of(name, self._code)
            if outer is not None and self._days:
                readings.append(any(outer[0] <= first and last <= outer[1] for first, last in self._days))
            if about is not None and self._amounts:
                readings.append(any(contains_amount(about, inner) for inner in self._amounts))
            if readings and not any(readings):
                return False, f"{name!r} does not contain {self._first!r}"
            read |= bool(readings)
        return read, ""


_NAMES = 64  # most names of an answer that are read; no day or amount has as many
_NUMBER_FIRST = re.compile(r"(?:[a-z]{1,3}\$|[a-z]{3}\s|[^\w\s])*\s*\d")
