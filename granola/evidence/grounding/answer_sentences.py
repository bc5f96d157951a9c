"""Splits long answers into sentences: with `sentencex`, list items apart, each citation with the sentence it supports.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from abstraction.text.language.comparable_words import sentences
from granola.evidence.grounding.citation_markers import markers, without_markers

_ITEM = re.compile(
    r"^[ \t]{0,40}(?:[-*+•–‣▪]|\(?(?P<number>\d{1,3})[.)]|\(?[a-z][.)]|\(?[A-Z]\)|\(?[ivx]{1,5}[.)])[ \t]{1,10}(?=\S)"
)
_BULLET = re.compile(r"[ \t]{0,10}[•‣▪][ \t]{0,10}")  # items of a list that came without line breaks
_EMPHASIS = re.compile(r"\*\*|__(?=\w)|(?<=[\w.!?])__")
_MARKUP = re.compile(r"</?s>|<br ?/?>|<\|[a-z_]{1,20}\|>")
# A heading above a list of sources; the text after it states nothing.
_REFERENCES = re.compile(
    r"[#*_ \t]{0,8}(?:sources?|references?|citations?|bibliography|works cited|quellen|quellenangaben|références?"
    r"|fuentes|referencias)[*_ \t]{0,4}:?[*_ \t]{0,4}",
    re.IGNORECASE,
)
# The rest of "Sources: [1], [2]" without its markers.
_SOURCES = re.compile(
    r"[#*_>( \t-]{0,8}(?:(?:all|cited|used|the) ){0,2}(?:sources?|references?|citations?|bibliography|works cited"
    r"|passages?|documents?|quellen?|quellenangaben?|referenzen|références?|fuentes?|referencias?)(?: (?:used|cited))?"
    r"[*_ \t]{0,4}:?(?:[\s,;.&)*_-]|and\b|und\b|et\b|y\b|(?<=[\s,;:])\d{1,3}(?=[\s,;.]|$)){0,200}",
    re.IGNORECASE,
)
_NEXT_NUMBER = re.compile(r"(?:^|\s|(?<=:))(\d{1,3})[.)]$")
_SECOND = re.compile(r"(?:^|\s)2[.)](?=\s)")
_ENDED = re.compile(r"[.!?:;。！？…][\"'”’)\]*_]{0,4}\s*$")
_WORD = re.compile(r"\w")
_DIGIT = re.compile(r"\d")
_TAIL = 80  # characters at the end of a sentence that are searched for its full stop or the next number
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class _AnswerPart:
    """A sentence; `opens`: whether it is the first of a line or of a list item."""

    text: str
    opens: bool


def answer_sentences(text: str, ids: Sequence[str] = (), *, language: str = "en") -> list[str]:
    """The sentences in order. List items are split, also where they follow each other on one line.

    A citation alone, or with the number of a list item, is added to the sentence before it. A list of sources at the
    end, and a heading followed only by citations, state nothing and are left out.
    """
    parts: list[list[str]] = []
    for piece in _split_lines(text, ids, language):
        sentence = piece.text
        if _lists_sources(sentence, ids):
            continue
        said = without_markers(sentence, ids)
        # "2." at the end belongs to the next item: the splitter takes its full stop for the end.
        numbering = parts and not _LETTER.search(said) and _NEXT_NUMBER.search(said.strip()[-_TAIL:])
        if _WORD.search(said) and not numbering:
            lead = _end_of_leading_citations(sentence, ids)
            behind = sentence[lead:].strip()
            if lead and parts and not piece.opens and not behind[:1].islower():
                # "... in 1999. [3] It then ..." : the citation belongs to the sentence before it.
                parts[-1].append(sentence[:lead].strip())
                sentence = behind
            parts.append([sentence])
        elif parts and (cited := markers(sentence, ids)):
            parts[-1] += [sentence[marker.start : marker.end] for marker in cited]
    return [" ".join(sentence) for sentence in parts]


def _lists_sources(sentence: str, ids: Sequence[str]) -> bool:
    """Whether a sentence is a heading of sources with citations, or their bare numbers, and nothing else."""
    cited = markers(sentence, ids)
    out, at = [], 0
    for marker in cited:
        if marker.start >= at:
            out.append(sentence[at : marker.start])
            at = marker.end
    bare = " ".join([*out, sentence[at:]])
    if cited:
        return _SOURCES.fullmatch(bare) is not None
    return ":" in bare and bool(_DIGIT.search(bare)) and _SOURCES.fullmatch(bare) is not None


def _end_of_leading_citations(sentence: str, ids: Sequence[str]) -> int:
    """The offset at which the citations at the beginning of a sentence end; 0 where it begins with none."""
    end = 0
    for marker in markers(sentence, ids):
        if sentence[end : marker.start].strip(" ,;"):
            break
        end = marker.end
    return end


def _move_leading_citations(sentences_cut: list[str], ids: Sequence[str]) -> list[str]:
    """The sentences, with a citation moved to the one whose subject it is: "It rose. [2]", "says it fell." becomes "It
    rose.", "[2] says it fell.".
    """
    out: list[str] = []
    for sentence in sentences_cut:
        if out and sentence[:1].islower() and (start := _start_of_trailing_citations(out[-1], ids)) is not None:
            out[-1], sentence = out[-1][:start].rstrip(), f"{out[-1][start:]} {sentence}"
        out.append(sentence)
    return out


def _start_of_trailing_citations(sentence: str, ids: Sequence[str]) -> int | None:
    """The offset of the citations after the end of a sentence, separated by a space; None where there are none."""
    end, start, apart = len(sentence), None, True
    for marker in reversed(markers(sentence, ids)):
        if sentence[marker.end : end].strip(" ,;"):
            break
        end = marker.start
        apart = apart and sentence[end - 1 : end] == " "
        start = end if apart else start
    return start if _ENDED.search(sentence[:end]) else None


def _split_lines(text: str, ids: Sequence[str], language: str) -> Iterator[_AnswerPart]:
    for line in _content_lines(text):
        for piece in _BULLET.split(line):
            if not piece.strip():
                continue
            item = _ITEM.match(piece)
            number = int(item["number"]) if item is not None and item["number"] else None
            bare = piece[item.end() if item else 0 :].lstrip(" \t#").strip()
            opens, has_second = True, _SECOND.search(bare) is not None
            for sentence in _move_leading_citations(sentences(bare, language), ids):
                following = _NEXT_NUMBER.search(sentence, max(0, len(sentence) - _TAIL))
                if following is not None and int(following[1]) == (number or 0) + 1:
                    # "Do this: 1. Open it 2. Close it" on one line: the number begins the next item.
                    before = sentence[: following.start()].strip()
                    if number is not None or (before.endswith(":") and has_second):
                        number, sentence = int(following[1]), before
                if sentence:
                    yield _AnswerPart(sentence, opens)
                opens = False


def _content_lines(text: str) -> list[str]:
    """The lines that state something; lines that were only broken for their length are joined."""
    kept: list[list[str]] = []
    joins = False
    for line in _MARKUP.sub("\n", _EMPHASIS.sub("", text)).splitlines():
        if not _WORD.search(line):
            joins = False
            continue
        # Everything from the heading of the sources on is no statement of the answer.
        if _REFERENCES.fullmatch(line):
            break
        # A line that begins in lower case after one without a full stop was only broken for its length.
        if joins and line.lstrip()[:1].islower() and not _ITEM.match(line):
            kept[-1].append(line.strip())
        else:
            kept.append([line])
        joins = not _ENDED.search(line[-_TAIL:])
    return [" ".join(lines) for lines in kept]
