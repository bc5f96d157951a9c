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
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
        ' role="img" aria-labelledby="title">',
        f'  <title id="title">{escape(f"A ladder. {QUESTION} {names}")}</title>',
        f"  <style>{STYLE}  </style>",
        '  <rect class="card" width="100%" height="100%" rx="8"/>',
        f'  <text class="question" x="{LEFT}" y="32">{escape(QUESTION)}</text>',
        f'  <text class="quiet" x="{LEFT}" y="56">Every line is a right answer. Each one tells less than the one '
        "above it, and follows from it.</text>",
        *(line for place in range(len(row.levels)) for line in _level(row, place)),
        f'  <text class="quiet" x="{LEFT}" y="{height - 16}">A bar is as long as what its answer tells, in bits. '
        f"{escape(_legend(row))}</text>",
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _label(step: Evidence, id: str | None) -> str:
    return step.labels.get(id or "", id or "")


def _legend(row: TieredRow) -> str:
    """What the properties of the evidence are called."""
    steps = [step for level in row.levels for step in level.tiers[0].evidence if step.property]
    names = {step.property: _label(step, step.property) for step in steps}
    return "; ".join(f"{id} is “{name}”." for id, name in names.items())


def _level(row: TieredRow, place: int) -> list[str]:
    tier, most = row.levels[place].tiers[0], row.levels[0].tiers[0].bits or 1.0
    bits = tier.bits or 0.0
    top, long = TOP + STEP * place, max(6.0, LONGEST * bits / most)
    steps = [one for one in tier.evidence if one.kind == "statement"]
    why = "; ".join(f"{_label(one, one.subject)} → {one.property} → {_label(one, one.value)}" for one in steps)
    why = why or "the gold answer"
    drawn = [
        f'  <rect class="bar" x="{LEFT}" y="{top}" width="{long:.0f}" height="{BAR}" rx="4"/>',
        f'  <text class="name" x="{LEFT + LONGEST + 20}" y="{top + 16}">{escape(tier.text)}</text>',
        f'  <text class="quiet" x="{LEFT + LONGEST + 20}" y="{top + 35}">level {place + 1} · {bits:.1f} bits · '
        f"{escape(why)}</text>",
    ]
    if place:
        drawn.append(f'  <path class="follows" d="M {LEFT + 12} {top - STEP + BAR + 3} V {top - 4}"/>')
        drawn.append(
            f'  <path class="follows" d="M {LEFT + 8} {top - 9} L {LEFT + 12} {top - 4} L {LEFT + 16} {top - 9}"/>'
        )
    return drawn


if __name__ == "__main__":
    main()
