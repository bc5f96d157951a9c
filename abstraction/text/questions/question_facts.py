"""Facts about the answer in the words of a question: kinds, sports, names and years; computed once per question.

A tier adds nothing new if every part of it follows from these: an Indian actor for "Which Indian actor ...?", the
1990s for "In 1994, when ...?". The words are data (`abstraction/data/told_kinds.json`), by language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache, partial

from abstraction.base.properties import package_data
from abstraction.base.relations import Relation
from abstraction.text.language.calendar_dates import CalendarUnit, Kind, calendar_unit_of
from abstraction.text.language.language_data import without_accents
from abstraction.text.language.languages import GRAMMAR, bundled_demonyms, has_grammar, language
from abstraction.text.language.phrases import singular
from abstraction.text.questions.question_wording import LONGEST_QUESTION, asked_kind
from kg.base.bounded_cache import bounded_cache
from kg.base.model import TimeValue, normalise

MOST_WORDS = 60  # words of a question that are read
LONGEST = 5  # words of the longest name that is searched
LEAST = 3  # letters of the shortest name that is searched; shorter ones are codes
_LEAST_UNCASED = 5  # letters of the shortest name in a question without capitals
INSIDE = 6  # letters of the shortest name that is found within a word: Vietnam in Petrovietnam
ACRONYM = re.compile(r"[A-Z]{3,6}")  # recognised by its capitals
_WORD = re.compile(r"[^\W_]+(?:['’.&-][^\W_]+)*")
# Prepositions of origin, in several languages.
_OF = frozenset({"of", "from", "de", "da", "di", "del", "della", "von", "van", "zu"})
_ENDINGS = (("n", 1), ("an", 2), ("s", 1))  # ending, and the number of letters to cut: Asian, European, Wikipedians
_ELIDED = re.compile(r"\b[dlDL]['’](?=[A-ZÀ-Þ])")  # "l'Italie"
_ARTICLE = re.compile(r"^(?:an?|the)\s+")
_YEAR = re.compile(r"(?<![\w.,])(?:c\. ?)?(1[0-9]{3}|20[0-9]{2})(?P<decade>s)?(?![\w,]\d|\w)")
_PLACED = re.compile(r"\A(?P<kind>.+?) (?:in|of|from) (?:the )?(?P<place>[A-ZÀ-Þ].*)\Z")
_PARTICIPANT = re.compile(r"(?:professional )?(?P<sport>.+?) (?P<what>team|club|player|franchise|coach)\Z")

_data = partial(package_data, "told_kinds.json")


@dataclass(frozen=True, slots=True)
class QuestionFacts:
    """The facts that a question's words state about any answer, and the names in it.

    `kinds` are normalised phrases without article; `sports` names of sports; `names` all possible names, folded,
    `behind_of` those after "of"; `words` are its longer words, `spelled` the names as written, longest first; `years`
    are keys of calendar units (`CalendarUnit.key`) that contain a year in the question; `has_league`: whether a league
    is named, so that teams belong to its country.
    """

    kinds: frozenset[str]
    sports: frozenset[str]
    names: frozenset[str]
    behind_of: frozenset[str]
    words: tuple[str, ...]
    spelled: tuple[str, ...]
    years: frozenset[str]
    has_league: bool

    def implies(self, phrase: str) -> bool:
        """Whether a kind (a normalised phrase without article) is true of any answer: "performing artist"."""
        if phrase in self.kinds or phrase.removeprefix("professional ") in self.kinds:
            return True
        match = _PARTICIPANT.match(phrase) if self.sports else None
        return match is not None and match["sport"] in self.sports


NOTHING = QuestionFacts(frozenset(), frozenset(), frozenset(), frozenset(), (), (), frozenset(), False)


@bounded_cache(entries=1 << 12, longest=LONGEST_QUESTION)  # 30 MB at most
def question_facts(question: str, language: str = "en") -> QuestionFacts:
    """The facts of a question in a language; English words are recognised in every language."""
    text = f" {' '.join(_WORD.findall(question[:LONGEST_QUESTION].lower().replace('’', chr(39))))} "
    base = language.partition("-")[0]
    kinds: set[str] = set()
    for code in dict.fromkeys((GRAMMAR, base)):
        pattern, kinds_of_words = _asking_pattern_and_kinds_by_word(code)
        kinds.update(kind for word in pattern.findall(_with_stems(text, code)) for kind in kinds_of_words[word])
    asked = asked_kind(question, language)
    if asked.detail:
        kinds |= {asked.detail, singular(asked.detail)}
    told_sports = [row for row in _data()["sports"].values() if any(f" {word} " in text for word in row["words"])]
    league = any(f" {word} " in text for row in told_sports for word in row["land"])
    names, behind_of, longer, spelled = _possible_names_in(question)
    years: set[str] = set()  # keys of the calendar units that contain a year or decade of the question
    for match in _YEAR.finditer(question[:LONGEST_QUESTION]):
        value = TimeValue(year=int(match[1]), precision=8 if match["decade"] else 9)
        units = (calendar_unit_of(value, kind) for kind in (_UNITS[1:] if match["decade"] else _UNITS))
        years.update(unit.key() for unit in units if unit)
    if any(f" {word} " in text for word in _data()["recent"]) and asked.kind == "date":
        years |= {CalendarUnit("century", 21).key(), CalendarUnit("millennium", 3).key()}
    return QuestionFacts(
        kinds=frozenset(phrase for kind in kinds for phrase in phrases_entailed_by_kind(kind)),
        sports=frozenset(name for row in told_sports for name in row["names"]),
        names=names,
        behind_of=behind_of,
        words=longer,
        spelled=spelled,
        years=frozenset(years),
        has_league=league,
    )


def _with_stems(text: str, code: str) -> str:
    """A text with each word replaced by its stem, in languages that have endings: "filmen" as "film"."""
    if has_grammar(code) or not language(code).endings:
        return text
    return f" {' '.join(language(code).stem(word) for word in text.replace('-', ' ').split())} "


@lru_cache(maxsize=256)  # bounded, since codes come from requests too
def _asking_pattern_and_kinds_by_word(code: str) -> tuple[re.Pattern[str], Mapping[str, tuple[str, ...]]]:
    """A pattern for a language's words that ask for a kind, with overlapping matches, and the kinds by word."""
    kinds: dict[str, tuple[str, ...]] = {}
    for kind, words in _data()["words"].get(code, {}).items():
        for word in words:
            stem = _with_stems(f" {word} ", code).strip()
            kinds[stem] = (*kinds.get(stem, ()), kind)
    alternatives = "|".join(map(re.escape, sorted(kinds, key=len, reverse=True))) or r"(?!)"
    before, behind = ("(?<= )", " ") if language(code).separates_words_by_spaces else ("", "")
    return re.compile(rf"{before}(?=({alternatives}){behind})"), kinds


@cache
def phrases_entailed_by_kind(kind: str) -> frozenset[str]:
    """The phrases entailed by a kind: itself, its last words ("team" of "rugby team") and those listed for each."""
    words = kind.split()
    ends = dict.fromkeys(" ".join(words[at:]) for at in range(len(words)))
    ends |= dict.fromkeys(same for end in list(ends) if (same := _data()["same"].get(end)))
    return frozenset(phrase for end in ends for phrase in (end, *_data()["says"].get(end, ())))


_UNITS: tuple[Kind, ...] = ("year", "decade", "century", "millennium")


def follows_from_question(text: str, question: str, language: str = "en", *, relation: Relation | None = None) -> bool:
    """Whether every part of a text follows from the question: its kind, nation, place and year.

    True too for a name in the question. `relation` adds the phrases that are trivial for its answers.
    """
    facts = question_facts(question, language)
    trivial = relation.trivial if relation is not None else frozenset()
    phrase = normalise(_ARTICLE.sub("", text.strip()))
    if not phrase:
        return False
    if phrase in trivial or folded_name(text) in facts.names or facts.implies(phrase):
        return True
    if (dated := {unit.key() for unit in _calendar_units_of_whole_phrase(phrase)}) and dated <= facts.years:
        return True
    match = _PLACED.match(_ARTICLE.sub("", text.strip()))
    rest, placed = (normalise(match["kind"]), folded_name(match["place"]) in facts.names) if match else (phrase, True)
    if not placed:
        return False
    adjective, kind = national_adjective_and_rest(rest, bundled_demonyms().countries)
    if adjective and not question_names_nation(adjective, facts):
        return False
    return (bool(adjective) or match is not None) and (not kind or kind in _ANYBODY | trivial or facts.implies(kind))


_ANYBODY = frozenset({"person", "human", "man", "woman"})  # kinds that are true of every person


def _calendar_units_of_whole_phrase(phrase: str) -> Iterator[CalendarUnit]:
    if match := re.fullmatch(r"(\d{3}0)s", phrase):
        yield CalendarUnit("decade", int(match[1]))
    elif match := re.fullmatch(r"(\d{1,2})(?:st|nd|rd|th) century", phrase):
        yield CalendarUnit("century", int(match[1]))
    elif re.fullmatch(r"[12]\d{3}", phrase):
        yield CalendarUnit("year", int(phrase))


def national_adjective_and_rest(phrase: str, adjectives: Mapping[str, object]) -> tuple[str, str]:
    """The national adjective at the start of a normalised phrase ("" for none), and the rest."""
    words = phrase.split()
    for size in (3, 2, 1):
        if len(words) >= size and (adjective := " ".join(words[:size])) in adjectives:
            return adjective, " ".join(words[size:])
    return "", phrase


def question_names_nation(adjective: str, facts: QuestionFacts) -> bool:
    """Whether a question names the nation, by its adjective or its country."""
    if adjective in facts.names:
        return True
    lands = bundled_demonyms().countries.get(adjective, ())
    named = (land for name in facts.names for land in _countries_by_name_or_adjective().get(name, ()))
    return not set(lands).isdisjoint(named)


@cache
def _countries_by_name_or_adjective() -> Mapping[str, tuple[str, ...]]:
    table = bundled_demonyms()
    out: dict[str, tuple[str, ...]] = {folded_name(name): ids for name, ids in table.names.items()}
    for word, ids in table.countries.items():
        out[folded_name(word)] = (*out.get(folded_name(word), ()), *ids)
    return out


# Names in a question, folded for comparison.


@bounded_cache(entries=1 << 14, longest=200)  # 20 MB at most
def folded_name(name: str) -> str:
    """A name folded for comparison: its words without case, accents and possessive endings."""
    return " ".join(map(_fold_word, _WORD.findall(name)))


def _fold_word(word: str) -> str:
    text = normalise(word)
    return (text if text.isascii() else without_accents(text.replace("’", "'"))).removesuffix("'s")


def _possible_names_in(question: str) -> tuple[frozenset[str], frozenset[str], tuple[str, ...], tuple[str, ...]]:
    """The possible names of a question: sequences that begin and end with a capital; without capitals any sequences.

    See the fields `names`, `behind_of`, `words` and `spelled` of QuestionFacts.
    """
    words = _WORD.findall(_ELIDED.sub(" ", question))[:MOST_WORDS]
    cased = any(word[0].isupper() for word in words[1:])
    folded_words = [_fold_word(word) for word in words]
    starts = [at for at, word in enumerate(words) if at and not (cased and word.islower())]
    ends = set(starts)
    names: set[str] = set()
    behind: set[str] = set()
    spelled: dict[str, None] = {}
    for start in starts:
        if cased and ACRONYM.fullmatch(words[start]):
            names.add(words[start])
        for end in range(start, min(len(words), start + LONGEST)):
            if end not in ends:
                continue
            name = " ".join(folded_words[start : end + 1])
            if not cased and len(name) < _LEAST_UNCASED:
                continue
            forms = [name, *(name[:-size] for ending, size in _ENDINGS if name.endswith(ending))]
            names.update(forms)
            spelled[" ".join(words[start : end + 1]).removesuffix("'s").removesuffix("’s")] = None
            if folded_words[start - 1] in _OF:
                behind.update(forms)
    longer = tuple(folded_words[at] for at in starts if cased and len(folded_words[at]) > INSIDE)
    ordered = sorted(spelled, key=lambda name: -name.count(" "))
    return frozenset(names), frozenset(behind), longer, tuple(ordered)
