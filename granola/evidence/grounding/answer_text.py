"""The text of long answers: citations ([3], [1, 2], (source 4), ranges, other markups), and sentences.

A number names the passage with that id, else the only one whose id ends in it: [1] is cite_1. Prose that names a
passage without brackets is no citation: none of the 2,524 texts by models and people that we examined contains one.
Sentences are split with `sentencex`, list items apart, each citation with the sentence it supports.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from abstraction.text.language.phrases import sentences
from granola.replies.refusals import CITED, LONGEST_DEFLECTION, deflection

WIDEST = 50  # most passages of a range such as [1-50]; a longer one is no citation
SEPARATORS = re.compile(r"[,;，；、&/]|\b(?:and|und|et|y)\b|(?<=\d) {1,4}(?=\d)", re.IGNORECASE)
_LAST_NUMBER = re.compile(r"(?<!\d)\d{1,6}\Z")
_BEFORE_NUMBER = re.compile(r"(?<=[^\W\d_])[ _:#.-]{1,2}(?=\d)")  # "web 7" and "Web-7" are web_7


class PassageIdLookup:
    """Finds the id of a passage from the text of a citation: the id itself, in another case, or only its number.

    A form that fits two ids names neither.
    """

    def __init__(self, ids: Iterable[str]) -> None:
        given = list(dict.fromkeys(ids))
        self._exact = _ids_by_unambiguous_form((one.strip("[](){}【】"), one) for one in given) | {
            one: one for one in given
        }
        self._by_plain_form = _ids_by_unambiguous_form(
            (_folded_without_separator(form), one) for form, one in self._exact.items()
        )
        self._by_number = _ids_by_unambiguous_form(
            (str(int(number[0])), one) for form, one in self._exact.items() if (number := _LAST_NUMBER.search(form))
        )

    def __getitem__(self, text: str) -> str | None:
        text = text.strip().strip("\"'")
        return self._exact.get(text) or self._by_plain_form.get(_folded_without_separator(text))

    def id_equal_to_or_ending_in(self, digits: str) -> str | None:
        """The id for a number: the same number, else the only id that ends in it; None where there is none."""
        plain = str(int(digits))
        return self[digits] or self[plain] or self._by_number.get(plain)

    def ids_or_numbers_in_range(self, prefix: str, low: str, high: str) -> list[str]:
        """The passage ids in a range of numbers: after a prefix only if all of them exist; without prefix also numbers
        that are no id. [] where it is no range.
        """
        numbers = range(int(low), int(high) + 1)
        if not 0 < len(numbers) <= WIDEST:
            return []
        if prefix:
            found = [self[f"{prefix}{number}"] for number in numbers]
            return [one for one in found if one is not None] if all(found) else []
        if numbers[0] == 0 and self.id_equal_to_or_ending_in("0") is None:
            return []
        return [self.id_equal_to_or_ending_in(str(number)) or str(number) for number in numbers]


_passage_id_lookup = lru_cache(maxsize=2)(PassageIdLookup)  # an answer is read a dozen times with the same ids


def _ids_by_unambiguous_form(named: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The id of each form that belongs to one id only."""
    ids: dict[str, set[str]] = {}
    for form, passage_id in named:
        ids.setdefault(form, set()).add(passage_id)
    return {form: next(iter(belonging)) for form, belonging in ids.items() if len(belonging) == 1}


def _folded_without_separator(form: str) -> str:
    return _BEFORE_NUMBER.sub("", form.casefold())


# Words for a source in the languages of answers: English, German, Spanish, French.
_NOUN = (
    r"(?:sources?|passages?|documents?|snippets?|quellen?|passagen?|dokumente?|fuentes?|pasajes?|documentos?"
    r"|fragmentos?|extraits?)"
)
_WORD = rf"(?:{_NOUN}|docs?|refs?|references?|citations?|cites?|evidence|ids?|chunks?|web|no|nr)"
_DASH = r"(?:-|–|—|‑|−|to|through|thru|bis|à|\.\.)"  # dashes and words between the ends of a range
# After a digit, a word of one or two letters or a function it is an exponent: 10⁶, m², mc², sin²; not after a year.
_NO_EXPONENT = (
    r"(?:(?<=\b[12]\d\d\d)|(?<![0-9⁰¹²³⁴⁵⁶⁷⁸⁹])(?<!\b\w)(?<!\b\w\w)(?<!\bsin)(?<!\bcos)(?<!\btan)(?<!\blog)"
    r"(?<!\bexp))"
)
# Brackets of every kind, and their equivalents in other markups: HTML, LaTeX, Pandoc's ^3^.
_BRACKETS = re.compile(
    r"\\(?:[a-z]{0,10}cite[a-z]{0,10}\*?(?:\[[^\]\n]{0,60}\]){0,2}|textsuperscript)\{(?P<latex>[^{}\n]{1,200})\}"
    r"|\\?\[(?P<square>[^\[\]\n]{1,200})\]|\((?P<round>[^()\[\]\n]{1,200})\)"
    r"|[【［](?P<wide>[^】［］【\n]{1,200})[】］]"
    rf"|(?:{_NO_EXPONENT}<sup>|<(?:cite|ref|citation|source)\b[^<>/\n]{{0,80}}>|<a\b[^<>\n]{{0,80}}=[\"']#[^<>\n]{{0,80}}>)"
    r"(?P<tag>[^<>\[\]\n]{1,60})</(?:sup|cite|ref|citation|source|a)>"
    r"|<(?:cite|ref|citation|source|doc)\b[^<>\n]{0,40}?= {0,2}[\"']?#?(?P<attribute>[\w.:-]{1,60})[\"']? {0,2}/>"
    rf"|{_NO_EXPONENT}\^(?P<caret>\d[\d, –-]{{0,30}})\^"
)
# Brackets that are no citation: rows of a matrix, an index (a[3], my_list[3]), a vector after an equals sign.
_ROW = r"\[[^\[\]\n]{0,60}\d {0,3}[, ] {0,3}-?\d[^\[\]\n]{0,60}\]"
_MATRIX = re.compile(
    rf"\[ {{0,3}}{_ROW}(?:[,;]? {{0,3}}{_ROW}){{1,50}} {{0,3}}\]"
    r"|\[[^\[\]\n]{0,60}\d {1,3}\d[^\[\]\n]{0,60};[^\[\]\n]{0,100}\]"
)
_INDEXED = re.compile(r"(?:(?<![\w.])[a-z]|\w_\w{1,40}|\b(?:arr|args|argv))\Z")
_EQUATED = re.compile(r"[=∈∉×∪∩] {0,2}\Z")
_CODE = re.compile(r"`[^`\n]{1,200}`")
_JOINED = re.compile(rf"\[([^\[\]\d\n]{{0,40}})(\d{{1,6}})\] {{0,2}}{_DASH} {{0,2}}\[(?:\1)?(\d{{1,6}})\]")
_LEAD = re.compile(
    rf"(?:see |see also |cf\.? |from |siehe |vgl\.? |voir |v[ée]ase |ver )?{_WORD}(?![^\W\d_])\.?[ _:#-]{{0,4}}",
    re.IGNORECASE,
)
# A range of numbers, or of ids with a prefix, which may be repeated: 1-3, cite_1-3, doc_2-doc_4.
_RANGE = re.compile(rf"(\D{{0,40}})(\d{{1,6}}) {{0,4}}{_DASH} {{0,4}}(?:\1)?(\d{{1,6}})\Z")
# Text that may follow a number: "1: NYT", "1 (web)", "1†source"; then parts next to a citation: pages, dates.
_NUMBER = re.compile(r"(\d{1,4})(?: {0,2}(?:†|:|\(|\||–|—| - )[^,;]{0,120})?\Z")
_BESIDE = re.compile(
    r"(?:pp?\.? ?\d[\d-]{0,9}|p\.|page \d{1,6}|lines? \d[\d-]{0,9}|see also|\d{4}-\d{2}-\d{2}"
    r"|date:? .{0,40}|web|ent)\Z",
    re.IGNORECASE,
)
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+\Z")
_SUPERSCRIPT = re.compile(rf"{_NO_EXPONENT}[⁰¹²³⁴⁵⁶⁷⁸⁹]{{1,6}}")
_SEE = re.compile(r"(?:see also|see|cf\.?) ", re.IGNORECASE)
_LINK = re.compile(r"\((?:https?:|#|/)[^()\s]{0,300}\)")  # after a marker, in Markdown
_OPENED = re.compile(rf"\((?:[ ,;&]|see\b|and\b|{_WORD}\b){{0,12}}\Z", re.IGNORECASE)
_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
# The rest of "([3], [4])", "(Sources [1] and [2])" and "[[3]]".
_EMPTY = re.compile(
    rf" ?(?:\((?:[ ,;&]|see\b|and\b|{_WORD}\b){{0,12}}\)|\[[ ,;]{{0,12}}\]"
    r"|<(?:sup|a)\b[^<>\n]{0,80}>[ ,;]{0,12}</(?:sup|a)>)",
    re.IGNORECASE,
)
# A marker that a sentence needs as a word: "According to [1], it rose", "[2] says that it fell".
_NEEDED_BEFORE = re.compile(
    r"\b(?:according to|as per|per|in|by|from|and|of|see|with|while|but) {0,2}\Z", re.IGNORECASE
)
_NEEDED_BEHIND = re.compile(r" {0,2}(?:and\b|[a-z]{2,20}\b)")
AS_WORD = "the source"  # put in place of a citation that the sentence needs


@dataclass(frozen=True, slots=True)
class Marker:
    """A citation marker: its place [start, end) in the text, and the ids that it names, known or not."""

    start: int
    end: int
    names: tuple[str, ...]


def citation_markers(text: str, ids: Iterable[str]) -> list[Marker]:
    """The citation markers of a text, in order. `ids` are the passages'.

    Round brackets need such an id, or a word such as "source". A bracket whose parts are neither known ids nor numbers
    is no marker: "[sic]", "(1999)".
    """
    lookup = _passage_id_lookup(tuple(ids))
    joined = []
    for match in _JOINED.finditer(text):
        if between := lookup.ids_or_numbers_in_range(*match.groups()) or lookup.ids_or_numbers_in_range(
            "", match[2], match[3]
        ):
            joined.append(Marker(match.start(), match.end(), tuple(between)))
    marked = list(joined)
    # [2]-[5] is one range, not two citations
    inside = {at for one in joined for at in range(one.start, one.end)}
    for match in _possible_marker_brackets(text):
        inner = next(one for one in match.groups() if one is not None).rstrip("\\").replace("\\_", "_")
        names = _cited_names_in_bracket(inner, lookup, strict=match["round"] is not None)
        if names and match.start() not in inside:
            marked.append(Marker(match.start(), match.end(), names))
    for match in _SUPERSCRIPT.finditer(text):
        name = lookup.id_equal_to_or_ending_in(match[0].translate(_DIGITS))
        if name is not None:
            marked.append(Marker(match.start(), match.end(), (name,)))
    return sorted(marked, key=lambda marker: marker.start)


def _possible_marker_brackets(text: str) -> Iterator[re.Match[str]]:
    """Brackets that may be markers: without rows of matrices, indices of sequences, and vectors."""
    matrices, code = ({at for found in one.finditer(text) for at in range(*found.span())} for one in (_MATRIX, _CODE))
    indexed = -1  # where the last index ends, for x[1][2]
    for match in _BRACKETS.finditer(text):
        start, before = match.start(), text[max(0, match.start() - 42) : match.start()]
        if match["square"] is not None and not before.endswith("\\"):
            in_code = start in code and before[-1:] not in ("", " ", "`")
            if in_code or start == indexed or _INDEXED.search(before):
                indexed = match.end()
                continue
            if start in matrices or _EQUATED.search(before):
                continue
        yield match


def cited_passages(text: str, ids: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return (cited ids in order of first citation, each once; cited names that are not the id of a passage, in the
    same way).
    """
    known = set(ids)
    names = list(dict.fromkeys(name for marker in citation_markers(text, ids) for name in marker.names))
    return tuple(one for one in names if one in known), tuple(one for one in names if one not in known)


def deflecting_rule(answer: str, ids: Sequence[str] = (), *, language: str = "en") -> str | None:
    """The rule by which an answer deflects (`granola.replies.refusals`), or None.

    `ids` are the passages', to recognise citations; without them numbers are taken as citations.
    """
    text = answer[: 4 * LONGEST_DEFLECTION].replace("\x01", " ")
    return deflection(_replace_markers(text, citation_markers(text, ids or _NUMBERS), CITED), language=language)


def _replace_markers(text: str, marked: Iterable[Marker], put: str) -> str:
    """The text with `put` in the place of each marker; of overlapping ones the first counts."""
    out, at = [], 0
    for marker in marked:
        if marker.start >= at:
            out += [text[at : marker.start], put]
            at = marker.end
    return "".join([*out, text[at:]])


_NUMBERS = tuple(map(str, range(100)))  # ids assumed where the passages are unknown


def without_markers(text: str, ids: Sequence[str]) -> str:
    """The text without its citations, to be judged independently of the names of passages.

    A citation that the sentence needs as a word is replaced by `AS_WORD`.
    """
    out: list[str] = []
    at, so_far = 0, ""
    for marker in citation_markers(text, ids):
        if marker.start < at:
            continue
        before = text[at : marker.start]
        opens = not so_far.strip() and not before.strip()
        if _OPENED.search((so_far + before)[-80:]):
            put = before
        elif _NEEDED_BEFORE.search(before) or (opens and _NEEDED_BEHIND.match(text, marker.end)):
            put = before + (AS_WORD if before.strip() or out else AS_WORD.capitalize())
        else:
            put = before.rstrip(" ")
        out.append(put)
        so_far = (so_far + put)[-80:] if put.strip() else so_far + put[:80]
        link = _LINK.match(text, marker.end)
        at = link.end() if link else marker.end
    if not out:
        return text
    return _EMPTY.sub("", "".join([*out, text[at:]])).lstrip(" ")


def _cited_names_in_bracket(inner: str, lookup: PassageIdLookup, *, strict: bool) -> tuple[str, ...]:
    whole = inner.strip()
    if (passage_id := lookup[whole]) is not None:
        # A number or letter in round brackets, "(2)" or "(a)", begins an item of a list.
        return () if strict and (whole.isdigit() or len(whole) == 1) else (passage_id,)
    # "[1,000]" is one number, not the passages 1 and 0.
    if _THOUSANDS.match(whole):
        return ()
    has_lead = False
    names: list[str] = []
    for part in SEPARATORS.split(whole):
        plain = _SEE.sub("", part.strip().strip("\"'").strip())
        part_names, has_lead = _cited_names_in_part(plain, lookup, strict, has_lead, not names)
        if part_names is None:
            return ()
        names += part_names
    return tuple(dict.fromkeys(names))


def _cited_names_in_part(
    part: str, lookup: PassageIdLookup, strict: bool, has_lead: bool, is_first: bool
) -> tuple[Sequence[str] | None, bool]:
    """The passages that a part of a bracket names, None where it is no citation; and whether a word such as "source"
    preceded the part.
    """
    if (
        (span := _RANGE.match(part)) is not None
        and span[1]
        and (between := lookup.ids_or_numbers_in_range(*span.groups()))
    ):
        return between, has_lead
    passage_id = lookup[part]
    if passage_id is None and (after := _text_after_lead(part)):
        has_lead, part = True, after
        if lookup[part] is None:
            part = _text_after_lead(part) or part  # "source: passage 2"
        passage_id = lookup[part]
    part = part.strip("#^@ ")
    passage_id = passage_id or (lookup[part] if part else None)
    if passage_id is not None:
        return (None if part.isdigit() and strict and not has_lead else [passage_id]), has_lead
    if not part or (not is_first and _BESIDE.match(part)):
        return [], has_lead
    return (None if strict and not has_lead else _ids_of_number_or_range(part, lookup)), has_lead


def _text_after_lead(part: str) -> str:
    """The text after a word such as "source"; "" where there is no such word, or no text after it."""
    lead = _LEAD.match(part)
    return part[lead.end() :].strip() if lead is not None and lead.end() < len(part) else ""


def _ids_of_number_or_range(part: str, lookup: PassageIdLookup) -> Sequence[str] | None:
    """The passages of a number or a range, including numbers that are no passage; None where the text is neither."""
    if (span := _RANGE.match(part)) is not None and (between := lookup.ids_or_numbers_in_range(*span.groups())):
        return between
    if (number := _NUMBER.match(part)) is None:
        return None
    if (passage_id := lookup.id_equal_to_or_ending_in(number[1])) is not None:
        return [passage_id]
    digits = str(int(number[1]))
    return None if digits == "0" else [digits]  # the interval [0, 1]


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
_LETTERS = re.compile(r"\w")
_DIGIT = re.compile(r"\d")
_TAIL = 80  # characters at the end of a sentence that are searched for its full stop or the next number
_LETTER = re.compile(r"[^\W\d_]")


def answer_sentences(text: str, ids: Sequence[str] = (), *, language: str = "en") -> list[str]:
    """The sentences in order. List items are split, also where they follow each other on one line.

    A citation alone, or with the number of a list item, is added to the sentence before it. A list of sources at the
    end, and a heading followed only by citations, state nothing and are left out.
    """
    parts: list[list[str]] = []
    for sentence, opens in _sentences_with_line_starts(text, language):
        # A heading of sources with citations, or their bare numbers, and nothing else.
        cited = citation_markers(sentence, ids)
        bare = _replace_markers(sentence, cited, " ")
        if (cited or (":" in bare and _DIGIT.search(bare))) and _SOURCES.fullmatch(bare):
            continue
        said = without_markers(sentence, ids)
        # "2." at the end belongs to the next item: the splitter takes its full stop for the end.
        numbering = parts and not _LETTER.search(said) and _NEXT_NUMBER.search(said.strip()[-_TAIL:])
        if _LETTERS.search(said) and not numbering:
            lead = _end_of_leading_citations(sentence, ids)
            behind = sentence[lead:].strip()
            if lead and parts and not opens and not behind[:1].islower():
                # "... in 1999. [3] It then ..." : the citation belongs to the sentence before it.
                parts[-1].append(sentence[:lead].strip())
                sentence = behind
            parts.append([sentence])
        elif parts:
            parts[-1] += [sentence[marker.start : marker.end] for marker in cited]
    return [" ".join(sentence) for sentence in parts]


def _end_of_leading_citations(sentence: str, ids: Sequence[str]) -> int:
    """The offset at which the citations at the beginning of a sentence end; 0 where it begins with none."""
    end = 0
    for marker in citation_markers(sentence, ids):
        if sentence[end : marker.start].strip(" ,;"):
            break
        end = marker.end
    return end


def _sentences_with_line_starts(text: str, language: str) -> Iterator[tuple[str, bool]]:
    """The sentences; with each, whether it is the first of a line or of a list item."""
    for line in _content_lines(text):
        for piece in _BULLET.split(line):
            if not piece.strip():
                continue
            item = _ITEM.match(piece)
            number = int(item["number"]) if item is not None and item["number"] else None
            bare = piece[item.end() if item else 0 :].lstrip(" \t#").strip()
            opens, has_second = True, _SECOND.search(bare) is not None
            for sentence in sentences(bare, language):
                following = _NEXT_NUMBER.search(sentence, max(0, len(sentence) - _TAIL))
                if following is not None and int(following[1]) == (number or 0) + 1:
                    # "Do this: 1. Open it 2. Close it" on one line: the number begins the next item.
                    before = sentence[: following.start()].strip()
                    if number is not None or (before.endswith(":") and has_second):
                        number, sentence = int(following[1]), before
                if sentence:
                    yield sentence, opens
                opens = False


def _content_lines(text: str) -> list[str]:
    """The lines that state something; lines that were only broken for their length are joined."""
    kept: list[list[str]] = []
    joins = False
    for line in _MARKUP.sub("\n", _EMPHASIS.sub("", text)).splitlines():
        if not _LETTERS.search(line):
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
