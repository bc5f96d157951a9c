"""Languages as data: how each writes and reads dates, numbers, units and the few phrases that tiers need.

Names of months, patterns of dates and signs of numbers are Unicode CLDR's; one file a language,
`data/languages/<code>.json`, has what CLDR lacks, and `languages()` names those there are. A language that CLDR
alone knows (Polish) goes without centuries, and one that it does not know borrows the nearest of its fallbacks
(Bavarian is German). `notice` says so.
"""

from __future__ import annotations

import json
import re
import string
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Literal

from abstraction.errors import LanguageError
from abstraction.language.cldr import cldr_data, cldr_name
from abstraction.language.language_data import Language, Month, Nationals, Scale, any_of, folded, without_accents
from abstraction.package_data import package_data
from kg.terms import fallback_chain

# Reading a language's data, every field checked: its file, and what CLDR tells where the file has nothing.

# Every list of templates there is, and the slots that one may fill in.
TEMPLATES: Mapping[str, str] = {
    "year": "n",
    "year_in_date": "n",
    "year_before": "n mark other",
    "year_after_BC": "n",
    "year_after_BCE": "n",
    "day": "d n m dd mm nth month short year",
    "day_month_first": "d n m dd mm nth month short year",
    "day_also": "d n m dd mm nth month year",
    "day_short": "d n dd short year",
    "day_numeric": "n m dd mm y year",
    "month": "month alone m mm year",
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
    "age": "first last word",
    "teens": "",
}
# Every regular expression there is, read against lower-case text; "" where the language has none.
PATTERNS: Mapping[str, str] = {
    "lead": "", "weekday": "", "clock": "", "circa": "", "part": "early mid late", "range_joint": "", "range_lead": "",
    "era_before": "bc bce ad ce", "era_after": "bc bce ad ce", "calendar": "julian gregorian",
    "decade": "y", "short_decade": "y", "century": "n", "millennium": "n", "season": "y", "about": "",
}  # fmt: skip
GRAMMAR = "en"  # the language whose grammar the rules know; questions and descriptions in it are read as sentences
_STYLES = ("day-first", "month-first")
_NEVER = re.compile(r"(?!)")


def read_language(path: Traversable) -> Language:
    """The language of a file. Raises LanguageError naming the file, the key and what is allowed there."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise LanguageError(f"{path}: no readable JSON file: {error}") from error
    return _FileReader(str(path), data, has_file=True).language()


class _FileReader:
    """Checks one file's fields one by one. What the file leaves out is CLDR's."""

    def __init__(self, path: str, data: Any, *, has_file: bool) -> None:
        self.path = path
        self.has_file = has_file
        self.file_data = self.data = self.typed(data, dict, "the file")
        merged = cldr_data(self.get("code", str))
        for key, value in self.file_data.items():
            is_table = isinstance(merged.get(key), dict) and isinstance(value, dict)
            merged[key] = merged[key] | value if is_table else value
        self.data = merged

    def fail(self, key: str, what: str) -> LanguageError:
        return LanguageError(f"{self.path}: {key}: {what}")

    def typed(self, value: Any, kind: type, key: str) -> Any:
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise self.fail(key, f"expected {kind.__name__}, got {value!r}")
        return value

    def get(self, key: str, kind: type) -> Any:
        if key not in self.data:
            raise self.fail(key, "missing; de.json beside it has it")
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
            compiled = re.compile(text)
        except re.error as error:
            raise self.fail(key, f"no regular expression: {error}: {text}") from error
        unknown = set(compiled.groupindex) - set(groups.split())
        if unknown:
            raise self.fail(key, f"groups {sorted(unknown)} mean nothing here; allowed: {groups or 'none'}")
        return compiled

    def language(self) -> Language:
        months = self.months()
        counts = self.get("counts", dict)
        words = self.texts(counts.get("words", []), "counts.words")
        suffix = self.typed(counts.get("suffix"), str, "counts.suffix")
        heads = "|".join(sorted(map(re.escape, words), key=len, reverse=True))
        written = self.texts(counts.get("written"), "counts.written")
        numerals = "|[ivxl]{1,12}" if any("roman" in template for template in written) else ""
        days = {folded(k): self.typed(v, int, "day_words") for k, v in self.get("day_words", dict).items()}
        weekdays = dict.fromkeys(folded(day) for day in self.texts(self.get("weekdays", list), "weekdays"))
        names = [folded(w).rstrip(".") for m in months for w in (m.name, m.alone, m.short, *m.read)]
        forms = sorted({re.escape(n) for n in names if n}, key=lambda n: (-len(n), n))
        self.slots = {
            "<months>": rf"(?P<m>{'|'.join(forms)})",
            "<month>": rf"(?P<m>{'|'.join(forms)})(?!\w)\.?",
            "<weekday>": f"(?:{'|'.join(map(re.escape, weekdays))})",
            "<day>": rf"(?P<d>\d{{1,2}}{''.join('|' + re.escape(w) for w in days)})(?:{self.get('day_suffix', str)})?",
            "<year>": r"(?P<y>\d{1,4}|'\d\d)",
            "<spoken decade>": any_of(self.table("spoken_decades").values()),
            "<count>": rf"(?P<n>(?:\d{{1,3}}{numerals})(?:{suffix})" + (f"|{heads}" if heads else "") + ")",
        }  # fmt: skip
        templates = self.templates()
        patterns = {
            key: self.pattern(
                self.typed(self.get("read", dict).get(key, ""), str, f"read.{key}"), f"read.{key}", groups
            )
            for key, groups in PATTERNS.items()
        }
        number = self.get("numbers", dict)
        quantity = self.get("quantities", dict)
        text = self.typed

        def of(data: dict[str, Any], name: str, kind: type) -> Any:
            return text(data.get(name), kind, name)

        zero = of(number, "zero", str)
        return Language(
            code=self.get("code", str),
            name=self.get("name", str),
            has_file=self.has_file,
            months=months,
            marks=self.marks(),
            templates=templates,
            patterns=patterns,
            points=self.points(),
            month_day=self.pattern("<month> <day>", "months", "m d"),
            day_year=self.pattern(r"<day>,? (?P<y>\d{3,4})", "day_suffix", "d y"),
            counts=written,
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
            later_group=of(number, "later_group", int),
            groups_read=of(number, "groups_read", str),
            # What puts a script's digits in place of 0 to 9; empty where they are these.
            digits={} if zero == "0" else {ord("0") + digit: chr(ord(zero) + digit) for digit in range(10)},
            signs_after=of(number, "signs_after", bool),
            plural_from_two=of(number, "plural_from_two", bool),
            scales=self.scales(quantity),
            scale_of=of(quantity, "scale_of", str),
            about=self.some(quantity, "about"),
            fewer=self.some(quantity, "fewer"),
            more=self.texts(quantity.get("more"), "more"),
            per=self.texts(quantity.get("per"), "per"),
            ones=self.texts(quantity.get("ones"), "ones"),
            dozens=self.texts(quantity.get("dozens"), "dozens"),
            fractions={k: text(v, float, f"fractions.{k}") for k, v in of(quantity, "fractions", dict).items()},
            between=of(quantity, "between", str),
            joint_and=of(quantity, "and", str),
            joint_to=of(quantity, "to", str),
            magnitudes={int(k): text(v, str, "magnitudes") for k, v in of(quantity, "magnitudes", dict).items()},
            magnitude_of=of(quantity, "magnitude_of", str),
            glue=None if quantity.get("glue") is None else of(quantity, "glue", str),
            number_words={folded(k): text(v, int, "words") for k, v in self.number_words(quantity).items()},
            no_nouns=frozenset(self.texts(quantity.get("no_noun"), "no_noun")) | {folded(m.name) for m in months},
            units={k: self.texts(v, f"units.{k}") for k, v in self.get("units", dict).items()},
            singular_of=self.pattern(self.get("singular_of", str), "singular_of"),
            singular=self.replacements("singular"),
            bare_names=self.replacements("bare_names"),
            around_names=self.replacements("around_names"),
            matching=self.matching(),
            elided=self.replacements("elided"),
            endings=self.replacements("endings"),
            derived=self.replacements("derived"),
            demonyms=self.demonyms(),
            nationality=frozenset(self.texts(self.get("nationality", list), "nationality")),
            either=self.get("either", str),
            asks={kind: self.texts(words, f"asks.{kind}") for kind, words in self.get("asks", dict).items()},
            yes_no=frozenset(self.texts(self.get("yes_no", list), "yes_no")),
            eras={era: text(year, int, f"eras.{era}") for era, year in self.get("eras", dict).items()},
            own_function_words=self.function_words(),
            relations={key: self.texts(told, f"relations.{key}") for key, told in self.get("relations", dict).items()},
        )

    def matching(self) -> dict[str, re.Pattern[str]]:
        data = self.get("matching", dict)
        if missing := {"asks_amount"} - set(data):
            raise self.fail("matching", f"missing: {', '.join(sorted(missing))}")
        texts = {key: self.typed(text, str, key) for key, text in data.items()}
        texts |= {key: _unaccented(text) for key, text in texts.items() if key.startswith("asks_")}
        return {key: self.pattern(text, f"matching.{key}") for key, text in texts.items()}

    def number_words(self, data: dict[str, Any]) -> dict[str, int]:
        """Words for numbers: those listed, and those of `counting` to 99 and for whole hundreds.

        `counting` has the words of 0 to 19, of 20, 30 ... 90 and, where they are words of their own, of 100, 200 ...,
        with "/" between forms of one; `join` are templates of the rest, with {one}, {ten} and {stem}, the latter
        without its last letter: "{one}und{ten}".
        """
        counting = self.typed(data.get("counting", {}), dict, "counting")
        ones, tens, hundreds = (
            [word.split("/") for word in self.typed(counting.get(key, ""), str, f"counting.{key}").split()]
            for key in ("ones", "tens", "hundreds")
        )
        joints = self.texts(counting.get("join", []), "counting.join")
        words = {form: 100 * n for n, forms in enumerate(hundreds, 1) for form in forms}
        for number, forms in enumerate(tens, 2):
            for ten in forms:
                words[ten] = 10 * number
                units = [(digit, one) for digit, told in enumerate(ones[1:10], 1) for one in told]
                words |= {
                    joint.format(one=one, ten=ten, stem=ten[:-1]): 10 * number + digit
                    for joint in joints
                    for digit, one in units
                }
        words |= {form: n for n, forms in enumerate(ones) for form in forms}
        listed: dict[str, int] = self.typed(data.get("words"), dict, "words")
        return words | listed

    def demonyms(self) -> dict[str, Nationals]:
        out = {}
        for place, words in self.get("demonyms", dict).items():
            adjectives, _, names = self.typed(words, str, f"demonyms.{place}").partition(";")
            out[place] = Nationals(adjectives=tuple(adjectives.split("|")), names=tuple(filter(None, names.split("|"))))
        return out

    def function_words(self) -> frozenset[str] | None:
        given = self.data["function_words"]
        return None if given is None else frozenset(self.texts(given, "function_words"))

    def replacements(self, key: str) -> tuple[tuple[re.Pattern[str], str], ...]:
        out = []
        for row in self.get(key, list):
            pair = self.texts(row, key)
            if len(pair) != 2:
                raise self.fail(key, f"expected a pattern and what to put in its place, got {row!r}")
            out.append((self.pattern(pair[0], key), pair[1]))
        return tuple(out)

    def some(self, data: dict[str, Any], key: str) -> tuple[str, ...]:
        texts = self.texts(data.get(key), key)
        if not texts:
            raise self.fail(key, "at least one is needed")
        return texts

    def months(self) -> tuple[Month, ...]:
        rows = self.get("months", list)
        if len(rows) != 12:
            raise self.fail("months", f"there are 12, got {len(rows)}")
        shorts, out = self.table("short_months"), []
        for number, (names, row) in enumerate(zip(self.data["month_names"], rows, strict=True), 1):
            name, alone, short, short_alone = self.texts(names, "month_names")
            read = (short, short_alone, *self.texts(row, "months"))
            out.append(
                Month(name=name, alone=alone, short=shorts.get(number, "" if short == name else short), read=read)
            )
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
            texts = self.texts(data.get(key, []), f"write.{key}")
            for template in texts:
                slots = {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}
                if wrong := slots - set(allowed.split()):
                    raise self.fail(f"write.{key}", f"slots {sorted(wrong)} in {template!r}; allowed: {allowed}")
            out[key] = texts
        for key in ("year_before", "day", "month", "decade", "century", "millennium", "circa", "range", "position"):
            if key in self.file_data.get("write", {}) and not out[key]:
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
            power, singular, plural, *read = self.typed(row, list, "scales")
            self.typed(power, int, "scales")
            out.append(Scale(power=power, singular=singular, plural=plural, read=self.texts(read, "scales")))
        return tuple(sorted(out, key=lambda s: -s.power))


def _unaccented(pattern: str) -> str:
    """An expression as it is read against text in small letters without accents."""
    return re.sub(r"[^\x00-\x7f]+", lambda letters: without_accents(letters[0]), pattern)


# The languages there are, and which one reads a text.


__all__ = [
    "GRAMMAR",
    "Language",
    "asking_languages",
    "folded",
    "is_grammatical",
    "is_known",
    "language",
    "languages",
    "notice",
    "read_language",
    "reading_language",
    "told_languages",
]


@cache
def languages() -> tuple[str, ...]:
    """The codes of the languages that have a file, in order."""
    return tuple(sorted(f.name.removesuffix(".json") for f in _folder().iterdir() if f.name.endswith(".json")))


@lru_cache(maxsize=1024)  # codes may come from outside
def language(code: str) -> Language:
    """The language of a code, or the first of its fallbacks that has a file or is CLDR's (`en` is the last of all).

    Raises LanguageError for a file that is not as it must be.
    """
    return _known(next((fallback for fallback in fallback_chain(code.lower()) if _has_data(fallback)), "en"))


@cache
def _known(code: str) -> Language:
    """The language of a code that has a file, or is CLDR's."""
    if code in languages():
        return read_language(_folder() / f"{code}.json")
    few = package_data("other_languages.json").get(code.split("-")[0], {})
    return _FileReader(f"CLDR {code}", {"code": code, "months": [[]] * 12, **few}, has_file=False).language()


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
def asking_languages() -> tuple[str, ...]:
    """The codes of the languages that have question words, in order."""
    codes = sorted({*languages(), *package_data("other_languages.json")} - {"comment"})
    return tuple(code for code in codes if language(code).asks)


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
