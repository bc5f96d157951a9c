"""Answers of chat models in files: a provider's batch API, and the replay of what was recorded.

Requests of a batch are written as JSONL for an upload, in OpenAI's form, which vLLM's `run-batch` and other providers
take as well; results are read back into the kept answers. A line's `custom_id` names the model, the request by its
key, and which of its samples are asked for, so that results need not come in order, or all at once.

A replay repeats a log of calls, a provider's results, or answers by hand. A recorded call answers the requests that ask
the same, to the letter. A line by hand is {"messages": [{"role", "content"}, ...], "answers": [text, ...]}, or "prompt"
for a single message of the user's, and answers its messages however they are sampled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import orjson
from pydantic import BaseModel, Field, ValidationError

from abstraction.errors import ModelError
from abstraction.models.answer_store import KIND, KeptAnswers, custom_id_of, read_lines, recorded_call
from abstraction.models.chat_model import (
    PATH,
    Ask,
    Completion,
    FailureReason,
    Message,
    NoAnswer,
    Request,
    Told,
    choice_of,
    completion_of,
)
from abstraction.models.http_client import ServerChat
from kg.base.files import atomic_path, sha256_of


class Replay:
    """Answers from a file, kept in memory as they were received."""

    def __init__(self, path: Path | str) -> None:
        """Read it. Raises ModelError naming file and line, also where there is no file."""
        self._path = Path(path)
        if not self._path.is_file():
            raise ModelError(f"replay:{path}: no such file; name the .jsonl of a run's calls, or answers by hand")
        self.identity: Mapping[str, Any] = {"kind": "replay", "sha256": sha256_of(path)}
        self.recorded: list[Any] = []  # the identities of the models whose calls they are
        self._choices: dict[tuple[str, int], bytes] = {}
        for number, line in read_lines(path):
            if line is not None:  # else what a killed run left
                self._add_recorded_call(line, f"replay:{path}, line {number}")
        if not self._choices:
            raise ModelError(f"replay:{path}: no answers in it")

    def _add_recorded_call(self, line: Mapping[str, Any], where: str) -> None:
        if line.get("kind") == KIND:
            if isinstance(model := line.get("model"), dict) and model not in self.recorded:
                self.recorded.append(model)
            return
        if call := recorded_call(line):
            key, choices = call.key, call.choices
        else:
            try:
                hand = _ByHand.model_validate(line)
            except ValidationError as error:
                raise ModelError(
                    f"{where}: no call of a log, and no 'answers', a list of texts, to 'prompt', a text, or to"
                    f" 'messages', a list of {{\"role\", \"content\"}} ({error.errors()[0]['msg']})"
                ) from error
            asked = hand.messages or [Message(role="user", content=hand.prompt or "")]
            key, choices = _messages_key(asked), dict(enumerate(map(choice_of, hand.answers)))
        for sample, choice in choices.items():
            self._choices.setdefault((key, int(sample)), orjson.dumps(choice))

    def answers(self, asks: Iterable[Ask], told: Told) -> Generator[NoAnswer | None, None, None]:
        """Nothing is asked: an answer that is not recorded is missing."""
        for ask in asks:
            lacking = f"{self._path} lacks {len(ask.samples)} of the {ask.request.sampling.n} answers to request "
            why = f"{lacking}{ask.request.id} with these messages and settings"
            yield NoAnswer(FailureReason.NOT_RECORDED, why) if ask.samples else None

    def known(self, request: Request, key: str, samples: Sequence[int]) -> dict[int, Completion]:
        """The samples that were recorded."""
        by_hand = _messages_key(request.messages)
        found = {at: self._choices.get((key, at)) or self._choices.get((by_hand, at)) for at in samples}
        return {at: completion_of(orjson.loads(one)) for at, one in found.items() if one}

    def close(self) -> None:
        """There is nothing to close."""


class _ByHand(BaseModel):
    """A line that somebody wrote."""

    prompt: str | None = None
    messages: list[Message] = Field(default_factory=list)
    answers: list[str] = Field(min_length=1)


def _messages_key(messages: Sequence[Message]) -> str:
    return "by-hand:" + orjson.dumps([[message.role, message.content] for message in messages]).decode()


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
