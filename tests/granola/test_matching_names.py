"""Names in answers: what may be left out of one, when a short one is meant, and what takes one back."""

from __future__ import annotations

import pytest

from granola.matching import matcher

RULES = matcher("rules")


@pytest.mark.parametrize(
    ("said", "tier"),
    [
        ("a language", "French language"),
        ("a university", "Harvard University"),
        ("University", "Harvard University"),
        ("music", "rock music"),
        ("record label", "an American record label"),
        ("a person", "a French person"),
        ("County", "King County"),
        ("a singer", "an American singer"),
        ("film", "an American film"),
        ("States", "United States"),
        ("a college", "Trinity College"),
        ("River", "Mississippi River"),
        ("an American band", "an American rock band"),  # wider than the tier
        ("a Debussy", "Claude Debussy"),
        ("French Sign Language", "French language"),  # another kind
    ],
)
def test_the_kind_alone_does_not_state_a_name_of_that_kind(said: str, tier: str) -> None:
    assert RULES.match(said, [[tier]]).level is None


def test_a_place_has_no_first_name() -> None:
    assert RULES.match("Arabia", [["Saudi Arabia"], ["Western Asia"]]).level is None
    assert RULES.match("Leone", [["Sergio Leone"], ["an Italian director"]]).level == 1


@pytest.mark.parametrize(
    ("said", "tier"),
    [
        ("Debussy", "Claude Debussy"),
        ("debussy", "Claude Debussy"),
        ("Vaughan Williams", "Ralph Vaughan Williams"),
        ("van Beethoven", "Ludwig van Beethoven"),
        ("Barack Obama", "Barack Hussein Obama"),
        ("Claude Achille Debussy", "Claude Debussy"),
        ("an American pop singer", "an American singer"),
    ],
)
def test_a_first_name_may_be_left_out_and_a_middle_name_put_in(said: str, tier: str) -> None:
    verdict = RULES.match(said, [[tier]])
    assert (verdict.level, verdict.rule) == (1, "near")


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("It was Madrid.", ["Italy", "IT"]),
        ("Tell us more, please.", ["United States", "US"]),
        ("Hi, the answer is Bob", ["Hawaii", "HI"]),
        ("in Madrid or so", ["Indiana", "IN", "Oregon", "OR"]),
        ("Give me a hint", ["Maine", "ME"]),
        ("No, Madrid", ["Norway", "NO"]),
        ("IT WAS IN MADRID", ["Italy", "IT", "Indiana", "IN"]),
        ("It is a film by Spielberg", ["It"]),
        ("Who wrote that?", ["The Who"]),
        ("el al flies there", ["Alabama", "AL"]),
        ("La vida es sueño", ["Spain", "ES"]),
    ],
)
def test_ordinary_words_are_no_short_names(said: str, names: list[str]) -> None:
    assert RULES.match(said, [["Somewhere Else"], names]).level is None


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("us", ["United States", "US"]),
        ("the us", ["United States", "US"]),
        ("It", ["It"]),
        ("He lives in the US.", ["United States", "US"]),
        ("He lives in the U.S.", ["United States", "US"]),
        ("He was born in the uk", ["United Kingdom", "UK"]),
        ("Augusta, ME", ["Maine", "ME"]),
        ("BORN IN THE UK", ["United Kingdom", "UK"]),
        ("MADE IN USA", ["USA"]),
        ("The Who recorded it", ["The Who"]),
        ("That was Ali.", ["Ali"]),
        ("I think the film is It.", ["It"]),
    ],
)
def test_a_short_name_in_its_own_case_or_alone_is_meant(said: str, names: list[str]) -> None:
    assert RULES.match(said, [names]).level == 1


OBAMA = [["Honolulu"], ["Hawaii", "HI"], ["United States", "US", "USA"]]
PARIS = [["Paris"], ["Île-de-France"], ["France"]]
MOZART = [["Wolfgang Amadeus Mozart", "Mozart"], ["an Austrian composer"], ["a composer"]]
TOYS = [["Toy Story"], ["an American film"]]


@pytest.mark.parametrize(
    ("said", "levels", "rule"),
    [
        ("He was born in Kenya, not in Honolulu, Hawaii", OBAMA, "negated"),
        ("Paris, Texas", PARIS, "other-container"),
        ("paris, texas", PARIS, "other-container"),
        ("He was born in Paris (Texas)", PARIS, "other-container"),
        ("Paris, Texas, United States", PARIS, "other-container"),
        ("Paris in Texas", PARIS, "other-container"),
        ("an Austrian composer, Joseph Haydn", MOZART, "finer-claim-conflict"),
        ("the Austrian composer Joseph Haydn", MOZART, "finer-claim-conflict"),
        ("a composer named Haydn", MOZART, "finer-claim-conflict"),
        ("France, Germany and Italy", PARIS, "alternatives"),
        ("Germany, France and Italy", PARIS, "alternatives"),
        ("Germany, Italy and France", PARIS, "alternatives"),
        ("France and Germany", PARIS, "alternatives"),
        ("france, germany and italy", PARIS, "alternatives"),
        ("France/Germany", PARIS, "alternatives"),
        ("Mozart's father", MOZART, "relative"),
        ("It was Mozart’s sister.", MOZART, "relative"),
        ("the wife of Mozart", MOZART, "relative"),
        ("Toy Story 2", TOYS, "part-of-another-name"),
        ("toy story three", TOYS, "part-of-another-name"),
        ("He was born in south Korea", [["Seoul"], ["Korea"], ["Asia"]], "part-of-another-name"),
        ("He was born to the north of Paris", PARIS, "only-nearby"),
        ("to the south-east of Paris", PARIS, "only-nearby"),
        ("Springfield, Mass., USA", [["Springfield"], ["Illinois"], ["USA"]], "other-container"),
        ("He was born in France, probably in Lyon", PARIS, "finer-claim-conflict"),
        ("He comes from Lyon, France", PARIS, "finer-claim-conflict"),
        ("It is Rimsky-Korsakov, a composer", [["Mozart"], ["composer"]], "finer-claim-conflict"),
        ("Toy Story II", TOYS, "part-of-another-name"),
    ],
)
def test_mentions_that_something_takes_back(said: str, levels: list[list[str]], rule: str) -> None:
    verdict = RULES.match(said, levels)
    assert (verdict.level, verdict.rule) == (None, rule)


@pytest.mark.parametrize(
    ("said", "levels", "level"),
    [
        ("Honolulu, Hawaii", OBAMA, 1),
        ("Honolulu, HI, USA", OBAMA, 1),
        ("Hawaii, not in Kenya", OBAMA, 2),
        ("Honolulu, Oahu, Hawaii", OBAMA, 1),  # a tier further on vouches for the chain
        ("Honolulu in August 1961", OBAMA, 1),
        ("Honolulu 4 August 1961", OBAMA, 1),
        ("He was born in Paris, France and Marie grew up there", PARIS, 1),
        ("Paris, Europe", PARIS, 1),
        ("He was born in France and moved to Germany", PARIS, 3),
        ("France, Europe", PARIS, 3),
        ("an Austrian composer, Mozart", MOZART, 1),
        ("an Austrian composer in Vienna", MOZART, 2),
        ("It is Mozart's.", MOZART, 1),
        ("Nannerl was Mozart's sister", MOZART, 1),  # the question may ask whose sister she was
        ("Franz is the son of Mozart", MOZART, 1),
        ("Mozart and Haydn", MOZART, 1),  # works have several makers
        ("Toy Story (1995)", TOYS, 1),
        ("He was born in the south of France", PARIS, 3),
        ("He was born in northeast France", PARIS, 3),
        ("in the south-east of France", PARIS, 3),
        ("Portland, Ore.", [["Portland"], ["Oregon"], ["United States"]], 1),
        ("He grew up in north Paris", PARIS, 1),
        ("He was born in France, probably in May 1904", PARIS, 3),
        ("He was a German-born composer who lived in London", [["opera composer"], ["composer"]], 2),
        ("They play a fast, aggressive kind of rock", [["thrash metal"], ["rock"]], 2),
        ("Toy Story 1995", TOYS, 1),
    ],
)
def test_mentions_that_nothing_takes_back(said: str, levels: list[list[str]], level: int) -> None:
    assert RULES.match(said, levels).level == level


def test_a_container_is_refused_only_where_coarser_levels_name_others() -> None:
    assert RULES.match("Kunming, China", [["Kunming"]]).level == 1
    assert RULES.match("Kunming, China", [["Kunming"], ["Yunnan"], ["China"]]).level == 1
    assert RULES.match("Kunming, China", [["Kunming"], ["France"]]).level is None


@pytest.mark.parametrize(
    ("said", "level"),
    [
        ("Proust was born in France and died in Paris.", 3),
        ("He died in Paris in 1922. He was born in France.", 3),
        ("He was born in Paris, France, and died in Paris.", 1),
        ("He was born in France, in Paris.", 1),
        ("He was born in France; the family came from Paris.", 1),
        ("He died in Paris.", 1),  # no birth is told
    ],
)
def test_a_place_of_another_event_is_not_that_of_the_one_asked_for(said: str, level: int) -> None:
    assert RULES.match(said, PARIS, "Where was Marcel Proust born?").level == level
