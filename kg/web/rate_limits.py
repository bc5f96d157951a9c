"""Rate limits and retries of online services: who asks, how often, and when to try again.

As Wikimedia asks for: a User-Agent that names the operator, at most three requests at a time, Retry-After
honoured, and jittered exponential back-off where none is given.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar
from urllib.parse import urlsplit

from kg import __version__
from kg.errors import MissingContactError, RateLimitedError, ServiceError

CONTACT = "GRANOLA_CONTACT"
AT_ONCE = 3  # requests in flight to one host, whoever sends them

T = TypeVar("T")


def contact() -> str:
    """The operator's mail address or URL, from the environment.

    Raises MissingContactError where there is none: services limit and block by it, so it cannot be ours.
    """
    address = os.environ.get(CONTACT, "").strip()
    if not address:
        raise MissingContactError(
            f"{CONTACT} is not set: online services want to know who asks; set it to your mail address or the"
            f" address of your page, as in {CONTACT}=me@example.org"
        )
    if any(ord(letter) < 32 or ord(letter) > 126 for letter in address) or not ("@" in address or "." in address):
        raise MissingContactError(f"{CONTACT} is {address!r}; expected a mail address or the address of a page")
    return address


def user_agent() -> str:
    """<client>/<version> (<contact>) <library>/<version>, the form that Wikimedia's policy asks for."""
    import requests

    return f"granola-ladders/{__version__} ({contact()}) requests/{requests.__version__}"


class HostLimit:
    """The requests to one host: a few at a time, and none before it accepts requests again."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._places = threading.BoundedSemaphore(at_once)
        self._lock = threading.Lock()
        self._not_before = 0.0

    @contextmanager
    def waiting_turn(self, sleep: Callable[[float], None]) -> Iterator[None]:
        """Wait for a free place and for the host to accept requests; occupy the place during the block."""
        with self._places:
            while (wait := self._not_before - time.monotonic()) > 0:
                sleep(wait)
            yield

    def close_for(self, seconds: float) -> None:
        """Let nobody pass for so long."""
        with self._lock:
            self._not_before = max(self._not_before, time.monotonic() + seconds)


_GATES: dict[str, HostLimit] = {}
_GATES_LOCK = threading.Lock()


def host_limit(url: str) -> HostLimit:
    """The one gate of a host, for all that ask it from this process."""
    with _GATES_LOCK:
        return _GATES.setdefault(urlsplit(url).netloc.lower(), HostLimit())


class TryAgain(Exception):  # noqa: N818 - no error yet: it becomes one when the tries are spent
    """A failed try that may succeed later. `after`: seconds that the service asks to wait. `error`: raised if tries
    run out.
    """

    def __init__(self, error: ServiceError, after: float | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.after = after


@dataclass(frozen=True, kw_only=True, slots=True)
class RetryDelays:
    """Number of retries and waiting times: `base` seconds doubled each time up to `cap`, minus a random part of up to
    half.

    Retry libraries, urllib3's among them, wait for one request: they cannot hold back the other threads that request
    from the same host, which Wikimedia requires of a client that is asked to wait. `longest`: a Retry-After beyond it
    is not waited for. `timeout`: seconds for one request, whole.
    """

    tries: int = 6
    base: float = 1.0
    cap: float = 60.0
    longest: float = 900.0
    timeout: float = 60.0
    sleep: Callable[[float], None] = field(default=time.sleep)

    def delay(self, attempt: int, after: float | None) -> float:
        """Seconds to wait after try number `attempt`, from 0. `after` is waited for at least."""
        backoff: float = min(self.cap, self.base * 2.0**attempt) * random.uniform(0.5, 1.0)
        return max(backoff, after or 0.0)

    def repeat(self, url: str, ask: Callable[[], T]) -> T:
        """Call `ask` until it succeeds; it raises `TryAgain` for errors that may pass. Raises the last error
        otherwise.
        """
        gate = host_limit(url)
        attempt = 0
        while True:
            try:
                with gate.waiting_turn(self.sleep):
                    return ask()
            except TryAgain as failure:
                attempt += 1
                if attempt >= self.tries:
                    raise type(failure.error)(f"{failure.error} ({attempt} tries)") from failure
                if failure.after is not None and failure.after > self.longest:
                    raise RateLimitedError(
                        f"{failure.error}; it asks to wait {failure.after:.0f} s: try again later"
                    ) from failure
                wait = self.delay(attempt - 1, failure.after)
                # A wait requested by the host applies to all threads of the process, a lost connection to this one.
                if failure.after is not None or isinstance(failure.error, RateLimitedError):
                    gate.close_for(wait)
                else:
                    self.sleep(wait)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait by a Retry-After header, seconds or an HTTP date; None where there is none to understand."""
    text = headers.get("Retry-After")
    if text is None:
        return None
    text = text.strip()
    try:
        seconds = float(text)
        return max(0.0, seconds) if seconds < float("inf") else None
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(text)
    except (TypeError, ValueError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def excerpt(body: bytes, size: int = 160) -> str:
    """The beginning of an answer, on one line, for a message."""
    text = " ".join(body[: size * 4].decode("utf-8", "replace").split())
    return text[:size] + ("..." if len(text) > size else "")
