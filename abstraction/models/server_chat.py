"""Answers from any server that speaks OpenAI's chat completions: vLLM, llama.cpp, Ollama, `transformers serve`, hosted
ones.

Many servers give one answer whatever `n` is, so answers are counted, and missing ones are asked for one by one, each
with its own seed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import Any

from abstraction.models.chat_model import (
    PATH,
    Ask,
    Attempt,
    FailureReason,
    NoAnswer,
    Request,
    Told,
    body_of,
    choices_of,
)
from abstraction.models.http_client import ServerClient, Trouble
from abstraction.models.model_settings import ServerChatSettings


class ServerChat:
    """One model of one server."""

    def __init__(self, client: ServerClient, settings: ServerChatSettings | None = None) -> None:
        self._client, self._settings = client, settings or ServerChatSettings()
        self.identity: Mapping[str, Any] = {
            "kind": "openai", "url": client.url, "model": client.model, "extra": dict(self._settings.body)
        }  # fmt: skip
        self.close = client.close
        self._one_by_one = False  # n is passed over or refused

    def body_of(self, request: Request, samples: Sequence[int]) -> dict[str, Any]:
        """The request for consecutive samples."""
        limit, more = self._settings.limit, self._settings.body
        return body_of(request, samples, model=self._client.model, limit=limit, more=more)

    def answers(self, asks: Iterable[Ask], told: Told) -> Generator[NoAnswer | None, None, None]:
        """See `AnswerSource.answers`. Raises ModelAccessError where the server refuses the key or has no such model,
        ModelUnreachableError where it is away or fails at every request.
        """

        async def answered(ask: Ask) -> NoAnswer | None:
            lacking = ask.samples
            try:
                if len(lacking) > 1 and not self._one_by_one:
                    lacking = lacking[await self._several(ask, told) :]
                # Missing samples are asked for one by one, concurrently.
                singles = [self._post(ask, [sample], told) for sample in lacking]
                for came in await asyncio.gather(*singles, return_exceptions=True):
                    if isinstance(came, BaseException):
                        raise came
            except NoAnswer as failure:
                return failure
            return None

        yield from self._client.in_order(asks, answered)

    async def _several(self, ask: Ask, told: Told) -> int:
        """Ask for samples that follow each other in one call; how many came, at least one."""
        run = [sample for at, sample in enumerate(ask.samples) if sample == ask.samples[0] + at]
        try:
            came = await self._post(ask, run, told)
        except NoAnswer as failure:
            if len(run) == 1 or failure.reason is not FailureReason.REFUSED:
                raise
            came = await self._post(ask, run[:1], told)  # llama.cpp refuses more answers than it has slots
        self._one_by_one |= came == 1 < len(run)
        return came

    async def _post(self, ask: Ask, samples: Sequence[int], told: Told) -> int:
        """Ask for samples; how many came, the first ones of them."""
        body, begun = self.body_of(ask.request, samples), time.monotonic()
        try:
            received = await self._client.post(PATH, body, _with_choices)
        except NoAnswer as failure:
            told(ask, samples, Attempt(sent=body, seconds=time.monotonic() - begun, error=str(failure)))
            raise
        told(ask, samples, Attempt(sent=body, received=received, seconds=time.monotonic() - begun))
        return min(len(samples), len(choices_of(received)))


def _with_choices(answer: Any) -> Any:
    try:
        choices_of(answer)
    except ValueError as error:
        raise Trouble(FailureReason.BAD_ANSWER, str(error)) from error
    return answer
