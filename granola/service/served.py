"""The objects that routes share while the service runs."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from fastapi import Response

from abstraction.files.rows import TieredRow
from abstraction.files.writing import json_line
from granola.service.incoming.problems import HTTPProblem, problem_of
from granola.service.service_figures import Metrics
from granola.service.service_settings import ServiceSettings
from granola.service.work.snapshot_session import SnapshotSession
from granola.service.work.snapshot_work import check_language
from granola.service.work.snapshots import Generation, Snapshots
from granola.service.work.workroom import Context, Workroom

T = TypeVar("T")
SNAPSHOT_HEADER = "granola-snapshot"
_TELL_SECONDS = 10.0
log = logging.getLogger("granola.service")


class Service:
    """The snapshot, the threads for work that needs none, and the figures.

    `bench` matches, `reading` reads large bodies, `scoring` scores files.
    """

    bench: Workroom[Context]
    reading: Workroom[Context]
    scoring: Workroom[Context]

    def __init__(self, settings: ServiceSettings, metrics: Metrics) -> None:
        self.settings = settings
        self.snapshots = Snapshots(settings)
        self.metrics = metrics
        self.batches = 0  # that are being answered
        self._logged_at: dict[str, float] = {}

    def open_rooms(self) -> None:
        """Start the threads that need no snapshot."""
        self.bench = Workroom("bench", Context, most=self.settings.waiting)
        self.reading = Workroom("reading", Context, most=self.settings.waiting)
        self.scoring = Workroom("scoring", Context, most=self.settings.batches)

    async def read(self, work: Callable[[], T], *, seconds: float) -> T:
        """The result of a large read, in a thread of its own."""
        return await self.reading.run(lambda _: work(), seconds=seconds)

    async def made(self, language: str, work: Callable[[SnapshotSession], Mapping[str, Any]]) -> Response:
        """The answer whose JSON a piece of work with the snapshot makes.

        Raises HTTPProblem for a language that the snapshot has nothing in.
        """

        def do(session: SnapshotSession) -> bytes:
            check_language(session, language)
            return json_line(work(session))

        generation = self.snapshots.current
        return self.answer(await generation.run(do), generation)

    def answer(self, body: bytes, generation: Generation) -> Response:
        """An answer in JSON that names its snapshot."""
        return Response(body, headers={SNAPSHOT_HEADER: generation.snapshot_id}, media_type="application/json")

    def laddered(self, row: TieredRow) -> None:
        """Count a ladder: whole, or why there is none."""
        self.metrics.count("granola_ladders_total", "outcome", row.abstained or "whole")

    def problem(self, error: Exception) -> HTTPProblem:
        """The answer to an error, counted in the metrics.

        An error of the program is logged, one of each kind per interval, since there may be many.
        """
        problem = problem_of(error)
        self.metrics.count("granola_refused_total", "code", problem.code)
        now = time.monotonic()
        is_ours = problem.status >= 500 and not isinstance(error, HTTPProblem)
        if is_ours and now - self._logged_at.get(problem.code, -_TELL_SECONDS) >= _TELL_SECONDS:
            self._logged_at[problem.code] = now
            stack = error if problem.status == 500 else None
            log.error("answered %d %s: %s", problem.status, problem.code, error, exc_info=stack)
        return problem
