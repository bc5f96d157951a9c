"""Preparation of texts before matching, and repair of damage by copying."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import takewhile

from granola.matching.text import word_lists
from granola.replies.plain_text import without_markup

# The bytes of UTF-8's longer sequences as Windows-1252 or Latin-1 shows them.
_HIGH = bytes(range(0x80, 0xC0)).decode("cp1252", errors="ignore") + bytes(range(0x80, 0xC0)).decode("latin-1")
_LEADS = bytes(range(0xC2, 0xF5)).decode("latin-1")
_DAMAGED = re.compile(f"[{_LEADS}][{re.escape(_HIGH)}]+")
_BLANKS = str.maketrans(dict.fromkeys("\xa0\u2007\u2009\u202f", " "))


def _decode_mojibake(damage: re.Match[str]) -> str:
    if damage[0] == "×\xa0":  # a multiplication sign with its blank, no mojibake
        return damage[0]
    try:
        return b"".join(_byte_of_letter(letter) for letter in damage[0]).decode("utf-8")
    except UnicodeError:
        return damage[0]


def _byte_of_letter(letter: str) -> bytes:
    try:
        return letter.encode("latin-1")
    except UnicodeEncodeError:
        return letter.encode("cp1252")


def decode_mojibake(text: str) -> str:
    """The text with mojibake decoded and all blanks plain spaces; most texts are returned as they are."""
    return text if text.isascii() else _DAMAGED.sub(_decode_mojibake, text).translate(_BLANKS)


_SIGNS = re.compile(r"(?<=[A-Za-z])[!$](?=[A-Za-z])")  # P!nk, Ke$ha
_ENDINGS = r"(?:s|t|re|ve|ll|d|m)\b"
_PARTED = re.compile(
    rf"(?<=\w) (?=n['’]t\b)|(?<=\w) ['’] ?(?={_ENDINGS})|(?<=\w) (?=['’]{_ENDINGS})|(?<=\b[odl]) ['’] (?=\w)",
    re.IGNORECASE,
)


_CLOCK = re.compile(r"\b(\d{1,2})(?::00)?\s?([ap])\.?m\b\.?", re.IGNORECASE)


def tidy(text: str) -> str:
    """The text with blanks and marks normalised and with words joined that a tokeniser split at apostrophes."""
    if "~~" in text:
        text = _STRUCK.sub("", text)
    text = _join_split_words(without_markup(decode_mojibake(text)))
    if len(text) <= SHORT and _PARTED_NUMBER.search(text):  # 1, 776 and 3. 97
        text = _PARTED_NUMBER.sub(lambda sign: sign[1] or sign[2], text)
    return text


_STRUCK = re.compile(r"~~[^~]*+~~")
SHORT = 40  # characters up to which `3. 97` in an answer is one number and no end of a sentence
_PARTED_NUMBER = re.compile(r"(?:(?<=\d) ?(,) (?=\d{3}(?!\d))|(?<=\d) ?([.:]) (?=\d))")


def _join_split_words(text: str) -> str:
    """The text with signs in place of letters undone (`Ke$ha`), and with words joined that a tokeniser split at an
    apostrophe.
    """
    if "!" in text or "$" in text:
        text = _SIGNS.sub(lambda sign: "i" if sign[0] == "!" else "s", text)
    if "m" in text or "M" in text:
        text = _CLOCK.sub(r"\1 \2m", text)
    if " '" in text or " ’" in text or " n't" in text or " n’t" in text:
        text = _PARTED.sub(lambda parted: "'" if parted[0].strip() else "", text)
    return text


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


GLUED = 5  # letters from which a name is searched for in glued words; shorter ones are parts of other words


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


def is_damaged(text: str) -> bool:
    """Whether a text looks as if words were glued together at links or footnotes."""
    return _DAMAGE.search(text) is not None


def repaired_readings(text: str) -> list[str]:
    """Readings of a text that was copied with its footnotes and without the blanks around its links.

    First footnote digits glued to words and years are removed ("Jack Gleeson1.", "March 8, 19871"), then words glued
    at the borders of links are separated ("byHugo Weaving"). A single digit after a blank is a footnote where there
    are others.
    """
    if not is_damaged(text):
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
