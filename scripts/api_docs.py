"""The reference of what is public, from docstrings, as HTML: `make docs` runs it.

    python scripts/api_docs.py [FOLDER]

Public is what the packages below name in `__all__`. A warning of pdoc, as of a type that cannot be read, ends it.
"""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from pathlib import Path

PUBLIC = (
    "kg", "kg.store", "kg.walks", "kg.checks", "kg.export", "abstraction", "abstraction.models", "abstraction.linking",
    "abstraction.language", "abstraction.questions", "abstraction.verifying", "abstraction.datasets", "granola",
    "granola.matching", "granola.scoring", "granola.decoding", "granola.audit", "granola.report", "granola.service",
)  # fmt: skip


def main() -> None:
    """Write the pages into a folder, by default api-docs."""
    import pdoc

    out = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("api-docs")
    warnings.simplefilter("error")
    for name in PUBLIC:
        import_module(name)
    pdoc.render.configure(docformat="markdown", show_source=False)
    pdoc.pdoc(*PUBLIC, output_directory=out)
    print(f"{len(PUBLIC)} pages: {out / 'index.html'}")


if __name__ == "__main__":
    main()
