r"""The verdict in a judge's reply, one of those it was offered: `1.`, `**Level 1**`, `Verdict: \boxed{wrong}`.

A reply is read sentence by sentence. A sentence states a verdict where only words without effect precede its wording
("I would say that the evidence is ..."), and only an explanation that takes nothing back follows. An ambiguous reply
gives no verdict: a judge can be asked again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Generic, TypeVar

from granola.replies.reply import text_without_wrapping

Label = TypeVar("Label")
LONGEST = 50_000  # characters of a reply that are read
LONGEST_SENTENCE = 2_000  # characters of a sentence that are read, since patterns run on each
MOST_CLAUSES = 10  # clauses of a sentence that are read

# Words that may precede a verdict, in any number and order, without changing it.
_THINGS = (
    "the|this|these|those|that|my|your|its|our|a|an|both|all|it|final|correct|appropriate|most|right|resulting|given|cited"
    "|provided|and|level|verdict|category|class|label|answer|judge?ment|rating|score|option|response|result|conclusion"
    "|assessment|classification|decision|relation(?:ship)?|reference|evidence|citations?|claim|statement|fact|passages?"
    "|sentence|sources?|documents?|text|prediction|context|attribution|grade|grading|question"
)
_PLAIN_WORDS = (
    f"{_THINGS}|so|thus|therefore|hence|overall|finally|consequently|accordingly|summary|short|ok|okay|well|sure|here|there"
    "|then|as|to|be|with|they|i|we|would|will|can|must|is|are|was|were|am|has|have|it's|that's|i'd|i'll|we'd|say|conclude"
    "|judge|rate|classify|choose|select|pick|categori[sz]e|consider|mark|assign|give|go|think|believe|find|rated|classified"
    "|label?led|chosen|chose|selected|judged|considered|categori[sz]ed|marked|assigned|described|best|belongs?|falls?"
    "|under|into|in|on|reflection|states?|matches|clearly|definitely|simply|also"
)
_EXPLICIT = re.compile(  # words for a verdict
    r"\b(?:level|verdict|category|label|class|judge?ment|rating|score|grade|option|response|answer|conclusion|assessment"
    r"|classification|decision)\b",
    re.IGNORECASE,
)
_FINAL = re.compile(
    r"\b(?:final|overall|therefore|thus|hence|consequently|in conclusion|in summary|all in all)\b", re.IGNORECASE
)
_SIGNS = " \t\r\n*_`'\"“”‘’.,;:!()[]{}#<>$|~"
_MARKS = r"[\s*_`'\"“”‘’«»„()\[\]{}<>$#|\\:=→.,–—-]"
_EXPLAINED = re.compile(
    r"(?:\s++(?:here|overall|as well|in this case))?\s*+[\"'”’»*_`\])}]*+"
    r"(?:[,;:(–—|*-]|because\b|since\b|as\b|for\b|due to\b|given that\b)",
    re.IGNORECASE,
)
_OBJECT = re.compile(  # "supported by passage 2", "supportive of the answer"
    rf"\s++(?:by|of|in|with|from|to|for)(?:[\s()\[\]]|,(?=\s*[\[(\d])|\d++|\b(?:{_THINGS})\b)++", re.IGNORECASE
)
_TAKEN_BACK = (
    r"part(?:ly|ial|ially)?|in (?:large |small |good |most )?part|mostly|mainly|largely|somewhat|almost|nearly"
    r"|hardly|barely|scarcely|half|but|however|although|though|yet|except|excepting|apart from|aside from|other than"
    r"|unless|otherwise|or|if|perhaps|maybe|possibly"
    r"|rather|only|while|whereas|to (?:some|an?|a certain) (?:extent|degree)"
)
_CORRECTED = r"(?:no,? )?wait|scratch that|correction|sorry|i mean(?:t)?|on (?:second thought|reflection)"
_DOUBT = re.compile(
    rf"\?|\A\W*(?:(?:{_TAKEN_BACK}|{_CORRECTED})\b|(?:not?|never|false|wrong|incorrect)\W*\Z)", re.IGNORECASE
)
_DENIED = re.compile(  # denials within the reasons of a verdict without reserve
    rf"\b(?:{_TAKEN_BACK}|not|no|none|nothing|nobody|never|neither|nor|without|cannot|lacks?|lacking|missing|wrong|incorrect"
    r"|false|absent|fails?|differs?|different|conflicts?)\b|n['’]t\b",
    re.IGNORECASE,
)
_SECOND_THOUGHT = re.compile(rf"\s*+(?:(?:oh|hm+)\W+)?(?:(?:{_CORRECTED}|actually|or)\b|no\b,)", re.IGNORECASE)
_LIMITED = re.compile(r"\s*+(?:but|however|although|though|except)\b", re.IGNORECASE)

_NUMBERED = re.compile(
    r"^[ \t]{0,20}(?:[-*|>][ \t]{0,3}){0,2}\*{0,3}(?:sentence|claim|fact|statement|item|no\.?|#)?[ \t]{0,2}"
    r"[(\[]?(?P<number>\d{1,4})[)\]]?\*{0,3}[ \t]{0,3}(?:[.:)|–—-]|is\b){0,3}\*{0,3}[ \t]{0,20}(?P<words>\S[^\n]*)$",
    re.IGNORECASE | re.MULTILINE,
)


def read_verdict(
    reply: str, labels: Mapping[Label, Iterable[str]], *, affirming: Collection[Label] = ()
) -> Label | None:
    """The verdict of a reply, one of the labels; None for none, several, or one that is taken back. Never raises.

    `labels` are the verdicts on offer, each with all its wordings ("partially supportive", "insufficient", "2"); case,
    marks, and `-` for a space do not matter. `affirming` are the verdicts without reserve, such as "supported" and
    "true": reasons that deny or limit anything ("supported: no passage says so") cast doubt on them. Where sentences
    differ, those that announce a final verdict count, else those with a word for a verdict, else those that state one,
    and all of these must agree.
    """
    wordings = _compile_wordings(labels, affirming)
    text = text_without_wrapping(reply)[:LONGEST]
    if (of_json := _json_verdict_texts(text)) is not None:
        found = {one for value in of_json if (one := _agreed_verdict(value, wordings)) is not None}
        return found.pop() if len(found) == 1 else None
    return _agreed_verdict(text, wordings)


def read_numbered_verdicts(
    reply: str, labels: Mapping[Label, Iterable[str]], count: int, *, affirming: Collection[Label] = ()
) -> tuple[Label | None, ...]:
    """A verdict for each of `count` items, from lines that begin with the number of an item, counted from 1.

    None where a line is missing or in doubt, or where another line contradicts it. Arguments as in `read_verdict`; no
    wording may be a number.
    """
    wordings = _compile_wordings(labels, affirming)
    text = text_without_wrapping(reply)[:LONGEST]
    found: dict[int, set[Label | None]] = {}
    for line in _NUMBERED.finditer(text):
        read = _agreed_verdict(line["words"], wordings)
        if read is not None or wordings.any_wording.search(line["words"][:40]):  # others are no verdicts
            found.setdefault(int(line["number"]), set()).add(read)
    if count == 1 and not found:
        return (_agreed_verdict(text, wordings),)
    sets = (found.get(number, set()) for number in range(1, count + 1))
    return tuple(one.pop() if len(one) == 1 else None for one in sets)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Wordings(Generic[Label]):
    """The verdicts by the keys of their wordings, and patterns made of these."""

    verdicts: Mapping[str, Label]
    any_wording: re.Pattern[str]
    statement: re.Pattern[str]
    affirming: Collection[Label]


def _compile_wordings(labels: Mapping[Label, Iterable[str]], affirming: Collection[Label]) -> _Wordings[Label]:
    verdicts = {_wording_key(wording): label for label, of_label in labels.items() for wording in of_label}
    any_wording, statement = _verdict_patterns(tuple(verdicts))
    return _Wordings(verdicts=verdicts, any_wording=any_wording, statement=statement, affirming=affirming)


@lru_cache(maxsize=256)
def _verdict_patterns(keys: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The pattern of any wording, and that of one or more wordings at the beginning of a sentence after plain words."""
    longest_first = sorted(keys, key=len, reverse=True)
    each = "|".join(re.escape(key).replace(r"\ ", r"[\s_-]+") for key in longest_first)
    # Not as part of a longer word or number, of "1/2", "-1" or "non-supportive".
    wording = (
        rf"(?<!\w)(?<!\w[-.,/])(?<!\s[-−])(?<!^[-−])(?:{each})(?!\w|[-.,/:]\w|\s*/|\s+(?:or|and|to \d|of \d|out of)\b)"
    )
    plain = rf"(?:{_PLAIN_WORDS})(?![\w'’-])"
    statement = rf"{_MARKS}*+(?:{plain}{_MARKS}*+)*?(?P<stated>{wording}(?:{_MARKS}*+{wording})*+)"
    return re.compile(wording, re.IGNORECASE), re.compile(statement, re.IGNORECASE)


def _wording_key(wording: str) -> str:
    return " ".join(re.split(r"[\s_-]+", wording.strip().casefold()))


def _agreed_verdict(text: str, wordings: _Wordings[Label]) -> Label | None:
    """The verdict on which the sentences of a text agree, by the first of the rules final, labelled and stated that
    any sentence meets; else None.
    """
    bare = _wording_key(text.strip(_SIGNS))
    if bare in wordings.verdicts:
        return wordings.verdicts[bare]
    by_rule: dict[str, set[Label | None]] = {}
    for sentence, following in _sentences_and_clauses_with_following(re.sub(r"~~[^~\n]*+~~", " ", text)):
        stated = _stated_verdict(sentence, following, wordings)
        if stated is not None:
            by_rule.setdefault(stated[0], set()).add(stated[1])
    for rule in ("final", "labelled", "stated"):
        if found := by_rule.get(rule):
            verdict = found.pop()
            return None if found else verdict
    return None


_SENTENCE_END = re.compile(r"\n+|(?<![\s(\[]\d)(?<!^\d)(?<!\n\d)[.!。]['\"”’*_)\]]*+\s+|\?['\"”’*_)\]]*+\s+")
_CLAUSE = re.compile(
    r"(?:[,;]\s*|\s+)(?=(?:so|thus|therefore|hence)\b)|[,;]\s*(?=(?:it is|it's|this is)\b)", re.IGNORECASE
)

_CONDITION = re.compile(r"\b(?:if|unless|whether|had|were|when)\b", re.IGNORECASE)


def _sentences_and_clauses_with_following(text: str) -> Iterator[tuple[str, str]]:
    """Each sentence or line of a text, and each final clause of it that begins with "so" or "it is", with the
    beginning of the text that follows.
    """
    start = 0
    ends = [*((end.start(), end.end()) for end in _SENTENCE_END.finditer(text)), (len(text), len(text))]
    for end, next_start in ends:
        sentence = text[start : min(end, start + LONGEST_SENTENCE)] + ("?" if text[end : end + 1] == "?" else "")
        following = text[next_start : next_start + 80]  # characters in which a second thought would begin
        yield sentence, following
        for clause in islice(_CLAUSE.finditer(sentence), MOST_CLAUSES):
            if not _CONDITION.search(sentence, 0, clause.start()):
                yield sentence[clause.end() :], following
        start = next_start


def _stated_verdict(sentence: str, following: str, wordings: _Wordings[Label]) -> tuple[str, Label | None] | None:
    """The rule and the verdict of a sentence that states one; the verdict is None where it is in doubt."""
    match = wordings.statement.match(sentence)
    if match is None:
        return None
    found = {wordings.verdicts[_wording_key(one[0])] for one in wordings.any_wording.finditer(match["stated"])}
    reasons = sentence[match.end() :]
    if (about := _OBJECT.match(reasons)) is not None:
        reasons = reasons[about.end() :]
    rest = reasons.strip(" \t*_`'\"“”‘’.!)]}>$|")
    if rest and not rest.startswith("?") and _EXPLAINED.match(reasons) is None:
        return None
    before = sentence[: match.start("stated")]
    alone = not rest and not before.strip(_SIGNS)
    rule = "final" if _FINAL.search(before) else "labelled" if alone or _EXPLICIT.search(before) else "stated"
    verdict = found.pop()
    others = {
        wordings.verdicts[_wording_key(one[0])] for one in wordings.any_wording.finditer(rest) if not one[0].isdigit()
    }
    if rest.strip(" ,;:(–—-").isdigit():  # "insufficient (2)"
        others |= {wordings.verdicts.get(rest.strip(" ,;:(–—-"), verdict)}
    doubt, doubt_follows = _DOUBT.search(rest), _SECOND_THOUGHT.match(following)
    if verdict in wordings.affirming:
        doubt, doubt_follows = doubt or _DENIED.search(rest), doubt_follows or _LIMITED.match(following)
    return rule, None if found or others - {verdict} or doubt or doubt_follows else verdict


_FIELD = re.compile(
    r"(?:final_|overall_)?(?:level|verdict|category|label|class|judge?ment|rating|score|grade|option|response|answer"
    r"|conclusion|assessment|classification|decision|result)",
    re.IGNORECASE,
)


def _json_verdict_texts(text: str) -> list[str] | None:
    """The texts under keys for a verdict in a JSON object; None where the text is no JSON object."""
    bare = text.strip()
    if bare[:1] != "{":
        return None
    try:
        value = json.loads(bare, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    return [item for key, item in value.items() if _FIELD.fullmatch(key.strip()) and isinstance(item, str)]
