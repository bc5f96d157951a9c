"""Metrics for Prometheus, summed over all workers, in shared memory: files would fail on a full disk.

Each worker counts for itself and writes its counters into its place of the shared memory, once a second and on
request. A replacement continues the counters of its place, so that no counter ever falls. Labels come from closed sets
(routes, statuses, abstention codes), never from requests.
"""

from __future__ import annotations

import mmap
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping
from math import inf

import orjson

from granola import __version__

_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, inf)  # bounds of the histogram
_METRICS = {
    "granola_requests_total": ("counter", "Requests answered."),
    "granola_request_seconds": ("histogram", "Time from a request's head to the end of its answer."),
    "granola_refused_total": ("counter", "Requests answered with a problem, by its code."),
    "granola_ladders_total": ("counter", "Ladders made: whole, or by the code of the abstention."),
    "granola_workers_replaced_total": ("counter", "Workers that hung or ended and were replaced."),
    "granola_requests_in_flight": ("gauge", "Requests being received, worked at or answered."),
    "granola_waiting": ("gauge", "Pieces of work that wait for the snapshot."),
    "granola_connections": ("gauge", "Open connections."),
    "granola_workers": ("gauge", "Workers that answer requests."),
    "granola_snapshot_info": ("gauge", "1 for the snapshot that is served."),
}
_INFO = "granola_snapshot_info"
AWAY, SERVES, LEAVES, ENDS = range(4)  # state of a worker: LEAVES serves until its replacement is ready
_HALF = 1 << 17  # bytes that the figures of a process may take


class SharedFigures:
    """Memory shared by forks: a place for each of `workers`, and one for their parent process."""

    def __init__(self, workers: int) -> None:
        self.places = workers + 1
        self._halves = [(mmap.mmap(-1, _HALF), mmap.mmap(-1, _HALF)) for _ in range(self.places)]
        self._read = mmap.mmap(-1, self.places)  # which half of each place is read
        self._states = mmap.mmap(-1, self.places)  # its worker's state

    def write(self, place: int, values: Mapping[str, float]) -> None:
        """Write figures into a place. They go into the half that is not read, which is then made the one to read."""
        data = orjson.dumps(values)
        if len(data) <= _HALF - 4:
            half = 1 - self._read[place]
            self._halves[place][half][: 4 + len(data)] = len(data).to_bytes(4, "big") + data
            self._read[place] = half

    def read(self, place: int) -> dict[str, float]:
        """The figures of a place; empty before the first write, or where a reader was overtaken by two writes."""
        memory = self._halves[place][self._read[place]]
        try:
            values: dict[str, float] = orjson.loads(memory[4 : 4 + int.from_bytes(memory[:4], "big")] or b"{}")
            return values
        except orjson.JSONDecodeError:
            return {}

    def set_state(self, place: int, state: int) -> None:
        """Set the state of the worker at a place: AWAY, SERVES, LEAVES or ENDS."""
        self._states[place] = state

    def count_in_states(self, *states: int) -> int:
        """The number of workers in one of the states."""
        return sum(state in states for state in self._states[: self.places])


class Metrics:
    """The figures of one process, which continue those of its predecessors at its place."""

    def __init__(self, shared: SharedFigures) -> None:
        self._shared = shared
        self._place = shared.places - 1
        self._values: defaultdict[str, float] = defaultdict(float)
        self.in_flight = 0

    def continue_at_place(self, place: int) -> None:
        """Write into a place from now on, and continue its counters."""
        self._place = place
        kept = self._shared.read(place)
        is_gauge = {key: _METRICS[_metric_name_of(key)][0] == "gauge" for key in kept}
        self._values = defaultdict(float, {key: value for key, value in kept.items() if not is_gauge[key]})

    def count(self, name: str, label: str, value: str) -> None:
        """Add one to the counter with a label's value."""
        self._values[f'{name}{{{label}="{value}"}}'] += 1

    def set_gauge(self, name: str, value: float) -> None:
        """Set the current value of a gauge."""
        self._values[name] = value

    def set_snapshot_id(self, snapshot_id: str) -> None:
        """Set the id of the served snapshot."""
        for key in [key for key in self._values if key.startswith(_INFO)]:
            del self._values[key]
        self._values[f'{_INFO}{{snapshot="{snapshot_id}",version="{__version__}"}}'] = 1

    def count_request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count one answered request and its seconds."""
        values, time = self._values, "granola_request_seconds"
        values[f'granola_requests_total{{method="{method}",route="{route}",status="{status}"}}'] += 1
        for bound in _SECONDS[bisect_left(_SECONDS, seconds) :]:
            values[f'{time}_bucket{{le="{"+Inf" if bound == inf else bound}",route="{route}"}}'] += 1
        values[f'{time}_sum{{route="{route}"}}'] += seconds
        values[f'{time}_count{{route="{route}"}}'] += 1

    def publish(self) -> None:
        """Write the figures to the shared memory, where other workers read them."""
        self._values["granola_requests_in_flight"] = self.in_flight
        self._shared.write(self._place, self._values)

    def prometheus_text(self) -> bytes:
        """The figures of all workers in Prometheus' text format."""
        self.publish()
        total: defaultdict[str, float] = defaultdict(float)
        for place in range(self._shared.places):
            for key, value in self._shared.read(place).items():
                total[key] = 1 if key.startswith(_INFO) else total[key] + value
        total["granola_workers"] = self._shared.count_in_states(SERVES, LEAVES)
        lines = []
        for name, (kind, words) in _METRICS.items():
            own = sorted(key for key in total if _metric_name_of(key) == name)
            lines += [f"# HELP {name} {words}", f"# TYPE {name} {kind}"] if own else []
            lines += [f"{key} {float(total[key])!r}" for key in own]
        return "\n".join([*lines, ""]).encode()


def _metric_name_of(key: str) -> str:
    name = key.partition("{")[0]
    return name if name in _METRICS else name.rpartition("_")[0]
