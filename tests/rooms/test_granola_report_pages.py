"""`granola.report.pages`: templates that escape every text, and the evidence of a ladder as lines."""

from __future__ import annotations

import pytest
from jinja2 import UndefinedError

from abstraction.base.tiers import Evidence
from granola.report.pages.evidence_rows import rows
from granola.report.pages.templates import page_file, render_page
from granola.report.pages.wikidata_links import address


def test_a_value_that_lacks_is_told() -> None:
    assert "v1/openapi.json" in render_page("interface")
    with pytest.raises(UndefinedError, match="is undefined"):
        render_page("service")


def test_steps_that_lead_on_are_one_row_of_linked_parts() -> None:
    labels = {"Q18094": "Honolulu", "Q782": "Hawaii", "Q30": "United States", "P131": "located in", "P17": "country"}
    (row,) = rows(
        [
            Evidence(kind="statement", subject="Q18094", property="P131", value="Q782", labels=labels),
            Evidence(kind="statement", subject="Q782", property="P17", value="Q30", labels=labels),
        ]
    )
    assert [part.text for part in row] == ["Honolulu", "located in", "Hawaii", "country", "United States"]
    assert row[1].href == address("Q18094", prop="P131") == "https://www.wikidata.org/wiki/Q18094#P131"


def test_styles_and_scripts_are_files() -> None:
    assert b"prefers-color-scheme" in page_file("shared.css")
