"""Languages as data: how each writes and reads dates, numbers, units and the few phrases that tiers need.

Names of months, patterns of dates and signs of numbers are Unicode CLDR's; one file a language,
`data/languages/<code>.json`, has what CLDR lacks, and `languages()` names those there are. A language that CLDR
alone knows (Polish) goes without centuries, and one that it does not know borrows the nearest of its fallbacks
(Bavarian is German). `notice` says so.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from abstraction.language.cldr import cldr_name
from abstraction.language.language_data import Language, folded
from abstraction.language.language_files import language_of_cldr, read_language
from kg.terms import fallback_chain

__all__ = [
    "Language",
    "folded",
    "is_known",
    "language",
    "languages",
    "notice",
    "read_language",
    "reading_language",
    "told_languages",
]


@cache
def languages() -> tuple[str, ...]:
    """The codes of the languages that have a file, in order."""
    return tuple(sorted(f.name.removesuffix(".json") for f in _folder().iterdir() if f.name.endswith(".json")))


@cache
def language(code: str) -> Language:
    """The language of a code, or the first of its fallbacks that has a file or is CLDR's (`en` is the last of all).

    Raises LanguageError for a file that is not as it must be.
    """
    nearest = next((fallback for fallback in fallback_chain(code.lower()) if _has_data(fallback)), "en")
    if nearest != code:
        return language(nearest)
    return read_language(_folder() / f"{code}.json") if code in languages() else language_of_cldr(code)


def _has_data(code: str) -> bool:
    """Whether there are data for just this code; of a language with a file, CLDR's other scripts are not."""
    return code in languages() or (code.split("-")[0] not in languages() and cldr_name(code) is not None)


def is_known(code: str) -> bool:
    """Whether the language's own dates and quantities are read and written: de-at by German, tlh by none."""
    return language(code).code.split("-")[0] == code.lower().split("-")[0]


def told_languages() -> str:
    """Which languages have rules, in words."""
    return f"{', '.join(languages())} and those of Unicode CLDR"


def reading_language(code: str) -> str:
    """The language whose labels and descriptions the rules read: `code` where that is a kind of English, else "en".

    The grammar of descriptions is English: it is applied to English descriptions alone.
    """
    return code if code.lower().split("-")[0] == "en" else "en"


def notice(code: str) -> str | None:
    """What a language without a file does without, in one sentence; None where it has one."""
    used = language(code)
    if not is_known(code):
        return (
            f"no rules for {code!r} (there are: {told_languages()}): "
            f"names come from labels, dates and quantities are read and written in {used.name}"
        )
    if used.has_file:
        return None
    return (
        f"{code!r} has days, months, years and numbers alone, from Unicode CLDR: no decades, no centuries, "
        "no words for about, no names of units, no phrases, no refusals"
    )


def _folder() -> Traversable:
    return files("abstraction").joinpath("data/languages")
