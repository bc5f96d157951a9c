"""The page in a browser: with and without scripts, by keyboard, on a phone, in the dark, under its own policy.

Screenshots are kept where GRANOLA_SCREENSHOTS names a folder.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from granola.commands import Demo, Report
from tests.granola.service.conftest import Running
from tests.thorough import THOROUGH

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
AXE = Path(os.environ.get("GRANOLA_AXE", "node_modules/axe-core/axe.min.js"))
ASKED = {"question": "Where was Barack Obama born?", "answer": "Honolulu", "predictions": "Hawaii\nKenya"}
ARABIC = {"question": "أين ولد باراك أوباما (Barack Obama)؟", "answer": "Honolulu", "language": "ar"}
PAGES = {
    "empty": {},
    "ladder": ASKED,
    "abstained": {**ASKED, "answer": "Xyzzyville"},
    "error": {**ASKED, "relation": "born"},
    "long": {**ASKED, "predictions": "w" * 400},
    "arabic": ARABIC,
    "date": {"question": "When was Barack Obama born?", "answer": "August 4, 1961", "predictions": "1961\n1962"},
}

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium"),
    pytest.mark.xdist_group("browser"),
    pytest.mark.thorough("granola/service", "granola/report"),
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

    def opened(query: dict[str, str] | None = None, *, at: str = service.address, **settings: Any) -> Any:
        context = browser.new_context(**settings)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda said: troubles.append(said.text) if "status of 4" not in said.text else None)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("request", lambda r: troubles.append(r.url) if not r.url.startswith((f"{at}/", "data:")) else None)
        page.goto(f"{at}/?{urlencode(query)}" if query else f"{at}/")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not troubles


def test_ladder_evidence_and_predictions(look: Any) -> None:
    page = look()
    page.get_by_label("Question", exact=True).fill(ASKED["question"])
    page.get_by_label("Answer", exact=True).fill(ASKED["answer"])
    page.get_by_label("Predictions to score").fill(ASKED["predictions"])
    page.get_by_role("button", name="Show the ladder").click()
    page.wait_for_selector("table.predictions")
    assert page.locator("ol.levels > li").count() == 4
    link = page.locator("ol.levels ul a").first
    assert link.get_attribute("href").startswith("https://www.wikidata.org/wiki/Q18094")
    assert page.locator("table.predictions .chip").all_text_contents() == ["level 3", "wrong"]
    told = [float(one.split()[0]) for one in page.locator("ol.levels em", has_text="bits").all_text_contents()]
    widths = [one.bounding_box()["width"] for one in page.locator("svg.bits rect").all()]
    assert [width / widths[0] for width in widths] == pytest.approx([bits / told[0] for bits in told], abs=0.01)


def test_an_example_is_one_click_away_and_what_is_copied_is_the_row(look: Any) -> None:
    page = look(permissions=["clipboard-read", "clipboard-write"])
    page.locator("#examples a").first.click()
    page.wait_for_selector("ol.levels")
    button = page.get_by_role("button", name="Copy JSON")
    button.click()
    playwright.expect(page.locator("section button")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == page.locator("#json").input_value()
    page = look(ASKED)
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error()); }")
    page.get_by_role("button", name="Copy JSON").click()
    playwright.expect(page.locator("section details").last).to_have_attribute("open", "")
    assert page.evaluate("document.getSelection().toString()").startswith('{\n  "schema_version"')


def test_without_scripts_there_is_a_form_and_a_result(look: Any) -> None:
    page = look(ASKED, java_script_enabled=False)
    assert page.locator("ol.levels > li").count() == 4
    assert page.locator("table.predictions tbody tr").count() == 2
    assert page.locator("button").all_text_contents() == ["Show the ladder"]
    page.get_by_role("button").click()
    assert page.url.endswith("#ladder")
    assert page.locator("ol.levels > li").count() == 4


def test_text_that_runs_from_the_right(look: Any) -> None:
    page = look({**ARABIC, "predictions": "هونولولو Hawaii\nHawaii"})
    direction = "one => getComputedStyle(one).direction"
    assert page.get_by_label("Question", exact=True).evaluate(direction) == "rtl"
    assert page.locator("h2#ladder").evaluate(direction) == "rtl"
    assert page.locator("h2#ladder").get_attribute("lang") == "ar"
    assert page.get_by_label("Answer", exact=True).evaluate(direction) == "ltr"
    assert page.locator("ol.levels").evaluate(direction) == "ltr"
    assert page.locator("table.predictions bdi").first.evaluate(direction) == "rtl"
    marked = "\u200fאיפה נולד \u202bBarack Obama\u202c?"
    page = look({**ASKED, "question": marked})
    page.get_by_role("button", name="Show the ladder").click()
    page.wait_for_selector("ol.levels")
    assert page.get_by_label("Question", exact=True).input_value() == marked


def test_by_keyboard_alone(look: Any) -> None:
    page = look()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type(ASKED["question"])
    page.keyboard.press("Tab")
    page.keyboard.type(ASKED["answer"])
    page.keyboard.press("Tab")
    page.keyboard.type(ASKED["predictions"])
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("table.predictions")
    page.keyboard.press("Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


# Texts that lie over each other by more than a hair, and what stands out of the window.
_OVERLAPS = """() => {
  const boxes = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const inside = node.parentElement;
    if (!node.data.trim() || inside.closest(".unseen, .skip, textarea") || !inside.checkVisibility()) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) boxes.push([node.data.trim().slice(0, 30), box]);
  }
  const found = boxes.filter(([, box]) => box.left < -1 || box.right > innerWidth + 1).map(([text]) => text);
  boxes.forEach(([text, a], n) => boxes.slice(n + 1).forEach(([other, b]) => {
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (wide > 2 && high > 6) found.push(`${text} / ${other}`);
  }));
  return found;
}"""


def _looks(page: Any) -> Iterator[tuple[int, str]]:
    """The page with all that opens open, as wide as a phone and as a screen, light and dark: (width, scheme)."""
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    for width in (360, 1100):
        page.set_viewport_size({"width": width, "height": 800})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            yield width, scheme


@pytest.mark.parametrize("name", PAGES)
def test_nothing_overflows_or_overlaps(look: Any, tmp_path: Path, name: str) -> None:
    page = look(PAGES[name])
    folder = Path(os.environ.get("GRANOLA_SCREENSHOTS", tmp_path))
    for width, scheme in _looks(page):
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.evaluate(_OVERLAPS) == []
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (int(background.split("(")[1].split(",")[0]) < 128) == (scheme == "dark")
        page.screenshot(path=folder / f"{name}-{width}-{scheme}.png", full_page=True)


def _violations(page: Any) -> list[Any]:
    """What axe finds on a phone in the light and on a screen in the dark."""
    page.evaluate(AXE.read_text("utf-8"))
    return [
        (look_, one["id"], [node["html"][:80] for node in one["nodes"]])
        for look_ in _looks(page)
        if THOROUGH or look_ in ((360, "light"), (1100, "dark"))
        for one in page.evaluate("axe.run()")["violations"]
    ]


@pytest.mark.skipif(not AXE.is_file(), reason="no axe-core; GRANOLA_AXE names its axe.min.js")
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing(look: Any, name: str) -> None:
    assert _violations(look(PAGES[name], bypass_csp=True)) == []


@pytest.mark.skipif(not AXE.is_file(), reason="no axe-core; GRANOLA_AXE names its axe.min.js")
@pytest.mark.parametrize("name", ["docs", "demo", "report"])
def test_axe_finds_nothing_in_other_pages(browser: Any, service: Running, tmp_path: Path, name: str) -> None:
    """The page about the interface, the demo's, and a report with figures."""
    if name == "docs":
        address = f"{service.address}/docs"
    elif name == "demo":
        Demo(out=tmp_path / "demo").run()
        address = (tmp_path / "demo" / "report.html").as_uri()
    else:
        files = Path(__file__).parents[1] / "files"
        systems = tuple(str(files / f"{system}.jsonl") for system in ("specific", "cautious"))
        Report(tiered=str(files / "tiers.jsonl"), predictions=systems, out=tmp_path / "report", resamples=20).run()
        address = (tmp_path / "report" / "report.html").as_uri()
    context = browser.new_context(bypass_csp=True)
    page = context.new_page()
    page.goto(address)
    # Questions are alike: axe takes a second for each.
    page.evaluate("[...document.querySelectorAll('details.question')].slice(4).forEach((one) => one.remove())")
    violations = _violations(page)
    context.close()
    assert violations == []


def test_on_a_phone_the_form_folds_away_behind_the_result(look: Any) -> None:
    phone = {"viewport": {"width": 360, "height": 700}}
    page = look(ASKED, **phone)
    form = page.locator("form#ask")
    assert not form.is_visible()
    page.get_by_text("Ask something else").click()
    assert form.is_visible()
    assert look(**phone).locator("form#ask").is_visible()
    wide = look(ASKED)
    assert wide.locator("form#ask").is_visible()
    assert not wide.get_by_text("Ask something else").is_visible()


def test_names_complete_themselves(look: Any) -> None:
    page = look()
    page.get_by_label("Answer", exact=True).press_sequentially("Honol")
    playwright.expect(page.locator("#names option[value='Honolulu']")).to_have_count(1)
    page.get_by_label("Answer", exact=True).fill("H")
    playwright.expect(page.locator("#names option")).to_have_count(0)
