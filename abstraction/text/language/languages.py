"""Languages as data: how each writes and reads dates, numbers, units and the few phrases that tiers need; and
countries by their names and adjectives in each.

Names of months, date patterns and number signs are from Unicode CLDR; `data/languages/<code>.json` adds what CLDR
lacks, and `languages()` lists the codes that have a file. A language in CLDR without a file (Polish) has no centuries;
a language that CLDR lacks uses the nearest of its fallbacks (Bavarian uses German). `language_gaps_notice` describes
these gaps to the user.

The bundled table of national adjectives ("French" for France) contains present states, some lands that are not states,
and common historical ones; the P1549 statements of a snapshot extend and correct it. Names in other languages are from
CLDR.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from pydantic import TypeAdapter

from abstraction.base.properties import package_data, package_text
from abstraction.text.language.cldr import cldr_data, cldr_name, territory_names
from abstraction.text.language.language_data import Language as Language
from abstraction.text.language.language_data import Nationals, any_of, without_accents
from abstraction.text.language.language_data import folded as folded
from kg.base.model import fallback_chain, normalise

# Loading a language: its file, completed by CLDR.

# All keys of date patterns, matched against lower-case text; "" where the language has none.
PATTERNS = (
    "lead", "weekday", "circa", "part", "range_joint", "range_lead", "era_before", "era_after", "decade",
    "short_decade", "century", "millennium", "season", "about",
)  # fmt: skip
GRAMMAR = "en"  # the only language with grammar rules: its questions and descriptions are parsed as sentences
_NEVER = re.compile(r"(?!)")
_MOST_DAYS = 31  # days of the longest month
_FOLDER = files("abstraction").joinpath("data/languages")


# The validator of Language, which converts JSON lists and strings to tuples, sets and numbers.
_validator = cache(lambda: TypeAdapter(Language))


class _LanguageData:
    """Converts the merged data of a file and CLDR to the fields of Language."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        ordinals, months = data["ordinals"], self.months()
        names = [folded(w).rstrip(".") for m in months for w in (m["name"], m["alone"], m["short"], *m["read"])]
        forms = "|".join(sorted({re.escape(n) for n in names if n}, key=lambda n: (-len(n), n)))
        heads = any_of(ordinals["count_words"]) if ordinals["count_words"] else ""
        numerals = "|[ivxl]{1,12}" if any("roman" in template for template in ordinals["counts"]) else ""
        # Days by their words: those in the file, and forms of number words ("quinze août").
        numbers = {word: n for word, n in _number_words(data["quantities"]).items() if 0 < n <= _MOST_DAYS}
        formed = {form.format(word): n for form in data["day_forms"] for word, n in numbers.items()}
        self.day_words = {folded(word): n for word, n in (formed | data["day_words"]).items()}
        days = "".join("|" + re.escape(word) for word in sorted(self.day_words, key=len, reverse=True))
        self.slots = {
            "<months>": rf"(?P<m>{forms})",
            "<month>": rf"(?P<m>{forms})(?!\w)\.?",
            "<weekday>": f"(?:{'|'.join(map(re.escape, dict.fromkeys(map(folded, data['weekdays']))))})",
            "<day>": rf"(?P<d>\d{{1,2}}{days})(?:{data['day_suffix']})?",
            "<year>": r"(?P<y>\d{1,4}|'\d\d)",
            "<spoken decade>": any_of(data["spoken_decades"].values()),
            "<count>": rf"(?P<n>(?:\d{{1,3}}{numerals})(?:{ordinals['suffix']})" + (f"|{heads}" if heads else "") + ")",
        }

    def fields(self) -> dict[str, Any]:
        """The fields of Language by name."""
        data = self.data
        quantities, months, zero = data["quantities"], self.months(), data["numbers"]["zero"]
        given = quantities | data["numbers"] | data["ordinals"] | data
        # Questions are searched in lower case without accents.
        unaccented = {
            key: re.sub(r"[^\x00-\x7f]+", lambda m: without_accents(m[0]), told) if key.startswith("asks_") else told
            for key, told in data["matching"].items()
        }
        return {
            **{key: value for key, value in given.items() if key in _FIELDS},
            **{key: [(self.pattern(told), other) for told, other in data[key]] for key in _PAIRS_WITH_PATTERNS},
            "months": months,
            "marks": {era: tuple(data["marks"][era]) for era in ("BC", "BCE")},
            "templates": data["write"],
            "patterns": {key: self.pattern(data["read"].get(key, "")) for key in PATTERNS},
            "month_day": self.pattern("<month> <day>"),
            "day_year": self.pattern(r"<day>,? (?P<y>\d{3,4})"),
            "day_words": self.day_words,
            # The translation of 0 to 9 to the script's digits; empty where they are the same.
            "digits": {} if zero == "0" else {ord("0") + digit: chr(ord(zero) + digit) for digit in range(10)},
            "scales": [
                {"power": power, "singular": one, "plural": many, "read": read}
                for power, one, many, *read in sorted(quantities["scales"], key=lambda row: -row[0])
            ],
            "number_words": {folded(word): number for word, number in _number_words(quantities).items()},
            "no_nouns": {*quantities["no_noun"], *(folded(month["name"]) for month in months)},
            "singular_of": self.pattern(data["singular_of"]),
            "matching": {key: self.pattern(told) for key, told in unaccented.items()},
            "demonyms": {
                place: Nationals(adjectives=tuple(words.split("|")), names=tuple(filter(None, names.split("|"))))
                for place, (words, _, names) in ((key, told.partition(";")) for key, told in data["demonyms"].items())
            },
        }

    def pattern(self, text: str) -> re.Pattern[str]:
        for slot, expression in self.slots.items():
            text = text.replace(slot, expression)
        return re.compile(text) if text else _NEVER

    def months(self) -> list[dict[str, Any]]:
        names, rows, shorts = self.data["month_names"], self.data["months"], self.data["short_months"]
        return [
            {
                "name": name,
                "alone": alone,
                "short": shorts.get(str(number), "" if short == name else short),
                "read": (short, short_alone, *row),
            }
            for number, ((name, alone, short, short_alone), row) in enumerate(zip(names, rows, strict=True), 1)
        ]


_FIELDS = frozenset(field.name for field in dataclasses.fields(Language))
# Patterns with their replacements, or with the style of a date.
_PAIRS_WITH_PATTERNS = ("points", "elided", "singular", "bare_names", "around_names", "endings", "derived")


def _number_words(data: Mapping[str, Any]) -> dict[str, int]:
    """Numbers by their words: those listed, and those generated from `counting` to 99 and for whole hundreds.

    `counting` has the words of 0 to 19, of 20, 30 ... 90 and, where they have their own words, of 100, 200 ..., with
    "/" between alternative forms; `join` are templates for combining them with {one}, {ten} and {stem} (the ten
    without its last letter): "{one}und{ten}".
    """
    counting = data["counting"]
    ones, tens, hundreds = (
        [word.split("/") for word in counting.get(key, "").split()] for key in ("ones", "tens", "hundreds")
    )
    units = [(digit, one) for digit, forms in enumerate(ones[1:10], 1) for one in forms]
    words = {form: 100 * n for n, forms in enumerate(hundreds, 1) for form in forms}
    for number, forms in enumerate(tens, 2):
        for ten in forms:
            words[ten] = 10 * number
            for joint in counting["join"]:
                words |= {joint.format(one=one, ten=ten, stem=ten[:-1]): 10 * number + digit for digit, one in units}
    words |= {form: n for n, forms in enumerate(ones) for form in forms}
    listed: dict[str, int] = data["words"]
    return words | listed


# Choice of languages.


@cache
def languages() -> tuple[str, ...]:
    """The sorted codes of languages with a file."""
    return tuple(sorted(f.name.removesuffix(".json") for f in _FOLDER.iterdir() if f.name.endswith(".json")))


@lru_cache(maxsize=1024)  # bounded, since codes come from requests too
def language(code: str) -> Language:
    """The language of a code, or its first fallback with a file or in CLDR; English as a last resort.

    For a language with a file, CLDR's data of its other scripts are not used.
    """
    for known in fallback_chain(code.lower()):
        if known in languages() or (known.split("-")[0] not in languages() and cldr_name(known) is not None):
            return _load_language(known)
    return _load_language("en")


@cache
def _load_language(code: str) -> Language:
    """Load the language of a code that has a file or is in CLDR: its file, completed by CLDR."""
    if has_file := code in languages():
        given = json.loads((_FOLDER / f"{code}.json").read_text(encoding="utf-8"))
    else:
        given = {"code": code, "months": [[]] * 12, **package_data("other_languages.json").get(code.split("-")[0], {})}
    data = cldr_data(code)
    for key, value in given.items():
        is_table = isinstance(data.get(key), dict) and isinstance(value, dict)
        data[key] = data[key] | value if is_table else value
    return _validator().validate_python({"has_file": has_file, **_LanguageData(data).fields()})


def is_supported_language(code: str) -> bool:
    """Whether dates and quantities are read and written in the language itself: de-at in German yes, tlh no."""
    return language(code).code.split("-")[0] == code.lower().split("-")[0]


def supported_languages_text() -> str:
    """The supported languages as text for messages."""
    return f"{', '.join(languages())} and those of Unicode CLDR"


def description_language(code: str) -> str:
    """The language in which labels and descriptions are read: `code` for a variety of English, else "en".

    The grammar of descriptions is English, so only English descriptions are parsed.
    """
    return code if has_grammar(code) else GRAMMAR


def has_grammar(code: str) -> bool:
    """Whether the rules have a grammar for the language, not just its words: true for English only."""
    return code.lower().partition("-")[0] == GRAMMAR


@cache
def question_words() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """The words that ask for each kind of answer, by language code, for languages that have them, sorted by code.

    They are loaded without the rest of the language, since most questions need no more.
    """
    given = {code: json.loads((_FOLDER / f"{code}.json").read_text(encoding="utf-8")) for code in languages()}
    given |= {code: words for code, words in package_data("other_languages.json").items() if "asks" in words}
    return {code: words["asks"] for code, words in sorted(given.items()) if words.get("asks")}


def language_gaps_notice(code: str) -> str | None:
    """A sentence that lists the gaps of a language without a file; None for a language with one."""
    used = language(code)
    if not is_supported_language(code):
        return (
            f"no rules for {code!r} (there are: {supported_languages_text()}): "
            f"names come from labels, dates and quantities are read and written in {used.name}"
        )
    if used.has_file:
        return None
    told = {
        "decades": used.has_words_for("decade"), "centuries": used.has_words_for("century"),
        "words for about": used.about[1:],
        "bounds of amounts": used.more[1:], "numbers in words": used.number_words or not used.separates_words_by_spaces,
        "names of units": used.units, "phrases": False, "national adjectives": used.demonyms,
        "words of denial": used.around_names, "word endings": used.endings, "question words": used.asks,
    }  # fmt: skip
    lacks = [what for what, given in told.items() if not given]
    return f"{code!r} has days, months, years and numbers from Unicode CLDR, but no {', no '.join(lacks)}"


@dataclass(frozen=True, kw_only=True)
class Demonyms:
    """National adjectives by country, and countries by adjective. Words are normalised.

    `adjectives` maps a country's QID to its adjective for phrases, `countries` an adjective or attributive name ("US")
    to QIDs, `names` a country's name to QIDs, the present state first where a word fits several; `variants` maps a QID
    to its other adjectives.
    """

    adjectives: Mapping[str, str]
    countries: Mapping[str, tuple[str, ...]]
    names: Mapping[str, tuple[str, ...]]
    variants: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@lru_cache(maxsize=1)
def bundled_demonyms() -> Demonyms:
    """The table of the package, `data/demonyms.tsv`."""
    adjectives: dict[str, str] = {}
    countries: dict[str, list[str]] = {}
    names: dict[str, list[str]] = {}
    variants: dict[str, tuple[str, ...]] = {}
    for line in package_text("demonyms.tsv").splitlines():
        if not line or line.startswith("#"):
            continue
        qid, adjective, others, called = line.split("\t")
        adjectives[qid] = adjective
        variants[qid] = tuple(o for o in others.split("|") if o)
        for word in (adjective, *variants[qid]):
            countries.setdefault(normalise(word), []).append(qid)
        for name in called.split("|"):
            names.setdefault(normalise(name), []).append(qid)
    return Demonyms(
        adjectives=adjectives,
        countries={word: tuple(dict.fromkeys(qids)) for word, qids in countries.items()},
        names={name: tuple(dict.fromkeys(qids)) for name, qids in names.items()},
        variants=variants,
    )


@lru_cache(maxsize=64)  # bounded, since codes come from requests too
def territory_labels(code: str) -> Mapping[str, str]:
    """The names of countries, continents and regions in a language, by QID; empty for English."""
    own = language(code).code
    if own.startswith("en"):
        return {}
    table, english, names = package_data("regions.json"), bundled_demonyms().names, territory_names(own)
    countries = {
        qid: names[iso]
        for iso, name in territory_names("en").items()
        if iso in names
        for qid in english.get(normalise(name), ())[:1]
    }
    regions = {**names, **territory_names(own, regions=True)}
    named = {qid: regions[known] for qid, known in table["codes"].items() if known in regions}
    return countries | named | {qid: labels[own] for qid, labels in table["names"].items() if own in labels}


@lru_cache(maxsize=64)  # bounded, since codes come from requests too
def _qids_by_adjective_stem(code: str) -> Mapping[str, str]:
    """QIDs of countries and continents by the stems of their adjectives in a language; empty for English."""
    words, labels = language(code), territory_labels(code)
    names, by_name = territory_names(words.code), {name: qid for qid, name in labels.items()}
    stems: dict[str, str] = {}
    for place, nationals in words.demonyms.items():
        if (qid := by_name.get(names.get(place, place))) is not None:
            for word in nationals.adjectives:
                stems.setdefault(words.stem(word), qid)
    return stems


def countries_named_by_adjectives_in(text: str, code: str) -> frozenset[str]:
    """The QIDs of countries and continents whose adjectives occur in a text in lower case: "südamerikanische"."""
    adjectives = _qids_by_adjective_stem(code)
    small = (word for word in _WORD.findall(text) if word.islower()) if adjectives else ()
    return frozenset(filter(None, map(adjectives.get, map(language(code).stem, small))))


# Words of four letters and more: shorter ones are no adjectives of countries.
_WORD = re.compile(r"[^\W\d_]{4,}(?:-[^\W\d_]+)?")
_ADJECTIVE_ENDING = re.compile(r"(?:[^aeiou]ish|an|ese|ic|i|ois|ch|ese|ense|é|que|sh|ss)$")


def choose_adjective(candidates: Sequence[str], frequency: Mapping[str, int], known: str | None) -> str | None:
    """The national adjective among a country's P1549 values, which mix adjectives, nouns and plurals.

    The form that begins most descriptions is chosen; if none does, the bundled adjective, then the form with the most
    adjectival ending, singular before plural.
    """
    forms: list[str] = [*([known] if known else []), *candidates]
    pool = [form for form in dict.fromkeys(forms) if form]
    if not pool:
        return None
    bases = {c.casefold() for c in pool}
    singular = [c for c in pool if not (c.endswith("s") and c[:-1].casefold() in bases)] or pool
    used = [c for c in singular if frequency.get(normalise(c), 0) > 0]
    if used:
        return max(used, key=lambda c: (frequency[normalise(c)], c == known))
    if known:
        return known
    adjectival = [c for c in singular if _ADJECTIVE_ENDING.search(c) and c[:1].isupper()]
    return (adjectival or singular)[0]
