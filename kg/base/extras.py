"""The command that installs the libraries of an extra, from a clone or for an installed wheel."""

from __future__ import annotations

from pathlib import Path


def install_hint(extra: str) -> str:
    """The command that installs an extra: `pip install -e '.[report]' in the clone`, or of the published package."""
    if (Path(__file__).resolve().parents[2] / "pyproject.toml").is_file():
        return f"pip install -e '.[{extra}]' in the clone"
    return f"pip install 'granola-ladders[{extra}]'"
