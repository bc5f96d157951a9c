"""What a service is started with: its snapshot, who may ask, and how much at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MIB = 1 << 20
AccessLog = Literal["off", "text", "json"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ServiceSettings:
    """All limits are for one worker process; sizes in bytes, times in seconds.

    `token` None serves everyone who can connect; `hosts` are the names that the service may be asked under, in small
    letters, None for any. `rows` bounds a batch and a file to score, `waiting` the requests that wait for a thread,
    `batches` those that are answered row by row at the same time, `buffered` all bodies that are being received.
    `seconds` is for one request, `batch_seconds` for a batch or a file to score. `dataset` is a page of ladders.
    A worker that holds more than `memory` of its own ends and is replaced, and so is one
    whose thread goes on for `stuck_seconds` beyond its time, or that gives no sign of life for `hang_seconds`.
    """

    snapshot: str
    dataset: bytes | None = None
    language: str = "en"
    token: str | None = None
    hosts: frozenset[str] | None = None
    body: int = 16 * MIB
    buffered: int = 64 * MIB
    rows: int = 10_000
    seconds: float = 10.0
    batch_seconds: float = 600.0
    body_seconds: float = 30.0
    write_seconds: float = 20.0
    waiting: int = 32
    batches: int = 4
    memory: int = 700 * MIB
    hang_seconds: float = 10.0
    stuck_seconds: float = 60.0
    access_log: AccessLog = "off"
