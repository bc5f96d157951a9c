"""Lines that fit the terminal: tables whose columns are wrapped or split, and sentences wrapped at spaces.

Output to a file or a pipe has no width: tables are as wide as their cells, sentences are on one line.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from textwrap import wrap
from typing import TextIO

LEAST = 40  # characters of a line at least, in a narrower terminal as well
LABEL = 18  # characters of the first column below which other columns move to a further table
GAP = "  "  # between two columns
COUNT = 8  # characters of a count, aligned right


_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(9), *range(11, 32), *range(127, 160))}  # not tab and newline


def visible(text: str) -> str:
    """A text with control characters as `\\x1b`: those in rows and file names must not control a terminal."""
    return text if text.isprintable() else text.translate(_CONTROLS)


class Verbatim(str):
    """A line for copying, such as a signature or a command: it is never wrapped."""

    __slots__ = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class TextTable:
    """A table in plain text: the first column and those in `words` are aligned left, all others right.

    In a terminal narrower than the table the first column is wrapped; where that is not enough, the columns are split
    over several tables, one below the other, each with the first column; cells that are still too wide are wrapped.
    Where a table is split, its first `keys` columns, which together name a row, become one.
    """

    rows: Sequence[Sequence[str]]
    head: Sequence[str] = ()
    words: Sequence[int] = ()
    keys: int = 1
    indent: int = 0

    def lines(self, width: int | None = None) -> list[str]:
        """The lines, of at most `width` characters; unlimited for None."""
        every = [self.head, *self.rows] if self.head else [*self.rows]
        if not every:
            return []
        widths = [max(map(len, column)) for column in zip(*every, strict=True)]
        whole = self.indent + sum(widths) + len(GAP) * (len(widths) - 1)
        # The table fits, or goes to a file.
        if width is None or whole <= width:
            return self._lay_out(every, widths, range(1, len(widths)))
        if self.keys > 1:
            return self._with_joined_keys().lines(width)
        # The first column shrinks down to LABEL before the table is split.
        room = max(width, LEAST) - self.indent
        label = min(widths[0], max(LABEL, room - sum(len(GAP) + other for other in widths[1:])))
        most = room - label - len(GAP)
        widths = [widths[0], *(min(other, most) for other in widths[1:])]
        lines: list[str] = []
        for columns in _side_by_side(widths, room - label) or [[]]:
            lines += [""] if lines and self.head else []
            left = room - sum(len(GAP) + widths[column] for column in columns)
            lines += self._lay_out(every, [min(widths[0], left), *widths[1:]], columns)
        return lines

    def _with_joined_keys(self) -> TextTable:
        def joined(row: Sequence[str]) -> tuple[str, ...]:
            return ", ".join(filter(None, row[: self.keys])), *row[self.keys :]

        return TextTable(
            head=joined(self.head) if self.head else (),
            rows=[joined(row) for row in self.rows],
            words=[column - self.keys + 1 for column in self.words if column >= self.keys],
            indent=self.indent,
        )

    def _lay_out(self, every: Sequence[Sequence[str]], widths: Sequence[int], columns: Sequence[int]) -> list[str]:
        """The lines of the first column and `columns`, each cell wrapped to the width of its column."""
        lines = []
        for row in every:
            cells = [self._pad(row[column], column, widths[column]) for column in (0, *columns)]
            for parts in zip_longest(*cells, fillvalue=None):
                aligned = (part or " " * widths[column] for column, part in zip((0, *columns), parts, strict=True))
                lines.append((" " * self.indent + GAP.join(aligned)).rstrip())
        return lines

    def _pad(self, cell: str, column: int, width: int) -> list[str]:
        is_left = column in (0, *self.words)
        lines = _wrap_cell(cell, width, further=GAP if column == 0 else "")
        return [line.ljust(width) if is_left else line.rjust(width) for line in lines]


Part = str | TextTable


def count_table(numbers: Mapping[str, int]) -> TextTable:
    """A table of counts, largest first."""
    ordered = sorted(numbers.items(), key=lambda item: -item[1])
    width = max([COUNT, *(len(f"{number:,}") for number in numbers.values())])
    return TextTable(rows=[(f"{number:>{width},}", what) for what, number in ordered], words=(1,))


def _wrap_cell(text: str, width: int, *, further: str) -> list[str]:
    """A text in lines of at most `width` characters, broken at spaces where possible; `further` indents all but the
    first.
    """
    if len(text) <= width:
        return [text]
    lead = text[: len(text) - len(text.lstrip())]
    return wrap(text, max(width, 1), break_on_hyphens=False, subsequent_indent=lead + further)


def fit_lines(parts: Sequence[Part], width: int | None) -> list[str]:
    """The lines of tables and sentences; a word longer than a line, such as a path, stays whole."""
    lines: list[str] = []
    for part in parts:
        if isinstance(part, TextTable):
            lines += part.lines(width)
        # A wrapped signature or command could not be copied.
        elif width is None or isinstance(part, Verbatim):
            lines.append(str(part))
        else:
            for line in part.split("\n"):
                lead = line[: len(line) - len(line.lstrip())]
                lines += wrap(
                    line, max(width, LEAST), subsequent_indent=f"{lead}  ", break_long_words=False,
                    break_on_hyphens=False, drop_whitespace=True,
                ) or [""]  # fmt: skip
    return lines


def show_lines(*parts: Part, file: TextIO | None = None) -> None:
    """Print tables and sentences so that they fit the terminal."""
    stream = file or sys.stdout
    lines = fit_lines(parts, terminal_width(stream))
    if lines:
        print(*map(visible, lines), sep="\n", file=stream)


def terminal_width(stream: TextIO) -> int | None:
    """Characters of a line of the terminal behind a stream; None where it is no terminal."""
    return shutil.get_terminal_size().columns if stream.isatty() else None


def _side_by_side(widths: Sequence[int], room: int) -> list[list[int]]:
    """Groups of columns, without the first one, such that each group fits into `room`."""
    groups: list[list[int]] = []
    taken = room + 1
    for column, width in enumerate(widths[1:], 1):
        if taken + len(GAP) + width > room:
            groups.append([])
            taken = 0
        groups[-1].append(column)
        taken += len(GAP) + width
    return groups
