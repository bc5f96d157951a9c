"""Descriptions as sequences of words with positions, and the words that a snapshot attests.

Every grammar works on `DescriptionWord`s, so that the words it used can be located in the original text. A phrase may
be shortened only to one that WikiData's editors use; `Vocabulary` answers whether they do.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice, takewhile

from abstraction.base.properties import package_text
from abstraction.base.relations import LONGEST_DESCRIPTION
from abstraction.text.language.languages import bundled_demonyms, choose_adjective
from abstraction.text.language.phrases import is_informative, shortening_changes_meaning, word_list
from kg.base.bounded_cache import bounded_cache
from kg.base.model import Rank, TextValue, fallback_chain, normalise
from kg.store.protocol import Store

DESCRIPTIONS_READ = 300_000  # descriptions counted at most, to bound the time of loading a vocabulary
LONGEST_OPENING = 250  # characters; longer openings of descriptions are skipped
MIN_ATTESTED = 3  # descriptions that a phrase must open: fewer may be slips
# Profession, occupation, artistic and film professions.
OCCUPATION_CLASSES = ("Q28640", "Q12737077", "Q88789639", "Q66715801")
COUNTRIES_READ = 2_000  # most frequent values of each country property whose demonyms are read
# Families of things; each has a word list `data/<family>_types.txt`.
FAMILIES = ("organisation", "group", "work", "award", "event")

# The end of the head phrase of a description.
_HEAD_END = re.compile(
    r"[,;:(/]|\s(?:in|of|on|at|from|near|between|by|within|who|that|which|located|situated|for|with|to|and|based|founded|"
    r"owned|directed|written|created|produced|starring|under|during|about|published|released|known|active|as|or|is|was)\b"
)
# Values of P106 that are fields or activities ("acting", "prose"), not occupations of a person.
_NO_PERSON = re.compile(
    r"(?:[^k]ing|ance|design|theat(?:re|er)|music|ology|ism|ics|[^s]tion|ment|ature|prose|dramaturgy|medical|literary|musical|erudite|s['’]s|arts?|personnel|people|humans)$"
)
# Years, decades and centuries at the start.
_LEADING_DATE = re.compile(r"^(?:(?:early |late |mid-?)?\d[\w–-]*(?: century)?\s+)+")
# Brackets, separators, words with inner hyphens and dots, full stops.
_TOKEN = re.compile(
    r"(?P<open>[(\[])|(?P<close>[)\]])|(?P<separator>[,;/&:|•]|(?<=\s)[-–—](?=\s))"
    r"|(?P<word>\d+(?:,\d{3})+|[A-Z]&[A-Z]|(?:[A-Z]\.){1,}(?:-\w+)*|[^\W_][\w]*(?:[-–‐'’.&+][^\W_]\w*)*(?:['’](?=\s|$))?)"
    r"|(?P<stop>\.(?=\s|$))|(?P<other>\S)"
)
# Life dates at the end: "(1879-1955)", "born 1961".
_DATES = re.compile(
    r"(?:,?(?:(?<!\s)\s++)?(?:\(|\[)?\b(?:c(?:a|irca)?\.?\s*+|b\.\s*+|born\s++|fl\.\s*+|died\s++)?\d{3,4}"
    r"(?:\s*+(?:BC|AD|CE|BCE))?\s*+[-–—]\s*+(?:c\.\s*+)?(?:\d{2,4}|present)?\s*+(?:BC|AD|CE|BCE)?(?:\)|\])?"
    r"|,?(?:(?<!\s)\s++)?\bborn\s++(?:in\s++)?\d{4}\b)\s*+\.?\s*+$"
)


@dataclass(frozen=True, slots=True)
class DescriptionWord:
    """A word or a separator of a description, with its [start, end) in the original text."""

    text: str
    start: int
    end: int
    separator: bool = False

    @property
    def key(self) -> str:
        """The normalised word, for comparison."""
        return normalise(self.text)

    @property
    def is_capitalised(self) -> bool:
        """Whether it starts with an upper-case letter."""
        return self.text[:1].isupper()


def description_words(description: str) -> tuple[DescriptionWord, ...]:
    """The words of the first LONGEST_DESCRIPTION characters, without brackets, final life dates and full stops.

    A full stop after a lower-case word ends the description, since another sentence follows.
    """
    end = min(len(description), LONGEST_DESCRIPTION)
    dates = _DATES.search(description, 0, end)
    if dates and dates.start() > 0:
        end = dates.start()
    out: list[DescriptionWord] = []
    depth = 0
    for token in _TOKEN.finditer(description, 0, end):
        kind = token.lastgroup
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth = max(0, depth - 1)
        elif depth:
            continue
        elif kind == "stop":
            if out and out[-1].text.islower() and len(out[-1].text) > 2:
                break
        elif kind == "separator":
            out.append(DescriptionWord(token.group(), token.start(), token.end(), separator=True))
        elif kind == "word":
            out.append(DescriptionWord(token.group(), token.start(), token.end()))
    return tuple(out)


def first_clause(description: str, ends: str) -> list[DescriptionWord]:
    """The words up to the first separator that is among `ends`."""
    return list(takewhile(lambda word: not (word.separator and word.text in ends), description_words(description)))


def split_at(sequence: Sequence[DescriptionWord], marks: frozenset[str]) -> list[list[DescriptionWord]]:
    """The sequences between separators or words in `marks`, without empty ones."""
    runs: list[list[DescriptionWord]] = [[]]
    for word in sequence:
        if word.key in marks and (word.separator or word.text.islower()):
            runs.append([])
        else:
            runs[-1].append(word)
    return [run for run in runs if run]


def joined_text(sequence: Sequence[DescriptionWord]) -> str:
    """The words as text with single spaces, but none before ",", ";" and ":"."""
    return re.sub(" (?=[,;:])", "", " ".join(word.text for word in sequence))


def spans_of_contiguous_words(sequence: Sequence[DescriptionWord]) -> list[tuple[int, int]]:
    """The [start, end) of each contiguous run of the words in the description."""
    out: list[tuple[int, int]] = []
    for word in sorted(sequence, key=lambda w: w.start):
        if out and word.start - out[-1][1] <= 1:
            out[-1] = (out[-1][0], word.end)
        elif not out or word.start >= out[-1][1]:
            out.append((word.start, word.end))
    return out


@dataclass(frozen=True, kw_only=True, eq=False)
class Vocabulary:
    """Attested words of one language. Keys are normalised.

    `occupations` maps names (labels and aliases of P106 values and of occupation classes) to QIDs: those with the
    name as label first, frequent before rare ones; `labelled` maps labels only. `phrases` counts openings
    of descriptions (before the first comma, preposition, conjunction or relative clause) without year or nationality.
    `adjectives` and `countries` are the snapshot's demonyms that add to the bundled ones. `lowercase` are words that
    descriptions write in lower case: common nouns and adjectives.
    """

    language: str = "en"
    occupations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    labelled: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    phrases: Mapping[str, int] = field(default_factory=dict)
    adjectives: Mapping[str, str] = field(default_factory=dict)
    countries: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lowercase: frozenset[str] = frozenset()

    @classmethod
    def from_store(cls, store: Store, language: str = "en") -> Vocabulary:
        """Read the words of a snapshot: occupations, demonyms, and up to DESCRIPTIONS_READ descriptions."""
        chain = fallback_chain(language)
        occupations, labelled = _occupation_ids_by_name(store, chain)
        told = Counter(
            _HEAD_END.split(text, maxsplit=1)[0].strip(" .")
            for text in islice(store.descriptions(chain), DESCRIPTIONS_READ)
        )
        openings: Counter[str] = Counter()
        first_words: Counter[str] = Counter()
        lowercase: Counter[str] = Counter()
        capital: Counter[str] = Counter()
        for opening, times in told.items():  # many openings are equal, so each is parsed once
            words = opening.split()
            if not words or len(words) > 8 or len(opening) > LONGEST_OPENING:
                continue
            first_words[normalise(words[0])] += times
            if len(words) > 1 and words[1][:1].isupper():
                first_words[normalise(f"{words[0]} {words[1]}")] += times
            for word in words:
                if word.islower():
                    lowercase[word] += times
            for word in words[1:]:
                if word[:1].isupper():
                    capital[word.lower()] += times
            openings[normalised_opening_without_date_and_nation(opening)] += times
        adjectives, countries = _adjective_by_country_and_countries_by_adjective(store, language, first_words)
        return cls(
            language=language,
            occupations=occupations,
            labelled=labelled,
            phrases={phrase: count for phrase, count in openings.items() if count > 1 and phrase},
            adjectives=adjectives,
            countries=countries,
            lowercase=frozenset(word for word, count in lowercase.items() if count > 2 * capital[word]),
        )

    def attests(self, phrase: str) -> bool:
        """Whether the phrase names an occupation or common class, or opens at least MIN_ATTESTED descriptions."""
        key = normalise(phrase)
        return (
            key in self.occupations
            or key in _common_kind_names_and_words()[0]
            or self.phrases.get(key, 0) >= MIN_ATTESTED
        )

    def is_occupation(self, phrase: str) -> bool:
        """Whether the phrase is the name of an occupation."""
        key = normalise(phrase)
        return key in self.occupations or key in common_occupations()

    def is_common_word(self, word: str) -> bool:
        """Whether a word is a common noun or adjective, by its spelling in descriptions and in the bundled lists."""
        key = normalise(word)
        return key in self.lowercase or key in _common_kind_names_and_words()[1]

    def adjective_of_country(self, country: str) -> str | None:
        """The national adjective for a country's QID, or None."""
        return self.adjectives.get(country) or bundled_demonyms().adjectives.get(country)

    def countries_of_adjective(self, adjective: str) -> tuple[str, ...]:
        """QIDs of the countries that an adjective refers to, the present state first; empty for other words."""
        key = normalise(adjective)
        return tuple(dict.fromkeys((*bundled_demonyms().countries.get(key, ()), *self.countries.get(key, ()))))


@bounded_cache(entries=1 << 14, longest=100)  # 15 MB at most
def normalised_opening_without_date_and_nation(opening: str) -> str:
    """The opening of a description without leading year, era and nationality, normalised."""
    words = _LEADING_DATE.sub("", opening).split()
    known = bundled_demonyms().countries
    for size in (3, 2, 1):
        if len(words) > size and normalise(" ".join(words[:size])) in known:
            words = words[size:]
            break
    return normalise(" ".join(words))


@lru_cache(maxsize=8)
def _word_list(name: str) -> tuple[str, ...]:
    lines = (line.split("#", 1)[0] for line in package_text(name).splitlines())
    return tuple(word.strip() for line in lines for word in line.split(",") if word.strip())


@lru_cache(maxsize=1)
def common_occupations() -> frozenset[str]:
    """Bundled common names of occupations, for snapshots too small to attest them."""
    return frozenset(map(normalise, _word_list("occupations.txt")))


@lru_cache(maxsize=8)
def common_type_names(family: str) -> frozenset[str]:
    """Bundled common names of kinds of things in one of the FAMILIES, normalised."""
    return frozenset(map(normalise, _word_list(f"{family}_types.txt")))


@lru_cache(maxsize=1)
def _common_kind_names_and_words() -> tuple[frozenset[str], frozenset[str]]:
    """All bundled names of occupations and of things, and their lower-case words: "priest", not "Catholic"."""
    files = ("occupations.txt", *(f"{family}_types.txt" for family in FAMILIES))
    phrases = [phrase for name in files for phrase in _word_list(name)]
    lowercase = frozenset(word for phrase in phrases for word in phrase.split() if word.islower())
    return frozenset(map(normalise, phrases)), lowercase


def _occupation_ids_by_name(
    store: Store, chain: Sequence[str]
) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """QIDs of occupations by label and alias, and by label alone."""
    counts = dict(store.values_of("P106"))
    classes = store.referrers([("P31", kind) for kind in OCCUPATION_CLASSES])
    ids = dict.fromkeys((*counts, *(i for members in classes.values() for i in members)))
    known = store.entities(ids, languages=chain, properties=())
    entities = sorted((known[qid] for qid in ids if qid in known), key=lambda e: -counts.get(e.id, 0))
    labelled: defaultdict[str, list[str]] = defaultdict(list)
    for entity in entities:
        label = next((entity.labels[code] for code in chain if code in entity.labels), None)
        if label is not None and not _NO_PERSON.search(label):
            labelled[normalise(label)].append(entity.id)
    named = defaultdict(list, {label: list(owners) for label, owners in labelled.items()})
    for entity in entities:
        for name in dict.fromkeys(normalise(alias) for code in chain for alias in entity.aliases.get(code, ())):
            # A name of one person is not plural, bracketed or very short.
            is_plural = name.endswith("s") and name[:-1] in labelled
            if len(name) < 3 or "(" in name or is_plural or _NO_PERSON.search(name):
                continue
            if entity.id not in named[name]:
                named[name].append(entity.id)
    return _values_as_tuples(named), _values_as_tuples(labelled)


def _adjective_by_country_and_countries_by_adjective(
    store: Store, language: str, first_words: Mapping[str, int]
) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """The snapshot's national adjectives (P1549): the best one by country, and countries by each form.

    The second map leaves out the countries that the bundled table has.
    """
    ids = dict.fromkeys(
        qid for prop in ("P27", "P17", "P495") for qid, _ in store.values_of(prop, limit=COUNTRIES_READ)
    )
    adjectives: dict[str, str] = {}
    countries: defaultdict[str, list[str]] = defaultdict(list)
    bundled = bundled_demonyms()
    known = store.entities(ids, languages=(language,), properties=("P1549",))
    for entity in (known[qid] for qid in ids if qid in known):
        forms = [
            s.value.text
            for s in entity.values("P1549")
            if isinstance(s.value, TextValue) and s.value.language == language and s.rank is not Rank.DEPRECATED
        ]
        chosen = choose_adjective(forms, first_words, bundled.adjectives.get(entity.id)) if forms else None
        if chosen is not None:
            adjectives[entity.id] = chosen
        if entity.id not in bundled.adjectives:
            for form in forms:
                if form[:1].isupper():
                    countries[normalise(form)].append(entity.id)
    return adjectives, _values_as_tuples(countries)


def _values_as_tuples(lists: Mapping[str, list[str]]) -> dict[str, tuple[str, ...]]:
    return {key: tuple(values) for key, values in lists.items()}


_AND = frozenset({"and", "&", "or"})
# Media, which are often joined: "radio and television network".
_MEDIA = frozenset({"television", "radio", "film", "newspaper", "magazine", "book", "cable", "broadcast"})
LONGEST_PHRASE = 20  # words of the longest suffix that is tried


def is_lower_case_or_common_word(word: DescriptionWord, vocabulary: Vocabulary) -> bool:
    """Whether the word is in lower case, or a common noun or adjective with a capital first letter."""
    return not word.is_capitalised or (not word.text.isupper() and vocabulary.is_common_word(word.text))


def lowercase_common_nouns(
    sequence: Sequence[DescriptionWord], vocabulary: Vocabulary, is_name: Callable[[str], bool]
) -> str:
    """The words as text, with common nouns in lower case: descriptions may capitalise their first word, or all.

    `is_name` is true for names of a kind ("disc jockey"), whose words are all common nouns.
    """
    texts = [w.text for w in sequence]
    if any(w.is_capitalised for w in sequence):
        named = next((i for i in range(len(texts)) if is_name(" ".join(texts[i:]))), len(texts))
        for index in range(len(texts) - 1, -1, -1):
            word = sequence[index]
            last = index + 1 == len(texts) or not texts[index + 1][:1].isupper()
            if (
                word.is_capitalised
                and is_capital_by_position(word, vocabulary)
                and (index >= named or (word.start == 0 and last))
            ):
                texts[index] = word.text.lower()
    return " ".join(texts)


def is_capital_by_position(word: DescriptionWord, vocabulary: Vocabulary) -> bool:
    """Whether a capital at the start of a phrase is due to the position only."""
    return (len(word.text) == 1 or not word.text.isupper()) and vocabulary.is_common_word(word.text)


def may_shorten(longer: str, shorter: str, vocabulary: Vocabulary) -> bool:
    """Whether `shorter`, a suffix of `longer`, is attested, informative alone and entailed by `longer`."""
    if not vocabulary.attests(shorter) or not is_informative(shorter) or shortening_changes_meaning(longer, shorter):
        return False
    before = longer.removesuffix(shorter).split()[-1:]
    # "television and radio network" must not become "radio network".
    return not before or not (before[0] in _AND or (before[0] in _MEDIA and shorter.split()[0] in _MEDIA))


def shortenings(phrase: str, vocabulary: Vocabulary) -> tuple[str, ...]:
    """The phrase and each of its suffixes that may replace it, longest first, of at most LONGEST_PHRASE words."""
    parts = phrase.split()
    first = max(1, len(parts) - LONGEST_PHRASE)
    return (phrase, *(s for i in range(first, len(parts)) if may_shorten(phrase, s := " ".join(parts[i:]), vocabulary)))


def separates_conjuncts(clause: Sequence[DescriptionWord], at: int) -> bool:
    """Whether the word separates conjuncts: a comma, "and", "as well as", but not the "and" of "track and field"."""
    word = clause[at]
    if word.separator:
        return True
    if word.text == "as" and [w.text for w in clause[at : at + 3]] == ["as", "well", "as"]:
        return True
    if word.text == "and" and 0 < at < len(clause) - 1:
        return (clause[at - 1].key, clause[at + 1].key) not in _pairs_joined_by_and()
    return word.text in word_list("joints")


@lru_cache(maxsize=1)
def _pairs_joined_by_and() -> frozenset[tuple[str, str]]:
    """Pairs of words whose "and" does not separate conjuncts: in names of countries and fixed expressions."""
    out: set[tuple[str, str]] = set()
    for name in (*bundled_demonyms().names, *bundled_demonyms().countries, *word_list("collocations")):
        parts = name.split()
        out.update((parts[i - 1], parts[i + 1]) for i in range(1, len(parts) - 1) if parts[i] == "and")
    return frozenset(out)
