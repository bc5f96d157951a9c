"""The bundled sample: a piece of WikiData, questions, predictions and samples."""

from __future__ import annotations

from pathlib import Path

from granola.errors import GranolaError

BUNDLED = Path(__file__).resolve().parents[1] / "demo"


def bundled(name: str) -> Path:
    """The path of a file of the bundled sample, found by its name without suffix."""
    paths = sorted(path for path in BUNDLED.glob(f"{name}.*") if path.is_file())
    if not paths:
        raise GranolaError(f"the bundled {name} is missing from {BUNDLED}; install granola-ladders again")
    return paths[0]
