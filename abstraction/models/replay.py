"""A chat model that repeats what was recorded: a log of calls, or answers written down by hand.

A line of a log answers the requests that ask the same, to the letter. A line by hand is {"messages": [{"role",
"content"}, ...], "answers": [text, ...]}, or "prompt" for a single message of the user's, and answers its messages
however they are sampled.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from abstraction.errors import ModelError
from abstraction.models import wire
from abstraction.models.chat_model import (
    ROLES,
    Completion,
    Failure,
    FailureReason,
    Message,
    Reply,
    Request,
    Result,
    Totals,
)
from abstraction.models.ledger import KIND, SCHEMA_VERSION, read_calls
from kg.files import sha256_of


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a sample stands: a line's offset in the file, and the number of its answer in that line."""

    offset: int
    at: int


class ReplayModel:
    """Answers from a file, in which it looks up a line at a time: memory holds only where the lines are."""

    def __init__(self, path: Path | str) -> None:
        """Read where each answer stands. Raises ModelError naming file and line, OSError where there is no file."""
        self.path = Path(path)
        if not self.path.is_file():
            raise ModelError(f"replay:{path}: no such file; name the .jsonl of a run's calls, or answers by hand")
        self._places: dict[tuple[bytes, int], _Place] = {}
        # The identities of the models whose calls were recorded, as the log tells them.
        self.recorded: list[Mapping[str, Any]] = []
        self.damaged = 0  # lines that cannot be read: those that a killed run left
        self.identity: Mapping[str, Any] = {"kind": "replay", "sha256": sha256_of(path)}
        self.totals = Totals()
        for number, (offset, line) in enumerate(read_calls(path), start=1):
            if line is None:
                self.damaged += 1
            else:
                self._index(number, offset, line)
        if not self._places:
            raise ModelError(f"replay:{path}: no answers in it ({self.damaged} lines that are no JSON objects)")
        self._stream: BinaryIO = self.path.open("rb")

    def _index(self, number: int, offset: int, line: Mapping[str, Any]) -> None:
        where = f"replay:{self.path}, line {number}"
        if line.get("kind") == KIND:
            if line.get("schema_version") != SCHEMA_VERSION:
                raise ModelError(
                    f"{where}: a log of version {line.get('schema_version')!r}; this program reads version 1"
                )
            if isinstance(model := line.get("model"), dict) and model not in self.recorded:
                self.recorded.append(model)
        elif isinstance(key := line.get("key"), str):
            samples = line.get("samples")
            if line.get("error") is not None or not isinstance(samples, list):
                return
            received = line.get("received")
            choices = received.get("choices") if isinstance(received, dict) else None
            for at, sample in enumerate(samples[: len(choices) if isinstance(choices, list) else 0]):
                self._places.setdefault((_digest(key), int(sample)), _Place(offset, at))
        else:
            messages, answers = _by_hand(line, where)
            for at in range(len(answers)):
                self._places.setdefault((_digest(_messages_key(messages)), at), _Place(offset, at))

    def generate(self, requests: Iterable[Request]) -> Iterator[Result]:
        """As `ChatModel.generate`; what was not recorded is a Failure."""
        for request in requests:
            yield self._result(request)

    def _result(self, request: Request) -> Result:
        keys = (_digest(request.key()), _digest(_messages_key(request.messages)))
        completions: list[Completion] = []
        for sample in range(request.sampling.n):
            place = next((self._places[key, sample] for key in keys if (key, sample) in self._places), None)
            if place is None:
                break
            completions.append(self._completion(request, sample, place))
        self.totals = replace(
            self.totals, samples=self.totals.samples + len(completions), cached=self.totals.cached + len(completions)
        )
        if len(completions) == request.sampling.n:
            return Reply(request=request, completions=tuple(completions), cached=len(completions))
        return Failure(
            request=request,
            reason=FailureReason.NOT_RECORDED,
            message=f"{self.path} has {len(completions)} of the {request.sampling.n} answers to request {request.id}"
            " with these messages and settings",
            completions=tuple(completions),
        )

    def _completion(self, request: Request, sample: int, place: _Place) -> Completion:
        self._stream.seek(place.offset)
        line = orjson.loads(self._stream.readline())
        if "answers" in line:
            return Completion(
                text=line["answers"][place.at], finish_reason="stop", seed=request.sampling.seed_of(sample)
            )
        first = sample - place.at
        try:
            return wire.parse(line["received"], request, first=first, count=place.at + 1).completions[place.at]
        except (wire.BadReply, IndexError) as error:
            raise ModelError(
                f"{self.path}: the call of request {line.get('id')} has no answer in it: {error}"
            ) from error

    def close(self) -> None:
        """Release the file."""
        self._stream.close()


def _by_hand(line: Mapping[str, Any], where: str) -> tuple[tuple[Message, ...], list[str]]:
    messages = line.get("messages", [{"role": "user", "content": line.get("prompt")}])
    answers = line.get("answers")
    if not (isinstance(answers, list) and answers and all(isinstance(answer, str) for answer in answers)):
        raise ModelError(f"{where}: 'answers' must be a list of texts, or the line one of a log of calls")
    if (
        not isinstance(messages, list)
        or not messages
        or not all(
            isinstance(turn, dict) and turn.get("role") in ROLES and isinstance(turn.get("content"), str)
            for turn in messages
        )
    ):
        raise ModelError(f"{where}: give 'prompt', a text, or 'messages', a list of {{\"role\", \"content\"}}")
    return tuple(Message(role=turn["role"], content=turn["content"]) for turn in messages), answers


def _messages_key(messages: tuple[Message, ...]) -> str:
    return "by-hand:" + orjson.dumps([[message.role, message.content] for message in messages]).decode()


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest()[:16]
