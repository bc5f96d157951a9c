"""Text prepared for reading: single blanks, without marks of layout; or lower case without accents."""

from __future__ import annotations

import re
import unicodedata

# Letters that have no decomposition in Unicode but an accepted plain spelling.
_PLAIN = str.maketrans(
    {
        "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i",
        "ħ": "h", "ŋ": "n", "ə": "e", "’": "'", "‘": "'", "ʼ": "'", "ʻ": "'", "´": "'", "`": "'", "′": "'",
    }
)  # fmt: skip


def fold_case_and_accents(text: str) -> str:
    """The text in lower case, without accents, with special letters as usual ones (ß as ss); punctuation and blanks
    are kept.
    """
    if text.isascii():
        return text.lower().replace("`", "'")
    text = unicodedata.normalize("NFKD", text.casefold().translate(_PLAIN))
    return "".join(c for c in text if not unicodedata.combining(c)).translate(_PLAIN)


def without_markup(text: str) -> str:
    """A text with single blanks, without Markdown's marks and invisible characters.

    Line breaks are kept. Quotation marks around the whole text are removed. Emphasis is removed around whole words, a
    bullet only at the beginning of the text.
    """
    if not text.isascii():
        text = _UNSEEN.sub("", text)
    text = text.strip()
    text = "\n".join([" ".join(line.split()) for line in text.split("\n")]) if "\n" in text else " ".join(text.split())
    if "**" in text or "__" in text:
        text = _BOLD.sub(r"\2", text)
    if "*" in text or "_" in text or "`" in text:
        text = _EMPHASIS.sub(lambda emphasis: emphasis[1] or emphasis[2] or emphasis[3], text)
    for _ in range(_NESTED if text[:1] in _OPENING else 0):
        bullet = _BULLET.match(text)
        bare = text[bullet.end() :] if bullet else text
        if _AROUND.get(text[:1]) == text[-1:] and len(text) > 2:
            bare = text[1:-1].strip()
        if bare == text or not bare:
            break
        text = bare
    return text


_UNSEEN = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad]")
_BOLD = re.compile(r"(\*\*|__)(?=\S)([^*_]+)(?<=\S)\1")
_EMPHASIS = re.compile(  # around whole words only: M*A*S*H and snake_case stay
    r"(?<![\w*])\*(?=[^\s*])([^*\n]+)(?<=\S)\*(?![\w*])|(?<!\w)_(?=[^\s_])([^_\n]+)(?<=\S)_(?!\w)"
    r"|(?<![\w`])`(?=[^\s`])([^`\n]+)(?<=\S)`(?![\w`])"
)
_NESTED = 8  # nested marks at most; a text with more is no answer
_BULLET = re.compile(r"(?:[-+•] (?=[^\d\s])|[*>] |#{1,6} )")
_AROUND = {'"': '"', "“": "”", "«": "»", "„": "“", "‘": "’", "'": "'", "*": "*", "_": "_", "`": "`"}
_OPENING = frozenset({*_AROUND, *"-+•>#"})
