"""What a service is started with: its snapshot, who may ask, and how much at a time."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address

from granola.errors import UsageError
from kg.store import is_address

MIB = 1 << 20
SHARED_METRICS = "PROMETHEUS_MULTIPROC_DIR"  # the folder where worker processes put their figures together


@dataclass(frozen=True, kw_only=True, slots=True)
class ServiceSettings:
    """All limits are for one worker process; sizes in bytes, times in seconds.

    `token` None serves everyone who can connect. `rows` bounds a batch and a file to score, `waiting` the requests
    that wait for the snapshot, `batches` those that are answered row by row at the same time, `buffered` all bodies
    that are being received. `seconds` is for one request, `batch_seconds` for a batch or a file to score.
    `per_client` bounds the requests of one client's address that are under way; None for no bound, as behind a proxy
    all have one address. `model` is the word of a chat model, asked by `model_requests` requests at a time, about
    `model_rows` rows each, for `model_seconds`; `answers` the file where its answers are kept. `hosts`: names that the
    service may be asked under, in small letters; None for any. A worker is replaced that has not been heard of for
    `hang_seconds`, which it is not where work of its threads goes on for `stuck_seconds` beyond its time.
    `stop_seconds` after it was told to end, the service has: shortly before, whatever is left of it is killed.
    """

    snapshot: str
    language: str = "en"
    token: str | None = None
    readers: int | None = None
    body: int = 16 * MIB
    buffered: int = 64 * MIB
    rows: int = 10_000
    seconds: float = 10.0
    batch_seconds: float = 600.0
    waiting: int = 32
    per_client: int | None = None
    hosts: frozenset[str] | None = None
    model: str | None = None
    answers: str | None = None
    model_requests: int = 8
    model_rows: int = 500
    model_seconds: float = 60.0
    batches: int = 4
    connections: int = 512
    head_bytes: int = 32 * 1024
    head_seconds: float = 10.0
    body_seconds: float = 30.0
    write_seconds: float = 20.0
    idle_seconds: float = 30.0
    stop_seconds: float = 30.0
    hang_seconds: float = 10.0
    stuck_seconds: float = 60.0

    def __post_init__(self) -> None:
        bounds = (
            "body", "rows", "seconds", "waiting", "connections", "model_requests", "model_rows", "model_seconds",
            "stop_seconds", "hang_seconds", "stuck_seconds",
        )  # fmt: skip
        for name in bounds:
            if getattr(self, name) <= 0:
                raise UsageError(f"{name} is {getattr(self, name)}; allowed: more than 0")
        if self.per_client is not None and self.per_client <= 0:
            raise UsageError(f"per_client is {self.per_client}; allowed: more than 0")

    @property
    def threads(self) -> int:
        """Threads that read the snapshot: one for a file, whose reading is computing; several for a server's."""
        return self.readers or (4 if is_address(self.snapshot) else 1)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a server that listens there."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
