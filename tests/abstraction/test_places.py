"""Containers of an answer: by statement, by description, each filling the other's gaps."""

from __future__ import annotations

import pytest

from abstraction.descriptions.place_grammar import parse_place
from tests.worlds import entity, maker, row, texts

USA = entity("Q30", "United States of America", "sovereign state in North America", aliases=["United States", "USA"],
             P31="Q3624078", P30="Q49")  # fmt: skip
NORTH_AMERICA = entity("Q49", "North America", "continent", P31="Q5107")
OHIO = entity("Q1397", "Ohio", "state of the United States", P31="Q35657", P131="Q30")
UK = entity("Q145", "United Kingdom", "country in Western Europe", aliases=["UK"], P31="Q3624078", P30="Q46")
EUROPE = entity("Q46", "Europe", "continent", P31="Q5107")
ENGLAND = entity("Q21", "England", "country within the United Kingdom", P31="Q6256", P131="Q145")
MERSEYSIDE = entity("Q23100", "Merseyside", "county in England", P31="Q47168", P131="Q21")


@pytest.mark.parametrize(
    ("description", "units"),
    [
        ("town in Newton-le-Willows, St Helens, Merseyside, UK",
         ["Newton-le-Willows", "St Helens", "Merseyside", "United Kingdom"]),
        ("square in Munich, Germany", ["Munich", "Germany"]),
        ("city in and county seat of Pitkin County, Colorado, U.S.", ["Pitkin County", "Colorado", "United States"]),
        ("university system, Indiana, United States", ["Indiana", "United States"]),
        ("city near Boston, in Massachusetts", ["Massachusetts"]),
        ("art gallery in London housing the national collection", ["London"]),
        ("private university in Washington, D.C., United States", ["Washington D.C", "United States"]),
        ("county seat of Los Angeles County, California; second largest city in the United States",
         ["Los Angeles County", "California"]),
        ("city in Fulton County, Georgia, county seat of Fulton County and capital of Georgia",
         ["Fulton County", "Georgia"]),
        ("state in Yugoslavia 1944 and 1991", ["Yugoslavia"]),
        ("French painter", None),
        ("city", None),
    ],
)  # fmt: skip
def test_the_chain_of_a_description(description: str, units: list[str] | None) -> None:
    phrase = parse_place(description)
    assert (None if phrase is None else [unit.text for unit in phrase.units]) == units


def test_statements_lead_up_to_the_state_and_its_continent_and_no_further() -> None:
    make = maker(USA, NORTH_AMERICA, OHIO, entity("Q16567", "Columbus", P31="Q515", P131="Q1397"))
    made = make.make(row("Columbus"))
    assert texts(made) == [["Ohio"], ["United States of America"], ["North America"]]
    first = made.levels[1].tiers[0]
    assert first.qid == "Q1397"
    assert [(e.subject, e.property, e.value) for e in first.evidence] == [("Q16567", "P131", "Q1397")]
    assert first.evidence[0].statement == "Q16567$s2"
    assert "USA" in made.levels[2].tiers[0].aliases


def test_nations_of_the_united_kingdom_do_not_end_the_climb() -> None:
    make = maker(UK, EUROPE, ENGLAND, MERSEYSIDE, entity("Q24826", "Liverpool", P31="Q515", P131="Q23100"))
    assert texts(make.make(row("Liverpool"))) == [["Merseyside"], ["England"], ["United Kingdom"], ["Europe"]]


def test_a_description_fills_what_statements_lack_and_the_graph_fills_the_description() -> None:
    make = maker(
        UK, EUROPE, ENGLAND, MERSEYSIDE,
        entity("Q1748301", "Earlestown", "town in Newton-le-Willows, Merseyside, UK", P31="Q515"),
    )  # fmt: skip
    made = make.make(row("Earlestown"))
    assert texts(made) == [["Newton-le-Willows"], ["Merseyside"], ["England"], ["United Kingdom"], ["Europe"]]
    bare = made.levels[1].tiers[0]
    assert bare.qid is None
    evidence = bare.evidence[0]
    assert evidence.kind == "description"
    assert evidence.text is not None
    assert evidence.span is not None
    assert evidence.text[slice(*evidence.span)] == "Newton-le-Willows"


def test_the_rest_of_the_chain_tells_namesakes_apart() -> None:
    make = maker(
        USA, NORTH_AMERICA, EUROPE,
        entity("Q230", "Georgia", "country in the Caucasus", P31="Q3624078"),
        entity("Q1428", "Georgia", "state of the United States", P31="Q35657", P131="Q30"),
        entity("Q61007", "Fulton County", "county in Arkansas, United States", P31="Q47168"),
        entity("Q486633", "Fulton County", "county in Georgia, United States", P31="Q47168"),
        entity("Q23556", "Atlanta", "city in Fulton County, Georgia, United States", P31="Q515"),
    )  # fmt: skip
    made = make.make(row("Atlanta"))
    assert texts(made) == [
        ["Fulton County, Georgia"],
        ["Georgia, United States"],
        ["United States of America"],
        ["North America"],
    ]
    assert [level.tiers[0].qid for level in made.levels[1:]] == ["Q486633", "Q1428", "Q30", "Q49"]


def test_names_with_and_stay_whole_unless_a_plural_or_a_wide_thing_says_otherwise() -> None:
    make = maker(
        UK, EUROPE, ENGLAND,
        entity("Q100", "Windsor", "town in England", P31="Q515"),
        entity("Q101", "Maidenhead", "town in England", P31="Q515"),
        entity("Q192088", "Eton College", "school in Windsor and Maidenhead, UK", P31="Q3918"),
        entity("Q200", "Thames University", "university in Windsor and Maidenhead, England", P31="Q3918"),
    )  # fmt: skip
    assert texts(make.make(row("Eton College", "P69")))[0] == ["Windsor and Maidenhead"]
    # "in X and Y": in one of them, who knows which, and in what both lie in.
    assert texts(make.make(row("Thames University", "P69")))[0] == ["England"]


def test_ended_and_dissolved_containers_count_only_where_nothing_else_is_left() -> None:
    ussr = entity("Q15180", "Soviet Union", "former country in Eurasia", P31=["Q3624078", "Q3024240"], P576=1991)
    russia = entity("Q159", "Russia", "country in Eastern Europe", P31="Q3624078", P30="Q46")
    both = entity("Q656", "Saint Petersburg", P31="Q515",
                  P17=[("Q15180", {"start": 1922, "end": 1991}), "Q159"])  # fmt: skip
    silent = entity("Q657", "Leningrad", P31="Q515", P17=["Q15180", "Q159"])
    only = entity("Q658", "Atomgrad", P31="Q515", P17="Q15180")
    make = maker(ussr, russia, EUROPE, both, silent, only)
    assert texts(make.make(row("Saint Petersburg"))) == [["Russia"], ["Europe"]]
    assert texts(make.make(row("Leningrad"))) == [["Russia"], ["Europe"]]
    assert texts(make.make(row("Atomgrad"))) == []  # whose state of today nobody tells


def test_preferred_rank_decides_and_deprecated_never_counts() -> None:
    make = maker(
        USA, NORTH_AMERICA, UK, EUROPE, OHIO,
        entity("Q1", "Springdale", P31="Q515",
               P131=[("Q145", {"rank": "deprecated"}), "Q30", ("Q1397", {"rank": "preferred"})]),
    )  # fmt: skip
    assert texts(make.make(row("Springdale"))) == [["Ohio"], ["United States of America"], ["North America"]]


def test_the_historical_container_of_the_questions_date_stands_beside_todays() -> None:
    ottoman = entity("Q12560", "Ottoman Empire", "historical empire", P31=["Q3624078", "Q3024240"], P576=1922)
    turkey = entity("Q43", "Turkey", "country in Western Asia", P31="Q3624078", P30="Q48")
    istanbul = entity("Q406", "Istanbul", P31="Q515", aliases=["Constantinople"],
                      P17=[("Q12560", {"start": 1453, "end": 1922}),
                           ("Q43", {"start": 1923, "rank": "preferred"})])  # fmt: skip
    person = entity("Q900", "Gracia Mendes", P31="Q5", P570=1569)
    make = maker(ottoman, turkey, istanbul, person, entity("Q48", "Asia", P31="Q5107"))
    dated = make.make(row("Constantinople", "P20", subject="Gracia Mendes", question="Where did she die?"))
    assert texts(dated) == [["Ottoman Empire", "Turkey"], ["Asia"]]
    assert texts(make.make(row("Constantinople", "P20", question="Where did she die?"))) == [["Turkey"], ["Asia"]]


def test_what_was_gone_at_the_questions_date_tells_nothing_of_it() -> None:
    """Statements without times: the Weimar Republic had ended when she was born, the German Empire had not."""
    germany = entity("Q183", "Germany", "country in Central Europe", P31="Q3624078", P30="Q46")
    weimar = entity("Q41304", "Weimar Republic", "historical country", P31="Q3024240", P571=1918, P576=1933)
    empire = entity("Q43287", "German Empire", "historical country", P31="Q3024240", P571=1871, P576=1918)
    saxony = entity("Q1202", "Saxony", "state in Germany", P31="Q35657", P131=["Q41304", "Q43287"])
    leipzig = entity("Q2079", "Leipzig", "city in Saxony", P31="Q515", P131="Q1202")
    born = [entity(f"Q90{n}", f"Person {n}", P31="Q5", P569=year) for n, year in ((1, 1954), (2, 1900))]
    make = maker(EUROPE, germany, weimar, empire, saxony, leipzig, *born)
    undated = texts(make.make(row("Leipzig", "P19")))
    assert undated[0] == ["Saxony"]
    assert ["Germany"] in undated
    assert texts(make.make(row("Leipzig", "P19", subject="Person 1"))) == undated
    assert ["Germany"] not in texts(make.make(row("Leipzig", "P19", subject="Person 2")))


def test_a_country_climbs_to_its_region_and_continent() -> None:
    turkey = entity("Q43", "Turkey", "country straddling Southeastern Europe and Western Asia", P31="Q3624078",
                    P30=["Q46", "Q48"])  # fmt: skip
    france = entity("Q142", "France", "country in Western Europe", P31="Q3624078", P30=["Q46", "Q15"])
    make = maker(turkey, france, EUROPE, USA, NORTH_AMERICA, entity("Q48", "Asia", P31="Q5107"),
                 entity("Q15", "Africa", P31="Q5107"))  # fmt: skip
    ask = "Which country is it located in?"
    assert texts(make.make(row("Turkey", "P17", question=ask))) == [
        ["a country in Southeastern Europe and Western Asia"],
        ["a country in Asia and Europe"],
    ]
    assert texts(make.make(row("France", "P17", question=ask))) == [
        ["a country in Western Europe"],
        ["a country in Europe"],
    ]
    assert texts(make.make(row("United States", "P495", question="Where was it made?"))) == [["North America"]]


def test_circles_in_the_graph_end() -> None:
    make = maker(
        entity("Q1001", "Ada", P31="Q515", P131="Q1002"),
        entity("Q1002", "Bada", P31="Q515", P131=["Q1003", "Q1002"]),
        entity("Q1003", "Cada", P31="Q515", P131=["Q1001", "Q1002"]),
    )
    assert texts(make.make(row("Ada"))) == [["Bada"], ["Cada"]]


def test_constituencies_are_climbed_through_and_leave_their_evidence() -> None:
    make = maker(
        USA, NORTH_AMERICA, OHIO,
        entity("Q70", "electoral district", P279="Q47168"),
        entity("Q71", "Ward Nine", P31="Q70", P131="Q1397"),
        entity("Q72", "Hillside", P31="Q515", P131="Q71"),
    )  # fmt: skip
    made = make.make(row("Hillside"))
    assert texts(made) == [["Ohio"], ["United States of America"], ["North America"]]
    assert [(e.subject, e.value) for e in made.levels[1].tiers[0].evidence] == [("Q72", "Q71"), ("Q71", "Q1397")]


def test_a_demonym_in_the_description_gives_the_country() -> None:
    make = maker(
        entity("Q38", "Italy", "country in Southern Europe", P31="Q3624078", P30="Q46"), EUROPE,
        entity("Q2751", "Siena", "Italian comune", P31="Q515"),
    )  # fmt: skip
    made = make.make(row("Siena"))
    assert texts(made) == [["Italy"], ["Europe"]]
    assert made.levels[1].tiers[0].evidence[0].text == "Italian comune"


def test_a_place_that_owns_or_founds_is_told_as_a_thing_not_as_a_where() -> None:
    kuwait = entity("Q817", "Kuwait", "country in Western Asia", P31="Q3624078", P30="Q48")
    vannes = entity("Q6593", "Vannes", "commune in Morbihan, France", P31="Q515")
    france = entity("Q142", "France", "country in Western Europe", P31="Q3624078")
    make = maker(kuwait, vannes, france, entity("Q48", "Asia", P31="Q5107"))
    assert texts(make.make(row("Kuwait", "P112", question="Who founded it?"))) == [
        ["a country in Western Asia"],
        ["a country in Asia"],
    ]
    assert texts(make.make(row("Vannes", "P127", question="Who owns it?"))) == [
        ["a city in Morbihan"],
        ["a city in France"],
        ["a city"],
    ]


def test_a_description_in_the_row_serves_where_the_snapshot_knows_nothing() -> None:
    make = maker(UK, EUROPE, ENGLAND)
    described = row("Highgate School", "P69", qid="Q555", extra={"answer_entity_description": "school in Haringey, UK"})
    assert texts(make.make(described)) == [["Haringey"], ["United Kingdom"]]
    assert make.make(row("Highgate School", "P69", qid="Q555")).abstained == "no-link"
    assert texts(make.make(described)) == [["Haringey"], ["United Kingdom"]]


def test_a_city_that_once_was_a_state_is_a_city() -> None:
    italy = entity("Q38", "Italy", "country in Southern Europe", P31="Q3624078", P30="Q46")
    florence = entity("Q2044", "Florence", P31=["Q3024240", "Q515"], P17="Q38", P30="Q46")
    assert texts(maker(italy, florence, EUROPE).make(row("Florence"))) == [["Italy"], ["Europe"]]


def test_parts_of_the_world_stand_above_states() -> None:
    england = entity("Q21", "England", "country in north-west Europe, part of the United Kingdom", P31="Q6256")
    make = maker(UK, EUROPE, england, entity("Q458", "European Union", aliases=["Europe"], P31="Q6256"))
    assert texts(make.make(row("England"))) == [["United Kingdom"], ["Europe"]]


def test_an_alias_alone_is_not_believed_of_a_place() -> None:
    city = entity("Q2145", "Quebec City", aliases=["Quebec"], P31="Q515", P17="Q16")
    montreal = entity("Q340", "Montreal", "largest city in Quebec, Canada", P31="Q515")
    make = maker(entity("Q16", "Canada", P31="Q3624078"), city, montreal)
    made = make.make(row("Montreal"))
    assert texts(made) == [["Quebec"], ["Canada"]]
    assert made.levels[1].tiers[0].qid is None


def test_a_continent_stands_only_above_what_lies_on_it_whole() -> None:
    denmark = entity("Q35", "Denmark", "country in northern Europe", P31="Q3624078", P30="Q46")
    turkey = entity("Q43", "Turkey", "country in Southeastern Europe and Western Asia", P31="Q3624078",
                    P30=["Q46", "Q48"])  # fmt: skip
    overseas = entity("Q161243", "dependent territory")
    make = maker(
        denmark, turkey, EUROPE, overseas,
        entity("Q48", "Asia", P31="Q5107"), entity("Q49", "North America", P31="Q5107"),
        entity("Q25", "Aarhus", P31="Q515", P17="Q35"),
        entity("Q223", "Norland", P31="Q161243", P131="Q35"),
        entity("Q226", "Nuuk", P31="Q515", P131="Q223"),
        entity("Q227", "Lone Rock", "island in the Caribbean", P31="Q515", P17="Q35"),
        entity("Q228", "Sisimi", P31="Q515", P17="Q35", P30="Q49"),
        entity("Q406", "Istan", P31="Q515", P17="Q43"),
        entity("Q407", "Ankar", P31="Q515", P17="Q43", P30="Q48"),
    )  # fmt: skip
    assert texts(make.make(row("Aarhus"))) == [["Denmark"], ["Europe"]]
    assert texts(make.make(row("Nuuk"))) == [["Norland"]]
    assert texts(make.make(row("Lone Rock"))) == [["Caribbean", "Denmark"]]
    assert texts(make.make(row("Sisimi"))) == [["Denmark", "North America"]]
    assert texts(make.make(row("Istan"))) == [["Turkey"]]
    assert texts(make.make(row("Ankar"))) == [["Turkey"], ["Asia"]]


def test_a_continent_takes_no_finer_places_level() -> None:
    chain = [entity(f"Q{2000 + n}", f"Part {n}", P31="Q515", P131=f"Q{2001 + n}") for n in range(4)]
    make = maker(USA, NORTH_AMERICA, *chain, entity("Q2004", "Part 4", P31="Q35657", P131="Q30"))
    parts = [[f"Part {n}, Part 4"] for n in (1, 2, 3)]
    assert texts(make.make(row("Part 0"))) == [*parts, ["Part 4"],
                                               ["United States of America"]]  # fmt: skip


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ("port in Greece, part of Athens urban area", [["Athens"], ["Greece"], ["Europe"]]),
        ("autonomous city of Greece in North Africa", [["Greece", "North Africa"]]),
        ("sea between Italy and Albania in the west, and Crete in the south", []),
        ("town in Thrace or Macedonia, Greece", []),
    ],
)
def test_a_description_whose_words_stand_in_no_order(description: str, expected: list[list[str]]) -> None:
    make = maker(
        EUROPE,
        entity("Q41", "Greece", "country in Southeastern Europe", P31="Q3624078", P30="Q46"),
        entity("Q1524", "Athens", P31="Q515", P17="Q41"),
        entity("Q900", "Porto Nuovo", description, P31="Q515"),
    )
    assert texts(make.make(row("Porto Nuovo"))) == expected


def test_a_division_without_a_known_state_lies_in_the_answers_state() -> None:
    make = maker(
        EUROPE,
        entity("Q183", "Germany", "country in Central Europe", P31="Q3624078", P30="Q46"),
        entity("Q1197", "Lower Saxony", P31="Q10864048", P131="Q99999"),
        entity("Q1715", "Hanover", P31="Q515", P131="Q1197", P17="Q183"),
    )
    assert texts(make.make(row("Hanover"))) == [["Lower Saxony"], ["Germany"], ["Europe"]]


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ("city in New Freeland's South Island", [["South Island"], ["New Freeland"]]),
        ("town in Aqmola Region of northern New Freeland", [["Aqmola Region"], ["New Freeland"]]),
        ("county in Eastern New Freeland", [["Eastern New Freeland"], ["New Freeland"]]),
        ("commune in Bouches, the second largest city of New Freeland", [["Bouches"], ["New Freeland"]]),
        ("city in the Centre Region, New Freeland", [["Centre-Val"], ["New Freeland"]]),
        ("city in Ada County and Ida County, New Freeland", [["New Freeland"]]),
        ("town at the mouth of the River Tyne, New Freeland", [["New Freeland"]]),
        ("land of the Basque people", []),
        ("town in Garden City, New Freeland", [["Garden City"], ["New Freeland"]]),
    ],
)
def test_two_names_in_one_are_taken_apart(description: str, expected: list[list[str]]) -> None:
    make = maker(
        entity("Q900", "New Freeland", "country", P31="Q3624078"),
        entity("Q901", "Singland", "country", aliases=["Garden City"], P31="Q3624078"),
        entity("Q902", "Centre-Val", "region of New Freeland", aliases=["Centre Region"], P31="Q10864048"),
        entity("Q903", "Newtown", description, P31="Q515"),
    )
    assert texts(make.make(row("Newtown"))) == expected


def test_a_region_stands_in_p361_and_a_division_is_no_part_of_another() -> None:
    make = maker(
        USA, NORTH_AMERICA, OHIO,
        entity("Q300", "Maine", P31="Q35657", P131="Q30", P361="Q1397"),
        entity("Q301", "Portville", P31="Q515", P361="Q1397"),
    )  # fmt: skip
    assert texts(make.make(row("Portville"))) == [["Ohio"], ["United States of America"], ["North America"]]
    assert texts(make.make(row("Maine"))) == [["United States of America"], ["North America"]]


def test_what_sits_there_is_no_place() -> None:
    congress = entity("Q11268", "Assembly of Ohio", "legislature of Ohio", P31="Q43229")
    capitol = entity("Q54109", "Capitol", "seat of the Assembly of Ohio", P31="Q515")
    make = maker(USA, NORTH_AMERICA, OHIO, congress, capitol, entity("Q43229", "organization"))
    assert texts(make.make(row("Capitol"))) == []


def test_what_is_in_one_of_several_places_lies_in_what_holds_them_all() -> None:
    town = entity("Q500", "Twin Falls", P31="Q515", P131=["Q501", "Q502"])
    counties = [entity(f"Q50{n}", f"County {n}", P31="Q47168", P131="Q1397") for n in (1, 2)]
    make = maker(USA, NORTH_AMERICA, OHIO, town, *counties, entity("Q503", "Old Mill", P31="Q515", P131="Q500"))
    above = [["Ohio"], ["United States of America"], ["North America"]]
    assert texts(make.make(row("Twin Falls"))) == above
    assert texts(make.make(row("Old Mill"))) == [["Twin Falls, Ohio"], *above]


def test_a_river_through_several_states_lies_in_none_of_them() -> None:
    upper, lower = (entity(f"Q60{n}", f"Land {n}", "country in Europe", P31="Q3624078", P30="Q46") for n in (1, 2))
    make = maker(
        EUROPE, upper, lower,
        entity("Q603", "Source", P31="Q35657", P131="Q601"), entity("Q604", "Delta", P31="Q35657", P131="Q602"),
        entity("Q605", "Long River", P31="Q4022", P131=["Q603", "Q604"]),
        entity("Q606", "Border River", P31="Q4022", P17=["Q601", "Q602"]),
        entity("Q607", "Third Land", "country in Europe", P31="Q3624078", P30="Q46"),
        entity("Q608", "Wide River", "river of Third Land, Land 1 and Land 2", P31="Q4022"),
        entity("Q609", "Two Towns", "city in Source", P31="Q515", P131=["Q603", "Q610"]),
        entity("Q610", "Inner County", P31="Q47168", P131="Q603"),
    )  # fmt: skip
    for river in ("Long River", "Border River", "Wide River"):
        assert texts(make.make(row(river))) == [["Europe"]], river
    assert texts(make.make(row("Two Towns"))) == [["Inner County, Source"], ["Source"], ["Land 1"], ["Europe"]]


def test_a_campus_in_two_cities_is_in_their_country_alone() -> None:
    china = entity("Q148", "China", P31="Q3624078")
    cities = [entity(f"Q61{n}", f"City {n}", P31="Q515", P17="Q148") for n in (1, 2)]
    make = maker(china, *cities, entity("Q613", "Twin University", P31="Q3918", P276=["Q611", "Q612"]))
    assert texts(make.make(row("Twin University", "P69"))) == [["China"]]


def test_what_bears_the_same_name_and_is_no_larger_is_no_level() -> None:
    boroughs = [entity(f"Q62{n}", f"London Borough of {name}", P31="Q9") for n, name in enumerate(("A", "B"))]
    kinds = (entity("Q2039348", "municipality of the Netherlands"), entity("Q134390", "province of the Netherlands"))
    make = maker(
        UK, EUROPE, ENGLAND, *boroughs, *kinds,
        entity("Q23306", "Greater London", P31="Q1", P131="Q21", P150=["Q620", "Q621"]),
        entity("Q84", "London", P31="Q515", P131="Q23306"),
        entity("Q23525", "Greater Manchester", P31="Q1", P131="Q21"),
        entity("Q18125", "Manchester", P31="Q515", P131="Q23525"),
        entity("Q29999", "Kingdom of the Netherlands", P31="Q3624078"),
        entity("Q55", "Netherlands", P31="Q6256", P131="Q29999"),
        entity("Q9899", "Amsterdam", P31="Q2039348", P131="Q55"),
        entity("Q727", "Amsterdam", P31="Q515", P131="Q9899"),
        entity("Q752", "Utrecht", aliases=["Utrecht Province"], P31="Q134390", P131="Q55"),
        entity("Q749", "Utrecht", P31="Q515", P131="Q752"),
        entity("Q630", "Tower", P31="Q41176", P131="Q84"),
    )  # fmt: skip
    assert texts(make.make(row("London"))) == [["England"], ["United Kingdom"], ["Europe"]]
    tower = make.make(row("Tower", "P276"))
    assert texts(tower) == [["London"], ["England"], ["United Kingdom"], ["Europe"]]
    assert "Greater London" in tower.levels[1].tiers[0].aliases
    assert texts(make.make(row("Manchester")))[0] == ["Greater Manchester"]
    assert texts(make.make(row("Amsterdam", qid="Q727"))) == [["Netherlands"]]
    assert texts(make.make(row("Utrecht", qid="Q749"))) == [["Utrecht Province"], ["Netherlands"]]


def test_a_state_in_two_parts_of_the_world_lies_in_both_and_in_neither_alone() -> None:
    asia = entity("Q48", "Asia", P31="Q5107")
    union = entity("Q15180", "Union", "socialist state in Eastern Europe and Northern Asia", P31="Q3624078",
                   P30=["Q46", "Q48"])  # fmt: skip
    realm = entity("Q29999", "Realm", "sovereign state in Western Europe and the Caribbean", P31="Q3624078",
                   P30=["Q46", "Q49"])  # fmt: skip
    make = maker(EUROPE, asia, NORTH_AMERICA, union, realm)
    question = "Which country is it located in?"
    assert texts(make.make(row("Union", "P17", question=question))) == [
        ["a country in Eastern Europe and Northern Asia"], ["a country in Asia and Europe"],
    ]  # fmt: skip
    made = texts(make.make(row("Realm", "P17", question=question)))
    assert made == [["a country in Western Europe and the Caribbean"]]


def test_a_dependent_territory_is_no_part_of_the_state_that_governs_it() -> None:
    classes = (
        entity("Q161243", "dependent territory"),
        entity("Q46395", "British Overseas Territories", P279="Q161243"),
        entity("Q783733", "unincorporated territory", P279="Q161243"),
        entity("Q1352230", "territory of the United States"),
        entity("Q36784", "region of France"),
    )
    make = maker(
        UK, EUROPE, USA, NORTH_AMERICA, *classes,
        entity("Q142", "France", P31="Q3624078", P30="Q46"),
        entity("Q1410", "Gibraltar", "British Overseas Territory", P31="Q46395", P131="Q145", P17="Q145"),
        entity("Q1183", "Puerto Rico", "unincorporated territory of the United States",
               P31=["Q783733", "Q1352230"], P131="Q30"),
        entity("Q640", "Utuado", "municipality of Puerto Rico, United States", P31="Q515", P131="Q1183", P17="Q30"),
        entity("Q17070", "Reunion", P31=["Q161243", "Q36784"], P131="Q142"),
    )  # fmt: skip
    assert texts(make.make(row("Gibraltar"))) == [["a British overseas territory"]]
    assert texts(make.make(row("Utuado"))) == [["Puerto Rico"], ["a territory of the United States"]]
    assert texts(make.make(row("Reunion")))[0] == ["France"]


def test_of_two_divisions_the_description_tells_todays() -> None:
    make = maker(
        USA, NORTH_AMERICA, OHIO,
        entity("Q510", "Great Territory", P31="Q35657", P131="Q30"),
        entity("Q511", "Fort Ed", "city in Ohio, USA", P31="Q515", P131=["Q510", "Q1397"]),
    )  # fmt: skip
    assert texts(make.make(row("Fort Ed"))) == [["Ohio"], ["United States of America"], ["North America"]]


def test_a_step_stands_before_what_holds_it_whatever_the_words_order() -> None:
    make = maker(
        UK, EUROPE, ENGLAND,
        entity("Q84", "London", P31="Q515", P131="Q21"),
        entity("Q179351", "City of Westminster", "borough in London", P31="Q515"),
        entity("Q189960", "Soho", "area of central London, within the City of Westminster", P31="Q515"),
    )  # fmt: skip
    assert texts(make.make(row("Soho"))) == [
        ["the City of Westminster"], ["London"], ["England"], ["United Kingdom"], ["Europe"],
    ]  # fmt: skip


def test_a_country_in_a_larger_realm_has_its_own_region() -> None:
    make = maker(
        EUROPE,
        entity("Q29999", "Kingdom of the Lowlands", "sovereign state in the Caribbean",
               P31="Q3624078", P30=["Q46", "Q49"]),
        entity("Q27496", "Western Europe", P31="Q82794"), entity("Q664609", "Caribbean", P31="Q82794"),
        entity("Q82794", "region"), entity("Q49", "North America", P31="Q5107"),
        entity("Q55", "Lowlands", "country in western Europe", P31="Q6256", P131="Q29999", P30="Q46"),
    )  # fmt: skip
    made = texts(make.make(row("Lowlands", "P17", question="Which country is it located in?")))
    assert made == [["a country in Western Europe"], ["a country in Europe"]]


def test_a_river_or_lake_lies_where_its_description_says() -> None:
    make = maker(
        USA, NORTH_AMERICA, OHIO, entity("Q4022", "river"), entity("Q23397", "lake"),
        entity("Q610", "Long River", "river in the United States", P31="Q4022", P131="Q1397", P17="Q30"),
        entity("Q611", "Wide Lake", "large lake in North America", P31="Q23397", P17="Q30"),
        entity("Q612", "Far Ocean", "ocean between Europe, North America and Africa", P31="Q9430"),
    )  # fmt: skip
    assert texts(make.make(row("Long River"))) == [["United States of America"], ["North America"]]
    assert texts(make.make(row("Wide Lake"))) == [["North America"]]
    assert texts(make.make(row("Far Ocean"))) == []


def test_what_lies_in_two_states_lies_in_neither_alone() -> None:
    states = [entity(f"Q62{n}", f"{way} Dakota", P31="Q35657", P131="Q30") for n, way in enumerate(("North", "South"))]
    make = maker(USA, NORTH_AMERICA, *states, entity("Q625", "Wide Lake", "reservoir, in South and North Dakota"))
    assert texts(make.make(row("Wide Lake")))[0] == ["United States of America"]


def test_a_county_that_is_its_city_is_no_level() -> None:
    make = maker(
        USA, NORTH_AMERICA, OHIO,
        entity("Q630", "Bayville", "city in Ohio", P31="Q515", P131="Q631"),
        entity("Q631", "Bayville County", "county, coextensive with the city of Bayville, Ohio", P31="Q47168",
               P131="Q1397"),
    )  # fmt: skip
    assert texts(make.make(row("Bayville")))[0] == ["Ohio"]


def test_what_statement_and_description_put_apart_is_in_what_holds_both() -> None:
    make = maker(
        UK, EUROPE, ENGLAND, MERSEYSIDE, entity("Q23077", "Lancashire", "county in England", P31="Q47168", P131="Q21"),
        entity("Q24826", "Harbour", "city in Lancashire, England", P31="Q515", P131="Q23100"),
    )  # fmt: skip
    assert texts(make.make(row("Harbour"))) == [["England"], ["United Kingdom"], ["Europe"]]


def test_a_suburb_lies_in_its_city_only_where_statements_say_so() -> None:
    county = entity("Q108", "Summit County", "county in Ohio", P31="Q47168", P131="Q1397")
    city = entity("Q163132", "Akron", "city in Ohio", P31="Q515", P131="Q108")
    beside = entity("Q1", "Fairlawn", "suburb of Akron, Ohio", P31="Q515", P131="Q108")
    inside = entity("Q2", "Firestone Park", "suburb of Akron, Ohio", P31="Q515", P131="Q163132")
    unstated = entity("Q3", "Copley", "suburb of Akron, Ohio", P31="Q515")
    make = maker(USA, NORTH_AMERICA, OHIO, county, city, beside, inside, unstated)
    found = {name: [t for level in texts(make.make(row(name))) for t in level] for name in
             ("Fairlawn", "Firestone Park", "Copley")}  # fmt: skip
    assert found["Fairlawn"][0].startswith("Summit County")
    assert found["Firestone Park"][0].startswith("Akron")
    assert found["Copley"][0].startswith("Akron")


def test_what_is_yet_to_come_has_not_ended_nor_begun() -> None:
    here = entity("Q12", "Northshire", "county", P31="Q10864048")
    there = entity("Q13", "Southshire", "county", P31="Q10864048")
    moving = entity("Q11", "Swap", P31="Q515", P131=[("Q12", {"end": 2990}), ("Q13", {"start": 2990})])
    made = maker(here, there, moving).make(row("Swap", "P19", question="Where was Zed born?"))
    assert texts(made) == [["Northshire"]]


def test_a_state_that_is_no_more_holds_nothing_of_today() -> None:
    empire = entity("Q12", "Mughal Empire", "historical country", P31="Q3024240", P576=1857)
    town = entity("Q11", "Varanasi", P31="Q515", P17="Q12")
    assert texts(maker(empire, town).make(row("Varanasi", "P20", question="Where did Ann die?"))) == []
