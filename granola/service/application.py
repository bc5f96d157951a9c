"""The application: the routes and pages of the service, and the threads that do their work."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException

from abstraction.files.rows import TieredRow
from abstraction.files.writing import json_line
from granola import __version__
from granola.service.gate import BoundedRoute, Gate, add_routes
from granola.service.ladder_page import DatasetPage, Pages
from granola.service.limits import SNAPSHOT_HEADER, ServiceSettings
from granola.service.problems import MEDIA_TYPE, HTTPProblem, problem_of
from granola.service.routes import Routes
from granola.service.schemas import LadderRequest
from granola.service.service_figures import Metrics
from granola.service.snapshots import ServedSnapshot, Snapshots, SnapshotSession, WorkContext, WorkThread

T = TypeVar("T")
_LOG_INTERVAL_SECONDS = 10.0  # between two log lines about errors of one code
log = logging.getLogger("granola.service")
_PROBLEM = {
    "description": "Not answered: `code` says why, `detail` what to do. After 503 ask again in `Retry-After` seconds.",
    "content": {MEDIA_TYPE: {"schema": {"type": "object", "required": ["type", "title", "status", "code", "detail"]}}},
}


class Service:
    """The snapshot, the threads for work that needs none, and the figures.

    `matching` matches predictions, `reading` reads large bodies, `scoring` scores files.
    """

    matching: WorkThread[WorkContext]
    reading: WorkThread[WorkContext]
    scoring: WorkThread[WorkContext]

    def __init__(self, settings: ServiceSettings, metrics: Metrics) -> None:
        self.settings = settings
        self.snapshots = Snapshots(settings)
        self.metrics = metrics
        self.batches = 0  # batches that are being answered
        self._logged_at: dict[str, float] = {}

    def start_work_threads(self) -> None:
        """Start the threads for work that needs no snapshot."""
        self.matching = WorkThread("matching", WorkContext, most=self.settings.waiting)
        self.reading = WorkThread("reading", WorkContext, most=self.settings.waiting)
        self.scoring = WorkThread("scoring", WorkContext, most=self.settings.batches)

    async def run_large_read(self, work: Callable[[], T], *, seconds: float) -> T:
        """Return the result of `work`, run in the thread that reads large bodies."""
        return await self.reading.run(lambda _: work(), seconds=seconds)

    async def answer_from_snapshot(
        self, language: str, work: Callable[[SnapshotSession], Mapping[str, Any]]
    ) -> Response:
        """Return the response with the JSON of `work`, run in the thread of the current snapshot.

        Raises HTTPProblem for a language without names in the snapshot and without rules.
        """

        def json_of_work(session: SnapshotSession) -> bytes:
            session.check_language(language)
            return json_line(work(session))

        served = self.snapshots.current
        return self.json_response(await served.run(json_of_work), served)

    async def ladder(self, served: ServedSnapshot, asked: LadderRequest) -> TieredRow:
        """Return the row with its ladder, and count it in the metrics.

        Raises HTTPProblem for a language without names in the snapshot and without rules.
        """

        def make(session: SnapshotSession) -> TieredRow:
            session.check_language(asked.language)
            return session.ladder(asked.row, asked.language, asked.linker)

        row = await served.run(make)
        self.count_ladder(row)
        return row

    def json_response(self, body: bytes, served: ServedSnapshot) -> Response:
        """A JSON response with the id of its snapshot in a header."""
        return Response(body, headers={SNAPSHOT_HEADER: served.snapshot_id}, media_type="application/json")

    def count_ladder(self, row: TieredRow) -> None:
        """Count a ladder in the metrics, by the code of its abstention or as whole."""
        self.metrics.count("granola_ladders_total", "outcome", row.abstained or "whole")

    def count_and_log_problem(self, error: Exception) -> HTTPProblem:
        """Return the problem that answers an error, and count it in the metrics.

        Errors of the program are logged, at most one per code and interval, since there may be many.
        """
        problem = problem_of(error)
        self.metrics.count("granola_refused_total", "code", problem.code)
        now = time.monotonic()
        is_ours = problem.status >= 500 and not isinstance(error, HTTPProblem)
        if is_ours and now - self._logged_at.get(problem.code, -_LOG_INTERVAL_SECONDS) >= _LOG_INTERVAL_SECONDS:
            self._logged_at[problem.code] = now
            stack = error if problem.status == 500 else None
            log.error("answered %d %s: %s", problem.status, problem.code, error, exc_info=stack)
        return problem


def create_app(service: Service) -> Gate:
    """The ASGI application inside its gate; the server passes the service, whose objects it shares."""
    app = FastAPI(
        title="GRANOLA ladders",
        version=__version__,
        description="Answers at several granularities from one WikiData snapshot.",
        openapi_url="/v1/openapi.json",
        docs_url=None,  # its page would load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        servers=[{"url": ".."}],  # from the document: right behind any prefix
        separate_input_output_schemas=False,
        responses={"default": _PROBLEM},
    )
    app.state.served = service
    app.router.route_class = BoundedRoute

    async def answer_unrouted(request: Request, error: Exception) -> Response:
        """The response to a request that matches no route; routes answer their own errors."""
        assert isinstance(error, HTTPException)
        allowed = (error.headers or {}).get("Allow", "another method")
        codes = {
            404: ("path", "no such path; GET /v1/openapi.json lists all paths"),
            405: ("method", f"{request.method[:20]} is not what this path takes; it takes {allowed}"),
        }
        code, detail = codes.get(error.status_code, ("http", str(error.detail)))
        answer = service.count_and_log_problem(HTTPProblem(error.status_code, code, detail)).response()
        answer.headers.update(error.headers or {})
        return answer

    app.add_exception_handler(HTTPException, answer_unrouted)
    add_routes(app, Routes(service))
    add_routes(app, Pages(service))
    if (page := service.settings.dataset) is not None:
        add_routes(app, DatasetPage(page))
    return Gate(app, service)
