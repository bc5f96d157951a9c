"""One request to a web service: a whole answer of bounded size and time, or an error that names a remedy."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kg.errors import QueryError, RateLimitedError, ServiceError, TimeLimitError
from kg.web.addresses import ServiceAddress, without_secrets
from kg.web.rate_limits import RetryDelays, TryAgain, excerpt, retry_after, user_agent

LARGEST = 256 << 20  # bytes of an answer
CONNECTING = 10.0  # longest time in seconds to open a connection
_TOLD = 1 << 16  # bytes of an answer that a message is taken from


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """A service's answer. `cut`: the reason why the body is incomplete, None where it is whole."""

    status: int
    headers: Mapping[str, str]  # whatever the letters' case
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

    def ask(self, method: str, accept: str, **parts: Mapping[str, str]) -> Answer:
        """One answer, whatever its status; `parts` are `params` or `data` of the request.

        Raises TimeLimitError where it does not come in `patience.timeout`, TryAgain where the connection fails;
        ServiceError where no connection could be made and the service has never answered: a mistyped address is
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
                    cut = ServiceError(f"{url}: {self.address.clean(str(error))}")
                self._answered = True
                return Answer(status=response.status_code, headers=response.headers, body=bytes(body), cut=cut)
        except requests.ReadTimeout:
            raise late from None
        except requests.RequestException as error:  # not `from error`: it repeats the address as it was sent
            cause = getattr(error.args[0] if error.args else None, "reason", error)
            failed = f"{url}: {self.address.clean(str(cause))}"
            if isinstance(cause, NewConnectionError | ConnectTimeoutError) and not self._answered:
                raise ServiceError(f"{failed}; is the address right, and is this machine on the network?") from None
            raise TryAgain(ServiceError(failed)) from None  # reset, or away for a while

    def check(self, answer: Answer) -> None:
        """Raises TryAgain for a status that may pass, and QueryError for one that will not."""
        url, status, after = self.address.shown, answer.status, retry_after(answer.headers)
        if 300 <= status < 400:  # not followed: another host would get contact and credentials
            target = without_secrets(self.address.clean(answer.headers.get("Location", "another address")))
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
        return excerpt(self.address.clean(body[:_TOLD].decode("utf-8", "replace")).encode(), size)
