"""Relations of well-known data sets that ask for an office, a religion, a sport, an instrument, a colour, a people."""

from __future__ import annotations

import pytest

from abstraction.errors import UnknownRelationError
from abstraction.questions.relation_wording import read_wording
from abstraction.relations import check_row


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
    told = read_wording(question)
    assert (told.relation, told.subject) == (relation, subject)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"trivial_groups": ["team"]}, r"relations\.json, P1: no trivial group 'team'; there are .*country, "),
        ({"subject": "sometihng"}, "P1: no subject 'sometihng'; there are any, organisation, person, place, work"),
        ({"trivial_grups": []}, "P1: no key 'trivial_grups'; there are asks, "),
        ({"id": "P19"}, "two rows for P19; give it one"),
    ],
)
def test_a_row_of_the_table_that_is_wrong_is_told(fields: dict[str, object], said: str) -> None:
    row = {"id": "P1", "label": "x", "asks": "any", **fields}
    with pytest.raises(UnknownRelationError, match=said):
        check_row(row, {"country": ["country"], "place": ["place"]}, {"P19"})
