"""Labels in replies, by named rules. "Insufficient", "Partially supportive" and "Missing" are one category."""

from __future__ import annotations

import re
from dataclasses import dataclass

from granola.attribution.categories import Category

LONGEST = 4_000  # characters of a reply that are looked at
WORDS: dict[str, Category] = {
    "supportive": Category.SUPPORTIVE, "supported": Category.SUPPORTIVE, "attributable": Category.SUPPORTIVE,
    "fully supportive": Category.SUPPORTIVE,
    "partially supportive": Category.PARTIAL, "partially supported": Category.PARTIAL,
    "insufficient": Category.PARTIAL, "missing": Category.PARTIAL, "partial": Category.PARTIAL,
    "contradictory": Category.CONTRADICTORY, "contradicted": Category.CONTRADICTORY,
    "contradiction": Category.CONTRADICTORY,
    "irrelevant": Category.IRRELEVANT, "extrapolatory": Category.IRRELEVANT, "not relevant": Category.IRRELEVANT,
}  # fmt: skip
# The paper's numbers of the categories in its prompt with definitions.
NUMBERS = dict(zip("1234", Category, strict=True))
_WORD = re.compile("|".join(rf"\b{re.escape(word)}\b" for word in sorted(WORDS, key=len, reverse=True)), re.IGNORECASE)
_LABELLED = re.compile(r"(?:category|label|response|answer|verdict)\W{0,6}(?:is\W{0,4})?", re.IGNORECASE)
_DENIED = re.compile(
    r"\b(?:not|isn't|neither|nor|cannot be|rather than|instead of)\W{1,3}(?:\w+\W{1,2})?\Z", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class ReadLabel:
    """A category, and the rule that read it."""

    category: Category
    rule: str


def read_label(reply: str) -> ReadLabel | None:
    """The label of a reply; None where there is none, or several with nothing that tells which is meant.

    Rules in order: `alone` (the reply is a label), `number` (or its number), `labelled` (what follows "category:"),
    `last-line` (the only label of the last line), `only` (the only label that is not denied).
    """
    text = " ".join(reply[:LONGEST].split())
    bare = text.strip(" .\"'*`()[]").casefold()
    if bare in WORDS:
        return ReadLabel(WORDS[bare], "alone")
    if bare.rstrip(".)") in NUMBERS:
        return ReadLabel(NUMBERS[bare.rstrip(".)")], "number")
    labelled = [match.end() for match in _LABELLED.finditer(text)]
    for end in reversed(labelled):
        match = _WORD.match(text, _after_marks(text, end))
        if match is not None:
            return ReadLabel(WORDS[match[0].casefold()], "labelled")
    last = next((line for line in reversed(reply[:LONGEST].splitlines()) if line.strip()), "")
    for rule, part in (("last-line", last), ("only", text)):
        categories = _stated(part)
        if len(categories) == 1:
            return ReadLabel(categories.pop(), rule)
    return None


def _after_marks(text: str, at: int) -> int:
    while at < len(text) and text[at] in " *\"'`:":
        at += 1
    return at


def _stated(text: str) -> set[Category]:
    return {
        WORDS[match[0].casefold()]
        for match in _WORD.finditer(text)
        if not _DENIED.search(text[max(0, match.start() - 30) : match.start()])
    }
