"""Figures for Prometheus. Where several processes serve, they share a folder that PROMETHEUS_MULTIPROC_DIR names.

Labels come from closed sets (routes, statuses, abstention codes), never from what was sent.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector

from granola import __version__
from granola.service.service_settings import SHARED_METRICS

_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)


class Metrics:
    """The figures of one process; `page` has those of all that share its folder."""

    def __init__(self, replaced: Callable[[], Mapping[str, int]] | None = None) -> None:
        registry = CollectorRegistry()
        self._registry = registry
        if os.environ.get(SHARED_METRICS):
            self._registry = CollectorRegistry()
            MultiProcessCollector(self._registry)  # type: ignore[no-untyped-call]  # the library has no types here
        self.requests = Counter(
            "granola_requests", "Requests answered.", ["route", "method", "status"], registry=registry
        )
        self.seconds = Histogram(
            "granola_request_seconds", "Time from a request's head to the end of its answer.", ["route"],
            buckets=_SECONDS, registry=registry,
        )  # fmt: skip
        self.refused = Counter(
            "granola_refused",
            "Requests and connections answered with a problem, by its code.",
            ["code"],
            registry=registry,
        )
        self.ladders = Counter(
            "granola_ladders", "Ladders made: whole, or by the code of the abstention.", ["outcome"], registry=registry
        )
        self.phrasings = Counter(
            "granola_phrased", "Ladders put to the model: phrased, or why they stay the graph's.", ["outcome"],
            registry=registry,
        )  # fmt: skip
        self.in_flight = Gauge(
            "granola_requests_in_flight", "Requests being received, worked at or answered.",
            registry=registry, multiprocess_mode="livesum",
        )  # fmt: skip
        self.waiting = Gauge(
            "granola_waiting",
            "Pieces of work that wait for the snapshot.",
            registry=registry,
            multiprocess_mode="livesum",
        )
        self.connections = Gauge(
            "granola_connections", "Open connections.", registry=registry, multiprocess_mode="livesum"
        )
        self.snapshot = Gauge(
            "granola_snapshot_info", "1 for the snapshot that is served, by process.", ["snapshot", "version"],
            registry=registry, multiprocess_mode="livemax",
        )  # fmt: skip
        if replaced is not None:
            self._registry.register(_Replaced(replaced))
        self._served: str | None = None
        self._kept: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def serves(self, snapshot_id: str) -> None:
        """Tell which snapshot is served now."""
        if self._served not in (None, snapshot_id):
            self.snapshot.labels(self._served, __version__).set(0)
        self._served = snapshot_id
        self.snapshot.labels(snapshot_id, __version__).set(1)

    def answered(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request; what the library looks up by labels is kept."""
        key = (route, method, status)
        kept = self._kept.get(key)
        if kept is None:
            kept = (self.requests.labels(route, method, str(status)), self.seconds.labels(route))
            self._kept[key] = kept
        kept[0].inc()
        kept[1].observe(seconds)

    def laddered(self, abstained: str | None) -> None:
        """Count a ladder."""
        self.ladders.labels(abstained or "whole").inc()

    def phrased(self, outcome: str) -> None:
        """Count a ladder that the model was to word."""
        self.phrasings.labels(outcome).inc()

    def page(self) -> bytes:
        """The figures in Prometheus' text format."""
        return generate_latest(self._registry)


class _Replaced:
    """How many workers the supervisor has replaced: its own count, for no worker that was killed can keep one."""

    def __init__(self, replaced: Callable[[], Mapping[str, int]]) -> None:
        self._replaced = replaced

    def collect(self) -> Iterator[CounterMetricFamily]:
        """As the library asks for it."""
        family = CounterMetricFamily(
            "granola_workers_replaced", "Workers that hung or ended and were replaced.", labels=["reason"]
        )
        for reason, number in self._replaced().items():
            family.add_metric([reason], number)
        yield family
