"""A chat model behind any server that speaks OpenAI's chat completions.

vLLM, llama.cpp, Ollama, `transformers serve`, hosted ones. They differ in what they pass over: many give one answer
whatever `n` says, so answers are counted and the lacking ones asked for one by one, each with its own seed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from abstraction.models.answer_store import AnswerStore
from abstraction.models.chat_model import Completion, FailureReason, Request, Result, Totals, result_of
from abstraction.models.chat_protocol import PATH, Parsed, body_of, parse
from abstraction.models.http_client import ApiKey, Attempt, CallFailed, ServerClient, ServerSettings


class OpenAIModel:
    """One model of one server. Safe for several threads."""

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key: ApiKey | None = None,
        settings: ServerSettings | None = None,
        cache: Path | str | None = None,
        log: Path | str | None = None,
    ) -> None:
        """`url` is the server's address up to /v1; `model` the name that the server knows it by.

        `cache` keeps answers, `log` every call. Raises ModelError for an address or a file that cannot be used.
        """
        self._client = ServerClient(url, model, key=key, settings=settings)
        self.settings = self._client.settings
        self._store = AnswerStore(self.identity, cache=cache, log=log)
        self.known, self.keep = self._store.known, self._store.keep
        self.sampling: Mapping[str, Any] = {}  # what its word says of it, for `sampling_of`
        self._one_by_one = False  # n is passed over or refused
        self._under_way: dict[str, asyncio.Future[list[Completion | None]]] = {}  # by key: asked once at a time

    @property
    def identity(self) -> Mapping[str, Any]:
        """The address, the name and what else is sent with each request."""
        client = self._client
        return {"kind": "openai", "url": client.url, "model": client.model, "extra": dict(client.settings.body)}

    @property
    def totals(self) -> Totals:
        """What was done until now."""
        return self._store.totals

    def generate(self, requests: Iterable[Request]) -> Iterator[Result]:
        """As `ChatModel.generate`.

        Raises ModelAccessError where the server refuses the key or has no such model, ModelUnreachableError where it
        is not there or fails whatever it is asked.
        """
        return self._client.in_order(requests, self._answered)

    def close(self) -> None:
        """Release connections and files."""
        self._client.close()
        self._store.close()

    async def _answered(self, request: Request) -> Result:
        key = request.key()
        before = self._under_way.get(key)
        mine = self._under_way[key] = asyncio.get_running_loop().create_future()
        completions: list[Completion | None] = []
        failure: CallFailed | None = None
        try:
            had = await asyncio.shield(before) if before is not None else []
            completions = [*had, *self._store.known(request, key)[len(had) :]][: request.sampling.n]
            cached = len(completions) - completions.count(None)
            if None in completions and not self._one_by_one:
                failure = await self._fill(request, key, completions, [_lacking(completions)])
            if None in completions and failure is None:  # what that did not bring is asked for one by one
                singles = [range(at, at + 1) for at, completion in enumerate(completions) if completion is None]
                failure = await self._fill(request, key, completions, singles)
        finally:
            mine.set_result(completions)
            if self._under_way.get(key) is mine:
                del self._under_way[key]
        failure = failure or CallFailed(FailureReason.BAD_ANSWER, "fewer answers than asked for")
        return result_of(request, completions, failure.reason, str(failure), cached=cached)

    async def _fill(
        self, request: Request, key: str, completions: list[Completion | None], runs: Sequence[range]
    ) -> CallFailed | None:
        """Ask for runs of samples side by side; what failed, if any did."""
        asked = await asyncio.gather(*(self._ask(request, key, run) for run in runs), return_exceptions=True)
        failure: CallFailed | None = None
        for run, found in zip(runs, asked, strict=True):
            if isinstance(found, CallFailed):
                failure = found
            elif isinstance(found, BaseException):
                raise found
            else:
                for sample, completion in zip(run, found, strict=False):
                    completions[sample] = completion
        return failure

    async def _ask(self, request: Request, key: str, samples: range) -> Sequence[Completion]:
        """At least one of the samples, from the first on."""
        try:
            completions = await self._post(request, key, samples)
        except CallFailed as failure:
            if len(samples) == 1 or failure.reason is not FailureReason.REFUSED:
                raise
            # llama.cpp refuses more answers than it has slots.
            completions = await self._post(request, key, samples[:1])
        if len(completions) == 1 and len(samples) > 1:
            self._one_by_one = True
        return completions

    def body_of(self, request: Request, samples: range) -> dict[str, Any]:
        """What asks for some samples of a request."""
        return body_of(
            request, model=self._client.model, first=samples.start, count=len(samples), settings=self.settings
        )

    async def _post(self, request: Request, key: str, samples: range) -> Sequence[Completion]:
        body = self.body_of(request, samples)

        def told(attempt: Attempt, answer: Parsed | None) -> None:
            had = () if answer is None else (answer.completions, answer.tokens)
            self._store.called(request, key, samples, body, attempt, *had)

        def read(answer: Any) -> Parsed:
            return parse(answer, request, first=samples.start, count=len(samples))

        return (await self._client.post(PATH, body, read, told=told)).completions


def _lacking(completions: Sequence[Completion | None]) -> range:
    """The first numbers in a row without a completion: as a rule all behind those that were kept."""
    first = completions.index(None)
    end = next((at for at in range(first, len(completions)) if completions[at] is not None), len(completions))
    return range(first, end)
