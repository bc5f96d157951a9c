"""granola.toml and [tool.granola]: what is given once, where it is looked for, and what is wrong with it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from granola.commands.cli.main import _run_reporting_errors, read_config, typer_command
from granola.commands.tiers import Ladder
from granola.errors import UsageError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    inner = tmp_path / "study" / "inner"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    read_config.cache_clear()
    yield tmp_path / "study"
    read_config.cache_clear()


def test_the_nearest_file_counts(folder: Path) -> None:
    assert read_config() == {}
    read_config.cache_clear()
    (folder / "granola.toml").write_text('snapshot = "w.sqlite"\nlanguage = "de"\n', encoding="utf-8")
    assert read_config() == {"snapshot": str(folder / "w.sqlite"), "language": "de"}
    read_config.cache_clear()
    (folder / "inner" / "granola.toml").write_text('snapshot = "bolt://h:7687"\n', encoding="utf-8")
    assert read_config() == {"snapshot": "bolt://h:7687"}


def test_commands_take_it_for_their_default(folder: Path) -> None:
    (folder / "granola.toml").write_text('snapshot = "w.sqlite"\nlanguage = "de"\n', encoding="utf-8")
    parameters = typer_command(Ladder).__signature__.parameters  # type: ignore[attr-defined]  # what typer reads
    assert parameters["snapshot"].default.default == str(folder / "w.sqlite")
    assert parameters["language"].default.default == "de"


def test_the_environment_comes_before_the_contact(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "granola.toml").write_text('contact = "me@example.org"\n', encoding="utf-8")
    monkeypatch.setenv("GRANOLA_CONTACT", "you@example.org")
    monkeypatch.setattr(sys, "argv", ["granola", "--version"])
    assert _run_reporting_errors() == 0
    assert os.environ["GRANOLA_CONTACT"] == "you@example.org"
    monkeypatch.delenv("GRANOLA_CONTACT")
    assert _run_reporting_errors() == 0
    assert os.environ["GRANOLA_CONTACT"] == "me@example.org"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('languag = "de"', "'languag' is no setting; is 'language' meant?"),
        ("snapshot = 7", "snapshot is 7; expected a text"),
        ("snapshot =", "granola.toml: "),
        (json.dumps({"a": 1}), "granola.toml: "),
    ],
)
def test_what_is_wrong_is_told_with_the_file(folder: Path, text: str, told: str) -> None:
    (folder / "granola.toml").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as raised:
        read_config()
    assert told in str(raised.value)
