"""Commands: what they are told, what of it is recorded, and that Python and the command line do the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import pytest

import granola
from granola.base.settings import DeclaredSetting, Setting, command_line, settings_of
from granola.commands import Aggregate, AttributionBuild, Score, Tiers
from granola.commands.command import Command
from granola.commands.command_list import VERBS, class_name, command_class
from granola.errors import UsageError
from tests.conftest import Run

COMMANDS = [command_class(verb) for verb in VERBS]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from granola.commands import Demo

    out = tmp_path_factory.mktemp("demo") / "out"
    Demo(out=out).run()
    return out


@pytest.mark.parametrize("verb", VERBS)
def test_a_class_has_the_words_of_its_command(verb: str) -> None:
    assert command_class(verb).__name__.removesuffix("Run").endswith(class_name(verb.split()[-1]))


@pytest.mark.parametrize("command", COMMANDS, ids=lambda one: one.__name__)
def test_settings_say_what_they_mean_and_have_no_two_names(command: type[Any]) -> None:
    declared = settings_of(command)
    assert command.__doc__
    assert [one.field for one in declared if not one.setting.help.strip()] == []
    names = [one.setting.command_line_name(one.field) for one in declared]
    assert len(names) == len(set(names))
    for one in declared:  # a default is itself allowed
        if one.default not in (..., None) and not one.many:
            assert one.default in one.choices if one.choices else isinstance(one.default, one.type)
            assert (one.setting.least or one.default) <= one.default


def given(command: type[Any]) -> dict[str, Any]:
    """The least that a command wants."""
    return {one.field: least(one) for one in settings_of(command) if one.default is ...}


def least(one: DeclaredSetting) -> Any:
    """A value of a setting's type; of a choice its first."""
    return str(one.choices[0]) if one.choices else 1 if one.type is int else "x"


@pytest.mark.parametrize("command", COMMANDS, ids=lambda one: one.__name__)
def test_every_recorded_setting_is_an_argument_as_json_has_it(command: type[Any]) -> None:
    values = given(command)
    made = command(**values)
    arguments = made.arguments()
    assert set(arguments) == {one.field.strip("_") for one in settings_of(command) if one.setting.recorded}
    assert json.loads(json.dumps(arguments)) == arguments
    assert made == command(**values)


class Tried(Command[None]):
    """Tried."""

    def run(self) -> None:
        """Nothing."""


def test_a_setting_without_words_is_no_setting() -> None:
    from dataclasses import dataclass

    @dataclass(frozen=True, kw_only=True)
    class Bare(Tried):
        one: int

    with pytest.raises(TypeError, match="one has no Setting"):
        Bare(one=1)


def test_values_that_fit_are_taken_and_others_are_told() -> None:
    made = Tiers(qa=Path("a.csv"), snapshot=Path("s"), out="o", format="csv")
    assert (made.qa, made.snapshot) == (("a.csv",), "s")
    assert Tiers(qa=["a", "b"], snapshot="s", out="o").qa == ("a", "b")
    for values, said in (
        ({"limit": 0}, "--limit is 0; allowed: 1 or more"),
        ({"limit": "3"}, "--limit is '3'; expected int"),
        ({"limit": True}, "--limit is True; expected int"),
        ({"format": "xml"}, "--format is 'xml'; allowed: jsonl, csv, parquet, granola-eq"),
        ({"qa": 3}, "QA... is 3; expected str"),
        ({"force": 1}, "--force is 1; expected bool"),
    ):
        with pytest.raises(UsageError) as error:
            Tiers(**{"qa": "a", "snapshot": "s", "out": "o", **values})
        assert str(error.value) == said
    with pytest.raises(TypeError, match="snapshot"):
        Tiers(qa="a", out="o")  # type: ignore[call-arg]


def test_bounds_are_both_ends() -> None:
    from dataclasses import dataclass

    @dataclass(frozen=True, kw_only=True)
    class Bounded(Tried):
        one: Annotated[int, Setting("One.", least=2, most=4)]

    assert [Bounded(one=n).one for n in (2, 3, 4)] == [2, 3, 4]
    for wrong in (1, 5):
        with pytest.raises(UsageError, match=f"--one is {wrong}; allowed: 2 to 4"):
            Bounded(one=wrong)


def test_python_and_the_command_line_do_the_same(run: Run, demo: Path, tmp_path: Path) -> None:
    questions = next((Path(granola.__file__).parent / "demo").glob("questions.*"))
    words = ["tiers", questions, "--snapshot", demo / "snapshot.sqlite", "--limit", 5, "--out"]
    assert run(*words, tmp_path / "told.jsonl")[0] == 0
    made = Tiers(
        qa=questions, snapshot=demo / "snapshot.sqlite", limit=5, out=tmp_path / "made.jsonl"  # type: ignore[arg-type]
    ).execute()  # fmt: skip
    assert made == 0
    assert (tmp_path / "made.jsonl").read_bytes() == (tmp_path / "told.jsonl").read_bytes()

    def record(name: str) -> Any:
        found = json.loads((tmp_path / f"{name}.jsonl.run.json").read_text())
        return {key: found[key] for key in ("command", "inputs")} | {
            key: value for key, value in found["arguments"].items() if key != "out"
        }

    assert record("made") == record("told")
    recorded = {one.field for one in settings_of(Tiers) if one.setting.recorded}
    assert set(record("made")) - {"command", "inputs"} == recorded - {"out"}


def test_a_chain_of_runs_in_python(demo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tiers = demo / "tiers.jsonl"
    guessed = Aggregate(samples=(str(tiers),), method="guess", out=str(tmp_path / "guessed.jsonl")).run()
    assert not guessed.rejected
    assert sum(guessed.counts.values()) == len(tiers.read_text().splitlines())
    command = Score(tiered=str(tiers), predictions=guessed.out, resamples=10)
    scored = command.run()
    assert 0 <= scored.report.overall.estimates["granola_accuracy"].value <= 1
    assert capsys.readouterr().out == ""  # a command prints what it made when asked
    command.show(scored)
    assert f"signature: {scored.report.signature}" in capsys.readouterr().out


def test_a_command_line_has_what_was_set_and_no_secrets_or_folders(tmp_path: Path) -> None:
    run = Tiers(
        qa=(tmp_path / "my questions.csv",), snapshot="bolt://user:secret@host:7687", out=str(tmp_path / "t.jsonl"),
        language="de", question_field="q",
    )  # fmt: skip
    line = command_line("tiers", run)
    assert line.startswith("granola tiers 'my questions.csv' ")
    assert "secret" not in line
    assert str(tmp_path) not in line
    assert "--language de" in line
    assert "--question-field q" in line
    assert "--linker" not in line  # left as it is by default
    built = AttributionBuild(snapshot="s", out=tmp_path / "b", words="openai:http://a:8000/v1?key=K&temperature=.7&batch_file=/x/b#name")
    shown = command_line("attribution build", built)
    assert shown.endswith("temperature=.7#name'")
    assert "batch_file" not in shown
