"""The questions of a dataset and the saved work on it, so that a killed build continues with the same command.

A folder next to the dataset contains the request and one file for every finished batch of questions. Each file appears
whole or not at all: a process may be killed at any moment and loses one batch. A batch in which a model's answer is
missing is saved too, but made again when the build continues.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from abstraction.base.faults import OnReject, RejectedRow
from abstraction.errors import DatasetError
from abstraction.files.row_shapes import RowShape
from abstraction.files.writing import json_line
from kg.base.files import WorkFolder, atomic_path

if TYPE_CHECKING:
    from abstraction.files.rows import QARow, TieredRow


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
            raise DatasetError("the questions are read again when a killed build continues; name files, not -")
        for path in self.files:
            if path.is_dir():
                raise DatasetError(f"{path} is a folder; name the files in it, as in {path}/*.jsonl")
        if self.limit is not None and self.limit < 1:
            raise DatasetError(f"limit {self.limit} is too small; expected 1 or more questions")

    @property
    def selection_settings(self) -> dict[str, Any]:
        """The settings that decide, with the content of the files, which questions are read and their ids."""
        shape = {name: value for name, value in asdict(self.shape).items() if value} if self.shape else None
        return {"relation": self.relation, "limit": self.limit, **({"shape": shape} if shape is not None else {})}

    def read_questions(self, on_reject: OnReject) -> Iterator[QARow]:
        """The questions; bad and repeated rows go to `on_reject`, and so does an UnansweredRow."""
        from abstraction.files.rows import read_questions

        return read_questions(
            self.files, relation=self.relation, limit=self.limit, on_reject=on_reject, on_unanswered=on_reject,
            shape=self.shape, language=self.language,
        )  # fmt: skip


_REQUEST = "request.json"  # in the work folder, to be compared when building continues


class SavedBatches:
    """The finished batches of one dataset, in a folder that is locked while open; it is removed after success, or if
    no batch is finished.

    Batches are reused only if `request` equals the one in the folder. Raises DatasetError where another process uses
    the folder, or where it contains batches of another request; `restart` discards those.
    """

    def __init__(self, out: Path, request: Mapping[str, Any], *, restart: bool = False) -> None:
        self._folder = WorkFolder(out, error=DatasetError, output="folder")
        self.folder = self._folder.path
        try:
            asked = orjson.loads(orjson.dumps(request))
            noted = self.folder / _REQUEST
            if not restart and noted.exists():
                self._folder.check_same_request(orjson.loads(noted.read_bytes()), asked)
            else:
                self._folder.clear()
                with atomic_path(noted) as temporary:
                    temporary.write_bytes(orjson.dumps(asked))
        except BaseException:
            self._folder.close()
            raise

    def __enter__(self) -> SavedBatches:
        return self

    def __exit__(self, error: object, *_: object) -> None:
        if error is None or not any(self.folder.glob("0*.jsonl")):
            self._folder.remove()  # no finished batch is in it
        else:
            self._folder.close()

    def is_complete(self, number: int) -> bool:
        """Whether the batch is finished, with no missing answer of a model."""
        return self._batch_path(number).exists()

    def save(self, number: int, rows: Iterable[TieredRow | RejectedRow], *, complete: bool = True) -> None:
        """Save a finished batch; `complete`: no answer of a model is missing."""
        with atomic_path(self._batch_path(number, complete=complete)) as temporary:
            temporary.write_bytes(b"".join(map(encode_row, rows)))

    def read_rows(self, number: int) -> Iterator[TieredRow | RejectedRow]:
        """The rows of a saved batch, rejected ones in their places."""
        with self._batch_path(number, complete=self.is_complete(number)).open("rb") as stream:
            for line in stream:
                yield decode_row(line)

    def _batch_path(self, number: int, *, complete: bool = True) -> Path:
        # Names sort in the order of the batches.
        return self.folder / f"{number:08}{'' if complete else '.lacking'}.jsonl"


def encode_row(row: TieredRow | RejectedRow) -> bytes:
    """A tiered row, with its source, or a rejected row as a line of JSON."""
    if isinstance(row, RejectedRow):
        return json_line({"rejected": row.to_json()})
    return json_line({"source": row.source, "row": row.to_json()})


def decode_row(line: bytes) -> TieredRow | RejectedRow:
    """The tiered or rejected row in a line of a batch."""
    from abstraction.files.rows import TieredRow

    data = orjson.loads(line)
    if "rejected" in data:
        return RejectedRow(**data["rejected"])
    return replace(TieredRow.from_json(data["row"]), source=data["source"])


def rules_fingerprint() -> str:
    """A hash of this package's rules and data: finished batches of another version do not count."""
    root = Path(__file__).resolve().parents[1]
    digest = hashlib.sha256()
    for path in sorted(p for p in root.rglob("*") if p.suffix in (".py", ".json", ".txt", ".tsv")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]  # enough to distinguish versions
