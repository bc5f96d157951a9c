"""Texts set in order before they are read, and repaired where they were damaged by copying."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import takewhile

from granola.matching.text import word_lists
from granola.replies.plain_text import spaced

# The bytes of UTF-8's longer sequences as Windows-1252 or Latin-1 shows them.
_HIGH = bytes(range(0x80, 0xC0)).decode("cp1252", errors="ignore") + bytes(range(0x80, 0xC0)).decode("latin-1")
_LEADS = bytes(range(0xC2, 0xF5)).decode("latin-1")
_DAMAGED = re.compile(f"[{_LEADS}][{re.escape(_HIGH)}]+")
_BLANKS = str.maketrans(dict.fromkeys("\xa0\u2007\u2009\u202f", " "))


def _mend(damage: re.Match[str]) -> str:
    if damage[0] == "×\xa0":  # a sign and its blank
        return damage[0]
    try:
        return b"".join(_byte(letter) for letter in damage[0]).decode("utf-8")
    except UnicodeError:
        return damage[0]


def _byte(letter: str) -> bytes:
    try:
        return letter.encode("latin-1")
    except UnicodeEncodeError:
        return letter.encode("cp1252")


def mended(text: str) -> str:
    """The text with mojibake undone and every kind of blank a plain one; most texts are returned as they are."""
    return text if text.isascii() else _DAMAGED.sub(_mend, text).translate(_BLANKS)


_SIGNS = re.compile(r"(?<=[A-Za-z])[!$](?=[A-Za-z])")
_ENDINGS = r"(?:s|t|re|ve|ll|d|m)\b"
_PARTED = re.compile(
    rf"(?<=\w) (?=n['’]t\b)|(?<=\w) ['’] ?(?={_ENDINGS})|(?<=\w) (?=['’]{_ENDINGS})|(?<=\b[odl]) ['’] (?=\w)",
    re.IGNORECASE,
)


_CLOCK = re.compile(r"\b(\d{1,2})(?::00)?\s?([ap])\.?m\b\.?", re.IGNORECASE)


def tidied(text: str) -> str:
    """The text as it is read: blanks, marks and what a system parted at its signs set in order."""
    if "~~" in text:
        text = _STRUCK.sub("", text)
    text = _joined(spaced(mended(text)))
    if len(text) <= SHORT and _PARTED_NUMBER.search(text):  # 1, 776 and 3. 97
        text = _PARTED_NUMBER.sub(lambda sign: sign[1] or sign[2], text)
    return text


_STRUCK = re.compile(r"~~[^~]*+~~")
SHORT = 40  # characters of an answer in which `3. 97` is one number and no end of a sentence
_PARTED_NUMBER = re.compile(r"(?:(?<=\d) ?(,) (?=\d{3}(?!\d))|(?<=\d) ?([.:]) (?=\d))")


def _joined(text: str) -> str:
    """The text with letters that are written as signs, and with what a system parted at an apostrophe set together."""
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
_AFTER_YEAR = re.compile(r"(?<!\d)(1[4-9]\d\d|20[0-3]\d)\d{1,3}(?=[.,;)]*(?:\s|\Z|[A-Z]))")
_NO_MONTH = r"(?<!uary)(?<!March)(?<!April)(?<!May)(?<!June)(?<!July)(?<!August)(?<!ember)(?<!ober)"
_LONE = re.compile(_NO_MONTH + r"(?<=[\w)\"”]) \d{1,2}(?= ?[.,;]|\Z)")
_PARTED_DECIMAL = re.compile(r"(?<=\d)\. (?=\d)")
_LINK_BORDER = re.compile(
    r"(?<=[a-z])(?=[A-Z][a-z])|(?<=[a-z]{2})(?=[A-Z]\.|\d)|(?<=\d\d)(?=[A-Z]?[a-z]{3})|(?<=[a-z]{2}[”\"])(?=\w)"
)


_DAMAGE = re.compile(r"[a-z\"”’')\]]\d|[A-Z][A-Z]\d|\d{5}|[a-z][A-Z]|\d\. \d|[⁰¹²³⁴-⁹]|\d[a-z]{3}|[a-z][”\"]\w")


GLUED = 5  # letters of a name that may be glued to others; shorter ones stand in other words


def parted(text: str, names: Iterable[str]) -> str:
    """A text that was copied with blanks around the names that are glued to other words: `starLuke Bryansang`.

    A name of small letters is parted from a small word alone: `themedulla oblongataof`, not `phytohormones`.
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


_LONGEST = 12  # letters of a word that a name is parted from by the word itself
_SMALL = word_lists.FUNCTION | {""}


def is_damaged(text: str) -> bool:
    """Whether something in a text looks as if it was glued on where links or footnotes stood."""
    return _DAMAGE.search(text) is not None


def repairs(text: str) -> list[str]:
    """Readings of a text that was copied with its footnotes and without the blanks around its links.

    Footnote digits glued to words and years go first ("Jack Gleeson1.", "March 8, 19871"), then words glued at the
    borders of links are parted ("byHugo Weaving"). A lone digit behind a blank is a footnote where there are others.
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
