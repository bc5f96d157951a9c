"""Predictions in files of other programs: fields named one by one, or outputs of harnesses and of a batch service.

Paths are those of `abstraction.files.row_shapes`.
"""

from __future__ import annotations

import json
import re
import struct
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import zstandard

from abstraction.base.faults import RejectedRow
from abstraction.errors import RowError
from abstraction.files.records import Record, open_for_reading, read_records
from abstraction.files.row_models import is_number
from abstraction.files.row_shapes import values_at
from granola.errors import PredictionError

Paths = tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class PredictionShape:
    """The paths of prediction, id and question in a row; the first path with a value counts, no path means the usual
    name.

    Several texts at the prediction's path are samples, and the first is the prediction. Rows with a value at `error`
    are no predictions. Of rows that differ only in the field `variant` the first is read: lm-eval writes one row for
    each filter.
    """

    prediction: Paths = ()
    id: Paths = ()
    question: Paths = ()
    error: Paths = ()
    variant: str = ""

    def with_usual_names(self, record: Record) -> Record:
        """The record with its fields renamed to the usual names. Raises RowError where there is no prediction."""
        data = dict(record.data)
        if reasons := _texts_at(record.data, self.error):
            raise RowError(f"no prediction: {reasons[0]}")
        for name, paths in (("prediction", self.prediction), ("id", self.id), ("question", self.question)):
            if not paths:
                continue
            texts = _texts_at(record.data, paths)
            # A named question path must exist; presets list several, of which a row may have none.
            is_needed = name == "prediction" or (name == "question" and len(paths) == 1)  # named in a setting
            if not texts and is_needed:
                raise RowError(f"nothing stands under {' or '.join(paths)}; the row has {record.names}")
            if texts:
                data[name] = texts[0]
                if name == "prediction" and len(texts) > 1:
                    data["samples"] = texts
            elif name == "id":
                # An id at the usual place is not the one that was asked for.
                data.pop("id", None)
        return replace(record, data=data)


# lm-evaluation-harness: `samples_TASK_DATE.jsonl` of --log_samples (EvaluationTracker.save_results_samples);
# inspect_ai: EvalSample in logs of the formats .eval and .json (inspect_ai.log); OpenAI: the output file of a batch of
# /v1/chat/completions, /v1/completions or /v1/responses.
PREDICTION_PRESETS: Mapping[str, PredictionShape] = {
    "lm-eval": PredictionShape(
        prediction=("resps.0.*", "filtered_resps.*"),
        id=("doc.id", "doc.question_id", "doc.qid", "doc_id"),
        question=("doc.question", "doc.query", "doc.problem", "doc.input"),
        variant="filter",
    ),
    "inspect": PredictionShape(
        prediction=("output.choices.*.message.content", "output.choices.*.message.content.*.text", "output.completion"),
        id=("id",),
        question=("metadata.question", "input", "input.0.content"),
        error=("error.message",),
    ),
    "openai-batch": PredictionShape(
        prediction=(
            "response.body.choices.*.message.content", "response.body.choices.*.message.content.*.text",
            "response.body.choices.*.message.refusal", "response.body.choices.*.text",
            "response.body.output.*.content.*.text", "response.body.output.*.content.*.refusal",
        ),
        id=("custom_id",),
        error=("error.message", "response.body.error.message"),
    ),
}  # fmt: skip


def prediction_shape(
    preset: str | None = None, *, prediction: str | None = None, id: str | None = None, question: str | None = None
) -> PredictionShape | None:
    """The shape of a preset, overridden by the fields that are named; None where nothing is given.

    Raises PredictionError for an unknown preset.
    """
    if preset is not None and preset not in PREDICTION_PRESETS:
        raise PredictionError(f"preset {preset!r} is not known; there are {', '.join(PREDICTION_PRESETS)}")
    fields = {"prediction": prediction, "id": id, "question": question}
    named: dict[str, Any] = {name: (path,) for name, path in fields.items() if path}
    if preset is None and not named:
        return None
    return replace(PREDICTION_PRESETS[preset] if preset else PredictionShape(), **named)


def read_with_shape(path: Path | str, shape: PredictionShape) -> Iterator[Record | RejectedRow]:
    """The records of a file, with the usual names. Raises RowError for an unusable file."""
    first_variant: object = None
    for record in _records_or_samples(path):
        if isinstance(record, RejectedRow):
            yield record
            continue
        # lm-eval repeats each response for every filter; the first filter is read.
        if shape.variant and (variant := record.data.get(shape.variant)) is not None:
            first_variant = variant if first_variant is None else first_variant
            if variant != first_variant:
                continue
        try:
            yield shape.with_usual_names(record)
        except RowError as error:
            yield RejectedRow(source=record.source, reason=str(error), excerpt=str(record.data)[:200])


def _records_or_samples(path: Path | str) -> Iterator[Record | RejectedRow]:
    """The rows of a file in any readable format, or the samples of a log of inspect_ai."""
    if str(path) == "-" or not Path(path).is_file():
        yield from read_records(path)
    elif zipfile.is_zipfile(path):
        yield from _samples_of_archive(Path(path))
    elif (samples := _samples_of_log(Path(path))) is not None:
        for place, sample in enumerate(samples, start=1):
            yield Record(source=f"{path}:sample {place}", data=sample)
    else:
        yield from read_records(path)


ZSTANDARD = 93  # the zip method number of inspect_ai's archives, which zipfile does not support before Python 3.14


def _samples_of_archive(path: Path) -> Iterator[Record]:
    """The samples of a log in inspect_ai's format .eval: an archive with a JSON file for each sample."""
    with zipfile.ZipFile(path) as archive:
        # Other entries of the archive are its header and summaries.
        infos = [one for one in archive.infolist() if re.fullmatch(r"samples/.+\.json", one.filename)]
        for info in sorted(infos, key=lambda one: one.filename):
            data = json.loads(_entry_bytes(archive, path, info))
            if isinstance(data, dict):
                yield Record(source=f"{path}:{info.filename}", data=data)
    if not infos:
        raise RowError(f"{path}: no samples in this archive; expected a log of inspect_ai")


def _entry_bytes(archive: zipfile.ZipFile, path: Path, info: zipfile.ZipInfo) -> bytes:
    """A file of an archive, also where it is compressed with Zstandard."""
    if info.compress_type != ZSTANDARD:
        return archive.read(info)
    with path.open("rb") as stream:
        # zipfile knows where the entry begins but not how to decompress it.
        stream.seek(info.header_offset)
        name, extra = struct.unpack("<26xHH", stream.read(30))  # the lengths of two fields that follow the local header
        stream.seek(name + extra, 1)
        return zstandard.ZstdDecompressor().decompressobj().decompress(stream.read(info.compress_size))


def _samples_of_log(path: Path) -> list[dict[str, Any]] | None:
    """The samples of a log of inspect_ai in JSON; None for any other file."""
    with open_for_reading(path) as stream:
        # The first 2,000 bytes show whether it is a log: parsing every large file as JSON is slow.
        head = stream.read(2_000).lstrip()
        if not head.startswith(b"{") or b'"eval"' not in head:
            return None
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
        except ValueError:
            return None
    samples = data.get("samples") if isinstance(data, dict) and "eval" in data else None
    return [one for one in samples if isinstance(one, dict)] if isinstance(samples, list) else None


def _texts_at(data: Mapping[str, Any], paths: Iterable[str]) -> list[str]:
    """The texts under the first path with any; numbers as their digits."""
    for path in paths:
        values = values_at(data, path)
        if found := [str(value) for value in values if isinstance(value, str) or is_number(value)]:
            return found
    return []
