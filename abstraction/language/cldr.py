"""What Unicode CLDR tells of a language, by Babel: its months and days, its patterns of dates, its signs of numbers.

`cldr_data` has it in the shape of a language's file, which says the rest. What CLDR cannot say is left empty there:
decades, centuries, parts of them, words for numbers, refusals.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import Any

from abstraction.language.language_data import folded, without_direction

_CODE = re.compile(r"[a-z]{2,3}(?:-[a-z]{4})?")  # a language, and a script; CLDR's regions change little of these
_TOKEN = re.compile(r"'(?P<quoted>[^']*)'|(?P<field>(?P<letter>[A-Za-z])(?P=letter)*)|(?P<plain>[^'A-Za-z]+)")
_SLOTS = {
    "d": "{d}", "dd": "{dd}", "M": "{m}", "L": "{m}", "MM": "{mm}", "LL": "{mm}", "MMM": "{short}", "LLL": "{short}",
    "MMMM": "{month}", "LLLL": "{alone}", **dict.fromkeys(("y", "yy", "yyyy", "Y"), "{y}"), "G": "{mark}",
    **dict.fromkeys(("EEE", "E", "EEEE", "cccc"), "{weekday}"),
}  # fmt: skip
_USES = ("format", "stand-alone")  # of a name: within a date, and by itself
_MARK = re.compile(r"\s?\{mark\}\s?")
# The zero of each numbering system that a language of CLDR counts in by default; the other digits follow it.
_ZEROS = {
    "adlm": "𞥐", "arab": "٠", "arabext": "۰", "beng": "০", "cakm": "𑄶", "deva": "०", "latn": "0", "mtei": "꯰",
    "mymr": "၀", "nkoo": "߀", "olck": "᱐", "tibt": "༠",
}  # fmt: skip


def cldr_name(code: str) -> str | None:
    """CLDR's name of a language ("zh-hant" is zh_Hant), or None where CLDR does not know its months."""
    from babel import localedata

    language, _, script = code.partition("-")
    name = f"{language}_{script.title()}" if script else language
    known = _CODE.fullmatch(code) and name in localedata.locale_identifiers()
    return name if known and _Locale(name).at("months", "format", "wide")[1] != "M01" else None


@lru_cache(maxsize=256)  # codes may come from outside
def scripts_of(code: str) -> tuple[str, ...]:
    """A language in each of the scripts that CLDR has it in, its own first: zh, zh-hans, zh-hant."""
    from babel import localedata

    language = code.partition("-")[0]
    others = (name.lower().replace("_", "-") for name in localedata.locale_identifiers())
    return (code, *sorted(name for name in others if re.fullmatch(rf"{language}-[a-z]{{4}}", name)))


@lru_cache(maxsize=256)  # codes may come from outside
def territory_names(code: str, *, regions: bool = False) -> Mapping[str, str]:
    """CLDR's names of countries in a language, by their ISO codes, or of regions by their codes in M49.

    Of none in a language that it does not know.
    """
    name = cldr_name(code)
    if name is None:
        return {}
    territories = _Locale(name).at("territories")
    return {known: _plain(text) for known, text in territories.items() if known.isdigit() == regions}


@lru_cache(maxsize=256)  # codes may come from outside
def city_names(code: str) -> frozenset[str]:
    """CLDR's names of the cities that time zones are called after, in a language; none where it does not know it."""
    name = cldr_name(code)
    zones = _Locale(name).at("time_zones").values() if name is not None else ()
    return frozenset(_plain(zone["city"]) for zone in zones if "city" in zone)


@lru_cache(maxsize=256)  # codes may come from outside
def unit_names(code: str) -> Mapping[str, tuple[str, ...]]:
    """CLDR's names of units of measure in a language, in all their forms, by their English plural."""
    english, other = (_Locale(name).at("unit_patterns") for name in ("en", cldr_name(code) or "root"))
    return {
        _plain(patterns["long"]["other"]).replace("{0}", "").strip(): tuple(
            _plain(form).replace("{0}", "").strip()
            for width in ("long", "short")
            for kind, form in other.get(unit, {}).get(width, {}).items()
            if kind != "per"
        )
        for unit, patterns in english.items()
        if "other" in patterns.get("long", {})
    }


@cache
def zone_cities() -> frozenset[str]:
    """The cities that time zones are called after: New York, Singapore, Mexico City."""
    from babel.core import get_global

    return frozenset(zone.rpartition("/")[2].replace("_", " ") for zone in get_global("zone_territories"))


def currency_spellings(code: str) -> Mapping[str, tuple[str, ...]]:
    """The sign of each currency that is in use, and its names in a language, by its code."""
    locale, signs = _Locale(cldr_name(code) or "root"), _Locale("en").at("currency_symbols")
    own, names = locale.at("currency_symbols"), locale.at("currency_names_plural")
    return {iso: (own.get(iso, sign), *map(_plain, names.get(iso, {}).values())) for iso, sign in signs.items()}


def cldr_data(code: str) -> dict[str, Any]:
    """What CLDR tells of a language, under the keys of a language's file; of none in particular where it knows none."""
    locale = _Locale(cldr_name(code) or "root")
    names, short = locale.at("languages"), locale.date("short")
    return {
        "name": names.get(locale.name) or names.get(code.split("-")[0], code),
        "month_names": locale.month_names(),
        "short_months": {},
        "weekdays": [_plain(day) for use in _USES for day in locale.at("days", use, "wide").values()],
        "marks": {era: locale.marks() for era in ("BC", "BCE")},
        "write": _written(locale),
        "read": _read(locale),
        "points": [[expression, "day-first"] for expression in _points(locale)],
        "numeric_day_first": short.find("{d") < short.find("{m"),
        "numbers": _numbers(locale),
        "quantities": {
            "about": [locale.about()], "fewer": ["<"], "more": [">"],
            "per": [], "ones": [], "dozens": [], "fractions": {}, "between": "", "and": "–", "to": "–",
            "scales": [[power, "", "", *words] for power, words in _scales(locale).items()],
            "scale_of": "", "magnitudes": {}, "magnitude_of": " ", "words": {}, "counting": {}, "glue": None,
            "no_noun": [],
        },
        "counts": {"written": ["{n}"], "special": {}, "suffix": "", "words": [], "endings": {"": ""}},
        "days": {}, "day_suffix": "", "day_words": {}, "day_forms": [], "articles": [], "spoken_decades": {},
        "units": {}, "elided": [], "singular_of": "", "singular": [], "bare_names": [], "around_names": [],
        "matching": {"asks_amount": ""},
        "endings": [], "derived": [], "demonyms": {}, "nationality": [], "either": "", "asks": {}, "yes_no": [],
        "eras": {}, "function_words": None, "relations": {},
    }  # fmt: skip


class _Locale:
    """The data of a locale. Babel's own `Locale` writes what it looks up into data that all locales share."""

    def __init__(self, name: str) -> None:
        from babel import localedata

        self.name = name
        self._data = localedata.load(name)
        self._alias = localedata.Alias
        self.numbering = str(self._data["default_numbering_system"])

    def at(self, *keys: Any) -> Any:
        """What stands at a path, aliases followed."""
        node: Any = self._data
        for key in keys:
            node = self._resolved(node[key])
        return node

    def _resolved(self, value: Any) -> Any:
        if isinstance(value, self._alias):
            return self.at(*value.keys)
        if isinstance(value, tuple):
            alias, overrides = value
            return {**self._resolved(alias), **overrides}
        return value

    def month_names(self) -> list[list[str]]:
        """Of each month its name within a date, its name alone, and both in short."""
        tables = [self.at("months", use, width) for width in ("wide", "abbreviated") for use in _USES]
        return [[_plain(table[number]) for table in tables] for number in range(1, 13)]

    def marks(self) -> list[str]:
        """The marks of years before and after 1 CE, in short where that is more than a letter."""
        return [next(iter(self.era_names(era)), _plain(self.at("eras", "abbreviated")[era])) for era in (0, 1)]

    def era_names(self, era: int) -> list[str]:
        """The names of years before (0) or after (1) 1 CE, but for single letters, the short one first."""
        era_names = [_plain(self.at("eras", width)[era]) for width in ("abbreviated", "wide", "narrow")]
        return [name for name in era_names if len(name.strip(".")) > 1]

    def date(self, width: str) -> str:
        """The template of a date of some length: "{d} {month} {y}"."""
        return _template(self.at("date_formats", width).pattern)

    def parts(self, skeleton: str) -> str:
        """The template of some parts of a date: of yMMMM "{alone} {y}"."""
        return _template(self.at("datetime_skeletons", skeleton).pattern)

    def year_in_date(self) -> str:
        """A year with the words that it has in dates: "{y}", "{y} г.", "{y}年"."""
        marked, day = self.parts("Gy"), self.date("long")
        last = re.findall(r"\{y\}[^{}]*\Z", day)
        years: list[str] = [marked, *last, _MARK.sub("", marked), "{y}"]
        return next(year for year in years if year in day)

    def symbol(self, name: str) -> str:
        """A sign of numbers: "decimal", "group"."""
        symbols = self.at("number_symbols", self.numbering)
        return _plain(symbols.get(name) or self.at("number_symbols", "latn", name))

    def about(self) -> str:
        """What stands before an estimate."""
        sign = self.symbol("approximatelySign")
        return "~" if sign == "-" else sign


def _plain(text: str) -> str:
    """With plain spaces, and without signs that only turn the direction of writing."""
    return re.sub(r"\s", " ", without_direction(text))


def _template(pattern: str) -> str:
    """A pattern of CLDR as one of ours: "d 'de' MMMM" is "{d} de {month}"."""
    out = []
    for token in _TOKEN.finditer(pattern):
        literal = token["quoted"] if token["plain"] is None else token["plain"]
        out.append(_SLOTS[token["field"]] if token["field"] else _plain(literal or "'"))
    return "".join(out)


def _written(locale: _Locale) -> dict[str, list[str]]:
    """The templates of what is written. A year in a date has its words with it: {year}."""
    year, marked, after = locale.year_in_date(), locale.parts("Gy"), locale.marks()[1]
    marked = marked if year in marked else marked.replace("{y}", year)
    full = locale.date("long").replace("{short}", "{month}")
    day, short, month = (
        _MARK.sub("", template.replace(year, "{year}").replace("{y}", "{year}"))
        for template in (full, locale.date("medium"), locale.parts("yMMMM"))
    )
    alone = year if "{mark}" in year else locale.parts("y")
    alone, inside, before = (template.replace("{y}", "{n}") for template in (alone, year, marked))
    since = before.replace("{mark}", after)
    return {
        "year": list(dict.fromkeys([alone.replace("{mark}", after), "{n}"])),
        "year_in_date": [inside.replace("{mark}", after)], "year_before": [before],
        "year_after_BC": [since], "year_after_BCE": [since], "day": [day], "day_month_first": [day],
        "day_short": [short] if "{short}" in short else [], "day_numeric": _in_digits(locale.date("short")),
        "month": [month], "range": ["{first}–{last}"], "age": ["{first}–{last}"],
        "circa": [locale.about() + (" {date}" if " " in day else "{date}")],
        "percent": [re.sub(r"[#,.0]+", "{n}", _plain(locale.at("percent_formats", None).pattern))],
    }  # fmt: skip


def _in_digits(short: str) -> list[str]:
    plain = _MARK.sub("", short).replace("{dd}", "{d}").replace("{mm}", "{m}")
    templates = [plain.replace("{d}", "{dd}").replace("{m}", "{mm}"), plain.replace("{d}", "{n}")]
    return templates if "{m}" in plain else []


def _read(locale: _Locale) -> dict[str, str]:
    """The expressions of what stands around dates and amounts."""
    mark = r"(?<!\w)(?:(?P<bc>{})|(?P<ad>{}))".format(*(_one_of(locale.era_names(era)) for era in (0, 1)))
    about = rf"(?:[~≈]|{_loosely(locale.about())})\s*"
    return {
        "era_before": rf"{mark}(?:\s*(?=\d)|\s+(?=\w))",
        "era_after": rf"(?:(?<!\s)\s++)?{mark}\Z",
        "range_joint": r"(?:(?<!\s)\s++)?-\s*+",
        "circa": about, "about": about,
    }  # fmt: skip


def _points(locale: _Locale) -> list[str]:
    """The expressions of a day, a month and a year, from the patterns of every length; the bare year is the last."""
    templates = [locale.date(width) for width in ("full", "long", "medium", "short")]
    templates += [locale.parts(skeleton) for skeleton in ("yMMMd", "yMd", "yMMMM", "yMMM", "y")]
    year = _MARK.sub("", locale.year_in_date())
    unmarked = (_MARK.sub(" ", template).strip().replace(year, "{y}") for template in templates)
    points = dict.fromkeys(_expression(template, year) for template in unmarked)
    return [*points, _expression("{y}", year).replace("{1,4}", "{1,5}")]


def _expression(template: str, year: str) -> str:
    """The expression of a template. The year's words may be left out where no number would meet it."""
    before, after = (f"(?:{_loosely(words)})" if words else "" for words in year.split("{y}"))
    may = "?" if "{y}{" not in template else ""
    day, month, name = r"(?P<d>\d{1,2})", r"(?P<m>\d{1,2})", r"<months>\.?"
    numbers = {"{d}": day, "{dd}": day, "{m}": month, "{mm}": month}
    numbers["{y}"] = (before and f"{before}?") + r"(?P<y>\d{1,4})" + (after and f"{after}{may}")
    slots = numbers | dict.fromkeys(("{short}", "{month}", "{alone}"), name) | {"{weekday}": "<weekday>"}
    parts = re.split(r"(\{\w+\})", template)
    for at in range(0, len(parts), 2):  # between the slots
        between = 0 < at < len(parts) - 1 and parts[at - 1] in numbers and parts[at + 1] in numbers
        parts[at] = _loosely(parts[at], points_stand=between)
    return "".join(slots.get(part, part) for part in parts)


def _one_of(names: Iterable[str]) -> str:
    """The expression of any of these names, points and all, but for the last."""
    spaced = {re.sub(r"\.(?=\w)", ". ", name).rstrip(".") for name in names}
    expressions = {_loosely(name, points_stand=True) + r"\.?" for name in spaced}
    return "|".join(sorted(expressions, key=lambda name: (-len(name), name))) or "(?!)"


def _loosely(literal: str, *, points_stand: bool = False) -> str:
    """A text's expression. Commas and points may be left out; where points must stand a comma only before a space."""
    space = " ?" if re.search(r"[^\w\s,،]" if points_stand else r"[^\w\s]", literal) else " "
    parts = (space if part.isspace() else re.escape(folded(part)) for part in re.split(r"(\s+)", literal))
    return re.sub(r"([,،])(?= )" if points_stand else r"(\\\.|[,،])", r"\1?", "".join(parts))


def _numbers(locale: _Locale) -> dict[str, Any]:
    group, currency = locale.symbol("group"), locale.at("currency_formats", "standard").pattern
    return {
        "decimal": locale.symbol("decimal"), "group": group, "grouped_from": 4,
        "later_group": locale.at("decimal_formats", None).grouping[1], "zero": _ZEROS.get(locale.numbering, "0"),
        "groups_read": "".join(dict.fromkeys([group.replace("’", "'"), " "])),
        "signs_after": currency.find("¤") > currency.find("0"), "plural_from_two": False,
    }  # fmt: skip


def _scales(locale: _Locale) -> dict[int, list[str]]:
    """The words for powers of ten, as they stand behind any number: 6 "milhão", "milhões". They are read alone."""
    formats, words_by_power = locale.at("compact_decimal_formats"), dict[int, list[str]]()
    for width in ("long", "short"):
        for plural in locale.at("compact_decimal_formats", width) if width in formats else ():
            for size, pattern in locale.at("compact_decimal_formats", width, plural).items():
                zeros, word = pattern.pattern.count("0"), _plain(pattern.pattern).strip("0 '.")
                words = words_by_power.get(len(size) - zeros, [])
                if zeros and word not in ("", *words) and not (word.isascii() and len(word) == 1):
                    words_by_power[len(size) - zeros] = [*words, word]
    return words_by_power
