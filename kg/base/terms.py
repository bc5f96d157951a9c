"""Names: how they are compared, and which language's label is shown."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from kg.base.bounded_cache import bounded_cache

_SPACE = re.compile(r"\s+")

# Wikibase's own variants and explicit fallbacks for the languages most asked for; `mul` and `en`
# follow implicitly (LanguageFallbackChainFactory).
FALLBACKS: Mapping[str, tuple[str, ...]] = {
    "de-at": ("de",),
    "de-ch": ("de",),
    "en-ca": ("en",),
    "en-gb": ("en",),
    "en-us": ("en",),
    "es-419": ("es",),
    "nb": ("no", "nn"),
    "pt-br": ("pt",),
    "zh-hans": ("zh", "zh-cn"),
    "zh-hant": ("zh", "zh-tw"),
}
_FOLD = str.maketrans(
    {
        "’": "'", "‘": "'", "ʼ": "'", "`": "'", "´": "'", "“": '"', "”": '"',
        "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "−": "-",
        "\u200b": None, "\u200e": None, "\u200f": None, "\u00ad": None, "\ufeff": None,
        **{chr(code): None for code in (*range(9), *range(14, 28), *range(127, 160)) if code != 0x85},
    }
)  # fmt: skip


@bounded_cache(entries=1 << 18, longest=200)
def normalise(name: str) -> str:
    """The form under which names are equal: NFKC, quotes and dashes folded, casefold, single spaces.

    Invisible and control characters do not count. Normalising twice is the same as once.
    """
    return normalise_anew(name)


def normalise_anew(name: str) -> str:
    """See `normalise`; the result is not cached: for names that occur once."""
    if name.isascii() and name.isprintable():
        return " ".join(name.replace("`", "'").casefold().split())
    # NFKC makes a lone acute accent a space, and case folding undoes NFKC: fold first, compose last.
    text = unicodedata.normalize("NFKC", name.translate(_FOLD)).translate(_FOLD).casefold()
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", text)).strip()


@bounded_cache(entries=256, longest=40)
def fallback_chain(language: str) -> tuple[str, ...]:
    """The languages to try for `language`, in Wikibase's order: itself, its fallbacks, `mul`, `en`."""
    chain = [language, *FALLBACKS.get(language, ())]
    if "-" in language and language not in FALLBACKS:
        chain.append(language.split("-")[0])
    chain += ["mul", "en"]
    return tuple(dict.fromkeys(chain))


def with_fallbacks(languages: Iterable[str] | None) -> frozenset[str] | None:
    """The languages and all that they fall back to; None, which is all there are, stays None."""
    return None if languages is None else frozenset().union(*map(fallback_chain, languages))


def best_text(texts: Mapping[str, str], language: str) -> tuple[str, str] | None:
    """(text, language it is in) by the fallback chain, else the first language in code order, else None."""
    for code in fallback_chain(language):
        if code in texts:
            return texts[code], code
    for code in sorted(texts):
        return texts[code], code
    return None


def names(labels: Mapping[str, str], aliases: Mapping[str, Sequence[str]], language: str) -> tuple[str, ...]:
    """Every name in the fallback chain of `language`, labels first, without repeats under `normalise`."""
    seen: dict[str, str] = {}
    chain = fallback_chain(language)
    for code in chain:
        if code in labels:
            seen.setdefault(normalise(labels[code]), labels[code])
    for code in chain:
        for alias in aliases.get(code, ()):
            seen.setdefault(normalise(alias), alias)
    return tuple(seen.values())
