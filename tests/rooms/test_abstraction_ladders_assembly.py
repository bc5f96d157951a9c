"""From proposals to levels: ladders that are united stay ordered."""

from __future__ import annotations

from abstraction.base.tiers import Ladder
from abstraction.files.rows import TieredRow
from abstraction.ladders.assembly.golds import union_of_ladders


def test_a_ladder_united_with_itself_is_itself(row: TieredRow) -> None:
    ladder = Ladder(levels=row.levels)
    assert [level.names() for level in union_of_ladders([ladder, ladder]).levels] == [
        level.names() for level in ladder.levels
    ]
