"""Errors that the paper's audit found (Yona et al. 2024, Table 2), found by the graph alone."""

from __future__ import annotations

import pytest

from abstraction.base.tiers import Level, Tier
from abstraction.files.rows import TieredRow
from abstraction.verifying.tier_verdicts import Judge
from tests.worlds import entity, store_of

# Ids are made up.
STORE = store_of(
    entity("Q9030", "United States", P31="Q3624078"),
    entity("Q9031", "Utah", "state of the United States", P31="Q35657", P131="Q9030", P17="Q9030"),
    entity("Q9032", "public university", P279="Q3918"),
    entity("Q9033", "Southern Utah University", "public university in Utah", P31="Q9032", P131="Q9031", P17="Q9030"),
    entity("Q9034", "record label", P279="Q9035"),
    entity("Q9035", "organisation"),
    entity("Q9036", "Lyric Street Records", "American record label", P31="Q9034", P17="Q9030"),
    entity(
        "Q9037", "Vera Weizmann", "British physician", aliases=["Vera Chatzman", "Vera Weizmann Chatzman"], P31="Q5"
    ),
)


# Correctness (three names of one person: `alias` is another name of the answer), informativeness, and granularity (the
# third is finer than the second).
@pytest.mark.parametrize(
    ("question", "relation", "qid", "answers", "verdicts"),
    [
        ("Who is Chaim Weizmann married to?", "P26", "Q9037",
         ["Vera Weizmann", "Vera Chatzman", "Vera Weizmann Chatzman"], ["alias", "alias"]),
        ("What music label is Sarah Buxton represented by?", "P264", "Q9036",
         ["Lyric Street Records", "a music label"], ["uninformative"]),
        ("Who owns Eccles Coliseum?", "P127", "Q9033",
         ["Southern Utah University", "a public university", "a public university in Utah"],
         ["entailed", "finer_than_previous"]),
    ],
)  # fmt: skip
def test_the_errors_of_table_2(question: str, relation: str, qid: str, answers: list[str], verdicts: list[str]) -> None:
    first, *coarser = answers
    levels = (Level(tiers=(Tier(text=first, qid=qid),)), *(Level(tiers=(Tier(text=text),)) for text in coarser))
    row = TieredRow(id="r", question=question, answers=(first,), levels=levels, relation=relation)
    found = Judge(STORE).judge(row)
    assert [str(tier.verdict) for tier in found.tiers] == verdicts
