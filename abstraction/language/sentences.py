"""Sentences of a text, by `sentencex`: many languages, abbreviations kept whole."""

from __future__ import annotations

from abstraction.errors import LanguageError
from kg.extras import install_hint

NEEDED = f"parting sentences needs sentencex: {install_hint('evidence')}"


def sentences(text: str, language: str = "en") -> list[str]:
    """The sentences in order, without the blanks around them; none of an empty text.

    Raises LanguageError where the library is missing.
    """
    try:
        import sentencex
    except ImportError as error:
        raise LanguageError(NEEDED) from error
    # Half of a surrogate pair, as JSON may hold, is no character of the library's.
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return [one for part in sentencex.segment(language, whole) if (one := part.strip())]
