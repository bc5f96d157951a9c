"""Where a dataset's questions come from: files of one's own, or EntityQuestions in GRANOLA-EQ's selection."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from abstraction.errors import DatasetError
from abstraction.files.row_shapes import PRESETS, RowShape, origin_of
from abstraction.rows import QARow, RejectedRow, read_questions
from kg.model import entity_number

OnReject = Callable[[RejectedRow], None]

# GRANOLA-EQ's relations in its order. Its rows are numbered through EntityQuestions' test files in this order,
# questions with several answers left out: so the ids of its published rows say. The paper counts 16 question templates
# (P131 and P276 share one); with P800 the 17 properties have 14,830 such questions: 12,452 rows and 2,378 cleaned out.
GRANOLA_EQ_RELATIONS = (
    "P19", "P20", "P26", "P40", "P50", "P69", "P112", "P131",
    "P159", "P127", "P170", "P175", "P176", "P264", "P276", "P740", "P800",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Published:
    """What a paper says of its dataset.

    `rows` after cleaning, `questions` before it; `relations` as the paper words it; `shares` of rows by their number of
    answers, `mean` of that number; `inconsistent` rows that the score for potential error took out, `cleaned` all that
    cleaning did.
    """

    name: str
    rows: int
    questions: int
    relations: str
    shares: tuple[tuple[str, float], ...]
    mean: float
    inconsistent: int
    cleaned: int


# Yona, Aharoni and Geva (2024); the shares are rounded there.
GRANOLA_EQ = Published(
    name="GRANOLA-EQ (Yona, Aharoni and Geva 2024)",
    rows=12_452,
    questions=14_830,
    relations="16 (question templates; its ids tell of 17 properties)",
    shares=(("2", 0.20), ("3", 0.60), ("4 or more", 0.15)),
    mean=2.9,
    inconsistent=1_409,
    cleaned=2_378,
)


class Questions(Protocol):
    """Questions that can be read as often as needed, each time the same in the same order."""

    @property
    def files(self) -> Sequence[Path]:
        """The files that are read."""
        ...

    @property
    def asked(self) -> dict[str, Any]:
        """What decides, besides the files' content, which questions are read and what they are called."""
        ...

    @property
    def origin(self) -> str:
        """The dataset that they are from and its licence, in a sentence; "" where that is not known."""
        ...

    def read(self, on_reject: OnReject) -> Iterator[QARow]:
        """The questions; bad and repeated rows go to `on_reject`, and so does an UnansweredRow."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class QuestionFiles:
    """Files of one's own, in any format that `read_questions` knows; `relation` is that of rows that name none."""

    files: tuple[Path, ...]
    relation: str | None = None
    limit: int | None = None
    shape: RowShape | None = None
    language: str = "en"

    def __post_init__(self) -> None:
        if any(str(path) == "-" for path in self.files):
            raise DatasetError("a dataset's questions are read again when its building goes on; name files, not -")
        for path in self.files:
            if path.is_dir():
                raise DatasetError(f"{path} is a folder; name the files in it, as in {path}/*.jsonl")
        _check_limit(self.limit)

    @property
    def asked(self) -> dict[str, Any]:
        """See `Questions.asked`."""
        shaped = (
            {}
            if self.shape is None
            else {"shape": {name: value for name, value in asdict(self.shape).items() if value}}
        )
        return {"relation": self.relation, "limit": self.limit, **shaped}

    @property
    def origin(self) -> str:
        """See `Questions.origin`."""
        return origin_of(self.shape)

    def read(self, on_reject: OnReject) -> Iterator[QARow]:
        """See `Questions.read`."""
        return read_questions(
            self.files, relation=self.relation, limit=self.limit, on_reject=on_reject, on_unanswered=on_reject,
            shape=self.shape, language=self.language,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityQuestions:
    """A folder of EntityQuestions, a file a relation (P19.test.json), read in GRANOLA-EQ's order, others behind.

    Questions with one answer are called by GRANOLA-EQ's numbers where the folder has all of its relations, and else
    as `read_questions` calls them, "P19-1".
    """

    folder: Path
    relations: tuple[str, ...] = GRANOLA_EQ_RELATIONS
    limit: int | None = None

    def __post_init__(self) -> None:
        _check_limit(self.limit)
        there = relations_in(self.folder)
        missing = [name for name in self.relations if name not in there]
        if missing:
            raise DatasetError(
                f"{self.folder} has no file for {', '.join(missing)}; relations there: {', '.join(there) or 'none'}"
            )

    @property
    def files(self) -> tuple[Path, ...]:
        """The files in the order of reading: of the relations asked for, and of those that are numbered through."""
        return tuple(path for _, path in self._read_files())

    @property
    def asked(self) -> dict[str, Any]:
        """See `Questions.asked`."""
        return {"relations": sorted(self.relations), "limit": self.limit}

    @property
    def origin(self) -> str:
        """See `Questions.origin`."""
        return origin_of(PRESETS["entityquestions"])

    def read(self, on_reject: OnReject) -> Iterator[QARow]:
        """See `Questions.read`."""
        return islice(self._read(on_reject), self.limit)

    def _read(self, on_reject: OnReject) -> Iterator[QARow]:
        number = 0
        numbered = self._is_numbered()
        for name, path in self._read_files():
            is_chosen = name in self.relations
            # What is wrong in the file of a relation that was not asked for is nobody's concern.
            for row in read_questions([path], relation=name, on_reject=on_reject if is_chosen else lambda _: None):
                if numbered and has_one_answer(row):
                    row, number = replace(row, id=str(number)), number + 1
                if is_chosen:
                    yield row

    def _is_numbered(self) -> bool:
        return relations_in(self.folder).keys() >= set(GRANOLA_EQ_RELATIONS[:-1])  # the last has the last numbers

    def _read_files(self) -> list[tuple[str, Path]]:
        read = {*self.relations, *(GRANOLA_EQ_RELATIONS if self._is_numbered() else ())}
        return [(name, path) for name, path in relations_in(self.folder).items() if name in read]


def relations_in(folder: Path) -> dict[str, Path]:
    """The relations that a folder of EntityQuestions has, GRANOLA-EQ's first in its order, each with its file.

    Raises DatasetError where it is no folder, or has two files for one relation.
    """
    if not folder.is_dir():
        raise DatasetError(f"{folder} is no folder; expected EntityQuestions' files, one a relation (P19.test.json)")
    by_relation: dict[str, Path] = {}
    for path in sorted(folder.glob("P*.json")):
        name = path.name.partition(".")[0]
        if not name[1:].isdigit():
            continue
        if name in by_relation:
            raise DatasetError(f"{folder} has two files for {name}: {by_relation[name].name} and {path.name}")
        by_relation[name] = path
    first = {name: rank for rank, name in enumerate(GRANOLA_EQ_RELATIONS)}
    order = sorted(by_relation, key=lambda name: (first.get(name, len(first)), entity_number(name)))
    return {name: by_relation[name] for name in order}


def has_one_answer(row: QARow) -> bool:
    """Whether all of a question's gold answers are one text."""
    return len(set(row.answers)) == 1


def _check_limit(limit: int | None) -> None:
    if limit is not None and limit < 1:
        raise DatasetError(f"limit {limit} is too small; expected 1 or more questions")
