"""Words folded further than `words` does, for rules that are asked late: number, spelling, numerals.

Plural and singular, British and American spelling, `II` and `2`, `second` and `2` fold alike. The fold of a
word is no word that anyone writes ("james" gives "jame"): it is only ever compared with another fold.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from granola.matching.text import Word, drop_articles, key, words

_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50}
_ROMANS = frozenset(
    tens + units
    for tens in ("", "x", "xx", "xxx")
    for units in ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
) - {""}
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_KEPT = ("ss", "us", "is", "as", "os")
_IRREGULAR = {
    "men": "man", "mens": "man", "women": "woman", "womens": "woman", "children": "child", "childrens": "child",
    "people": "person", "feet": "foot", "teeth": "tooth",
    "mice": "mouse", "geese": "goose", "wives": "wife", "lives": "life", "wolves": "wolf", "leaves": "leaf",
    "bacteria": "bacterium", "criteria": "criterion", "phenomena": "phenomenon", "fungi": "fungus",
    "nuclei": "nucleus", "alumni": "alumnus", "vertebrae": "vertebra", "larvae": "larva", "alveoli": "alveolus",
}  # fmt: skip
_SPELLING = {
    "colour": "color", "honour": "honor", "labour": "labor", "harbour": "harbor", "favour": "favor",
    "favourite": "favorite", "humour": "humor", "neighbour": "neighbor", "neighbourhood": "neighborhood",
    "behaviour": "behavior", "armour": "armor", "rumour": "rumor", "flavour": "flavor", "vapour": "vapor",
    "tumour": "tumor", "odour": "odor", "parlour": "parlor", "saviour": "savior", "centre": "center",
    "theatre": "theater", "metre": "meter", "litre": "liter", "fibre": "fiber", "sabre": "saber",
    "kilometre": "kilometer", "centimetre": "centimeter", "millimetre": "millimeter", "spectre": "specter",
    "calibre": "caliber", "grey": "gray", "tyre": "tire", "plough": "plow", "programme": "program",
    "defence": "defense", "offence": "offense", "licence": "license", "catalogue": "catalog",
    "dialogue": "dialog", "analogue": "analog", "aluminium": "aluminum", "oestrogen": "estrogen",
    "oesophagus": "esophagus", "anaemia": "anemia", "haemoglobin": "hemoglobin", "leukaemia": "leukemia",
    "encyclopaedia": "encyclopedia", "mediaeval": "medieval", "foetus": "fetus", "jewellery": "jewelry",
    "cheque": "check", "aeroplane": "airplane", "travelling": "traveling", "mould": "mold", "sulphur": "sulfur",
    "sulphate": "sulfate", "sulphuric": "sulfuric", "moustache": "mustache", "pyjamas": "pajamas",
    "draught": "draft", "kerb": "curb", "storey": "story", "gaol": "jail", "artefact": "artifact",
}  # fmt: skip
_ISE = re.compile(r"(?<=[a-z]{3}i)s(?=e|ing|ation)|(?<=[a-z]{2}y)s(?=e|ing)")  # organise, analyse
# Letters that fold away at a word's end where what it does matters and not when (protects, protecting, protection),
# each with the letters that have to be left.
_ENDINGS = {
    "ations": 4, "ational": 5, "ation": 4, "ating": 5, "ments": 4, "ional": 5, "ated": 5, "ates": 5, "ment": 4,
    "ings": 4, "ions": 5, "ing": 4, "ers": 4, "ies": 4, "ied": 4, "ion": 5, "ate": 5, "ity": 5, "ed": 4, "er": 4,
    "es": 4, "ly": 4, "al": 5, "s": 4, "y": 4, "e": 4,
}  # fmt: skip


def _roman(text: str) -> int:
    values = [_ROMAN_VALUES[letter] for letter in text]
    return sum(-v if i + 1 < len(values) and v < values[i + 1] else v for i, v in enumerate(values))


@lru_cache(maxsize=1 << 16)
def loose(text: str) -> str:
    """The further fold of one folded word that is no Roman numeral."""
    if not text.isalpha():
        found = _ORDINAL.fullmatch(text)
        return found[1] if found else text
    text = _IRREGULAR.get(text) or _SPELLING.get(text, text)
    if len(text) > 3 and text.endswith("s") and not text.endswith(_KEPT):
        if text.endswith("ies") and len(text) > 4:
            text = text[:-3] + "y"
        elif text.endswith(("ches", "shes", "xes", "zes", "sses")):
            text = text[:-2]
        else:
            text = text[:-1]
    text = _SPELLING.get(text, text)
    return _ISE.sub("z", text) if "s" in text else text


def fold(found: Sequence[Word]) -> tuple[str, ...]:
    """Words folded further, in order; a numeral in capitals behind a capitalised word is a number."""
    texts = [word.text for word in found]
    if _ROMANS.isdisjoint(texts):
        return tuple(map(loose, texts))
    return tuple(
        str(_roman(text))
        if word.capital and text in _ROMANS and index and (found[index - 1].capital or len(text) > 1)
        else loose(text)
        for index, (word, text) in enumerate(zip(found, texts, strict=True))
    )


@lru_cache(maxsize=1 << 16)
def loose_key(text: str) -> tuple[str, ...]:
    """The further folds of a text's words without articles."""
    return loosened(text, key(text))


def loosened(text: str, folded: tuple[str, ...]) -> tuple[str, ...]:
    """The further folds of a text whose key is `folded`; not remembered."""
    return tuple(map(loose, folded)) if _ROMANS.isdisjoint(folded) else fold(drop_articles(words(text)))


@lru_cache(maxsize=1 << 16)
def stem(text: str) -> str:
    """The beginning that forms of a word have in common, of words of five letters and more; at least four letters."""
    if len(text) < 5 or not text.isalpha():
        return text
    for ending, left in _ENDINGS.items():
        if text.endswith(ending) and len(text) - len(ending) >= left:
            text = text[: -len(ending)]
            break
    return text[:-1] if text[-1] == text[-2] and len(text) > 4 else text  # controlled, control
