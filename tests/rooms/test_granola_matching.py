"""Does a prediction state a tier?"""

from __future__ import annotations

from abstraction.files.rows import TieredRow
from granola.matching import matcher


def test_the_finest_level_that_is_stated(row: TieredRow) -> None:
    levels = [level.names() for level in row.levels]
    rules = matcher("rules")
    assert rules.match("He was born in Honolulu.", levels, question=row.question).level == 1
    assert rules.match("Somewhere in Hawaii, I think", levels, question=row.question).level == len(levels) - 1
    assert rules.match("Chicago", levels, question=row.question).level is None
    assert rules.match("I don't know", levels, question=row.question).abstained


def test_a_signature_has_every_setting() -> None:
    assert matcher("f1", tau=0.5).signature() != matcher("f1", tau=0.6).signature()
