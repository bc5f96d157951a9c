"""Relations of well-known data sets that ask for an office, a religion, a sport, an instrument, a colour, a people."""

from __future__ import annotations

from dataclasses import fields

import pytest

from abstraction.base.properties import package_data
from abstraction.base.relations import Relation
from abstraction.text.questions.question_wording import read_relation_wording


@pytest.mark.parametrize(
    ("question", "relation", "subject"),
    [
        ("What sport does Ann Lee play?", "P641", "Ann Lee"),
        ("What instrument does Ann Lee play?", "P1303", "Ann Lee"),
        ("What position does Ann Lee play?", "P413", "Ann Lee"),
        ("What position did Ann Lee hold?", "P39", "Ann Lee"),
        ("What color is Mars?", "P462", "Mars"),
        ("What is the religion of Ann Lee?", "P140", "Ann Lee"),
        ("What is Rome the capital of?", "P1376", "Rome"),
        ("What is the capital of Rome?", "P36", "Rome"),
        ("Where is Ann Lee buried?", "P119", "Ann Lee"),
        ("What is the native language of Ann Lee?", "P103", "Ann Lee"),
        ("What is Ann Lee's ethnicity?", "P172", "Ann Lee"),
    ],
)
def test_their_wordings(question: str, relation: str, subject: str) -> None:
    told = read_relation_wording(question)
    assert (told.relation, told.subject) == (relation, subject)


def test_rows_of_the_table_have_known_keys() -> None:
    data = package_data("relations.json")
    rows = data["relations"]
    known = {one.name for one in fields(Relation)} | {"trivial_groups"}
    assert {key for row in rows for key in row} <= known
    assert {row.get("subject", "any") for row in rows} <= {"any", "organisation", "person", "place", "work"}
    assert {group for row in rows for group in row.get("trivial_groups", ())} <= set(data["trivial"])
    assert len({row["id"] for row in rows}) == len(rows)
