"""A server that scores texts: calls under way together, answered in order, tried again where that may help."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

import orjson

from abstraction.errors import ModelAccessError, ModelError, ModelUnreachableError
from abstraction.models.http_call import ApiKey, Broken, NoConnection, Poster, TooSlow
from abstraction.models.openai_server import check_address
from kg.web.rate_limits import RetryDelays, excerpt, retry_after

_TOLD = 300  # characters of an answer in a message
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoringServerSettings:
    """`concurrency`: calls under way at most. `patience`: tries, waits and time limits."""

    concurrency: int = 16
    patience: RetryDelays = field(
        default_factory=lambda: RetryDelays(tries=5, base=0.5, cap=30.0, longest=300.0, timeout=120.0)
    )


class ScoringServer:
    """One address and one name of a model. Safe for several threads."""

    def __init__(
        self, url: str, model: str, *, key: ApiKey | None = None, settings: ScoringServerSettings | None = None
    ) -> None:
        """`url` is the part of the address before the path of a kind of scores. Raises ModelError for no address."""
        check_address(url)
        self.url = url.rstrip("/")
        self.model = model
        self._key = key
        self._settings = settings or ScoringServerSettings()
        self._posters: dict[str, Poster] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()

    @property
    def identity(self) -> Mapping[str, Any]:
        """The address and the name."""
        return {"kind": "openai", "url": self.url, "model": self.model}

    @property
    def shown(self) -> str:
        """For messages."""
        return f"{self.model} at {self.url}"

    def each(self, items: Sequence[T], ask: Callable[[T], Any]) -> list[Any]:
        """What `ask` returns for each item, in their order. The first error ends what has not begun, and is raised."""
        self._stop.clear()
        with ThreadPoolExecutor(max_workers=self._settings.concurrency) as pool:
            try:
                return list(pool.map(ask, items))
            except BaseException:
                self._stop.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """The answer's JSON. Raises ModelError, and of its kinds where the server is not there or refuses."""
        with self._lock:
            poster = self._posters.get(path)
            if poster is None:
                header = self._key.header() if self._key else {}
                poster = Poster(f"{self.url}{path}", header, self._settings.patience.timeout)
                self._posters[path] = poster
        patience, waited = self._settings.patience, 0.0
        for tries in range(patience.tries):
            after: float | None = None
            try:
                answer = poster.post(orjson.dumps(body))
            except (NoConnection, Broken, TooSlow) as error:
                trouble: Exception = ModelUnreachableError(f"{self.shown}: {error}; is the server running?")
            else:
                if answer.status == 200:
                    return self._json(answer.body, path)
                answer_text = excerpt(self._key.scrubbed_bytes(answer.body) if self._key else answer.body, _TOLD)
                if answer.status in (401, 402, 403):
                    raise ModelAccessError(
                        f"{self.shown}: status {answer.status}: {answer_text}; key=VARIABLE names a key"
                    )
                if answer.status in (404, 405):
                    raise ModelAccessError(
                        f"{self.shown}: status {answer.status} for {path}: is the address right, the model's name, "
                        f"and does this server give such scores? {answer_text}"
                    )
                trouble = ModelError(f"{self.shown}: status {answer.status}: {answer_text}")
                if answer.status < 500 and answer.status not in (408, 409, 425, 429):
                    raise trouble
                after = retry_after(answer.headers)
            wait = patience.delay(tries, after)
            waited += wait
            if tries + 1 == patience.tries or waited > patience.longest or self._stop.wait(wait):
                raise trouble
        raise ModelError(f"{self.shown}: no try allowed")

    def _json(self, body: bytes, path: str) -> Any:
        try:
            return orjson.loads(body)
        except orjson.JSONDecodeError as error:
            raise self.misread(path, excerpt(body, _TOLD)) from error

    def misread(self, path: str, answer: object) -> ModelError:
        """An answer that is not in the form of its kind."""
        return ModelError(f"{self.shown}: {path} answered in another form than is known: {str(answer)[:_TOLD]}")

    def close(self) -> None:
        """Release connections."""
        for poster in self._posters.values():
            poster.close()
