"""Citations in long answers: [3], [1, 2], [1][2], (source 4), [doc-7], ranges, superscripts, "passage 3 says"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

LONGEST = 200_000  # characters of an answer that are looked at
WIDEST = 50  # passages of a range
_NOUN = (
    r"(?:sources?|passages?|documents?|snippets?|quellen?|passagen?|dokumente?|fuentes?|pasajes?|documentos?"
    r"|fragmentos?|extraits?)"
)
_WORD = rf"(?:{_NOUN}|docs?|refs?|references?|citations?|cites?|evidence|ids?|chunks?|web|no|nr)"
_DASH = r"(?:-|–|—|‑|−|to|through|thru|bis|à|\.\.)"
_AND = r"(?:and|und|et|y)"
_BRACKETS = re.compile(
    r"\[(?P<square>[^\[\]\n]{1,200})\]|\((?P<round>[^()\[\]\n]{1,200})\)|[【［](?P<wide>[^】［］【\n]{1,200})[】］]"
    r"|<(?:sup|cite)>(?P<tag>[^<>\n]{1,60})</(?:sup|cite)>"
)
_JOINED = re.compile(rf"\[(\d{{1,6}})\] {{0,2}}{_DASH} {{0,2}}\[(\d{{1,6}})\]")
_LEAD = re.compile(
    rf"(?:see |see also |cf\.? |from |siehe |vgl\.? |voir |v[ée]ase |ver )?{_WORD}(?![^\W\d_])\.?[ _:#-]{{0,4}}",
    re.IGNORECASE,
)
_PART = re.compile(rf"[,;，；、&/]|\b{_AND}\b|(?<=\d) {{1,4}}(?=\d)", re.IGNORECASE)
_RANGE = re.compile(rf"(\d{{1,6}}) {{0,4}}{_DASH} {{0,4}}(\d{{1,6}})\Z")
# What may stand behind a number: "1: NYT", "1 (web)", "1†source"; and what is no citation beside one: pages, dates.
_NUMBER = re.compile(r"(\d{1,4})(?: {0,2}(?:†|:|\(|\||–|—| - )[^,;]{0,120})?\Z")
_BESIDE = re.compile(
    r"(?:pp?\.? ?\d[\d-]{0,9}|p\.|page \d{1,6}|lines? \d[\d-]{0,9}|see also|\d{4}-\d{2}-\d{2}"
    r"|date:? .{0,40}|web|ent)\Z",
    re.IGNORECASE,
)
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+\Z")
_INLINE = re.compile(
    rf"\b{_NOUN} (?P<numbers>#?\d{{1,3}}(?: {{0,2}}(?:,? {{0,2}}{_AND}|,|&|{_DASH}) {{0,2}}#?\d{{1,3}}){{0,9}})\b",
    re.IGNORECASE,
)
_SPAN = re.compile(rf"(\d{{1,3}})(?: {{0,2}}{_DASH} {{0,2}}#?(\d{{1,3}}))?", re.IGNORECASE)
# Behind a digit, a word of one or two letters or a function it is an exponent: 10⁶, m², mc², sin².
_SUPERSCRIPT = re.compile(
    r"(?<![0-9⁰¹²³⁴⁵⁶⁷⁸⁹])(?<!\b\w)(?<!\b\w\w)(?<!\bsin)(?<!\bcos)(?<!\btan)(?<!\blog)(?<!\bexp)[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,6}"
)
_SEE = re.compile(r"(?:see also|see|cf\.?) ", re.IGNORECASE)
_LINK = re.compile(r"\((?:https?:|#|/)[^()\s]{0,300}\)")  # behind a marker, in Markdown
_OPENED = re.compile(rf"\((?:[ ,;&]|see\b|and\b|{_WORD}\b){{0,12}}\Z", re.IGNORECASE)
_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
# What is left of "([3], [4])" and "(Sources [1] and [2])".
_EMPTY = re.compile(rf" ?\((?:[ ,;&]|see\b|and\b|{_WORD}\b){{0,12}}\)", re.IGNORECASE)
# A marker that a sentence needs as a word: "According to [1], it rose", "[2] says that it fell".
_NEEDED_BEFORE = re.compile(
    r"\b(?:according to|as per|per|in|by|from|and|of|see|with|while|but) {0,2}\Z", re.IGNORECASE
)
_NEEDED_BEHIND = re.compile(r" {0,2}(?:and\b|[a-z]{2,20}\b)")
AS_WORD = "the source"


@dataclass(frozen=True, slots=True)
class Marker:
    """Where a marker stands, [start, end), and the ids that it names, known or not; `inline` ones are words."""

    start: int
    end: int
    names: tuple[str, ...]
    inline: bool = False


class PassageNames:
    """The ids of passages as markers may write them: letter by letter, else in another case where that is clear."""

    def __init__(self, ids: Iterable[str]) -> None:
        self._exact = {form: one for one in ids for form in (one, one.strip("[](){}【】"))}
        folded: dict[str, set[str]] = {}
        for form, one in self._exact.items():
            folded.setdefault(form.casefold(), set()).add(one)
        self._folded = {form: next(iter(own)) for form, own in folded.items() if len(own) == 1}
        self._parted = [form for form in self._exact if _PART.search(form)]

    def __getitem__(self, text: str) -> str | None:
        text = text.strip().strip("\"'")
        return self._exact.get(text) or self._folded.get(text.casefold())

    def parts(self, inner: str) -> list[str]:
        """What a bracket names, parted; ids with a comma in them stay whole."""
        if self._parted and ";" in inner and all(self[one] for one in inner.split(";")):
            return inner.split(";")
        held: list[str] = []
        for form in sorted(self._parted, key=len, reverse=True):
            if form in inner:
                held.append(form)
                inner = inner.replace(form, f"\x00{len(held) - 1}\x00")
        parts = _PART.split(inner)
        return [re.sub("\x00(\\d+)\x00", lambda match: held[int(match[1])], one) for one in parts] if held else parts


def markers(text: str, ids: Iterable[str]) -> list[Marker]:
    """The citation markers of a text. `ids` are the passages': in round brackets only they, or what a word leads in.

    A bracket whose parts are neither known ids nor numbers is no marker: "[sic]", "(1999)".
    """
    known = PassageNames(ids)
    text = text[:LONGEST]
    marked = []
    for match in _BRACKETS.finditer(text):
        inner = match["square"] or match["round"] or match["wide"] or match["tag"] or ""
        names = _named(inner, known, strict=match["round"] is not None)
        if names:
            marked.append(Marker(match.start(), match.end(), names))
    for match in _JOINED.finditer(text):
        between = _range(int(match[1]), int(match[2]), known)
        if between:
            marked = [one for one in marked if not match.start() <= one.start < match.end()]
            marked.append(Marker(match.start(), match.end(), tuple(between)))
    for match in _SUPERSCRIPT.finditer(text):
        name = known[str(int(match[0].translate(_DIGITS)))]
        if name is not None:
            marked.append(Marker(match.start(), match.end(), (name,)))
    taken = [(one.start, one.end) for one in marked]
    for match in _INLINE.finditer(text):
        names = tuple(_spanned(match["numbers"], known))
        if all(known[name] for name in names) and not any(start <= match.start() < end for start, end in taken):
            marked.append(Marker(match.start(), match.end(), names, inline=True))
    return sorted(marked, key=lambda marker: marker.start)


def cited_passages(text: str, ids: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(ids cited, in order and once each; names cited that are no passage's)."""
    known = set(ids)
    names = list(dict.fromkeys(name for marker in markers(text, ids) for name in marker.names))
    return tuple(one for one in names if one in known), tuple(one for one in names if one not in known)


def without_markers(text: str, ids: Sequence[str]) -> str:
    """The text without its citations, for judging what it says; where one is a word of the sentence, `AS_WORD`."""
    out: list[str] = []
    at = 0
    for marker in markers(text, ids):
        if marker.start < at or marker.inline:
            continue
        before, behind = text[at : marker.start], text[marker.end :]
        opens = not "".join(out).strip() and not before.strip()
        so_far = "".join(out)[-80:] + before
        if _OPENED.search(so_far[-80:]):
            out.append(before)
        elif _NEEDED_BEFORE.search(before) or (opens and _NEEDED_BEHIND.match(behind)):
            word = AS_WORD if before.strip() or out else AS_WORD.capitalize()
            out.append(before + word)
        else:
            out.append(before.rstrip(" "))
        link = _LINK.match(text, marker.end)
        at = link.end() if link else marker.end
    if not out:
        return text
    return _EMPTY.sub("", "".join([*out, text[at:]])).lstrip(" ")


def _named(inner: str, known: PassageNames, *, strict: bool) -> tuple[str, ...]:
    whole = inner.strip()
    if (passage_id := known[whole]) is not None:
        # "(2)" is an item of a list, "(a)" too.
        return () if strict and (whole.isdigit() or len(whole) == 1) else (passage_id,)
    if _THOUSANDS.match(whole):
        return ()
    led = False
    names: list[str] = []
    for part in known.parts(whole):
        part_names, led = _of_part(_SEE.sub("", part.strip().strip("\"'").strip()), known, strict, led, not names)
        if part_names is None:
            return ()
        names += part_names
    if strict and not led and any(name.isdigit() for name in names):
        return ()  # "(2)" in a text is an item of a list, "(1999)" a year
    return tuple(dict.fromkeys(names))


def _of_part(
    part: str, known: PassageNames, strict: bool, led: bool, is_first: bool
) -> tuple[Sequence[str] | None, bool]:
    """The passages that a part names, None where it is no citation; and whether a word such as "source" led to it."""
    if (between := _id_range(part, known)) is not None:
        return between, led
    passage_id = known[part]
    if passage_id is None and (after := _behind_lead(part)):
        led, part = True, after
        if known[part] is None:
            part = _behind_lead(part) or part  # "source: passage 2"
        passage_id = known[part]
    part = part.strip("#^ ")
    passage_id = passage_id or (known[part] if part else None)
    if passage_id is not None:
        return (None if part.isdigit() and strict and not led else [passage_id]), led
    if not part or (not is_first and _BESIDE.match(part)):
        return [], led
    return (None if strict and not led else _numbered(part, known)), led


def _behind_lead(part: str) -> str:
    """What follows a word such as "source"; "" where none leads, or nothing follows."""
    lead = _LEAD.match(part)
    return part[lead.end() :].strip() if lead is not None and lead.end() < len(part) else ""


def _numbered(part: str, known: PassageNames) -> Sequence[str] | None:
    """The passages of a number or a range, whether known or not; None where it is neither."""
    if (span := _RANGE.match(part)) is not None and (between := _range(int(span[1]), int(span[2]), known)):
        return between
    if (number := _NUMBER.match(part)) is None:
        return None
    digits = str(int(number[1]))
    return None if digits == "0" else [known[number[1]] or known[digits] or digits]  # the interval [0, 1]


def _spanned(numbers: str, known: PassageNames) -> Iterator[str]:
    """The names of "1, 3-5 and 7"; what is no rising range is named by its ends."""
    for first, last in _SPAN.findall(numbers):
        between = _range(int(first), int(last), known) if last else []
        for number in between or filter(None, (first, last)):
            yield known[number] or number


def _range(low: int, high: int, known: PassageNames) -> list[str]:
    if not low <= high < low + WIDEST or (low == 0 and known["0"] is None):
        return []
    return [known[str(number)] or str(number) for number in range(low, high + 1)]


def _id_range(part: str, known: PassageNames) -> list[str] | None:
    """doc_2-doc_4 and cite_1-3, where all between are known."""
    match = re.fullmatch(rf"(\D{{1,40}})(\d{{1,4}}) {{0,2}}{_DASH} {{0,2}}(?:\1)?(\d{{1,4}})", part)
    if match is None:
        return None
    low, high = int(match[2]), int(match[3])
    if not low <= high < low + WIDEST:
        return None
    found = [known[f"{match[1]}{number}"] for number in range(low, high + 1)]
    return [one for one in found if one is not None] if all(found) else None
