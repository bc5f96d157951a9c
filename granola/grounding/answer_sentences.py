"""Sentences of long answers: by `sentencex`, lists cut into items, citations kept with what they are of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from abstraction.language.sentences import sentences
from granola.grounding.citation_markers import markers, without_markers

LONGEST, MOST = 50_000, 400  # characters of an answer, and sentences, that are judged
_ITEM = re.compile(r"^[ \t]{0,40}(?:[-*+•–‣▪]|\(?(?P<number>\d{1,3})[.)]|\(?[a-z][.)])[ \t]{1,10}(?=\S)")
_HEADING = re.compile(r"^[ \t]{0,3}#{1,6}[ \t]{1,10}(?=\S)")
_BULLET = re.compile(r"[ \t]{0,10}[•‣▪][ \t]{0,10}")  # items of a list that came without line breaks
_EMPHASIS = re.compile(r"\*\*|__(?=\w)|(?<=[\w.!?])__")
_MARKUP = re.compile(r"</?s>|<br ?/?>|<\|[a-z_]{1,20}\|>")
_NEXT_NUMBER = re.compile(r"(?:^|\s|(?<=:))(\d{1,3})[.)]$")
_RULE = re.compile(r"[ \t]{0,3}(?:[-*_=][ \t]?){3,80}")
_WORD = re.compile(r"\w")
_LETTER = re.compile(r"[^\W\d_]")


def answer_sentences(text: str, ids: Sequence[str] = (), *, language: str = "en") -> list[str]:
    """The sentences in order. Items of a list are cut apart, also where they follow on one line.

    A citation alone, or with the number of a list's item, goes to the sentence before it.
    """
    parts: list[str] = []
    for sentence in _parts(text[:LONGEST], language):
        said = without_markers(sentence, ids)
        numbering = parts and not _LETTER.search(said) and _NEXT_NUMBER.search(said.strip())
        if _WORD.search(said) and not numbering:
            lead = [marker for marker in markers(sentence, ids) if marker.start == 0]
            if lead and parts:
                # "... in 1999. [3] It then ..." : the citation is of what stands before it.
                parts[-1] = f"{parts[-1]} {sentence[: lead[0].end].strip()}"
                sentence = sentence[lead[0].end :].strip()
            parts.append(sentence)
        elif parts and markers(sentence, ids):
            cited = " ".join(sentence[marker.start : marker.end] for marker in markers(sentence, ids))
            parts[-1] = f"{parts[-1]} {cited}"
    return parts[:MOST]


def _parts(text: str, language: str) -> Iterator[str]:
    for line in _MARKUP.sub("\n", _EMPHASIS.sub("", text)).splitlines():
        if _RULE.fullmatch(line):
            continue
        for piece in _BULLET.split(line):
            if not piece.strip():
                continue
            item = _ITEM.match(piece)
            number = int(item["number"]) if item is not None and item["number"] else None
            bare = _HEADING.sub("", piece[item.end() :] if item else piece).strip()
            for sentence in sentences(bare, language):
                following = _NEXT_NUMBER.search(sentence)
                if following is not None and int(following[1]) == (number or 0) + 1:
                    # "Do this: 1. Open it 2. Close it" on one line: the number begins the next item.
                    before = sentence[: following.start()].strip()
                    if number is not None or before.endswith(":"):
                        number, sentence = int(following[1]), before
                if sentence:
                    yield sentence
