"""The application: routes over the library, problems for errors, snapshot and version with every answer."""

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
from granola.service.snapshots import Context, Generation, Snapshots, SnapshotSession, Workroom

T = TypeVar("T")
_TELL_SECONDS = 10.0
log = logging.getLogger("granola.service")
_PROBLEM = {
    "description": "Not answered: `code` says why, `detail` what to do. After 503 ask again in `Retry-After` seconds.",
    "content": {MEDIA_TYPE: {"schema": {"type": "object", "required": ["type", "title", "status", "code", "detail"]}}},
}


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

        def json_of_work(session: SnapshotSession) -> bytes:
            session.check_language(language)
            return json_line(work(session))

        generation = self.snapshots.current
        return self.answer(await generation.run(json_of_work), generation)

    async def ladder(self, generation: Generation, asked: LadderRequest) -> TieredRow:
        """The ladder, counted. Raises HTTPProblem for a language that the snapshot has nothing in."""

        def make(session: SnapshotSession) -> TieredRow:
            session.check_language(asked.language)
            return session.ladder(asked.row, asked.language, asked.linker)

        row = await generation.run(make)
        self.laddered(row)
        return row

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


def create_app(service: Service) -> Gate:
    """The ASGI application with its gate. The server passes the objects that it works with."""
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
        """The answer to a request that reaches no route; routes answer their own errors."""
        assert isinstance(error, HTTPException)
        allowed = (error.headers or {}).get("Allow", "another method")
        codes = {
            404: ("path", "no such path; GET /v1/openapi.json tells those there are"),
            405: ("method", f"{request.method[:20]} is not what this path takes; it takes {allowed}"),
        }
        code, detail = codes.get(error.status_code, ("http", str(error.detail)))
        answer = service.problem(HTTPProblem(error.status_code, code, detail)).answer()
        answer.headers.update(error.headers or {})
        return answer

    app.add_exception_handler(HTTPException, answer_unrouted)
    add_routes(app, Routes(service))
    add_routes(app, Pages(service))
    if (page := service.settings.dataset) is not None:
        add_routes(app, DatasetPage(page))
    return Gate(app, service)
