"""Tables of the page: on a phone every row stands as a block, with the column's name beside each figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

FEW = 20  # questions; the 95 % interval of a share of 0.5 is then 0.44 wide
LABELLED = 24  # columns with their name beside each figure on a phone


@dataclass(frozen=True, kw_only=True, slots=True)
class TableCell:
    """A figure or a text; `small` stands below it, with the count `n` where there is one. `wraps` breaks long lines."""

    text: str
    small: str = ""
    n: int | None = None
    is_strong: bool = False
    wraps: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class TableRow:
    """Cells, the first of which names the row. `kind` is `few` where few questions stand behind it, or `total`."""

    cells: Sequence[TableCell]
    kind: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class PageTable:
    """Names of columns, and rows of as many cells."""

    head: Sequence[str]
    rows: Sequence[TableRow]

    def column_names(self) -> str:
        """The names as variables of a style, which `label_rules` writes beside the figures."""
        names = self.head[1 : LABELLED + 1]
        return ";".join(f"--c{index}:{_css_text(name)}" for index, name in enumerate(names, start=2))

    def note(self) -> str:
        """What grey rows mean; empty where there are none."""
        if all(row.kind != "few" for row in self.rows):
            return ""
        return f"Grey rows have fewer than {FEW} questions: one question more or less moves them by 5 points or more."


def texts(*cells: str) -> list[TableCell]:
    """Cells of text alone."""
    return [TableCell(text=cell) for cell in cells]


def label_rules() -> str:
    """The style that names the columns of a table on a phone."""
    rules = "".join(
        f"table.stacked td:nth-child({index})::before{{content:var(--c{index})}}" for index in range(2, LABELLED + 2)
    )
    return f"@media (max-width:34rem){{{rules}}}"


def _css_text(text: str) -> str:
    """Text as a string of CSS, whatever is in it."""
    signs = (sign if sign.isalnum() or sign in " -.,%" else f"\\{ord(sign):x} " for sign in text)
    return f'"{"".join(signs)}"'


def few(n: int) -> bool:
    """Whether a mean over `n` questions says little."""
    return n < FEW
