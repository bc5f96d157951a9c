"""Languages as data: how each writes and reads dates, numbers, units and the few phrases that tiers need.

One file a language, `data/languages/<code>.json`; `languages()` names those there are. A language without a
file borrows the nearest of its fallbacks (Austrian German is German, Polish falls back to English), and
`notice` says so.
"""

from __future__ import annotations

import json
import re
import string
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Literal

from abstraction.errors import LanguageError
from kg.terms import fallback_chain

# Every list of templates a file must have, and the slots that one may fill in.
TEMPLATES: Mapping[str, str] = {
    "year_before": "n mark other",
    "year_after_BC": "n",
    "year_after_BCE": "n",
    "day": "d n dd mm nth month year",
    "day_month_first": "d n dd mm nth month year",
    "day_also": "d n dd mm nth month year",
    "day_short": "d n short year",
    "day_numeric": "n m dd mm year",
    "month": "month year",
    "month_also": "month year",
    "month_short": "short year",
    "decade": "n mark",
    "decade_short": "n spoken",
    "century": "count mark",
    "century_end": "count mark",
    "century_beginning": "count mark",
    "turn": "old new mark",
    "millennium": "count mark",
    "years_ago": "amount",
    "range": "first last",
    "circa": "date",
    "completed": "left month year",
    "completed_century": "left",
    "completed_millennium": "left",
    "percent": "n",
    "position": "sport",
    "part_of": "place",
}
# Every regular expression a file must have, read against lower-case text; "" where the language has none.
PATTERNS: Mapping[str, str] = {
    "lead": "", "weekday": "", "circa": "", "part": "", "range_joint": "", "range_lead": "",
    "era_before": "bc bce ad ce", "era_after": "bc bce ad ce", "calendar": "julian gregorian",
    "decade": "y", "century": "n", "millennium": "n", "season": "y", "about": "",
}  # fmt: skip
_STYLES = ("day-first", "month-first")
_NEVER = re.compile(r"(?!)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Month:
    """A month: its name as written inside a date, a short form ("" for none), other forms that are read."""

    name: str
    short: str
    read: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Scale:
    """A word for a power of ten: "million" after one, "millions" after more, others that are read."""

    power: int
    one: str
    many: str
    read: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Language:
    """One language's surface, as its file gives it.

    `marks` holds (before, after) for "BC" and "BCE", in the language's own words. `templates` and `patterns`
    are those of TEMPLATES and PATTERNS; `points` pairs a pattern of a date with the style it shows. `counts`
    are templates of the number of a century, with `n`, `nth` or `roman`; `special_counts` stand in their place.
    `elided` are replacements in finished texts, as of "de e" by "d'e".
    """

    code: str
    name: str
    months: tuple[Month, ...]
    marks: Mapping[str, tuple[str, str]]
    templates: Mapping[str, tuple[str, ...]]
    patterns: Mapping[str, re.Pattern[str]]
    points: tuple[tuple[re.Pattern[str], Literal["day-first", "month-first"]], ...]
    month_day: re.Pattern[str]
    day_year: re.Pattern[str]
    counts: tuple[str, ...]
    special_counts: Mapping[int, tuple[str, ...]]
    count_words: tuple[str, ...]
    nth: Mapping[str, str]
    days: Mapping[int, str]
    day_words: Mapping[str, int]
    articles: tuple[str, ...]
    spoken_decades: Mapping[int, str]
    numeric_day_first: bool
    decimal: str
    group: str
    grouped_from: int
    groups_read: str
    signs_after: bool
    plural_from_two: bool
    scales: tuple[Scale, ...]
    scale_of: str
    about: tuple[str, ...]
    fewer: tuple[str, ...]
    between: str
    joint_and: str
    joint_to: str
    magnitudes: Mapping[int, str]
    magnitude_of: str
    number_words: Mapping[str, int]
    no_nouns: frozenset[str]
    units: Mapping[str, tuple[str, ...]]
    elided: tuple[tuple[re.Pattern[str], str], ...]

    @cached_property
    def month_numbers(self) -> Mapping[str, int]:
        """Every readable month name in lower case, without a final dot, to its number."""
        found: dict[str, int] = {}
        for number, month in enumerate(self.months, 1):
            for word in (month.name, month.short, *month.read):
                if key := folded(word).rstrip("."):
                    found.setdefault(key, number)
        return found

    def written(self, key: str, **slots: object) -> tuple[str, ...]:
        """The templates of `key` filled in, in order."""
        return tuple(self.finished(template.format(**slots)) for template in self.templates[key])

    def finished(self, text: str) -> str:
        """The text with what sounds force: "de hectares" stays, "de euros" becomes "d'euros"."""
        for pattern, replacement in self.elided:
            text = pattern.sub(replacement, text)
        return text

    def without_article(self, text: str) -> str:
        """The text without a leading definite article."""
        for article in self.articles:
            if text.startswith(article):
                return text[len(article) :]
        return text

    def ordinal(self, number: int) -> str:
        """A day or a count with its ending: "1st", "2."; by the file's last digits, longest first."""
        digits = str(number)
        for size in (2, 1):
            ending = self.nth.get(digits[-size:])
            if ending is not None and (size == 1 or len(digits) >= size):
                return digits + ending
        return digits + self.nth[""]

    def counted(self, number: int) -> tuple[str, ...]:
        """The ways to write the count of a century or millennium, the usual one first."""
        if number in self.special_counts:
            return self.special_counts[number]
        first, *more = (t.format(n=number, nth=self.ordinal(number), roman=roman(number)) for t in self.counts)
        words = [self.count_words[number - 1]] if 0 < number <= len(self.count_words) else []
        return tuple(dict.fromkeys([first, *words, *more]))

    def count_of(self, text: str) -> int | None:
        """The number that a lower-case count states: "19th", "xixe", "twentieth"; None for anything else."""
        if text in self.count_words:
            return self.count_words.index(text) + 1
        digits = re.match(r"\d+", text)
        if digits:
            return int(digits[0])
        found = re.match(r"[ivxl]+", text)
        return roman_number(found[0]) if found else None

    def number(self, plain: str) -> str:
        """A plain decimal text ("-1234.5") with the language's separators."""
        sign, digits = ("-", plain[1:]) if plain.startswith("-") else ("", plain)
        whole, _, fraction = digits.partition(".")
        if len(whole) >= self.grouped_from:
            whole = f"{int(whole):,}".replace(",", self.group)
        return sign + whole + (self.decimal + fraction if fraction else "")

    def scaled(self, plain: str, scale: Scale) -> str:
        """A plain decimal text with the word of a scale: "1.4 billion", "1,4 Milliarden", "1,4 milliard"."""
        single = plain.lstrip("-")
        one = float(single) < 2 if self.plural_from_two else single == "1"
        return f"{self.number(plain)} {scale.one if one else scale.many}"

    @cached_property
    def powers(self) -> Mapping[str, int]:
        """Every readable word for a power of ten, in lower case: "million" 6."""
        return {folded(w): s.power for s in self.scales for w in (s.one, s.many, *s.read) if w}

    def of_things(self, number: str, what: str) -> str:
        """A number and what is counted: "35 km", "1.4 billion people", "1,4 milliard d'euros", "35%"."""
        if what == "%":
            return self.written("percent", n=number)[0]
        return self.finished(f"{number}{self.scale_of if number[-1:].isalpha() else ''} {what}")

    @cached_property
    def number_pattern(self) -> str:
        """A regular expression of the numbers that the language reads, without a sign."""
        groups = "|".join(rf"\d{{1,3}}(?:{re.escape(g)}\d{{3}})+" for g in self.groups_read)
        return rf"(?:{groups}|\d+)(?:{re.escape(self.decimal)}\d+)?"

    def plain_number(self, text: str) -> str:
        """A number that `number_pattern` reads, as a plain decimal text."""
        for group in self.groups_read:
            text = text.replace(group, "")
        return text.replace(self.decimal, ".")


def folded(text: str) -> str:
    """The form in which texts are read: NFKC, lower case, dashes and apostrophes of one kind, single spaces."""
    text = unicodedata.normalize("NFKC", text).lower()
    text = text.translate({ord(c): "-" for c in "‐‑‒–—−"} | {ord("’"): "'", ord("‘"): "'"})
    return " ".join(text.split())


def roman(number: int) -> str:
    """4 -> "IV"; 1 to 399."""
    out = ""
    for value, letters in (
        (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
    ):  # fmt: skip
        out += letters * (number // value)
        number %= value
    return out


def roman_number(text: str) -> int | None:
    """The number of a well-formed Roman numeral up to 399, any case; None for anything else."""
    values = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
    digits = [values.get(c, 0) for c in text.lower()]
    total = sum(-d if any(d < e for e in digits[i + 1 : i + 2]) else d for i, d in enumerate(digits))
    return total if 0 < total < 400 and roman(total).lower() == text.lower() else None


@cache
def languages() -> tuple[str, ...]:
    """The codes of the languages that have a file, in order."""
    return tuple(sorted(f.name.removesuffix(".json") for f in _folder().iterdir() if f.name.endswith(".json")))


@cache
def language(code: str) -> Language:
    """The language of a code, or the first of its fallbacks that has a file (`en` is the last of all).

    Raises LanguageError for a file that is not as it must be.
    """
    there = languages()
    found = next((c for c in fallback_chain(code.lower()) if c in there), "en")
    return read_language(_folder() / f"{found}.json")


def is_known(code: str) -> bool:
    """Whether the language's own dates and quantities are read and written: de-at by German, pl by none."""
    return language(code).code == code.lower().split("-")[0]


def notice(code: str) -> str | None:
    """What a language without a file does without, in one sentence; None where it has one."""
    if is_known(code):
        return None
    used = language(code)
    return (
        f"no rules for {code!r} (there are: {', '.join(languages())}): names come from labels, "
        f"dates and quantities are read and written in {used.name}"
    )


def _folder() -> Traversable:
    return files("abstraction").joinpath("data/languages")


def read_language(path: Traversable) -> Language:
    """The language of a file. Raises LanguageError naming the file, the key and what is allowed there."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise LanguageError(f"{path}: no readable JSON file: {error}") from error
    return _Reader(str(path), data).language()


class _Reader:
    """Checks one file's fields one by one."""

    def __init__(self, path: str, data: Any) -> None:
        self.path = path
        self.data = self.typed(data, dict, "the file")

    def fail(self, key: str, what: str) -> LanguageError:
        return LanguageError(f"{self.path}: {key}: {what}")

    def typed(self, value: Any, kind: type, key: str) -> Any:
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise self.fail(key, f"expected {kind.__name__}, got {value!r}")
        return value

    def get(self, key: str, kind: type) -> Any:
        if key not in self.data:
            raise self.fail(key, f"missing; see {_folder() / 'en.json'} for every key")
        return self.typed(self.data[key], kind, key)

    def texts(self, value: Any, key: str) -> tuple[str, ...]:
        return tuple(self.typed(text, str, key) for text in self.typed(value, list, key))

    def table(self, key: str) -> dict[int, str]:
        out = {}
        for name, text in self.get(key, dict).items():
            if not name.isdigit():
                raise self.fail(key, f"{name!r} is no number")
            out[int(name)] = self.typed(text, str, key)
        return out

    def pattern(self, text: str, key: str, groups: str = "") -> re.Pattern[str]:
        if not text:
            return _NEVER
        for slot, expression in self.slots.items():
            text = text.replace(slot, expression)
        try:
            made = re.compile(text)
        except re.error as error:
            raise self.fail(key, f"no regular expression: {error}: {text}") from error
        unknown = set(made.groupindex) - set(groups.split())
        if unknown:
            raise self.fail(key, f"groups {sorted(unknown)} mean nothing here; allowed: {groups or 'none'}")
        return made

    def language(self) -> Language:
        months = self.months()
        counts = self.get("counts", dict)
        words = self.texts(counts.get("words", []), "counts.words")
        suffix = self.typed(counts.get("suffix"), str, "counts.suffix")
        heads = "|".join(sorted(map(re.escape, words), key=len, reverse=True))
        numerals = "|[ivxl]+" if any("roman" in t for t in self.texts(counts.get("written"), "counts.written")) else ""
        days = {folded(k): self.typed(v, int, "day_words") for k, v in self.get("day_words", dict).items()}
        names = [folded(w).rstrip(".") for m in months for w in (m.name, m.short, *m.read)]
        forms = sorted({re.escape(n) for n in names if n}, key=lambda n: (-len(n), n))
        self.slots = {
            "<month>": rf"(?P<m>{'|'.join(forms)})\b\.?",
            "<day>": rf"(?P<d>\d{{1,2}}{''.join('|' + re.escape(w) for w in days)})(?:{self.get('day_suffix', str)})?",
            "<year>": r"(?P<y>\d{1,4})",
            "<count>": rf"(?P<n>(?:\d{{1,3}}{numerals})(?:{suffix})" + (f"|{heads}" if heads else "") + ")",
        }  # fmt: skip
        templates = self.templates()
        patterns = {
            key: self.pattern(self.typed(self.get("read", dict).get(key), str, f"read.{key}"), f"read.{key}", groups)
            for key, groups in PATTERNS.items()
        }
        number = self.get("numbers", dict)
        quantity = self.get("quantities", dict)
        text = self.typed

        def of(data: dict[str, Any], name: str, kind: type) -> Any:
            return text(data.get(name), kind, name)

        return Language(
            code=self.get("code", str),
            name=self.get("name", str),
            months=months,
            marks=self.marks(),
            templates=templates,
            patterns=patterns,
            points=self.points(),
            month_day=self.pattern("<month> <day>", "months", "m d"),
            day_year=self.pattern(r"<day>,? (?P<y>\d{3,4})", "day_suffix", "d y"),
            counts=self.texts(counts.get("written"), "counts.written"),
            special_counts={int(k): self.texts(v, "counts.special") for k, v in of(counts, "special", dict).items()},
            count_words=words,
            nth={str(k): text(v, str, "counts.endings") for k, v in of(counts, "endings", dict).items()},
            days=self.table("days"),
            day_words=days,
            articles=self.texts(self.get("articles", list), "articles"),
            spoken_decades=self.table("spoken_decades"),
            numeric_day_first=self.get("numeric_day_first", bool),
            decimal=of(number, "decimal", str),
            group=of(number, "group", str),
            grouped_from=of(number, "grouped_from", int),
            groups_read=of(number, "groups_read", str),
            signs_after=of(number, "signs_after", bool),
            plural_from_two=of(number, "plural_from_two", bool),
            scales=self.scales(quantity),
            scale_of=of(quantity, "scale_of", str),
            about=self.some(quantity, "about"),
            fewer=self.some(quantity, "fewer"),
            between=of(quantity, "between", str),
            joint_and=of(quantity, "and", str),
            joint_to=of(quantity, "to", str),
            magnitudes={int(k): text(v, str, "magnitudes") for k, v in of(quantity, "magnitudes", dict).items()},
            magnitude_of=of(quantity, "magnitude_of", str),
            number_words={folded(k): text(v, int, "words") for k, v in of(quantity, "words", dict).items()},
            no_nouns=frozenset(self.texts(quantity.get("no_noun"), "no_noun")) | {folded(m.name) for m in months},
            units={k: self.texts(v, f"units.{k}") for k, v in self.get("units", dict).items()},
            elided=tuple((re.compile(a), text(b, str, "elided")) for a, b in self.get("elided", list)),
        )

    def some(self, data: dict[str, Any], key: str) -> tuple[str, ...]:
        found = self.texts(data.get(key), key)
        if not found:
            raise self.fail(key, "at least one is needed")
        return found

    def months(self) -> tuple[Month, ...]:
        rows = self.get("months", list)
        if len(rows) != 12:
            raise self.fail("months", f"there are 12, got {len(rows)}")
        out = []
        for row in rows:
            name, short, *read = self.texts(row, "months")
            out.append(Month(name=name, short=short, read=tuple(read)))
        return tuple(out)

    def marks(self) -> dict[str, tuple[str, str]]:
        data = self.get("marks", dict)
        out = {}
        for era in ("BC", "BCE"):
            pair = self.texts(data.get(era), f"marks.{era}")
            if len(pair) != 2:
                raise self.fail(f"marks.{era}", "expected the mark before and the mark after 1 CE")
            out[era] = (pair[0], pair[1])
        return out

    def templates(self) -> dict[str, tuple[str, ...]]:
        data = self.get("write", dict)
        unknown = set(data) - set(TEMPLATES)
        if unknown:
            raise self.fail("write", f"no templates {sorted(unknown)}; there are {', '.join(TEMPLATES)}")
        out = {}
        for key, allowed in TEMPLATES.items():
            found = self.texts(data.get(key), f"write.{key}")
            for template in found:
                slots = {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}
                if wrong := slots - set(allowed.split()):
                    raise self.fail(f"write.{key}", f"slots {sorted(wrong)} in {template!r}; allowed: {allowed}")
            out[key] = found
        for key in ("year_before", "day", "month", "decade", "century", "millennium", "circa", "range", "position"):
            if not out[key]:
                raise self.fail(f"write.{key}", "at least one template is needed")
        return out

    def points(self) -> tuple[tuple[re.Pattern[str], Literal["day-first", "month-first"]], ...]:
        out: list[tuple[re.Pattern[str], Literal["day-first", "month-first"]]] = []
        for row in self.get("points", list):
            pattern, style = self.texts(row, "points")
            if style not in _STYLES:
                raise self.fail("points", f"style {style!r}; allowed: {', '.join(_STYLES)}")
            shown: Literal["day-first", "month-first"] = "month-first" if style == "month-first" else "day-first"
            out.append((self.pattern(pattern, "points", "d m y"), shown))
        return tuple(out)

    def scales(self, data: dict[str, Any]) -> tuple[Scale, ...]:
        out = []
        for row in self.typed(data.get("scales"), list, "scales"):
            power, one, many, *read = self.typed(row, list, "scales")
            self.typed(power, int, "scales")
            out.append(Scale(power=power, one=one, many=many, read=self.texts(read, "scales")))
        return tuple(sorted(out, key=lambda s: -s.power))
