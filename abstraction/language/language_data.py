"""A language's surface: months, templates, patterns, numbers, units; and what is asked of them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal


@dataclass(frozen=True, kw_only=True, slots=True)
class Month:
    """A month: its name within a date and alone, a short form ("" for none), other forms that are read."""

    name: str
    alone: str
    short: str
    read: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Scale:
    """A word for a power of ten: "million" after one, "millions" after more, others that are read."""

    power: int
    singular: str
    plural: str
    read: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Nationals:
    """A country's adjectives and inhabitants, and names of it beside CLDR's: ("französisch", "Franzose"), ()."""

    adjectives: tuple[str, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Language:
    """One language's surface, as CLDR and its file give it; `has_file` where there is one.

    `marks` holds (before, after) for "BC" and "BCE", in the language's own words. `templates` and `patterns`
    are those of TEMPLATES and PATTERNS; `points` pairs a pattern of a date with the style it shows. `counts`
    are templates of the number of a century, with `n`, `nth` or `roman`; `special_counts` stand in their place.
    `elided` are replacements in finished texts, as of "de e" by "d'e"; `singular` those that make one language of
    a family's name, `bare_names` those that take a case or an elided article from a word. Numbers have `later_group`
    digits between separators, but three behind the last; `digits` puts the language's own in place of 0 to 9. `ones`
    are articles that count ("a million"), `dozens` and `fractions` words that stand for 12 and for less than one;
    `glue` is an expression of what stands within a number in one word ("und"), None where numbers are parted by spaces.

    `matching` helps to judge answers: "asks_amount", "asks_day" (or a date) and "asks_month" are searched in questions,
    read in lower case without accents. `around_names` puts the reader's own (English) word for what stands around names
    in an answer: a denial, an alternative, nearness, a preposition with a capital, an elided article. `endings` take
    number, gender and case from a word in small letters, in their order, each that fits; `derived` make the name of a
    place of its adjective ("italienisch", "Südeuropäer"). `demonyms` has the adjectives and inhabitants of a country by
    its ISO code, or by its name where it has none; `nationality` the nouns that add nothing to one
    ("Staatsangehörigkeit", "Sprache"). `asks` are the words that ask for a kind of answer, `relations` questions by the
    relation that they ask for, with {} for the subject, `yes_no` words that answer yes and no, `eras` years before the
    first of an emperor's reign.
    """

    code: str
    name: str
    has_file: bool
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
    later_group: int
    groups_read: str
    digits: Mapping[int, str]
    signs_after: bool
    plural_from_two: bool
    scales: tuple[Scale, ...]
    scale_of: str
    about: tuple[str, ...]
    fewer: tuple[str, ...]
    more: tuple[str, ...]
    per: tuple[str, ...]
    ones: tuple[str, ...]
    dozens: tuple[str, ...]
    fractions: Mapping[str, float]
    glue: str | None
    between: str
    joint_and: str
    joint_to: str
    magnitudes: Mapping[int, str]
    magnitude_of: str
    number_words: Mapping[str, int]
    no_nouns: frozenset[str]
    units: Mapping[str, tuple[str, ...]]
    elided: tuple[tuple[re.Pattern[str], str], ...]
    singular_of: re.Pattern[str]
    singular: tuple[tuple[re.Pattern[str], str], ...]
    bare_names: tuple[tuple[re.Pattern[str], str], ...]
    around_names: tuple[tuple[re.Pattern[str], str], ...]
    matching: Mapping[str, re.Pattern[str]]
    endings: tuple[tuple[re.Pattern[str], str], ...]
    derived: tuple[tuple[re.Pattern[str], str], ...]
    demonyms: Mapping[str, Nationals]
    nationality: frozenset[str]
    either: str
    asks: Mapping[str, tuple[str, ...]]
    yes_no: frozenset[str]
    eras: Mapping[str, int]
    own_function_words: frozenset[str] | None
    relations: Mapping[str, tuple[str, ...]]

    @cached_property
    def function_words(self) -> frozenset[str]:
        """The words that name nothing (articles, prepositions, auxiliaries ...), as `folded` gives them.

        Those of a kept list of stop words (stopwords-iso), but where the language's file has its own.
        """
        if self.own_function_words is not None:
            return self.own_function_words
        import stopwordsiso

        from abstraction.language.cldr import city_names, territory_names

        code = self.code.split("-")[0]
        stops = map(folded, stopwordsiso.stopwords(code)) if stopwordsiso.has_lang(code) else ()
        # The lists are of frequent words, россия and москва among them; того is Togo, too, and says nothing.
        names = map(folded, (*territory_names(self.code).values(), *city_names(self.code)))
        return frozenset(stops).difference(name for name in names if len(name) > _LONGEST_WORD)

    def stem(self, word: str) -> str:
        """What the forms of a word have in common, in lower case without accents: "française" and "français"."""
        stem = word.lower()
        for pattern, replacement in self.endings if roman_number(stem) is None else ():
            stem = pattern.sub(replacement, stem)
        return without_accents(stem)

    def halves(self, label: str) -> tuple[str, ...]:
        """The masculine and the feminine of a label that names both; the label alone where it names one.

        "poète ou poétesse"; of "professeur ou professeure d'université" each with what stands behind both. Both are
        forms of one word, the feminine is the longer one: no village is a "ville ou village".
        """
        before, joint, behind = label.partition(self.either) if self.either else (label, "", "")
        (first, _, rest), (second, _, rest_behind) = before.partition(" "), behind.partition(" ")
        if not joint or not (second.startswith(first) or self.stem(first) == self.stem(second)):
            return (label,)
        halves = before if rest or not rest_behind else f"{first} {rest_behind}", behind
        return halves[::-1] if len(first) > len(second) else halves

    @cached_property
    def nationality_stems(self) -> frozenset[str]:
        """The stems of the nouns that add nothing to a nationality."""
        return frozenset(map(self.stem, self.nationality))

    def with_common_years(self, text: str) -> str:
        """The text with the years of emperors' reigns as those of everybody: 昭和38年 is 1963年, 元年 the first."""
        if not self.eras:
            return text
        return self._reigns.sub(lambda m: f"{self.eras[m['era']] + int(m['year'].replace('元', '1'))}年", text)

    @property
    def parts_words(self) -> bool:
        """Whether spaces part words, as the language writes a day."""
        return " " in self.templates["day"][0]

    def with_plain_amounts(self, text: str) -> str:
        """The text with amounts in digits, as one number, set apart: 約1億2,600万人 is 約 126000000 人, 四十二 42."""
        if self.parts_words or not self.powers:
            return text

        def whole(match: re.Match[str]) -> str:
            parts = self._scaled_part.findall(match[0])
            return f" {sum(round(float(n.replace(',', '')) * 10 ** self.powers.get(word, 0)) for n, word in parts)} "

        text = self._scaled_parts.sub(whole, _NUMERALS.sub(lambda m: f" {_value_of_numerals(m[0])} ", text))
        return _BEHIND_LETTERS.sub(" ", text)

    @cached_property
    def _scaled_part(self) -> re.Pattern[str]:
        return re.compile(rf"(\d+(?:,\d{{3}})*(?:\.\d+)?)({any_of(self.powers)})?")

    @cached_property
    def _scaled_parts(self) -> re.Pattern[str]:
        number = r"\d+(?:,\d{3})*(?:\.\d+)?"
        return re.compile(rf"(?:{number}(?:{any_of(self.powers)}))+(?:{number})?")

    @cached_property
    def _reigns(self) -> re.Pattern[str]:
        return re.compile(rf"(?P<era>{any_of(self.eras)})(?P<year>\d{{1,2}}|元)年")

    @cached_property
    def month_numbers(self) -> Mapping[str, int]:
        """Every readable month name in lower case, without a final dot, to its number."""
        numbers: dict[str, int] = {}
        for number, month in enumerate(self.months, 1):
            for word in (month.name, month.alone, month.short, *month.read):
                if key := folded(word).rstrip("."):
                    numbers.setdefault(key, number)
        return numbers

    @cached_property
    def decade_words(self) -> Mapping[str, int]:
        """The words of decades: "twenties" 20."""
        return {word: number for number, word in self.spoken_decades.items()}

    def written(self, key: str, **slots: object) -> tuple[str, ...]:
        """The templates of `key` filled in, in order."""
        return tuple(self.finished(template.format(**slots)) for template in self.templates[key])

    def finished(self, text: str) -> str:
        """The text with what sounds force: "de hectares" stays, "de euros" becomes "d'euros"."""
        for pattern, replacement in self.elided:
            text = pattern.sub(replacement, text)
        return text.translate(self.digits) if self.digits else text

    def can_tell(self, kind: str) -> bool:
        """Whether the language has words for a unit of the calendar: CLDR has none for decades and centuries."""
        return bool(self.templates.get(kind, True))

    def one_of(self, plural: str) -> str:
        """The singular of a class that is named in the plural: "langues romanes" -> "langue romane"."""
        if self.singular_of.search(plural):
            for pattern, replacement in self.singular:
                plural = pattern.sub(replacement, plural)
        return plural

    def with_bare_names(self, question: str) -> str:
        """The question and, behind it, its words without what the language hangs on names: "Italiens ... Italien"."""
        bare = []
        for word in question.split():
            form = word.strip(".,;:?!¿¡\"'()«»")
            for pattern, replacement in self.bare_names:
                form = pattern.sub(replacement, form)
            if form and form not in word.split():
                bare.append(form)
        return " ".join([question, *bare]) if self.bare_names else question

    def with_english_around(self, answer: str) -> str:
        """An answer with what stands around its names told in English: "pas en Bavière" is "not en Bavière".

        Scripts without spaces have the numerals of dates in digits: 五月七日 is 5月7日.
        """
        if not self.parts_words:
            answer = _NUMERALS_OF_DATES.sub(lambda m: str(_value_of_numerals(m[0])), answer)
            answer = self.with_common_years(answer)
        for pattern, replacement in self.around_names:
            answer = pattern.sub(replacement, answer)
        return answer

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
        match = re.match(r"[ivxl]+", text)
        return roman_number(match[0]) if match else None

    def number(self, plain: str) -> str:
        """A plain decimal text ("-1234.5") with the language's separators."""
        sign, digits = ("-", plain[1:]) if plain.startswith("-") else ("", plain)
        whole, _, fraction = digits.partition(".")
        if len(whole) >= self.grouped_from:
            whole = self._grouped(whole)
        text = sign + whole + (self.decimal + fraction if fraction else "")
        return text.translate(self.digits) if self.digits else text

    def _grouped(self, whole: str) -> str:
        """1234567 as 1,234,567, or as 12,34,567."""
        if self.later_group == 3:
            return f"{int(whole):,}".replace(",", self.group)
        parts, whole = [whole[-3:]], whole[:-3]
        while whole:
            parts.append(whole[-self.later_group :])
            whole = whole[: -self.later_group]
        return self.group.join(reversed(parts))

    def scaled(self, plain: str, scale: Scale) -> str:
        """A plain decimal text with the word of a scale: "1.4 billion", "1,4 Milliarden", "1,4 milliard"."""
        single = plain.lstrip("-")
        is_singular = float(single) < 2 if self.plural_from_two else single == "1"
        return f"{self.number(plain)} {scale.singular if is_singular else scale.plural}"

    @cached_property
    def powers(self) -> Mapping[str, int]:
        """Every readable word for a power of ten, in lower case: "million" 6."""
        return {folded(w): s.power for s in self.scales for w in (s.singular, s.plural, *s.read) if w}

    def of_things(self, number: str, what: str) -> str:
        """A number and what is counted: "35 km", "1.4 billion people", "1,4 milliard d'euros", "35%"."""
        if what == "%":
            return self.written("percent", n=number)[0]
        return self.finished(f"{number}{self.scale_of if number[-1:].isalpha() else ''}{self.gap}{what}")

    @property
    def gap(self) -> str:
        """What stands between words: nothing in "約126,000,000人"."""
        return " " if self.parts_words else ""

    @cached_property
    def number_pattern(self) -> str:
        """A regular expression of the numbers that the language reads, without a sign."""
        later = "3" if self.later_group == 3 else f"{self.later_group},3"
        groups = "|".join(
            rf"\d{{1,3}}(?:{re.escape(g)}\d{{{later}}}){{0,11}}{re.escape(g)}\d{{3}}" for g in self.groups_read
        )
        return rf"(?:{groups}|\d++)(?:{re.escape(self.decimal)}\d++)?"

    def plain_number(self, text: str) -> str:
        """A number that `number_pattern` reads, as a plain decimal text."""
        for group in self.groups_read:
            text = text.replace(group, "")
        return text.replace(self.decimal, ".")


def any_of(words: Iterable[str]) -> str:
    """A regular expression of any of the words, the longest first; of none it matches nothing."""
    return "|".join(sorted(map(re.escape, words), key=lambda word: (-len(word), word))) or "(?!)"


def folded(text: str) -> str:
    """The form in which texts are read: NFKC, lower case, dashes and apostrophes of one kind, digits 0 to 9, single
    spaces, nothing that only turns the direction of writing."""
    text = with_plain_digits(unicodedata.normalize("NFKC", text).lower())
    return " ".join(without_direction(text.translate(_FOLDED)).split())


def without_accents(text: str) -> str:
    """The text without what stands on letters, in lower case: "é" is "e", "ß" is "ss"."""
    return "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))


def with_plain_digits(text: str) -> str:
    """The text with 0 to 9 for the digits of any script."""
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(sign)) if sign.isdecimal() else sign for sign in text)


def without_direction(text: str) -> str:
    """The text without the marks of its direction, as they stand in Arabic and Hebrew dates."""
    return text if text.isascii() else text.translate(_DIRECTIONS)


# Numerals of East Asia; one alone may be a part of any word (統一), and 三 of 三重県 is told by nothing.
_NUMERALS = re.compile(r"[〇零一二三四五六七八九十百千万萬億亿兆两兩]{2,20}|[二三四五六七八九十两兩](?![^\W\d_]{2})")
_NUMERALS_OF_DATES = re.compile(r"[〇零一二三四五六七八九十百千]{1,8}(?=[年月日世])")
_BEHIND_LETTERS = re.compile(r"(?<=[^\x00-\u02ff\W\d_])(?=\d)")
_MYRIAD = 10_000


def _value_of_numerals(text: str) -> int:
    """四十二 is 42, 三百万 three millions, 一九六一 1961."""
    total = group = digit = 0
    for sign in text:
        value = 2 if sign in "两兩" else int(unicodedata.numeric(sign))
        if value >= _MYRIAD:
            total, group, digit = total + (group + digit or 1) * value, 0, 0
        elif value > 9:
            group, digit = group + (digit or 1) * value, 0
        else:
            digit = 10 * digit + value
    return total + group + digit


_LONGEST_WORD = 4  # letters of a function word that may be a country's name as well
_FOLDED = {ord(c): "-" for c in "‐‑‒–—−"} | {ord("’"): "'", ord("‘"): "'"}
_DIRECTIONS = dict.fromkeys(map(ord, "\u061c\u200e\u200f"))


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
