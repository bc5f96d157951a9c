"""The reference of what is public, from docstrings, as HTML: `make docs` runs it.

    python scripts/api_docs.py [FOLDER]

Public are the modules below, of packages what they name in `__all__`. A warning of pdoc, as of a type that cannot be
read, ends it.
"""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from pathlib import Path

PUBLIC = (
    "kg", "kg.store", "kg.graph.graph", "kg.export.comparison", "kg.export.rdf_writer",
    "kg.export.parquet", "abstraction", "abstraction.models", "abstraction.linking.gazetteer",
    "abstraction.linking.linker", "abstraction.text.language.calendar_dates", "abstraction.text.language.amounts",
    "abstraction.text.questions.question_wording", "abstraction.verifying.entailment",
    "abstraction.verifying.tier_verdicts",
    "abstraction.datasets.building", "granola", "granola.matching", "granola.scoring.metrics", "granola.scoring.scores",
    "granola.decoding", "granola.evidence.audit.offences", "granola.evidence.annotation_sheets", "granola.report.study",
    "granola.service.application", "granola.service.limits",
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
