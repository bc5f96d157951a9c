"""Annotation sheets: drawn and shuffled by a seed, blind to where a tier comes from, and read back when filled."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from abstraction.files.row_reading import read_sheet_lines
from abstraction.files.writing import write_cells
from abstraction.relations import relation
from abstraction.rows import TieredRow
from abstraction.tiers import Tier
from granola.errors import SheetError
from granola.report.ladder_view import evidence_line
from kg.files import atomic_path

NEEDED = ("correct", "informative", "granularity")  # columns that every sheet has
TEMPLATE = "informative_template"  # of sheets made before there was this column, it is left out
QUESTIONS = ("correct", "informative", TEMPLATE, "granularity")
COLUMNS = ("item", "question", "template", "answer", "before", "tier", "evidence", *QUESTIONS)
KEY_SUFFIX = ".key.jsonl"
YES = frozenset({"1", "y", "yes", "true", "t"})
NO = frozenset({"0", "n", "no", "false", "f"})


@dataclass(frozen=True, kw_only=True, slots=True)
class SheetItem:
    """One tier to annotate, of `level` 1, which is the answer's, or beyond."""

    row: TieredRow
    level: int
    position: int

    @property
    def tier(self) -> Tier:
        """The tier itself."""
        return self.row.levels[self.level - 1].tiers[self.position - 1]

    @property
    def before(self) -> str:
        """All finer levels in words, finest first; empty for the answer itself."""
        return " > ".join(" | ".join(tier.text for tier in level.tiers) for level in self.row.levels[: self.level - 1])

    @property
    def template(self) -> str:
        """The question without the name of the entity asked about; empty where the name is not known or not in it."""
        name = str((self.row.question_entity or {}).get("text") or "")
        at = self.row.question.casefold().find(name.casefold()) if name.strip() else -1
        if at < 0 or len(self.row.question.casefold()) != len(self.row.question):
            return ""
        return f"{self.row.question[:at]}[X]{self.row.question[at + len(name) :]}"


def draw(
    rows: Iterable[TieredRow], n: int, *, seed: int, equally: bool = False, with_first: bool = False
) -> list[SheetItem]:
    """`n` tiers beyond the answers in random order, without repeats; all of them where there are fewer.

    `with_first`: the answers themselves, one of each row, are drawn from too, as in the paper's audit.

    Each kind of answer (what its relation asks for) is drawn from in proportion to its tiers; `equally` draws as many
    from each relation, in turn, instead. The same rows and seed give the same items.
    """
    items = [
        SheetItem(row=row, level=number, position=position)
        for row in rows
        for number, level in enumerate(row.levels, 1)
        for position in range(1, len(level.tiers) + 1 if number > 1 else 2)
        if number > 1 or with_first
    ]
    source = random.Random(seed)
    source.shuffle(items)
    strata: dict[str, list[SheetItem]] = {}
    for item in items:
        prop = item.row.relation or ""
        strata.setdefault(prop if equally or not prop else relation(prop).asks, []).append(item)
    chosen: list[SheetItem] = []
    if equally:
        for turn in range(max(map(len, strata.values()), default=0)):
            chosen += [strata[name][turn] for name in sorted(strata) if turn < len(strata[name])]
        chosen = chosen[:n]
    else:
        for name, share in _shares({name: len(of) for name, of in strata.items()}, n).items():
            chosen += strata[name][:share]
    source.shuffle(chosen)
    return chosen


def _shares(sizes: Mapping[str, int], n: int) -> dict[str, int]:
    """How many of `n` each stratum gives, in proportion to its size; what is left goes to the largest remainders."""
    whole = sum(sizes.values())
    if n >= whole:
        return dict(sizes)
    shares = {name: n * size // whole for name, size in sizes.items()}
    for name in sorted(sizes, key=lambda name: (-(n * sizes[name] % whole), name))[: n - sum(shares.values())]:
        shares[name] += 1
    return shares


def write_sheet(items: Sequence[SheetItem], path: Path | str, *, source: str, seed: int, csv_raw: bool = False) -> Path:
    """Write the sheet as CSV and, beside it, the key that says where each item is from; return the key's path.

    The sheet holds nothing of relation, class or maker. The last columns are for the annotator: 1 or yes where the tier
    is a correct answer; says something that the question does not; says something that could not be said from the
    template, the question without its entity's name (the paper's reading of trivial); is coarser than everything in
    "before", or, where that is empty, is the answer itself. 0 or no where not; empty where undecided. Texts that a
    spreadsheet would take for formulas are marked, see `abstraction.files.cells`, unless `csv_raw`.
    """
    key = Path(f"{path}{KEY_SUFFIX}")
    with atomic_path(key) as place, place.open("w", encoding="utf-8", newline="\n") as stream:
        for number, item in enumerate(items, 1):
            record: dict[str, Any] = {
                "item": number, "row": item.row.id, "relation": item.row.relation, "level": item.level,
                "tier": item.position, "text": item.tier.text, "source": source, "seed": seed,
            }  # fmt: skip
            stream.write(
                json.dumps(record if number > 1 else {"schema_version": 1, **record}, ensure_ascii=False) + "\n"
            )
    lines = [
        [number, item.row.question, item.template, " / ".join(item.row.answers), item.before, item.tier.text,
         "; ".join(map(evidence_line, item.tier.evidence)), *("" for _ in QUESTIONS)]
        for number, item in enumerate(items, 1)
    ]  # fmt: skip
    write_cells([COLUMNS, *lines], path, raw=csv_raw)
    return key


@dataclass(frozen=True, kw_only=True, slots=True)
class Sheet:
    """A filled sheet: by item number, for each of QUESTIONS, True, False or None where it was left open.

    `first` are the items that are answers themselves, with nothing before them.
    """

    path: str
    items: Mapping[str, Mapping[str, bool | None]]
    texts: Mapping[str, str]
    first: frozenset[str] = frozenset()


def read_sheet(path: Path | str) -> Sheet:
    """A filled sheet. Raises SheetError, with file and line, for a missing column, a repeated item or another mark."""
    items: dict[str, dict[str, bool | None]] = {}
    texts: dict[str, str] = {}
    first: set[str] = set()
    needed, expected = ("item", "tier", *NEEDED), "a sheet of `granola audit --sheet`"
    for line in read_sheet_lines(path, needed, expected=expected, error=SheetError):
        number = line.data.get("item", "").strip()
        if not number:
            raise SheetError(f"{line.source}: no item number")
        if number in items:
            raise SheetError(f"{line.source}: item {number} stands there twice")
        items[number] = {name: _mark(line.data.get(name, ""), name, line.source) for name in QUESTIONS}
        texts[number] = line.data.get("tier", "")
        if "before" in line.columns and "before" not in line.data:
            first.add(number)
    if not items:
        raise SheetError(f"{path}: no items")
    return Sheet(path=str(path), items=items, texts=texts, first=frozenset(first))


def _mark(cell: str, column: str, where: str) -> bool | None:
    mark = cell.strip().casefold()
    if mark in ("", "?"):
        return None
    if mark in YES:
        return True
    if mark in NO:
        return False
    raise SheetError(f"{where}: {column} is {cell!r}; expected 1 or yes, 0 or no, or nothing")
