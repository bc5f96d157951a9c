"""The house stands as designed: import direction, module size, cheap imports, help for every option."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from functools import cache
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

from granola.commands.command_list import COMMANDS, VERBS
from tests.thorough import groups

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("kg", "abstraction", "granola")
BELOW = {"kg": {"kg"}, "abstraction": {"kg", "abstraction"}, "granola": set(PACKAGES)}
HEAVY = (
    "babel",
    "networkx",
    "torch",
    "transformers",
    "rdflib",
    "SPARQLWrapper",
    "neo4j",
    "requests",
    "pyarrow",
    "pydantic",
    "pyspark",
    "pandas",
    "fastapi",
    "gunicorn",
    "jinja2",
    "matplotlib",
)
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
LINES = 900  # a module past 400 is better split, one past these must be


def test_rooms_that_thorough_tests_look_at_are_there() -> None:
    assert [room for name in groups() for room in name.split() if not (ROOT / room).exists()] == []


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def test_modules_stay_readable() -> None:
    modules = [path for folder in (*PACKAGES, "tests", "scripts") for path in (ROOT / folder).rglob("*.py")]
    assert [path for path in modules if path.read_text(encoding="utf-8").count("\n") > LINES] == [], "split these"


def test_imports_point_downwards_and_modules_say_what_they_are_for() -> None:
    wrong = []
    for path in MODULES:
        tree = parsed(path)
        if tree.body and not ast.get_docstring(tree):
            wrong.append(f"{path}: say what it is for")
        package = path.relative_to(ROOT).parts[0]
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module or ""]
            above = {name.split(".")[0] for name in names} & set(PACKAGES) - BELOW[package]
            wrong += [f"{path}: {package} may not import {name}" for name in above]
    assert wrong == []


def _room(module: str) -> str:
    """The room of a module: its folder in the package, or the package's face for loose files."""
    package, _, rest = module.partition(".")
    return f"{package}.{rest.partition('.')[0]}" if (ROOT / package / rest.partition(".")[0]).is_dir() else package


def test_rooms_import_each_other_in_one_direction() -> None:
    """By all imports, those in functions too; the faces of packages and their errors are for everybody."""
    arrows = set()
    for path in MODULES:
        room = _room(".".join(path.relative_to(ROOT).with_suffix("").parts))
        for node in ast.walk(parsed(path)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            arrows |= {(room, _room(name)) for name in names if name.split(".")[0] in PACKAGES}
    arrows = {(one, other) for one, other in arrows if one != other and one not in PACKAGES and other not in PACKAGES}
    assert [len({room for arrow in arrows for room in arrow if room.startswith(f"{top}.")}) for top in PACKAGES] == [
        7, 10, 10,
    ]  # fmt: skip
    assert not TopologicalSorter({room: {b for a, b in arrows if a == room} for room, _ in arrows}).prepare()


@pytest.mark.parametrize("what", ["import kg, abstraction, granola", "from granola.commands.cli.main import app"])
def test_imports_load_nothing_heavy(what: str) -> None:
    code = f"import sys; {what}; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


def _commands() -> list[list[str]]:
    return [[], *([name] for name, entry in COMMANDS.items() if entry.members), *(verb.split() for verb in VERBS)]


@pytest.mark.parametrize("command", _commands(), ids=lambda c: " ".join(c) or "granola")
def test_every_option_has_help(command: list[str]) -> None:
    import typer.main

    from granola.commands.cli.main import app

    node = typer.main.get_command(app)
    for name in command:
        node = node.commands[name]  # type: ignore[attr-defined]
    assert node.help
    for parameter in node.params:
        if parameter.name != "help":
            text = getattr(parameter, "help", None)
            assert text, f"granola {' '.join(command)}: {parameter.name} has no help"


def test_the_list_of_commands_is_whole() -> None:
    import typer.main

    from granola.commands.cli.main import app

    found: list[list[str]] = []

    def walk(node: object, path: list[str]) -> None:
        found.append(path)
        for name, child in getattr(node, "commands", {}).items():
            walk(child, [*path, name])

    walk(typer.main.get_command(app), [])
    assert sorted(found) == sorted(_commands())


def test_help_lists_every_command_and_loads_none() -> None:
    code = (
        "import sys; from granola.commands.cli.main import app; sys.argv = ['granola', '--help']\n"
        "try: app()\n"
        "except SystemExit: pass\n"
        "print('LOADED', *sorted(m for m in sys.modules if m.startswith(('granola.', 'abstraction.', 'rich'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    told, _, loaded = done.stdout.partition("LOADED")
    assert [command for (command, *rest) in _commands()[1:] if not rest and f"\n  {command} " not in told] == []
    assert {name for name in loaded.split() if name.startswith(("granola.commands.cli.", "granola.commands."))} == {
        "granola.commands.cli", "granola.commands.cli.main", "granola.commands.command_list",
    }  # fmt: skip
    assert "rich" not in loaded.split()


OPTIONS = 12


@pytest.mark.parametrize("command", _commands()[1:], ids=" ".join)
def test_few_options_stand_outside_the_advanced_panel(command: list[str]) -> None:
    import typer.main

    from granola.commands.cli.main import app

    node = typer.main.get_command(app)
    for name in command:
        node = node.commands[name]  # type: ignore[attr-defined]
    options = [parameter for parameter in node.params if parameter.opts[0].startswith("-")]
    usual = [one.opts[0] for one in options if getattr(one, "rich_help_panel", None) is None]
    assert len(usual) <= OPTIONS, usual
    assert hasattr(node, "commands") or command[0] in ("serve", "mcp") or "--json" in [one.opts[0] for one in options]


def _is_there(module: str, name: str) -> bool:
    """Whether one of our modules has the name; also where a library that it needs is not installed."""
    try:
        return hasattr(import_module(module), name) or import_module(f"{module}.{name}") is not None
    except ModuleNotFoundError as error:
        return error.name is not None and error.name.split(".")[0] not in PACKAGES


def test_what_scripts_and_functions_import_of_us_is_there() -> None:
    """Imports that no type checker reads, as those of scripts, and that no test runs, as some of functions."""
    wrong = []
    for path in (*MODULES, *(ROOT / "scripts").glob("*.py")):
        for node in ast.walk(parsed(path)):
            module = node.module if isinstance(node, ast.ImportFrom) and node.level == 0 else None
            if module is None or module.split(".")[0] not in PACKAGES:
                continue
            for alias in node.names:  # type: ignore[attr-defined]
                if not _is_there(module, alias.name):
                    wrong.append(f"{path.relative_to(ROOT)}:{node.lineno}: {module} has no {alias.name}")
    assert wrong == []


SAME = {"errors.py", "snapshot.py", "tiers.py"}  # of each package; the library's, and the command of that name
ON_THE_WIRE = {
    "Comparison",
    "Evidence",
    "Level",
    "Tier",
    "TieredRow",
}  # what the service sends means what the library's means


def test_no_two_modules_or_classes_have_one_name() -> None:
    modules = [path for path in MODULES if path.name not in ("__init__.py", *SAME)]
    files = Counter(path.name for path in modules)
    assert [name for name, times in files.items() if times > 1] == []
    classes = Counter(
        node.name
        for path in MODULES
        if path.parent.name != "commands"  # whose classes are called as the commands are
        for node in parsed(path).body
        if isinstance(node, ast.ClassDef) and node.name not in ON_THE_WIRE
    )
    assert [name for name, times in classes.items() if times > 1] == []


def test_extras_are_installed_as_the_program_was(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from kg.base import packages

    assert packages.install_hint("report") == "pip install -e '.[report]' in the clone"
    monkeypatch.setattr(packages, "__file__", str(tmp_path / "site-packages" / "kg" / "extras.py"))
    assert packages.install_hint("report") == "pip install 'granola-ladders[report]'"
