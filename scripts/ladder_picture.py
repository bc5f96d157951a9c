"""The picture of a ladder in the README, docs/ladder.svg, drawn from the bundled sample's own ladder.

    python scripts/ladder_picture.py

A bar a level, as long as what the level tells in bits. A test fails where the picture is not current; this draws it
anew. Its colours follow the reader's light or dark theme.
"""

from __future__ import annotations

from contextlib import closing
from html import escape
from pathlib import Path

import granola
from abstraction.rows import TieredRow
from abstraction.tiers import Evidence

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "ladder.svg"
QUESTION, ANSWER = "Where was Barack Obama born?", "Honolulu"
WIDTH, LEFT, TOP, STEP, BAR, LONGEST = 820, 24, 84, 62, 34, 300
STYLE = """
    text { font-family: system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328; }
    .quiet { fill: #59636e; font-size: 14px; }
    .name { font-size: 17px; font-weight: 600; }
    .card { fill: #ffffff; }
    .question { font-size: 19px; font-weight: 600; }
    .bar { fill: #54aeff; }
    .follows { stroke: #59636e; fill: none; stroke-width: 1.5; }
    @media (prefers-color-scheme: dark) {
      text { fill: #f0f6fc; }
      .quiet { fill: #9198a1; }
      .bar { fill: #1f6feb; }
      .card { fill: #0d1117; }
      .follows { stroke: #9198a1; }
    }
"""


def main() -> None:
    """Draw the picture."""
    PICTURE.write_text(picture(), encoding="utf-8")


def picture() -> str:
    """The whole picture, as SVG."""
    with closing(granola.snapshot()) as sample:
        row = granola.ladder(QUESTION, ANSWER, sample)
    height = TOP + STEP * len(row.levels) + 30
    names = "; ".join(level.tiers[0].text for level in row.levels)
    properties = dict.fromkeys(
        f"{step.property} is “{_label(step, step.property)}”."
        for level in row.levels for step in level.tiers[0].evidence if step.property
    )  # fmt: skip
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
        ' role="img" aria-labelledby="title">',
        f'  <title id="title">{escape(f"A ladder. {QUESTION} {names}")}</title>',
        f"  <style>{STYLE}  </style>",
        '  <rect class="card" width="100%" height="100%" rx="8"/>',
        _text("question", LEFT, 32, QUESTION),
        _text("quiet", LEFT, 56, "Every line is a right answer. Each one tells less than the one above it, and follows"
              " from it."),
        *(line for place in range(len(row.levels)) for line in _level(row, place)),
        _text("quiet", LEFT, height - 16, "A bar is as long as what its answer tells, in bits. "
              + "; ".join(properties)),
        "</svg>",
    ]  # fmt: skip
    return "\n".join(parts) + "\n"


def _text(kind: str, x: int, y: int, text: str) -> str:
    return f'  <text class="{kind}" x="{x}" y="{y}">{escape(text)}</text>'


def _label(step: Evidence, id: str | None) -> str:
    return step.labels.get(id or "", id or "")


def _level(row: TieredRow, place: int) -> list[str]:
    tier, most = row.levels[place].tiers[0], row.levels[0].tiers[0].bits or 1.0
    bits = tier.bits or 0.0
    top, long, beside = TOP + STEP * place, max(6.0, LONGEST * bits / most), LEFT + LONGEST + 20
    steps = [one for one in tier.evidence if one.kind == "statement"]
    why = "; ".join(f"{_label(one, one.subject)} → {one.property} → {_label(one, one.value)}" for one in steps)
    drawn = [
        f'  <rect class="bar" x="{LEFT}" y="{top}" width="{long:.0f}" height="{BAR}" rx="4"/>',
        _text("name", beside, top + 16, tier.text),
        _text("quiet", beside, top + 35, f"level {place + 1} · {bits:.1f} bits · {why or 'the gold answer'}"),
    ]
    ways = (
        f"M {LEFT + 12} {top - STEP + BAR + 3} V {top - 4}",
        f"M {LEFT + 8} {top - 9} L {LEFT + 12} {top - 4} L {LEFT + 16} {top - 9}",
    )
    return drawn + [f'  <path class="follows" d="{way}"/>' for way in ways if place]


if __name__ == "__main__":
    main()
