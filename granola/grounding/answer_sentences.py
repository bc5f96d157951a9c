"""Sentences of long answers: by `sentencex`, lists cut into items, citations kept with what they are of."""

from __future__ import annotations

import re
from collections.abc import Sequence

from abstraction.language.sentences import sentences
from granola.grounding.citation_markers import markers, without_markers

LONGEST, MOST = 50_000, 400  # characters of an answer, and sentences, that are judged
_ITEM = re.compile(r"^[ \t]{0,40}(?:[-*•–]|\(?\d{1,3}[.)]|\(?[a-z][.)])[ \t]{1,10}(?=\S)")
_HEADING = re.compile(r"^[ \t]{0,3}#{1,6}[ \t]{1,10}(?=\S)")
_WORD = re.compile(r"\w")


def answer_sentences(text: str, ids: Sequence[str] = (), *, language: str = "en") -> list[str]:
    """The sentences in order. Lines of a list are cut apart; a citation alone goes to the sentence before it."""
    parts: list[str] = []
    for line in text[:LONGEST].splitlines():
        if not line.strip():
            continue
        bare = _HEADING.sub("", _ITEM.sub("", line)).strip()
        for sentence in sentences(bare, language):
            said = without_markers(sentence, ids)
            if _WORD.search(said):
                lead = [marker for marker in markers(sentence, ids) if marker.start == 0]
                if lead and parts:
                    # "... in 1999. [3] It then ..." : the citation is of what stands before it.
                    parts[-1] = f"{parts[-1]} {sentence[: lead[0].end].strip()}"
                    sentence = sentence[lead[0].end :].strip()
                parts.append(sentence)
            elif parts:
                parts[-1] = f"{parts[-1]} {sentence}"
    return parts[:MOST]
