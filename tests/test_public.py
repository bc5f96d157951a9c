"""What the packages offer: names that are there, a reference without warnings, and a wheel that works elsewhere."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = sorted(
    ".".join(path.parent.relative_to(ROOT).parts)
    for top in ("kg", "abstraction", "granola")
    for path in (ROOT / top).rglob("__init__.py")
)


@pytest.mark.parametrize("package", PACKAGES)
def test_what_a_package_offers_is_there(package: str) -> None:
    module = importlib.import_module(package)
    if package == "granola.harnesses.lm_eval_task":  # a folder of files that lm-evaluation-harness reads
        return
    assert hasattr(module, "__all__") or package not in ("kg", "abstraction", "granola")
    for name in getattr(module, "__all__", ()):
        if not hasattr(module, name):  # a module of the package
            importlib.import_module(f"{package}.{name}")
    with pytest.raises(AttributeError):
        module.no_such_name  # noqa: B018


def test_the_reference_is_written_without_warnings(tmp_path: Path) -> None:
    command = [sys.executable, ROOT / "scripts" / "api_docs.py", tmp_path]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert done.returncode == 0, done.stderr
    assert 'id="Metric.adds"' in (tmp_path / "granola" / "scoring" / "metrics.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is in the wheel, in a folder of its own: nothing of the clone is beside it."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    copy = folder / "copy"  # building leaves files behind
    for name in ("kg", "abstraction", "granola"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy / name)
    subprocess.run([*pip, "--wheel-dir", folder, copy], check=True, capture_output=True)
    (wheel,) = folder.glob("granola_ladders-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def test_the_wheel_has_the_packages_alone(unpacked: Path) -> None:
    assert {path.name for path in unpacked.iterdir() if not path.name.endswith(".dist-info")} == {
        "kg", "abstraction", "granola",
    }  # fmt: skip


def test_the_demo_runs_from_the_wheel(unpacked: Path, tmp_path: Path) -> None:
    code = "import sys; from granola.commands.cli.main import main; import granola; print(granola.__file__); main()"
    command = [sys.executable, "-P", "-c", code, "demo", "--out", tmp_path / "demo"]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(unpacked)}
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(unpacked))
    assert (tmp_path / "demo" / "report.html").stat().st_size > 10_000


def test_the_licence_and_the_citation_go_with_the_version() -> None:
    import kg

    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {kg.__version__}\n" in citation
    assert "\nlicense: Apache-2.0\n" in citation
    assert "Apache License" in (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert 'license = "Apache-2.0"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
