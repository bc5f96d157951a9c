"""`--csv-raw`, which every command that writes CSV has."""

from __future__ import annotations

from typing import Annotated

import typer

CsvRaw = Annotated[
    bool,
    typer.Option(
        "--csv-raw", help="Write CSV as it is: without the ' before texts that a spreadsheet would take for formulas."
    ),
]
