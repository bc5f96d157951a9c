"""What the routes share while the service runs."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping

from fastapi import Response

from granola.service.incoming import problem_page
from granola.service.incoming.middleware import SNAPSHOT_HEADER
from granola.service.incoming.problems import MEDIA_TYPE, HTTPProblem, problem_of
from granola.service.service_settings import ServiceSettings
from granola.service.serving.prometheus_metrics import Metrics
from granola.service.work.matching_thread import MatchingThread
from granola.service.work.model_threads import ModelThreads, no_model
from granola.service.work.snapshot_pool import SnapshotPool
from granola.service.work.work_thread import SWEEP_SECONDS

JSON, NDJSON = "application/json", "application/x-ndjson"
MODEL_HEADER = "granola-model"
TELL_SECONDS = 10.0
log = logging.getLogger("granola.service")


class Service:
    """What the routes share. `desk` is open between the application's start and its end."""

    def __init__(self, settings: ServiceSettings, *, replaced: Callable[[], Mapping[str, int]] | None = None) -> None:
        self.settings = settings
        self.desk = SnapshotPool(settings)
        self.bench = MatchingThread(settings.waiting)
        self.scoring = MatchingThread(settings.batches)
        self.models: ModelThreads | None = None
        self.metrics = Metrics(replaced)
        self._logged_at: dict[str, float] = {}
        self._sweeping: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Open the snapshot. Raises what that raises."""
        await self.desk.open()
        if self.settings.model is not None:
            self.models = await asyncio.to_thread(ModelThreads, self.settings)
        self.bench.open()
        self.scoring.open()
        self.metrics.serves(self.desk.snapshot_id)
        self._sweeping = asyncio.create_task(self._sweep())

    async def reload(self) -> None:
        """Take up the snapshot anew."""
        if await self.desk.reload():
            self.metrics.serves(self.desk.snapshot_id)

    def tell(self, problem: HTTPProblem, error: Exception) -> None:
        """Log a failure; one of each sort in a while, for there may be thousands a second."""
        now = time.monotonic()
        if now - self._logged_at.get(problem.code, -TELL_SECONDS) >= TELL_SECONDS:
            self._logged_at[problem.code] = now
            log.error("answered %d %s: %s", problem.status, problem.code, error)

    def asked_models(self) -> ModelThreads:
        """The model. Raises HTTPProblem where there is none."""
        if self.models is None:
            raise no_model()
        return self.models

    def problem_answer(self, problem: HTTPProblem, *, in_words: bool = False) -> Response:
        """The answer that is a problem, `in_words` for a browser."""
        self.metrics.refused.labels(problem.code).inc()
        if in_words:
            headers = {**problem.headers(), "Content-Security-Policy": problem_page.POLICY}
            return Response(problem_page.page(problem), problem.status, headers, media_type=problem_page.MEDIA_TYPE)
        return Response(problem.body(), problem.status, problem.headers(), media_type=MEDIA_TYPE)

    def failed(self, error: Exception) -> Response:
        """The answer where an error of ours was raised; what is our own fault is logged."""
        problem = problem_of(error)
        if problem.status >= 500 and not isinstance(error, HTTPProblem):
            self.tell(problem, error)
        return self.problem_answer(problem)

    def overdue(self, now: float) -> float:
        """For how many seconds work has gone on beyond its time, of all threads but those that ask a model."""
        return max(self.desk.overdue(now), self.bench.overdue(now), self.scoring.overdue(now))

    async def _sweep(self) -> None:
        """Look after what takes too long, for as long as the service runs."""
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            now = time.monotonic()
            self.desk.sweep(now)
            self.bench.sweep(now)
            self.scoring.sweep(now)
            if self.models is not None:
                self.models.sweep(now)
            self.metrics.waiting.set(self.desk.waiting)

    async def close(self) -> None:
        """End what was begun and close the snapshot."""
        if self._sweeping is not None:
            self._sweeping.cancel()
        self.bench.close()
        self.scoring.close()
        await self.desk.close()
        if self.models is not None:
            self.models.close()


def answer(body: bytes, snapshot_id: str, media_type: str = JSON, headers: Mapping[str, str] | None = None) -> Response:
    """An answer that names its snapshot."""
    return Response(body, headers={SNAPSHOT_HEADER: snapshot_id, **(headers or {})}, media_type=media_type)
