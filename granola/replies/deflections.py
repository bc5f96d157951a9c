"""Long answers from sources that decline: they find the sources insufficient, or refuse like short answers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from abstraction.text.language.comparable_words import sentences
from granola.replies.refusals import languages, refusal, wording

CITED = "[1]"
"""Replaces each citation in an answer, however the passages are labelled."""
LONGEST = 4_000  # characters of an answer that are read
_SENTENCE = 600  # characters of a sentence that are read
_LOOKED_AT = 3  # sentences that are read, including greetings and thanks
_MARK = "\x01"  # a citation within a sentence
_SPACE = re.compile(r" (?=[,.;:!?])")  # before a mark of punctuation, where a citation was
_CITED_AT_END = re.compile(r"^[^\x01]*\x01[\x01 ,;.!?()]*$")
_MOST_COMMAS = 8  # commas after which a main clause is searched for


def deflection(answer: str, *, language: str = "en") -> str | None:
    """The rule by which an answer deflects, or None. An empty answer deflects by `empty`.

    An answer deflects where its first sentence, after greetings and headings, declines and offers nothing instead;
    later sentences may give related facts. A sentence with a citation (CITED) declines only where the cited passages
    lack the answer, or where it lists the contents that they lack. English is always read besides `language`, since
    prompts are English. Rules: `abstain:...` of `refusals`, and `passages:LANGUAGE` where the sentence states that the
    passages do not contain the answer.
    """
    if not answer.strip():
        return "empty"
    code = language.split("-")[0]
    for sentence in _sentences(answer[:LONGEST], language)[:_LOOKED_AT]:
        if (rule := _declining_rule(sentence, code)) is not None:
            return rule
        if not _source_wording("en", "courtesy").match(sentence):
            return None
    return None


def _source_wording(code: str, *keys: str) -> re.Pattern[str]:
    """The pattern of sentences about sources in a language, for text as written."""
    return wording(code, "sources", *keys, folded=False)


def _sentences(text: str, language: str) -> list[str]:
    """The first sentences, lines apart, without the marks of headings."""
    first: list[str] = []
    for line in text.splitlines():
        bare = line.strip().lstrip("#*_>- ").replace("**", "")
        if bare:
            first += sentences(bare, language)
        if len(first) > _LOOKED_AT:
            break
    return [sentence[:_SENTENCE] for sentence in first]


def _declining_rule(sentence: str, code: str) -> str | None:
    """The rule by which the first sentence of a long answer declines, or None."""
    marked = sentence.replace(CITED, _MARK)
    cited = _MARK in marked
    plain = _SPACE.sub("", " ".join(marked.replace(_MARK, "").split()))
    codes = [one for one in dict.fromkeys((code, "en")) if one in languages()]
    for one in codes:
        if (main := _main_clauses(plain, one)) is not None:
            # The concession only describes the passages, so the main clause decides.
            about_passages = not cited or _source_wording("en", "subject_at_end").search(marked.rpartition(_MARK)[0])
            rules = (_plain_declining_rule(clause, codes, code, kinds=("passages", "main")) for clause in main)
            return next(filter(None, rules), None) if about_passages else None
    whole = plain
    opening = _source_wording("en", "opening")
    for _ in range(2):
        plain = plain[opened.end() :] if (opened := opening.match(plain)) else plain
    if (listed := _source_wording("en", "lists").match(whole)) is not None:
        # First the subject of the sources, with its citation, then that they contain no more.
        return _plain_declining_rule(whole[listed.end() :], codes, code, cited=True)
    about_cited = (
        not cited
        or _cites_the_subject(marked)
        or _source_wording("en", "cited").match(whole) is not None
        or (
            _CITED_AT_END.search(marked) is not None
            and any(_source_wording(one, "untold").match(whole) for one in codes)
        )
    )
    return _plain_declining_rule(plain, codes, code, cited=cited) if about_cited else None


def _main_clauses(plain: str, code: str) -> Sequence[str] | None:
    """The possible main clauses after "While ...,"; empty where the concession states more than what the sources
    contain.

    None for a sentence without a concession.
    """
    if (granted := _source_wording(code, "concession").match(plain)) is None:
        return None
    commas = [match.end() for match in re.finditer(", ?", plain)][:_MOST_COMMAS]
    of_passages = _source_wording(code, "granted")
    return [plain[end:] for end in commas if of_passages.search(plain, granted.end(), end)]


def _plain_declining_rule(
    plain: str, codes: Sequence[str], code: str, *, kinds: Sequence[str] = ("passages",), cited: bool = False
) -> str | None:
    """The rule by which a sentence without concession, or a main clause, declines."""
    declining = next((one for one in codes for kind in kinds if _source_wording(one, kind).match(plain)), None)
    asserts = any(_source_wording(one, kind).search(plain) for one in codes for kind in ("goes_on", "contrast"))
    if declining is not None and not asserts:
        return f"passages:{declining}"
    return None if cited else _short_refusal_rule(plain, codes, code, declining is not None and not asserts)


def _short_refusal_rule(plain: str, codes: Sequence[str], code: str, passages_named: bool) -> str | None:
    """The rule by which a short answer would refuse. A long answer must also name what it cannot do, or lacks."""
    refused = refusal(plain, code)
    if refused is None or (refused.guess and refused.offer):
        return None
    if refused.rule in ("abstain:not-stated", "abstain:no-information", "abstain:not-in-sources"):
        about_us = refused.rule == "abstain:no-information" and re.search(r"\b(?:i|we) ", plain, re.IGNORECASE)
        return refused.rule if about_us or passages_named else None
    name = refused.rule.partition(":")[2]
    if name in ("refusal", "cannot-answer") and not any(
        _source_wording(one, "confirmed", name).search(plain) for one in codes
    ):
        return None
    return refused.rule


def _cites_the_subject(marked: str) -> bool:
    """Whether all citations directly follow the passages that lack the answer: "The passages [1][2] do not"."""
    head, _, tail = marked.rpartition(_MARK)
    ends, follows = _source_wording("en", "subject_at_end"), _source_wording("en", "predicate")
    return ends.search(head) is not None and follows.match(tail) is not None
