"""The name that responses share, which is the answer of each, in any language.

"Karl Benz", "Karl Benz opfandt bilen i 1885" and "Karl Benz (1885)" are one answer. No grammar is used: a name is a
run of capitalised words, a number, or a text in quotation marks; in scripts without case, any run of words. Names in
the question are excluded, unless the question offers a choice.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from abstraction.text.language.languages import bundled_demonyms
from kg.base.bounded_cache import bounded_cache

LONGEST = 300  # characters of a response that are searched
FEW = 4  # words; a response this short without a name counts as a name
LONGEST_NAME = 8  # words
JOINING = 3  # letters; a word this short between two names may join them
UNIT = 2  # words after a number that may be its unit
MOST_OF = 0.6  # share of the responses with a name that must have a longer form to prefer it
# Small words inside names: the University of Salzburg, Ludwig van Beethoven, Ratchet and Clank.
_INSIDE = frozenset({
    "of", "the", "de", "la", "le", "les", "del", "della", "delle", "di", "da", "do", "dos", "das", "du", "des", "von",
    "van", "der", "den", "ter", "ten", "zu", "zur", "al", "el", "bin", "ibn", "af", "av", "and", "og", "och", "und",
    "et", "y", "in", "on", "for", "to", "a",
})  # fmt: skip
# The word between two names of which a question asks for one.
_OR = {
    "en": "or", "da": "eller", "nb": "eller", "no": "eller", "sv": "eller", "de": "oder", "fr": "ou", "pt": "ou",
    "es": "o", "it": "o", "nl": "of", "fi": "vai", "cs": "nebo", "pl": "czy", "ru": "или", "uk": "чи", "tr": "veya",
    "hu": "vagy", "ro": "sau", "id": "atau", "vi": "hay", "hi": "या", "bn": "নাকি",
}  # fmt: skip
_WORD = re.compile(r"\d[\d.,:/-]*\d|[\u3040-\u30ff\u4e00-\u9fff]|[^\W_\u3040-\u30ff\u4e00-\u9fff]+(?:['’.&][^\W_]+)*")
_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»]{2,80})[\"”“»]")
_APART = re.compile(r"[,;()!?\n\"“”„«»]|(?<!\b[A-ZÀ-Þ])\.\s|\s[-–—]\s")
_ENDS = re.compile(r"[.!?。！？\n]")

Span = tuple[int, int]  # start and end of a name in its text


@dataclass(frozen=True, slots=True)
class _Word:
    key: str
    start: int
    end: int
    is_name: bool  # begins with a capital or digit, or its script has no case
    begins: bool  # is the first word of a sentence


def shared_names(
    texts: Mapping[str, int], question: str, language: str = "en", *, asks_nation: bool = False
) -> dict[str, str]:
    """By text, the part that names its answer; a text without a name is absent.

    `texts`: distinct responses with their frequency. Among the names of a text and their parts, the one in most
    responses wins; on a tie the first, then the longest. A national adjective is a name only if `asks_nation`, or if a
    response consists of it: "a French explorer" does not answer French.
    """
    read = {text: _words_with_positions(text[:LONGEST]) for text in texts}
    asked = _words_with_positions(question)
    small = {word.key for words in (*read.values(), asked) for word in words if not word.is_name}
    told, offered = {word.key for word in asked}, _word_sequences_beside_or(asked, language)
    alone = {" ".join(word.key for word in words) for words in read.values()}
    # A nationality beside a name describes it and is not the answer.
    told |= (
        set()
        if asks_nation
        else {word.key for words in read.values() for word in words} & bundled_demonyms().countries.keys() - alone
    )
    joined = {text: " ".join(("", *(word.key for word in words), "")) for text, words in read.items()}
    out = {}
    for text, words in read.items():
        names = _name_spans(text, words, small)
        if choices := [span for key, span in names.items() if key in offered]:
            out[text] = text[slice(*min(choices, key=lambda span: (span[0], -span[1])))]
            continue
        names = {key: span for key, span in names.items() if not told.issuperset(key.split())}
        if not names:
            continue
        counts = {key: sum(texts[other] for other, words in joined.items() if f" {key} " in words) for key in names}
        best = max(names, key=lambda key: (counts[key], -names[key][0], len(key)))
        start, end = names[best]
        longer = [  # "David Ige" for "David", where most who have the one have the other
            span for key, span in names.items()
            if span[0] <= start and end <= span[1] and counts[key] > MOST_OF * counts[best]
        ]  # fmt: skip
        out[text] = text[slice(*max(longer, key=lambda span: span[1] - span[0]))]
    return out


def offers_choice(question: str, language: str) -> bool:
    """Whether a question offers a choice: "Castlevania or Resident Evil?"."""
    return bool(_word_sequences_beside_or(_words_with_positions(question), language))


def is_in_question(name: str, question: str) -> bool:
    """Whether the question contains every word of a name."""
    words = _folded_words(name)
    return bool(words) and words <= _folded_words(question)


@bounded_cache(entries=1 << 12, longest=2_000)  # 10 MB at most
def _folded_words(text: str) -> frozenset[str]:
    return frozenset(word.key for word in _words_with_positions(text))


def _word_sequences_beside_or(asked: Sequence[_Word], language: str) -> frozenset[str]:
    """The word sequences next to "or" in a question that offers a choice."""
    or_word = _OR.get(language.partition("-")[0])
    at = next((at for at, word in enumerate(asked) if word.key == or_word and 0 < at < len(asked) - 1), None)
    # "more or less" offers no choice: one side must be a name.
    if at is None or not (asked[at - 1].is_name or asked[at + 1].is_name):
        return frozenset()
    sides = asked[max(0, at - LONGEST_NAME) : at], asked[at + 1 : at + 1 + LONGEST_NAME]
    keys = [[word.key for word in side] for side in sides]
    before = {" ".join(keys[0][first:]) for first in range(len(keys[0]))}
    return frozenset(before | {" ".join(keys[1][:last]) for last in range(1, len(keys[1]) + 1)})


@bounded_cache(entries=1 << 12, longest=2_000)  # 30 MB at most
def _words_with_positions(text: str) -> Sequence[_Word]:
    words: list[_Word] = []
    end = 0
    for match in _WORD.finditer(text):
        first = match[0][0]
        is_name = first.isdigit() or first.isupper() or unicodedata.category(first) == "Lo"
        begins = not words or _ENDS.search(text, end, match.start()) is not None
        words.append(_Word(_fold_word(match[0]), match.start(), match.end(), is_name, begins))
        end = match.end()
    return words


@lru_cache(maxsize=1 << 14)
def _fold_word(word: str) -> str:
    # Accents and case vary between languages: "José" and "Jose" are one name.
    plain = unicodedata.normalize("NFKD", word.casefold())
    return "".join(sign for sign in plain if not unicodedata.combining(sign)).replace("’", "'").removesuffix("'s")


def _name_spans(text: str, words: Sequence[_Word], small_words: Collection[str]) -> dict[str, Span]:
    """The names in a text and their parts, keyed by folded words; a short text without a name is one name."""
    runs = [
        [word for word in words if quoted.start(1) <= word.start and word.end <= quoted.end(1)]
        for quoted in _QUOTED.finditer(text[:LONGEST])
    ]
    run: list[_Word] = []
    for word in words:
        # A run of name words ends at punctuation between two words, and before a year ("Bryan Randall in 2015").
        if run and (_APART.search(text, run[-1].end, word.start) or (word.key[0].isdigit() and run[-1].key in _INSIDE)):
            runs.append(run)
            run = []
        if word.is_name or (run and (word.key in _INSIDE or (len(word.key) <= JOINING and word.key.isalpha()))):
            run.append(word)
        elif run:
            runs.append(run)
            run = []
    runs.append(run)
    found: dict[str, Span] = {}
    if words and not any(runs) and len(words) <= FEW:
        found[" ".join(word.key for word in words)] = (words[0].start, words[-1].end)
    for run in runs:
        for first, word in enumerate(run):
            if not word.is_name or (word.begins and word.key in small_words and len(words) > 1):
                continue  # "Den" of "Den italienske", which is a small word elsewhere
            for last in range(first, min(len(run), first + LONGEST_NAME)):
                if run[last].is_name or last == first:
                    key = " ".join(one.key for one in run[first : last + 1])
                    found.setdefault(key, (word.start, run[last].end))
    for at, word in enumerate(words[:-1]):
        if word.key[0].isdigit():  # "218 f.Kr.", "60 millioner"
            for last in range(at + 1, min(len(words), at + 1 + UNIT)):
                if _APART.search(text, words[last - 1].end, words[last].start):
                    break
                found.setdefault(" ".join(one.key for one in words[at : last + 1]), (word.start, words[last].end))
    return found
