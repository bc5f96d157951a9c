"""The application: routes over the library, problems for errors, snapshot and version with every answer."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import shlex
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import PurePath
from typing import Annotated, Any

import orjson
from fastapi import FastAPI, Path, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import StreamingResponse
from starlette.exceptions import HTTPException

from abstraction.errors import AbstractionError
from abstraction.rows import TieredRow as Row
from granola import __version__
from granola.errors import GranolaError
from granola.service import documents, work
from granola.service.bench import Bench
from granola.service.desk import Desk, Done, Lease
from granola.service.entities import entity_json
from granola.service.gate import SNAPSHOT_HEADER, App, Gate, Receive, Scope, Send
from granola.service.holding import Holding
from granola.service.lane import lanes_of
from granola.service.metrics import Metrics
from granola.service.page_routes import add_page
from granola.service.problems import MEDIA_TYPE, Problem, problem_of
from granola.service.schemas import (
    AggregateAnswer,
    AggregateRequest,
    Health,
    LadderRequest,
    Language,
    LinkAnswer,
    Linker,
    MatchAnswer,
    MatchRequest,
    ScoreAnswer,
    ScoreRequest,
    SearchAnswer,
    TieredRow,
)
from granola.service.settings import Settings
from granola.service.worker import SWEEP_SECONDS
from kg.errors import KGError

JSON, NDJSON = "application/json", "application/x-ndjson"
TELL_SECONDS = 10.0
log = logging.getLogger("granola.service")


class Service:
    """What the routes share. `desk` is open between the application's start and its end."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.desk = Desk(settings)
        self.bench = Bench(settings.batches)
        self.metrics = Metrics()
        self._told: dict[str, float] = {}
        self._sweeping: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Open the snapshot. Raises what that raises."""
        await self.desk.open()
        self.bench.open()
        self.metrics.serves(self.desk.snapshot_id)
        self._sweeping = asyncio.create_task(self._sweep())

    async def reload(self) -> None:
        """Take up the snapshot anew."""
        if await self.desk.reload():
            self.metrics.serves(self.desk.snapshot_id)

    def tell(self, problem: Problem, error: Exception) -> None:
        """Log a failure; one of each sort in a while, for there may be thousands a second."""
        now = time.monotonic()
        if now - self._told.get(problem.code, -TELL_SECONDS) >= TELL_SECONDS:
            self._told[problem.code] = now
            log.error("answered %d %s: %s", problem.status, problem.code, error)

    def told(self, problem: Problem) -> Response:
        """The answer that is a problem."""
        self.metrics.refused.labels(problem.code).inc()
        return Response(problem.body(), problem.status, problem.headers(), media_type=MEDIA_TYPE)

    def failed(self, error: Exception) -> Response:
        """The answer where an error of ours was raised; what is our own fault is logged."""
        problem = problem_of(error)
        if problem.status >= 500 and not isinstance(error, Problem):
            self.tell(problem, error)
        return self.told(problem)

    async def _sweep(self) -> None:
        """Look after what takes too long, for as long as the service runs."""
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            now = time.monotonic()
            self.desk.sweep(now)
            self.bench.sweep(now)
            self.metrics.waiting.set(self.desk.waiting)

    async def close(self) -> None:
        """End what was begun and close the snapshot."""
        if self._sweeping is not None:
            self._sweeping.cancel()
        self.bench.close()
        await self.desk.close()


def create_app(settings: Settings) -> tuple[App, Service]:
    """The application behind its gate, and what it works with. The snapshot is opened when the application starts."""
    service = Service(settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await service.open()
        yield
        await service.close()

    app = FastAPI(
        title="GRANOLA ladders",
        version=__version__,
        description="Answers at several granularities from one WikiData snapshot.",
        openapi_url="/v1/openapi.json",
        docs_url=None,  # its page would load scripts from elsewhere
        redoc_url=None,
        lifespan=lifespan,
        separate_input_output_schemas=False,
    )
    _handle_errors(app, service)
    _add_health(app, service)
    _add_reading(app, service)
    _add_ladders(app, service)
    _add_judging(app, service)
    add_page(app, service.desk, service.bench, seconds=settings.seconds)
    documents.describe(app)
    lanes = lanes_of(app, service.failed, _OURS)
    return Gate(app, settings=settings, desk=service.desk, metrics=service.metrics, lanes=lanes), service


def _handle_errors(app: FastAPI, service: Service) -> None:
    told = service.told

    async def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        kind = request.headers.get("content-type", "none")
        if "json" not in kind and any(one["loc"][0] == "body" for one in error.errors()):
            return told(Problem(415, "media-type", "send JSON, with the header Content-Type: application/json"))
        return told(_invalid(error))

    async def http(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        if error.status_code == 400:
            return told(Problem(400, "json", "the body is no JSON in UTF-8"))
        codes = {
            404: ("path", "no such path; GET /v1/openapi.json tells those there are"),
            405: ("method", "not this way"),
        }
        code, detail = codes.get(error.status_code, ("http", str(error.detail)))
        answer = told(Problem(error.status_code, code, detail))
        answer.headers.update(error.headers or {})
        return answer

    async def ours(_: Request, error: Exception) -> Response:
        return service.failed(error)

    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, http)
    for kind in _OURS:
        app.add_exception_handler(kind, ours)


_OURS: tuple[type[Exception], ...] = (Problem, AbstractionError, GranolaError, KGError)
_SHOWN_ERRORS = 5


def _invalid(error: RequestValidationError) -> Problem:
    """What pydantic found, without repeating what was sent."""
    errors = error.errors()
    if any(one["type"] == "json_invalid" for one in errors):
        return Problem(
            400, "json", f"the body is no JSON: {errors[0].get('ctx', {}).get('error', 'it cannot be read')}"
        )
    places = [".".join(map(str, one["loc"][1:])) or str(one["loc"][0]) for one in errors]
    said = [f"{place}: {one['msg']}" for place, one in zip(places, errors, strict=True)]
    return Problem(422, "request", "; ".join(said[:_SHOWN_ERRORS]))


def _answer(
    body: bytes, snapshot_id: str, media_type: str = JSON, headers: Mapping[str, str] | None = None
) -> Response:
    return Response(body, headers={SNAPSHOT_HEADER: snapshot_id, **(headers or {})}, media_type=media_type)


def _add_health(app: FastAPI, service: Service) -> None:
    @app.get("/v1/health/live", response_model=Health, tags=["health"], responses=documents.problems())
    async def live() -> Response:
        """Whether the process runs."""
        return Response(b'{"status":"ok"}', media_type=JSON, headers={"Cache-Control": "no-store"})

    @app.get(
        "/v1/health/ready", response_model=Health, tags=["health"],
        responses={503: {"model": Health, "description": "Not yet, or no longer."}},
    )  # fmt: skip
    async def ready() -> Response:
        """Whether requests can be answered."""
        headers = {"Cache-Control": "no-store"}
        if service.desk.is_open:
            return _answer(b'{"status":"ok"}', service.desk.snapshot_id, headers=headers)
        return Response(b'{"status":"starting"}', 503, media_type=JSON, headers=headers)

    @app.get(
        "/v1/metrics", tags=["health"], response_class=Response,
        responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}, **documents.problems()},
    )  # fmt: skip
    async def metrics() -> Response:
        """Figures in Prometheus' text format."""
        return Response(service.metrics.page(), media_type="text/plain; version=0.0.4; charset=utf-8")


def _add_reading(app: FastAPI, service: Service) -> None:
    desk = service.desk

    async def conditional(request: Request, make: Callable[[Holding], Any]) -> Response:
        """The answer with an ETag that snapshot, program and address decide; 304 where the asker has it already."""

        def tag(snapshot_id: str) -> str:
            asked = f"{snapshot_id} {__version__} {request.url.path}?{request.url.query}"
            return f'"{hashlib.sha256(asked.encode()).hexdigest()[:32]}"'

        kept = {one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")}
        now = tag(desk.snapshot_id)
        headers = {"ETag": now, "Cache-Control": "no-cache"}
        if now in kept or "*" in kept:
            return Response(status_code=304, headers={**headers, SNAPSHOT_HEADER: desk.snapshot_id})
        done = await desk.run(lambda holding: orjson.dumps(make(holding)))
        return _answer(done.value, done.snapshot_id, headers={**headers, "ETag": tag(done.snapshot_id)})

    @app.get("/v1/entity/{qid}", tags=["snapshot"], responses=documents.gotten(404))
    async def entity(
        request: Request,
        qid: Annotated[str, Path(max_length=20, examples=["Q76"])],
        language: Language = "en",
    ) -> Response:
        """An item or property: names, and all statements with those that hold today marked. Redirects are followed."""
        return await conditional(request, lambda holding: entity_json(holding, qid, language=language))

    @app.get("/v1/search", response_model=SearchAnswer, tags=["snapshot"], responses=documents.gotten())
    async def search(
        request: Request,
        name: Annotated[str, Query(min_length=1, max_length=400, examples=["Honolulu"])],
        language: Language = "en",
        limit: Annotated[int, Query(ge=1, le=work.MOST_FOUND)] = 20,
    ) -> Response:
        """Entities that carry a whole name, as label or alias."""
        return await conditional(request, lambda holding: work.search(holding, name, language=language, limit=limit))

    @app.get("/v1/snapshot", tags=["snapshot"], responses=documents.gotten())
    async def snapshot(request: Request) -> Response:
        """What the snapshot was made from and how."""
        return await conditional(request, lambda holding: public(holding.manifest))


def public(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """A manifest without the folders of whoever built the snapshot."""

    def plain(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: plain(one) for key, one in value.items()}
        if isinstance(value, list):
            return [plain(one) for one in value]
        return PurePath(value).name if isinstance(value, str) and "/" in value and "://" not in value else value

    out = {key: plain(value) for key, value in manifest.items() if key != "command"}
    if isinstance(command := manifest.get("command"), str):
        try:
            out["command"] = shlex.join(plain(word) for word in shlex.split(command))
        except ValueError:
            out["command"] = ""
    return out


def _add_ladders(app: FastAPI, service: Service) -> None:
    desk = service.desk

    async def of_question(asked: LadderRequest, do: Callable[..., Any]) -> Done[Any]:
        data = asked.model_dump(exclude_unset=True, exclude={"language", "linker"})
        row = work.read_question(data)
        return await desk.run(lambda holding: do(holding, row, language=asked.language, linker=asked.linker))

    @app.post("/v1/ladder", response_model=TieredRow, tags=["ladders"], responses=documents.posted())
    async def ladder(asked: LadderRequest) -> Response:
        """The ladder of one answer: ever coarser correct answers with what entails each, or why there is none."""

        def do(holding: Holding, row: Any, **settings: Any) -> tuple[bytes, str | None]:
            made = work.ladder(holding, row, **settings)
            return work.line_of(made.to_json(), first=True), made.abstained

        done = await of_question(asked, do)
        body, abstained = done.value
        service.metrics.laddered(abstained)
        return _answer(body, done.snapshot_id)

    @app.post("/v1/link", response_model=LinkAnswer, tags=["ladders"], responses=documents.posted())
    async def link(asked: LadderRequest) -> Response:
        """Which entity each answer means, how sure that is, and who else it may be."""
        done = await of_question(asked, lambda *given, **settings: orjson.dumps(work.links(*given, **settings)))
        return _answer(done.value, done.snapshot_id)

    @app.post("/v1/aggregate", response_model=AggregateAnswer, tags=["ladders"], responses=documents.posted())
    async def aggregate(asked: AggregateRequest) -> Response:
        """One answer of several responses: the finest that enough of them entail, or what most of them say."""
        row = work.read_samples(asked.model_dump(exclude_unset=True, exclude=set(work.AGGREGATE_SETTINGS)))
        done = await desk.run(lambda holding: work.line_of(work.aggregate(holding, row, asked)))
        return _answer(done.value, done.snapshot_id)

    @app.post(
        "/v1/ladders", tags=["ladders"], responses=documents.LINES, openapi_extra=documents.BATCH,
        response_class=StreamingResponse,
    )  # fmt: skip
    async def ladders(
        request: Request,
        language: Language = "en",
        linker: Linker = "question",
        relation: Annotated[str | None, Query(pattern=r"^P[1-9][0-9]{0,8}$")] = None,
    ) -> Response:
        """Ladders of a batch, each as soon as it is made; bad rows are rejected in their places with the reason."""
        rows = work.read_batch(await request.body(), relation=relation, most=service.settings.rows)
        batch = work.Batch(rows, language=language, linker=linker)
        return _Lines(batch, service)


class _Lines(StreamingResponse):
    """The lines of a batch as they are made, all from one snapshot, which is let go when the last is sent or nobody
    reads on. Where it cannot go on, a last line tells the problem, and the connection is cut."""

    media_type = NDJSON

    def __init__(self, batch: work.Batch, service: Service) -> None:
        super().__init__(iter(()))
        self._batch = batch
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._service.desk.lease() as lease:
            self.headers[SNAPSHOT_HEADER] = lease.snapshot_id
            self.body_iterator = self._lines(lease)
            await super().__call__(scope, receive, send)

    async def _lines(self, lease: Lease) -> AsyncIterator[bytes]:
        counted = 0
        while not self._batch.is_done:
            try:
                lines = await lease.run(self._batch.slice, seconds=self._service.settings.batch_seconds)
            except Exception as error:
                yield orjson.dumps({"problem": problem_of(error).to_json()}, option=orjson.OPT_APPEND_NEWLINE)
                raise
            for abstained in self._batch.abstained[counted:]:
                self._service.metrics.laddered(abstained)
            counted = len(self._batch.abstained)
            yield lines


def _add_judging(app: FastAPI, service: Service) -> None:
    @app.post("/v1/match", response_model=MatchAnswer, tags=["judging"], responses=documents.posted())
    async def match(asked: MatchRequest) -> Response:
        """At which level each prediction matches a ladder, and by which rule."""
        row = _row_of(asked)
        chosen = work.chosen_matcher(asked.matcher, asked.tau, asked.language)
        found = await service.bench.run(
            lambda: orjson.dumps(work.match(asked.predictions, row, chosen, asked.lambda_)),
            seconds=service.settings.seconds,
        )
        return _answer(found, service.desk.snapshot_id)

    @app.post("/v1/score", response_model=ScoreAnswer, tags=["judging"], responses=documents.posted())
    async def score(asked: ScoreRequest) -> Response:
        """The scores of predictions against tiered rows, with intervals and a signature."""
        found = await service.bench.run(
            lambda: orjson.dumps(work.scores(asked, most=service.settings.rows)),
            seconds=service.settings.batch_seconds,
        )
        return _answer(found, service.desk.snapshot_id)


def _row_of(asked: MatchRequest) -> Row:
    if (asked.row is None) == (asked.levels is None):
        raise Problem(422, "request", "give either a tiered row or levels")
    if asked.row is not None:
        return Row.from_json(asked.row.model_dump(exclude_unset=True))
    assert asked.levels is not None
    return work.row_of_names(asked.levels, asked.question)
