"""Reading from WikiData's API: a real HTTP server on loopback that behaves, and misbehaves, as WikiData's does."""

from __future__ import annotations

from pathlib import Path

import loopback
import pytest
import wikidata_api as api
from api_world import QUICK, WORLD, client, thing
from dump_json import entity_json

from kg.base.model import Entity
from kg.base.scope import Scope
from kg.building.other_sources import build_from_api
from kg.errors import (
    BadAnswerError,
    KGError,
    MissingContactError,
    QueryError,
    RateLimitedError,
    ServiceError,
    TimeLimitError,
)
from kg.web.client import RetryDelays, user_agent

pytestmark = pytest.mark.usefixtures("contact")


def test_fifty_a_call_three_at_a_time_in_order(api_server: api.Server, tmp_path: Path) -> None:
    api_server.together = 3
    ids = [f"Q{n}" for n in range(130, 0, -1)]
    found = list(client(api_server, tmp_path).entities([*ids, "Q1", "Q130"]))
    assert [asked for asked, _ in found] == ids
    assert all(data == entity_json(WORLD[asked]) for asked, data in found)
    assert sorted(map(len, api_server.asked)) == [30, 50, 50]
    assert api_server.most_running == 3
    assert api_server.agents == {user_agent()}
    assert "(tests@example.org)" in user_agent()
    assert {params["maxlag"] for params in api_server.params} == {"5"}


def test_never_more_than_three_in_flight_whoever_asks(api_server: api.Server, tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    api_server.together, api_server.slowness = 3, 0.05  # a fourth would come meanwhile
    clients = [client(api_server, tmp_path / str(n)) for n in range(3)]
    with ThreadPoolExecutor(3) as pool:
        runs = [pool.submit(lambda one: len(list(one.entities(WORLD))), one) for one in clients]
        assert [run.result() for run in runs] == [130] * 3
    assert api_server.most_running == 3


@pytest.mark.parametrize(
    "faults",
    [
        [api.too_many],
        [api.too_many_by_date],
        [api.lagging],
        [api.rate_limited],
        [api.error_page],
        [api.unavailable],
        [api.half_sent],
        [api.cut_off],
        [loopback.silent],
        [api.too_many, api.lagging, api.half_sent],
    ],
    ids=lambda faults: "+".join(fault.__name__ for fault in faults),
)
def test_what_passes_is_waited_for(api_server: api.Server, tmp_path: Path, faults: list[api.Fault]) -> None:
    api_server.faults = list(faults)
    found = dict(client(api_server, tmp_path).entities(["Q1", "Q2"]))
    assert found == {name: entity_json(WORLD[name]) for name in ("Q1", "Q2")}
    assert len(api_server.asked) == len(faults) + 1


@pytest.mark.parametrize(
    ("fault", "error", "message"),
    [
        (api.too_many, RateLimitedError, "429.*4 tries"),
        (api.lagging, RateLimitedError, "maxlag: Waiting for"),
        (api.error_page, BadAnswerError, "no JSON .text/html.*Wikimedia Error"),
        (api.unavailable, ServiceError, "503"),
        (api.half_sent, ServiceError, "IncompleteRead"),
        (api.cut_off, BadAnswerError, "no JSON"),
    ],
)
def test_what_does_not_pass_is_told(
    api_server: api.Server, tmp_path: Path, fault: api.Fault, error: type[KGError], message: str
) -> None:
    api_server.faults = [fault] * 20
    with pytest.raises(error, match=message):
        list(client(api_server, tmp_path).entities(["Q1"]))
    assert len(api_server.asked) == 4


def test_a_wait_beyond_all_patience_is_not_waited_for(api_server: api.Server, tmp_path: Path) -> None:
    api_server.faults = [api.far_too_many]
    with pytest.raises(RateLimitedError, match="asks to wait 86400 s"):
        list(client(api_server, tmp_path).entities(["Q1"]))


def test_a_refusal_is_not_repeated(api_server: api.Server, tmp_path: Path) -> None:
    api_server.faults = [api.forbidden]
    with pytest.raises(QueryError, match=r"403.*robot policy.*GRANOLA_CONTACT"):
        list(client(api_server, tmp_path).entities(["Q1"]))
    assert len(api_server.asked) == 1


def test_answers_that_take_too_long(api_server: api.Server, tmp_path: Path) -> None:
    api_server.faults = [loopback.slow]
    patience = RetryDelays(base=0.01, tries=9, timeout=2.0)
    assert len(list(client(api_server, tmp_path, patience).entities(["Q1"]))) == 1
    api_server.faults = [loopback.slow] * 9
    with pytest.raises(TimeLimitError):
        list(client(api_server, tmp_path, RetryDelays(base=0.01, tries=2, timeout=0.2)).entities(["Q2"]))


def test_merged_and_missing_ids(api_server: api.Server, tmp_path: Path) -> None:
    found = dict(client(api_server, tmp_path).entities(["Q900", "Q999", "Q901"]))
    assert found["Q900"]["id"] == "Q7"
    assert found["Q900"]["redirects"] == {"from": "Q900", "to": "Q7"}
    assert found["Q999"] == {"id": "Q999", "missing": ""}
    assert "missing" in found["Q901"]  # WikiData follows one step alone


def test_an_id_that_the_service_cannot_read_does_not_fail_the_others(api_server: api.Server, tmp_path: Path) -> None:
    api_server.faults = [api.bad_id]
    found = dict(client(api_server, tmp_path).entities([f"Q{n}" for n in range(10, 18)]))
    assert len(found) == 8
    assert [name for name, data in found.items() if "missing" in data] == ["Q13"]


def test_answers_cut_for_their_size_are_completed(api_server: api.Server, tmp_path: Path) -> None:
    api_server.longest = 3000
    assert dict(client(api_server, tmp_path).entities(WORLD)) == {name: entity_json(one) for name, one in WORLD.items()}


def test_names_are_searched_for_and_compared_whole(tmp_path: Path) -> None:
    world = {f"Q{n}": thing(n) for n in range(1, 20)}
    world |= {f"Q{n}": Entity(id=f"Q{n}", labels={"en": "Springfield"}) for n in range(100, 260)}
    with api.serving({one.id: entity_json(one) for one in world.values()}) as server:
        asked = client(server, tmp_path)
        assert asked.ids_by_name(["Thing 1", "a3", "no such thing", "", "--", "x" * 300], ["en"]) == ["Q1", "Q3"]
        assert asked.ids_by_name(["chose 4"], ["en"]) == []
        assert asked.ids_by_name(["chose 4"], ["en", "fr"]) == ["Q4"]
        before = asked.client.requests
        assert asked.ids_by_name(["thing 1"], ["en"]) == ["Q1"]  # another spelling is another question
        assert asked.ids_by_name(["Thing 1"], ["en"]) == ["Q1"]  # kept from before
        assert asked.client.requests == before + 1
        assert len(asked.ids_by_name(["springfield"], ["en"])) == 160
        assert asked.unfinished == []
        server.faults = [api.too_many, api.lagging]
        assert asked.ids_by_name(["a7"], ["en"]) == ["Q7"]


def test_without_a_contact_nothing_is_asked(
    api_server: api.Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for given in (None, "", "  ", "me", "a@b\n"):
        monkeypatch.delenv("GRANOLA_CONTACT", raising=False)
        if given is not None:
            monkeypatch.setenv("GRANOLA_CONTACT", given)
        if given == "a@b\n":
            continue  # stripped, and well
        with pytest.raises(MissingContactError, match="GRANOLA_CONTACT"):
            build_from_api(tmp_path / "out", scope=Scope(ids=frozenset({"Q1"})), url=api_server.url)
    assert api_server.asked == []
    assert not (tmp_path / "out").exists()


def test_nobody_at_the_address(tmp_path: Path) -> None:
    with pytest.raises(ServiceError, match=r"refused; is the address right") as raised:
        build_from_api(
            tmp_path / "out", scope=Scope(ids=frozenset({"Q1"})), url="http://127.0.0.1:1/api", patience=QUICK
        )
    assert "ids=" not in str(raised.value)
