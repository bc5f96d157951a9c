"""Language data of Unicode CLDR, read with Babel: names of months and days, date patterns, number signs.

`cldr_data` returns them in the form of a language file. Entries that CLDR lacks are empty there: decades, centuries,
parts of them, words for numbers, denials.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import Any

from abstraction.text.language.language_data import folded, without_direction

_CODE = re.compile(r"[a-z]{2,3}(?:-[a-z]{4})?")  # language and script; CLDR's regions differ little
# The parts of a CLDR pattern: quoted text, a field of equal letters, other text.
_TOKEN = re.compile(r"'(?P<quoted>[^']*)'|(?P<field>(?P<letter>[A-Za-z])(?P=letter)*)|(?P<plain>[^'A-Za-z]+)")
# Our template slots by CLDR field (Unicode TS 35, part 4).
_SLOTS = {
    "d": "{d}", "dd": "{dd}", "M": "{m}", "L": "{m}", "MM": "{mm}", "LL": "{mm}", "MMM": "{short}", "LLL": "{short}",
    "MMMM": "{month}", "LLLL": "{alone}", **dict.fromkeys(("y", "yy", "yyyy", "Y"), "{y}"), "G": "{mark}",
    **dict.fromkeys(("EEE", "E", "EEEE", "cccc"), "{weekday}"),
}  # fmt: skip
_USES = ("format", "stand-alone")  # a name within a date, and on its own
_MARK = re.compile(r"\s?\{mark\}\s?")
# The digit zero of each default numbering system in CLDR; the other nine digits follow it in Unicode.
_ZEROS = {
    "adlm": "𞥐", "arab": "٠", "arabext": "۰", "beng": "০", "cakm": "𑄶", "deva": "०", "latn": "0", "mtei": "꯰",
    "mymr": "၀", "nkoo": "߀", "olck": "᱐", "tibt": "༠",
}  # fmt: skip


def cldr_name(code: str) -> str | None:
    """The CLDR locale of a language code ("zh-hant": zh_Hant), or None where CLDR has no month names for it."""
    from babel import localedata

    language, _, script = code.partition("-")
    name = f"{language}_{script.title()}" if script else language
    known = _CODE.fullmatch(code) and name in localedata.locale_identifiers()
    return name if known and _Locale(name).value_at("months", "format", "wide")[1] != "M01" else None


@lru_cache(maxsize=256)  # bounded, since codes come from requests too
def language_codes_by_script(code: str) -> tuple[str, ...]:
    """The codes of a language in each script that CLDR has, the plain code first: zh, zh-hans, zh-hant."""
    from babel import localedata

    language = code.partition("-")[0]
    others = (name.lower().replace("_", "-") for name in localedata.locale_identifiers())
    return (code, *sorted(name for name in others if re.fullmatch(rf"{language}-[a-z]{{4}}", name)))


@lru_cache(maxsize=256)  # bounded, since codes come from requests too
def territory_names(code: str, *, regions: bool = False) -> Mapping[str, str]:
    """CLDR's names of countries in a language by ISO code, or with `regions` of regions by M49 code.

    Empty for a language that CLDR does not have.
    """
    territories = _Locale(cldr_name(code) or "root").value_at("territories")
    return {known: _with_plain_spaces(text) for known, text in territories.items() if known.isdigit() == regions}


@lru_cache(maxsize=256)  # bounded, since codes come from requests too
def time_zone_city_names(code: str) -> frozenset[str]:
    """CLDR's names of time-zone cities in a language, or an empty set where CLDR does not have the language."""
    name = cldr_name(code)
    zones = _Locale(name).value_at("time_zones").values() if name is not None else ()
    return frozenset(_with_plain_spaces(zone["city"]) for zone in zones if "city" in zone)


@lru_cache(maxsize=256)  # bounded, since codes come from requests too
def unit_names(code: str) -> Mapping[str, tuple[str, ...]]:
    """CLDR's names of measurement units in a language, in all grammatical forms, by English plural."""
    english, other = (_Locale(name).value_at("unit_patterns") for name in ("en", cldr_name(code) or "root"))
    return {
        _with_plain_spaces(patterns["long"]["other"]).replace("{0}", "").strip(): tuple(
            _with_plain_spaces(form).replace("{0}", "").strip()
            for width in ("long", "short")
            for kind, form in other.get(unit, {}).get(width, {}).items()
            if kind != "per"
        )
        for unit, patterns in english.items()
        if "other" in patterns.get("long", {})
    }


@cache
def english_time_zone_cities() -> frozenset[str]:
    """The English names of time-zone cities: New York, Singapore, Mexico City."""
    from babel.core import get_global

    return frozenset(zone.rpartition("/")[2].replace("_", " ") for zone in get_global("zone_territories"))


def currency_spellings(code: str) -> Mapping[str, tuple[str, ...]]:
    """The sign and the names in a language of each currency in use, by ISO code."""
    locale, signs = _Locale(cldr_name(code) or "root"), _Locale("en").value_at("currency_symbols")
    own, names = locale.value_at("currency_symbols"), locale.value_at("currency_names_plural")
    return {
        iso: (own.get(iso, sign), *map(_with_plain_spaces, names.get(iso, {}).values())) for iso, sign in signs.items()
    }


def cldr_data(code: str) -> dict[str, Any]:
    """CLDR's data of a language under the keys of a language file; of the root locale where CLDR lacks the language."""
    locale = _Locale(cldr_name(code) or "root")
    names, short = locale.value_at("languages"), locale.brace_template_of_date("short")
    # For each month: its name within a date, its name alone, and the short form of both.
    tables = [locale.value_at("months", use, width) for width in ("wide", "abbreviated") for use in _USES]
    mark = r"(?<!\w)(?:(?P<bc>{})|(?P<ad>{}))".format(*(_any_name_pattern(locale.era_names(era)) for era in (0, 1)))
    about = rf"(?:[~≈]|{_loose_pattern(locale.sign_of_approximation())})\s*"
    group, currency = locale.number_symbol("group"), locale.value_at("currency_formats", "standard").pattern
    return {
        "name": names.get(locale.name) or names.get(code.split("-")[0], code),
        "month_names": [[_with_plain_spaces(table[number]) for table in tables] for number in range(1, 13)],
        "short_months": {},
        "weekdays": [_with_plain_spaces(day) for use in _USES for day in locale.value_at("days", use, "wide").values()],
        "marks": {era: locale.era_marks() for era in ("BC", "BCE")},
        "write": _writing_templates(locale),
        "read": {
            "era_before": rf"{mark}(?:\s*(?=\d)|\s+(?=\w))", "era_after": rf"(?:(?<!\s)\s++)?{mark}\Z",
            "range_joint": r"(?:(?<!\s)\s++)?-\s*+", "circa": about, "about": about,
        },
        "points": [[expression, "day-first"] for expression in _date_patterns(locale)],
        "numeric_day_first": short.find("{d") < short.find("{m"),
        "numbers": {
            "decimal": locale.number_symbol("decimal"), "group": group, "grouped_from": 4,
            "later_group": locale.value_at("decimal_formats", None).grouping[1],
            "zero": _ZEROS.get(locale.numbering, "0"),
            "groups_read": "".join(dict.fromkeys([group.replace("’", "'"), " "])),
            "signs_after": currency.find("¤") > currency.find("0"), "plural_from_two": False,
        },
        "quantities": {
            "about": [locale.sign_of_approximation()], "fewer": ["<"], "more": [">"],
            "per": [], "ones": [], "dozens": [], "fractions": {}, "between": "", "joint_and": "–", "joint_to": "–",
            "scales": [[power, "", "", *words] for power, words in _power_words(locale).items()],
            "scale_of": "", "magnitude_of": " ", "words": {}, "counting": {}, "glue": None,
            "no_noun": [],
        },
        "ordinals": {"counts": ["{n}"], "special_counts": {}, "suffix": "", "count_words": [], "nth": {"": ""}},
        "days": {}, "day_suffix": "", "day_words": {}, "day_forms": [], "articles": [], "spoken_decades": {},
        "units": {}, "elided": [], "singular_of": "", "singular": [], "bare_names": [], "around_names": [],
        "matching": {"asks_amount": ""},
        "endings": [], "derived": [], "demonyms": {}, "nationality": [], "either": "", "asks": {}, "yes_no": [],
        "eras": {}, "own_function_words": None, "relations": {},
    }  # fmt: skip


class _Locale:
    """The data of a locale. Babel's own `Locale` is not used: it stores look-ups in data that all locales share."""

    def __init__(self, name: str) -> None:
        from babel import localedata

        self.name = name
        self._data = localedata.load(name)
        self._alias = localedata.Alias
        self.numbering = str(self._data["default_numbering_system"])

    def value_at(self, *keys: Any) -> Any:
        """The value at a path of keys, with aliases resolved."""
        node: Any = self._data
        for key in keys:
            node = self._resolve_alias(node[key])
        return node

    def _resolve_alias(self, value: Any) -> Any:
        if isinstance(value, self._alias):
            return self.value_at(*value.keys)
        if isinstance(value, tuple):
            alias, overrides = value
            return {**self._resolve_alias(alias), **overrides}
        return value

    def era_marks(self) -> list[str]:
        """The marks of years before and after 1 CE, abbreviated unless that is a single letter."""
        return [
            next(iter(self.era_names(era)), _with_plain_spaces(self.value_at("eras", "abbreviated")[era]))
            for era in (0, 1)
        ]

    def era_names(self, era: int) -> list[str]:
        """The names of the era before 1 CE (`era` 0) or from it on (1), the short one first, without single letters."""
        era_names = [
            _with_plain_spaces(self.value_at("eras", width)[era]) for width in ("abbreviated", "wide", "narrow")
        ]
        return [name for name in era_names if len(name.strip(".")) > 1]

    def brace_template_of_date(self, width: str) -> str:
        """The date template of a CLDR width ("full", "long", "medium", "short"): "{d} {month} {y}"."""
        return _template_of_pattern(self.value_at("date_formats", width).pattern)

    def template_of_skeleton(self, skeleton: str) -> str:
        """The template of a CLDR skeleton: yMMMM gives "{alone} {y}"."""
        return _template_of_pattern(self.value_at("datetime_skeletons", skeleton).pattern)

    def year_template_in_date(self) -> str:
        """The template of a year within a date, with its words: "{y}", "{y} г.", "{y}年"."""
        marked, day = self.template_of_skeleton("Gy"), self.brace_template_of_date("long")
        last = re.findall(r"\{y\}[^{}]*\Z", day)
        years: list[str] = [marked, *last, _MARK.sub("", marked), "{y}"]
        return next(year for year in years if year in day)

    def number_symbol(self, name: str) -> str:
        """A number sign by its CLDR name: "decimal", "group"."""
        symbols = self.value_at("number_symbols", self.numbering)
        return _with_plain_spaces(symbols.get(name) or self.value_at("number_symbols", "latn", name))

    def sign_of_approximation(self) -> str:
        """The sign before an approximate number: "~", "≈"."""
        sign = self.number_symbol("approximatelySign")
        return "~" if sign == "-" else sign


def _with_plain_spaces(text: str) -> str:
    """The text with plain spaces and without direction marks."""
    return re.sub(r"\s", " ", without_direction(text))


def _template_of_pattern(pattern: str) -> str:
    """Convert a CLDR pattern to a template: "d 'de' MMMM" becomes "{d} de {month}"."""
    out = []
    for token in _TOKEN.finditer(pattern):
        literal = token["quoted"] if token["plain"] is None else token["plain"]
        out.append(_SLOTS[token["field"]] if token["field"] else _with_plain_spaces(literal or "'"))
    return "".join(out)


def _writing_templates(locale: _Locale) -> dict[str, list[str]]:
    """The templates for writing dates. {year} is a year with the words that it has in dates."""
    year, marked, after = locale.year_template_in_date(), locale.template_of_skeleton("Gy"), locale.era_marks()[1]
    marked = marked if year in marked else marked.replace("{y}", year)
    full = locale.brace_template_of_date("long").replace("{short}", "{month}")
    day, short, month = (
        _MARK.sub("", template.replace(year, "{year}").replace("{y}", "{year}"))
        for template in (full, locale.brace_template_of_date("medium"), locale.template_of_skeleton("yMMMM"))
    )
    alone = year if "{mark}" in year else locale.template_of_skeleton("y")
    alone, inside, before = (template.replace("{y}", "{n}") for template in (alone, year, marked))
    since = before.replace("{mark}", after)
    plain = _MARK.sub("", locale.brace_template_of_date("short")).replace("{dd}", "{d}").replace("{mm}", "{m}")
    numeric = [plain.replace("{d}", "{dd}").replace("{m}", "{mm}"), plain.replace("{d}", "{n}")]
    return {
        "year": list(dict.fromkeys([alone.replace("{mark}", after), "{n}"])),
        "year_in_date": [inside.replace("{mark}", after)], "year_before": [before],
        "year_after_BC": [since], "year_after_BCE": [since], "day": [day], "day_month_first": [day],
        "day_short": [short] if "{short}" in short else [],
        "day_numeric": numeric if "{m}" in plain else [],
        "month": [month], "range": ["{first}–{last}"], "age": ["{first}–{last}"],
        "circa": [locale.sign_of_approximation() + (" {date}" if " " in day else "{date}")],
        "percent": [re.sub(r"[#,.0]+", "{n}", _with_plain_spaces(locale.value_at("percent_formats", None).pattern))],
    }  # fmt: skip


def _date_patterns(locale: _Locale) -> list[str]:
    """Regular expressions for full dates from patterns of every width; the last one is for the bare year."""
    templates = [locale.brace_template_of_date(width) for width in ("full", "long", "medium", "short")]
    templates += [locale.template_of_skeleton(skeleton) for skeleton in ("yMMMd", "yMd", "yMMMM", "yMMM", "y")]
    year = _MARK.sub("", locale.year_template_in_date())
    unmarked = (_MARK.sub(" ", template).strip().replace(year, "{y}") for template in templates)
    points = dict.fromkeys(_template_pattern(template, year) for template in unmarked)
    return [*points, _template_pattern("{y}", year).replace("{1,4}", "{1,5}")]


def _template_pattern(template: str, year: str) -> str:
    """The regular expression of a template. Words of the year are optional unless a number would follow directly."""
    before, after = (f"(?:{_loose_pattern(words)})" if words else "" for words in year.split("{y}"))
    may = "?" if "{y}{" not in template else ""
    day, month, name = r"(?P<d>\d{1,2})", r"(?P<m>\d{1,2})", r"<months>\.?"
    numbers = {"{d}": day, "{dd}": day, "{m}": month, "{mm}": month}
    numbers["{y}"] = (before and f"{before}?") + r"(?P<y>\d{1,4})" + (after and f"{after}{may}")
    slots = numbers | dict.fromkeys(("{short}", "{month}", "{alone}"), name) | {"{weekday}": "<weekday>"}
    parts = re.split(r"(\{\w+\})", template)
    for at in range(0, len(parts), 2):  # between the slots
        between = 0 < at < len(parts) - 1 and parts[at - 1] in numbers and parts[at + 1] in numbers
        parts[at] = _loose_pattern(parts[at], points_required=between)
    return "".join(slots.get(part, part) for part in parts)


def _any_name_pattern(names: Iterable[str]) -> str:
    """A regular expression for any of the names with their points; the last point is optional."""
    spaced = {re.sub(r"\.(?=\w)", ". ", name).rstrip(".") for name in names}
    expressions = {_loose_pattern(name, points_required=True) + r"\.?" for name in spaced}
    return "|".join(sorted(expressions, key=lambda name: (-len(name), name))) or "(?!)"


def _loose_pattern(literal: str, *, points_required: bool = False) -> str:
    """A regular expression for a text with optional commas and points.

    With `points_required` points are required, and commas are optional only before a space.
    """
    space = " ?" if re.search(r"[^\w\s,،]" if points_required else r"[^\w\s]", literal) else " "
    parts = (space if part.isspace() else re.escape(folded(part)) for part in re.split(r"(\s+)", literal))
    return re.sub(r"([,،])(?= )" if points_required else r"(\\\.|[,،])", r"\1?", "".join(parts))


def _power_words(locale: _Locale) -> dict[int, list[str]]:
    """Words for powers of ten by exponent, as written after numbers: 6 "milhão", "milhões". Used for reading only."""
    formats, words_by_power = locale.value_at("compact_decimal_formats"), dict[int, list[str]]()
    for width in ("long", "short"):
        for plural in locale.value_at("compact_decimal_formats", width) if width in formats else ():
            for size, pattern in locale.value_at("compact_decimal_formats", width, plural).items():
                zeros, word = pattern.pattern.count("0"), _with_plain_spaces(pattern.pattern).strip("0 '.")
                words = words_by_power.get(len(size) - zeros, [])
                if zeros and word not in ("", *words) and not (word.isascii() and len(word) == 1):
                    words_by_power[len(size) - zeros] = [*words, word]
    return words_by_power
