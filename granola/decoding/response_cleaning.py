"""Cleaning of responses: removes labels, courtesies, quotation marks and remarks around the answer.

Only the text is used. Where a remark may follow the answer ("Hamburg, where she grew up"), `answer_candidates` lists
shorter beginnings; `granola.decoding.responses`, which knows names, selects one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from granola.decoding.decision import IDK
from granola.replies import read_reply
from granola.replies.refusals import refusal_in_any_language
from granola.replies.reply import is_label
from kg.base.bounded_cache import TextCaches

EXAMINED = 2_000  # characters of a response that are read; answers come first
DECODING = TextCaches(characters=1 << 22)
"""The cache of results for responses and for names of tiers, which recur (see kg.base.bounded_cache)."""

_ANSWER_IS = re.compile(
    r"(?:the )?(?:final |correct |short |aggregated |most (?:\w+ ){1,4})?answer(?: is\b\s*:?|\s*[:：])\s*",
    re.IGNORECASE,
)
_AGAIN = re.compile(
    r"(?<=[^:：\s])\s++(?:(?:final|correct|short|incorrect|wrong) )?answer\s*+[:：].*\Z", re.IGNORECASE | re.DOTALL
)
_MARKUP = re.compile(r"```\w*\n|\*\*|__|`+")
_BULLET = re.compile(r"\A(?:[-*•>#]+|\(?(?:\d{1,2}|[A-Ea-e])\)|\d{1,2}\.)\s+")
_COURTESY = re.compile(
    r"\A(?:(?:sure(?: thing)?|of course|certainly|absolutely|okay|ok|yes|great question|good question|hello|hi"
    r"|well|hmm+|let(?: me|'s|’s) (?:think|see)(?: (?:about (?:this|that|it)|step by step))?)"
    r"\b\s*[,.!:-]+\s*)+(?=\S)",
    re.IGNORECASE,
)
_THOUGHT = (
    r"(?:i (?:(?:do |would |'d |strongly |really )?(?:think|believe|guess|say|suppose)|am (?:fairly |pretty |quite )?"
    r"(?:sure|certain|confident))(?: that)?|it (?:seems|appears)(?: that)?|to (?:the best of )?my knowledge"
    r"|as far as i know|if i (?:remember|recall) (?:correctly|right(?:ly)?)"
    r"|(?:according to|based on|after|considering|in my|from my) [^,]{1,60}(?=,)"
    r"|probably|perhaps|maybe|possibly|likely)"
)
_LEAD = re.compile(rf"\A{_THOUGHT}\s*,?\s+", re.IGNORECASE)
# Pronouns in any case, verbs in small letters: "The Man Who Was Thursday" is a title.
_STATES = re.compile(
    r"\A(?i:it|this|that|he|she|they|(?:the|his|her|its|their|my) [\w'\"“”?, -]{1,160}?)"
    r"(?:'s|\s+(?:is|was|are|were|would be|has been|must be|may be|might be|could be))"
    r"(?:\s+(?:a |an |the )?(?:originally |probably |most likely |likely |first )?(?:born|located|situated|based"
    r"|headquartered|buried|founded|established|formed|created|written|composed|directed|produced|performed|sung|made"
    r"|published|released|educated|died|set|held|named|called|spoken|owned|signed|played))?"
    r"(?:\s+(?:in|on|at|by|from|to|as|with))?\s+(?=\S)"
)
# A sentence about its first words; not "Hamburg, which is located in Germany", which begins with the answer.
_ABOUT = re.compile(
    r"\A(?:(?!\b(?:which|that|who|where|and|but|or)\b)[^.!?,;:]){1,120}?\s(?:is|was|were)\s(?:born|located|situated"
    r"|headquartered|buried|founded|established|written|composed|directed|produced|performed|sung|created|painted"
    r"|designed|invented|discovered|developed|published|released|recorded)\s(?:in|on|at|by)\s+(?=\S)"
)
_DEEDS = (
    "wrote|authored|composed|directed|founded|created|painted|performed|produced|designed|invented|discovered"
    "|established|developed|published|recorded|sang|built|owns|owned"
)
_DEED = re.compile(rf"\s(?:{_DEEDS})\s+")
# "Jane Austen wrote it.": the answer is the grammatical subject.
_DOER = re.compile(
    r"\A(?P<who>(?!(?i:it|this|that|he|she|they|the|a|an|who)\b)[^\W\d_]"
    r"(?:(?!\b(?:which|that|who|and then|but)\b)[^.!?;:]){1,80}?)\s+"
    rf"(?:{_DEEDS})\s+(?:it|this|that|them|the\s|[\"“‘'«])"
)
_PREPOSITION = re.compile(r"\A(?:in|at|by|from)\s+(?=[^\W_]|\d)", re.IGNORECASE)
_KIND = re.compile(
    r"\A(?:the )?(?:city|town|village|country|state|province|year|month|county|region|island) of (?=[A-ZÀ-Þ\d])",
    re.IGNORECASE,
)
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "„": "“", "(": ")", "[": "]"}
_ABBREVIATED = re.compile(
    r"(?:\b[^\W\d_]|\b(?:[B-DF-HJ-NP-TV-XZ][b-df-hj-np-tv-xz]{1,3}|Inc|Co|Corp|No|vs|Prof|Gen|Bros|ca?))\.\Z"
)
_ABBREVIATION = 8  # characters; longer than any of these abbreviations
_SENTENCE_END = re.compile(r"[.!?](?=\s+[^\W\d_])")
_DOUBT = re.compile(
    r"(?:,\s*+|(?<![\s,])\s++)?+(?:but|though|although)\s++(?:i(?:'m| am)|please|this|that|you|it)\b.*\Z"
    r"|(?:(?<!\s)\s++)?+[,(]\s*+(?:i (?:would |'d )?(?:think|believe|guess|suppose|reckon|assume|say)"
    r"|probably|perhaps|maybe|i'm not sure)\)?\.?\Z",
    re.IGNORECASE | re.DOTALL,
)
# Where an answer may end and a remark begin.
_REMARK = re.compile(
    r"(?<!\s)\s++[-–—]\s++|[;:]\s|(?:(?<!\s)\s++)?+\(|,\s++(?=(?:which|where|who|whose|when|a|an|the|on|in|at|and|with|during|as|from|near"
    r"|then|now|today|born|located|situated|but|although|though|while|however)\b)"
    r"|(?<!\s)\s++(?=in\s++(?:the\s++)?\d)"
    r"|(?<!\s)\s++(?=(?:is|was|are|were|which|where|who|because|since|on|during|and|but|although|though|before|after|when"
    r"|as well as|near|close to|just outside|to (?:a|an|his|her|their)"
    r"|from (?:what|memory|my|[A-Z][a-z]{2,8} \d{1,2}|\d{1,4}))\b)"
)
_MOST_READINGS = 5
_LAYERS = 20  # of labels, courtesies and quotes around an answer; models write three or four


@dataclass(frozen=True, kw_only=True, slots=True)
class CleanedResponse:
    """A cleaned response: its `text`, or `abstains`, the name of the pattern of an abstention.

    `text` is for comparison. `whole` also keeps words that may belong to a name: a preposition ("In Rainbows") or a
    kind of place ("Province of Salerno").
    """

    text: str
    whole: str
    abstains: str | None = None

    @property
    def prediction(self) -> str:
        """The response as a prediction: the whole text, or IDK."""
        return IDK if self.abstains else self.whole


@DECODING.memoize(1 << 16, size=len)
def clean_response(response: str, *, subject: str | None = None, language: str = "en") -> CleanedResponse:
    """Clean a response to a question about `subject`. Never raises."""
    text = _first_content_line(read_reply(response).answer[:EXAMINED])
    declined = refusal_in_any_language(text, language)
    if declined is not None:
        # "I am not sure, but probably Paris" offers an answer after the refusal.
        if not declined.guess or not declined.offer.strip():
            return _abstaining_response(declined.rule)
        text = declined.offer
    whole = _strip_around_answer(text, subject)
    # Only punctuation is left: the response has no answer.
    if not any(letter.isalnum() for letter in whole):
        return _abstaining_response("abstain:empty")
    declined = None if whole == text else refusal_in_any_language(whole, language)  # "The answer is unknown."
    if declined is not None and not declined.guess:
        return _abstaining_response(declined.rule)
    return CleanedResponse(text=_KIND.sub("", _PREPOSITION.sub("", whole)), whole=whole)


def _abstaining_response(rule: str) -> CleanedResponse:
    return CleanedResponse(text="", whole="", abstains=rule)


@DECODING.memoize(1 << 15, size=len)
def answer_candidates(text: str) -> tuple[str, ...]:
    """The text and ever shorter beginnings that may be the answer; at most five."""
    cuts = sorted({match.start() for match in _REMARK.finditer(text) if match.start() > 1}, reverse=True)
    beginnings = [text]
    for cut in cuts:
        shorter = text[:cut].rstrip(" ,;:-–—(")
        if not shorter or len(beginnings) == _MOST_READINGS:
            break
        if shorter != beginnings[-1]:
            beginnings.append(shorter)
    return tuple(beginnings)


def _first_content_line(response: str) -> str:
    """The first line that is no heading, without markup."""
    lines = [line.strip() for line in _MARKUP.sub("", response).splitlines() if line.strip()]
    first = (line for line in lines if not line.endswith((":", "：")) and not is_label(line.strip("# ")))
    return " ".join(next(first, lines[0] if lines else "").split())


def _strip_around_answer(text: str, subject: str | None) -> str:
    for _ in range(_LAYERS):
        before = text
        text = _without_enclosing_quotes(_BULLET.sub("", text))
        text = _COURTESY.sub("", text)
        text = text[said.end() :] if (said := _ANSWER_IS.match(text)) else text
        text = _AGAIN.sub("", text, count=1)
        text = _LEAD.sub("", text, count=1)
        text = _DOUBT.sub("", text) or text
        text = _first_sentence(text)
        text = _without_sentence_frame(text, subject)
        # Layers may nest in any order: repeat until nothing changes.
        if text == before:
            break
    return text


def _without_sentence_frame(text: str, subject: str | None) -> str:
    """The text without the sentence frame: "She was born in Hamburg" -> "Hamburg"."""
    sentence = text
    if subject and text[: len(subject)].casefold() == subject.casefold():
        remainder = text[len(subject) :]
        if remainder[:1].isspace():
            sentence = f"it{remainder}"
        elif remainder.startswith(("'s ", "’s ")):
            sentence = f"its{remainder[2:]}"
        # "Subject: answer", as models copy the form of a list.
        elif remainder[:1] == ":" and remainder[1:].strip():
            return remainder[1:].strip()
    if deed := _DEED.search(text, 2):
        if match := _DOER.match(text):
            return match["who"]
        if subject and text[deed.end() :].casefold().startswith(subject.casefold()):
            return text[: deed.start()]
    for pattern in (_STATES, _ABOUT):
        if (match := pattern.match(sentence)) and (remainder := sentence[match.end() :].strip(" ,")):
            return remainder
    return text


def _first_sentence(text: str) -> str:
    for match in _SENTENCE_END.finditer(text):
        if match[0] != "." or not _ends_with_abbreviation(text, match.end()):
            text = text[: match.end()]
            break
    return text if _ends_with_abbreviation(text, len(text)) else text.rstrip(" .!?,;")


def _ends_with_abbreviation(text: str, end: int) -> bool:
    """Whether the full stop before character `end` is that of an abbreviation."""
    return _ABBREVIATED.search(text, max(0, end - _ABBREVIATION), end) is not None


def _without_enclosing_quotes(text: str) -> str:
    text = text.strip()
    # Quotation marks only if they enclose the whole text.
    while len(text) > 2 and _QUOTES.get(text[0]) == text[-1] and text[0] not in text[1:-1]:
        text = text[1:-1].strip()
    return text[:-1].rstrip() if text.endswith(")") and "(" not in text else text
