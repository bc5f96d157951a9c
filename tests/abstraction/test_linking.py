"""Which namesake is meant, and what decided it."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstraction.base.relations import relation
from abstraction.base.tiers import Abstention
from abstraction.errors import UnknownLinkerError
from abstraction.linking.linker import Link, link_settings
from abstraction.maker.pipeline import LadderMaker
from kg.base.model import Entity, QuantityValue, Statement
from tests.thorough import examples
from tests.worlds import entity, maker, row, store_of, texts


def peopled(base: Entity, inhabitants: int) -> Entity:
    count = Statement(
        id=f"{base.id}$pop", subject=base.id, property="P1082", value=QuantityValue(amount=Decimal(inhabitants))
    )
    return Entity(
        id=base.id, labels=base.labels, descriptions=base.descriptions, aliases=base.aliases,
        statements=(*base.statements, count),
    )  # fmt: skip


USA = entity("Q30", "United States of America", aliases=["United States"], P31="Q3624078")
OHIO = entity("Q1397", "Ohio", P31="Q35657", P131="Q30")
TEXAS = entity("Q1439", "Texas", P31="Q35657", P131="Q30")
FRANCE = entity("Q142", "France", P31="Q3624078")


def linked(make: LadderMaker, text: str, prop: str, subject: str | None = None, question: str = "") -> Link:
    asked = relation(prop)
    return make.linker.link(text, asked, subjects=make.linker.subject_ids(subject, None, asked), question=question)


def test_the_only_one_of_the_right_class() -> None:
    make = maker(USA, OHIO, entity("Q1", "Columbus", P31="Q515", P131="Q1397"), entity("Q2", "Columbus", P31="Q11424"))
    assert linked(make, "Columbus", "P19") == Link(qid="Q1", confidence="medium", rule="only", share=1.0)


@pytest.mark.parametrize(
    ("text", "question", "code"),
    [
        ("Jupiter", "What is the largest planet?", "ambiguous-link"),  # a town, and a planet that is not there
        ("Jupiter", "Tell me.", "ambiguous-link"),
        ("Jupiter", "Where did they meet?", None),
        ("Palm Bay", "Tell me.", None),
    ],
)
def test_a_lone_namesake_is_doubted(text: str, question: str, code: str | None) -> None:
    florida = entity("Q812", "Florida", P31="Q35657", P17="Q30")
    towns = [entity("Q1", "Jupiter", P31="Q515", P131="Q812"), entity("Q2", "Palm Bay", P31="Q515", P131="Q812")]
    planet = entity("Q634", "planet", P279="Q6999")
    made = maker(USA, florida, planet, *towns).make(row(text, None, question=question))
    assert made.abstained == code
    assert all(link.get("confidence") != "high" for link in made.extra["links"])


@pytest.mark.parametrize(("text", "prop", "code"), [("Nowhere", "P19", "no-link"), ("Lens", "P19", "type-conflict")])
def test_abstention(text: str, prop: str, code: str) -> None:
    make = maker(entity("Q3", "Lens", "association football club in France", P31="Q476028"))
    assert linked(make, text, prop).abstained == Abstention(code)


def test_the_subjects_own_statement_decides() -> None:
    first = entity("Q10", "Salem", P31="Q515", P131="Q1397")
    second = entity("Q11", "Salem", P31="Q515", P131="Q1439")
    marion = entity("Q12", "Marion County", P31="Q47168", P36="Q11")
    link = linked(maker(USA, OHIO, TEXAS, first, second, marion), "Salem", "P36", "Marion County")
    assert (link.qid, link.confidence, link.rule, link.rivals) == ("Q11", "high", "statement", ())


def test_the_description_names_the_subject() -> None:
    first = entity("Q10", "Columbia", "city in South Carolina", P31="Q515")
    second = entity("Q11", "Columbia", "county seat of Boone County, Missouri", P31="Q515")
    boone = entity("Q12", "Boone County", P31="Q47168")
    link = linked(
        maker(first, second, boone), "Columbia", "P36", "Boone County", "What is the capital of Boone County?"
    )
    assert (link.qid, link.rule) == ("Q11", "described")


def test_a_capital_of_another_county_is_not_meant() -> None:
    oregon = entity("Q10", "Hillsboro", "county seat of Washington County, Oregon", P31="Q515")
    link = linked(maker(oregon), "Hillsboro", "P36", None, "What is the capital of Highland County?")
    assert link.abstained == Abstention.TYPE_CONFLICT


def test_the_subjects_place_decides() -> None:
    first = entity("Q10", "Paris", P31="Q515", P131="Q1439")
    second = entity("Q11", "Paris", P31="Q515", P17="Q142")
    painter = entity("Q12", "Paul", P31="Q5", P27="Q142")
    link = linked(maker(USA, TEXAS, FRANCE, first, second, painter), "Paris", "P20", "Paul")
    assert (link.qid, link.rule) == ("Q11", "place")


def test_label_before_alias_then_size_then_number_with_rivals() -> None:
    by_alias = entity("Q10", "New Town", aliases=["Newton"], P31="Q515")
    labelled = entity("Q11", "Newton", P31="Q515")
    assert linked(maker(by_alias, labelled), "Newton", "P19").rule == "label"
    small, large = entity("Q20", "Paris", P31="Q515"), entity("Q21", "Paris", P31="Q515")
    make = maker(peopled(small, 25_000), peopled(large, 2_000_000))
    assert (linked(make, "Paris", "P19").qid, linked(make, "Paris", "P19").rule) == ("Q21", "prominence")
    make = maker(peopled(small, 1_500_000), peopled(large, 2_000_000))
    link = linked(make, "Paris", "P19")
    assert (link.qid, link.confidence, link.rule, link.rivals) == ("Q21", "low", "prominence", ("Q20",))
    link = linked(maker(small, large), "Paris", "P19")
    assert (link.qid, link.confidence, link.rule, link.share) == ("Q20", "low", "smallest-id", 0.5)


def test_a_low_link_keeps_only_what_all_namesakes_share() -> None:
    wisconsin, dakota = entity("Q1537", "Wisconsin", P31="Q35657", P131="Q30"), entity(
        "Q1207", "North Dakota", P31="Q35657", P131="Q30")  # fmt: skip
    first = entity("Q50", "Dunn County", P31="Q47168", P131="Q1537")
    second = entity("Q51", "Dunn County", P31="Q47168", P131="Q1207")
    made = maker(USA, wisconsin, dakota, first, second).make(row("Dunn County", "P131", question="Where is it?"))
    assert texts(made) == [["United States of America"]]
    assert made.levels[0].tiers[0].qid is None
    apart = maker(USA, FRANCE, entity("Q52", "Paris", P31="Q515", P17="Q142"),
                  entity("Q53", "Paris", P31="Q515", P17="Q30")).make(row("Paris"))  # fmt: skip
    assert apart.abstained == "ambiguous-link"


def test_a_work_by_someone_else_is_not_the_persons() -> None:
    steinbeck = entity("Q39212", "John Steinbeck", P31="Q5")
    film = entity("Q60", "The Grapes of Wrath", "1940 film by John Ford", P31="Q11424", P57="Q51114")
    ford = entity("Q51114", "John Ford", P31="Q5")
    assert linked(maker(steinbeck, film, ford), "The Grapes of Wrath", "P800", "John Steinbeck").abstained == (
        Abstention.TYPE_CONFLICT
    )


def test_a_given_id_is_checked_against_what_is_asked() -> None:
    make = maker(entity("Q3", "Five", P31="Q11424"), entity("Q4", "Rome", P31="Q515"))
    assert make.linker.link_given_qid("Q3", relation("P19")).abstained == Abstention.TYPE_CONFLICT
    assert make.linker.link_given_qid("Q4", relation("P19")) == Link(qid="Q4", confidence="given", rule="given")
    assert make.linker.link_given_qid("Q999", relation("P19")).abstained == Abstention.NO_LINK


def test_a_borough_of_the_same_name_does_not_make_the_city_ambiguous() -> None:
    germany = entity("Q183", "Germany", P31="Q3624078")
    city = entity("Q586", "Bonn", "city in Germany", P31="Q515")
    borough = entity("Q892684", "Bonn", "district of the city of Bonn, Germany", P31="Q515")
    assert linked(maker(germany, city, borough), "Bonn", "P19").qid == "Q586"


def test_a_work_that_its_description_gives_to_another_is_not_meant() -> None:
    film = entity("Q61", "Slaughterhouse-Five", "1972 film by George Roy Hill", P31="Q11424")
    novel = entity("Q62", "Slaughterhouse-Five", "1969 novel by Kurt Vonnegut", P31="Q11424")
    asked = "What is Kurt Vonnegut famous for?"
    assert linked(maker(film), "Slaughterhouse-Five", "P800", None, asked).abstained == Abstention.TYPE_CONFLICT
    assert linked(maker(film, novel), "Slaughterhouse-Five", "P800", None, asked).qid == "Q62"


def test_a_plain_word_is_no_name_where_nothing_says_what_is_asked() -> None:
    make = maker(
        entity("Q231043", "Yes", "English rock band", P31="Q215380"),
        entity("Q20", "Norway", aliases=["NO", "no"], P31="Q3624078"),
        entity("Q8341", "jazz", P31="Q188451"),
    )
    assert linked(make, "jazz", "P9999").qid == "Q8341"
    for word in ("yes", "no"):
        assert make.make(row(word, None, question="Did he win?")).abstained == "yes-no"


def test_the_paper_s_linker_takes_the_smallest_id_whatever_is_asked() -> None:
    film, city = entity("Q1", "Columbus", P31="Q11424"), entity("Q2", "Columbus", P31="Q515", P17="Q142")
    store = store_of(FRANCE, film, city)
    link = LadderMaker(store, linker="smallest").linker.link("Columbus", relation("P19"))
    assert (link.qid, link.rule) == ("Q1", "smallest-id")
    assert texts(LadderMaker(store).make(row("Columbus"))) == [["France"]]
    with pytest.raises(UnknownLinkerError, match="unknown linker 'first'; expected one of question, smallest"):
        LadderMaker(store, linker="first")


def born_in(number: int, city: str) -> Entity:
    return entity(f"Q{number}", f"Person {number}", P31="Q5", P19=city)


def test_the_namesake_that_the_source_uses_most_is_meant() -> None:
    rare, usual = entity("Q10", "Springfield", P31="Q515"), entity("Q11", "Springfield", P31="Q515")
    link = linked(maker(rare, usual, *(born_in(i, "Q11") for i in range(100, 130))), "Springfield", "P19")
    assert (link.qid, link.rule) == ("Q11", "frequency")


def test_a_statement_of_the_subject_or_of_the_answer_leads_to_it() -> None:
    make = maker(entity("Q10", "Salem", P31="Q515"), entity("Q11", "Salem", P31="Q515"), born_in(100, "Q11"))
    assert make.linker.link("Salem", relation("P19"), subjects=["Q100"]).qid == "Q11"
    first, second = entity("Q10", "Anna", P31="Q5"), entity("Q11", "Anna", P31="Q5", P22="Q12")
    make = maker(first, second, entity("Q12", "Paul", P31="Q5"))
    assert make.linker.link("Anna", relation("P40"), subjects=["Q12"]).rule == "statement"


@pytest.mark.parametrize(("prop", "occupation", "expected"), [("P50", "Q36180", "Q11"), ("P175", "Q177220", "Q11")])
def test_occupations_that_answers_have_as_a_rule_count(prop: str, occupation: str, expected: str) -> None:
    make = maker(
        entity("Q937857", "footballer", P31="Q28640"),
        entity(occupation, "right", P31="Q28640"),
        entity("Q10", "John Smith", "footballer", P31="Q5", P106="Q937857"),
        entity("Q11", "John Smith", "artist", P31="Q5", P106=occupation),
    )
    link = linked(make, "John Smith", prop)
    assert (link.qid, link.rule) == (expected, "class")


def test_the_only_namesake_is_not_believed_where_much_speaks_against_it() -> None:
    """An unlikely author by an alias: a part of WikiData may lack the one that is meant."""
    player = entity("Q10", "Johnny Smith", aliases=["John Smith"], P31="Q5", P106="Q937857")
    football = entity("Q937857", "footballer", P31="Q28640")
    assert linked(maker(player, football), "John Smith", "P50").abstained == Abstention.AMBIGUOUS_LINK
    named = entity("Q10", "John Smith", P31="Q5", P106="Q937857")
    assert linked(maker(named, football), "John Smith", "P50").confidence == "medium"
    book = entity("Q12", "My Life", P31="Q7725634", P50="Q10")
    assert linked(maker(player, football, book), "John Smith", "P50", "My Life").rule == "only"


def test_a_lone_place_is_not_believed_where_a_county_elsewhere_bears_its_name() -> None:
    warren = entity("Q10", "Warren", P31="Q515", P131="Q1397")
    county = entity("Q11", "Warren County", P31="Q47168", P131="Q1439")
    world = (USA, OHIO, TEXAS)
    assert linked(maker(*world, warren, county), "Warren", "P19").abstained == Abstention.AMBIGUOUS_LINK
    assert linked(maker(*world, peopled(warren, 200_000), county), "Warren", "P19").qid == "Q10"
    around = entity("Q11", "Warren County", P31="Q47168", P131="Q1397")
    assert linked(maker(*world, warren, around), "Warren", "P19").qid == "Q10"
    spelt = entity("Q12", "Sevastopol", aliases=["Sebastopol"], P31="Q515")
    assert linked(maker(*world, spelt), "Sebastopol", "P19").abstained == Abstention.AMBIGUOUS_LINK


def test_the_film_of_ones_book_is_no_work_of_ones_own() -> None:
    writer = entity("Q10", "Ann Lee", "American writer", P31="Q5", P106="Q36180")
    film = entity("Q11", "The Wall", "2007 film based on a book by Ann Lee", P31="Q11424")
    assert linked(maker(writer, film), "The Wall", "P800", "Ann Lee").abstained == Abstention.TYPE_CONFLICT


def test_nobody_made_a_work_before_being_born() -> None:
    early = entity("Q10", "Anne Brown", P31="Q5", P569=1960)
    late = entity("Q11", "Anne Brown", P31="Q5", P569=1790, P570=1850)
    book = entity("Q12", "Letters", P31="Q7725634", P577=1830)
    link = linked(maker(early, late, book), "Anne Brown", "P50", "Letters")
    assert (link.qid, link.rule) == ("Q11", "time")


def test_what_an_actor_is_known_for_may_be_a_directors_film() -> None:
    film = entity("Q60", "Laura", "1944 film by Otto Preminger", P31="Q11424")
    actress = entity("Q61", "Gene Tierney", "American actress", P31="Q5")
    novelist = entity("Q62", "Vera Caspary", "American novelist", P31="Q5")
    make = maker(film, actress, novelist)
    assert linked(make, "Laura", "P800", "Gene Tierney").qid == "Q60"
    assert linked(make, "Laura", "P800", "Vera Caspary").abstained == Abstention.TYPE_CONFLICT


def test_the_state_decides_and_not_the_continent() -> None:
    europe = entity("Q46", "Europe", P31="Q5107")
    spain = entity("Q29", "Spain", P31="Q3624078", P30="Q46")
    france = entity("Q142", "France", P31="Q3624078", P30="Q46")
    first = entity("Q10", "Cordoba", P31="Q515", P17="Q142")
    second = entity("Q11", "Cordoba", P31="Q515", P17="Q29")
    person = entity("Q12", "Juan", P31="Q5", P27="Q29")
    link = linked(maker(europe, spain, france, first, second, person), "Cordoba", "P19", "Juan")
    assert (link.qid, link.rule) == ("Q11", "place")


def test_an_entity_of_unknown_class_is_taken_where_it_is_the_only_one() -> None:
    plain = entity("Q10", "Joe Roth", "somebody")
    assert linked(maker(plain), "Joe Roth", "P112").qid == "Q10"
    known = entity("Q11", "Joe Roth", P31="Q5")
    assert linked(maker(plain, known), "Joe Roth", "P112").qid == "Q11"


def test_rivals_stand_in_the_row_with_the_share_of_the_belief() -> None:
    first, second = entity("Q10", "Salem", P31="Q515", P17="Q142"), entity("Q11", "Salem", P31="Q515", P17="Q142")
    made = maker(FRANCE, first, second).make(row("Salem"))
    (note,) = made.extra["links"]
    assert (note["share"], note["rivals"], note["confidence"]) == (0.5, ["Q11"], "low")
    assert texts(made) == [["France"]]
    assert made.levels[0].tiers[0].qid is None


@settings(deadline=None, max_examples=examples(60))
@given(
    st.lists(
        st.tuples(st.sampled_from(["Q515", "Q5", "Q11424", "Q3624078", ""]), st.booleans(), st.integers(0, 300)),
        min_size=1, max_size=6,
    ),
    st.sampled_from(["P19", "P50", "P800", "P36", "P17", "P9999"]),
)  # fmt: skip
def test_a_link_is_one_of_those_that_carry_the_name_and_no_rival_of_itself(
    people: list[tuple[str, bool, int]], prop: str
) -> None:
    world = [
        entity(f"Q{100 + n}", "Alba" if labelled else f"Other {n}", aliases=["Alba"], sitelinks=links,
               **({"P31": kind} if kind else {}))
        for n, (kind, labelled, links) in enumerate(people)
    ]  # fmt: skip
    make = maker(*world)
    link = linked(make, "Alba", prop)
    assert link == linked(make, "Alba", prop)
    named = {e.id for e in world}
    assert (link.qid is None) == (link.abstained is not None)
    assert set(link.rivals) <= named - {link.qid}
    if link.qid is not None:
        assert link.qid in named
        assert link.share is not None
        assert 0 < link.share <= 1
        assert link.confidence != "low" or link.rivals


@pytest.mark.parametrize("name", sorted({n for names in link_settings()["rules"].values() for n in names}))
def test_every_sign_has_a_weight_and_one_rule(name: str) -> None:
    assert name in link_settings()["weights"]
    assert sum(name in names for names in link_settings()["rules"].values()) == 1
    assert set(link_settings()["weights"]) == {n for names in link_settings()["rules"].values() for n in names}


def test_a_state_goes_by_its_alias_before_what_is_called_just_that() -> None:
    world = [
        entity("Q148", "People's Republic of China", aliases=["China", "CHN"], P31="Q3624078", P361="Q29520"),
        entity("Q29520", "China", "cultural region in East Asia", P31="Q1620908"),
        entity("Q1620908", "cultural region", P279="Q82794"),
        entity("Q3503", "Congo", "river in central Africa", P31="Q4022"),
        entity("Q974", "Democratic Republic of the Congo", aliases=["Congo", "Zaire"], P31="Q3624078"),
        entity("Q6500954", "Zaire", "former state", P31="Q3024240", P576=1997),
        entity("Q29999", "Kingdom of the Netherlands", aliases=["Netherlands"], P31="Q3624078"),
        entity("Q55", "Netherlands", "country in western Europe", P31="Q6256"),
        entity("Q900", "Chn", "village in France", P31="Q532", P17="Q142"),
        FRANCE,
        *(entity(f"Q{900 + n}", f"Person {n}", P31="Q5", P20="Q148") for n in range(1, 9)),
    ]
    make = maker(*world)
    expected = {"China": "Q148", "Congo": "Q974", "Zaire": "Q6500954", "Netherlands": "Q55", "CHN": "Q900"}
    assert {text: linked(make, text, "P19").qid for text in expected} == expected
    assert linked(make, "China", "P19").confidence != "low"
