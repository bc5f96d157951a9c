"""Numbers in English words as digits in the same place: `half a million`, `two hundred and fifty thousand`."""

from __future__ import annotations

import re

from abstraction.language.language_data import any_of
from abstraction.language.languages import language

_ENGLISH = language("en")
_SMALL = {word: n for word, n in _ENGLISH.number_words.items() if 0 < n < 20 or (n and not n % 10)} | {"a": 1, "an": 1}
_LARGE = {scale.singular or scale.read[0]: 10**scale.power for scale in _ENGLISH.scales if scale.power > 2}
_PARTS = {"half": 0.5, "quarter": 0.25, "third": 1 / 3, "quarters": 0.25, "thirds": 1 / 3}
_NAMES = any_of(_SMALL.keys() - {"a", "an"})
_POWERS = any_of(_LARGE)
_WORD = rf"(?:{_NAMES}|hundred|{_POWERS})"
_GAP = r"(?:[\s-]+and[\s-]+|(?<=hundred), (?:and )?|[\s-]+)"
_RUN = re.compile(rf"\b(?:an?\s+(?=hundred|{_POWERS}))?{_WORD}(?:{_GAP}{_WORD})+\b")
_PART = re.compile(
    rf"\b(?:(?P<many>an?|one|two|three)[\s-]+)?(?P<part>half|quarters?|thirds?)\s+(?:of\s+)?an?\s+(?P<scale>{_POWERS})\b"
)
_AND_A_HALF = re.compile(
    rf"\b(?P<whole>\d{{1,15}}|{_NAMES}|an? dozen)\s+and\s+a\s+(?P<part>half|quarter)(?:\s+(?P<scale>{_POWERS}))?\b"
)
_DOZENS = re.compile(rf"\b(?P<half>half )?(?P<many>an?|{_NAMES}|\d{{1,3}}) dozens?\b")
_NEEDED = re.compile(r"hundred|thousand|illion|dozen|and a ")


def with_digits(lower: str) -> str:
    """A folded text with its numbers of several words as digits, each behind blanks that keep every position.

    Only where words make one number: `seventy-three`, `1.5 million` and `nineteen sixty-one` stay as they are.
    """
    if not _NEEDED.search(lower):
        return lower
    lower = _AND_A_HALF.sub(_mixed, lower)
    lower = _DOZENS.sub(_dozens, lower)
    lower = _PART.sub(_fraction, lower)
    return _RUN.sub(_run, lower)


def _placed(value: float, found: re.Match[str]) -> str:
    digits = str(round(value)) if abs(value - round(value)) < 1e-6 else f"{value:.2f}".rstrip("0")
    return digits.rjust(len(found[0])) if len(digits) <= len(found[0]) else found[0]


def _mixed(found: re.Match[str]) -> str:
    if found["whole"].endswith("dozen"):
        return _placed(12 + 12 * _PARTS[found["part"]], found)
    whole = _SMALL.get(found["whole"]) or int(found["whole"])
    return _placed((whole + _PARTS[found["part"]]) * _LARGE.get(found["scale"] or "", 1), found)


def _fraction(found: re.Match[str]) -> str:
    return _placed(_SMALL.get(found["many"] or "", 1) * _PARTS[found["part"]] * _LARGE[found["scale"]], found)


def _dozens(found: re.Match[str]) -> str:
    many = _SMALL.get(found["many"]) or int(found["many"])
    return _placed(many * (6 if found["half"] else 12), found)


def _run(match: re.Match[str]) -> str:
    number_words = [word for word in re.split(r"[\s,-]+", match[0]) if word != "and"]
    if _LARGE.keys().isdisjoint(number_words) and "hundred" not in number_words:
        return match[0]
    value = _value(number_words)
    return match[0] if value is None else _placed(value, match)


def _value(number_words: list[str]) -> int | None:
    """The number that words make, or None where they are several numbers, or a year."""
    total = group = 0
    last = 0  # the least place value said so far in the group: no `twenty thirty`
    scale = 10**15
    for word in number_words:
        if word == "hundred":
            if not group or group > 99:
                return None
            group, last = group * 100, 100
        elif word in _LARGE:
            if not group or _LARGE[word] >= scale:
                return None
            scale = _LARGE[word]
            total, group, last = total + group * scale, 0, 0
        else:
            value = _SMALL[word]
            if last and (value >= last or (last < 100 and (value > 9 or last < 20))):
                return None
            group, last = group + value, value
    return total + group
