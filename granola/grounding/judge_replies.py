"""What judges of long answers reply: grades, deflections and a verdict a sentence, by the reader of all judges."""

from __future__ import annotations

from abstraction.errors import ReplyError
from granola.grounding.grounding_items import AnswerVerdict, SentenceVerdict
from granola.replies import read_numbered_verdicts, read_verdict

GRADES = {
    AnswerVerdict.NO_ISSUES: ("no issues", "no issue", "no issue(s)"),
    AnswerVerdict.MINOR: ("minor issues", "minor issue", "minor issue(s)"),
    AnswerVerdict.MAJOR: ("major issues", "major issue", "major issue(s)"),
}
SENTENCES = {
    SentenceVerdict.SUPPORTED: ("supported",),
    SentenceVerdict.UNSUPPORTED: ("unsupported", "not supported"),
    SentenceVerdict.CONTRADICTORY: ("contradictory", "contradicted"),
    SentenceVerdict.NO_NEED: (
        "none", "none needed", "none is needed", "no need", "no attribution", "no attribution needed",
        "no attribution is needed", "no attribution required", "no source needed", "no citation needed",
        "no need of attribution", "no need for attribution", "no need for a source", "no need for a citation",
    ),
}  # fmt: skip
DEFLECTION = {"answers": ("answers", "answer"), "deflects": ("deflects", "deflect")}


def read_grade(reply: str) -> AnswerVerdict:
    """The grade that a reply gives. Raises ReplyError for none, or one in doubt."""
    verdict = read_verdict(reply, GRADES, affirming=(AnswerVerdict.NO_ISSUES,))
    if verdict is None:
        raise ReplyError(f"expected one of {', '.join(map(str, AnswerVerdict))}")
    return verdict.verdict


def read_deflection(reply: str) -> str:
    """`answers` or `deflects`. Raises ReplyError for neither."""
    verdict = read_verdict(reply, DEFLECTION)
    if verdict is None:
        raise ReplyError("expected one of answers, deflects")
    return verdict.verdict


def read_verdicts(reply: str, n: int) -> tuple[SentenceVerdict, ...]:
    """A verdict for each of n sentences, from lines with their numbers. Raises ReplyError where one is lacking."""
    verdicts = read_numbered_verdicts(reply, SENTENCES, n, affirming=(SentenceVerdict.SUPPORTED,))
    read = [verdict for verdict in verdicts if verdict is not None]
    if len(read) < n:
        lacking = verdicts.index(None) + 1
        raise ReplyError(f"sentence {lacking} has none of supported, unsupported, contradictory, none, or one in doubt")
    return tuple(read)
