"""The kind of answer that a question asks for, and its relation where the wording is unambiguous.

The words and patterns are data (`abstraction/data/asked_kinds.json`, `wording.json`), mainly in English. The kind
follows from the question word if that is specific ("how many", "when"); after "what" and "which" from the last word of
their noun phrase; in a question without question word ("season 2 number of episodes") from the first known noun phrase.
Ambiguous wordings give no relation: "Who wrote X?" may ask for an author, a screenwriter or a composer, and is read as
a question for a person.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, lru_cache, partial

from abstraction.base.properties import package_data
from abstraction.base.relations import Relation, trivial_phrases_of_groups
from abstraction.text.descriptions.attested_words import common_occupations
from abstraction.text.language.languages import has_grammar, language, question_words
from abstraction.text.language.phrases import singular
from kg.base.bounded_cache import bounded_cache

_data = partial(package_data, "asked_kinds.json")
LONGEST_QUESTION = 400  # characters of a question that are read
_WORDS = re.compile(r"[^\W_]+(?:[.'’][^\W_]+)*|,(?= )")
_QUESTION_WORDS = frozenset({"who", "whom", "whose", "when", "where", "why", "how", "what", "which"})
# Numbers in words that ask for several answers.
_NUMBERS = frozenset(word for word, number in language("en").number_words.items() if 2 <= number <= 10)


class QuestionKind(StrEnum):
    """A kind of answer; `UNKNOWN` where no rule applies."""

    YES_NO = "yes-no"
    CHOICE = "choice"
    COUNT = "count"
    MEASURE = "measure"
    AGE = "age"
    RANK = "rank"
    CODE = "code"
    DATE = "date"
    SEASON = "season"
    EPISODE = "episode"
    PERSON = "person"
    GROUP_OR_PERSON = "group-or-person"
    CHARACTER = "character"
    ANIMAL = "animal"
    TEAM = "team"
    ORGANISATION = "organisation"
    PLACE = "place"
    SONG = "song"
    FILM = "film"
    BOOK = "book"
    WORK = "work"
    LANGUAGE = "language"
    THING = "thing"
    TEXT = "text"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class AskedKind:
    """The kind of answer that a question asks for.

    `detail` is the measured dimension ("length") or the noun ("river"), "" for none. `many`: whether the grammar asks
    for several answers ("Who are the judges ...?").
    """

    kind: QuestionKind
    detail: str = ""
    many: bool = False


ANY_KIND = AskedKind(QuestionKind.UNKNOWN, "")  # for rows whose question is not used


@bounded_cache(entries=1 << 12, longest=LONGEST_QUESTION)  # 3 MB at most
def asked_kind(question: str, language: str = "en") -> AskedKind:
    """The kind of answer that a question in a language asks for.

    English rules apply where the question has an English question word, whatever `language` is, since ladders may be
    in another language than their questions. Without an English question word, a question in another language is read
    by the words of that language only: German "was" is not the English word.
    """
    base = language.partition("-")[0]
    unknown = AskedKind(QuestionKind.UNKNOWN)
    if (kind := _kind_by_question_words(question, [base])) != unknown:
        return kind
    tokens = _WORDS.findall(question[:LONGEST_QUESTION].lower().replace("’", "'"))
    words = [part for token in tokens for part in _split_contraction(token)]
    at = _index_of_question_word(words)
    if at is not None and (kind := _kind_after_question_word(words, at)) != unknown:
        return kind
    other = unknown if _asking_words(base) else _kind_by_question_words(question, question_words(), begins=True)
    if other != unknown or at is not None or not words or not has_grammar(base):
        return other
    return _kind_without_question_word(words)


def _kind_by_question_words(question: str, languages: Iterable[str], *, begins: bool = False) -> AskedKind:
    """The kind by the longest question word of the first of the languages that has one in the question.

    With `begins` the word must open the question: elsewhere a Latin word may be a name (Dove, Chi).
    """
    text = question[:LONGEST_QUESTION].lower().replace("’", "'")
    for code in languages:
        if standing := _question_word_finder(code, begins=begins)(text):
            words = _asking_words(code)
            return AskedKind(words[max((word for word in words if word in standing), key=len)])
    return AskedKind(QuestionKind.UNKNOWN)


@lru_cache(maxsize=256)  # bounded, since codes come from requests too
def _asking_words(code: str) -> Mapping[str, QuestionKind]:
    """The question words of a language, with their kinds of answer."""
    asks = question_words().get(code) or language(code).asks
    return {word: QuestionKind(kind) for kind, words in asks.items() for word in words}


@lru_cache(maxsize=256)  # bounded, since codes come from requests too
def _question_word_finder(code: str, *, begins: bool) -> Callable[[str], set[str]]:
    """A function that finds a language's question words in a text; within words only in scripts without spaces.

    All are searched at once, the longest first at each position; a word with "^" only at the start of the text.
    """
    words = sorted(_asking_words(code), key=len, reverse=True)
    within = [word for word in words if word[0] > _LATIN]
    apart = "|".join(re.escape(word).replace(r"\^", r"\A") for word in words if word[0] <= _LATIN)
    place = r"\A[ ¿¡\"']*" if begins else r"(?<![^\W_])"
    pattern = re.compile(rf"{place}(?=({apart})(?![^\W_]))") if apart else None

    def find_question_words(text: str) -> set[str]:
        matches = pattern.finditer(text) if pattern is not None else ()
        found = {f"^{match[1]}" if f"^{match[1]}" in words else match[1] for match in matches}
        return found.union(word for word in within if word in text)

    return find_question_words


_LATIN = "\u024f"  # the last Latin letter in Unicode


def _split_contraction(word: str) -> tuple[str, ...]:
    """ "what's" as two words; a possessive as two, the second being "'s"."""
    if word.endswith("'s") or word in ("whats", "whos", "wheres", "whens", "hows"):
        return word.removesuffix("'s") if word.endswith("'s") else word[:-1], "'s"
    return (word,)


def _index_of_question_word(words: Sequence[str]) -> int | None:
    """The index of the question word: at the start, or where it cannot begin a relative clause; None for none."""
    for place, word in enumerate(words):
        if word not in _QUESTION_WORDS:
            continue
        before = words[place - 1] if place else ""
        if not before or before in _word_list("leads") or (before in _BE and words[0] not in _word_list("auxiliaries")):
            return place
        if place == len(words) - 1 and word != "that":
            return place
        if word in ("how", "what", "which") and before in _word_list("prepositions"):
            return place
        if word == "how" and words[place + 1 : place + 2] in (["many"], ["much"], ["old"]):
            return place
    return None


_BE = frozenset({"is", "was", "are", "were", "'s"})


def _kind_after_question_word(words: Sequence[str], at: int) -> AskedKind:
    word, behind = words[at], words[at + 1 :]
    following = behind[0] if behind else ""
    if word == "when":
        return AskedKind(QuestionKind.DATE, "when")
    if word in ("where", "why"):
        return AskedKind(QuestionKind.PLACE if word == "where" else QuestionKind.TEXT)
    if word == "how":
        return _kind_after_how(behind)
    if word in ("who", "whom", "whose"):
        return _kind_after_who(word, behind)
    if not behind:
        return AskedKind(QuestionKind.UNKNOWN)
    if following in _BE:
        # "What is the ...": the noun phrase after the verb, or after a possessive ("Einstein's height").
        plural, phrase = following in ("are", "were"), behind[1:]
        if plural and phrase[:1] == ["there"]:
            return AskedKind(QuestionKind.UNKNOWN)
        owned = phrase.index("'s") + 1 if "'s" in phrase[:8] else 0
        asked = _kind_of_noun_phrase(phrase[owned:] or phrase)
        return asked if asked.kind is QuestionKind.UNKNOWN else replace(asked, many=asked.many or plural)
    if following in _word_list("auxiliaries"):
        return _kind_after_what_did(behind)
    return _kind_of_noun_phrase(behind)


def _kind_after_how(behind: Sequence[str]) -> AskedKind:
    degree = _data()["degrees"].get(behind[0] if behind else "", "")
    if degree == "count":
        return AskedKind(QuestionKind.COUNT, behind[1] if len(behind) > 1 else "")
    if degree == "age":
        return AskedKind(QuestionKind.AGE)
    if degree == "amount":
        asks_money = not {"money", "cost", "worth", "paid", "make", "pay"}.isdisjoint(behind)
        return AskedKind(QuestionKind.MEASURE, "money" if asks_money else "")
    return AskedKind(QuestionKind.MEASURE, degree) if degree else AskedKind(QuestionKind.TEXT)


def _kind_after_who(word: str, behind: Sequence[str]) -> AskedKind:
    following = behind[0] if behind else ""
    many = following in ("are", "were") and bool(behind[1:]) and behind[1] != "you"
    if word == "whose":
        return _kind_of_noun_phrase(behind) if len(behind) > 1 else AskedKind(QuestionKind.PERSON)
    if following in ("did", "does", "do") and {"play", "voice", "portray"} & {*behind} and {"in", "on"} & {*behind}:
        return AskedKind(QuestionKind.CHARACTER if "for" not in behind else QuestionKind.GROUP_OR_PERSON)
    if not _word_list("group_verbs").isdisjoint(behind[:3]) or following in ("do", "does", "did"):
        return AskedKind(QuestionKind.GROUP_OR_PERSON, many=many)
    # The occupation that the verb implies: "actor" for "stars".
    trade = next((trade for trade, verbs in _data()["doers"].items() if following in verbs), "")
    if following in ("plays", "played") and (
        not {"in", "on"} & {*behind} or not _word_list("played_otherwise").isdisjoint(behind)
    ):
        trade = ""
    return AskedKind(QuestionKind.PERSON, trade, many=many)


def _kind_after_what_did(behind: Sequence[str]) -> AskedKind:
    """ "What did NAME sing?": the kind of work for verbs that determine it."""
    verbs = frozenset(behind[1:])
    for key, kind in (("sung", QuestionKind.SONG), ("written", QuestionKind.BOOK), ("shown", QuestionKind.FILM)):
        if not verbs.isdisjoint(_word_list(key)):
            return AskedKind(kind, kind)
    if {"speak", "speaks", "spoke", "spoken"} & verbs:
        return AskedKind(QuestionKind.LANGUAGE, "language")
    telling = {"symbolize", "symbolise", "represent", "mean", "stand", "happen", "happened", "say", "means"} & verbs
    return AskedKind(QuestionKind.TEXT if telling or behind[-1] == "do" else QuestionKind.UNKNOWN)


def _kind_of_noun_phrase(words: Sequence[str]) -> AskedKind:
    """The kind of the first noun phrase, by its last known words."""
    phrase = _leading_noun_phrase(words)
    if phrase[-1:] in (["name"], ["names"], ["kind"], ["type"], ["sort"], ["list"], ["word"]):
        behind = words[words.index(phrase[-1]) + 1 :]
        if phrase[-1] in ("name", "names", "list") and behind[:1] in (["of"], ["for"]):
            asked = _kind_of_noun_phrase(behind[1:])
            if asked.kind is not QuestionKind.UNKNOWN:
                return AskedKind(asked.kind, asked.detail, asked.many or phrase[-1] == "names")
        return AskedKind(QuestionKind.THING, phrase[-1])
    return _kind_of_first_known_noun(phrase)


def _leading_noun_phrase(words: Sequence[str]) -> list[str]:
    """The words of the noun phrase at the start, without articles, at most _MOST."""
    out: list[str] = []
    for word in words:
        if word in _word_list("determiners") and not out:
            continue
        if word == "'s":  # "which country's ship"
            out.clear()
            continue
        if word in _word_list("ends") or len(out) == _MOST:
            break
        out.append(word)
    return out


_MOST = 7  # words of the longest noun phrase that is read


def _kind_of_first_known_noun(phrase: Sequence[str]) -> AskedKind:
    """The kind of the first known noun of a phrase, with the nouns right after it ("state bird")."""
    best, at = AskedKind(QuestionKind.UNKNOWN), 0
    start = 0
    while start < len(phrase) and (best.kind is QuestionKind.UNKNOWN or start == at):
        noun = _known_noun_and_end_at(phrase, start)
        if noun is None:
            start += 1
            continue
        if phrase[noun[1] : noun[1] + 1] == ["made"]:  # "man made lake"
            start = noun[1] + 1
            continue
        if best.kind is not QuestionKind.UNKNOWN and noun[0].many and phrase[noun[1] : noun[1] + 1]:
            break  # "channel shows the race": a verb
        best, start = noun
        at = len(phrase) if best.many and best.detail != phrase[start - 1] else start  # a plural modifies no noun
    return best


def _known_noun_and_end_at(phrase: Sequence[str], start: int) -> tuple[AskedKind, int] | None:
    """The longest known noun of up to three words at an index, and the index after it; None for none."""
    kinds = _kinds_by_noun()
    for end in range(min(len(phrase), start + 3), start, -1):
        text = " ".join(phrase[start:end])
        for noun in dict.fromkeys((text, singular(text))):
            kind = kinds.get(noun) or (QuestionKind.PERSON if noun in common_occupations() else None)
            if kind is not None:
                many = noun != text or any(w in _NUMBERS or w.isdigit() for w in phrase[:start])
                return AskedKind(kind, noun, many), end
    return None


def _kind_without_question_word(words: Sequence[str]) -> AskedKind:
    """The kind of a question without a question word: "Is it ...", "list all ...", or a fragment."""
    lead = 0
    if words[0] in _word_list("prepositions") and len(words) > 3:
        lead = next((i for i, w in enumerate(words[:12]) if w in _word_list("auxiliaries")), 0)
    if words[lead] in _word_list("auxiliaries"):
        return AskedKind(QuestionKind.CHOICE if "or" in words[lead + 2 :] else QuestionKind.YES_NO)
    if words[:2] == ["name", "of"]:
        return _kind_of_noun_phrase(words[2:])
    if words[0] in ("name", "list", "give", "tell", "state") and len(words) > 1:
        asked = _kind_of_noun_phrase(words[1:])
        return AskedKind(asked.kind, asked.detail, True) if asked.kind is not QuestionKind.UNKNOWN else asked
    return _kind_of_fragment(words)


def _kind_of_fragment(words: Sequence[str]) -> AskedKind:
    """The kind of a fragment: "season 2 number of episodes", "5 cities with ..."."""
    text = f" {' '.join(words)} "
    for kind, nouns in _FRAGMENTS:
        if any(f" {noun} " in text for noun in nouns):
            return AskedKind(kind, nouns[0])
    end = next((i for i, word in enumerate(words) if word in _word_list("ends")), len(words))
    for place in range(end):
        noun = _known_noun_and_end_at(words, place)
        if noun is not None and noun[1] == end and noun[0].kind is not QuestionKind.TEXT:
            return replace(noun[0], many=noun[0].many or words[0] in _NUMBERS or words[0].isdigit())
    return AskedKind(QuestionKind.UNKNOWN)


_FRAGMENTS = (
    (QuestionKind.COUNT, ("number of", "total number", "page count", "total goals", "how many", "body count")),
    (QuestionKind.DATE, ("release date", "air date", "date of", "what year", "start date", "first time", "last time")),
)


def yes_no_words(code: str) -> frozenset[str]:
    """The words for yes and no in English and in the language."""
    return language("en").yes_no | language(code).yes_no


@cache
def _word_list(key: str) -> frozenset[str]:
    return frozenset(_data()[key])


@lru_cache(maxsize=1)
def _kinds_by_noun() -> Mapping[str, QuestionKind]:
    return {noun: QuestionKind(kind) for kind, nouns in _data()["nouns"].items() for noun in nouns}


class QuestionPatterns:
    """Patterns of whole questions by relation, each with a group `s` for the subject.

    Of two patterns that match, the one with more characters outside the subject is the more specific.
    """

    def __init__(self, patterns: Mapping[str, Sequence[re.Pattern[str]]]) -> None:
        self.patterns = patterns

    @classmethod
    def of_templates(cls, templates: Mapping[str, Sequence[str]]) -> QuestionPatterns:
        """Patterns from questions with one `{}` for the subject."""

        def compile_template(template: str) -> re.Pattern[str]:
            before, behind = without_final_mark(template).split("{}")
            return re.compile(rf"{re.escape(before)}(?P<s>\S.*?){re.escape(behind)}", re.IGNORECASE)

        return cls({relation: tuple(map(compile_template, given)) for relation, given in templates.items()})

    def subject(self, question: str, relation: str) -> str | None:
        """The subject's text by the most specific pattern of the relation, or None; `question` has no final mark."""
        return min((subject for _, subject in self._matches(question, [relation])), key=len, default=None)

    def most_specific_matches(self, question: str) -> list[tuple[str, str]]:
        """The relations of the most specific patterns, each with its subject; see `subject`."""
        found = self._matches(question, self.patterns)
        least = min((len(subject) for _, subject in found), default=0)
        return list({relation: (relation, subject) for relation, subject in found if len(subject) == least}.values())

    def _matches(self, question: str, relations: Iterable[str]) -> list[tuple[str, str]]:
        """The relation and the subject of each pattern of the relations that matches."""
        plain = question.replace("’", "'")  # the apostrophes of the patterns, at the same length
        return [
            (relation, question[slice(*match.span("s"))])
            for relation in relations
            for pattern in self.patterns.get(relation, ())
            if (match := pattern.fullmatch(plain))
        ]


@cache
def question_patterns() -> QuestionPatterns:
    """The patterns of data/question_patterns.json."""
    return QuestionPatterns.of_templates(package_data("question_patterns.json")["patterns"])


@lru_cache(maxsize=256)  # bounded, since codes come from requests too
def patterns_of_language(code: str) -> QuestionPatterns:
    """The patterns in a language's file; empty where it has none. English ones are in `question_patterns`."""
    return QuestionPatterns.of_templates(language(code).relations)


def without_final_mark(question: str) -> str:
    """The question with single spaces and without its final mark; "Who founded Acme Inc.?" keeps the first one."""
    text = " ".join(question.split())
    mark = "?" if text.endswith("?") else "."
    return text.removesuffix(mark).rstrip()


# Wordings as regular expressions, with macros.

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
    """The reading of a question's wording: the property or None, the subject's text, and the sort of answer.

    `kind` is a relation without id, to be used where `relation` is None; None where the wording determines nothing.
    """

    relation: str | None = None
    subject: str | None = None
    kind: Relation | None = None


@bounded_cache(entries=1 << 12, longest=LONGEST_QUESTION)  # 15 MB at most
def read_relation_wording(question: str, language: str = "en") -> RelationWording:
    """The relation or sort of answer of a question, by English wordings and those in the language's file."""
    text = " ".join(question[:LONGEST_QUESTION].replace("’", "'").split()).strip(' "“”')
    while (shorter := _LEAD.sub("", text)) != text:
        text = shorter
    mark = re.search(r"(?:(?<!\s)\s++)?(?<![?!])[?!]++\s*+\Z", text)
    text = text[: mark.start()] if mark else text.removesuffix(".").rstrip()
    text = _PASSIVE.sub(r"Who \g<verb> \g<s>", text)
    asked = asked_kind(question, language)
    kind = _relation_of_noun_or_kind(asked.kind, asked.detail)
    candidates = _wording_patterns().most_specific_matches(text)
    if not candidates:
        # Relations that have exact wordings only.
        exact = without_final_mark(question)
        candidates = question_patterns().most_specific_matches(exact)
        if len(candidates) != 1 or candidates[0][0] in _wording_patterns().patterns:
            candidates = patterns_of_language(language).most_specific_matches(exact)
    relation, subject = candidates[0] if len(candidates) == 1 else ("", "")
    # Not a clause ("the man who shot him"), nor the rest of a verb ("Jaws filmed").
    if not re.search(r"\w", subject) or _CLAUSE.search(subject) or _OPENING.match(subject):
        return RelationWording(kind=kind)
    return RelationWording(relation=relation, subject=subject, kind=kind)


def subject_of(question: str, relation: str, language: str = "en") -> str | None:
    """The subject's text in a question for the relation, or None where no pattern of it matches."""
    for patterns in (question_patterns(), patterns_of_language(language)):
        if (exact := patterns.subject(without_final_mark(question), relation)) is not None:
            return exact
    wording = read_relation_wording(question, language)
    return wording.subject if wording.relation == relation else None


@cache
def _wording_patterns() -> QuestionPatterns:
    """The patterns of data/wording.json, with its macros."""
    data = package_data("wording.json")
    macros: dict[str, str] = {**data["macros"], "s": r"(?P<s>\S(?:.*?\S)?)"}

    def compile_pattern(pattern: str) -> re.Pattern[str]:
        while _MACRO.search(bare := pattern.replace("(?P<s>", "\0")):
            pattern = _MACRO.sub(lambda m: macros[m[1]], bare).replace("\0", "(?P<s>")
        return re.compile(pattern, re.IGNORECASE)

    relations = data["relations"].items()
    return QuestionPatterns({relation: tuple(map(compile_pattern, given)) for relation, given in relations})


@cache
def _relation_of_noun_or_kind(kind: QuestionKind, noun: str) -> Relation | None:
    """The relation without id for a noun of the question, else for the kind of answer; None where neither has one."""
    data = package_data("wording.json")
    if (sort := data["sorts"]["nouns"].get(noun) or data["sorts"]["kinds"].get(kind)) is None:
        return None
    asks, *groups = sort
    return Relation(id="", label="", asks=asks, trivial=trivial_phrases_of_groups(groups))
