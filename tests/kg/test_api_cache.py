"""What was fetched is kept, and not asked for again."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import wikidata_api as api
from api_world import WORLD, client

from kg.errors import ServiceError, SourceError
from kg.web.client import AnswerCache

pytestmark = pytest.mark.usefixtures("contact")


def test_a_second_run_asks_only_for_what_is_lacking(api_server: api.Server, tmp_path: Path) -> None:
    first = client(api_server, tmp_path)
    api_server.faults = [lambda *_: False, lambda *_: False, *[api.unavailable] * 20]
    with pytest.raises(ServiceError):
        list(first.entities(WORLD))
    api_server.faults = []
    done = {one for ids in api_server.asked[:2] for one in ids}
    api_server.asked.clear()
    assert len(list(client(api_server, tmp_path).entities(WORLD))) == 130
    assert set().union(*map(set, api_server.asked)) == set(WORLD) - done
    api_server.asked.clear()
    assert len(list(client(api_server, tmp_path).entities(WORLD))) == 130
    assert api_server.asked == []
    list(client(api_server, tmp_path, languages=["en"]).entities(["Q1"]))
    assert api_server.asked == [["Q1"]]  # other parameters are another question


def test_a_file_that_is_no_cache(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("hello " * 1000)
    with pytest.raises(SourceError, match="cannot be used as a cache"):
        AnswerCache(tmp_path / "cache")


def test_a_database_of_something_else_is_no_cache(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "other")) as other:
        other.execute("CREATE TABLE mine (a)")
    before = (tmp_path / "other").read_bytes()
    with pytest.raises(SourceError, match="no cache of answers"):
        AnswerCache(tmp_path / "other")
    assert (tmp_path / "other").read_bytes() == before
    AnswerCache(tmp_path / "cache").put({"a": b"one"})
    assert AnswerCache(tmp_path / "cache").get(["a"]) == {"a": b"one"}


def test_a_damaged_entry_counts_as_lacking(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path / "cache")
    cache.put({"a": b"one", "b": b"two"})
    cache._connection.execute("UPDATE answer SET body = x'00' WHERE key = 'a'")
    assert cache.get(["a", "b", "c"]) == {"b": b"two"}
