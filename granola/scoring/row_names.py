"""What a matcher reads of a row: the names of its levels, and the language that they are in."""

from __future__ import annotations

from collections.abc import Sequence

from abstraction.rows import TieredRow
from abstraction.tiers import Level
from granola.scoring.metrics import Standard


def names_of(row: TieredRow, standard: Standard = "aliases") -> list[list[str]]:
    """The acceptable names of a row, finest level first: every text and alias, level 1 all gold answers.

    With `standard` "gold", level 1 has the gold answers alone.
    """
    return names_of_levels(row.answers, row.levels, standard)


def names_of_levels(answers: Sequence[str], levels: Sequence[Level], standard: Standard) -> list[list[str]]:
    """As `names_of`, of gold answers and levels that are in no row."""
    aliases = levels[0].names() if levels and standard == "aliases" else ()
    first = list(dict.fromkeys([*answers, *aliases]))
    return [first, *(list(dict.fromkeys(level.names())) for level in levels[1:])]


def language_of(row: TieredRow) -> str | None:
    """The code of the language that a row says its question and answers are in."""
    code = row.extra.get("language")
    return code if isinstance(code, str) and code.strip() else None
