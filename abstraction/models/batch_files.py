"""A provider's batch API by file: requests written as JSONL for an upload, results read back into the kept answers.

The form is OpenAI's, which vLLM's `run-batch` and other providers take as well. A line's `custom_id` names the model,
the request by its key, and which of its samples are asked for, so that results need not come in order, or all at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import orjson

from abstraction.errors import ModelError
from abstraction.models.answer_store import KeptAnswers
from abstraction.models.call_log import custom_id_of, read_lines, recorded_call
from abstraction.models.chat_model import PATH, Ask, FailureReason, NoAnswer, Told
from abstraction.models.server_chat import ServerChat
from kg.base.files import atomic_path


@dataclass(kw_only=True, slots=True)
class BatchTaken:
    """The content of a file of results: the number of answers kept, the models that gave them, failures by reason."""

    answers: int = 0
    models: set[str] = field(default_factory=set)
    failed: Counter[str] = field(default_factory=Counter)


def take_results(model: KeptAnswers, path: Path | str) -> BatchTaken:
    """Keep the answers of a file of results, so that `model` does not ask for them. Raises ModelError."""
    taken = BatchTaken()
    try:
        for number, line in read_lines(path):
            call = recorded_call(line or {})
            if call is None or not call.asked:
                raise ModelError(
                    f"{path}, line {number}: no result of a request that batch_file= wrote; name the provider's output"
                )
            if call.asked != model.name:
                raise ModelError(
                    f"{path}, line {number}: written for another model; give the address, name and body= that"
                    " batch_file= was given with"
                )
            model.keep(call.key, call.choices)
            taken.answers += len(call.choices)
            if call.error:
                taken.failed[call.error] += 1
            elif call.model:
                taken.models.add(call.model)
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}") from error
    return taken


@contextmanager
def written_to(model: KeptAnswers, path: Path | str) -> Iterator[set[str]]:
    """While open, `model` writes requests without an answer to a file, which appears whole at the end or not at all.

    A written request becomes a Failure with the reason `written`, so that a run goes through all its rows. The result
    is the set of their names.
    """
    asked = model.source
    with atomic_path(path) as place, place.open("wb") as stream:
        file = model.source = _BatchFile(model, Path(path), stream)
        try:
            yield file.written
        finally:
            model.source = asked


class _BatchFile:
    """A source of answers that asks nobody: it writes a line for each request, for its samples from the first to the
    last missing one.
    """

    def __init__(self, model: KeptAnswers, path: Path, stream: BinaryIO) -> None:
        assert isinstance(model.source, ServerChat)
        self.identity, self.written = model.identity, set[str]()
        self._server, self._model, self._path, self._stream = model.source, model.name, path, stream

    def answers(self, asks: Iterable[Ask], told: Told) -> Generator[NoAnswer | None, None, None]:
        """See `AnswerSource.answers`."""
        for ask in asks:
            if not ask.samples:
                yield None
                continue
            samples = range(ask.samples[0], ask.samples[-1] + 1)
            if (custom_id := custom_id_of(self._model, ask.key, samples)) not in self.written:
                self.written.add(custom_id)
                body = self._server.body_of(ask.request, samples)
                line = {"custom_id": custom_id, "method": "POST", "url": f"/v1{PATH}", "body": body}
                self._stream.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
            yield NoAnswer(FailureReason.WRITTEN, f"written to {self._path}, not asked for")

    def close(self) -> None:
        """The file is closed by whoever opened it."""
