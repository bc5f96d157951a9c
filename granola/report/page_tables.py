"""Tables of the page: on a phone every row stands as a block, with the column's name beside each figure."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

FEW = 20  # questions; the 95 % interval of a share of 0.5 is then 0.44 wide
FEW_NOTE = (
    f'<p class="soft">Grey rows have fewer than {FEW} questions: one question more or less moves them by 5 points '
    "or more.</p>"
)


LABELLED = 24  # columns with their name beside each figure on a phone


def stacked_table(head: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> str:
    """A table; `head` is text, rows are (class, cells), cells are HTML, the first of each row its header."""
    header = "".join(f"<th scope=col>{escape(name)}" for name in head)
    body = "".join(
        f"<tr{f' class={kind}' if kind else ''}><th scope=row>{cells[0]}" + "".join(f"<td>{cell}" for cell in cells[1:])
        for kind, cells in rows
    )
    labels = ";".join(f"--c{index}:{_css_text(name)}" for index, name in enumerate(head[1 : LABELLED + 1], start=2))
    return f'<table class="stacked" style="{escape(labels)}"><thead><tr>{header}</thead><tbody>{body}</tbody></table>'


def label_rules() -> str:
    """The style that names the columns of `stacked_table` on a phone."""
    rules = "".join(
        f"table.stacked td:nth-child({index})::before{{content:var(--c{index})}}" for index in range(2, LABELLED + 2)
    )
    return f"@media (max-width:34rem){{{rules}}}"


def _css_text(text: str) -> str:
    """Text as a string of CSS, whatever is in it."""
    signs = (sign if sign.isalnum() or sign in " -.,%" else f"\\{ord(sign):x} " for sign in text)
    return f'"{"".join(signs)}"'


def folded(title: str, content: str, *, name: str, is_open: bool = False) -> str:
    """A part of the page that opens by a click; `title` and `name`, its id, are text."""
    return (
        f'<details class="part" id="{name}"{" open" if is_open else ""}>'
        f"<summary><h2>{escape(title)}</h2></summary>{content}</details>"
    )


def few(n: int) -> bool:
    """Whether a mean over `n` questions says little."""
    return n < FEW
