"""Tables of the page: on a phone every row stands as a block, with the column's name beside each figure."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

FEW = 20  # questions; the 95 % interval of a share of 0.5 is then 0.44 wide
FEW_NOTE = (
    f'<p class="soft">Grey rows have fewer than {FEW} questions: one question more or less moves them by 5 points '
    "or more.</p>"
)


def stacked_table(head: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> str:
    """A table; `head` is text, rows are (class, cells), cells are HTML, the first of each row its header."""
    header = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    body = "".join(
        f'<tr class="{kind}"><th scope="row">{cells[0]}</th>'
        + "".join(
            f'<td class="number" data-label="{escape(name)}">{cell}</td>'
            for name, cell in zip(head[1:], cells[1:], strict=True)
        )
        + "</tr>"
        for kind, cells in rows
    )
    return f'<table class="stacked"><thead><tr>{header}</tr></thead><tbody>{body}</tbody></table>'


def folded(title: str, content: str, *, name: str, is_open: bool = False) -> str:
    """A part of the page that opens by a click; `title` and `name`, its id, are text."""
    return (
        f'<details class="part" id="{name}"{" open" if is_open else ""}>'
        f"<summary><h2>{escape(title)}</h2></summary>{content}</details>"
    )


def few(n: int) -> bool:
    """Whether a mean over `n` questions says little."""
    return n < FEW
