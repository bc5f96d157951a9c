"""Answers that say that the passages do not suffice: by the rules of the matcher's abstentions, and of passages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import orjson

from abstraction.language.sentences import sentences
from granola.grounding.citation_markers import markers
from granola.matching.abstention import refusal

LONGEST = 4_000  # characters of an answer that are looked at
SENTENCE = 600  # of a sentence
LOOKED_AT = 3  # sentences, what greets and thanks among them
_MARK = "\x01"  # in the place of a citation
_CITED = "[1]"  # a citation in the text that is cut into sentences: whatever the id, it is cut alike
_NUMBERS = tuple(map(str, range(100)))  # ids of passages that nobody told
_SPACE = re.compile(r" (?=[,.;:!?])")  # before a mark of punctuation, where a citation was
MOST_COMMAS = 8  # behind which a main clause is looked for


def deflects(answer: str, ids: Sequence[str] = (), *, language: str = "en") -> str | None:
    """The rule by which an answer deflects, or None. An empty answer deflects by `empty`.

    An answer deflects where its first sentence, behind greetings and headings, declines and offers nothing instead;
    what follows may tell what is related. A sentence with a citation declines only where it is the cited passages that
    do not tell. `ids` are the passages', by which citations are known; without them numbers are. English is always read
    beside `language`, as prompts are English. Rules: the matcher's `abstain:...`, and `passages:LANGUAGE` where the
    sentence says that they do not tell.
    """
    if not answer.strip():
        return "empty"
    code = language.split("-")[0]
    for sentence in _sentences(_without_names(answer[: 4 * LONGEST], ids)[:LONGEST], language)[:LOOKED_AT]:
        if (rule := _declines(sentence, code)) is not None:
            return rule
        if not _pattern("sentences", "courtesy").match(sentence):
            return None
    return None


def _without_names(text: str, ids: Sequence[str]) -> str:
    """The text with `_CITED` in the place of each citation in brackets, and without the names of passages in prose."""
    out, at = [], 0
    for marker in markers(text.replace(_MARK, " "), ids or _NUMBERS):
        if marker.start >= at:
            out += [text[at : marker.start], marker.word if marker.inline else _CITED]
            at = marker.end
    return "".join([*out, text[at:]])


def _sentences(text: str, language: str) -> list[str]:
    """The first sentences, lines apart, without the marks of headings."""
    first: list[str] = []
    for line in text.splitlines():
        bare = line.strip().lstrip("#*_>- ").replace("**", "")
        if bare:
            first += sentences(bare, language)
        if len(first) > LOOKED_AT:
            break
    return [sentence[:SENTENCE] for sentence in first]


def _declines(sentence: str, code: str) -> str | None:
    marked = sentence.replace(_CITED, _MARK)
    cited = _MARK in marked
    plain = _SPACE.sub("", " ".join(marked.replace(_MARK, "").split()))
    codes = [one for one in dict.fromkeys((code, "en")) if one in _data()["passages"]]
    for one in codes:
        if (main := _main_clauses(plain, one)) is not None:
            # What a sentence grants tells only what the passages are about: the main clause declines, or it does not.
            about_passages = not cited or _pattern("sentences", "subject_at_end").search(marked.rpartition(_MARK)[0])
            rules = (_declines_plainly(clause, codes, code, kinds=("passages", "main")) for clause in main)
            return next(filter(None, rules), None) if about_passages else None
    whole = plain
    opening = _pattern("sentences", "opening")
    for _ in range(2):
        plain = plain[opened.end() :] if (opened := opening.match(plain)) else plain
    about_cited = not cited or _cites_the_subject(marked) or _pattern("cited", "en").match(whole) is not None
    return _declines_plainly(plain, codes, code, cited=cited) if about_cited else None


def _main_clauses(plain: str, code: str) -> Sequence[str] | None:
    """What may be the main clause behind "While ...,"; empty where what is granted states more than what there is.

    None for a sentence that grants nothing.
    """
    if code not in _data()["concession"] or (granted := _pattern("concession", code).match(plain)) is None:
        return None
    commas = [match.end() for match in re.finditer(", ?", plain)][:MOST_COMMAS]
    of_passages = _pattern("granted", code)
    return [plain[end:] for end in commas if of_passages.search(plain, granted.end(), end)]


def _declines_plainly(
    plain: str, codes: Sequence[str], code: str, *, kinds: Sequence[str] = ("passages",), cited: bool = False
) -> str | None:
    """The rule by which a sentence without concession, or a main clause, declines."""
    declining = next((one for one in codes for kind in kinds if _pattern(kind, one).match(plain)), None)
    asserts = any(_pattern(kind, one).search(plain) for one in codes for kind in ("goes_on", "contrast"))
    if declining is not None and not asserts:
        return f"passages:{declining}"
    return None if cited else _by_the_matcher(plain, code, declining is not None)


def _by_the_matcher(plain: str, code: str, passages_named: bool) -> str | None:
    """The matcher's rule. It is made for short answers: a long one must also say what it cannot do, or lacks."""
    refused = refusal(plain, code) or (refusal(plain, "en") if code != "en" else None)
    if refused is None or (refused.guess and refused.offer):
        return None
    if refused.rule in ("abstain:not-stated", "abstain:no-information"):
        about_us = refused.rule == "abstain:no-information" and re.search(r"\b(?:i|we) ", plain, re.IGNORECASE)
        return refused.rule if about_us or passages_named else None
    if refused.rule in _data()["confirmed"] and not _pattern("confirmed", refused.rule).search(plain):
        return None
    return refused.rule


def _cites_the_subject(marked: str) -> bool:
    """Whether all citations stand at once behind the passages that do not tell: "The passages [1][2] do not"."""
    head, _, tail = marked.rpartition(_MARK)
    ends, follows = _pattern("sentences", "subject_at_end"), _pattern("sentences", "predicate")
    return ends.search(head) is not None and follows.match(tail) is not None


@cache
def _data() -> dict[str, Any]:
    """`parts` stand in other patterns as <name>; `passages` by language, each a list of ways to say it."""
    patterns: dict[str, Any] = orjson.loads((files("granola") / "grounding" / "deflection_patterns.json").read_bytes())
    return patterns


@cache
def _pattern(kind: str, name: str) -> re.Pattern[str]:
    given = _data()[kind][name]
    text = given if isinstance(given, str) else "|".join(f"(?:{one})" for one in given)
    for _ in range(6):  # parts stand in parts
        for part, pattern in _data()["parts"].items():
            text = text.replace(f"<{part}>", pattern)
    return re.compile(text, re.IGNORECASE)
