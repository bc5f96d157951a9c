"""The page in a browser: with and without scripts, by keyboard, on a phone, in the dark, under its own policy."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.granola.service.conftest import Running

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
AXE = Path(os.environ.get("GRANOLA_AXE", "node_modules/axe-core/axe.min.js"))
ASKED = {"question": "Where was Barack Obama born?", "answer": "Honolulu", "predictions": "Hawaii\nKenya"}

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium"),
    pytest.mark.xdist_group("browser"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as play:
        opened = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def look(browser: Any, service: Running) -> Iterator[Any]:
    """Opens the page; fails on anything that its policy forbids, and on requests that go elsewhere."""
    contexts, troubles = [], []

    def opened(query: dict[str, str] | None = None, **settings: Any) -> Any:
        context = browser.new_context(**settings)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda said: troubles.append(said.text) if "status of 4" not in said.text else None)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on(
            "request", lambda r: troubles.append(r.url) if not r.url.startswith((service.address, "data:")) else None
        )
        page.goto(f"{service.address}/?{urlencode(query or {})}")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not troubles


def test_ladder_evidence_and_predictions(look: Any) -> None:
    page = look()
    page.get_by_label("Question", exact=True).fill(ASKED["question"])
    page.get_by_label("Answer", exact=True).fill(ASKED["answer"])
    page.get_by_text("Predictions, ids and language").click()
    page.get_by_label("Predictions to match").fill(ASKED["predictions"])
    page.get_by_role("button", name="Show the ladder").click()
    page.wait_for_selector("ol.rungs")
    assert "relation=" not in page.url  # only what was filled in
    assert page.locator("ol.rungs > li").count() == 4
    why = page.locator("details.why").first
    assert not why.get_by_role("link").first.is_visible()
    why.locator("summary").click()
    assert why.get_by_role("link").first.get_attribute("href").startswith("https://www.wikidata.org/wiki/Q18094")
    page.get_by_role("button", name="Open all reasons").click()
    assert page.locator("details.why[open]").count() == page.locator("details.why").count()
    assert page.locator("table.predictions .chip").all_text_contents() == ["level 3", "wrong"]


def test_an_example_is_one_click_away_and_what_is_copied_is_the_row(look: Any, service: Running) -> None:
    page = look(permissions=["clipboard-read", "clipboard-write"])
    page.locator("#examples a").first.click()
    page.wait_for_selector("ol.rungs")
    for place in page.locator("div.copy").all():
        button = place.get_by_role("button")
        button.click()
        playwright.expect(button).to_have_text("Copied")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert "Honolulu" in copied
        assert copied == place.locator("textarea").input_value()


def test_without_scripts_there_is_a_form_and_a_result(look: Any) -> None:
    page = look(ASKED, java_script_enabled=False)
    assert page.locator("ol.rungs > li").count() == 4
    assert page.locator("table.predictions tbody tr").count() == 2
    assert page.locator("button").all_text_contents() == ["Show the ladder"]


def test_by_keyboard_alone(look: Any) -> None:
    page = look()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type(ASKED["question"])
    page.keyboard.press("Tab")
    page.keyboard.type(ASKED["answer"])
    page.keyboard.press("Enter")
    page.wait_for_selector("ol.rungs")
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('details.why > summary')"):
            break
    page.keyboard.press("Enter")
    assert page.locator("details.why[open]").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1100])
def test_nothing_overflows_and_axe_finds_nothing(look: Any, scheme: str, width: int) -> None:
    queries = (
        {}, ASKED, {**ASKED, "answer": "Xyzzyville"}, {**ASKED, "relation": "born"},
        {**ASKED, "predictions": "w" * 400},
    )  # fmt: skip
    for query in queries:
        page = look(query, viewport={"width": width, "height": 800}, color_scheme=scheme, bypass_csp=True)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (int(background.split("(")[1].split(",")[0]) < 128) == (scheme == "dark")
        if AXE.is_file():
            page.evaluate(AXE.read_text("utf-8"))
            found = page.evaluate("axe.run()")["violations"]
            assert [(one["id"], one["impact"]) for one in found] == []
