"""Question patterns: the subject of a question by the wordings of its relation, and the relation by its wording."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from abstraction.base.package_data import package_data
from abstraction.text.language.languages import language

SLOT = "{}"


@dataclass(frozen=True, slots=True)
class _Pattern:
    relation: str
    regex: re.Pattern[str]
    weight: int  # literal characters: the pattern with most is the most specific


class QuestionPatterns:
    """Patterns by relation, each being a question with one `{}` for the subject."""

    def __init__(self, patterns: Mapping[str, Sequence[str]]) -> None:
        self._by_relation: dict[str, list[_Pattern]] = {}
        for relation, texts in patterns.items():
            compiled = [_compile_pattern(relation, text) for text in texts]
            self._by_relation[relation] = sorted(compiled, key=lambda p: -p.weight)
        self._all = sorted((p for compiled in self._by_relation.values() for p in compiled), key=lambda p: -p.weight)

    def subject(self, question: str, relation: str) -> str | None:
        """The subject's text by the most specific matching pattern of the relation, or None."""
        text = _clean(question)
        plain = _plain(text)
        for pattern in self._by_relation.get(relation, ()):
            if match := pattern.regex.match(plain):
                return text[match.start(1) : match.end(1)]
        return None

    def relation(self, question: str) -> str | None:
        """The relation of the most specific matching pattern; None for no match, or several relations at equal weight.
        """
        text = _plain(_clean(question))
        best = 0
        relations: set[str] = set()
        for pattern in self._all:
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


def _plain(text: str) -> str:
    """The text with the apostrophes of the patterns, at the same length."""
    return text.replace("’", "'")


def _compile_pattern(relation: str, text: str) -> _Pattern:
    before, after = _clean(text).split(SLOT)
    regex = re.compile(rf"\A{re.escape(before)}(\S.*?){re.escape(after)}\Z", re.IGNORECASE)
    return _Pattern(relation, regex, len(before.strip()) + len(after.strip()))
