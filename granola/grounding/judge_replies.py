"""What judges reply, read: grades, deflections and a verdict a sentence. What can be taken in two ways is refused."""

from __future__ import annotations

import re

from abstraction.errors import ReplyError
from granola.grounding.grounding_items import AnswerVerdict, SentenceVerdict

LONGEST = 50_000  # characters of a reply
_GRADE = re.compile(r"(?P<before>[\w\'’]{0,20} {0,2})\b(?P<grade>no|minor|major) issues?(?:\(s\))?", re.IGNORECASE)
_GRADES = {"no": AnswerVerdict.NO_ISSUES, "minor": AnswerVerdict.MINOR, "major": AnswerVerdict.MAJOR}
_NEGATED = frozenset({"no", "not", "any", "without", "nor", "neither", "never", "isn't", "aren't"})
_WORD = re.compile(r"\w+")
_LINE = re.compile(
    r"^[ \t]{0,20}(?:[-*|>][ \t]{0,3}){0,2}\*{0,3}(?:sentence|no\.?|#)?[ \t]{0,2}[(\[]?(?P<number>\d{1,4})[)\]]?\*{0,3}"
    r"[ \t]{0,3}(?:[.):|–—-]|is\b){0,3}\*{0,3}[ \t]{0,20}[\[(\"'*`]{0,4}(?P<verdict>[a-z][a-z ]{2,40})"
    r"(?P<rest>[^\n]{0,300})$",
    re.IGNORECASE | re.MULTILINE,
)
_VERDICTS = {
    "supported": SentenceVerdict.SUPPORTED, "unsupported": SentenceVerdict.UNSUPPORTED,
    "not supported": SentenceVerdict.UNSUPPORTED, "contradictory": SentenceVerdict.CONTRADICTORY,
    "contradicted": SentenceVerdict.CONTRADICTORY, "none": SentenceVerdict.NO_NEED,
    "no need": SentenceVerdict.NO_NEED, "no attribution": SentenceVerdict.NO_NEED,
    "no attribution needed": SentenceVerdict.NO_NEED, "no attribution required": SentenceVerdict.NO_NEED,
}  # fmt: skip
_OTHER = re.compile(r"\b(?:or|and|/)\W{0,3}(?:un|not )?(?:supported|contradict)|\bnot\b", re.IGNORECASE)


def read_grade(reply: str) -> AnswerVerdict:
    """The one grade that a reply gives. Raises ReplyError for none, several, or one that is denied."""
    grades = set()
    for match in _GRADE.finditer(" ".join(reply[:LONGEST].split())):
        if match["before"].strip().casefold() in _NEGATED:
            raise ReplyError(f"{match[0].strip()!r} can be read in two ways")
        grades.add(_GRADES[match["grade"].casefold()])
    if len(grades) != 1:
        raise ReplyError(f"expected one of {', '.join(map(str, AnswerVerdict))}")
    return grades.pop()


def read_deflection(reply: str) -> str:
    """`answers` or `deflects`. Raises ReplyError for anything but one of the words, with little around it."""
    words = [word.casefold() for word in _WORD.findall(reply[:LONGEST])]
    kinds = {word for word in words if word in ("answers", "deflects")}
    if len(kinds) != 1 or len(words) > 12 or any(word in ("not", "nothing", "neither", "no", "nor") for word in words):
        raise ReplyError("expected one of answers, deflects")
    return "answers" if "answers" in kinds else "deflects"


def read_verdicts(reply: str, n: int) -> tuple[SentenceVerdict, ...]:
    """A verdict for each of n sentences, from lines with their numbers. Raises ReplyError where one is lacking."""
    by_number: dict[int, SentenceVerdict] = {}
    for match in _LINE.finditer(reply[:LONGEST]):
        word = " ".join(match["verdict"].casefold().split())
        known = next((one for one in sorted(_VERDICTS, key=len, reverse=True) if re.match(rf"{one}\b", word)), None)
        number = int(match["number"])
        if known is None or not 1 <= number <= n:
            continue
        rest = word[len(known) :] + match["rest"]
        if _OTHER.match(rest.strip()) or by_number.get(number, _VERDICTS[known]) is not _VERDICTS[known]:
            raise ReplyError(f"sentence {number} has two verdicts")
        by_number[number] = _VERDICTS[known]
    lacking = [number for number in range(1, n + 1) if number not in by_number]
    if lacking:
        raise ReplyError(f"sentence {lacking[0]} has none of supported, unsupported, contradictory, none")
    return tuple(by_number[number] for number in range(1, n + 1))
