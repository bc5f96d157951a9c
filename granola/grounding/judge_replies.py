"""What judges reply, read: grades, deflections and a verdict a sentence. What can be taken in two ways is refused."""

from __future__ import annotations

import re

from abstraction.errors import ReplyError
from granola.grounding.grounding_items import AnswerVerdict, SentenceVerdict

LONGEST = 50_000  # characters of a reply
_GRADE = re.compile(r"(?P<before>[\w\'’]{0,20} {0,2})\b(?P<grade>no|minor|major) issues?(?:\(s\))?", re.IGNORECASE)
_ANY_GRADE = re.compile(r"\b(?:no|minor|major)(?= issues?\b)|\b(?:minor|major)\b", re.IGNORECASE)
_GRADES = {"no": AnswerVerdict.NO_ISSUES, "minor": AnswerVerdict.MINOR, "major": AnswerVerdict.MAJOR}
_NEGATED = frozenset({"no", "not", "any", "without", "nor", "neither", "never", "isn't", "aren't"})
_WORD = re.compile(r"\w+")
_LINE = re.compile(
    r"^[ \t]{0,20}(?:[-*|>][ \t]{0,3}){0,2}\*{0,3}(?:sentence|no\.?|#)?[ \t]{0,2}[(\[]?(?P<number>\d{1,4})[)\]]?\*{0,3}"
    r"[ \t]{0,3}(?:[.:)|–—-]|is\b){0,3}\*{0,3}[ \t]{0,20}[\[(\"'*`]{0,4}(?P<words>[a-z][^\n]{2,340})$",
    re.IGNORECASE | re.MULTILINE,
)
_NEEDED = r"(?:needed|required|necessary)"
_SOURCE = r"(?:attributions?|sources?|citations?)"
# How a verdict is written, at the beginning of a line's words. What needs no source ends there: "none of the passages".
_VERDICTS = (
    (SentenceVerdict.SUPPORTED, re.compile(r"supported\b", re.IGNORECASE)),
    (SentenceVerdict.UNSUPPORTED, re.compile(r"(?:un|not[ -])supported\b", re.IGNORECASE)),
    (SentenceVerdict.CONTRADICTORY, re.compile(r"contradict(?:ory|ed)\b", re.IGNORECASE)),
    (
        SentenceVerdict.NO_NEED,
        re.compile(
            rf"(?:no need(?: (?:of|for) (?:an? |any )?{_SOURCE})?|no {_SOURCE}(?: (?:is )?{_NEEDED})?"
            rf"|none(?: (?:is )?{_NEEDED})?)(?=[ \t]{{0,3}}(?:[^\w\s]|$))",
            re.IGNORECASE,
        ),
    ),
)
# What takes a verdict or a grade back, or a part of it.
_TAKEN_BACK = re.compile(
    r"\?|\b(?:part(?:ly|ial|ially)?|in (?:large |small |good |most )?part|mostly|mainly|largely|somewhat|almost|nearly"
    r"|hardly|barely|scarcely|half|but|however|although|though|yet|except|excepting|apart from"
    r"|aside from|other than|unless|otherwise|to (?:some|an?|a certain) (?:extent|degree))\b"
    r"|\A\W*(?:not?|never|false|wrong|incorrect)\W*\Z",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:not|no|none|nothing|never|neither|nor|without|cannot|lacks?|lacking|missing|wrong|incorrect|false|absent|fails?"
    r"|differs?|different|conflicts?|only|while|whereas)\b|n['’]t\b",
    re.IGNORECASE,
)
# What else is said of support and contradiction behind each verdict.
_UNSUPPORTED_WORD = re.compile(r"\bun-?supported\b|\bcontradict|\brefut", re.IGNORECASE)
_SUPPORTED_WORD = re.compile(
    r"(?<!not )(?<!n't )(?<!n’t )(?<!not fully )\bsupported\b|\bcontradict|\brefut", re.IGNORECASE
)
_OTHER_THAN_CONTRADICTED = re.compile(r"\b(?:un-?)?supported\b|\bnot contradict", re.IGNORECASE)
_OF_PASSAGES = re.compile(
    r"\b(?:un-?)?support|\bcontradict|\brefut|\bpassages?\b|\bevidence\b|\bfound\b|\bverif", re.IGNORECASE
)
_ELSE = {
    SentenceVerdict.SUPPORTED: (_UNSUPPORTED_WORD, _DENIED),
    SentenceVerdict.UNSUPPORTED: (_SUPPORTED_WORD,),
    SentenceVerdict.CONTRADICTORY: (_OTHER_THAN_CONTRADICTED,),
    SentenceVerdict.NO_NEED: (_OF_PASSAGES,),
}


def read_grade(reply: str) -> AnswerVerdict:
    """The one grade that a reply gives. Raises ReplyError for none, several, or one that is denied or taken back."""
    text = " ".join(reply[:LONGEST].split())
    grades = set()
    for match in _GRADE.finditer(text):
        if match["before"].strip().casefold() in _NEGATED:
            raise ReplyError(f"{match[0].strip()!r} can be read in two ways")
        grades.add(_GRADES[match["grade"].casefold()])
    if len(grades) != 1:
        raise ReplyError(f"expected one of {', '.join(map(str, AnswerVerdict))}")
    grade = grades.pop()
    around = _GRADE.sub(lambda match: match["before"], text)
    if _ANY_GRADE.search(around) or _TAKEN_BACK.search(around):
        raise ReplyError(f"{str(grade)!r} is not all that the reply says")
    if grade is AnswerVerdict.NO_ISSUES and _DENIED.search(around):
        raise ReplyError(f"{str(grade)!r} is denied")
    return grade


def read_deflection(reply: str) -> str:
    """`answers` or `deflects`. Raises ReplyError for anything but one of the words, with little around it."""
    words = [word.casefold() for word in _WORD.findall(reply[:LONGEST])]
    kinds = {word for word in words if word in ("answers", "deflects")}
    if len(kinds) != 1 or len(words) > 12 or any(word in ("not", "nothing", "neither", "no", "nor") for word in words):
        raise ReplyError("expected one of answers, deflects")
    return "answers" if "answers" in kinds else "deflects"


def read_verdicts(reply: str, n: int) -> tuple[SentenceVerdict, ...]:
    """A verdict for each of n sentences, from lines with their numbers.

    A line counts where its words begin with a verdict, and the rest names no other and takes nothing back. Raises
    ReplyError where one is lacking or in doubt.
    """
    by_number: dict[int, SentenceVerdict] = {}
    for match in _LINE.finditer(reply[:LONGEST]):
        number = int(match["number"])
        if not 1 <= number <= n or (verdict := _verdict(" ".join(match["words"].split()), number)) is None:
            continue
        if by_number.setdefault(number, verdict) is not verdict:
            raise ReplyError(f"sentence {number} has two verdicts")
    lacking = [number for number in range(1, n + 1) if number not in by_number]
    if lacking:
        raise ReplyError(f"sentence {lacking[0]} has none of supported, unsupported, contradictory, none")
    return tuple(by_number[number] for number in range(1, n + 1))


def _verdict(words: str, number: int) -> SentenceVerdict | None:
    """The verdict that words begin with, None where there is none. Raises ReplyError for one that is in doubt."""
    for verdict, written in _VERDICTS:
        if (leading := written.match(words)) is None:
            continue
        rest = words[leading.end() :]
        if _TAKEN_BACK.search(rest) or any(pattern.search(rest) for pattern in _ELSE[verdict]):
            raise ReplyError(f"sentence {number}: {str(verdict)!r} is not all that the line says")
        return verdict
    return None
