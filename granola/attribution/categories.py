"""The four relations of evidence to an answer, and the four complexities of questions.

Hu et al. 2025 (CAQA), sections 3.2 and 3.3.
"""

from __future__ import annotations

from enum import StrEnum


class Category(StrEnum):
    """What citations are to an answer statement.

    SUPPORTIVE: they hold facts that fully support it. PARTIAL: they lack some of the facts that it needs.
    CONTRADICTORY: they hold facts that infer a different answer. IRRELEVANT: they hold no fact that it can use.
    """

    SUPPORTIVE = "supportive"
    PARTIAL = "partially supportive"
    CONTRADICTORY = "contradictory"
    IRRELEVANT = "irrelevant"


class Complexity(StrEnum):
    """What of the citations must come together: one citation, several, common entities of them, or a chain."""

    SINGLE = "single"
    UNION = "union"
    INTERSECTION = "intersection"
    CONCATENATION = "concatenation"
