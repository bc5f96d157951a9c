"""From proposals to levels: ladders that are united stay ordered."""

from __future__ import annotations

from abstraction.assembly.levels import union
from abstraction.rows import TieredRow
from abstraction.tiers import Ladder


def test_a_ladder_united_with_itself_is_itself(row: TieredRow) -> None:
    ladder = Ladder(levels=row.levels)
    assert [level.names() for level in union([ladder, ladder]).levels] == [level.names() for level in ladder.levels]
