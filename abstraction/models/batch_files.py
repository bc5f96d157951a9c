"""A provider's batch API by file: requests written as JSONL for an upload, results read back into the kept answers.

The form is OpenAI's, which vLLM's `run-batch` and other providers take as well. A line's `custom_id` names the request
by its key, and which of its samples are asked for, so that results need not come in order, or all at once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

import orjson

from abstraction.errors import ModelError
from abstraction.models.answer_store import read_calls
from abstraction.models.chat_model import FailureReason, Message, Request, Result, Totals, result_of
from abstraction.models.chat_protocol import PATH, choice_of, parse
from abstraction.models.http_client import Trouble, error_text
from abstraction.models.server_chat import OpenAIModel
from kg.files import atomic_path

_ID = re.compile(r"([0-9a-f]{64})-(\d{1,9})-(\d{1,9})")
_ANY = Request(id="result", messages=(Message(role="user", content=""),))  # choices are read without their request


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchTaken:
    """What a file of results had: answers that are kept now, and lines without one by the reason they tell."""

    answers: int = 0
    failed: Counter[str] = field(default_factory=Counter)


def take_results(model: OpenAIModel, path: Path | str) -> BatchTaken:
    """Keep the answers of a file of results, so that `model` does not ask for them. Raises ModelError."""
    answers, failed = 0, Counter[str]()
    try:
        for number, line in enumerate(read_calls(path), start=1):
            match = _ID.fullmatch(str((line or {}).get("custom_id")))
            if line is None or match is None:
                raise ModelError(
                    f"{path}, line {number}: no result of a request that batch_file= wrote; name the provider's output"
                )
            response = line.get("response")
            body = response.get("body") if isinstance(response, dict) else None
            first, wanted = int(match[2]), int(match[3])
            try:
                if not isinstance(response, dict) or response.get("status_code") != 200:
                    raise Trouble(FailureReason.REFUSED, error_text(body) or error_text(line) or "no answer")
                made = parse(body, _ANY, first=first, count=wanted).completions
            except Trouble as trouble:
                failed[str(trouble)] += 1
                continue
            model.keep(match[1], {first + at: choice_of(completion) for at, completion in enumerate(made)})
            answers += len(made)
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}") from error
    return BatchTaken(answers=answers, failed=failed)


class BatchWriter:
    """A chat model that asks nobody: what is not kept yet is written to a file; a context manager, whole or not at all.

    A request that is written is a Failure with the reason `written`, so that a run can go through all its rows.
    """

    def __init__(self, model: OpenAIModel, path: Path | str) -> None:
        self._model, self.path = model, Path(path)
        self.identity, self.sampling = model.identity, model.sampling
        self._written: set[str] = set()

    def __enter__(self) -> BatchWriter:
        self._place = atomic_path(self.path)
        self._file = self._place.__enter__().open("wb")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()
        self._place.__exit__(kind, error, at)

    @property
    def written(self) -> int:
        """How many requests are in the file."""
        return len(self._written)

    @property
    def totals(self) -> Totals:
        """What was kept before."""
        return self._model.totals

    def generate(self, requests: Iterable[Request]) -> Iterator[Result]:
        """As `ChatModel.generate`."""
        for request in requests:
            key = request.key()
            known = self._model.known(request, key)
            if None in known:
                self._write(request, key, known.index(None))
            yield result_of(request, known, FailureReason.WRITTEN, f"written to {self.path}, not asked for")

    def _write(self, request: Request, key: str, first: int) -> None:
        """A line for the samples from `first` on, once."""
        custom_id = f"{key}-{first}-{request.sampling.n - first}"
        if custom_id not in self._written:
            self._written.add(custom_id)
            body = self._model.body_of(request, range(first, request.sampling.n))
            line = {"custom_id": custom_id, "method": "POST", "url": f"/v1{PATH}", "body": body}
            self._file.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))

    def close(self) -> None:
        """Release files and connections."""
        self._model.close()
