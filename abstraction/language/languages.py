"""Languages as data: how each writes and reads dates, numbers, units and the few phrases that tiers need.

One file a language, `data/languages/<code>.json`; `languages()` names those there are. A language without a
file borrows the nearest of its fallbacks (Austrian German is German, Polish falls back to English), and
`notice` says so.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from abstraction.language.language_data import Language, folded
from abstraction.language.language_files import read_language
from kg.terms import fallback_chain

__all__ = ["Language", "folded", "is_known", "language", "languages", "notice", "read_language", "reading_language"]


@cache
def languages() -> tuple[str, ...]:
    """The codes of the languages that have a file, in order."""
    return tuple(sorted(f.name.removesuffix(".json") for f in _folder().iterdir() if f.name.endswith(".json")))


@cache
def language(code: str) -> Language:
    """The language of a code, or the first of its fallbacks that has a file (`en` is the last of all).

    Raises LanguageError for a file that is not as it must be.
    """
    there = languages()
    found = next((c for c in fallback_chain(code.lower()) if c in there), "en")
    return read_language(_folder() / f"{found}.json")


def is_known(code: str) -> bool:
    """Whether the language's own dates and quantities are read and written: de-at by German, pl by none."""
    return language(code).code == code.lower().split("-")[0]


def reading_language(code: str) -> str:
    """The language whose labels and descriptions the rules read: `code` where that is a kind of English, else "en".

    The grammar of descriptions is English: it is applied to English descriptions alone.
    """
    return code if code.lower().split("-")[0] == "en" else "en"


def notice(code: str) -> str | None:
    """What a language without a file does without, in one sentence; None where it has one."""
    if is_known(code):
        return None
    used = language(code)
    return (
        f"no rules for {code!r} (there are: {', '.join(languages())}): names come from labels, "
        f"dates and quantities are read and written in {used.name}"
    )


def _folder() -> Traversable:
    return files("abstraction").joinpath("data/languages")
