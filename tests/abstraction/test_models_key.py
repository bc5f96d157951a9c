"""A server's key reaches its server and nothing else: no log, cache, result, message, repr or standard stream."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest

from abstraction.errors import ModelAccessError, ModelSpecError
from abstraction.models.chat_model import Failure, Message, Reply, Request, Sampling
from abstraction.models.model_servers import api_key_from_environment
from abstraction.models.spec import open_model
from tests.chat_server import serving

pytestmark = pytest.mark.thorough("abstraction/models")

SECRET = "sk-Very/Secret+1234567890"  # JSON may write its slash in two ways
def asked(text: str) -> Request:
    return Request(id=text, messages=(Message(role="user", content=text),), sampling=Sampling(temperature=1.0))


@pytest.fixture
def with_key(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("TEST_KEY", SECRET)
    return "TEST_KEY"


def files_of(folder: Path) -> bytes:
    return b"".join(one.read_bytes() for one in sorted(folder.rglob("*")) if one.is_file())


@pytest.mark.parametrize("kind", ["", "500", "error-in-200"])
def test_a_server_that_repeats_the_key_does_not_spread_it(with_key: str, tmp_path: Path, kind: str) -> None:
    fail = {"fail": 1.0, "kinds": (kind,)} if kind else {}
    with serving(need=SECRET, echo_headers=True, **fail) as (url, _):
        word = f"openai:{url}?key={with_key}&tries=1#m"
        model = open_model(word, cache=tmp_path / "cache.sqlite", log=tmp_path / "calls.jsonl")
        result = next(iter(model.generate([asked("x")])))
        model.close()
    assert isinstance(result, Failure if kind else Reply), result
    assert SECRET not in repr(result) + repr(model) + repr(vars(model)) + repr(model.identity)
    kept = files_of(tmp_path)
    assert b"Very" not in kept
    assert (b"[key]" in kept) == (kind in ("", "500"))


@pytest.mark.parametrize("status", [401, 400, 302])
def test_a_refusal_that_repeats_the_key(with_key: str, tmp_path: Path, status: int) -> None:
    with serving(status=status, echo_headers=True) as (url, _):
        model = open_model(f"openai:{url}?key={with_key}#m", log=tmp_path / "calls.jsonl")
        try:
            told = repr(list(model.generate([asked("x")])))
        except ModelAccessError:
            told = traceback.format_exc()
        model.close()
    assert "Very" not in told
    assert b"Very" not in files_of(tmp_path)
    assert "[key]" in told or status == 302


def test_no_key_is_sent_unless_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    with serving(need=SECRET) as (url, _), pytest.raises(ModelAccessError, match=r"no key was sent"):
        list(open_model(f"openai:{url}#m").generate([asked("x")]))


def test_a_netrc_does_not_take_the_key_s_place(with_key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password other\n", encoding="utf-8")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with serving(need=SECRET) as (url, _):
        result = next(iter(open_model(f"openai:{url}?key={with_key}#m").generate([asked("x")])))
    assert isinstance(result, Reply)


@pytest.mark.parametrize("value", [None, "", "  ", "two words", "line\nbreak", "schlüssel"])
def test_what_is_no_key_is_told_without_it(value: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TEST_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("TEST_KEY", value)
    with pytest.raises(ModelSpecError, match="TEST_KEY") as told:
        api_key_from_environment("TEST_KEY")
    assert not value or not value.strip() or value not in str(told.value)
