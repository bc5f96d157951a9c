"""The four categories of evidence for an answer, and the four complexities of questions.

Hu et al. 2025 (CAQA), sections 3.2 and 3.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from abstraction.errors import ReplyError
from granola.replies import read_verdict


class Category(StrEnum):
    """The relation of citations to an answer statement.

    SUPPORTIVE: they contain facts that fully support it. PARTIAL: some facts that it needs are missing. CONTRADICTORY:
    their facts imply a different answer. IRRELEVANT: they contain no fact that bears on it.
    """

    SUPPORTIVE = "supportive"
    PARTIAL = "partially supportive"
    CONTRADICTORY = "contradictory"
    IRRELEVANT = "irrelevant"


class Complexity(StrEnum):
    """How citations combine to the answer: one citation, a union, an intersection, or a chain of several."""

    SINGLE = "single"
    UNION = "union"
    INTERSECTION = "intersection"
    CONCATENATION = "concatenation"


# Names of the categories in replies: ours, of the paper's prompts, of AttrScore, and participles.
WORDINGS: Mapping[Category, tuple[str, ...]] = {
    Category.SUPPORTIVE: ("supportive", "supported", "fully supportive", "fully supported", "attributable"),
    Category.PARTIAL: (
        "partially supportive", "partially supported", "partly supportive", "partly supported", "partial",
        "insufficient", "missing",
    ),
    Category.CONTRADICTORY: ("contradictory", "contradicted", "contradiction"),
    Category.IRRELEVANT: ("irrelevant", "not relevant", "extrapolatory"),
}  # fmt: skip


def read_category(reply: str, *, numbered: bool = False) -> Category:
    """The category in a reply; with `numbered`, 1 to 4 count as names. Raises ReplyError if not exactly one."""
    labels = {
        category: (*words, str(number)) if numbered else words
        for number, (category, words) in enumerate(WORDINGS.items(), 1)
    }
    # "Supportive, but no passage names the year" is no clear verdict: reserve casts doubt on this label alone.
    verdict = read_verdict(reply, labels, affirming=(Category.SUPPORTIVE,))
    if verdict is None:
        raise ReplyError("no category, or several")
    return verdict.verdict


# Samples of the paper's Table 4: training, testing, all.
PAPER_COUNTS: Mapping[str, tuple[int, int, int]] = {
    "all": (137_211, 23_963, 161_174),
    Category.SUPPORTIVE: (39_489, 6_668, 46_157),
    Category.PARTIAL: (28_868, 5_065, 33_933),
    Category.CONTRADICTORY: (36_620, 6_423, 43_043),
    Category.IRRELEVANT: (32_234, 5_807, 38_041),
    Complexity.SINGLE: (73_795, 10_443, 84_238),
    Complexity.CONCATENATION: (46_783, 8_455, 55_238),
    Complexity.UNION: (5_347, 886, 6_233),
    Complexity.INTERSECTION: (11_286, 4_179, 15_465),
}
