"""Checks that each tier follows from its own evidence: replays steps, follows the chain from the answer, checks words.

Nothing here is shared with the code that chooses the steps of ladders, so that an error there cannot hide itself. Only
the readers of dates and amounts are the same. A step is replayed: does the snapshot contain its statement or
description, and does a rule (the calendar, arithmetic, "a king is a monarch") give its conclusion? For the calendar and
arithmetic, wordings of dates and amounts are read as intervals, and one must contain the other.

A tier that is an entity follows where containment or class statements, or words of descriptions, lead from the answer
(or a finer tier) to it; a phrase follows where a source supports each of its words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache

from abstraction.base.properties import package_data, with_role
from abstraction.base.relations import ANY, Classifier, relation
from abstraction.base.tiers import Evidence, Level, Tier, evidence_value
from abstraction.files.rows import TieredRow, candidate_ids_of_link
from abstraction.ladders.containers import is_outer_no_larger
from abstraction.ladders.weighing import positions_of_tiers_with_rising_bits
from abstraction.linking.gazetteer import Gazetteer
from abstraction.text.language.amounts import amount_of_whole_text, convert_if_same_dimension
from abstraction.text.language.calendar_dates import calendar_unit_of
from abstraction.text.language.date_finder import IntervalClaim, date_of_whole_text
from abstraction.text.language.languages import (
    bundled_demonyms,
    description_language,
    folded,
    language,
    territory_labels,
)
from abstraction.text.language.languages import language as language_of
from abstraction.text.language.phrases import (
    PAST,
    content_words,
    denies_location_before,
    negating_word_before,
    occurs_in,
    proper_names_and_their_parts,
    singular_lower_case_words,
    singular_words,
    without_article,
)
from abstraction.text.questions.question_wording import read_relation_wording
from abstraction.verifying.verdicts import Finding, Flaw, Status, TierCheck
from kg.base.model import Entity, Rank, SnakKind, Statement, TextValue, TimeValue, normalise
from kg.graph.graph import Graph, has_ended, valid_at
from kg.store.protocol import Store

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


def replay_evidence(
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
        statement = next((s for s in held if evidence_value(s) == evidence.value), None)
    if statement is None:
        return None, [Finding(flaw=Flaw.STATEMENT_GONE, detail=f"{in_words} ({evidence.statement})")]
    if evidence_value(statement) != evidence.value:
        detail = f"{in_words}: the snapshot says {evidence_value(statement)}"
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

YEAR = 12 * 31  # days of a year in `calendar_dates.day_number`, which counts 31 days per month
_CENTURY = 99 * YEAR  # least width of a century
_SHORT = re.compile(r"(?:the )?(?P<year>\d{1,2})(?P<decade>'?s)?")  # an age is no date, but 41 lies in the 40s


def days_of(text: str, code: str = "en") -> tuple[float, float] | None:
    """The first and last `day_number` of a wording in a language; None where it is not read as a date.

    A number of two digits is read as a year of the first century, so that ages are ordered like dates. Centuries begin
    a year early: most people count 2000 to the 21st century, the calendar to the 20th.
    """
    if short := _SHORT.fullmatch(text.strip()):
        year = int(short["year"])
        unit = calendar_unit_of(TimeValue(year=year, precision=8 if short["decade"] else 9)) if year else None
        return unit.days() if unit else None
    claim = date_of_whole_text(text, code, "ranges")
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
    claim = amount_of_whole_text(text, code)
    if claim is None or claim.exact is None or about:
        return claim
    return replace(claim, low=claim.exact, high=claim.exact)


def contains_amount(outer: IntervalClaim, inner: IntervalClaim) -> bool:
    """Whether the outer amount contains the inner one, in its own unit; conversions may be off by a hundredth."""
    slack = 0.0
    if outer.label and inner.label and outer.label != inner.label:
        inner, slack = convert_if_same_dimension(inner, outer.label), abs(outer.low) / 100
        if inner.label != outer.label:
            return False
    return outer.low - slack <= inner.low and inner.high <= outer.high + slack


def is_value(text: str) -> bool:
    """Whether a text is a date, a span of time or an amount."""
    return days_of(text) is not None or amount_of(text) is not None


@lru_cache(maxsize=1)
def broader_offices_by_title() -> Mapping[str, str]:
    """By normalised title, the broader office of every holder ("king" -> "monarch"), from the table of offices."""
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

    def check_containment(self, tier: Tier) -> tuple[bool, str]:
        """Two results: whether the tier, a date or an amount, contains the answer (False also where undecided); and
        the contradiction in words, or "". Each name of the tier must contain one of the answer's names.

        A coarser tier may contain the answer in one calendar or unit only, so one name of the answer is enough. A bare
        number may be a year or a count: one reading of a name is enough.
        """
        amount = amount_of(tier.text, self._code)
        rounded = amount is not None and amount.low < amount.high
        read = False
        for name in tier.names():
            if rounded and name != tier.text and _NUMBER_FIRST.match(without_article(name)):
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

# Properties by role, see `abstraction.base.properties`.
CONTAINING = with_role("containing")
BELONGING = with_role("belonging")
CLASSING = with_role("classing")
NATIONAL = with_role("national")
DATING = with_role("dating")
STATES = frozenset({"Q3624078", "Q6256", "Q15634554"})  # sovereign state, country, state with limited recognition
# By answer class, words that a tier may contain without evidence.
WORDS_OF_KIND = {
    "position": {"position"}, "person": {"person"}, "performer": {"person", "performer"}, "agent": {"person"},
    "owner": {"person"}, "country": {"country"}, "school": {"school"}, "genre": {"genre"}, "language": {"language"},
    "award": {"award"}, "place": {"place"},
}  # fmt: skip
_UNIT = re.compile(
    r"\b(?:state|province|region|county|counties|district|city|town|department|canton|republic|kingdom|municipality|borough|"
    r"parish|prefecture|oblast|governorate|language|languages|family|genre)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class _RowFacts:
    """Facts for every tier of a row: entities of its answers, dates of the question, the answer class that it asks
    for.
    """

    row: TieredRow
    answers: tuple[str, ...]
    dates: tuple[TimeValue, ...]
    asked: str
    values: AnswerValues


@dataclass(slots=True)
class _FollowedSteps:
    """The entities that the steps of one tier reach beyond the answer and finer tiers, and the steps themselves."""

    ids: set[str]
    used: dict[ReplayedStep, None] = field(default_factory=dict)  # in the order in which they are followed


@dataclass(frozen=True, slots=True)
class _EntityNames:
    """The names of an entity, split once: `forms` for comparison, `words` of each form."""

    label: str
    forms: frozenset[str]
    words: tuple[tuple[str, ...], ...]
    cores: tuple[tuple[str, ...], ...]  # without the kind of place: "DeKalb" of "DeKalb County"
    demonyms: frozenset[str]


class EntailmentChecker:
    """Checks rows against one snapshot. Results depend on the row and the snapshot only."""

    def __init__(self, store: Store, *, language: str = "en") -> None:
        labels = territory_labels(language)
        self.graph = Graph(store, language=description_language(language), shown_in=language, further_labels=labels)
        self._gazetteer = Gazetteer(self.graph, Classifier(self.graph))
        self._names_of = cache(self._read_names)
        self._entity_words = cache(
            lambda qid: frozenset(w for name in self.graph.names(qid) for w in content_words(name))
        )

    def check(self, row: TieredRow) -> list[TierCheck]:
        """One outcome per tier beyond the answer, in the order of the row."""
        if row.relation:
            asked = relation(row.relation).asks
        else:
            asked = (read_relation_wording(row.question, self.graph.shown_in).kind or ANY).asks
            asked = "any" if asked in ("date", "quantity") else asked  # these are recognised by their evidence
        # The entities of level 1, and all candidates of an answer without one.
        first = row.levels[0].tiers
        answers = [tier.qid for tier in first if tier.qid]
        answers += [i for link in row.links for i in candidate_ids_of_link(link)] if len(answers) < len(first) else []
        subject = (row.question_entity or {}).get("qid")
        dated_by = relation(row.relation).dated_by if row.relation else ()
        values = (s.value for prop in dated_by if subject for s in self.graph.statements(subject, prop))
        facts = _RowFacts(
            row=row, answers=tuple(dict.fromkeys(answers)), asked=asked,
            dates=tuple(value for value in values if isinstance(value, TimeValue)),
            values=AnswerValues(row.levels[0], str(row.extra.get("language") or "en")),
        )  # fmt: skip
        rising = set(positions_of_tiers_with_rising_bits(row.levels))
        out: list[TierCheck] = []
        known_ids = set(facts.answers)  # and the entities of finer tiers
        for number, level in enumerate(row.levels[1:], 2):
            for position, tier in enumerate(level.tiers, 1):
                status, findings = self._check_tier(facts, tier, known_ids)
                if (number, position) in rising:
                    status = "flawed"
                    findings = [*findings, Finding(flaw=Flaw.BITS_RISE, detail=f"{tier.bits:.3f} bits")]
                check = TierCheck(
                    row=row.id, level=number, position=position, text=tier.text, status=status,
                    findings=tuple(dict.fromkeys(findings)),
                )  # fmt: skip
                out.append(check)
            known_ids |= {tier.qid for tier in level.tiers if tier.qid}
        return out

    def _check_tier(self, facts: _RowFacts, tier: Tier, known_ids: Set[str]) -> tuple[Status, list[Finding]]:
        if tier.evidence and all(e.kind == "model" for e in tier.evidence):
            return "unchecked", []  # nothing to replay: written by a model, or part of a dataset
        # A tier without an entity may follow from rules of the calendar or of arithmetic only.
        is_value = tier.qid is None and {e.kind for e in tier.evidence} == {"rule"}
        if facts.asked in ("date", "quantity") or is_value:
            return self._check_value(facts, tier)
        if not facts.answers:
            return "unchecked", []
        findings = self._tier_flaws(facts, tier, known_ids)
        return ("flawed" if findings else "entailed"), findings

    def _check_value(self, facts: _RowFacts, tier: Tier) -> tuple[Status, list[Finding]]:
        """Check a date or an amount: replay the statement, recompute the rules."""
        row = facts.row
        subject = (row.question_entity or {}).get("qid")
        findings: list[Finding] = []
        for evidence in tier.evidence:
            step, flaws = replay_evidence(self.graph, evidence, dates=facts.dates)
            findings += flaws
            if step is not None and subject and step.subject != subject:
                findings.append(Finding(flaw=Flaw.DISCONNECTED, detail=f"{step.subject} is not what is asked about"))
        if not tier.evidence:
            findings.append(Finding(flaw=Flaw.NO_EVIDENCE, detail=tier.text))
        contains, wrong = facts.values.check_containment(tier)
        if wrong:
            findings.append(Finding(flaw=Flaw.RULE_WRONG, detail=wrong))
        if findings:
            return "flawed", findings
        return ("entailed" if contains else "unchecked"), []

    def _tier_flaws(self, facts: _RowFacts, tier: Tier, known_ids: Set[str]) -> list[Finding]:
        if not tier.evidence:
            return [Finding(flaw=Flaw.NO_EVIDENCE, detail=tier.text)]
        findings: list[Finding] = []
        replayed: list[ReplayedStep] = []
        given_description = facts.row.extra.get("answer_entity_description")
        for evidence in tier.evidence:
            is_given = isinstance(given_description, str) and evidence.subject in facts.answers
            own_words = given_description if is_given else None
            step, flaws = replay_evidence(self.graph, evidence, dates=facts.dates, own_words=own_words)
            findings += flaws
            if step is not None:
                replayed.append(step)
        own_ids = {tier.qid} if tier.qid else set()
        if len(facts.answers) > 1 and not any(answer.qid for answer in facts.row.levels[0].tiers):
            # The answer has several candidates, and the tier has to follow from each by itself.
            for answer in facts.answers:
                reached = self._follow_steps_from_known_or_own(replayed, {answer}, own_ids)
                if reached.used:
                    findings += self._conclusion_flaws(tier, reached, facts.asked)
                else:
                    findings.append(Finding(flaw=Flaw.DISCONNECTED, detail=f"no step starts at {answer}"))
            return findings
        reached = self._follow_steps_from_known_or_own(replayed, known_ids, own_ids)
        lost = [step for step in dict.fromkeys(replayed) if step not in reached.used]
        details = [f"{s.subject} {s.property or 'description'} {s.target or s.words}" for s in lost]
        findings += [Finding(flaw=Flaw.DISCONNECTED, detail=detail) for detail in details]
        if not reached.used:
            return [*findings, Finding(flaw=Flaw.DISCONNECTED, detail="no step starts at the answer")]
        return [*findings, *self._conclusion_flaws(tier, reached, facts.asked)]

    def _follow_steps_from_known_or_own(
        self, steps: Sequence[ReplayedStep], known_ids: Set[str], own_ids: Set[str]
    ) -> _FollowedSteps:
        """The steps that can be followed one after the other, beginning at known entities or at the tier's own
        (`own_ids`).
        """
        reached = _FollowedSteps(ids=set(own_ids))
        fresh = [step for step in steps if step.subject in reached.ids or step.subject in known_ids]
        while fresh:
            for step in fresh:
                reached.used[step] = None
                reached.ids |= {step.subject, *([step.target] if step.target else [])}
            subjects = {step.subject for step in steps} - {step.subject for step in reached.used}
            led_to = {qid for qid in subjects if any(self._leads_to(step, qid) for step in fresh)}
            fresh = [step for step in steps if step.subject in led_to]
        return reached

    def _leads_to(self, step: ReplayedStep, qid: str) -> bool:
        """Whether a step leads to an entity or names it; "television actor" also leads to "actor", which ends its
        name.
        """
        if step.target is not None:
            label = self._names_of(qid).label
            names = (" ".join(singular_words(name)) for name in self.graph.names(step.target))
            return step.target == qid or (bool(label) and any(f" {name}".endswith(f" {label}") for name in names))
        # The words of the step, and the names around them: "county" of "county in Alabama, United States".
        texts = dict.fromkeys((step.words, *proper_names_and_their_parts(step.description))) if step.description else ()
        return any(self._refers_to_entity(text, qid) for text in texts)

    def _conclusion_flaws(self, tier: Tier, reached: _FollowedSteps, asked: str) -> Iterator[Finding]:
        """The flaws of the tier as the conclusion of its steps, at least one of which was followed."""
        if tier.qid is not None:
            yield from self._entity_flaws(tier, tier.qid, reached)
        else:
            rules = [e.text or "" for e in tier.evidence if e.kind == "rule"]
            yield from self._findings_of_unsupported_words(
                tier, reached, self._words_supported_by_steps_or_question(reached, rules, asked)
            )
            yield from self._findings_of_dropped_negating_words(tier, reached)

    def _entity_flaws(self, tier: Tier, qid: str, reached: _FollowedSteps) -> Iterator[Finding]:
        """The flaws of a tier that is an entity: the last step must lead to it, by containment, belonging or class."""
        last = [
            s
            for s in reached.used
            if s.target == qid or (s.description and s.subject != qid and self._refers_to_entity(s.words, qid))
        ]
        if not last:
            path = " › ".join(s.target or s.words for s in reached.used)
            yield Finding(flaw=Flaw.OTHER_CONCLUSION, detail=f"{path} is not {tier.text} ({qid})")
        classing = any(s.property in CLASSING for s in last)
        for step in reached.used:
            yield from _step_flaws(step, classing=classing, is_last=step in last)
        written = {without_article(s.words) for s in last if s.description}
        for name in tier.names():
            if self._is_name_of_entity(name, qid) or without_article(name) in written:
                continue
            # Or the name of a surrounding place of the same extent: Greater London for London.
            around = [m.id for m in self.graph.find(name) if m.id.startswith("Q")]
            self.graph.fetch(around)
            if not any(is_outer_no_larger(self.graph, qid, outer) for outer in around):
                yield Finding(flaw=Flaw.FOREIGN_NAME, detail=f"{name!r} for {qid} ({self.graph.label(qid)})")

    def _words_supported_by_steps_or_question(
        self, reached: _FollowedSteps, rules: Sequence[str], asked: str
    ) -> set[str]:
        """The words that steps, rules or the question support."""
        supported_words = set(WORDS_OF_KIND.get(asked, ())).union(*map(content_words, rules))
        for step in reached.used:
            supported_words |= content_words(step.words)
            if step.target is not None:
                supported_words |= self._entity_words(step.target)
                if step.property in NATIONAL or step.property in CONTAINING:
                    supported_words |= self._names_of(step.target).demonyms
        if any(s.target in STATES for s in reached.used):
            supported_words.add("country")
        years = [s.words.lstrip("+")[:4] for s in reached.used if s.property in DATING]
        if len({year[:3] for year in years}) == 1 and years[0].isdigit():
            supported_words.add(f"{years[0][:3]}0")  # the decade that contains all of them
        return supported_words

    def _findings_of_unsupported_words(
        self, tier: Tier, reached: _FollowedSteps, supported_words: set[str]
    ) -> Iterator[Finding]:
        """Flaws for words of a phrase or its aliases that neither steps nor entities named in descriptions support."""
        missing_of = {name: content_words(name) - supported_words for name in dict.fromkeys(tier.names())}
        if not any(missing_of.values()):
            return
        meant = self._words_of_entities_named_in_descriptions(reached.used)
        for name, missing in missing_of.items():
            if left := missing - meant:
                where = "" if name == tier.text else f" (alias of {tier.text!r})"
                detail = f"{', '.join(sorted(left))} of {name!r}{where}"
                yield Finding(flaw=Flaw.WORDS_UNSUPPORTED, detail=detail)

    def _findings_of_dropped_negating_words(self, tier: Tier, reached: _FollowedSteps) -> Iterator[Finding]:
        """Flaws for words before the span of a description that change its meaning and that the phrase leaves out."""
        words, written = content_words(tier.text), normalise(tier.text)
        says_in = re.search(r"\b(?:in|from)\b", tier.text) is not None
        stated = [self._entity_words(s.target) for s in reached.used if s.target]
        person: bool | None = None
        for step in reached.used:
            if not step.description:
                continue
            shared = words & content_words(step.words)
            taken_back = negating_word_before(step.description, step.start)
            if taken_back in PAST and shared:
                person = self._any_step_entity_is_person(reached) if person is None else person
            if taken_back in PAST and not (shared and person):
                taken_back = None
            is_stated = any(content_words(step.words) <= words_of_target for words_of_target in stated)
            if taken_back and taken_back not in written and not is_stated:
                yield Finding(flaw=Flaw.QUALIFIER_DROPPED, detail=f"{taken_back} before {step.words!r}")
            is_place_name = (shared and says_in) or tier.text[:1].isupper()
            if is_place_name and denies_location_before(step.description, step.start):
                yield Finding(flaw=Flaw.NOT_INSIDE, detail=f"{step.words!r} in {step.description!r}")

    def _words_of_entities_named_in_descriptions(self, steps: Iterable[ReplayedStep]) -> set[str]:
        """Words of the entities that descriptions name: "United States" for "U.S.", "actor" for "actress"."""
        out: set[str] = set()
        for step in steps:
            if not step.description:
                continue
            for words in {step.words, *re.split(r"[,;/]| and ", step.words), *proper_names_and_their_parts(step.words)}:
                for match in self.graph.find(without_article(words)):
                    out |= self._entity_words(match.id) | self._names_of(match.id).demonyms
                for country in bundled_demonyms().names.get(without_article(words), ()):  # by a former name
                    out |= self._names_of(country).demonyms
                for country in bundled_demonyms().countries.get(normalise(words.strip()), ()):
                    out |= self._entity_words(country) | self._names_of(country).demonyms
        return out

    def _any_step_entity_is_person(self, reached: _FollowedSteps) -> bool:
        """Whether an entity of the steps is a person; other entities of the row are not read: they may be very many."""
        ids = {qid for step in reached.used for qid in (step.subject, step.target) if qid}
        return any("Q5" in self.graph.classes(i) or self.graph.statements(i, "P27") for i in ids)

    def _is_name_of_entity(self, name: str, qid: str) -> bool:
        names = self._names_of(qid).forms
        if without_article(name) in names or " ".join(singular_words(without_article(name))) in names:
            return True
        label, comma, around = name.rpartition(", ")  # "Cambridge, Massachusetts"
        return (
            bool(comma)
            and without_article(label) in names
            and normalise(around) in self._gazetteer.container_names(qid)
        )

    def _refers_to_entity(self, words: str, qid: str) -> bool:
        """Whether words of a description name the entity: a name of it, with only common nouns around it."""
        if self._is_name_of_entity(words, qid):
            return True
        mine = singular_words(words)
        units_lowered = _UNIT.sub(lambda match: match.group().lower(), words)
        common = singular_lower_case_words(words) | singular_lower_case_words(units_lowered)
        common |= {w for w in mine if w in bundled_demonyms().countries}  # "German state of Hesse"
        names = self._names_of(qid)
        for theirs in names.words:
            if occurs_in(theirs, mine) and all(w in common or w in theirs for w in mine):
                return True
        if any(occurs_in(core, mine) for core in names.cores):  # "DeKalb and Fulton counties": one kind for two
            return True
        said = names.demonyms.intersection(mine)
        return without_article(words) in names.demonyms or (bool(said) and set(mine) <= said | common)

    def _read_names(self, qid: str) -> _EntityNames:
        """The names of an entity, as written and in the singular."""
        names = {*self.graph.names(qid), *self.graph.shown_names(qid)}
        names |= {language_of(self.graph.shown_in).to_singular(name) for name in names}
        forms = frozenset({without_article(n) for n in names} | {" ".join(singular_words(n)) for n in names})
        words = tuple(dict.fromkeys(singular_words(form) for form in sorted(forms)))
        cores = (tuple(w for w in each if not _UNIT.fullmatch(w) and w not in ("of", "the")) for each in words)
        table = bundled_demonyms()
        demonyms = [table.adjectives.get(qid, ""), *table.variants.get(qid, ())]
        demonyms += [s.value.text for s in self.graph.statements(qid, "P1549") if isinstance(s.value, TextValue)]
        return _EntityNames(
            label=" ".join(singular_words(self.graph.label(qid) or "")),
            forms=forms,
            words=words,
            cores=tuple(core for core, each in zip(cores, words, strict=True) if core and core != each),
            demonyms=frozenset({w for d in demonyms for w in content_words(d)} | {normalise(d) for d in demonyms if d}),
        )


def _step_flaws(step: ReplayedStep, *, classing: bool, is_last: bool) -> Iterator[Finding]:
    """The flaws of a step towards an entity: wrong property, containment beside class, "outside", negated words."""
    if step.property is not None and step.property not in CONTAINING | BELONGING | CLASSING:
        yield Finding(flaw=Flaw.WRONG_PROPERTY, detail=f"{step.subject} {step.property} {step.target}")
    elif step.property is not None and classing and step.property not in CLASSING:
        yield Finding(flaw=Flaw.WRONG_PROPERTY, detail=f"{step.property} beside a class")
    elif step.description and not classing and denies_location_before(step.description, step.start):
        yield Finding(flaw=Flaw.NOT_INSIDE, detail=f"{step.words!r} in {step.description!r}")
    taken_back = negating_word_before(step.description, step.start)
    if taken_back and taken_back not in PAST and is_last:
        yield Finding(flaw=Flaw.QUALIFIER_DROPPED, detail=f"{taken_back} before {step.words!r}")
