"""Who may ask: by the name that the service is asked under, by where a request comes from, and how much at a time.

A web page elsewhere can have its own name resolve to this machine and then ask, and read, what listens here (DNS
rebinding): such requests carry the page's name as their host. An address in figures cannot be rebound.
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address

from granola.service.incoming.problems import HTTPProblem
from granola.service.service_settings import ServiceSettings

_MOST_KEPT = 1_000
_LONGEST = 300  # letters of a host


class AccessChecks:
    """The checks of one process."""

    def __init__(self, settings: ServiceSettings) -> None:
        self._hosts = settings.hosts
        self._judged: dict[bytes, bool] = {}
        self._most = settings.per_client
        self._under_way: dict[str, int] = {}

    def check(self, method: str, headers: Mapping[bytes, bytes]) -> None:
        """Raise HTTPProblem for a host that this service is not, and for what another site's page sends."""
        host = headers.get(b"host", b"")
        if self._hosts is not None and not self._is_ours(host):
            raise HTTPProblem(
                421, "host", "this service is not asked under that name; whoever runs it can add it: --allow-host"
            )
        if method == "POST" and headers.get(b"sec-fetch-site") == b"cross-site":
            raise HTTPProblem(403, "cross-site", "pages of other sites may not send requests to this service")

    def _is_ours(self, host: bytes) -> bool:
        if not host or len(host) > _LONGEST:
            return not host
        known = self._judged.get(host)
        if known is None:
            if len(self._judged) >= _MOST_KEPT:
                self._judged.clear()
            known = self._judged[host] = is_address(host) or name_of(host) in (self._hosts or ())
        return known

    def enter(self, client: str) -> bool:
        """Count a request of a client; False where it has as many as it may, and then nothing is counted."""
        if self._most is None:
            return True
        count = self._under_way.get(client, 0)
        if count >= self._most:
            return False
        self._under_way[client] = count + 1
        return True

    def leave(self, client: str) -> None:
        """Count a request off that was let in."""
        count = self._under_way.get(client, 0) - 1
        if count > 0:
            self._under_way[client] = count
        else:
            self._under_way.pop(client, None)


def name_of(host: bytes) -> str:
    """The name in a Host header, without its port."""
    text = host.decode("latin-1").strip().lower()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.rpartition(":")[0].rstrip(".") if ":" in text else text.rstrip(".")


def is_address(host: bytes) -> bool:
    """Whether a Host header has an address in figures."""
    try:
        ip_address(name_of(host))
    except ValueError:
        return False
    return True
