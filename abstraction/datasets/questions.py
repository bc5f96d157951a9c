"""The source of a dataset's questions: files, which give the same rows at every reading."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from abstraction.base.faults import OnReject
from abstraction.errors import DatasetError
from abstraction.files.row_shapes import RowShape, origin_sentence
from abstraction.files.rows import QARow, read_questions


@dataclass(frozen=True, kw_only=True)
class QuestionFiles:
    """Files in any format of `read_questions`; `relation` is for rows that name none."""

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
        if self.limit is not None and self.limit < 1:
            raise DatasetError(f"limit {self.limit} is too small; expected 1 or more questions")

    @property
    def asked(self) -> dict[str, Any]:
        """The settings that decide, with the content of the files, which questions are read and their ids."""
        shape = {name: value for name, value in asdict(self.shape).items() if value} if self.shape else None
        return {"relation": self.relation, "limit": self.limit, **({"shape": shape} if shape is not None else {})}

    @property
    def origin(self) -> str:
        """The source of the questions and its licence, in a sentence; "" where it is unknown."""
        return origin_sentence(self.shape)

    def read(self, on_reject: OnReject) -> Iterator[QARow]:
        """The questions; bad and repeated rows go to `on_reject`, and so does an UnansweredRow."""
        return read_questions(
            self.files, relation=self.relation, limit=self.limit, on_reject=on_reject, on_unanswered=on_reject,
            shape=self.shape, language=self.language,
        )  # fmt: skip


def has_one_answer(row: QARow) -> bool:
    """Whether all of a question's gold answers are one text."""
    return len(set(row.answers)) == 1
