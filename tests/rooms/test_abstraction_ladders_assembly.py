"""From proposals to levels: ladders that are united stay ordered."""

from __future__ import annotations

from abstraction.base.tiers import Ladder
from abstraction.files.rows import TieredRow
from abstraction.ladders.assembly.golds import union


def test_a_ladder_united_with_itself_is_itself(row: TieredRow) -> None:
    ladder = Ladder(levels=row.levels)
    assert [level.names() for level in union([ladder, ladder]).levels] == [level.names() for level in ladder.levels]
