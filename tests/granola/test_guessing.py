"""The guess from the relation and the name: what it knows, and what it cannot know."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from abstraction.base.tiers import Level, Tier
from abstraction.files.rows import TieredRow, write_tiered
from granola.commands.cli import main
from granola.decoding.guessing import guess_from_subject_name, subject_name_words_and_ending
from granola.errors import UsageError


def asked(number: int, name: str, *ladder: str, relation: str = "P19") -> TieredRow:
    return TieredRow(
        id=f"{relation}-{number}",
        question=f"Where was {name} born?",
        answers=(ladder[0],),
        levels=tuple(Level(tiers=(Tier(text=text),)) for text in ladder),
        relation=relation,
        question_entity={"text": name},
    )


POLES = [asked(n, f"Adam Kowal{n}ski", f"Town {n}", "Poland", "Europe") for n in range(12)]
JAPANESE = [asked(n + 50, f"Ken Mori{n}moto", f"City {n}", "Japan", "Asia") for n in range(30)]
OTHERS = [asked(n + 100, f"Author {n}", f"Writer {n}", "a poet", relation="P50") for n in range(10)]
ROWS = [*POLES, *JAPANESE, *OTHERS]


def guessed(rows: list[TieredRow], least: float | None = None) -> dict[str, str]:
    return {row.id: decision.text for row, decision in guess_from_subject_name(rows, least_probability=least)}


def test_names_tell_more_than_the_relation_alone() -> None:
    found = guessed(ROWS)
    assert {found[row.id] for row in JAPANESE} <= {"Japan", "Asia"}
    assert {found[row.id] for row in POLES} <= {"Poland", "Europe"}
    assert {found[row.id] for row in OTHERS} == {"a poet"}


def test_the_finest_that_is_likely_enough() -> None:
    found = guessed(ROWS, least=0.5)
    assert {found[row.id] for row in JAPANESE} == {"Japan"}
    assert set(guessed(ROWS, least=1.0).values()) <= {"a poet", "IDK"}


def test_a_question_is_not_guessed_from_itself() -> None:
    alone = [asked(1, "Ada Lang", "Ulm", "Germany"), asked(2, "Bob Berg", "Oslo", "Norway", relation="P20")]
    assert set(guessed(alone).values()) == {"IDK"}
    # Another answer of the question changes nothing of its own guess.
    changed = [asked(0, "Adam Kowal0ski", "Lima", "Peru"), *ROWS[1:]]
    assert guessed(changed)[ROWS[0].id] == guessed(ROWS)[ROWS[0].id]


def test_order_and_settings() -> None:
    assert guessed(ROWS[::-1]) == guessed(ROWS)
    for row, decision in guess_from_subject_name(ROWS):
        assert decision.confidence is not None
        assert 0 <= decision.confidence <= 1
        assert subject_name_words_and_ending(row)
    with pytest.raises(UsageError, match="above 0"):
        list(guess_from_subject_name(ROWS, least_probability=0.0))


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    tiered, out = tmp_path / "t.jsonl", tmp_path / "g.jsonl"
    write_tiered(ROWS, tiered)
    for words in (["aggregate", tiered, "--method", "guess", "--out", out], ["score", tiered, out, "--json"]):
        monkeypatch.setattr("sys.argv", ["granola", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main.main()
        assert not ended.value.code
    assert json.loads(capsys.readouterr().out.split("IDK\n")[1])["metrics"]["granola_accuracy"]["value"] == 1.0
