"""Words folded further than `words` does, for rules that are asked late: number, spelling, numerals.

Plural and singular, British and American spelling, `II` and `2`, `second` and `2` fold alike. The fold of a
word is no word that anyone writes ("james" gives "jame"): it is only ever compared with another fold.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.resources import files

import orjson

from granola.matching.text.match_cache import MATCHING
from granola.matching.text.tokens import FoldedWord, drop_articles, key, words

_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50}
_ROMANS = frozenset(
    tens + units
    for tens in ("", "x", "xx", "xxx")
    for units in ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
) - {""}
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_NO_PLURALS = ("ss", "us", "is", "as", "os")
_TABLES = orjson.loads(files("granola.matching").joinpath("data/word_forms.json").read_bytes())
_IRREGULAR: dict[str, str] = _TABLES["irregular"]
_SPELLING: dict[str, str] = _TABLES["spelling"]
_ISE = re.compile(r"(?<=[a-z]{3}i)s(?=e|ing|ation)|(?<=[a-z]{2}y)s(?=e|ing)")  # organise, analyse
# Letters that fold away at a word's end where what it does matters and not when (protects, protecting, protection),
# each with the letters that have to be left.
_ENDINGS: dict[str, int] = _TABLES["endings"]


def _roman(text: str) -> int:
    values = [_ROMAN_VALUES[letter] for letter in text]
    return sum(-v if i + 1 < len(values) and v < values[i + 1] else v for i, v in enumerate(values))


@MATCHING.remembered(1 << 16)
def loose(text: str) -> str:
    """The further fold of one folded word that is no Roman numeral."""
    MATCHING.count(len(text))
    if not text.isalpha():
        ordinal = _ORDINAL.fullmatch(text)
        return ordinal[1] if ordinal else text
    text = _IRREGULAR.get(text) or _SPELLING.get(text, text)
    if len(text) > 3 and text.endswith("s") and not text.endswith(_NO_PLURALS):
        if text.endswith("ies") and len(text) > 4:
            text = text[:-3] + "y"
        elif text.endswith(("ches", "shes", "xes", "zes", "sses")):
            text = text[:-2]
        else:
            text = text[:-1]
    text = _SPELLING.get(text, text)
    return _ISE.sub("z", text) if "s" in text else text


def fold(folded_words: Sequence[FoldedWord]) -> tuple[str, ...]:
    """Words folded further, in order; a numeral in capitals behind a capitalised word is a number."""
    texts = [word.text for word in folded_words]
    if _ROMANS.isdisjoint(texts):
        return tuple(map(loose, texts))
    return tuple(
        str(_roman(text))
        if word.capital and text in _ROMANS and index and (folded_words[index - 1].capital or len(text) > 1)
        else loose(text)
        for index, (word, text) in enumerate(zip(folded_words, texts, strict=True))
    )


@MATCHING.remembered(1 << 16)
def loose_key(text: str) -> tuple[str, ...]:
    """The further folds of a text's words without articles."""
    MATCHING.count(len(text))
    return loosened(text, key(text))


def loosened(text: str, folded: tuple[str, ...]) -> tuple[str, ...]:
    """The further folds of a text whose key is `folded`; not remembered."""
    return tuple(map(loose, folded)) if _ROMANS.isdisjoint(folded) else fold(drop_articles(words(text)))


@MATCHING.remembered(1 << 16)
def stem(text: str) -> str:
    """The beginning that forms of a word have in common, of words of five letters and more; at least four letters."""
    MATCHING.count(len(text))
    if len(text) < 5 or not text.isalpha():
        return text
    for ending, left in _ENDINGS.items():
        if text.endswith(ending) and len(text) - len(ending) >= left:
            text = text[: -len(ending)]
            break
    return text[:-1] if text[-1] == text[-2] and len(text) > 4 else text  # controlled, control


@MATCHING.remembered(1 << 14)
def root(word: str) -> str:
    """The stem without an ending that makes a faith, its believer, a doer or a kind of it."""
    MATCHING.count(len(word))
    return _ROOT.sub("", _ROOT.sub("", stem(word)))


_ROOT = re.compile(r"(?<=[a-z]{5})(?:isms?|ists?|ians?|ers?|ors?|ing|an|a|ic|ous|ive|able|ness)\Z")
