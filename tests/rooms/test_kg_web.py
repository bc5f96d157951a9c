"""What online sources share: secrets that no message shows, answers kept on disk, waiting before another try."""

from __future__ import annotations

from pathlib import Path

import pytest

from kg.errors import MissingContactError
from kg.web.addresses import without_secrets
from kg.web.client import AnswerCache, RetryDelays, user_agent


def test_an_address_without_its_secrets() -> None:
    shown = without_secrets("https://me:hidden@example.org/sparql?key=hidden")
    assert shown.startswith("https://")
    assert "hidden" not in shown


def test_answers_are_kept(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path / "answers")
    cache.put({"Q76": b"{}"})
    assert cache.get(["Q76", "Q1"]) == {"Q76": b"{}"}
    cache.close()


def test_each_try_waits_longer_and_as_long_as_asked() -> None:
    delays = RetryDelays(base=1, cap=60)
    assert 4 <= delays.delay(3, None) <= 8
    assert delays.delay(0, 30) == 30


def test_who_asks_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRANOLA_CONTACT", "me@example.org")
    assert "(me@example.org)" in user_agent()
    monkeypatch.delenv("GRANOLA_CONTACT")
    with pytest.raises(MissingContactError):
        user_agent()
