"""Model servers: one client for all calls, chat models, and scores of texts.

Calls are made side by side, answered in order, and tried again where that may help. httpx2 sends and tenacity repeats;
the OpenAI SDK uses httpx2 too, but knows one provider's paths and not /rerank, reads environment variables that nobody
named, keeps one call's wait from the other calls, and does not return the bodies sent and received. httpx2 is continued
by httpx's author; huggingface_hub needs it as well.

Scores are asked for in the form of the servers that have each kind, many texts in one call:

    log-probabilities   POST URL/completions, `echo`: OpenAI's older form, as vLLM, llama.cpp's Python server and others
    relevance           POST URL/rerank: vLLM, Jina, Cohere; text-embeddings-inference takes the same path
    embeddings          POST URL/embeddings: OpenAI's form

Entailment, and the coherence of paragraphs, are judged by weights on this machine.
"""

from __future__ import annotations

import asyncio
import math
import os
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Coroutine, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import orjson
from pydantic import SecretStr

from abstraction.errors import ModelAccessError, ModelError, ModelSpecError, ModelUnreachableError
from abstraction.models.chat_model import (
    PATH,
    Ask,
    Attempt,
    FailureReason,
    NoAnswer,
    OnAttempt,
    Request,
    chat_request_body,
    choices_of,
    error_text,
)
from abstraction.models.spec import ServerChatSettings, ServerEmbeddingSettings, ServerScoreSettings, ServerSettings
from abstraction.models.text_scorers import LEAST, Continuation, EmbeddedText, QueryPassage, TokenScores
from kg.web.client import RetryDelays, excerpt, retry_after

if TYPE_CHECKING:
    import httpx2

CONNECT = 10.0  # seconds for the connection alone
LARGEST = 64 << 20  # bytes of an answer
AHEAD = 4  # items taken ahead of the results, as a multiple of the calls at once
_KEPT = 2000  # characters of an answer that is no JSON
_FIRST_TRIES = 3  # tries at a server that has never been reached
_ALWAYS_REFUSING = {401, 402}  # statuses of a wrong key or an empty account
_REFUSING = {403, 404, 405}  # a wrong key, address or model; before a first answer, wrong for every request
_RETRYABLE = {408, 409, 425}  # timeout, conflict and too early: another try may succeed
_SPENT = {"insufficient_quota", "billing_hard_limit_reached"}  # codes of a status 429 that waiting does not end
_LEAST_MASKED = 8  # characters from which a key is masked; shorter ones, such as EMPTY, occur in texts by chance
T = TypeVar("T")
R = TypeVar("R")


def api_key_from_environment(variable: str) -> SecretStr:
    """The key in an environment variable. Raises ModelSpecError where it is not set, or is no key."""
    value = os.environ.get(variable, "").strip()
    if not value:
        raise ModelSpecError(f"{variable} is not set: put the server's key there, or leave out key={variable}")
    if not all("!" <= letter <= "~" for letter in value):
        raise ModelSpecError(f"what {variable} holds is no key: letters, digits and signs of ASCII, without spaces")
    return SecretStr(value)


class RetryableError(Exception):
    """A call failed, and another may succeed. `after`: least seconds to wait; `crowded`: the server asks for fewer
    calls.
    """

    def __init__(
        self, reason: FailureReason, message: str, *, after: float | None = None, crowded: bool = False
    ) -> None:
        super().__init__(message)
        self.reason, self.after, self.crowded = reason, after, crowded


class ServerClient:
    """One model of one server. Safe for several threads; calls are made by one thread of its own."""

    def __init__(
        self, url: str, model: str, settings: ServerSettings | None = None, *, patience: RetryDelays | None = None
    ) -> None:
        """`url` is the base of all paths, usually up to /v1.

        `patience` overrides tries, waits and time limits of the settings. Raises ModelSpecError for an unset key.
        """
        self.url, self.model = url.rstrip("/"), model
        settings = settings or ServerSettings()
        self.concurrency, self._variable = settings.concurrency, settings.key
        self.key = None if settings.key is None else api_key_from_environment(settings.key)
        self._patience = patience or RetryDelays(
            tries=settings.tries, base=0.5, cap=60.0, longest=900.0, timeout=settings.timeout
        )
        self.answered_at: float | None = None
        self._given_up = 0  # requests given up in a row, by the server's own faults
        self._closed_until = 0.0  # monotonic seconds; the server wants no call before
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def model_at_url(self) -> str:
        """The model and the address of its server, for messages."""
        return f"{self.model} at {self.url}"

    def ask_concurrently(self, items: Iterable[T], ask: Callable[[T], Coroutine[Any, Any, R]]) -> Iterator[R]:
        """The results of `ask` for each item, in order, while more are asked; its errors are raised.

        Items are taken as they are needed. Close the iterator, or use it up, to end calls under way.
        """
        window: deque[Future[R]] = deque()
        try:
            for item in items:
                with self._lock:
                    if self._loop is None:
                        self._loop = asyncio.new_event_loop()
                        # A daemon: a call that is under way keeps nobody from ending the program.
                        threading.Thread(target=self._loop.run_forever, name="model-calls", daemon=True).start()
                        asyncio.run_coroutine_threadsafe(self._open_http_client(), self._loop).result()
                window.append(asyncio.run_coroutine_threadsafe(ask(item), self._loop))
                while window and (window[0].done() or len(window) >= AHEAD * self.concurrency):
                    yield window.popleft().result()
            while window:
                yield window.popleft().result()
        finally:
            for waiting in window:
                waiting.cancel()

    async def _open_http_client(self) -> None:
        import httpx2

        most = self.concurrency
        self._places = asyncio.Semaphore(most)
        shown = {"Authorization": f"Bearer {self.key.get_secret_value()}"} if self.key else {}
        self._http = httpx2.AsyncClient(
            headers={"Accept": "application/json", "Content-Type": "application/json", **shown},
            timeout=httpx2.Timeout(None, connect=min(CONNECT, self._patience.timeout)),
            limits=httpx2.Limits(max_connections=most, max_keepalive_connections=most),
            follow_redirects=False,  # the key must not be sent to another host
        )

    def close(self) -> None:
        """End what is under way, and release connections."""

        async def cancel_tasks_and_close() -> None:
            # asyncio reports tasks that are dropped unended on standard error.
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._http.aclose()

        with self._lock:
            loop, self._loop = self._loop, None
        if loop is not None:
            with suppress(Exception):
                asyncio.run_coroutine_threadsafe(cancel_tasks_and_close(), loop).result(5.0)
            loop.call_soon_threadsafe(loop.stop)

    async def post(self, path: str, body: Mapping[str, Any], read: Callable[[Any], R]) -> R:
        """The answer's JSON, converted by `read`, which raises RetryableError for another form.

        Raises NoAnswer for this request; ModelAccessError and ModelUnreachableError where every request would fail.
        """
        from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type

        payload = orjson.dumps(body)
        patience, begun, failed, waited = self._patience, time.monotonic(), 0, 0.0

        def seconds_until_next_try(state: RetryCallState) -> float:
            """Seconds until the next try; raises where there is none."""
            nonlocal failed, waited
            retryable: Any = state.outcome.exception() if state.outcome else None
            seconds = patience.delay(min(state.attempt_number, 20) - 1, retryable.after)
            failed, waited = failed + (not retryable.crowded), waited + seconds
            unreached = retryable.reason is FailureReason.UNREACHABLE and self.answered_at is None
            message = f"{self.model_at_url}: {retryable} ({state.attempt_number} calls"
            if failed >= (min(_FIRST_TRIES, patience.tries) if unreached else patience.tries):
                self._raise_after_last_try(retryable, f"{message})", begun)
            if waited > patience.longest:
                message = f"{message}, no answer after waiting {patience.longest:g} s"
                self._raise_after_last_try(retryable, f"{message})", begun)
            if not retryable.crowded:
                return seconds
            self._closed_until = max(self._closed_until, time.monotonic() + seconds)  # the others wait, too
            return 0.0

        async for attempt in AsyncRetrying(wait=seconds_until_next_try, retry=retry_if_exception_type(RetryableError)):
            with attempt:
                return await self._call_once(path, payload, read)
        raise AssertionError("tenacity ends with an answer or an error")

    def _raise_after_last_try(self, retryable: RetryableError, message: str, begun: float) -> None:
        """Raise NoAnswer for this request, or ModelUnreachableError where no other would fare better."""
        if retryable.reason is FailureReason.UNREACHABLE and (self.answered_at is None or self.answered_at < begun):
            raise ModelUnreachableError(f"{message}; is the server running, and the address right?")
        self._given_up += 1
        if self._given_up > max(20, self.concurrency):
            raise ModelUnreachableError(f"{message}; so did the {self._given_up - 1} requests before it")
        raise NoAnswer(retryable.reason, message)

    async def _call_once(self, path: str, payload: bytes, read: Callable[[Any], R]) -> R:
        async with self._places:
            while (wait := self._closed_until - time.monotonic()) > 0:  # a call has been told to wait
                await asyncio.sleep(wait)
            status, headers, content = await self._send_post(path, payload)
            received = self._parse_body_masking_key(content)
            if status != 200:
                raise self._error_of_status(path, status, headers, received)
            answer = read(received)
        self.answered_at, self._given_up = time.monotonic(), 0
        return answer

    async def _send_post(self, path: str, payload: bytes) -> tuple[int, httpx2.Headers, bytes]:
        import httpx2

        limit = self._patience.timeout  # for the whole answer, so that one that drips does not outlast it
        try:
            async with (
                asyncio.timeout(limit),
                self._http.stream("POST", f"{self.url}{path}", content=payload) as response,
            ):
                body = bytearray()
                async for part in response.aiter_bytes():
                    body += part
                    if len(body) > LARGEST:
                        raise RetryableError(FailureReason.BAD_ANSWER, f"an answer of more than {LARGEST >> 20} MiB")
                return response.status_code, response.headers, bytes(body)
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            raise RetryableError(FailureReason.UNREACHABLE, _root_cause(error)) from error
        except TimeoutError as error:
            raise RetryableError(FailureReason.TIME_LIMIT, f"no whole answer within {limit:g} s") from error
        except (httpx2.HTTPError, httpx2.StreamError, OSError) as error:
            raise RetryableError(FailureReason.BAD_ANSWER, _root_cause(error)) from error

    def _parse_body_masking_key(self, body: bytes) -> object:
        """The body as JSON, else the beginning of its text; without the key, should the server repeat it.

        A short key is a word that an answer may hold, and no secret.
        """
        key = self.key.get_secret_value() if self.key else ""
        if len(key) >= _LEAST_MASKED:
            for written in (key, key.replace("/", "\\/")):  # as JSON may write it
                body = body.replace(written.encode(), b"[key]")
        try:
            return orjson.loads(body)
        except orjson.JSONDecodeError:
            return excerpt(body, _KEPT)

    def _error_of_status(self, path: str, status: int, headers: Mapping[str, str], received: Any) -> Exception:
        """The error for an answer with another status than 200: a RetryableError where another try may succeed."""
        message = f"status {status}: {error_text(received) or 'no reason given'}"
        after = retry_after(headers)
        error = received.get("error") if isinstance(received, dict) else None
        if status == 429 and isinstance(error, dict) and str(error.get("code") or error.get("type")) in _SPENT:
            return ModelAccessError(f"{self.model_at_url}: {message}")
        if status == 429 or (status == 503 and after is not None):
            return RetryableError(FailureReason.OVERLOADED, message, after=after, crowded=True)
        if status >= 500 or status in _RETRYABLE:
            return RetryableError(FailureReason.SERVER_ERROR, message, after=after)
        if status in _ALWAYS_REFUSING or (status in _REFUSING and self.answered_at is None):
            how = f"the key in {self._variable}" if self.key else "no key was sent (key=VARIABLE names one)"
            return ModelAccessError(
                f"{self.model_at_url}: {message}; {how}; is the address right, up to /v1, and the model's name, and"
                f" does the server know {path}?"
            )
        if 300 <= status < 400 or status < 200:
            message = f"status {status} leads elsewhere; give the address it leads to"
            return ModelAccessError(f"{self.model_at_url}: {message}")
        return NoAnswer(FailureReason.REFUSED, f"{self.model_at_url}: {message}")


def _root_cause(error: BaseException) -> str:
    """The message of the first cause of a library's error."""
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    number = getattr(error, "errno", None)
    return os.strerror(number) if number and number > 0 else str(error)[:200] or type(error).__name__


class ServerChat:
    """One model of one server."""

    def __init__(self, client: ServerClient, settings: ServerChatSettings | None = None) -> None:
        self._client, self._settings = client, settings or ServerChatSettings()
        self.identity: Mapping[str, Any] = {
            "kind": "openai", "url": client.url, "model": client.model, "extra": dict(self._settings.body)
        }  # fmt: skip
        self.close = client.close
        self._one_by_one = False  # whether the server ignores or refuses `n`

    def request_body(self, request: Request, samples: Sequence[int]) -> dict[str, Any]:
        """The JSON body of a call for consecutive samples."""
        settings = self._settings
        return chat_request_body(
            request, samples, model=self._client.model, limit_field=settings.limit, extra_fields=settings.body
        )

    def fetch_answers(self, asks: Iterable[Ask], on_attempt: OnAttempt) -> Generator[NoAnswer | None, None, None]:
        """See `AnswerSource.fetch_answers`.

        Raises ModelAccessError where the server refuses the key or has no such model, ModelUnreachableError where it
        is away or fails at every request.
        """

        async def ask_all_samples(ask: Ask) -> NoAnswer | None:
            lacking = ask.samples
            try:
                if len(lacking) > 1 and not self._one_by_one:
                    lacking = lacking[await self._ask_consecutive_samples(ask, on_attempt) :]
                # Missing samples are asked for one by one, concurrently.
                singles = [self._ask_in_one_call(ask, [sample], on_attempt) for sample in lacking]
                for came in await asyncio.gather(*singles, return_exceptions=True):
                    if isinstance(came, BaseException):
                        raise came
            except NoAnswer as failure:
                return failure
            return None

        yield from self._client.ask_concurrently(asks, ask_all_samples)

    async def _ask_consecutive_samples(self, ask: Ask, on_attempt: OnAttempt) -> int:
        """Ask for samples that follow each other, in one call; return how many were answered, at least one."""
        run = [sample for at, sample in enumerate(ask.samples) if sample == ask.samples[0] + at]
        try:
            came = await self._ask_in_one_call(ask, run, on_attempt)
        except NoAnswer as failure:
            if len(run) == 1 or failure.reason is not FailureReason.REFUSED:
                raise
            # llama.cpp refuses more answers than it has slots.
            came = await self._ask_in_one_call(ask, run[:1], on_attempt)
        self._one_by_one |= came == 1 < len(run)
        return came

    async def _ask_in_one_call(self, ask: Ask, samples: Sequence[int], on_attempt: OnAttempt) -> int:
        """Ask for samples in one call; return how many were answered, which are the first ones."""

        def with_choice_count(answer: Any) -> tuple[Any, int]:
            try:
                return answer, len(choices_of(answer))
            except ValueError as error:
                raise RetryableError(FailureReason.BAD_ANSWER, str(error)) from error

        body, begun = self.request_body(ask.request, samples), time.monotonic()
        try:
            received, number = await self._client.post(PATH, body, with_choice_count)
        except NoAnswer as failure:
            on_attempt(ask, samples, Attempt(sent=body, seconds=time.monotonic() - begun, error=str(failure)))
            raise
        on_attempt(ask, samples, Attempt(sent=body, received=received, seconds=time.monotonic() - begun))
        return min(len(samples), number)


class _ServerScorer(ABC, Generic[T, R]):
    """A scorer that asks a server for one kind of scores."""

    _kind: ClassVar[str]
    _path: ClassVar[str]

    def __init__(self, client: ServerClient, settings: ServerScoreSettings | None = None) -> None:
        self._client, self._settings = client, settings or ServerScoreSettings()
        self.identity: Mapping[str, Any] = {
            "kind": "openai", "url": client.url, "model": client.model, "score": self._kind
        }  # fmt: skip

    @property
    def items_per_call(self) -> int:
        """The number of texts to give in one call of `scores`, so that all calls run side by side."""
        return self._settings.batch * self._client.concurrency

    def close(self) -> None:
        """Release connections."""
        self._client.close()

    def scores(self, items: Sequence[T], /) -> list[R]:
        """As `TextScorer.scores`."""

        async def ask(part: Sequence[T]) -> list[R]:
            sent = {"model": self._client.model, **self._request_body(part)}
            try:
                return await self._client.post(self._path, sent, lambda answer: self._checked_scores(answer, part))
            except NoAnswer as failure:
                lists = "" if len(part) == 1 else "; does the server take lists of texts? batch=1 sends them one by one"
                raise ModelError(f"{failure}{lists}") from failure

        return [found for part in self._client.ask_concurrently(self._batches(items), ask) for found in part]

    def _batches(self, items: Sequence[T]) -> Iterator[Sequence[T]]:
        """The parts of the items, one per call."""
        return (items[at : at + self._settings.batch] for at in range(0, len(items), self._settings.batch))

    @abstractmethod
    def _request_body(self, part: Sequence[T]) -> Mapping[str, Any]:
        """The JSON body of a call for some items, without the model."""

    @abstractmethod
    def _scores_in_answer(self, answer: Any, part: Sequence[T]) -> Sequence[R]:
        """The scores in an answer; any error raised in reading means that the answer has an unknown form."""

    def _checked_scores(self, answer: Any, part: Sequence[T]) -> list[R]:
        try:
            found = list(self._scores_in_answer(answer, part))
            if len(found) != len(part):
                raise ValueError(f"{len(found)} scores of {len(part)} texts")
        except (KeyError, IndexError, TypeError, ValueError, AttributeError, ModelError) as error:
            # Not tried again: the server would answer the same.
            raise NoAnswer(
                FailureReason.REFUSED,
                f"{self._client.model_at_url}: {self._path} answered in another form than is known ({error}): "
                f"{str(answer)[:300]}",
            ) from error
        return found


def _sorted_by_index(entries: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Entries by their index, which servers may give in any order. Raises ValueError for wrong ones."""
    if all(entry.get("index") is None for entry in entries):
        return list(entries)  # in the order of the answer
    ordered = sorted(entries, key=lambda entry: int(entry["index"]))
    if (indices := [entry["index"] for entry in ordered]) != list(range(len(ordered))):
        raise ValueError(f"indices {indices} of {len(ordered)} entries")
    return ordered


class ServerContinuations(_ServerScorer[Continuation, TokenScores]):
    """The prompt and the text are sent as one, and come back token by token with log-probabilities.

    Tokens are the server's: one that ends behind the prompt is the text's. A server gives no number for the very first
    token unless it puts a start token before it; then a text without a prompt has one token less.
    """

    _kind, _path = "logprobs", "/completions"

    def scores(self, items: Sequence[Continuation], /) -> list[TokenScores]:
        """As `TextScorer.scores`; the server is not asked about empty texts."""
        asked = iter(super().scores([one for one in items if one.text]))
        return [next(asked) if one.text else TokenScores(()) for one in items]

    def _request_body(self, part: Sequence[Continuation]) -> Mapping[str, Any]:
        whole = [one.prompt + one.text for one in part]
        # Some servers refuse to make no token at all: one is made and left out. One text goes as all servers take it.
        prompt = whole if len(whole) > 1 else whole[0]
        return {"prompt": prompt, "max_tokens": 1, "temperature": 0, "logprobs": 1, "echo": True}

    def _scores_in_answer(self, answer: Any, part: Sequence[Continuation]) -> list[TokenScores]:
        choices = _sorted_by_index(answer["choices"])
        return [_scores_of_echoed_tokens(one, choice["logprobs"]) for one, choice in zip(part, choices, strict=True)]


def _scores_of_echoed_tokens(continuation: Continuation, echoed: Mapping[str, Any]) -> TokenScores:
    whole = continuation.prompt + continuation.text
    tokens = [str(token) for token in echoed["tokens"]]
    begins = _token_starts(tokens, whole, echoed.get("text_offset"))
    taken = [
        number
        for token, begin, number in zip(tokens, begins, echoed["token_logprobs"], strict=True)
        if len(continuation.prompt) < begin + len(token) and 0 <= begin < len(whole) and number is not None
    ]
    if not taken and continuation.prompt:
        raise ValueError("no log-probability of the text that was sent: does it know `echo`?")
    return TokenScores(tuple(max(LEAST, min(0.0, float(number))) for number in taken))


def _token_starts(tokens: Sequence[str], whole: str, offsets: object) -> list[int]:
    """The place where each token begins in the sent text; below 0 for start tokens before it."""
    at = "".join(tokens).find(whole)
    if at >= 0:
        begins, here = [], -at
        for token in tokens:
            begins.append(here)
            here += len(token)
        return begins
    if isinstance(offsets, list) and len(offsets) == len(tokens):
        return [int(offset) for offset in offsets]
    raise ValueError("tokens that do not make up the text, without offsets")


class ServerRelevance(_ServerScorer[QueryPassage, float]):
    """A reranker's scores, the passages of one query in one call.

    Servers give a probability, or a logit where they are told not to normalise: a number outside [0, 1] is refused.
    """

    _kind, _path = "relevance", "/rerank"

    def _batches(self, items: Sequence[QueryPassage]) -> Iterator[Sequence[QueryPassage]]:
        by_query = groupby(items, key=lambda pair: pair.query)
        return (part for _, group in by_query for part in super(ServerRelevance, self)._batches(list(group)))

    def _request_body(self, part: Sequence[QueryPassage]) -> Mapping[str, Any]:
        passages = [pair.passage for pair in part]
        # `documents` is read by most, `texts` by text-embeddings-inference.
        return {"query": part[0].query, "documents": passages, "texts": passages}

    def _scores_in_answer(self, answer: Any, part: Sequence[QueryPassage]) -> list[float]:
        ranked = _sorted_by_index(answer["results"] if isinstance(answer, dict) else answer)
        if len(ranked) > 1 and ranked[0].get("index") is None:  # they come by rank
            raise ValueError("passages without an index")
        scores = [float(one["relevance_score"] if "relevance_score" in one else one["score"]) for one in ranked]
        if not all(0 <= score <= 1 for score in scores):
            raise ValueError(f"scores of {min(scores)} to {max(scores)}, which are not from 0 to 1")
        return scores


class ServerEmbeddings(_ServerScorer[EmbeddedText, list[float]]):
    """Vectors of texts, scaled to length 1; a query differs from other texts in its prompt alone."""

    _kind, _path = "embeddings", "/embeddings"

    def __init__(self, client: ServerClient, settings: ServerEmbeddingSettings | None = None) -> None:
        settings = settings or ServerEmbeddingSettings()
        super().__init__(client, settings)
        self._prompts = settings.passage_prompt or "", settings.query_prompt or ""
        self.identity = {**self.identity, "prompts": list(self._prompts)}

    def _request_body(self, part: Sequence[EmbeddedText]) -> Mapping[str, Any]:
        return {"input": [self._prompts[one.query] + one.text for one in part]}

    def _scores_in_answer(self, answer: Any, part: Sequence[EmbeddedText]) -> list[list[float]]:
        vectors = [[float(number) for number in entry["embedding"]] for entry in _sorted_by_index(answer["data"])]
        if not all(vectors):
            raise ValueError("an empty vector")
        lengths = [math.hypot(*vector) for vector in vectors]
        return [
            [number / (length or 1.0) for number in vector] for vector, length in zip(vectors, lengths, strict=True)
        ]
