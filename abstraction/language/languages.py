"""Languages as data: how each writes and reads dates, numbers, units and the few phrases that tiers need.

Names of months, patterns of dates and signs of numbers are Unicode CLDR's; one file a language,
`data/languages/<code>.json`, has what CLDR lacks, and `languages()` names those there are. A language that CLDR
alone knows (Polish) goes without centuries, and one that it does not know borrows the nearest of its fallbacks
(Bavarian is German). `notice` says so.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from pydantic import TypeAdapter

from abstraction.language.cldr import cldr_data, cldr_name
from abstraction.language.language_data import Language, Nationals, any_of, folded, without_accents
from abstraction.package_data import package_data
from kg.terms import fallback_chain

# Reading a language's data: its file, and what CLDR tells where the file has nothing.

# Every list of templates there is; the slots of each are those that en.json has.
TEMPLATES = (
    "year", "year_in_date", "year_before", "year_after_BC", "year_after_BCE", "day", "day_month_first", "day_also",
    "day_short", "day_numeric", "month", "month_also", "month_short", "decade", "decade_short", "century",
    "century_end", "century_beginning", "turn", "millennium", "years_ago", "range", "circa", "completed",
    "completed_century", "completed_millennium", "percent", "age", "teens",
)  # fmt: skip
# Every regular expression of dates there is, read against lower-case text; "" where the language has none.
PATTERNS = (
    "lead", "weekday", "circa", "part", "range_joint", "range_lead", "era_before", "era_after", "decade",
    "short_decade", "century", "millennium", "season", "about",
)  # fmt: skip
GRAMMAR = "en"  # the language whose grammar the rules know; questions and descriptions in it are read as sentences
_NEVER = re.compile(r"(?!)")
_MOST_DAYS = 31  # of a month


def _language(file_data: Mapping[str, Any], *, has_file: bool) -> Language:
    """A language by its file, and by CLDR where that has nothing."""
    data = cldr_data(file_data["code"])
    for key, value in file_data.items():
        is_table = isinstance(data.get(key), dict) and isinstance(value, dict)
        data[key] = data[key] | value if is_table else value
    return _as_language().validate_python({"has_file": has_file, **_LanguageData(data).fields()})


@cache
def _as_language() -> TypeAdapter[Language]:
    """What makes tuples, sets and numbers of what JSON has in their place."""
    return TypeAdapter(Language)


class _LanguageData:
    """What a file and CLDR tell of a language as the fields of a Language."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        counts, months = data["counts"], self.months()
        names = [folded(w).rstrip(".") for m in months for w in (m["name"], m["alone"], m["short"], *m["read"])]
        forms = "|".join(sorted({re.escape(n) for n in names if n}, key=lambda n: (-len(n), n)))
        heads = any_of(counts["words"]) if counts["words"] else ""
        numerals = "|[ivxl]{1,12}" if any("roman" in template for template in counts["written"]) else ""
        self.day_words = self.spoken_days()
        days = "".join("|" + re.escape(word) for word in sorted(self.day_words, key=len, reverse=True))
        self.slots = {
            "<months>": rf"(?P<m>{forms})",
            "<month>": rf"(?P<m>{forms})(?!\w)\.?",
            "<weekday>": f"(?:{'|'.join(map(re.escape, dict.fromkeys(map(folded, data['weekdays']))))})",
            "<day>": rf"(?P<d>\d{{1,2}}{days})(?:{data['day_suffix']})?",
            "<year>": r"(?P<y>\d{1,4}|'\d\d)",
            "<spoken decade>": any_of(data["spoken_decades"].values()),
            "<count>": rf"(?P<n>(?:\d{{1,3}}{numerals})(?:{counts['suffix']})" + (f"|{heads}" if heads else "") + ")",
        }

    def fields(self) -> dict[str, Any]:
        """The fields by their names."""
        data = self.data
        numbers, counts, quantities = data["numbers"], data["counts"], data["quantities"]
        months, zero = self.months(), numbers["zero"]
        unaccented = {k: _unaccented(v) if k.startswith("asks_") else v for k, v in data["matching"].items()}
        return {
            **{key: value for key, value in (quantities | numbers | data).items() if key in _FIELDS},
            **{key: self.replacements(key) for key in _REPLACEMENTS},
            "months": months,
            "marks": {era: tuple(data["marks"][era]) for era in ("BC", "BCE")},
            "templates": {key: data["write"].get(key, ()) for key in TEMPLATES},
            "patterns": {key: self.pattern(data["read"].get(key, "")) for key in PATTERNS},
            "points": [(self.pattern(told), style) for told, style in data["points"]],
            "month_day": self.pattern("<month> <day>"),
            "day_year": self.pattern(r"<day>,? (?P<y>\d{3,4})"),
            "counts": counts["written"],
            "special_counts": counts["special"],
            "count_words": counts["words"],
            "nth": counts["endings"],
            "day_words": self.day_words,
            # What puts a script's digits in place of 0 to 9; empty where they are these.
            "digits": {} if zero == "0" else {ord("0") + digit: chr(ord(zero) + digit) for digit in range(10)},
            "scales": [
                {"power": power, "singular": one, "plural": many, "read": read}
                for power, one, many, *read in sorted(quantities["scales"], key=lambda row: -row[0])
            ],
            "joint_and": quantities["and"],
            "joint_to": quantities["to"],
            "number_words": {folded(word): number for word, number in _number_words(quantities).items()},
            "no_nouns": {*quantities["no_noun"], *(folded(month["name"]) for month in months)},
            "singular_of": self.pattern(data["singular_of"]),
            "matching": {key: self.pattern(told) for key, told in unaccented.items()},
            "demonyms": {place: _nationals(told) for place, told in data["demonyms"].items()},
            "own_function_words": data["function_words"],
        }

    def spoken_days(self) -> dict[str, int]:
        """The words of days: those listed, and the forms of numbers that days have ("quinze août")."""
        numbers = {word: n for word, n in _number_words(self.data["quantities"]).items() if 0 < n <= _MOST_DAYS}
        formed = {form.format(word): n for form in self.data["day_forms"] for word, n in numbers.items()}
        return {folded(word): n for word, n in (formed | self.data["day_words"]).items()}

    def pattern(self, text: str) -> re.Pattern[str]:
        for slot, expression in self.slots.items():
            text = text.replace(slot, expression)
        return re.compile(text) if text else _NEVER

    def replacements(self, key: str) -> list[tuple[re.Pattern[str], str]]:
        return [(self.pattern(told), replacement) for told, replacement in self.data[key]]

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
_REPLACEMENTS = ("elided", "singular", "bare_names", "around_names", "endings", "derived")


def _nationals(told: str) -> Nationals:
    adjectives, _, names = told.partition(";")
    return Nationals(adjectives=tuple(adjectives.split("|")), names=tuple(filter(None, names.split("|"))))


def _number_words(data: Mapping[str, Any]) -> dict[str, int]:
    """Words for numbers: those listed, and those of `counting` to 99 and for whole hundreds.

    `counting` has the words of 0 to 19, of 20, 30 ... 90 and, where they are words of their own, of 100, 200 ...,
    with "/" between forms of one; `join` are templates of the rest, with {one}, {ten} and {stem}, the latter
    without its last letter: "{one}und{ten}".
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


def _unaccented(pattern: str) -> str:
    """An expression as it is read against text in small letters without accents."""
    return re.sub(r"[^\x00-\x7f]+", lambda letters: without_accents(letters[0]), pattern)


# The languages there are, and which one reads a text.


__all__ = [
    "GRAMMAR",
    "Language",
    "folded",
    "is_grammatical",
    "is_known",
    "language",
    "languages",
    "notice",
    "question_words",
    "reading_language",
    "told_languages",
]


@cache
def languages() -> tuple[str, ...]:
    """The codes of the languages that have a file, in order."""
    return tuple(sorted(f.name.removesuffix(".json") for f in _folder().iterdir() if f.name.endswith(".json")))


@lru_cache(maxsize=1024)  # codes may come from outside
def language(code: str) -> Language:
    """The language of a code, or the first of its fallbacks that has a file or is CLDR's (`en` is the last of all)."""
    return _known(next((fallback for fallback in fallback_chain(code.lower()) if _has_data(fallback)), "en"))


@cache
def _known(code: str) -> Language:
    """The language of a code that has a file, or is CLDR's."""
    if code in languages():
        return _language(json.loads((_folder() / f"{code}.json").read_text(encoding="utf-8")), has_file=True)
    few = package_data("other_languages.json").get(code.split("-")[0], {})
    return _language({"code": code, "months": [[]] * 12, **few}, has_file=False)


def _has_data(code: str) -> bool:
    """Whether there are data for just this code; of a language with a file, CLDR's other scripts are not."""
    return code in languages() or (code.split("-")[0] not in languages() and cldr_name(code) is not None)


def is_known(code: str) -> bool:
    """Whether the language's own dates and quantities are read and written: de-at by German, tlh by none."""
    return language(code).code.split("-")[0] == code.lower().split("-")[0]


def told_languages() -> str:
    """Which languages have rules, in words."""
    return f"{', '.join(languages())} and those of Unicode CLDR"


def reading_language(code: str) -> str:
    """The language whose labels and descriptions the rules read: `code` where that is a kind of English, else "en".

    The grammar of descriptions is English: it is applied to English descriptions alone.
    """
    return code if is_grammatical(code) else GRAMMAR


def is_grammatical(code: str) -> bool:
    """Whether the rules know the grammar of a language, not its words alone: they do of English."""
    return code.lower().partition("-")[0] == GRAMMAR


@cache
def question_words() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """The words that ask for each kind of answer, by the code of each language that has some, in order.

    Read by themselves, since most questions need no more of other languages.
    """
    given = {code: json.loads((_folder() / f"{code}.json").read_text(encoding="utf-8")) for code in languages()}
    given |= {code: words for code, words in package_data("other_languages.json").items() if "asks" in words}
    return {code: words["asks"] for code, words in sorted(given.items()) if words.get("asks")}


def notice(code: str) -> str | None:
    """What a language without a file does without, in one sentence; None where it has one."""
    used = language(code)
    if not is_known(code):
        return (
            f"no rules for {code!r} (there are: {told_languages()}): "
            f"names come from labels, dates and quantities are read and written in {used.name}"
        )
    if used.has_file:
        return None
    told = {
        "decades": used.can_tell("decade"), "centuries": used.can_tell("century"), "words for about": used.about[1:],
        "bounds of amounts": used.more[1:], "numbers in words": used.number_words or not used.parts_words,
        "names of units": used.units, "phrases": False, "national adjectives": used.demonyms,
        "words of denial": used.around_names, "word endings": used.endings, "question words": used.asks,
    }  # fmt: skip
    lacks = [what for what, given in told.items() if not given]
    return f"{code!r} has days, months, years and numbers from Unicode CLDR, but no {', no '.join(lacks)}"


def _folder() -> Traversable:
    return files("abstraction").joinpath("data/languages")
