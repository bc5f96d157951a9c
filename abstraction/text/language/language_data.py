"""The surface data of a language (months, templates, patterns, numbers, units) and operations on them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal


@dataclass(frozen=True, kw_only=True, slots=True)
class Month:
    """A month: its name within a date and alone, a short form ("" for none), and other forms that are recognised."""

    name: str
    alone: str
    short: str
    read: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Scale:
    """A word for a power of ten: "million" after 1, "millions" after more, and other forms that are recognised."""

    power: int
    singular: str
    plural: str
    read: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Nationals:
    """The adjectives and inhabitants of a country, and names of it that CLDR lacks: ("französisch", "Franzose"), ()."""

    adjectives: tuple[str, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Language:
    """The surface data of one language, from CLDR and from its file; `has_file`: whether there is a file.

    `marks` contains (before, after) for "BC" and "BCE" in the language's own words. `templates` and `patterns` are
    keyed as in en.json and by CLDR; `points` pairs a date pattern with its style. `counts` are templates of the
    ordinal of a century with `n`, `nth` or `roman`; `special_counts` override them. `elided` are replacements in
    finished texts ("de e" by "d'e"); `singular` make the name of a language family that of one language;
    `bare_names` remove a case ending or an elided article. `later_group` is the number of digits between separators
    except the last group, which has three; `digits` maps 0 to 9 to the language's own. `ones` are articles that mean 1
    ("a million"), `dozens` words for 12 and `fractions` words for less than 1; `glue` is a regular expression for
    joints within a number in one word ("und"), None where spaces separate numbers.

    `matching` are patterns for judging answers: "asks_amount", "asks_day" (or a date) and "asks_month" are searched in
    questions in lower case without accents. `around_names` replace words around names in an answer by English ones: a
    denial, an alternative, nearness, a preposition with a capital, an elided article. `endings` remove number, gender
    and case from a lower-case word; all that fit are applied, in order. `derived` turn an adjective into the name of
    its place ("italienisch", "Südeuropäer"). `demonyms` maps an ISO code, or a name without one, to adjectives and
    inhabitants; `nationality` are nouns that add nothing to a nationality ("Staatsangehörigkeit", "Sprache"). `asks`
    are the words that ask for each kind of answer, `relations` question templates by relation with {} for the subject,
    `yes_no` words for yes and no, `eras` the year before the first of each emperor's reign.
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
        """Function words (articles, prepositions, auxiliaries ...), as normalised by `folded`.

        They come from the language's file, else from the public stop-word lists of stopwords-iso without names of
        places.
        """
        if self.own_function_words is not None:
            return self.own_function_words
        import stopwordsiso

        from abstraction.text.language.cldr import territory_names, time_zone_city_names

        code = self.code.split("-")[0]
        stops = map(folded, stopwordsiso.stopwords(code)) if stopwordsiso.has_lang(code) else ()
        # The lists contain frequent names (россия, москва). Short names stay function words: того is also Togo.
        names = map(folded, (*territory_names(self.code).values(), *time_zone_city_names(self.code)))
        return frozenset(stops).difference(name for name in names if len(name) > _LONGEST_WORD)

    def stem(self, word: str) -> str:
        """The common stem of a word's forms, in lower case without accents: the same for "française" and "français"."""
        lower = word.lower()
        return without_accents(_replace_all(lower, self.endings) if roman_number(lower) is None else lower)

    def gendered_forms(self, label: str) -> tuple[str, ...]:
        """The masculine and feminine form of a label such as "poète ou poétesse"; the label alone where it has one
        form.

        Words after the pair belong to both forms ("professeur ou professeure d'université"). Two words that share no
        stem are not such a pair ("ville ou village"). The longer form is the feminine and comes second.
        """
        before, joint, behind = label.partition(self.either) if self.either else (label, "", "")
        (first, _, rest), (second, _, rest_behind) = before.partition(" "), behind.partition(" ")
        if not joint or not (second.startswith(first) or self.stem(first) == self.stem(second)):
            return (label,)
        halves = before if rest or not rest_behind else f"{first} {rest_behind}", behind
        return halves[::-1] if len(first) > len(second) else halves

    @cached_property
    def nationality_stems(self) -> frozenset[str]:
        """The stems of nouns that add nothing to a nationality."""
        return frozenset(map(self.stem, self.nationality))

    def with_regnal_years_converted(self, text: str) -> str:
        """The text with regnal years as years of the common era: 昭和38年 is 1963年, 元年 the first year."""
        if not self.eras:
            return text
        return self._regnal_year.sub(lambda m: f"{self.eras[m['era']] + int(m['year'].replace('元', '1'))}年", text)

    @property
    def separates_words_by_spaces(self) -> bool:
        """Whether the language separates words by spaces; taken from its template of a day."""
        return " " in self.templates["day"][0]

    def with_plain_amounts(self, text: str) -> str:
        """For languages without spaces, the text with amounts as numbers between spaces: 1億人 is 100000000 人."""
        if self.separates_words_by_spaces or not self.powers:
            return text

        def in_digits(match: re.Match[str]) -> str:
            parts = self._power_patterns[0].findall(match[0])
            return f" {sum(round(float(n.replace(',', '')) * 10 ** self.powers.get(word, 0)) for n, word in parts)} "

        text = self._power_patterns[1].sub(
            in_digits, _NUMERALS.sub(lambda m: f" {_value_of_chinese_numeral(m[0])} ", text)
        )
        return _BEHIND_LETTERS.sub(" ", text)

    @cached_property
    def _power_patterns(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        """The patterns of a number with a power word, and of a whole amount of such parts."""
        number, power = r"\d+(?:,\d{3})*(?:\.\d+)?", any_of(self.powers)
        return re.compile(rf"({number})({power})?"), re.compile(rf"(?:{number}(?:{power}))+(?:{number})?")

    @cached_property
    def _regnal_year(self) -> re.Pattern[str]:
        return re.compile(rf"(?P<era>{any_of(self.eras)})(?P<year>\d{{1,2}}|元)年")

    @cached_property
    def month_numbers(self) -> Mapping[str, int]:
        """Month numbers by each recognised name in lower case, without a final dot."""
        numbers: dict[str, int] = {}
        for number, month in enumerate(self.months, 1):
            for word in (month.name, month.alone, month.short, *month.read):
                if key := folded(word).rstrip("."):
                    numbers.setdefault(key, number)
        return numbers

    def fill_templates(self, key: str, **slots: object) -> tuple[str, ...]:
        """The templates of `key` filled with the slots, in order."""
        return tuple(self.with_elisions(template.format(**slots)) for template in self.templates.get(key, ()))

    def with_elisions(self, text: str) -> str:
        """The text with elisions and the language's own digits: "de euros" becomes "d'euros", "de hectares" stays."""
        text = _replace_all(text, self.elided)
        return text.translate(self.digits) if self.digits else text

    def has_words_for(self, kind: str) -> bool:
        """Whether the language has words for a calendar unit: CLDR has none for decades and centuries."""
        return kind not in ("decade", "century", "millennium") or bool(self.templates.get(kind))

    def to_singular(self, plural: str) -> str:
        """The singular of a class name in the plural: "langues romanes" -> "langue romane"."""
        return _replace_all(plural, self.singular) if self.singular_of.search(plural) else plural

    def with_uninflected_words_appended(self, question: str) -> str:
        """The question, followed by its words without case endings and articles of names: "Italiens ... Italien"."""
        bare = []
        for word in question.split():
            form = _replace_all(word.strip(".,;:?!¿¡\"'()«»"), self.bare_names)
            if form and form not in word.split():
                bare.append(form)
        return " ".join([question, *bare]) if self.bare_names else question

    def with_english_function_words(self, answer: str) -> str:
        """An answer with the words around its names in English: "pas en Bavière" is "not en Bavière".

        In scripts without spaces numerals of dates become digits: 五月七日 is 5月7日.
        """
        if not self.separates_words_by_spaces:
            answer = _NUMERALS_OF_DATES.sub(lambda m: str(_value_of_chinese_numeral(m[0])), answer)
            answer = self.with_regnal_years_converted(answer)
        return _replace_all(answer, self.around_names)

    def without_article(self, text: str) -> str:
        """The text without a leading definite article."""
        return next((text.removeprefix(article) for article in self.articles if text.startswith(article)), text)

    def ordinal(self, number: int) -> str:
        """The ordinal of a number ("1st", "2."), by its last two digits, then its last digit."""
        digits = str(number)
        for size in (2, 1):
            ending = self.nth.get(digits[-size:])
            if ending is not None and (size == 1 or len(digits) >= size):
                return digits + ending
        return digits + self.nth[""]

    def ordinals(self, number: int) -> tuple[str, ...]:
        """All ways to write the ordinal of a century or millennium, the usual one first."""
        if number in self.special_counts:
            return self.special_counts[number]
        first, *more = (t.format(n=number, nth=self.ordinal(number), roman=roman_numeral(number)) for t in self.counts)
        words = [self.count_words[number - 1]] if 0 < number <= len(self.count_words) else []
        return tuple(dict.fromkeys([first, *words, *more]))

    def number_of_ordinal(self, text: str) -> int | None:
        """The number of an ordinal in lower case: "19th", "xixe", "twentieth"; None for other texts."""
        if text in self.count_words:
            return self.count_words.index(text) + 1
        digits = re.match(r"\d+", text)
        if digits:
            return int(digits[0])
        match = re.match(r"[ivxl]+", text)
        return roman_number(match[0]) if match else None

    def formatted_number(self, plain: str) -> str:
        """A decimal text ("-1234.5") with the language's separators and digits."""
        sign, digits = ("-", plain[1:]) if plain.startswith("-") else ("", plain)
        whole, _, fraction = digits.partition(".")
        if len(whole) >= self.grouped_from:  # 1,234,567 or 12,34,567
            parts, whole = [whole[-3:]], whole[:-3]
            while whole:
                parts.append(whole[-self.later_group :])
                whole = whole[: -self.later_group]
            whole = self.group.join(reversed(parts))
        text = sign + whole + (self.decimal + fraction if fraction else "")
        return text.translate(self.digits) if self.digits else text

    def with_scale_word(self, plain: str, scale: Scale) -> str:
        """A decimal text followed by a word for a power of ten: "1.4 billion", "1,4 Milliarden", "1,4 milliard"."""
        single = plain.lstrip("-")
        is_singular = float(single) < 2 if self.plural_from_two else single == "1"
        return f"{self.formatted_number(plain)} {scale.singular if is_singular else scale.plural}"

    @cached_property
    def powers(self) -> Mapping[str, int]:
        """Exponents of ten by each recognised word in lower case: "million" 6."""
        return {folded(w): s.power for s in self.scales for w in (s.singular, s.plural, *s.read) if w}

    def number_with_noun(self, number: str, noun: str) -> str:
        """A number with its unit or noun: "35 km", "1.4 billion people", "1,4 milliard d'euros", "35%"."""
        if noun == "%":
            return self.fill_templates("percent", n=number)[0]
        return self.with_elisions(
            f"{number}{self.scale_of if number[-1:].isalpha() else ''}{self.word_separator}{noun}"
        )

    @property
    def word_separator(self) -> str:
        """The separator of words: a space, or "" as in "約126,000,000人"."""
        return " " if self.separates_words_by_spaces else ""

    @cached_property
    def number_pattern(self) -> str:
        """A regular expression for unsigned numbers in the language."""
        later = "3" if self.later_group == 3 else f"{self.later_group},3"
        groups = "|".join(
            rf"\d{{1,3}}(?:{re.escape(g)}\d{{{later}}}){{0,11}}{re.escape(g)}\d{{3}}" for g in self.groups_read
        )
        return rf"(?:{groups}|\d++)(?:{re.escape(self.decimal)}\d++)?"

    def plain_number(self, text: str) -> str:
        """Convert a number that matches `number_pattern` to a decimal text with a point."""
        for group in self.groups_read:
            text = text.replace(group, "")
        return text.replace(self.decimal, ".")


def _replace_all(text: str, replacements: Iterable[tuple[re.Pattern[str], str]]) -> str:
    """The text after all replacements, in order."""
    for pattern, replacement in replacements:
        text = pattern.sub(replacement, text)
    return text


def any_of(words: Iterable[str]) -> str:
    """A regular expression for any of the words, longest first; for no words it never matches."""
    return "|".join(sorted(map(re.escape, words), key=lambda word: (-len(word), word))) or "(?!)"


def folded(text: str) -> str:
    """The text for reading: NFKC, lower case, plain dashes, apostrophes, digits and spaces, no direction marks."""
    text = with_plain_digits(unicodedata.normalize("NFKC", text).lower())
    return " ".join(without_direction(text.translate(_FOLDED)).split())


def without_accents(text: str) -> str:
    """The text in lower case without accents: "é" is "e", "ß" is "ss"."""
    return "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))


def with_plain_digits(text: str) -> str:
    """The text with the digits of any script replaced by 0 to 9."""
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(sign)) if sign.isdecimal() else sign for sign in text)


def without_direction(text: str) -> str:
    """The text without direction marks, which occur in Arabic and Hebrew dates."""
    return text if text.isascii() else text.translate(_DIRECTIONS)


# Chinese and Japanese numerals. A single one may be part of a word (統一); 三 of 三重県 is not recognised as such.
_NUMERALS = re.compile(r"[〇零一二三四五六七八九十百千万萬億亿兆两兩]{2,20}|[二三四五六七八九十两兩](?![^\W\d_]{2})")
# Numerals before the words for year, month, day and century.
_NUMERALS_OF_DATES = re.compile(r"[〇零一二三四五六七八九十百千]{1,8}(?=[年月日世])")
_BEHIND_LETTERS = re.compile(r"(?<=[^\x00-\u02ff\W\d_])(?=\d)")  # digits right after a non-Latin letter
_MYRIAD = 10_000  # numerals from here on multiply the whole group before them


def _value_of_chinese_numeral(text: str) -> int:
    """The value of a numeral: 四十二 is 42, 三百万 three million, 一九六一 1961."""
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


_LONGEST_WORD = 4  # letters; a function word of at most this length stays one even if it is a place name too
_FOLDED = {ord(c): "-" for c in "‐‑‒–—−"} | {ord("’"): "'", ord("‘"): "'"}
_DIRECTIONS = dict.fromkeys(map(ord, "\u061c\u200e\u200f"))  # Arabic letter mark, left-to-right and right-to-left mark


def roman_numeral(number: int) -> str:
    """The Roman numeral of a number from 1 to 399: 4 -> "IV"."""
    out = ""
    for value, letters in (
        (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
    ):  # fmt: skip
        out += letters * (number // value)
        number %= value
    return out


def roman_number(text: str) -> int | None:
    """The value of a well-formed Roman numeral up to 399 in any case; None for other texts."""
    values = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
    digits = [values.get(c, 0) for c in text.lower()]
    total = sum(-d if any(d < e for e in digits[i + 1 : i + 2]) else d for i, d in enumerate(digits))
    return total if 0 < total < 400 and roman_numeral(total).lower() == text.lower() else None
