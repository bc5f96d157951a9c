"""The ids of passages as long answers write them: letter by letter, in another case, by their number, in prose."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

SEPARATORS = re.compile(r"[,;，；、&/]|\b(?:and|und|et|y)\b|(?<=\d) {1,4}(?=\d)", re.IGNORECASE)
_LAST_NUMBER = re.compile(r"(?<!\d)\d{1,6}\Z")
_BEFORE_NUMBER = re.compile(r"(?<=[^\W\d_])[ _:#.-]{1,2}(?=\d)")  # "web 7" and "Web-7" are web_7
_BEHIND_ID = re.compile(r"(?!\w|[-_./:@#]\w)")
_BEHIND_NUMBERED_ID = re.compile(r"(?!\w|[_./:@#]\w|-[^\W\d])")  # "cite_1-3" is a range


class PassageNames:
    """The ids of passages as markers may write them. What fits two ids alike names neither."""

    def __init__(self, ids: Iterable[str]) -> None:
        given = list(dict.fromkeys(ids))
        self._exact = _clear((one.strip("[](){}【】"), one) for one in given) | {one: one for one in given}
        self._folded = _clear((form.casefold(), one) for form, one in self._exact.items())
        self._closed = _clear((_closed(form), one) for form, one in self._exact.items())
        numbers = ((_LAST_NUMBER.search(form), one) for form, one in self._exact.items())
        self._by_number = _clear((str(int(number[0])), one) for number, one in numbers if number is not None)
        self._parted = sorted((one for one in self._exact if SEPARATORS.search(one)), key=lambda one: (-len(one), one))
        lengths: dict[str, set[int]] = {}
        for form in filter(None, self._exact):
            lengths.setdefault(form[0].casefold(), set()).add(len(form))
        self._lengths = {first: sorted(of_it, reverse=True) for first, of_it in lengths.items()}
        self._distinctive = {form: one for form, one in self._exact.items() if _is_distinctive(form)}

    def __getitem__(self, text: str) -> str | None:
        text = text.strip().strip("\"'")
        return self._exact.get(text) or self._folded.get(text.casefold()) or self._closed.get(_closed(text))

    def numbered(self, digits: str) -> str | None:
        """The passage that a number names: that of this id, else the only one whose id ends in the number."""
        plain = str(int(digits))
        return self[digits] or self[plain] or self._by_number.get(plain)

    def starting_at(self, text: str, start: int) -> str | None:
        """The longest way to write an id that stands in a text at `start`, and ends there as a word does."""
        for length in self._lengths.get(text[start : start + 1].casefold(), ()):
            written = text[start : start + length]
            if len(written) < length or written != written.strip():
                continue
            behind = _BEHIND_NUMBERED_ID if written[-1].isdigit() else _BEHIND_ID
            if not behind.match(text, start + length):
                continue
            # An id that is a word, as "a" or "report", is read in no other case.
            if written in self._exact if written.isalpha() else self[written] is not None:
                return written
        return None

    @property
    def has_distinctive(self) -> bool:
        """Whether any id is."""
        return bool(self._distinctive)

    def distinctive(self, word: str) -> str | None:
        """The passage whose id no ordinary word is: of letters and digits or signs, as doc-b and web_7."""
        return self._distinctive.get(word) or self._distinctive.get(word[:1].lower() + word[1:])

    def parts(self, inner: str) -> Sequence[str]:
        """What a bracket names, parted; ids with a comma in them stay whole."""
        if self._parted and ";" in inner and all(self[one] for one in inner.split(";")):
            return inner.split(";")
        held: list[str] = []
        for form in self._parted:
            if form in inner:
                held.append(form)
                inner = inner.replace(form, f"\x00{len(held) - 1}\x00")
        parts = SEPARATORS.split(inner)
        return [re.sub("\x00(\\d+)\x00", lambda match: held[int(match[1])], one) for one in parts] if held else parts


@lru_cache(maxsize=2)  # of one question: its answer is read a dozen times, and another question has other ids
def names_of_passages(ids: tuple[str, ...]) -> PassageNames:
    """The names of the passages with these ids."""
    return PassageNames(ids)


def _clear(named: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Those forms that belong to one id alone."""
    ids: dict[str, set[str]] = {}
    for form, passage_id in named:
        ids.setdefault(form, set()).add(passage_id)
    return {form: next(iter(belonging)) for form, belonging in ids.items() if len(belonging) == 1}


def _closed(form: str) -> str:
    return _BEFORE_NUMBER.sub("", form.casefold())


def _is_distinctive(form: str) -> bool:
    letters = any(character.isalpha() for character in form)
    return letters and not form.isalpha() and not any(character.isspace() for character in form)
