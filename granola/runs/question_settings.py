"""How files of questions have their rows, for the runs that read them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from abstraction.files.row_shapes import PRESETS
from granola.runs.settings import Setting

if TYPE_CHECKING:
    from abstraction.files.row_shapes import RowShape


@dataclass(frozen=True, kw_only=True)
class QuestionSettings:
    """Where rows have what, where they do not have the usual names."""

    preset: Annotated[
        str | None, Setting(f"Read rows as this dataset publishes them: {', '.join(PRESETS)}.", metavar="DATASET")
    ] = None
    question_field: Annotated[
        str | None, Setting("The field with the question; a.b leads inside. Default: question.", metavar="FIELD")
    ] = None
    answer_field: Annotated[
        str | None,
        Setting(
            "The field with the answer or the list of answers; a.*.b takes every item of a list. Default: answer.",
            metavar="FIELD",
        ),
    ] = None
    id_field: Annotated[
        str | None, Setting("The field with the id. Default: id, else the row's place in the file.", metavar="FIELD")
    ] = None

    split: Annotated[
        str | None,
        Setting("Only rows of this split: by their field `split`, or in a folder the files of that name."),
    ] = None

    def shape(self) -> RowShape | None:
        """What these say, None where they say nothing. Raises RowError for a preset that is not known."""
        from abstraction.files.row_shapes import shape_of

        return shape_of(
            self.preset, question=self.question_field, answer=self.answer_field, id=self.id_field, split=self.split
        )

    def files_of(self, given: Iterable[Path | str]) -> tuple[str, ...]:
        """The files that are read, those of a folder in its place. Raises RowError as `data_files`."""
        from abstraction.files.data_folders import data_files

        return tuple(str(file) for one in given for file in data_files(one, self.split))
