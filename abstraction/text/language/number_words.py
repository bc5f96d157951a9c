"""Replacement of numbers in several words by digits at the same position: `half a million`, `deux cents`, `un milione
e mezzo`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

from abstraction.text.language.language_data import any_of
from abstraction.text.language.languages import Language

_HUNDRED = 2  # exponent of ten
_LEAST_HUNDRED = 100  # words for whole hundreds ("zweihundert") have this value or more
_LEAST_SCALE = 10**6  # "two million" is as precise as "2 million", so that two words from a million on stay


class NumberWords:
    """A reader of numbers in several words of one language; `in_digits` is its main method."""

    def __init__(self, words: Language) -> None:
        self._small = {word: n for word, n in words.number_words.items() if n} | dict.fromkeys(words.ones, 1)
        self._large = {word: 10**power for word, power in words.powers.items() if power > _HUNDRED}
        self._hundreds = {word for word, power in words.powers.items() if power == _HUNDRED}
        self._hundreds |= {word for word, number in self._small.items() if number == _LEAST_HUNDRED}
        self._fractions: Mapping[str, float] = words.fractions
        self._dozens, self._articles = frozenset(words.dozens), frozenset(words.ones)
        names, large = any_of(self._small.keys() - set(words.ones)), any_of(self._large)
        hundred, one = any_of(self._hundreds), any_of(words.ones)
        word = rf"(?:{names}|{hundred}|{large})"
        joint = re.escape(words.joint_and.strip())
        gap = rf"(?:[\s-]+{joint}[\s-]+|, (?:{joint} )?(?=(?:{names})\b)|[\s-]+)"
        glued = words.glue is not None
        gap, edge = (rf"(?:{gap}|{words.glue})", "") if glued else (gap, r"\b")
        self._bare_hundred = not words.ones  # "hundert" is one hundred, English "hundred" needs a number before it
        part = any_of(self._fractions)
        halves = any_of(word for word, share in self._fractions.items() if share >= 0.5)  # "third" may be an ordinal
        self._word = re.compile(rf"{edge}(?:{any_of([*self._small, *self._hundreds, *self._large])}){edge}")
        of_hundreds = any_of(word for word, n in self._small.items() if n >= _LEAST_HUNDRED)
        self._needed = re.compile(rf"{hundred}|{large}|{of_hundreds}|{any_of(self._dozens)}|{part}")
        self._run = re.compile(rf"(?<!\d[\s-])\b(?:(?:{one})\s+(?=(?:{hundred}|{large})\b))?{word}(?:{gap}{word})+\b")
        of, apart = words.magnitude_of.strip() or "(?!)", r"[\s-]*" if glued else r"[\s-]+"
        whole = rf"\d{{1,15}}|{names}|(?:{one})"
        self._part = re.compile(
            rf"\b(?:(?P<many>{one}|{names})[\s-]+)?(?:(?P<half>{halves}){apart}(?:{of}\s+)?(?:(?:{one})\s+)?"
            rf"|(?P<part>{part})(?:\s+{of}(?:\s+(?:{one}))?\s+|\s+(?:{one})\s+))"
            rf"(?P<scale>{large})\b"
        )
        self._and_a_part = re.compile(
            rf"\b(?P<whole>{whole})(?:\s+(?P<large>{large}|{any_of(self._dozens)}))?\s+{joint}\s+"
            rf"(?:(?:{one})\s+)?(?P<part>{part})(?:\s+(?P<scale>{large}))?\b"
        )
        self._of_dozens = re.compile(
            rf"\b(?P<part>(?:{part}) )?(?P<many>{one}|{names}|\d{{1,3}}) (?:{any_of(self._dozens)})\b"
        )

    def may_occur_in(self, lower: str) -> bool:
        """Whether a lower-case text may contain such a number. May be wrong when True, never when False."""
        return self._needed.search(lower) is not None

    def in_digits(self, lower: str) -> str:
        """The lower-case text with numbers in several words as digits, padded with blanks so that positions stay.

        Only words that form one number are replaced: `seventy-three`, `1.5 million` and `nineteen sixty-one` stay.
        """
        if not self.may_occur_in(lower):
            return lower
        if self._fractions:
            lower = self._part.sub(self._fraction_of_scale, self._and_a_part.sub(self._whole_and_fraction, lower))
        if self._dozens:
            lower = self._of_dozens.sub(self._dozens_in_digits, lower)
        return self._run.sub(self._run_in_digits, lower)

    def _number(self, text: str) -> int:
        return self._small.get(text) or int(text)

    def _whole_and_fraction(self, found: re.Match[str]) -> str:
        """A number with a fraction: "two and a half million", "un million et demi", "a dozen and a half"."""
        unit = found["large"] or found["scale"] or ""
        if (found["large"] and found["scale"]) or (not found["large"] and found["whole"] in self._articles):
            return found[0]
        scale = 12 if unit in self._dozens else self._large.get(unit, 1)
        return _padded((self._number(found["whole"]) + self._fractions[found["part"]]) * scale, found)

    def _fraction_of_scale(self, found: re.Match[str]) -> str:
        many = self._small.get(found["many"] or "", 1)
        return _padded(many * self._fractions[found["half"] or found["part"]] * self._large[found["scale"]], found)

    def _dozens_in_digits(self, found: re.Match[str]) -> str:
        share = self._fractions[found["part"].strip()] if found["part"] else 1
        return _padded(self._number(found["many"]) * 12 * share, found)

    def _run_in_digits(self, found: re.Match[str]) -> str:
        parts = self._word.findall(found[0])
        if not any(
            word in self._large or word in self._hundreds or self._small[word] >= _LEAST_HUNDRED for word in parts
        ):
            return found[0]
        if len(parts) < 2 or (len(parts) == 2 and self._large.get(parts[1], 0) >= _LEAST_SCALE):
            return found[0]  # "ten million" is as exact as 10 million
        value = self._value_of_words(parts)
        return found[0] if value is None else _padded(value, found)

    def _value_of_words(self, parts: Sequence[str]) -> int | None:
        """The number that the words form, or None where they are several numbers or a year."""
        total = group = 0
        last = 0  # the lowest place value so far in the group; rejects `twenty thirty`
        scale = 10**15
        for word in parts:
            if word in self._hundreds or word in self._large:
                group = group or int(self._bare_hundred)
            if word in self._hundreds:
                if not group or group > 99:
                    return None
                group, last = group * 100, 100
            elif word in self._large:
                if not group or self._large[word] >= scale:
                    return None
                scale = self._large[word]
                total, group, last = total + group * scale, 0, 0
            else:
                value = self._small[word]
                if last and (value >= last or (last < 100 and (value > 9 or last < 20))):
                    return None
                group, last = group + value, value
        return total + group


def _padded(value: float, found: re.Match[str]) -> str:
    digits = str(round(value)) if abs(value - round(value)) < 1e-6 else f"{value:.2f}".rstrip("0")
    return digits.rjust(len(found[0])) if len(digits) <= len(found[0]) else found[0]


@cache
def number_words(words: Language) -> NumberWords:
    """The reader of a language, cached."""
    return NumberWords(words)
