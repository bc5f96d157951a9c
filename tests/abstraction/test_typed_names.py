"""Names said with what they are: believed where the entity is that, and of no namesake that is not."""

from __future__ import annotations

import pytest

from abstraction.base.relations import relation
from abstraction.linking.linker import Linker
from tests.tables import read_table
from tests.worlds import entity, maker

WORLD = maker(
    entity("Q148", "People's Republic of China", P31="Q3624078"),
    entity("Q1615742", "province of China", P279="Q10864048"),
    entity("Q515", "city", aliases=["urban area"], P279="Q486972"),
    entity("Q1549591", "big city", P279="Q515"),
    entity("Q3957", "town", P279="Q486972"),
    entity("Q11424", "film", aliases=["movie"], P279="Q386724"),
    entity("Q36834", "composer"),
    entity("Q43194", "Yunnan", P31="Q1615742", P17="Q148"),
    entity("Q182852", "Kunming", P31="Q1549591", P131="Q43194"),
    entity("Q456", "Lyon", P31="Q1549591"),
    entity("Q704", "Lyon", "football club in France", P31="Q476028"),
    entity("Q100", "Boston", P31="Q515"),
    entity("Q311975", "Boston", "town in Lincolnshire, England", P31="Q3957"),
    entity("Q103569", "Alien", "1979 film", P31="Q11424"),
    entity("Q4700", "Claude Debussy", "French composer (1862-1918)", P31="Q5", P106="Q36834"),
)


def linked(text: str, prop: str = "P19") -> str | None:
    return WORLD.linker.link(text, relation(prop)).qid


@pytest.mark.parametrize(("text", "qid"), read_table("typed_names"))
def test_places(text: str, qid: str | None) -> None:
    assert linked(text) == qid


@pytest.mark.parametrize(
    ("text", "prop", "qid"),
    [
        ("the composer Claude Debussy", "P86", "Q4700"),
        ("French composer Claude Debussy", "P86", "Q4700"),
        ("the poet Claude Debussy", "P86", None),
        ("the movie Alien", "P800", "Q103569"),
        ("Alien (movie)", "P800", "Q103569"),
    ],
)
def test_people_and_works(text: str, prop: str, qid: str | None) -> None:
    assert linked(text, prop) == qid


def test_in_a_chain_a_city_may_be_called_one() -> None:
    linker: Linker = WORLD.linker
    assert linker.find_typed("Kunming City") == ()
