"""Sentence splitting with `sentencex`, which knows many languages and abbreviations."""

from __future__ import annotations

from abstraction.errors import LanguageError
from kg.base.extras import install_hint

NEEDED = f"parting sentences needs sentencex: {install_hint('evidence')}"


def sentences(text: str, language: str = "en") -> list[str]:
    """The sentences in order, without surrounding blanks; empty for an empty text.

    Raises LanguageError where the library is missing.
    """
    try:
        import sentencex
    except ImportError as error:
        raise LanguageError(NEEDED) from error
    # JSON may contain half a surrogate pair, which the library rejects.
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return [one for part in sentencex.segment(language, whole) if (one := part.strip())]
