"""Settings shared by several commands or the service, each described once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from abstraction.files.row_shapes import PRESETS
from granola.base.settings import Setting
from granola.scoring.metrics import Standard
from granola.scoring.statistics import LEAST_RESAMPLES, MOST_RESAMPLES

if TYPE_CHECKING:
    from abstraction.files.row_shapes import RowShape

# Outputs.
Out = Annotated[str, Setting("Where to write the rows; - is standard output.")]
Force = Annotated[bool, Setting("Replace an existing output.", recorded=False)]

# Inputs.
LINKED_TO = "The snapshot to link to and climb in: a file, or bolt://HOST:PORT."
Tiered = Annotated[
    str,
    Setting(
        "Tiered rows, as `granola tiers` writes them, or the folder of `granola dataset`; - is standard input.",
        metavar="TIERED",
        positional=True,
        folder=True,
    ),
]
Samples = Annotated[
    str,
    Setting(
        'Rows with "id", "question" and "samples", as JSONL, CSV or Parquet; - is standard input.',
        metavar="SAMPLES",
        positional=True,
        folder=True,
    ),
]
Limit = Annotated[int | None, Setting("Stop after so many questions.", least=1)]
Relation = Annotated[str | None, Setting("The property of rows that name none, such as P19.")]
Language = Annotated[
    str, Setting("The language of names and tiers, for rows that name none; its fallbacks are used as well.")
]

LinkerName = Literal["question", "smallest"]
"""The methods of `abstraction.linking.linker.Linker`."""
Linker = Annotated[
    LinkerName,
    Setting(
        "How an answer's name finds its entity: question weighs what the question asks and about whom; smallest takes "
        "the smallest QID of that name, as in the paper, also for the entity asked about.",
        advanced=True,
    ),
]

# Models.
ANSWERS_SUFFIX, CALLS_SUFFIX = ".answers.sqlite", ".calls.jsonl"

# Scores.
MatcherName = Annotated[
    str,
    Setting(
        "What decides a match: rules, em, f1 (a token-F1 above 0.3; f1:0.5 above another), f1-published (which passes "
        "over marks, as in C++), or judge:MODEL, as in judge:openai:URL#NAME.",
        metavar="MATCHER",
    ),
]
Tau = Annotated[float | None, Setting("Threshold of the matcher f1: a token-F1 above it matches. Default 0.3.")]
Raw = Annotated[
    bool,
    Setting("Judge all that a model wrote, thoughts and further questions too, not the answer in it.", advanced=True),
]
PredictionField = Annotated[
    str | None, Setting("The field with the prediction; a.b leads inside. Default: prediction.", metavar="FIELD")
]
Lambda = Annotated[float, Setting("Informativeness of level k is exp(-lambda (k - 1)); 0 or more.")]
Seed = Annotated[int, Setting("Seed of the bootstrap and the permutation tests.", advanced=True)]
Resamples = Annotated[
    int,
    Setting(
        "Bootstrap resamples, and permutations of paired tests.",
        least=LEAST_RESAMPLES,
        most=MOST_RESAMPLES,
        advanced=True,
    ),
]
FirstLevel = Annotated[
    Standard | None,
    Setting(
        "The names of level 1, for every score: the gold answers alone, as in the paper (gold), or their aliases "
        "as well (aliases). The tables also have both accuracies by the other. Default: gold for --matcher f1, else "
        "aliases."
    ),
]
AllowMissing = Annotated[
    bool,
    Setting("Leave questions without a prediction unscored, and predictions for unknown ids out, instead of stopping."),
]


@dataclass(frozen=True, kw_only=True)
class QuestionSettings:
    """The form of files of questions: the paths of fields without the usual names."""

    preset: Annotated[
        str | None,
        Setting(f"Read rows as this dataset publishes them: {', '.join(PRESETS)}.", metavar="DATASET", advanced=True),
    ] = None
    question_field: Annotated[
        str | None,
        Setting("The field with the question; a.b leads inside. Default: question.", metavar="FIELD", advanced=True),
    ] = None
    answer_field: Annotated[
        str | None,
        Setting(
            "The field with the answer or the list of answers; a.*.b takes every item of a list. Default: answer.",
            metavar="FIELD",
            advanced=True,
        ),
    ] = None
    id_field: Annotated[
        str | None,
        Setting(
            "The field with the id. Default: id, else the row's place in the file.", metavar="FIELD", advanced=True
        ),
    ] = None
    split: Annotated[
        str | None,
        Setting(
            "Only rows of this split: by their field `split`, or in a folder the files of that name.", advanced=True
        ),
    ] = None

    def shape(self) -> RowShape | None:
        """The shape that the settings describe, None where none is set. Raises RowError for an unknown preset."""
        from abstraction.files.row_shapes import shape_of

        return shape_of(
            self.preset, question=self.question_field, answer=self.answer_field, id=self.id_field, split=self.split
        )

    def expand_folders(self, paths: Iterable[Path | str]) -> tuple[str, ...]:
        """The files to read: `paths` with each folder replaced by its files. Raises RowError as `data_files` does."""
        from abstraction.files.records import data_files

        return tuple(str(file) for path in paths for file in data_files(path, self.split))


def property_id(relation: str | None) -> str | None:
    """The property id of a relation: "P19" for "P19" or "p19". Raises RelationError for an invalid one."""
    from abstraction.base.relations import relation as relation_row

    if relation is None:
        return None
    # People write p19 for P19.
    return relation_row(relation.upper() if relation[:1] == "p" else relation).id


def check_language(language: str, option: str = "--language") -> None:
    """Raise UsageError for a text that is no language code; for the English name of a language the message has its
    code.
    """
    from granola.errors import UsageError

    if not language.strip():
        raise UsageError(f"{option} is empty; give a code such as en or de")
    # simple: Wikipedia's code for Simple English
    if not re.fullmatch(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]+)*|simple", language.strip()):
        from babel import Locale  # needed for the message alone

        codes = {name.lower(): code for code, name in Locale("en").languages.items()}
        expected = codes.get(language.strip().lower(), "one as en, de or pt-br")
        raise UsageError(f"{option} {language!r} is no code; expected {expected}")
