"""Lines that fit the terminal: tables in columns, or row by row where too wide, and sentences wrapped at spaces.

Output to a file or a pipe has no width: tables are as wide as their cells, sentences are on one line.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TextIO

LEAST = 40  # characters of a line at least, in a narrower terminal as well
GAP = "  "  # between two columns
COUNT = 8  # characters of a count, aligned right


_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(9), *range(11, 32), *range(127, 160))}  # not tab and newline


def escape_controls(text: str) -> str:
    """Escape control characters as `\\x1b`: those in rows and file names must not control a terminal."""
    return text if text.isprintable() else text.translate(_CONTROLS)


class Verbatim(str):
    """A line for copying, such as a signature or a command: it is never wrapped."""

    __slots__ = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class TextTable:
    """A table in plain text: the first column and those in `words` are aligned left, all others right.

    Where the terminal is narrower than the table, each row is a block: its first `keys` cells, which together name it,
    and below them a line for each further cell with the head of its column.
    """

    rows: Sequence[Sequence[str]]
    head: Sequence[str] = ()
    words: Sequence[int] = ()
    keys: int = 1
    indent: int = 0

    def lines(self, width: int | None = None) -> list[str]:
        """The lines of the table, of at most `width` characters; unlimited for None."""
        every = [self.head, *self.rows] if self.head else [*self.rows]
        widths = [max(map(len, column)) for column in zip(*every, strict=True)]
        lead = " " * self.indent
        # The table fits, or goes to a file.
        if width is None or self.indent + sum(widths) + len(GAP) * (len(widths) - 1) <= width:
            forms = [f"{'<' if at in (0, *self.words) else '>'}{size}" for at, size in enumerate(widths)]
            padded = (map(format, row, forms) for row in every)
            return [(lead + GAP.join(cells)).rstrip() for cells in padded]
        if not self.head:
            return [line for row in self.rows for line in _wrap_line(lead + GAP.join(row), width)]
        lines: list[str] = []
        for row in self.rows:
            lines += _wrap_line(lead + ", ".join(filter(None, row[: self.keys])), width)
            for name, cell in zip(self.head[self.keys :], row[self.keys :], strict=True):
                lines += _wrap_line(f"{lead}{GAP}{name}: {cell.strip()}", width) if cell.strip() else []
        return lines


Part = str | TextTable


def count_table(counts: Mapping[str, int]) -> TextTable:
    """A table of counts, largest first."""
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    width = max([COUNT, *(len(f"{number:,}") for number in counts.values())])
    return TextTable(rows=[(f"{number:>{width},}", what) for what, number in ordered], words=(1,))


def _wrap_line(line: str, width: int) -> list[str]:
    """Wrap a line at `width` characters, further lines indented; a longer word stays whole."""
    lead = line[: len(line) - len(line.lstrip())]
    return wrap(
        line, max(width, LEAST), subsequent_indent=lead + GAP, break_long_words=False, break_on_hyphens=False
    ) or [""]


def fit_lines(parts: Sequence[Part], width: int | None) -> list[str]:
    """Turn tables and sentences into lines of at most `width` characters; a longer word, as a path, stays whole."""
    lines: list[str] = []
    for part in parts:
        if isinstance(part, TextTable):
            lines += part.lines(width)
        # A wrapped signature or command could not be copied.
        elif width is None or isinstance(part, Verbatim):
            lines.append(str(part))
        else:
            for line in part.split("\n"):
                lines += _wrap_line(line, width)
    return lines


def show_lines(*parts: Part, file: TextIO | None = None) -> None:
    """Print tables and sentences so that they fit the terminal."""
    stream = file or sys.stdout
    lines = fit_lines(parts, shutil.get_terminal_size().columns if stream.isatty() else None)
    if lines:
        print(*map(escape_controls, lines), sep="\n", file=stream)
