"""The page of scores in a browser: nothing wider than a phone, and its filters."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.granola.test_page import PAGE, ROWS

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium"),
    pytest.mark.xdist_group("browser"),
    pytest.mark.thorough("granola/report"),
]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(PAGE, encoding="utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as play:
        opened = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


def test_everything_open_fits_a_phone(browser: Any, address: str) -> None:
    page = browser.new_page(viewport={"width": 360, "height": 700})
    page.goto(address)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert page.evaluate("[...document.querySelectorAll('.scroll')].every((e) => e.scrollWidth <= e.clientWidth)")
    page.close()


def test_filters_choose_questions(browser: Any, address: str) -> None:
    page = browser.new_page()
    page.goto(address)
    assert page.locator("#shown").inner_text() == f"{len(ROWS)} of {len(ROWS)}"
    counts = {}
    for verdict in ("gold", "coarser", "wrong", "idk", "unscored"):
        page.select_option("#verdict", verdict)
        counts[verdict] = page.locator("details.question:visible").count()
    expected = dict.fromkeys(counts, 0)
    for verdicts in page.evaluate("[...document.querySelectorAll('.question')].map((q) => q.dataset.verdicts)"):
        for kind in verdicts.split():
            expected[kind] += 1
    assert counts == expected
    assert sum(counts.values()) > len(ROWS)  # systems differ
    page.close()
