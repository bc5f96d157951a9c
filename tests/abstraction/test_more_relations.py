"""Relations of well-known data sets that ask for an office, a religion, a sport, an instrument, a colour, a people."""

from __future__ import annotations

import pytest

from abstraction.errors import UnknownRelationError
from abstraction.questions.relation_wording import read_wording
from abstraction.relations import check_row
from abstraction.rows import TieredRow
from kg.model import Entity
from tests.worlds import entity, maker, row, texts

# Each world: what the source uses as the relation's values, and what stands above them.
OFFICES = (
    entity("Q30461", "president", "leader of a country", P31="Q4164871", P279="Q2285706"),
    entity("Q2285706", "head of government", "office", P31="Q4164871", P279="Q294414"),
    entity("Q294414", "public office", "position in government", P279="Q4164871"),
    entity("Q11696", "President of Gabon", "head of state of Gabon", P31="Q4164871", P279="Q30461", P17="Q1000"),
    entity("Q1000", "Gabon", "country in Africa", P31="Q3624078"),
    entity("Q4164871", "position"),
)
RELIGIONS = (
    entity("Q9174", "religion"),
    entity("Q5043", "Christianity", "religion", P31="Q9174", P279="Q47280"),
    entity("Q47280", "Abrahamic religion", "group of religions", P279="Q9174"),
    entity("Q1841", "Catholic Church", "Christian church", P31="Q43229", P279="Q5043", P17="Q237"),
    entity("Q237", "Vatican City", "city-state in Rome", P31="Q3624078"),
    entity("Q43229", "organization"),
    entity("Q11", "Ann Lee", P31="Q5", P140=["Q1841", "Q5043"]),
)
SPORTS = (
    entity("Q349", "sport", "physical activity"),
    entity("Q216048", "combat sport", "competitive contact sport", P279="Q349"),
    entity("Q32112", "boxing", "combat sport", P31="Q31629", P279="Q216048"),
    entity("Q31629", "type of sport"),
)
INSTRUMENTS = (
    entity("Q34379", "musical instrument", "tool to make music"),
    entity("Q1798603", "string instrument", "musical instrument with strings", P279="Q34379"),
    entity("Q6607", "guitar", "string instrument", P279="Q1798603"),
    entity("Q12", "Bo Lee", P31="Q5", P1303=["Q6607", "Q1798603", "Q34379"]),
)
COLOURS = (
    entity("Q1075", "color"),
    entity("Q1", "primary color", P279="Q1075"),
    entity("Q2722041", "web color", P279="Q1075"),
    entity("Q3142", "red", "colour", P31=["Q1", "Q2722041"], P279="Q1075"),
)
PEOPLES = (
    entity("Q41710", "ethnic group"),
    entity("Q842438", "Britons", "citizens of the United Kingdom", P31="Q41710"),
    entity("Q42406", "English people", "nation native to England", P31="Q41710", P279="Q842438"),
    entity("Q13", "Cy Lee", P31="Q5", P172=["Q842438", "Q42406"]),
)


@pytest.mark.parametrize(
    ("relation", "label", "world", "answer", "expected"),
    [
        ("P39", "position held", OFFICES, "President of Gabon",
         [["Gabonese president"], ["president"], ["head of government"]]),
        ("P140", "religion", RELIGIONS, "Catholic Church", [["Christianity"], ["Abrahamic religion"]]),
        ("P140", "religion", RELIGIONS, "Christianity", [["Abrahamic religion"]]),
        ("P641", "sport", SPORTS, "boxing", [["combat sport"]]),
        ("P641", "sport", SPORTS, "combat sport", []),
        ("P1303", "instrument", INSTRUMENTS, "guitar", [["string instrument"]]),
        ("P462", "color", COLOURS, "red", [["primary color"]]),
        ("P172", "ethnic group", PEOPLES, "English people", [["Britons"]]),
    ],
)  # fmt: skip
def test_each_asks_for_its_own_kind(
    relation: str, label: str, world: tuple[Entity, ...], answer: str, expected: list[list[str]]
) -> None:
    made: TieredRow = maker(*world, entity(relation, label)).make(row(answer, relation))
    assert texts(made) == expected


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
