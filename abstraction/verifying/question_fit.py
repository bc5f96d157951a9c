"""Does a tier answer what an open question asks? A number is no year where a count is asked for, a film is no song.

Only questions without a relation are looked at: a relation says what kind of answer it has.
"""

from __future__ import annotations

import re

from abstraction.language.phrases import indefinite
from abstraction.linking.gazetteer import PLACES
from abstraction.questions.asked_nouns import AskedNouns
from abstraction.questions.golds import FIRST_YEAR, LAST_YEAR, class_conflict, is_bare_number, text_conflict
from abstraction.questions.question_kinds import AskedKind, QuestionKind, asked_kind, yes_no_words
from abstraction.relations import ANY
from abstraction.tiers import Abstention, Tier
from abstraction.verifying.answer_facts import AnswerFacts, CaseReader
from abstraction.verifying.value_ranges import range_of_words, span_of_words
from abstraction.verifying.verdicts import VerdictKind
from kg.terms import normalise

AMOUNTS = frozenset({QuestionKind.COUNT, QuestionKind.MEASURE, QuestionKind.AGE})
PLACES_IN_ORDER = frozenset({QuestionKind.RANK, QuestionKind.SEASON, QuestionKind.EPISODE})
WORKS = frozenset({QuestionKind.SONG, QuestionKind.FILM, QuestionKind.BOOK, QuestionKind.WORK})
_LETTERS = re.compile(r"[^\W\d_]{4}")
_YEAR = re.compile(r"\d{4}\Z")
_PHRASE = re.compile(r"an? (?P<head>.+?)(?:\s(?:by|of|in|on|at|from|for|with|who|that|which|about|set)\b|[,(]|\Z)")
_ORIGIN = re.compile(r"\b(?:come|came|comes|originated?|originates|derived?|derives)(?: from)?\W*\Z", re.I)
_AWARD = re.compile(r"\b(?:awards?|oscars?|grammys?|emmys?|globes?|prizes?|medals?)\b", re.I)


def is_value(text: str) -> bool:
    """Whether a text is a date, a span of time or an amount."""
    return span_of_words(text) is not None or range_of_words(text) is not None


class QuestionFit:
    """Holds tiers against the kind of answer that the question asks for, in one graph."""

    def __init__(self, cases: CaseReader) -> None:
        self.maker = cases.maker
        self._nouns = AskedNouns(cases.graph, cases.maker.classes)

    def conflict(self, case: AnswerFacts, tier: Tier, verdict: VerdictKind) -> str | None:
        """Why the tier is no answer to the question; None where it may be one. `verdict` is what its words gave."""
        if case.row.relation:
            return None
        asked = asked_kind(case.row.question, self.maker.graph.shown_in)
        reasons = [self._text_conflict(asked, text, tier) for text in case.row.answers]
        if all(reasons):
            return reasons[0]
        if is_value(tier.text) or not _is_about(case, tier, verdict):
            return None
        return self._entity_conflict(asked, case) or self._head_conflict(case, tier)

    def _text_conflict(self, asked: AskedKind, text: str, tier: Tier) -> str | None:
        code = self.maker.graph.shown_in
        conflict = text_conflict(asked, text, code=code)
        if conflict is Abstention.YES_NO and normalise(text) in yes_no_words(code):
            return "the answer is yes or no"
        if conflict is Abstention.CODE and not _LETTERS.search(text):
            return f"the question asks for {indefinite(asked.detail or 'code')}, and the answer is a code"
        if is_bare_number(text, code=code):
            return _number_conflict(asked, text, tier)
        if asked.kind in AMOUNTS and not is_value(tier.text) and _names_entity(tier):
            return "the question asks for an amount, and the tier is none"
        return None

    def _entity_conflict(self, asked: AskedKind, case: AnswerFacts) -> str | None:
        """Why what the answer was taken for is no answer of the kind asked for."""
        label = self.maker.graph.label
        if asked.kind is QuestionKind.PLACE and not asked.detail and _ORIGIN.search(case.row.question):
            return None  # a word comes from a language, a story from its author
        if asked.kind is QuestionKind.GROUP_OR_PERSON and _AWARD.search(case.row.question) and "work" in case.kinds:
            return None  # films win awards as well
        reasons = []
        for qid in case.answers:
            kinds = self.maker.classes(qid)
            noun = asked.detail or str(asked.kind).replace("-", " ")
            astray = asked.kind in (QuestionKind.RANK, QuestionKind.SEASON) and bool(
                kinds & (PLACES | {"person", "club"})
            )
            signs = self._nouns.signs([qid], case.row.question, ANY).get(qid, {})
            if astray or class_conflict(asked, kinds) or signs.get("otherwise"):
                reasons.append(f"the question asks for {indefinite(noun)}, and {label(qid)} ({qid}) is of another kind")
        return reasons[0] if reasons and len(reasons) == len(case.answers) else None

    def _head_conflict(self, case: AnswerFacts, tier: Tier) -> str | None:
        """Why the noun of a phrase cannot be said of the answer: "an American film" of an actor."""
        match = _PHRASE.match(tier.text)
        if match is None or not case.certain:
            return None
        head = asked_kind(f"what {match['head']}")
        of_person = case.kinds == {"person"} and head.kind in WORKS
        of_work = case.kinds == {"work"} and head.kind is QuestionKind.PERSON
        return f"{indefinite(head.detail)} is no {next(iter(case.kinds))}" if of_person or of_work else None


def _number_conflict(asked: AskedKind, text: str, tier: Tier) -> str | None:
    """Why a tier of a bare number is no answer, by what it was read as."""
    bare = normalise(text)
    year = bool(_YEAR.match(bare)) and FIRST_YEAR <= int(bare) <= LAST_YEAR
    as_date, as_amount = span_of_words(tier.text) is not None, range_of_words(tier.text) is not None
    if asked.kind in PLACES_IN_ORDER or asked.kind is QuestionKind.CODE:
        return f"the question asks for the number of {indefinite(asked.detail or asked.kind)}"
    if asked.kind in AMOUNTS:
        if not as_date and not as_amount:
            return "the answer is an amount, and the tier is none" if _names_entity(tier) else None
        if not as_amount:
            return "an amount is read as a date"
        lasting = asked.kind is QuestionKind.MEASURE and asked.detail.startswith("duration")
        return "the question asks how long, and the answer is a year" if lasting and year else None
    if asked.kind is QuestionKind.DATE:
        return None if as_date or as_amount or not _names_entity(tier) else "the answer is a date, and the tier is none"
    return "a number is read as a date" if as_date and not as_amount and not year else None


def _names_entity(tier: Tier) -> bool:
    """Whether the tier tells of an entity, not of a number in words ("in his thirties")."""
    has_facts = any(e.kind in ("statement", "description") for e in tier.evidence)
    return tier.qid is not None or has_facts


def _is_about(case: AnswerFacts, tier: Tier, verdict: VerdictKind) -> bool:
    """Whether the tier tells of the entity that the answer is taken for, by the file or by what the graph says."""
    is_linked = any(answer.qid in case.answers for answer in case.row.levels[0].tiers if answer.qid)
    return (
        is_linked
        or verdict is VerdictKind.ENTAILED
        or any(e.subject in case.answers for e in tier.evidence if e.subject)
    )
