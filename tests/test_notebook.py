"""The notebook runs as it stands, and shows what is kept in it."""

from __future__ import annotations

import json
import re
from importlib.util import find_spec
from typing import Any

import pytest

from scripts.execute_notebook import NOTEBOOK, executed

CELLS = [cell for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]


def shown(cell: dict[str, Any]) -> tuple[str, list[str]]:
    """The text that a cell shows, without the hash of the matcher's code, and the kinds of what else it shows."""
    texts = "".join("".join(output.get("text", "")) for output in cell["outputs"])
    kinds = sorted(kind for output in cell["outputs"] for kind in output.get("data", {}) if kind != "text/plain")
    return re.sub(r"\|v:\w{8}\|", "|v:-|", texts), kinds


@pytest.mark.skipif(
    not all(find_spec(name) for name in ("nbclient", "ipykernel", "matplotlib")),
    reason="nbclient, ipykernel or matplotlib is not installed",
)
def test_the_notebook_shows_what_is_kept_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(NOTEBOOK.parents[1]))
    now = [cell for cell in executed(NOTEBOOK).cells if cell.cell_type == "code"]
    assert [shown(cell) for cell in now] == [shown(cell) for cell in CELLS]


def test_the_kept_notebook_has_figures_and_no_error() -> None:
    kinds = [kind for cell in CELLS for kind in shown(cell)[1]]
    assert kinds == ["image/png", "image/svg+xml"]
    assert not [output for cell in CELLS for output in cell["outputs"] if output["output_type"] == "error"]
