"""The noun of "Which novel ...?" in linking."""

from __future__ import annotations

import pytest

from abstraction.base.relations import ANY, relation
from abstraction.base.tiers import Abstention
from abstraction.linking.candidates import AskedNouns
from abstraction.linking.linker import Link
from abstraction.maker.pipeline import LadderMaker
from kg.base.model import Entity
from tests.worlds import entity, maker

VESSEL = entity("Q16391167", "watercraft", P279="Q42889")
BATTLESHIP = entity("Q182531", "battleship", P279="Q16391167")
NOVEL = entity("Q8261", "novel", P279="Q571")
SERIES = entity("Q5398426", "television series", P279="Q17537576")
FILM = entity("Q11424", "film", P279="Q17537576")
CITY = entity("Q515", "city", P279="Q486972")
TOLSTOY = entity("Q7243", "Leo Tolstoy", "Russian writer", P31="Q5")
BOOK = entity("Q161531", "War and Peace", "novel by Leo Tolstoy", P31="Q7725634", P50="Q7243")
ON_TV = entity("Q7968572", "War and Peace", "1972 TV series", sitelinks=90, P31="Q5398426", P50="Q7243")
ON_SCREEN = entity("Q643811", "War and Peace", "1956 film", P31="Q11424", P50="Q7243")
BISMARCK = entity("Q37066", "Bismarck", "capital of North Dakota", sitelinks=90, P31="Q515")
SUNK = entity("Q156709", "German battleship Bismarck", "lead ship of her class", aliases=["Bismarck"], P31="Q182531")
TITANIC = entity("Q44578", "Titanic", "1997 American film", P31="Q11424")
MOROCCAN = entity("Q7903", "Casablanca", "largest city of Morocco", sitelinks=200, P31="Q515")
SHOT = entity("Q132689", "Casablanca", "1942 film by Michael Curtiz", sitelinks=3, P31="Q11424")
KINDS = (VESSEL, BATTLESHIP, NOVEL, SERIES, FILM, CITY, TOLSTOY)


def asked(text: str, question: str, *known: Entity, prop: str = "") -> Link:
    make: LadderMaker = maker(*KINDS, *known)
    row = relation(prop) if prop else ANY
    subjects = make.linker.subject_ids("Leo Tolstoy" if prop else None, None, row)
    return make.linker.link(text, row, subjects=subjects, question=question)


@pytest.mark.parametrize(
    ("question", "text", "known", "meant"),
    [
        ("Which novel is by Leo Tolstoy?", "War and Peace", (ON_TV, ON_SCREEN, BOOK), "Q161531"),
        ("Which television series is by Leo Tolstoy?", "War and Peace", (BOOK, ON_TV, ON_SCREEN), "Q7968572"),
        ("Which films were by Leo Tolstoy?", "War and Peace", (ON_TV, ON_SCREEN, BOOK), "Q643811"),
        ("Which film stars Humphrey Bogart?", "Casablanca", (MOROCCAN, SHOT), "Q132689"),
        ("In which city was it made?", "Casablanca", (MOROCCAN, SHOT), "Q7903"),
        ("Humphrey Bogart stars in which film?", "Casablanca", (MOROCCAN, SHOT), "Q132689"),
        ("What famous old battleship sank in 1941?", "Bismarck", (BISMARCK, SUNK), "Q156709"),
        ("Which ship sank in 1941?", "Bismarck", (BISMARCK, SUNK), "Q156709"),
    ],
)
def test_the_noun_chooses(question: str, text: str, known: tuple[Entity, ...], meant: str) -> None:
    link = asked(text, question, *known)
    assert (link.qid, link.confidence) == (meant, "high")


@pytest.mark.parametrize(
    ("question", "text", "known", "prop"),
    [
        ("What ship is it?", "Titanic", (TITANIC,), ""),
        ("Which battleship was it?", "Bismarck", (BISMARCK,), ""),
        ("Which novel is Leo Tolstoy known for?", "War and Peace", (ON_TV, ON_SCREEN), "P800"),
        ("Which novel is Leo Tolstoy known for?", "War and Peace", (ON_TV,), "P800"),
        ("Which university was it?", "Casablanca", (MOROCCAN,), ""),
        ("Which person was it?", "Casablanca", (MOROCCAN, SHOT), ""),
    ],
)
def test_nothing_but_other_things_is_no_link(question: str, text: str, known: tuple[Entity, ...], prop: str) -> None:
    assert asked(text, question, *known, prop=prop).abstained is Abstention.TYPE_CONFLICT


@pytest.mark.parametrize(
    "question",
    [
        "Which gizmo is it?",
        "Which place is it?",
        "What is it?",
        "Which?",
    ],
)
def test_what_says_nothing_is_not_read(question: str) -> None:
    film = entity("Q44578", "A Night to Remember", "1958 British film", P31="Q11424")
    assert asked("A Night to Remember", question, film).qid == "Q44578"


def test_the_source_knows_better() -> None:
    said = entity("Q7243", "Leo Tolstoy", "Russian writer", P31="Q5", P800="Q7968572")
    make = maker(*KINDS[:-1], said, ON_TV)
    row = relation("P800")
    link = make.linker.link("War and Peace", row, subjects=("Q7243",), question="Which novel is he known for?")
    assert link.qid == "Q7968572"


@pytest.mark.parametrize(
    ("question", "noun"),
    [
        ("Which French film director won?", "film director"),
        ("Which film director?", "film director"),
        ("Which films did she make?", "film"),
        ("On what island is it?", "island"),
        ("What is the name of the river in Paris?", "river"),
        ("Which film gizmo won?", None),
        ("Which of the films won?", None),
        ("The river which cities lie on?", None),
    ],
)
def test_the_noun_of_a_phrase(question: str, noun: str | None) -> None:
    make = maker(*KINDS)
    found = AskedNouns(make.graph, make.classes).noun_after_which_or_what(question)
    assert (found.text if found else None) == noun
