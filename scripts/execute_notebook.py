"""Run docs/questions-to-figures.ipynb, and keep what its cells show in it.

    python scripts/execute_notebook.py

Needs nbclient and ipykernel, which .ci/run installs (scripts/requirements-ci.txt). tests/test_notebook.py runs it too,
and holds what is shown against what is kept.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOK = ROOT / "docs" / "questions-to-figures.ipynb"
SECONDS = 120  # of one cell


def executed(path: Path) -> Any:
    """The notebook with what its cells show now, without what they say on standard error. Raises what a cell raises."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=SECONDS, kernel_name="python3", record_timing=False).execute()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    notebook.metadata.pop("language_info", None)  # tells the version of Python
    return notebook


def main() -> None:
    import nbformat

    nbformat.write(executed(NOTEBOOK), NOTEBOOK)


if __name__ == "__main__":
    main()
