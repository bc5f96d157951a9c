"""Which of several dates, amounts, places and people that an answer names is the one that it gives."""

from __future__ import annotations

import pytest

from granola.matching import matcher

RULES = matcher("rules")


@pytest.mark.parametrize(
    ("said", "question", "gold", "level"),
    [
        ("It was founded in 1999, and went public in 2003.", "When was it founded?", "1999", 1),
        ("It was founded in 1999, and went public in 2003.", "When was it founded?", "2003", None),
        ("It went public in 2003, after it was founded in 1999.", "When was it founded?", "2003", None),
        ("The film was shot in 2001 and released in 2003.", "When was the film released?", "2003", 1),
        ("The film was shot in 2001 and released in 2003.", "When was the film released?", "2001", None),
        ("The war started in 1914 and ended in 1918.", "When did the war start?", "1914", 1),
        ("The war started in 1914 and ended in 1918.", "When did the war start?", "1918", None),
        ("It opened in 1889 and closed in 1910.", "When did it open?", "1910", None),
        ("Construction began in 1930 and was completed in 1931.", "When was it completed?", "1930", None),
        ("It began at the end of 1914.", "When did it begin?", "1914", 1),  # the end of a year ends nothing
    ],
)
def test_a_date_belongs_to_the_event_before_it(said: str, question: str, gold: str, level: int | None) -> None:
    assert RULES.match(said, [[gold]], question).level == level


@pytest.mark.parametrize(
    ("said", "question", "gold"),
    [
        ("Steve Jobs founded Apple in Cupertino.", "Who founded Apple?", "Steve Jobs"),
        ("Malala Yousafzai won it in Oslo.", "Who won the prize?", "Malala Yousafzai"),
    ],
)
def test_who_did_something_somewhere_stands_before_it(said: str, question: str, gold: str) -> None:
    assert RULES.match(said, [[gold]], question).level == 1


@pytest.mark.parametrize(
    "said",
    ["1913 or 1914", "1913, or possibly 1914", "either 1913 or 1914", "1913 (or 1914)", "1914, possibly 1913"],
)
def test_one_of_two_dates_is_none(said: str) -> None:
    assert RULES.match(said, [["1914"], ["the 1910s"]], "When was he born?").rule == "alternatives"


@pytest.mark.parametrize(
    "said",
    ["around 1914", "probably 1914", "1914 (some sources say 1913)", "1914, possibly in June 1914"],
)
def test_a_date_in_doubt_is_one(said: str) -> None:
    assert RULES.match(said, [["1914"], ["the 1910s"]], "When was he born?").level == 1


@pytest.mark.parametrize(
    ("said", "gold", "level"),
    [
        ("5'10\"", "5 feet 10 inches", 1),
        ("5’10”", "1.78 m", 1),
        ("5 ft 10 in", "178 cm", 1),
        ("He is five foot ten.", "5'10\"", 1),
        ("He is five foot eleven.", "5'10\"", None),
        ("six feet two inches", "6 ft 2 in (1.88 m)", 1),
        ("5 foot, 10 men", "5 feet 10 inches", None),
        ("2 hours and 15 minutes", "135 minutes", 1),
        ("299,792,458 m/s", "299,792,458 metres per second", 1),
        ("60 miles an hour", "60 mph", 1),
        ("60 metres", "60 metres per second", None),
        ("212 degrees Fahrenheit", "100 degrees Celsius", 1),
        ("100 degrees Fahrenheit", "100 degrees Celsius", None),
        ("21,196.18 km", "21,196 km", 1),
        ("about 70 %", "71 %", 1),
        ("70 %", "71 %", None),
        ("about 50 %", "71 %", None),
    ],
)
def test_amounts_in_several_units(said: str, gold: str, level: int | None) -> None:
    assert RULES.match(said, [[gold]], "How tall is he?").level == level


@pytest.mark.parametrize(
    ("said", "gold", "level"),
    [
        ("the 4th of August of 1961", "August 4, 1961", 1),
        ("Aug. 4th '61", "August 4, 1961", 1),
        ("Aug. 4th ’61", "August 4, 1961", 1),
        ("Aug. 5th '61", "August 4, 1961", None),
        ("8/4/61", "August 4, 1961", 1),
        ("the summer of '69", "1969", 1),
        ("'05", "2005", 1),
        ("the '60s", "the 1960s", 1),
        ("back in the 60s", "the 1960s", 1),
        ("in his 60s", "the 1960s", None),
        ("the 90s BC", "the 1990s", None),
        ("MCMLXI", "1961", 1),
        ("MCMLX", "1961", None),
        ("MIX", "1009", None),  # short words of such letters are words
        ("FY2003", "2003", 1),
        ("fiscal year 2003", "FY 2003", 1),
    ],
)
def test_years_in_few_digits_or_letters(said: str, gold: str, level: int | None) -> None:
    assert RULES.match(said, [[gold]], "When was it?").level == level


@pytest.mark.parametrize(
    ("question", "gold", "level"),
    [
        ("When did the war start?", "1914", 1),
        ("When did the war start?", "1918", None),
        ("When did the war end?", "1918", 1),
        ("When did the war end?", "1914", None),
    ],
)
def test_the_edge_of_a_range_that_is_asked_for(question: str, gold: str, level: int | None) -> None:
    assert RULES.match("It lasted from 1914 to 1918.", [[gold]], question).level == level


PARIS = [["Paris"], ["Île-de-France"], ["France"]]
MUNICH = [["Munich"], ["Bavaria"], ["Germany"]]


@pytest.mark.parametrize(
    ("said", "levels", "level"),
    [
        ("He was born in France, in the city of Lyon.", PARIS, None),
        ("He was born in France, in the city of Paris.", PARIS, 1),
        ("He was born in France, in a small town in Normandy.", PARIS, None),
        ("in Germany, in Hamburg", MUNICH, None),
        ("in Germany, in the state of Hesse", MUNICH, None),
        ("in Germany, in the state of Bavaria", MUNICH, 2),
        ("Germany (Hamburg)", MUNICH, None),
        ("Germany: Hamburg", MUNICH, None),
        ("Germany (Munich)", MUNICH, 1),
        ("He was born in Germany, near Munich.", MUNICH, 3),
        ("He was born in France, in 1950.", PARIS, 3),  # what follows is no place inside it
        ("He was born in France, in December 1950.", PARIS, 3),
        ("He was born in France, in the Middle Ages.", PARIS, 3),
        ("He was born in France, in the heart of Europe.", PARIS, 3),
        ("He was born in Bavaria, in Germany.", [["Munich"], ["Bavaria"]], 2),
        ("He was born in Bavaria, in the Holy Roman Empire.", MUNICH, 2),
        ("England (United Kingdom)", [["York"], ["England"]], 2),
    ],
)
def test_a_finer_place_behind_a_coarser_one(said: str, levels: list[list[str]], level: int | None) -> None:
    assert RULES.match(said, levels, "Where was he born?").level == level


@pytest.mark.parametrize(
    ("said", "levels", "level"),
    [
        ("the Paris region", PARIS, None),
        ("the Paris region of France", PARIS, 3),
        ("the Paris area", PARIS, None),
        ("the Chicago metropolitan area", [["Chicago"], ["Illinois"]], None),
        ("a suburb of Chicago, Illinois", [["Chicago"], ["Illinois"]], 2),
        ("Oak Park, a suburb of Chicago, Illinois", [["Chicago"], ["Illinois"]], None),
        ("near Hamburg, Germany", [["Hamburg"], ["Germany"]], 2),
        ("near Hamburg", [["Hamburg"], ["Germany"]], None),
        ("the Lombardy region", [["Milan"], ["Lombardy"], ["Italy"]], 2),
        ("the Normandy region of France", [["Normandy"], ["France"]], 1),
        ("Kingston upon Thames", [["Kingston"], ["Jamaica"]], None),
        ("Kingston, Jamaica", [["Kingston"], ["Jamaica"]], 1),
        ("Stratford-upon-Avon", [["Stratford"], ["London"]], None),
        ("Frankfurt an der Oder", [["Frankfurt am Main", "Frankfurt"], ["Hesse"]], None),
        ("Frankfurt am Main", [["Frankfurt am Main", "Frankfurt"], ["Hesse"]], 1),
        ("Frankfurt am Main, Hesse", [["Frankfurt"], ["Hesse"]], 1),  # the coarser tier vouches
        ("Santiago de Compostela", [["Santiago"], ["Chile"]], None),
        ("Santiago de Chile", [["Santiago"], ["Chile"]], 1),
    ],
)
def test_names_that_go_on_and_what_lies_around(said: str, levels: list[list[str]], level: int | None) -> None:
    assert RULES.match(said, levels, "Where was he born?").level == level


@pytest.mark.parametrize(
    ("said", "level"),
    [
        ("Paris or Lyon", None),
        ("Lyon, or possibly Paris", None),
        ("Paris (possibly Lyon)", None),
        ("Paris, Île-de-France, or maybe Lyon", None),
        ("Paris, perhaps in Montmartre", 1),
        ("possibly Paris", 1),
    ],
)
def test_one_of_two_places_is_none(said: str, level: int | None) -> None:
    assert RULES.match(said, PARIS, "Where was he born?").level == level


CEO = "Who is the CEO of Apple?"
PRESIDENT = "Who was president in 1964?"


@pytest.mark.parametrize(
    ("said", "question", "gold", "level"),
    [
        ("Steve Jobs is the CEO of Apple, with Tim Cook as COO.", CEO, "Tim Cook", None),
        ("Steve Jobs is the CEO of Apple, with Tim Cook as COO.", CEO, "Steve Jobs", 1),
        ("Steve Jobs is the CEO of Apple and Tim Cook is the COO.", CEO, "Tim Cook", None),
        ("The CEO of Apple is Steve Jobs, while Tim Cook is the COO.", CEO, "Tim Cook", None),
        ("Tim Cook, the former COO, is the CEO of Apple.", CEO, "Tim Cook", 1),
        ("Tim Cook is the CEO of Apple and Jeff Williams is the COO.", CEO, "Tim Cook", 1),
        ("Kennedy's vice president Lyndon B. Johnson", PRESIDENT, "John F. Kennedy", None),
        ("Kennedy's vice president Lyndon B. Johnson", PRESIDENT, "Lyndon B. Johnson", 1),
        ("Kennedy's vice president, Lyndon Johnson", PRESIDENT, "Lyndon B. Johnson", 1),
        ("Mozart's older sister", "Who composed it?", "Mozart", None),
        ("Mozart's older sister", "Whose sister was Nannerl?", "Mozart", 1),
        ("It was Mozart's opera.", "Whose was it?", "Mozart", 1),
    ],
)
def test_people_beside_the_one_asked_for(said: str, question: str, gold: str, level: int | None) -> None:
    assert RULES.match(said, [[gold]], question).level == level


def test_what_follows_from_an_occupation() -> None:
    assert RULES.match("He's a footballer, so an athlete.", [["a French footballer"], ["an athlete"]]).level == 2


def test_a_name_of_the_level_tells_where_the_place_is() -> None:
    names = ["Paris, France", "Paris"]
    assert RULES.match("Paris, Texas", [names], "Where is the tower?").level is None
    assert RULES.match("Paris, Île-de-France", [names], "Where is the tower?").level == 1
    assert RULES.match("George IV", [["King George III", "George III"]], "Who was the king?").level is None


KUNMING = [["Kunming"], ["Yunnan"], ["China"]]


@pytest.mark.parametrize(
    ("said", "level"),
    [
        ("He was born in Shanghai, although his family came from Kunming.", None),
        ("He was born in Kunming, although he later moved to Shanghai.", 1),
        ("He was not born in Shanghai; he was born in Kunming.", 1),
        ("He wasn't born in Kunming but in Yuxi.", None),
        ("Somewhere in Asia, probably China.", 3),
        ("Somewhere in Europe, probably Poland.", None),
    ],
)
def test_clauses_that_concede_or_deny(said: str, level: int | None) -> None:
    assert RULES.match(said, KUNMING, "Where was Nie Er born?").level == level


@pytest.mark.parametrize(
    ("said", "gold", "level"),
    [
        ("It was composed by Debussy and orchestrated by Ravel.", "Claude Debussy", 1),
        ("It was composed by Ravel and orchestrated by Debussy.", "Claude Debussy", None),
        ("It was orchestrated by Debussy.", "Claude Debussy", 1),
    ],
)
def test_who_did_what_is_asked(said: str, gold: str, level: int | None) -> None:
    assert RULES.match(said, [[gold]], "Who composed it?").level == level


EINSTEIN = [["14 March 1879"], ["1879"], ["the 1870s"], ["the 19th century"]]
BROOKLYN = [["Brooklyn"], ["New York City"], ["New York"], ["United States"]]
OXFORD = [["University of Oxford"], ["a university in England"], ["a university"]]


@pytest.mark.parametrize(
    ("said", "levels", "question", "level"),
    [
        ("Albert Einstein (1879–1955)", EINSTEIN, "When was Einstein born?", 2),
        ("He lived from 1879 to 1955.", EINSTEIN, "When was Einstein born?", 2),
        ("He lived from 1869 to 1955.", EINSTEIN, "When was Einstein born?", None),
        ("between 1870 and 1900", EINSTEIN, "When was Einstein born?", 4),  # a doubt, and no life
        ("He was born in New York.", BROOKLYN, "Where was he born?", 3),
        ("He was born in New York City.", BROOKLYN, "Where was he born?", 2),
        ("the East Coast of the United States", BROOKLYN, "Where was he born?", 4),
        ("Buffalo, New York", BROOKLYN, "Where was he born?", None),
        ("Oxford", OXFORD, "Where did he study?", 1),
        ("Cambridge University, a university in England", OXFORD, "Where did he study?", None),
    ],
)
def test_lives_and_levels(said: str, levels: list[list[str]], question: str, level: int | None) -> None:
    assert RULES.match(said, levels, question).level == level
