"""Requests to web services: whole answers of bounded size and time, or errors that name a remedy.

Answers are cached on disk, so that an interrupted or repeated run requests only missing ones.
"""

from __future__ import annotations

import hashlib
import math
import os
import random
import sqlite3
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from email.utils import mktime_tz, parsedate_tz
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from kg import __version__
from kg.errors import MissingContactError, QueryError, RateLimitedError, ServiceError, SourceError, TimeLimitError
from kg.web.addresses import ServiceAddress, without_secrets

_CHUNK = 500  # keys per query; SQLite before 3.32 allows 999 parameters
_APPLICATION_ID = 0x4B474341  # "KGCA"


class AnswerCache:
    """Key -> bytes with the time it was fetched, in one SQLite file. Safe for several threads and processes."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(self.path, timeout=60, isolation_level=None, check_same_thread=False)
            (application_id,) = self._connection.execute("PRAGMA application_id").fetchone()
            tables = {name for (name,) in self._connection.execute("SELECT name FROM sqlite_master")}
            if application_id != _APPLICATION_ID and tables - {"answer"}:
                self._connection.close()
                raise SourceError(f"{path} is a database but no cache of answers; name another file")
            self._connection.executescript(
                f"PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA application_id = {_APPLICATION_ID};"
                "CREATE TABLE IF NOT EXISTS answer (key TEXT PRIMARY KEY, fetched REAL NOT NULL, body BLOB NOT NULL)"
                " WITHOUT ROWID"
            )
        except (sqlite3.Error, OSError) as error:
            raise SourceError(f"{path} cannot be used as a cache: {error}; name another file or remove it") from error
        self.first: float | None = None  # earliest and latest fetch time of the answers read or written
        self.last: float | None = None

    def get(self, keys: Iterable[str]) -> dict[str, bytes]:
        """The cached answers for some keys; a damaged entry counts as missing."""
        listed = list(keys)
        bodies: dict[str, bytes] = {}
        for at in range(0, len(listed), _CHUNK):
            part = listed[at : at + _CHUNK]
            marks = ", ".join("?" * len(part))
            try:
                with self._lock:
                    rows = self._connection.execute(
                        f"SELECT key, fetched, body FROM answer WHERE key IN ({marks})", part
                    ).fetchall()
            except sqlite3.Error as error:
                raise SourceError(f"{self.path} cannot be read: {error}; remove it or name another") from error
            for key, fetched, body in rows:
                try:
                    bodies[key] = zlib.decompress(body)
                except zlib.error:
                    continue
                self._note_fetch_time(fetched)
        return bodies

    def put(self, answers: Mapping[str, bytes]) -> None:
        """Store answers, with now as the time at which they were fetched."""
        now = time.time()
        rows = [(key, now, zlib.compress(body, 1)) for key, body in answers.items()]
        with self._lock:
            try:
                self._connection.execute("BEGIN IMMEDIATE")  # a lock that is upgraded later may fail without a wait
                self._connection.executemany("INSERT OR REPLACE INTO answer VALUES (?, ?, ?)", rows)
                self._connection.execute("COMMIT")
            except sqlite3.Error as error:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise SourceError(f"{self.path}: an answer cannot be kept: {error}") from error
        self._note_fetch_time(now)

    def _note_fetch_time(self, moment: float) -> None:
        self.first = moment if self.first is None else min(self.first, moment)
        self.last = moment if self.last is None else max(self.last, moment)

    def close(self) -> None:
        """Release the file; one without an answer is removed."""
        (is_empty,) = self._connection.execute("SELECT NOT EXISTS (SELECT 1 FROM answer)").fetchone()
        self._connection.close()
        if is_empty:
            self.path.unlink(missing_ok=True)  # an empty file is not left behind


def cache_key(*parts: str) -> str:
    """A key of fixed length for a request: service, parameters, id."""
    return hashlib.sha256("\x00".join(parts).encode()).hexdigest()  # no part has the character NUL


CONTACT = "GRANOLA_CONTACT"
AT_ONCE = 3  # requests in flight to one host, whoever sends them

LARGEST = 256 << 20  # bytes of an answer
CONNECTING = 10.0  # longest time in seconds to open a connection
_EXCERPT = 1 << 16  # bytes of an answer that a message is taken from

T = TypeVar("T")


def user_agent() -> str:
    """<client>/<version> (<contact>) <library>/<version>, the form that Wikimedia's policy asks for.

    The contact is the operator's mail address or URL, from the environment. Raises MissingContactError where there is
    none: services limit and block by it, so it cannot be ours.
    """
    import requests

    address = os.environ.get(CONTACT, "").strip()
    if not address:
        raise MissingContactError(
            f"{CONTACT} is not set: online services want to know who asks; set it to your mail address or the"
            f" address of your page, as in {CONTACT}=me@example.org"
        )
    if not (address.isascii() and address.isprintable()) or not ("@" in address or "." in address):
        raise MissingContactError(f"{CONTACT} is {address!r}; expected a mail address or the address of a page")
    return f"granola-ladders/{__version__} ({address}) requests/{requests.__version__}"


@dataclass(kw_only=True, slots=True)
class HostLimit:
    """The requests to one host: a few at a time, and none before it accepts requests again."""

    places: threading.BoundedSemaphore = field(default_factory=lambda: threading.BoundedSemaphore(AT_ONCE))
    lock: threading.Lock = field(default_factory=threading.Lock)
    not_before: float = 0.0


_LIMITS: dict[str, HostLimit] = {}


class TryAgain(Exception):  # noqa: N818 - no error yet: it becomes one when the tries are spent
    """A failed try that may succeed `after` seconds, where the service gives them; `error` is raised at the end."""

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

    def call_with_retries(self, url: str, ask: Callable[[], T]) -> T:
        """Call `ask` until it succeeds; it raises `TryAgain` for errors that may pass. Raises the last error."""
        # One limit for all that ask a host from this process; `setdefault` is atomic.
        limit = _LIMITS.setdefault(urlsplit(url).netloc.lower(), HostLimit())
        attempt = 0
        while True:
            try:
                with limit.places:
                    while (wait := limit.not_before - time.monotonic()) > 0:
                        self.sleep(wait)
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
                    with limit.lock:
                        limit.not_before = max(limit.not_before, time.monotonic() + wait)
                else:
                    self.sleep(wait)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds to wait by a Retry-After header (seconds or an HTTP date), None without a readable one."""
    text = headers.get("Retry-After", "")
    try:
        seconds = float(text)
    except ValueError:
        date = parsedate_tz(text)
        seconds = math.nan if date is None else mktime_tz(date) - time.time()
    return max(0.0, seconds) if math.isfinite(seconds) else None


def excerpt(body: bytes, size: int = 160) -> str:
    """The beginning of an answer, on one line, for a message."""
    text = " ".join(body[: size * 4].decode("utf-8", "replace").split())
    return text[:size] + ("..." if len(text) > size else "")


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """A service's answer. `cut`: the reason why the body is incomplete, None where it is whole."""

    status: int
    headers: Mapping[str, str]  # keys are found in upper and lower case
    body: bytes
    cut: ServiceError | None = None


class ServiceClient:
    """Asks one service, from any thread. Raises MissingContactError where GRANOLA_CONTACT is not set."""

    def __init__(self, address: ServiceAddress, patience: RetryDelays) -> None:
        self.address = address
        self.patience = patience
        self.requests = 0
        self._answered = False
        self._agent = user_agent()
        self._local = threading.local()

    def request_once(self, method: str, accept: str, **parts: Mapping[str, str]) -> Answer:
        """Send one request, and return the answer whatever its status; `parts` are `params` or `data` of the request.

        Raises TimeLimitError where the answer takes longer than `patience.timeout`, TryAgain where the connection
        fails; ServiceError where no connection could be made and the service has never answered: a mistyped address is
        reported at once.
        """
        import requests
        from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError, ReadTimeoutError

        session = getattr(self._local, "session", None)
        if session is None:
            session = self._local.session = requests.Session()
            session.headers["User-Agent"] = self._agent
            session.auth = self.address.credentials
        self.requests += 1
        url, timeout = self.address.shown, self.patience.timeout
        until = time.monotonic() + timeout
        late = TimeLimitError(f"{url}: no whole answer within {timeout:g} s")
        limits = (min(timeout, CONNECTING), timeout)
        options: dict[str, Any] = {"timeout": limits, "stream": True, "allow_redirects": False, **parts}
        try:
            with session.request(method, self.address.sent, headers={"Accept": accept}, **options) as response:
                body = bytearray()
                cut: ServiceError | None = None
                try:  # not by `iter_content`, which waits for a whole piece however slowly it comes
                    while part := response.raw.read1(1 << 16, decode_content=True):
                        body += part
                        if len(body) > LARGEST:
                            cut = TimeLimitError(f"{url}: an answer of more than {LARGEST >> 20} MiB")
                            break
                        if time.monotonic() > until:
                            raise late
                except ReadTimeoutError:
                    raise late from None
                except HTTPError as error:
                    cut = ServiceError(f"{url}: {self.address.remove_secrets(str(error))}")
                self._answered = True  # it has answered: after this a lost connection is tried again
                return Answer(status=response.status_code, headers=response.headers, body=bytes(body), cut=cut)
        except requests.ReadTimeout:
            raise late from None
        except requests.RequestException as error:  # not `from error`: it repeats the address as it was sent
            cause = getattr(error.args[0] if error.args else None, "reason", error)
            failed = f"{url}: {self.address.remove_secrets(str(cause))}"
            if isinstance(cause, NewConnectionError | ConnectTimeoutError) and not self._answered:
                raise ServiceError(f"{failed}; is the address right, and is this machine on the network?") from None
            # the connection was reset, or the service is away for a while
            raise TryAgain(ServiceError(failed)) from None

    def raise_for_status(self, answer: Answer) -> None:
        """Raises TryAgain for a status that may pass, and QueryError for one that will not."""
        url, status, after = self.address.shown, answer.status, retry_after(answer.headers)
        if 300 <= status < 400:  # not followed: another host would get contact and credentials
            target = without_secrets(self.address.remove_secrets(answer.headers.get("Location", "another address")))
            raise QueryError(f"{url} leads elsewhere ({status}): to {target}; give that address if it is right")
        said = self.excerpt(answer.body)
        if status in (429, 503):
            raise TryAgain(RateLimitedError(f"{url} asks for fewer requests ({status}): {said}"), after)
        if status >= 500:
            raise TryAgain(ServiceError(f"{url} failed with status {status}: {said}"), after)
        if status == 403:
            raise QueryError(f"{url} refuses (403): {said}; is GRANOLA_CONTACT yours and true?")
        if status != 200:
            raise QueryError(f"{url} refuses with status {status}: {said}")

    def excerpt(self, body: bytes, size: int = 160) -> str:
        """The beginning of an answer, on one line, without the secrets that were sent."""
        return excerpt(self.address.remove_secrets(body[:_EXCERPT].decode("utf-8", "replace")).encode(), size)
