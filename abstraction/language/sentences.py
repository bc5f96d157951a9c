"""Sentences of a text, by `sentencex`: many languages, abbreviations kept whole."""

from __future__ import annotations

from collections.abc import Iterable
from unicodedata import east_asian_width

from abstraction.errors import LanguageError
from kg.extras import install_hint

_STOPS = frozenset(".!?…")  # those of scripts that write blanks between sentences
_CLOSING = "\"'”’»)"
NEEDED = f"parting sentences needs sentencex: {install_hint('evidence')}"


def sentences(text: str, language: str = "en") -> list[str]:
    """The sentences in order, without the blanks around them; none of an empty text.

    A stop without a blank behind it ends none ("ASP.NET"), but before Chinese and Japanese characters.
    Raises LanguageError where the library is missing.
    """
    try:
        import sentencex
    except ImportError as error:
        raise LanguageError(NEEDED) from error
    # Half of a surrogate pair, as JSON may hold, is no character of the library's.
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return [one for part in _unbroken(sentencex.segment(language, whole)) if (one := part.strip())]


def _unbroken(parts: Iterable[str]) -> list[str]:
    """The parts, those put together that no blank stands between, with all their characters."""
    joined: list[list[str]] = []
    for part in parts:
        stopped = bool(joined) and joined[-1][-1].rstrip(_CLOSING)[-1:] in _STOPS
        if stopped and not part[:1].isspace() and east_asian_width(part[0]) not in ("W", "F"):
            joined[-1].append(part)
        else:
            joined.append([part])
    return ["".join(pieces) for pieces in joined]
