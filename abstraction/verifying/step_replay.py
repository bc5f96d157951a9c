"""Replays evidence: does the snapshot contain the statement or description of a step, and does a rule (the calendar,
arithmetic, "a king is a monarch") give its conclusion?

For the calendar and arithmetic, wordings of dates and amounts are read as ranges, and one must contain the other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from abstraction.base.evidence import value_of
from abstraction.base.properties import package_data
from abstraction.base.tiers import Evidence, Level, Tier
from abstraction.text.language.amount_reader import ParsedQuantity, parse_quantity
from abstraction.text.language.calendar_units import CalendarUnit, unit_of
from abstraction.text.language.comparable_words import bare
from abstraction.text.language.date_reader import parse_date
from abstraction.text.language.language_data import any_of
from abstraction.text.language.languages import folded, language
from abstraction.text.language.units import MeasureUnit
from abstraction.verifying.verdicts import Finding, Flaw
from kg.base.model import Entity, Rank, SnakKind, Statement, TimeValue
from kg.base.terms import normalise
from kg.graph.graph import Graph
from kg.graph.ranks import has_ended, valid_at

YEAR = 12 * 31  # days of a year in `calendar_units.day_number`, which counts 31 days per month


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """A span of days from `first` to `last`, inclusive, as numbers of `calendar_units.day_number`."""

    first: int
    last: int
    loose: bool = False  # "circa", "late", "early"

    def contains(self, other: Span) -> bool:
        """Whether the other span lies inside; where either is an estimate, whether they overlap."""
        if self.loose or other.loose:
            return self.first <= other.last and other.first <= self.last
        return self.first <= other.first and other.last <= self.last


_SHORT = re.compile(r"(?:the )?(?P<year>\d{1,2})(?P<decade>'?s)?")  # an age is no date, but 41 lies in the 40s


def span_of_words(text: str, code: str = "en") -> Span | None:
    """The span of days of a wording in a language; None where it is not read as a date."""
    if short := _SHORT.fullmatch(text.strip()):
        # Two digits are read as years of the first century, which orders ages like dates.
        year = int(short["year"])
        decade = unit_of(TimeValue(year=year, precision=8)) if short["decade"] else None
        days = (decade or CalendarUnit("year", year)).days() if year else None
        return Span(first=days[0], last=days[1]) if days else None
    parsed = parse_date(text, code=code)
    if parsed is None:
        return None
    first, last = _first_and_last_day(parsed.first), _first_and_last_day(parsed.last or parsed.first)
    if first is None or last is None:
        return None
    return Span(first=first[0], last=last[1], loose=parsed.circa or bool(parsed.part))


def _first_and_last_day(value: TimeValue) -> tuple[int, int] | None:
    """The first and the last day of a value. Centuries begin a year early: most people count 2000 to the 21st century,
    the calendar to the 20th.
    """
    unit = unit_of(value)
    if unit is None:
        return None
    first, last = unit.days()
    return (first - YEAR if unit.kind in ("century", "millennium") and unit.number > 1 else first), last


@dataclass(frozen=True, kw_only=True, slots=True)
class Range:
    """A range from `low` to `high`, inclusive. `unit` is None for counts and for units that no table contains."""

    low: Decimal
    high: Decimal
    unit: MeasureUnit | None = None


@lru_cache(maxsize=256)  # bounded, as language codes may come from users
def _bounds(code: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The patterns of "fewer than X" and "between X and Y" in a language."""
    words = language(code)
    between = re.escape(words.between) if words.between else "(?!)"
    return (
        re.compile(rf"(?:{any_of(words.fewer)})\s+(?P<number>.+)", re.IGNORECASE),
        re.compile(
            rf"{between}\s++(?P<low>.+?)(?<!\s)\s++{re.escape(words.joint_and.strip())}\s++(?P<high>(?s:.+))\Z",
            re.IGNORECASE,
        ),
    )


_NUMBER = re.compile(r"-?\d[\d,.]*+\Z")


def range_of_words(text: str, code: str = "en") -> Range | None:
    """The range of a wording; None where it is no amount. A rounded number means one unit of its last digit on either
    side.

    "between 10 and 100 million" begins at ten million, unlike "between 100,000 and 1 million".
    """
    if not any(letter.isdigit() for letter in text):
        return None  # "Six Degrees of Separation" is no amount
    if any(language(code).patterns[key].fullmatch(folded(text)) for key in ("decade", "short_decade")):
        return None  # "70er Jahre" is a decade, not 70 years
    fewer, between = _bounds(code)
    if match := fewer.match(text):
        most = parse_quantity(match["number"], code=code)
        return Range(low=Decimal(0), high=most.amount - 1) if most else None
    if match := between.match(text):
        low, high = (parse_quantity(match[end], code=code) for end in ("low", "high"))
        if low is None or high is None:
            return None
        begin = low.amount
        if (
            _NUMBER.match(match["low"])
            and (shared := _with_magnitude_of(match["low"], match["high"], code)) is not None
        ):
            begin = shared if shared < high.amount else begin
        return Range(low=begin, high=high.amount, unit=high.unit)
    amount = parse_quantity(text, code=code)
    if amount is None:
        return None
    slack = _last_place(amount) if amount.approximate else Decimal(0)
    return Range(low=amount.amount - slack, high=amount.amount + slack, unit=amount.unit)


def is_value(text: str) -> bool:
    """Whether a text is a date, a span of time or an amount."""
    return span_of_words(text) is not None or range_of_words(text) is not None


def _with_magnitude_of(number: str, text: str, code: str) -> Decimal | None:
    """The number with the magnitude of `text`: 10 with "100 million" is ten million."""
    counted = parse_quantity(re.sub(r"-?\d[\d,.]*", number, text, count=1), code=code)
    return counted.amount if counted else None


def _last_place(amount: ParsedQuantity) -> Decimal:
    """One unit of the last digit that is not zero, such as 100 for 1,200."""
    return Decimal(1).scaleb(int(amount.amount.normalize().as_tuple().exponent)) if amount.amount else Decimal(1)


def range_contains(outer: Range, inner: Range) -> bool:
    """Whether the outer range contains the inner one, in its own unit; conversions may be off by a hundredth."""
    if outer.unit is not None and inner.unit is not None and outer.unit.qid != inner.unit.qid:
        if outer.unit.dimension != inner.unit.dimension:
            return False
        low, high = (inner.unit.convert(end, outer.unit) for end in (inner.low, inner.high))
        tolerance = abs(outer.low) / 100
        return outer.low - tolerance <= low and high <= outer.high + tolerance
    return outer.low <= inner.low and inner.high <= outer.high


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
    statement = _find_statement(entity, evidence) if entity is not None else None
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


def _find_statement(entity: Entity, evidence: Evidence) -> Statement | None:
    """The statement that the evidence names; for evidence without a statement id, the one with its value."""
    held = [s for s in entity.statements if s.property == evidence.property]
    by_id = next((s for s in held if s.id == evidence.statement), None)
    if by_id is not None or evidence.statement is not None:
        return by_id
    return next((s for s in held if value_of(s) == evidence.value), None)


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


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleOutcome:
    """The outcome of a rule: `holds` is False where undecided too; `wrong` is the contradiction in words, else ""."""

    holds: bool
    wrong: str = ""


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
        self._spans = tuple(dict.fromkeys(span for name in names if (span := span_of_words(name, code))))
        self._ranges = tuple(dict.fromkeys(found for name in names if (found := range_of_words(name, code))))

    def check_tier(self, tier: Tier) -> RuleOutcome:
        """Whether a date or an amount contains the answer: each name of the tier must contain one of the answer's
        names.

        A coarser tier may contain the answer in one calendar or unit only, so one name of the answer is enough. A bare
        number may be a year or a count: one reading of a name is enough.
        """
        amount = range_of_words(tier.text, self._code)
        rounded = amount is not None and amount.low < amount.high
        read = False
        for name in tier.names():
            if rounded and name != tier.text and _NUMBER_FIRST.match(bare(name)):
                continue  # the rounded number itself, without "about", contains only itself
            readings = []
            outer, about = span_of_words(name, self._code), range_of_words(name, self._code)
            if outer is not None and self._spans:
                readings.append(any(outer.contains(inner) for inner in self._spans))
            if about is not None and self._ranges:
                readings.append(any(range_contains(about, inner) for inner in self._ranges))
            if readings and not any(readings):
                return RuleOutcome(holds=False, wrong=f"{name!r} does not contain {self._first!r}")
            read |= bool(readings)
        return RuleOutcome(holds=read)


_NAMES = 64  # most names of an answer that are read; no day or amount has as many
_NUMBER_FIRST = re.compile(r"(?:[a-z]{1,3}\$|[a-z]{3}\s|[^\w\s])*\s*\d")
