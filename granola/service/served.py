"""What the routes share while the service runs."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from fastapi import Request, Response

from granola.service.incoming.problem_answers import problem_answer
from granola.service.incoming.problems import HTTPProblem, no_model, problem_of
from granola.service.service_figures import Metrics
from granola.service.service_settings import ServiceSettings
from granola.service.work.snapshot_session import SnapshotSession
from granola.service.work.snapshots import Generation, Snapshots
from granola.service.work.workroom import NoContext, Workroom

T = TypeVar("T")
SNAPSHOT_HEADER, MODEL_HEADER = "granola-snapshot", "granola-model"
_TELL_SECONDS = 10.0
log = logging.getLogger("granola.service")


class Service:
    """The snapshot, the threads for work that needs none, and the figures. `bench` matches, `scoring` scores files."""

    bench: Workroom[NoContext]
    scoring: Workroom[NoContext]

    def __init__(self, settings: ServiceSettings, metrics: Metrics) -> None:
        self.settings = settings
        self.snapshots = Snapshots(settings)
        self.metrics = metrics
        self.batches = 0  # that are being answered
        self._logged_at: dict[str, float] = {}

    def open_rooms(self) -> None:
        """Start the threads that need no snapshot."""
        self.bench = Workroom("bench", NoContext, most=self.settings.waiting)
        self.scoring = Workroom("scoring", NoContext, most=self.settings.batches)

    async def apart(self, work: Callable[[], T]) -> T:
        """The result of work that must not hold up everybody: reading what is large."""
        return await self.bench.run(lambda _: work(), seconds=self.settings.seconds)

    async def made(self, work: Callable[[SnapshotSession], bytes]) -> Response:
        """The answer whose body a piece of work with the snapshot makes."""
        generation = self.snapshots.current
        return self.answer(await generation.run(work), generation)

    def answer(self, body: bytes, generation: Generation, headers: Mapping[str, str] | None = None) -> Response:
        """An answer in JSON that names its snapshot."""
        return Response(
            body,
            headers={SNAPSHOT_HEADER: generation.snapshot_id, **(headers or {})},
            media_type="application/json",
        )

    def with_model(self) -> Generation:
        """What is served, with its model. Raises HTTPProblem where there is none."""
        if not self.snapshots.has_model:
            raise no_model()
        return self.snapshots.current

    def laddered(self, abstained: str | None) -> None:
        """Count a ladder."""
        self.metrics.count("granola_ladders_total", "outcome", abstained or "whole")

    def failed(self, error: Exception, request: Request) -> Response:
        """The answer where an error was raised; what is our own fault is logged."""
        return self.problem_answer(self.problem(error), request.scope)

    def problem(self, error: Exception) -> HTTPProblem:
        """What to answer. A failure is logged, one of each sort in a while, for there may be thousands a second."""
        problem = problem_of(error)
        now = time.monotonic()
        is_ours = problem.status >= 500 and not isinstance(error, HTTPProblem)
        if is_ours and now - self._logged_at.get(problem.code, -_TELL_SECONDS) >= _TELL_SECONDS:
            self._logged_at[problem.code] = now
            stack = error if problem.status == 500 else None
            log.error("answered %d %s: %s", problem.status, problem.code, error, exc_info=stack)
        return problem

    def problem_answer(self, problem: HTTPProblem, scope: Mapping[str, Any]) -> Response:
        """The answer that is a problem."""
        self.metrics.count("granola_refused_total", "code", problem.code)
        return problem_answer(problem, scope)

    @property
    def rooms(self) -> list[Workroom[Any]]:
        """All threads but those that ask a model, which has its own times."""
        return [self.bench, self.scoring, *self.snapshots.readers]
