"""What several responses have in common: laws over a small world, and real names in the sample of WikiData."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstraction.base.tiers import Condition, Level, Tier
from granola.decoding.aggregation_rules import DragGraph
from granola.decoding.claims import ClaimTally, tally_claims
from granola.decoding.response_aggregation import Aggregator
from granola.decoding.response_ladders import ladder_of_several_answers, merge_ladders, with_ladders_of_containers
from granola.decoding.responses import ResponseReader
from granola.decoding.samples import SampleRow, read_samples
from kg.store import open_store
from tests.conftest import DATA
from tests.decoding_world import BORN, MAKER, decide

PROBES = DATA / "decoding_probes.jsonl"

# Names of the small world, with another name of the same, and with what contains it.
_OTHER_NAME = {
    "Hamburg": "Hanse city", "Munich": "München", "Germany": "Federal Republic of Germany", "USA": "United States",
    "Vienna": "Vienna, Austria", "Paris": "Paris, France", "Bavaria": "Bavaria, Germany",
}  # fmt: skip
_AROUND = {
    "Hamburg": ["Germany", "Europe"], "Munich": ["Bavaria", "Germany", "Europe"], "Bavaria": ["Germany", "Europe"],
    "Berlin": ["Germany", "Europe"], "Paris": ["France", "Europe"], "Vienna": ["Austria", "Europe"],
    "Germany": ["Europe"], "France": ["Europe"],
}  # fmt: skip
_PLACES = st.lists(st.sampled_from(sorted({*_AROUND, "USA", "Illinois"})), min_size=1, max_size=6)


def counted(responses: list[str]) -> ClaimTally:
    (readings,) = ResponseReader(MAKER).read_responses([replace(BORN, samples=tuple(responses))])
    return tally_claims(readings)


@given(_PLACES, st.data())
def test_spellings_do_not_matter(places: list[str], data: st.DataObject) -> None:
    spelled = [data.draw(st.sampled_from([one, _OTHER_NAME.get(one, one)])) for one in places]
    assert decide(spelled).qid == decide(places).qid
    assert decide(spelled, DragGraph(support=0.5)).qid == decide(places, DragGraph(support=0.5)).qid


@given(_PLACES, st.data())
def test_a_coarser_response_never_makes_the_meet_finer(places: list[str], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(places) - 1))
    coarser = data.draw(st.sampled_from([places[at], *_AROUND.get(places[at], [])]))
    fine, coarse = decide(places), decide([*places[:at], coarser, *places[at + 1 :]])
    if coarse.abstains:
        return
    assert not fine.abstains
    assert coarse.qid == fine.qid or coarse.text in _AROUND[fine.text]


@given(st.sampled_from(sorted(_AROUND)), st.data())
def test_a_place_and_what_contains_it_meet_there(place: str, data: st.DataObject) -> None:
    around = data.draw(st.sampled_from(_AROUND[place]))
    assert decide([place, around]).text == around
    assert decide([_OTHER_NAME.get(place, place), around]).text == around


@given(_PLACES, _PLACES)
def test_bits_of_an_answer_do_not_depend_on_its_company(places: list[str], more: list[str]) -> None:
    told = {claim.qid: claim.bits for claim in counted(places).claims}
    for claim in counted([*places, *more]).claims:
        assert claim.qid not in told or told[claim.qid] == claim.bits


@given(_PLACES)
def test_saying_all_twice_changes_nothing(places: list[str]) -> None:
    for share in (0.5, 0.75, 1.0):
        once, twice = (decide(one, DragGraph(support=share)) for one in (places, [*places, *places]))
        assert (once.text, once.support) == (twice.text, twice.support)


def test_the_answer_is_called_as_the_responses_call_it() -> None:
    assert decide(["Federal Republic of Germany", "Federal Republic of Germany", "Hamburg"]).text == (
        "Federal Republic of Germany"
    )
    assert decide(["Hamburg", "Berlin"]).text == "Germany"  # nobody names it


def test_of_answers_as_well_backed_what_both_entail_stands() -> None:
    half = DragGraph(support=0.5)
    assert decide(["Hamburg", "Hamburg", "Berlin", "Berlin"], half).text == "Germany"
    assert decide(["Hamburg", "Hamburg", "Berlin", "Munich"], half).text == "Hamburg"
    tie = decide(["USA", "France"], half)
    assert tie.text == "IDK"
    assert "a tie of" in tie.explanation


def test_one_name_that_is_not_known_is_one_voice() -> None:
    seven = ["Hamburg"] * 7
    assert decide([*seven, "Qwertyville"], DragGraph(support=0.75)).text == "Hamburg"
    assert decide([*seven, "Qwertyville"], DragGraph(support=0.875)).text == "Hamburg"
    found = decide([*seven, "Qwertyville"])
    assert found.text == "IDK"
    assert "not linked: Qwertyville" in found.explanation


def test_declining_responses_are_told() -> None:
    assert decide(["Hamburg", "IDK"]).text == "Hamburg"
    found = decide(["Hamburg", "Hamburg", "IDK"])
    assert (found.text, found.support, found.counted, found.responses) == ("Hamburg", 1.0, 2, 3)


def ladder(*levels: str) -> tuple[Level, ...]:
    """Levels of places called by letters, Qa and so on."""
    return tuple(
        Level(
            tiers=tuple(
                Tier(text=c, qid=f"Q{ord(c)}", conditions=frozenset({Condition(property="self", value=c)}))
                for c in names
            )
        )
        for names in levels
    )


def texts(levels: tuple[Level, ...]) -> list[str]:
    return ["".join(sorted(tier.text for tier in level.tiers)) for level in levels]


def test_two_ladders_become_one() -> None:
    assert texts(merge_ladders(ladder("a", "b", "d"), ladder("a", "c", "d"))) == ["a", "bc", "d"]
    assert texts(merge_ladders(ladder("a", "b", "d"), ladder("b", "c", "d"))) == ["a", "b", "c", "d"]
    assert texts(merge_ladders(ladder("a", "b", "c"), ladder("a", "c", "b"))) == ["a", "b", "c"]  # they disagree
    known = {"Qb": ladder("b", "c", "d"), "Qd": ladder("d", "e")}
    found = with_ladders_of_containers(
        ladder("a", "b", "d"), lambda qid: known.get(f"Q{chr(int(qid[1:]))}", ladder("x"))
    )
    assert texts(found) == ["a", "b", "c", "d", "e"]
    assert texts(ladder_of_several_answers([ladder("a", "c"), ladder("b", "c", "d")])) == ["ab", "c", "d"]


# What each of the made-up questions has in common, by the graph: "a" and "b" lie on two continents each, the ladder
# of a territory ("q") ends with what governs it, and the sample does not tell which Amsterdam is meant ("i").
_MEETS = {
    "a": "IDK", "b": "IDK", "c": "Africa", "d": "Africa", "e": "Nanjing", "f": "Oceania", "g": "Porto Alegre",
    "h": "Western Asia", "i": "IDK", "j": "Central Europe", "k": "Central Europe", "l": "Japan", "m": "Japan",
    "n": "West Africa", "o": "West Africa", "p": "Australia", "q": "IDK", "r": "IDK", "s": "IDK",
}  # fmt: skip
# Where two of three suffice, and where half do.
_MOST = {"a": "IDK", "f": "Australia", "m": "Japan", "r": "Ankara", "n": "West Africa", "o": "West Africa"}
_HALF = {"k": "Central Europe", "n": "West Africa", "s": "IDK", "m": "Japan"}


@pytest.fixture(scope="module")
def aggregator(sample_snapshot: Path) -> Iterator[Aggregator]:
    with closing(open_store(str(sample_snapshot))) as store:
        yield Aggregator(store)


@pytest.mark.skipif(not PROBES.is_file(), reason="decoding_probes.jsonl is not in ../shared/data")
@pytest.mark.parametrize(("support", "wanted"), [(1.0, _MEETS), (0.66, _MOST), (0.5, _HALF)])
def test_real_names_meet(aggregator: Aggregator, support: float, wanted: dict[str, str]) -> None:
    rows = list(read_samples(PROBES, on_reject=lambda row: pytest.fail(f"rejected: {row}")))
    found = {row.id: decision.text for row, decision in aggregator.decide(rows, DragGraph(support=support))}
    assert {id_: found[id_] for id_ in wanted} == wanted
    assert len(rows) == len(PROBES.read_text(encoding="utf-8").splitlines())
    assert all(json.loads(line)["id"] in found for line in PROBES.read_text(encoding="utf-8").splitlines())


def _decided(aggregator: Aggregator, *samples: str, support: float = 0.5) -> tuple[str, str | None]:
    row = SampleRow(id="1", question="Where was Ada Example born?", samples=samples, relation="P19")
    ((_, decision),) = aggregator.decide([row], DragGraph(support=support))
    return decision.text, decision.qid


@pytest.mark.parametrize(
    ("samples", "wanted"),
    [
        (["Province of Salerno"], ("Province of Salerno", "Q16271")),  # not the city of Salerno
        (["City of Mexico"], ("City of Mexico", "Q1489")),
        (["State of Georgia"], ("State of Georgia", "Q1428")),
        (["Gt. Brit"], ("Gt. Brit", "Q23666")),
        (["After thinking, the birthplace is Kampala."], ("Kampala", "Q3894")),
        (["Lebanon"] * 7 + ["Cincinnati"], ("Lebanon", "Q822")),
        (["Georgia"] * 7 + ["Chicago"], ("Georgia", "Q230")),
        (["Springfield"] * 8, ("Springfield", None)),  # of four
        (["Province of Salerno"] * 4 + ["Salerno"] * 4, ("Italy", "Q38")),
        (["Salerno Province"] * 4 + ["Salerno"] * 4, ("Italy", "Q38")),
    ],
)  # fmt: skip
def test_real_names_mean_what_they_say(
    aggregator: Aggregator, samples: list[str], wanted: tuple[str, str | None]
) -> None:
    assert _decided(aggregator, *samples) == wanted


PLACES = ("Kentucky", "Louisville", "Renton", "Washington", "Bavaria", "Nuremberg", "Augsburg", "Bologna",
          "Emilia-Romagna", "Germany", "Lyon", "France", "Tokyo", "Japan", "Kampala", "Lima", "Zzyzxville")  # fmt: skip


@given(st.lists(st.lists(st.sampled_from(PLACES), min_size=1, max_size=6), min_size=2, max_size=6))
def test_the_bits_of_a_place_do_not_depend_on_its_company(aggregator: Aggregator, drawn: list[list[str]]) -> None:
    rows = [
        SampleRow(id=str(at), question="Where was Ada Example born?", samples=tuple(one), relation="P19")
        for at, one in enumerate(drawn)
    ]
    found: dict[str, set[float | None]] = {}
    for _, counted in aggregator.tallies(rows):
        assert isinstance(counted, ClaimTally)
        for claim in counted.claims:
            if claim.qid is not None:
                found.setdefault(claim.qid, set()).add(claim.bits)
    assert {qid: bits for qid, bits in found.items() if len(bits) > 1} == {}
