"""One POST of JSON, within a time limit that holds for the whole answer, with the server's key from the environment."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from abstraction.errors import ModelSpecError

if TYPE_CHECKING:
    import requests


# A server's key: read from the environment, shown to its server and to nobody else.

SHOWN = "[key]"
_TELLING = 8  # characters from which a key is no word that a text might hold by chance


class ApiKey:
    """The key that an environment variable holds. Never part of a repr, a pickle or a message."""

    __slots__ = ("_value", "variable")

    def __init__(self, variable: str) -> None:
        """Read it. Raises ModelSpecError where the variable is not set or holds what no header can carry."""
        self.variable = variable
        self._value = os.environ.get(variable, "").strip()
        if not self._value:
            raise ModelSpecError(f"{variable} is not set: put the server's key there, or leave out key={variable}")
        if not all("!" <= letter <= "~" for letter in self._value):
            raise ModelSpecError(f"what {variable} holds is no key: letters, digits and signs of ASCII, without spaces")

    def header(self) -> dict[str, str]:
        """What shows it to the server."""
        return {"Authorization": f"Bearer {self._value}"}

    def scrubbed(self, text: str) -> str:
        """A message or an error without the key."""
        return text.replace(self._value, SHOWN)

    def scrubbed_bytes(self, body: bytes) -> bytes:
        """A body that is no JSON without the key, also where its slashes are escaped."""
        for shown in {self._value, self._value.replace("/", "\\/")}:
            body = body.replace(shown.encode(), SHOWN.encode())
        return body

    def scrubbed_json(self, answer: object, *, refused: bool = False) -> object:
        """A server's answer without the key, also where the server repeats it.

        A short key, such as the EMPTY that servers without keys are given, is a word that an answer may hold: it goes
        only where the request was `refused`.
        """
        if len(self._value) < _TELLING and not refused:
            return answer
        if isinstance(answer, str):
            return self.scrubbed(answer)
        if isinstance(answer, list):
            return [self.scrubbed_json(part, refused=refused) for part in answer]
        if isinstance(answer, dict):
            return {self.scrubbed(name): self.scrubbed_json(part, refused=refused) for name, part in answer.items()}
        return answer

    def __repr__(self) -> str:
        return f"ApiKey({self.variable!r})"

    def __reduce__(self) -> str:
        raise TypeError("a key is not pickled")


# The request.


CONNECT = 10.0  # seconds for the connection alone
LARGEST = 64 << 20  # bytes of an answer
_PART = 1 << 16


class NoConnection(Exception):  # noqa: N818 - these three become a result's reason
    """Refused, unknown or unreachable: the server has seen nothing."""


class Broken(Exception):  # noqa: N818
    """The connection ended before the answer did."""


class TooSlow(Exception):  # noqa: N818
    """No whole answer within the time limit."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HTTPAnswer:
    """Status, headers and body of an HTTP answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Poster:
    """Posts to one address over connections that are kept open. Safe for several threads."""

    def __init__(self, url: str, headers: Mapping[str, str], timeout: float) -> None:
        """`timeout` is for one answer, whole, in seconds."""
        self.url = url
        self._headers = {"Content-Type": "application/json", "Accept": "application/json", **headers}
        self._timeout = timeout
        self._idle: list[requests.Session] = []
        self._settings: dict[str, Any] | None = None

    def post(self, payload: bytes) -> HTTPAnswer:
        """Raises NoConnection, Broken, TooSlow."""
        import requests
        from urllib3.exceptions import HTTPError, NewConnectionError, ReadTimeoutError

        try:
            session = self._idle.pop()
        except IndexError:
            session = self._session()
        begun = time.monotonic()
        try:
            with session.post(
                self.url,
                data=payload,
                headers=self._headers,
                timeout=(min(CONNECT, self._timeout), self._timeout),
                stream=True,
                allow_redirects=False,  # who asks and with what key is not another host's business
            ) as response:
                body = self._read(response, begun + self._timeout)
                answer = HTTPAnswer(status=response.status_code, headers=response.headers, body=body)
        except requests.ConnectTimeout as error:
            raise NoConnection(f"no connection within {min(CONNECT, self._timeout):g} s") from error
        except (requests.Timeout, ReadTimeoutError, TimeoutError) as error:
            raise TooSlow(f"no whole answer within {self._timeout:g} s") from error
        except (requests.RequestException, HTTPError, OSError) as error:
            cause = getattr(error.args[0] if error.args else None, "reason", None)
            if isinstance(cause, NewConnectionError):
                raise NoConnection(_reason(cause)) from error
            raise Broken(_reason(cause or error)) from error
        finally:
            self._idle.append(session)
        return answer

    def _read(self, response: requests.Response, deadline: float) -> bytes:
        parts: list[bytes] = []
        size = 0
        # What has come, however little: an answer that drips must not outlast the time limit.
        while part := response.raw.read1(_PART, decode_content=True):
            parts.append(part)
            size += len(part)
            if time.monotonic() > deadline:
                raise TimeoutError
            if size > LARGEST:
                raise OSError(f"an answer of more than {LARGEST >> 20} MiB")
        return b"".join(parts)

    def _session(self) -> requests.Session:
        import requests

        session = requests.Session()
        if self._settings is None:
            # Once, not with each call; and no .netrc, which would take the place of the key.
            settings = session.merge_environment_settings(self.url, {}, None, None, None)
            self._settings = {"proxies": settings["proxies"], "verify": settings["verify"]}
        session.trust_env = False
        session.proxies.update(self._settings["proxies"])
        session.verify = self._settings["verify"]
        return session

    def close(self) -> None:
        """Close what connections are idle."""
        while self._idle:
            self._idle.pop().close()


def _reason(error: BaseException) -> str:
    """What went wrong, without the address that libraries repeat."""
    text = str(error)
    return (text.rsplit(": ", 1)[-1] if "object at 0x" in text or "HTTPConnection" in text else text)[:200]
