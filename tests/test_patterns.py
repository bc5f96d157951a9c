"""Every regular expression takes time in proportion to its text; the checker that says so finds those that do not."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.thorough import THOROUGH

pytestmark = pytest.mark.xdist_group("patterns")  # groups are begun first, and these take long
SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "check_patterns.py"


def _checker() -> ModuleType:
    name = "check_patterns"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, SCRIPT)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


CHECKER = _checker()
SLOW = {
    "exponential": (r"\A(?:a+)+\Z", r"\A(?:a++)+\Z"),
    "exponential by two ways": (r"\A(?:north|north-?)+x", r"\A(?>north-?)++x"),
    "cubic": (r"\A\s*\s*\s*x", r"\A\s*+\s*+\s*+x"),
    "quadratic": (r"\A[^,]*?\s+and", r"\A[^,]*?(?<!\s)\s++and"),
    "quadratic search": (r"\s+\Z", r"(?<!\s)\s++\Z"),
    "quadratic search for a word": (r"[A-Z]\w*!", r"[A-Z]\w{0,20}!"),
    "quadratic lookahead": (r"x(?=[^!]*!)", r"x(?=[^!]{0,20}!)"),
}


def _found(pattern: str, *methods: str) -> object:
    return CHECKER.Found(re.compile(pattern), "here:1", frozenset(methods) or CHECKER.ALL)


@pytest.mark.parametrize("name", SLOW)
def test_slow_patterns_are_found_and_their_linear_forms_pass(name: str) -> None:
    slow, linear = SLOW[name]
    assert CHECKER.check(_found(slow)) is not None
    assert CHECKER.check(_found(linear)) is None


def test_a_pattern_is_asked_as_the_code_asks_it() -> None:
    assert CHECKER.check(_found(r"\w+\Z", "match")) is None
    assert CHECKER.check(_found(r"\w+\Z", "search")) is not None


def test_what_has_passed_is_known_by_all_that_its_time_depends_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = [_found(r"\w+\Z", "match"), _found(r"\w+\Z", "search"), _found(r"\W+\Z", "match")]
    assert len({one.digest() for one in found}) == 3
    monkeypatch.setattr(CHECKER, "PASSED", tmp_path / "passed.txt")
    assert CHECKER._passed() == set()
    CHECKER.PASSED.write_text(f"{CHECKER._conditions()}\n{found[0].digest()}\n")
    assert CHECKER._passed() == {found[0].digest()}
    CHECKER.PASSED.write_text(f"Python 2.7, checker 0\n{found[0].digest()}\n")
    assert CHECKER._passed() == set()


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The checker in a process of its own: it sees patterns as they are compiled."""
    command = [sys.executable, "-W", "ignore", str(SCRIPT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)


def test_patterns_of_modules_functions_and_data_files_are_looked_at() -> None:
    places = [line.rpartition(":")[0] for line in _run("--only", "abstraction/", "--list").stdout.splitlines()]
    assert "abstraction/descriptions/place_grammar.py" in places  # compiled as it is imported
    assert "abstraction/linking/candidates.py" in places  # written in a call
    assert places.count("abstraction/questions/relation_wording.py") > 200  # those of data/wording.json
    assert places.count("abstraction/formats/fields.py") > 100
    assert places.count("abstraction/language/languages.py") > 100


def test_packages_that_are_imported_already_are_refused() -> None:
    import kg  # noqa: F401 - imported for the checker to see

    with pytest.raises(RuntimeError, match="in a process of its own"):
        CHECKER.patterns("kg/")


@pytest.mark.parametrize("package", CHECKER.PACKAGES)
def test_every_pattern_is_linear(package: str) -> None:
    """Those that have not passed before; `python scripts/check_patterns.py --record` writes that they have."""
    done = _run("--only", f"{package}/", *([] if THOROUGH else ["--new"]))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.rstrip().endswith("patterns attacked, 0 too slow")
