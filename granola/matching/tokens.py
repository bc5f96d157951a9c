"""Texts repaired and normalised into folded words with their places in the source.

Damage by copying is repaired first: mojibake, words that a tokeniser split, footnotes and links glued to words. Then
two spellings of a name fold to the same words: case, accents, punctuation, hyphens, possessives, joined initials
(J.R.R. = JRR = J. R. R.), thousands separators, number words and ordinals, "&", "St." and the like. Marks (C++, 42 %)
are words too.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from itertools import takewhile
from typing import NamedTuple

import orjson

from abstraction.text.language.languages import language
from abstraction.text.language.units import SIGNS, name_different_currencies
from granola.matching import word_lists
from granola.replies.plain_text import fold_case_and_accents, without_markup
from kg.base.bounded_cache import TextCaches

# The bytes of UTF-8's longer sequences as Windows-1252 or Latin-1 shows them.
_HIGH = bytes(range(0x80, 0xC0)).decode("cp1252", errors="ignore") + bytes(range(0x80, 0xC0)).decode("latin-1")
_LEADS = bytes(range(0xC2, 0xF5)).decode("latin-1")
_DAMAGED = re.compile(f"[{_LEADS}][{re.escape(_HIGH)}]+")
_BLANKS = str.maketrans(dict.fromkeys("\xa0\u2007\u2009\u202f", " "))


def _decode_mojibake(damage: re.Match[str]) -> str:
    if damage[0] == "×\xa0":  # a multiplication sign with its blank, no mojibake
        return damage[0]
    bytes_of_letters = (letter.encode("latin-1" if letter <= "\xff" else "cp1252") for letter in damage[0])
    try:
        return b"".join(bytes_of_letters).decode("utf-8")
    except UnicodeError:
        return damage[0]


def decode_mojibake(text: str) -> str:
    """The text with mojibake decoded and every kind of blank as a space; an ASCII text is returned as it is."""
    return text if text.isascii() else _DAMAGED.sub(_decode_mojibake, text).translate(_BLANKS)


_SIGNS = re.compile(r"(?<=[A-Za-z])[!$](?=[A-Za-z])")  # P!nk, Ke$ha
_CONTRACTED = r"(?:s|t|re|ve|ll|d|m)\b"
_PARTED = re.compile(
    rf"(?<=\w) (?=n['’]t\b)|(?<=\w) ['’] ?(?={_CONTRACTED})|(?<=\w) (?=['’]{_CONTRACTED})|(?<=\b[odl]) ['’] (?=\w)",
    re.IGNORECASE,
)

_CLOCK = re.compile(r"\b(\d{1,2})(?::00)?\s?([ap])\.?m\b\.?", re.IGNORECASE)


def normalise_blanks_and_marks(text: str) -> str:
    """The text with blanks and marks normalised, letters for the signs that stand for them (`Ke$ha`), and the words
    joined that a tokeniser split at apostrophes.
    """
    if "~~" in text:
        text = _STRUCK.sub("", text)
    text = without_markup(decode_mojibake(text))
    if "!" in text or "$" in text:
        text = _SIGNS.sub(lambda sign: "i" if sign[0] == "!" else "s", text)
    if "m" in text or "M" in text:
        text = _CLOCK.sub(r"\1 \2m", text)
    if " '" in text or " ’" in text or " n't" in text or " n’t" in text:
        text = _PARTED.sub(lambda parted: "'" if parted[0].strip() else "", text)
    if len(text) <= SHORT and _PARTED_NUMBER.search(text):  # 1, 776 and 3. 97
        text = _PARTED_NUMBER.sub(lambda sign: sign[1] or sign[2], text)
    return text


_STRUCK = re.compile(r"~~[^~]*+~~")
SHORT = 40  # characters at most of an answer in which `3. 97` is one number and no end of a sentence
_PARTED_NUMBER = re.compile(r"(?:(?<=\d) ?(,) (?=\d{3}(?!\d))|(?<=\d) ?([.:]) (?=\d))")

_SUPERSCRIPTS = re.compile("(?:(?<=[^\\d\\s])|(?<=\\b[12]\\d\\d\\d))[⁰¹²³⁴-⁹]+")
_BEFORE_NUMBERS = re.findall(r"\w+", "in on of to by at the for and from since about into around over takes")
_FOOTNOTE = re.compile(
    "".join(rf"(?<!\b{word})" for word in _BEFORE_NUMBERS)
    + r"(?<=[a-zß-öø-ÿ][a-zß-öø-ÿ\"”’')\]])\d{1,3}(?![\d:%,]\d|\d)"
    + r"|(?<=[A-Z][A-Z])\d{1,3}(?=[.,;]?(?:\s|\Z))"
)
# a footnote after a year from 1400 to 2039
_AFTER_YEAR = re.compile(r"(?<!\d)(1[4-9]\d\d|20[0-3]\d)\d{1,3}(?=[.,;)]*(?:\s|\Z|[A-Z]))")
_NO_MONTH = r"(?<!uary)(?<!March)(?<!April)(?<!May)(?<!June)(?<!July)(?<!August)(?<!ember)(?<!ober)"
_LONE = re.compile(_NO_MONTH + r"(?<=[\w)\"”]) \d{1,2}(?= ?[.,;]|\Z)")  # a number after a month is a day, no footnote
_PARTED_DECIMAL = re.compile(r"(?<=\d)\. (?=\d)")
_LINK_BORDER = re.compile(
    r"(?<=[a-z])(?=[A-Z][a-z])|(?<=[a-z]{2})(?=[A-Z]\.|\d)|(?<=\d\d)(?=[A-Z]?[a-z]{3})|(?<=[a-z]{2}[”\"])(?=\w)"
)

_DAMAGE = re.compile(r"[a-z\"”’')\]]\d|[A-Z][A-Z]\d|\d{5}|[a-z][A-Z]|\d\. \d|[⁰¹²³⁴-⁹]|\d[a-z]{3}|[a-z][”\"]\w")

GLUED = 5  # letters at least of a name searched for in glued words; shorter names are parts of other words


def separate_glued_names(text: str, names: Iterable[str]) -> str:
    """A text with blanks around the names that are glued to other words: `starLuke Bryansang`.

    A name in small letters is separated only from a function word: `themedulla oblongataof`, not `phytohormones`.
    """
    for name in sorted({name for name in names if len(name) >= GLUED and name[0].isalnum()}, key=len, reverse=True):
        at = text.find(name)
        while at >= 0:
            end = at + len(name)
            before = "".join(takewhile(str.isalpha, reversed(text[max(0, at - _LONGEST) : at])))[::-1]
            after = "".join(takewhile(str.isalpha, text[end : end + _LONGEST]))
            small = {before.lower(), after.lower()} <= _SMALL
            if (before or after) and (small or (name[0].isupper() and before[-1:].islower())):
                text = f"{text[:at]} {name} {text[end:]}"
            at = text.find(name, end)
    return text


_LONGEST = 12  # letters of a neighbouring word that are compared with the function words
_SMALL = word_lists.FUNCTION | {""}


def looks_damaged_by_copying(text: str) -> bool:
    """Whether a text looks as if words were glued together at links or footnotes."""
    return _DAMAGE.search(text) is not None


def repaired_readings(text: str) -> list[str]:
    """Readings of a text that was copied with its footnotes and without the blanks around its links.

    First footnote digits glued to words and years are removed ("Jack Gleeson1.", "March 8, 19871"), then words glued
    at the borders of links are separated ("byHugo Weaving"). A single digit after a blank is a footnote where there
    are others.
    """
    if not looks_damaged_by_copying(text):
        return []
    readings = []
    clean, notes = _SUPERSCRIPTS.subn("", text)
    clean, more = _FOOTNOTE.subn("", clean)
    clean, years = _AFTER_YEAR.subn(r"\1", clean)
    if notes + more + years or len(_LONE.findall(clean)) > 1:
        clean = _LONE.sub("", clean)
    if clean != text:
        readings.append(clean)
    parted = _LINK_BORDER.sub(" ", clean)
    parted = _PARTED_DECIMAL.sub(".", parted)
    if parted != clean:
        readings.append(parted)
    return readings


MATCHING = TextCaches(characters=1 << 21)  # about 400 MB at most
"""The caches of the matchers, for predictions, questions and names."""


class FoldedWord(NamedTuple):  # made by the million: a frozen dataclass takes three times as long
    """One folded word: its place [start, end) in the source, and whether it began with a capital there.

    `gap` is the punctuation between this word and the one before, without spaces: "" or "," and so on.
    """

    text: str
    start: int
    end: int
    capital: bool
    gap: str


_NUMBERS = language("en").number_words
_CARDINAL = {word: value for word, value in _NUMBERS.items() if value < 20}
_TEN = {word: value for word, value in _NUMBERS.items() if value >= 20 and not value % 10}
_ORDINAL = {word: value for value, word in enumerate(("zeroth", *language("en").count_words[:19]))}
_ORDINAL |= {word[:-1] + "ieth": value for word, value in _TEN.items()}

# Words that `words` changes into digits.
_NUMBERISH = frozenset({*_CARDINAL, *_TEN, *_ORDINAL})

# Short forms that mean the same anywhere in a name.
SAME_WORD = {"&": "and", "st": "saint", "ste": "sainte", "mt": "mount", "ft": "fort"}
ARTICLES = frozenset({"the", "a", "an"})
MOST = 200  # mentions of one name that are searched for; a text that has more is no answer

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(
    rf"(\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+\.\d+|(?:[^\W\d_]\.){{2,}}[^\W\d_]?(?!\w)|[{_CJK}]|&"
    rf"|(?:[^\W_{_CJK}]|[\u0300-\u036f])++(?:['’‘ʼʻ´`][^\W_{_CJK}]++)*+"
    # marks that distinguish names: -5, 42 %, C#, C++, A+, O-, E♭
    rf"|(?<![\w)\]}}.])[-−](?=[{SIGNS}]?\d)|[<>≤≥]=?(?=\s?[{SIGNS}]?\d)|(?<=\d)\s?%|[♭♯]|(?<=[^\W_])(?:\+{{1,2}}|#)(?!\w)"
    rf"|(?<=\b[AaBbOo])[-−](?!\w)|(?<=\b[Aa][Bb])[-−](?!\w))"
)
_MARKS = {
    "-": "minus", "−": "minus", "%": "percent", "♭": "flat", "♯": "sharp", "#": "sharp", "+": "plus", "++": "plusplus",
    "<": "below", "≤": "below", "<=": "below", ">": "above", "≥": "above", ">=": "above",
}  # fmt: skip
MARKS = frozenset(_MARKS.values())
"""The words that marks fold to; a number or letter with a mark differs from the same without it."""
MARK = re.compile(r"[%#+♭♯−<>≤≥]|(?:\A|[^\w)\]}.])-[$]?\d|\b(?:[ABO]|AB)-(?!\w)")
# In lower-case ASCII where no sign joins letters or digits, a word is a run of them: five times as fast.
_JOINED = re.compile(r"[.,]\d|[a-z]\.[a-z]\.|['`&]")
_RUN = re.compile(r"([a-z0-9]+)")
_SIGNS_OF_MARKS = frozenset("%#+-<>")


def _has_mark(text: str) -> bool:
    """Whether an ASCII text has a mark that distinguishes names (C#, 42 %); the first, faster search rules out most
    texts.
    """
    return not _SIGNS_OF_MARKS.isdisjoint(text) and MARK.search(text) is not None


def is_mark(folded_words: Sequence[FoldedWord], index: int, text: str) -> bool:
    """Whether a word of a text is a mark: a sign, or "sharp" or "flat" after the letter of a note."""
    word = folded_words[index]
    if word.text not in MARKS:
        return False
    note = folded_words[index - 1].text if index and word.text in ("sharp", "flat") else ""
    return not text[word.start].isalnum() or (len(note) == 1 and note in "abcdefgh")


def _fold_token(token: str) -> str:
    if (mark := _MARKS.get(token.strip())) is not None:
        return mark
    text = fold_case_and_accents(token)
    if text[:1].isdigit():
        return text.replace(",", "")
    if "." in text:
        return text.replace(".", "")
    if text.endswith("'s"):
        text = text[:-2]
    return text.replace("'", "")


@MATCHING.memoize(1 << 12, size=len)  # few: the collector walks through every FoldedWord that is kept
def words(text: str) -> tuple[FoldedWord, ...]:
    """The words of `text` in order, numbers and initials joined, without the English articles."""
    same = text.isascii()
    lower = text.lower() if same else text
    plainly = same and not _JOINED.search(lower) and not _has_mark(text)
    parts = (_RUN if plainly else _TOKEN).split(lower)  # gaps and words take turns; a gap is last
    folded_words: list[FoldedWord] = []
    end, gap, turns = 0, "", iter(parts)
    for between, token in zip(turns, turns, strict=False):
        start = end + len(between)
        end = start + len(token)
        if plainly:
            folded = token
        elif not (folded := token.lower() if token.isascii() and token.isalnum() else _fold_token(token)):
            gap += between + token
            continue
        if between != " " or gap:
            gap = "".join((gap + between).split()) if folded_words else ""
        folded_words.append(_new_word(FoldedWord, (folded, start, end, text[start].isupper(), gap)))
        gap = ""
    return _normalise_words(folded_words)


def _normalise_words(folded_words: list[FoldedWord]) -> tuple[FoldedWord, ...]:
    """Words with short forms written out, initials and number words joined, and articles left out."""
    texts = {word[0] for word in folded_words}
    if not SAME_WORD.keys().isdisjoint(texts):
        folded_words = [word._replace(text=SAME_WORD.get(word[0], word[0])) for word in folded_words]
    if any(len(text) == 1 for text in texts):
        folded_words = _join_initials(folded_words)
    if not _NUMBERISH.isdisjoint(texts):
        folded_words = _join_numbers(folded_words)
    return tuple(folded_words if ARTICLES.isdisjoint(texts) else _without_articles(folded_words))


_new_word = tuple.__new__  # half the time of FoldedWord(...), which goes through a function of Python


def _join_initials(folded_words: Sequence[FoldedWord]) -> list[FoldedWord]:
    """The words with each run of single letters as one word, in capitals or not: `J. R. R.` -> `jrr`."""
    out: list[FoldedWord] = []
    run = False
    for word in folded_words:
        single = len(word.text) == 1 and "a" <= word.text <= "z"
        if single and run and word.gap in ("", "."):
            last = out[-1]
            out[-1] = FoldedWord(last.text + word.text, last.start, word.end, last.capital, last.gap)
        else:
            out.append(word)
        run = single
    return out


def _join_numbers(folded_words: Sequence[FoldedWord]) -> list[FoldedWord]:
    """The words with number words as digits: `twenty-one` -> 21, `third` -> 3rd; `1st` stays as it is."""
    out: list[FoldedWord] = []
    index = 0
    while index < len(folded_words):
        word = folded_words[index]
        text, used = word.text, 1
        if text in _TEN:
            value, following = _TEN[text], folded_words[index + 1] if index + 1 < len(folded_words) else None
            text = str(value)
            if following is not None and following.gap in ("", "-"):
                if 0 < _CARDINAL.get(following.text, 0) < 10:
                    text, used = str(value + _CARDINAL[following.text]), 2
                elif 0 < _ORDINAL.get(following.text, 0) < 10:
                    text, used = _ordinal_in_digits(value + _ORDINAL[following.text]), 2
        elif text in _CARDINAL:
            text = str(_CARDINAL[text])
        elif text in _ORDINAL:
            text = _ordinal_in_digits(_ORDINAL[text])
        out.append(
            word
            if text == word.text
            else FoldedWord(text, word.start, folded_words[index + used - 1].end, word.capital, word.gap)
        )
        index += used
    return out


def _ordinal_in_digits(value: int) -> str:
    suffix = "th" if value % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")
    return f"{value}{suffix}"


def _without_articles(folded_words: Sequence[FoldedWord]) -> list[FoldedWord]:
    """The words without English articles, whose gap passes to the next word; a final one stays, as in Vitamin A."""
    others = list(folded_words)
    for place in range(len(others) - 2, -1, -1):
        article, following = others[place], others[place + 1]
        if article[0] in ARTICLES and not (following[0] in MARKS and following[1] == article[2]):  # the grade A+
            del others[place]
            if article[4]:
                others[place] = following._replace(gap=article[4] + following[4])
    return others


def occurrences(texts: Sequence[str], wanted: Sequence[str]) -> Iterator[int]:
    """The indices where the words `wanted` occur in sequence, from left to right: the first MOST of them."""
    line, run = "\n".join(("", *texts, "")), "\n".join(("", *wanted, ""))  # no word contains a newline
    place = counted = 0
    at = line.find(run)
    for _ in range(MOST):
        if at < 0:
            return
        place += line.count("\n", counted, at)
        yield place
        counted, at = at, line.find(run, at + 1)


@MATCHING.memoize(1 << 16, size=len)
def key(text: str) -> tuple[str, ...]:
    """The folded words of a text, without articles; texts with equal keys are spelling variants of each other."""
    quick = fast_key_or_none(text)
    return quick if quick is not None else tuple([word[0] for word in words(text)])


def fast_key_or_none(text: str) -> tuple[str, ...] | None:
    """The `key` of a text of simple words, computed fast; None where only `words` can compute it."""
    if not text.isascii():
        return None
    lower = text.lower()
    tokens = lower.split()
    if not "".join(tokens).isalnum():
        if _has_mark(text):
            return None
        tokens = lower.replace(", ", " ").replace(". ", " ").replace("-", " ").rstrip(".").split()
        if "'" in text:
            tokens = [_without_apostrophe_if_one_word(token) if "'" in token else token for token in tokens]
        if not "".join(tokens).isalnum():
            return None
    if _MARKED.isdisjoint(tokens):
        return tuple(tokens)
    if not _NUMBERISH.isdisjoint(tokens) or sum(map(_LETTERS.__contains__, tokens)) > 1:
        return None  # numbers in words; initials, which become one word
    if not SAME_WORD.keys().isdisjoint(tokens):
        tokens = [SAME_WORD.get(token, token) for token in tokens]
    return (*[token for token in tokens[:-1] if token not in ARTICLES], tokens[-1])


def _without_apostrophe_if_one_word(token: str) -> str:
    """A word with an apostrophe folded as by `_fold_token`; "'", which is no word, where it may be more than one word.
    """
    parts = token.split("'")
    if not token.replace("'", "").isalpha() or not all(parts):
        return "'"
    return "".join(parts[:-1] if parts[-1] == "s" else parts)


_SPECIAL = _NUMBERISH | SAME_WORD.keys()
_LETTERS = frozenset(string.ascii_lowercase)
_MARKED = _SPECIAL | ARTICLES | _LETTERS

_UNITS = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
_ROMANS = {"x" * tens + unit: 10 * tens + value for tens in range(4) for value, unit in enumerate(_UNITS)}
del _ROMANS[""]
_ROMAN_WORDS = frozenset(_ROMANS)  # faster to compare with than the keys
_DIGIT_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_NO_PLURALS = ("ss", "us", "is", "as", "os")  # endings of singular words: glass, bus, basis, Texas, chaos
_TABLES = orjson.loads(files("granola.matching").joinpath("data/word_forms.json").read_bytes())
_IRREGULAR: dict[str, str] = _TABLES["irregular"]
_SPELLING: dict[str, str] = _TABLES["spelling"]
_DIGRAPH = re.compile(r"([aou])e|(a)a")  # Duesseldorf, Goettingen, Aarhus
_ISE = re.compile(r"(?<=[a-z]{3}i)s(?=e|ing|ation)|(?<=[a-z]{2}y)s(?=e|ing)")  # organise, analyse
# Endings that `stem` removes, so that forms of a verb and its noun are equal (protects, protecting, protection),
# each with the least number of letters that remain.
_ENDINGS: dict[str, int] = _TABLES["endings"]


@MATCHING.memoize(1 << 16)
def loose_fold(text: str) -> str:
    """The loose fold of a folded word that is no Roman numeral: the singular, in one of its spellings; for an ordinal
    its digits.
    """
    if not text.isalpha():
        ordinal = _DIGIT_ORDINAL.fullmatch(text)
        return ordinal[1] if ordinal else text
    text = _IRREGULAR.get(text) or _SPELLING.get(text, text)
    if len(text) > 3 and text.endswith("s") and not text.endswith(_NO_PLURALS):
        if text.endswith("ies") and len(text) > 4:
            text = text[:-3] + "y"
        elif text.endswith(("ches", "shes", "xes", "zes", "sses")):
            text = text[:-2]
        else:
            text = text[:-1]
    text = _SPELLING.get(text, text)
    if len(text) > 5:  # in short words "ae" and "oe" are no umlauts: aeon, shoe
        text = _DIGRAPH.sub(lambda pair: pair[0][0], text)
    return _ISE.sub("z", text) if "s" in text else text


def loose_folds_of_words(folded_words: Sequence[FoldedWord]) -> tuple[str, ...]:
    """The loose folds of words, in order; a Roman numeral in capitals after a capitalised word becomes a number."""
    texts = [word.text for word in folded_words]
    if _ROMAN_WORDS.isdisjoint(texts):
        return tuple(map(loose_fold, texts))
    return tuple(
        str(_ROMANS[text])
        if word.capital and text in _ROMANS and index and (folded_words[index - 1].capital or len(text) > 1)
        else loose_fold(text)
        for index, (word, text) in enumerate(zip(folded_words, texts, strict=True))
    )


@MATCHING.memoize(1 << 16)
def loose_key(text: str) -> tuple[str, ...]:
    """The folds of a text's words (without articles) in which number and spelling make no difference: see
    `loose_fold`.
    """
    return loose_folds_of_key(text, key(text))


def loose_folds_of_key(text: str, folded: tuple[str, ...]) -> tuple[str, ...]:
    """The loose folds of a text whose key is `folded`; not cached."""
    return tuple(map(loose_fold, folded)) if _ROMAN_WORDS.isdisjoint(folded) else loose_folds_of_words(words(text))


@MATCHING.memoize(1 << 16)
def stem(text: str) -> str:
    """The beginning that the forms of a word share: at least four letters, for words of five letters or more."""
    if len(text) < 5 or not text.isalpha():  # shorter words would lose what distinguishes them
        return text
    for ending, left in _ENDINGS.items():
        if text.endswith(ending) and len(text) - len(ending) >= left:
            text = text[: -len(ending)]
            break
    return text[:-1] if text[-1] == text[-2] and len(text) > 4 else text  # controlled, control


@MATCHING.memoize(1 << 14)
def root(word: str) -> str:
    """The stem without an ending of derivation: a faith and its believer, an action and its agent (Buddhism,
    Buddhist).
    """
    return _ROOT.sub("", _ROOT.sub("", stem(word)))


_ROOT = re.compile(r"(?<=[a-z]{5})(?:isms?|ists?|ians?|ers?|ors?|ing|an|a|ic|ous|ive|able|ness)\Z")


@MATCHING.memoize(1 << 14)
def _marks_with_their_words(text: str, *, spelt: bool) -> frozenset[tuple[str, str]]:
    """Each mark of a text with the word it belongs to; with `spelt` also marks written as words ("sharp")."""
    found = ("", *[word.text for word in words(text)], "")
    return frozenset(
        (found[place + 1 if found[place] in _BEFORE else place - 1], found[place])
        for place in range(1, len(found) - 1)
        if found[place] in MARKS and (spelt or is_mark(words(text), place - 1, text))
    )


_BEFORE = frozenset({"minus", "below", "above"})  # written before their number
_MAY_HAVE = re.compile(rf"{MARK.pattern}|[{SIGNS}]|\d|\b[A-Ha-h][ -](?:sharp|flat)\b")


def keeps_marks_and_currency(prediction: str, name: str) -> bool:
    """Whether a prediction has every mark of a name, at the same word as the name has it, and names no other currency.
    """
    return not _MAY_HAVE.search(name) or (
        _marks_with_their_words(name, spelt=False) <= _marks_with_their_words(prediction, spelt=True)
        and not name_different_currencies(prediction, name)
    )


ONE_LETTER_FROM, TWO_LETTERS_FROM = 5, 9  # letters from which a word may differ in one letter, and in two


@MATCHING.memoize(1 << 14)
def is_spelt_nearly_alike(word: str, other: str) -> bool:
    """Whether two folded words are equal, or differ in one letter, or two, as their length allows."""
    if word == other:
        return True
    size = min(len(word), len(other))
    allowed = 2 if size >= TWO_LETTERS_FROM else 1 if size >= ONE_LETTER_FROM else 0
    # the first letter must agree: Berlin is not Merlin
    if not allowed or abs(len(word) - len(other)) > allowed or not (word + other).isalpha() or word[0] != other[0]:
        return False
    # the number of letters to insert, delete or change (Levenshtein 1966)
    row = list(range(len(other) + 1))
    for index, letter in enumerate(word, 1):
        last, row[0] = row[0], index
        for place, against in enumerate(other, 1):
            last, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, last + (letter != against))
    return row[-1] <= allowed
