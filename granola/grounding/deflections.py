"""Answers that say that the passages do not suffice: by the rules of the matcher's abstentions, and of passages."""

from __future__ import annotations

import re

from abstraction.language.sentences import sentences
from granola.matching.abstention import refusal

LONGEST = 4_000  # characters of an answer that are looked at
SENTENCE = 400  # of a sentence
# That passages do not tell, by language; what is said of them stands within some words.
_NOUNS = (
    r"(?:passages?|sources?|documents?|texts?|context|excerpts?|snippets?|grounding|information|articles?"
    r"|results?|guides?)"
)
_TELL = (
    r"(?:provid\w*|contain\w*|includ\w*|giv\w*|says?|states?|mention\w*|tells?|address\w*|answer\w*|specif\w*|suffic\w*"
    r"|enough|information|relevant|supports?|covers?|shows?|reveals?|indicates?|discloses?|reports?|helps?|available)"
)
_PASSAGES = {
    "en": (
        rf"\b{_NOUNS}\b[\w ,']{{0,60}}\b(?:insufficient|lacks?|fails? to"
        rf"|(?:(?:do|does|did|is|are)(?: not|n't|n’t)|cannot)[\w ]{{0,30}}\b{_TELL})\b"
        rf"|\b(?:none|neither) of (?:the |these |those )?(?:\w{{1,20}} )?{_NOUNS}\b[\w ]{{0,30}}\b{_TELL}\b"
        rf"|\bno {_NOUNS} (?:\w{{1,20}} )?{_TELL}\b"
    ),
    "de": (
        r"\b(?:passagen?|quellen?|texte?n?|dokumente?n?|ausz[üu]gen?|informationen)\b[\w ,]{0,60}"
        r"\b(?:nicht|kein\w{0,3}|unzureichend)\b"
    ),
    "fr": (
        r"\b(?:passages?|sources?|textes?|documents?|extraits?|informations?)\b[\w ,'’]{0,60}"
        r"\b(?:pas|aucune?|insuffisant\w{0,3})\b"
    ),
    "es": (
        r"\b(?:pasajes?|fuentes?|textos?|documentos?|fragmentos?|informaci[oó]n)\b[\w ,]{0,60}"
        r"\b(?:no|ningun\w?|insuficientes?)\b"
    ),
}
_COMPILED = {code: re.compile(pattern, re.IGNORECASE) for code, pattern in _PASSAGES.items()}


def deflects(answer: str, *, language: str = "en") -> str | None:
    """The rule by which an answer deflects, or None. An empty answer deflects by `empty`.

    An answer deflects where its first sentence declines, and offers nothing instead; what follows may tell what is
    related. Rules: the matcher's `abstain:...`, and `passages:LANGUAGE` where the sentence says that they do not tell.
    """
    text = answer[:LONGEST].strip()
    if not text:
        return "empty"
    first = next(iter(sentences(text, language)), "")[:SENTENCE]
    found = refusal(first, language)
    if found is not None and not (found.guess and found.offer):
        return found.rule
    code = language.split("-")[0]
    pattern = _COMPILED.get(code)
    return f"passages:{code}" if pattern is not None and pattern.search(first) else None
