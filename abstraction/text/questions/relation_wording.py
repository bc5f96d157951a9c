"""The relation that a question's wording asks for: a property where the wording is unambiguous, else a sort of answer.

The patterns are data (`abstraction/data/wording.json`), in English. Ambiguous wordings give no property: "Who wrote
X?" may ask for an author, a screenwriter or a composer, and is read as a question for a person.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from abstraction.base.properties import package_data
from abstraction.base.relations import Relation, trivial_phrases
from abstraction.text.language.languages import language
from abstraction.text.questions.question_kinds import QuestionKind, asked_kind
from kg.base.bounded_cache import bounded_cache

SLOT = "{}"


@dataclass(frozen=True, slots=True)
class _Pattern:
    relation: str
    regex: re.Pattern[str]
    weight: int  # literal characters: the pattern with most is the most specific


class QuestionPatterns:
    """Patterns by relation, each being a question with one `{}` for the subject."""

    def __init__(self, patterns: Mapping[str, Sequence[str]]) -> None:
        compiled: list[_Pattern] = []
        for relation, texts in patterns.items():
            for text in texts:
                before, after = _clean(text).split(SLOT)
                regex = re.compile(rf"\A{re.escape(before)}(\S.*?){re.escape(after)}\Z", re.IGNORECASE)
                compiled.append(_Pattern(relation, regex, len(before.strip()) + len(after.strip())))
        self._patterns = sorted(compiled, key=lambda pattern: -pattern.weight)

    def subject(self, question: str, relation: str) -> str | None:
        """The subject's text by the most specific matching pattern of the relation, or None."""
        text = _clean(question)
        plain = text.replace("’", "'")  # the apostrophes of the patterns, at the same length
        for pattern in self._patterns:
            if pattern.relation == relation and (match := pattern.regex.match(plain)):
                return text[match.start(1) : match.end(1)]
        return None

    def relation(self, question: str) -> str | None:
        """The relation of the most specific matching pattern; None for no match, or several relations at equal weight.
        """
        text = _clean(question).replace("’", "'")
        best = 0
        relations: set[str] = set()
        for pattern in self._patterns:
            if pattern.weight < best:
                break
            if pattern.regex.match(text):
                best = pattern.weight
                relations.add(pattern.relation)
        return relations.pop() if len(relations) == 1 else None


@cache
def question_patterns() -> QuestionPatterns:
    """The patterns of data/question_patterns.json."""
    return QuestionPatterns(package_data("question_patterns.json")["patterns"])


@lru_cache(maxsize=256)  # codes may come from outside
def patterns_of_language(code: str) -> QuestionPatterns:
    """The patterns in a language's file; empty where it has none. English ones are in `question_patterns`."""
    return QuestionPatterns(language(code).relations)


def _clean(question: str) -> str:
    """The question with single spaces and without its final mark; the subject keeps its own: "Who founded Acme Inc.?".
    """
    text = " ".join(question.split())
    mark = "?" if text.endswith("?") else "."
    return text.removesuffix(mark).rstrip()


# Wordings as regular expressions, with macros.

LONGEST = 400  # characters of a question that are read
_MACRO = re.compile(r"<(\w+)>")
_LEAD = re.compile(r"\A(?:so|and|but|please|also|hey|ok|okay|well)[, ]+", re.I)
# Lower case only: "The Man Who Knew Too Much" is a name.
_CLAUSE = re.compile(
    r"\b(?:who|whom|whose|which|that)\b"
    r"|\b(?:filmed|flimed|released|produced?|shown|based|shot|made|set|created|broadcast|published|written|developed|founded"
    r"|recorded|printed|played|aired|built|used|distributed|taking place)$"
)
_PASSIVE = re.compile(r"\A(?P<s>\S.*?) (?:was|is|were|are) (?P<verb>\w+ed) by (?:whom|who)\Z", re.I)
_OPENING = re.compile(
    r"(?:he|she|it|they|you|this|these|that|those|the (?:man|woman|person|first|last|most|largest))\b"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class RelationWording:
    """The result of a wording: the property or None, the subject's text, and the sort of answer.

    `kind` is a relation without id, to be used where `relation` is None; None where the wording determines nothing.
    """

    relation: str | None = None
    subject: str | None = None
    kind: Relation | None = None


@bounded_cache(entries=1 << 12, longest=LONGEST)  # 15 MB at most
def read_wording(question: str, language: str = "en") -> RelationWording:
    """The relation or sort of answer of a question, by English wordings and those in the language's file."""
    text = " ".join(question[:LONGEST].replace("’", "'").split()).strip(' "“”')
    while (shorter := _LEAD.sub("", text)) != text:
        text = shorter
    mark = re.search(r"(?:(?<!\s)\s++)?(?<![?!])[?!]++\s*+\Z", text)
    text = text[: mark.start()] if mark else text.removesuffix(".").rstrip()
    text = _PASSIVE.sub(r"Who \g<verb> \g<s>", text)
    best: dict[str, tuple[int, str]] = {}
    for relation, pattern in _patterns():
        if match := pattern.fullmatch(text):
            subject = match["s"].strip()
            literal = len(text) - len(subject)
            if relation not in best or literal > best[relation][0]:
                best[relation] = (literal, subject)
    asked = asked_kind(question, language)
    kind = _relation_of_kind(asked.kind, asked.detail)
    most = max((literal for literal, _ in best.values()), default=0)
    candidates = [(relation, subject) for relation, (literal, subject) in best.items() if literal == most]
    if not candidates:
        # Relations that have exact wordings only.
        patterns = question_patterns()
        exact = patterns.relation(question)
        if exact is None or exact in {name for name, _ in _patterns()}:
            patterns = patterns_of_language(language)
            exact = patterns.relation(question)
        candidates = [(exact, patterns.subject(question, exact) or "")] if exact is not None else []
    relation, subject = candidates[0] if len(candidates) == 1 else ("", "")
    # Not a clause ("the man who shot him"), nor the rest of a verb ("Jaws filmed").
    if not re.search(r"\w", subject) or _CLAUSE.search(subject) or _OPENING.match(subject):
        return RelationWording(kind=kind)
    return RelationWording(relation=relation, subject=subject, kind=kind)


def subject_of(question: str, relation: str, language: str = "en") -> str | None:
    """The subject's text in a question for the relation, or None where no pattern of it matches."""
    for patterns in (question_patterns(), patterns_of_language(language)):
        if (exact := patterns.subject(question, relation)) is not None:
            return exact
    wording = read_wording(question, language)
    return wording.subject if wording.relation == relation else None


@lru_cache(maxsize=1)
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Pairs of a relation and a pattern of questions for it."""
    data = package_data("wording.json")
    macros: dict[str, str] = {**data["macros"], "s": r"(?P<s>\S(?:.*?\S)?)"}

    def compile_pattern(pattern: str) -> re.Pattern[str]:
        while _MACRO.search(bare := pattern.replace("(?P<s>", "\0")):
            pattern = _MACRO.sub(lambda m: macros[m[1]], bare).replace("\0", "(?P<s>")
        return re.compile(pattern, re.IGNORECASE)

    return tuple(
        (relation, compile_pattern(pattern)) for relation, patterns in data["relations"].items() for pattern in patterns
    )


@cache
def _relation_of_kind(kind: QuestionKind, noun: str) -> Relation | None:
    """The relation without id for a noun of the question, else for the kind of answer; None where neither has one."""
    data = package_data("wording.json")
    if (sort := data["sorts"]["nouns"].get(noun) or data["sorts"]["kinds"].get(kind)) is None:
        return None
    asks, *groups = sort
    return Relation(id="", label="", asks=asks, trivial=trivial_phrases(groups))
