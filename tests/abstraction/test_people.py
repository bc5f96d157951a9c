"""Ladders of persons: from the description, from statements, and what is left unsaid."""

from __future__ import annotations

import pytest

from abstraction.ladders.person_ladders import people
from kg.model import Entity
from tests.cases import case_in, case_of, check_sound, ladder, proposed
from tests.worlds import entity, maker

USA = entity("Q30", "United States of America", "country in North America", P31="Q3624078")
FRANCE = entity("Q142", "France", "country in Western Europe", P31="Q3624078")
UK = entity("Q145", "United Kingdom", "country in Western Europe", P31="Q3624078")
SOVIET = entity("Q15180", "Soviet Union", "former country", P31="Q3024240")
COMPOSER = entity("Q36834", "composer", "person who writes music", P31="Q28640", P279=["Q639669", "Q482980"])
MUSICIAN = entity("Q639669", "musician", "person who makes music", P31="Q28640")
AUTHOR = entity("Q482980", "author", "creator of a work", P31="Q28640")
COMEDIAN = entity("Q245068", "comedian", "person who makes people laugh", P31="Q28640", P279="Q33999")
ACTOR = entity("Q33999", "actor", "person who acts", aliases=["actress"], P31="Q28640")
POLITICIAN = entity("Q82955", "politician", "person in politics", P31="Q28640")
FILM_DIRECTOR = entity("Q2526255", "film director", "person who directs films", P31="Q28640", P279="Q3455803")
DIRECTOR = entity("Q3455803", "director", "person who directs", P31="Q28640")
WORLD = (USA, FRANCE, UK, SOVIET, COMPOSER, MUSICIAN, AUTHOR, COMEDIAN, ACTOR, POLITICIAN, FILM_DIRECTOR, DIRECTOR)
# Enough persons of each broad class that it is in use.
CROWD = tuple(
    entity(f"Q99{n:04}", f"N{n}", "person", P31="Q5", P106=["Q639669", "Q33999", "Q3455803", "Q482980"])
    for n in range(4)
)


def rungs(person: Entity, *others: Entity, relation_id: str = "P26", subject: str | None = None) -> list[list[str]]:
    return ladder(people, case_of(person, *WORLD, *CROWD, *others, relation_id=relation_id, subject=subject))


def person(description: str = "", **said: object) -> Entity:
    return entity("Q900500", "Ada Example", description, P31="Q5", **said)  # type: ignore[arg-type]


def test_occupation_nationality_and_the_broader_class() -> None:
    assert rungs(person("French composer", P106="Q36834", P27="Q142")) == [
        ["a French composer"],
        ["a composer", "a French musician"],
        ["a musician", "a French person"],
    ]


def test_several_occupations_share_a_level() -> None:
    made = rungs(person("American comedian, actor and composer"))
    assert made[0] == ["an American comedian", "an American actor", "an American composer"]
    assert "an American" in made[-1]


def test_a_false_superclass_is_no_tier() -> None:
    # The graph puts comedians under actors, which is no reason to call one so.
    assert "actor" not in str(rungs(person("American comedian")))


def test_a_listed_occupation_is_never_the_coarser_one() -> None:
    made = rungs(person("French composer and musician"))
    assert made[0] == ["a French composer", "a French musician"]


def test_modifiers_fall_one_by_one() -> None:
    assert rungs(person("American film director")) == [
        ["an American film director"],
        ["a film director", "an American director"],
        ["a director", "an American"],
    ]


def test_without_a_description_statements_speak() -> None:
    made = rungs(person(P106=["Q36834", "Q33999"], P27="Q142"))
    assert made[0] == ["a French composer", "a French actor"]


def test_two_citizenships_are_alternates_and_a_past_state_has_its_own_adjective() -> None:
    made = rungs(person(P106="Q36834", P27=["Q30", "Q142"]))
    assert made[0] == ["an American composer", "a French composer"]
    assert rungs(person(P106="Q36834", P27="Q15180"))[0] == ["a Soviet composer"]
    assert rungs(person(P106="Q36834", P27=["Q15180", "Q142"]))[0] == ["a French composer"]
    assert rungs(person(P106="Q36834", P27=[("Q30", {"end": 1950}), "Q142"]))[0] == ["a French composer"]


def test_english_is_british_where_the_graph_says_so() -> None:
    made = rungs(person("English composer", P27="Q145"))
    assert made[0] == ["an English composer"]
    assert {"a British composer", "an English musician"} <= set(made[1])
    assert "a British person" in made[-1]
    assert not any("British" in text for level in rungs(person("English composer")) for text in level)


def test_two_nationalities_stand_together() -> None:
    made = rungs(person("French-American composer", P27="Q30"))
    assert made[0] == ["a French-American composer"]
    assert "an American composer" in made[1]
    assert not any(text.startswith("a French composer") for level in made for text in level)


def test_an_office_with_its_ordinal() -> None:
    office = entity("Q900501", "Prime Minister of France", "head of government", P31="Q4164871")
    made = rungs(person("15th Prime Minister of France", P27="Q142", P39="Q900501"), office)
    assert made == [
        ["the 15th Prime Minister of France"],
        ["a Prime Minister of France"],
        ["a French politician"],
        ["a politician", "a French person"],
    ]


def test_offices_of_organisations_make_no_politician() -> None:
    made = rungs(person("President of the International Astronomical Union"))
    assert made == [["the President of the International Astronomical Union"]]


def test_an_office_that_only_repeats_the_name_is_told_by_its_rank() -> None:
    countess = entity("Q900502", "Margaret, Countess of Flanders", "Countess suo jure of Flanders", P31="Q5")
    made = rungs(countess)
    assert made == [["a Flemish noblewoman"], ["a noblewoman"]]


def test_kin_of_the_subject_is_left_out_and_kin_of_others_kept() -> None:
    joyce = entity("Q6882", "James Joyce", "Irish novelist", P31="Q5")
    wife = person("Wife of James Joyce")
    assert rungs(wife, joyce, relation_id="P40", subject="Q6882") == []
    assert rungs(wife, joyce, relation_id="P26") == []
    assert rungs(wife, relation_id="P40") == [["the wife of James Joyce"]]
    son = person("French composer, son of a General Duval")
    assert "General Duval" not in str(rungs(son, relation_id="P40"))


def test_the_subject_does_not_leak_through_an_office() -> None:
    emperor = entity("Q60949", "Emperor Shirakawa", "Emperor of Japan", P31="Q5")
    consort = person("Empress consort of Emperor Shirakawa of Japan")
    made = rungs(consort, emperor, subject="Q60949")
    assert made[0] == ["a Japanese empress consort"]
    assert "a Japanese noblewoman" in made[1]
    assert "Shirakawa" not in str(made)
    assert rungs(person("First Lady of France"), relation_id="P26") == []


def test_former_occupations_and_faith_are_no_tiers() -> None:
    made = rungs(person("Jewish American composer, and former lawyer"))
    text = str(made)
    assert "lawyer" not in text
    assert "Jewish" not in text
    assert made[0] == ["an American composer"]


def test_a_language_is_no_nationality() -> None:
    made = rungs(person("Russian language composer"))
    assert made[0] == ["a Russian-language composer"]
    assert "a Russian person" not in str(made)


def test_a_birthplace_is_a_modifier() -> None:
    made = rungs(person("German-born American composer"))
    assert made[0] == ["a German-born American composer"]
    assert made[1] == ["an American composer"]
    assert "German composer" not in str(made)


def test_figures_of_scripture_and_fiction() -> None:
    figure = entity("Q20643955", "human biblical figure", "person in the Bible", P31="Q28640")
    bible = entity("Q1845", "Bible", "collection of sacred books")
    made = rungs(
        entity("Q205523", "Zipporah", "biblical character, wife of Moses", P31="Q20643955", P1441="Q1845"),
        figure,
        bible,
        relation_id="P40",
    )
    assert {"the wife of Moses", "a character in the Bible"} <= set(made[0])
    assert "a biblical figure" in made[-1]


def test_a_wording_other_than_the_label_has_the_label_as_alias() -> None:
    found = proposed(people, case_of(person("French actress", P106="Q33999"), *WORLD, *CROWD))
    assert found["a French actress"].aliases == ("a French actor",)
    assert found["an actress"].aliases == ("an actor",)


def test_a_finer_label_is_no_other_name() -> None:
    director = entity("Q2526255", "film director", "person who directs films", aliases=["director"], P31="Q28640")
    found = proposed(people, case_of(person("French director", P106="Q2526255"), FRANCE, director, DIRECTOR))
    assert found["a French director"].aliases == ()
    # The statement still backs the wording.
    assert any(e.value == "Q2526255" for e in found["a French director"].evidence)


def test_evidence_points_at_words_and_statements() -> None:
    case = case_of(person("French composer", P106="Q36834", P27="Q142"), *WORLD, *CROWD)
    finest = proposed(people, case)["a French composer"].evidence
    words = [e.text[slice(*e.span)] for e in finest if e.text and e.span]
    assert words == ["French", "composer"]
    assert {(e.property, e.value) for e in finest if e.kind == "statement"} == {("P27", "Q142"), ("P106", "Q36834")}
    lifted = proposed(people, case)["a musician"].evidence
    assert [(e.subject, e.property, e.value) for e in lifted if e.property == "P279"] == [("Q36834", "P279", "Q639669")]
    assert all(e.statement for e in lifted if e.kind == "statement")


@pytest.mark.parametrize(
    "description",
    [
        "French composer", "English film director, comedian and actress", "15th Prime Minister of France",
        "French-American composer, King of France", "German nobleman, Count of Holstein and Schaumburg",
        "19th-century French composer; son of Napoleon", "biblical character", "", "actor",
        "first president of France, composer",
    ],
)  # fmt: skip
def test_proposals_are_sound(description: str) -> None:
    case = case_of(person(description, P106="Q36834", P27=["Q142", "Q145"]), *WORLD, *CROWD)
    check_sound(people(case), {"Q36834": {"Q639669"}, "Q2526255": {"Q3455803"}, "Q33999": {"Q33999"}})


def test_rare_classes_are_passed_over() -> None:
    world = maker(person("French composer", P106="Q36834", P27="Q142"), *WORLD, *CROWD)
    used = ladder(people, case_in(world, "Q900500"))
    assert "a musician" in used[-1]
    alone = maker(
        person("French composer", P27="Q142"), FRANCE, COMPOSER, MUSICIAN,
        *(entity(f"Q98{n:04}", f"M{n}", "person", P31="Q5", P106="Q36834") for n in range(3)),
    )  # fmt: skip
    assert ladder(people, case_in(alone, "Q900500")) == [["a French composer"], ["a composer", "a French person"]]


def test_offices_and_citizenships_that_ended_still_tell_the_dead() -> None:
    office = entity("Q50", "mayor of Strelsau")
    land = entity("Q51", "Ruritania", P31="Q3624078", P1549="Ruritanian")
    ended = {"P39": [("Q50", {"end": 1950})], "P27": [("Q51", {"end": 1955})]}
    dead = case_of(entity("Q10", "Rudolf", P31="Q5", P570=1955, **ended), office, land, relation_id="P26")
    assert ladder(people, dead)[0] == ["a mayor of Strelsau"]
    alive = case_of(entity("Q10", "Rudolf", P31="Q5", **ended), office, land, relation_id="P26")
    assert ladder(people, alive)[0] == ["a former mayor of Strelsau"]


@pytest.mark.parametrize(
    ("description", "finest"),
    [
        ("founder and first khan of the Mongol Empire", "the founder and first khan of the Mongol Empire"),
        ("French composer, protagonist of the movement", "a French composer"),
    ],
)
def test_the_first_in_a_post_is_one_and_a_protagonist_alone_says_nothing(description: str, finest: str) -> None:
    assert rungs(person(description, P27="Q142"))[0] == [finest]


def test_of_an_author_the_writer_is_named_and_of_a_performer_the_musician() -> None:
    poet = person("American painter, poet and actor")
    writer = entity("Q36180", "writer", P31="Q28640")
    others = (
        entity("Q49757", "poet", P31="Q28640", P279="Q36180"),
        entity("Q1028181", "painter", P31="Q28640"),
        writer,
    )
    assert rungs(poet, *others, relation_id="P50")[0] == ["an American poet"]
    assert len(rungs(poet, *others, relation_id="P26")[0]) == 3
    singer = person("American actor and composer")
    assert rungs(singer, relation_id="P175")[0] == ["an American composer"]
    assert rungs(person("American actor"), relation_id="P175")[0] == ["an American actor"]  # better than nothing


def test_who_held_an_office_once_is_one_of_its_holders() -> None:
    made = rungs(person("15th Prime Minister of France (1900-1970)", P106="Q82955", P27="Q142"))
    assert made[:2] == [["the 15th Prime Minister of France"], ["a Prime Minister of France"]]
    assert rungs(person("Prime Minister of France", P27="Q142"))[0] == ["the Prime Minister of France"]
    assert rungs(person("Prime Minister of France (1900-1970)", P27="Q142"))[0] == ["a Prime Minister of France"]
