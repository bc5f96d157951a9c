"""Which namesake is meant, and what decided it."""

from __future__ import annotations

from decimal import Decimal

import pytest

from abstraction.linking import Link
from abstraction.pipeline import LadderMaker
from abstraction.relations import relation
from abstraction.tiers import Abstention
from kg.model import Entity, QuantityValue, Statement
from tests.worlds import entity, maker, row, texts


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
    return make.linker.link(text, asked, subjects=make.linker.subjects(subject, None, asked), question=question)


def test_the_only_one_of_the_right_class() -> None:
    make = maker(USA, OHIO, entity("Q1", "Columbus", P31="Q515", P131="Q1397"), entity("Q2", "Columbus", P31="Q11424"))
    assert linked(make, "Columbus", "P19") == Link(qid="Q1", confidence="high", rule="only", share=1.0)


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
    assert make.linker.given("Q3", relation("P19")).abstained == Abstention.TYPE_CONFLICT
    assert make.linker.given("Q4", relation("P19")) == Link(qid="Q4", confidence="given", rule="given")
    assert make.linker.given("Q999", relation("P19")).abstained == Abstention.NO_LINK


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
        assert make.make(row(word, None, question="Did he win?")).abstained == "no-link"
