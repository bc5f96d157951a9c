"""The application: routes over the library, problems for errors, snapshot and version with every answer."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import PurePath
from typing import Annotated, Any

import orjson
from fastapi import FastAPI, Path, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from abstraction.errors import AbstractionError
from granola import __version__
from granola.errors import GranolaError
from granola.service.incoming import documents, problem_page
from granola.service.incoming.body_parsing import lanes_of
from granola.service.incoming.limits import LONGEST_NAME, MOST_FOUND
from granola.service.incoming.middleware import SNAPSHOT_HEADER, App, Middleware
from granola.service.incoming.problems import HTTPProblem
from granola.service.incoming.schemas import (
    EntityAnswer,
    Health,
    Language,
    Manifest,
    SearchAnswer,
)
from granola.service.incoming.validation_errors import problem_of_errors
from granola.service.routes.app_state import JSON, Service, answer
from granola.service.routes.judging_routes import add_attribution, add_judging
from granola.service.routes.ladder_routes import add_ladders
from granola.service.routes.page_routes import add_page
from granola.service.service_settings import ServiceSettings
from granola.service.work import snapshot_work
from granola.service.work.entities import entity_json
from granola.service.work.snapshot_session import SnapshotSession
from kg.errors import KGError
from kg.web.addresses import without_secrets


def create_app(
    settings: ServiceSettings, *, replaced: Callable[[], Mapping[str, int]] | None = None
) -> tuple[App, Service]:
    """The application behind its gate, and what it works with. The snapshot is opened when the application starts.

    `replaced` tells how many workers were replaced so far, by reason, where a supervisor does that.
    """
    service = Service(settings, replaced=replaced)

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
        redirect_slashes=False,
        lifespan=lifespan,
        separate_input_output_schemas=False,
    )
    _handle_errors(app, service)
    _add_health(app, service)
    _add_reading(app, service)
    add_ladders(app, service)
    add_judging(app, service)
    add_attribution(app, service)
    add_page(app, service)
    documents.describe(app)

    def apart(read: Callable[[], BaseModel]) -> Awaitable[BaseModel]:
        return service.bench.run(read, seconds=settings.seconds)

    lanes = lanes_of(app, service.failed, _OURS, apart)
    return Middleware(app, settings=settings, desk=service.desk, metrics=service.metrics, lanes=lanes), service


def _handle_errors(app: FastAPI, service: Service) -> None:
    problem_answer = service.problem_answer

    async def invalid(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return problem_answer(problem_of_errors(error.errors()))

    async def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        allowed = (error.headers or {}).get("Allow", "another method")
        codes = {
            404: ("path", "no such path; GET /v1/openapi.json tells those there are"),
            405: ("method", f"{request.method[:20]} is not what this path takes; it takes {allowed}"),
        }
        code, detail = codes.get(error.status_code, ("http", str(error.detail)))
        answer = problem_answer(
            HTTPProblem(error.status_code, code, detail), in_words=problem_page.is_wanted(request.scope)
        )
        answer.headers.update(error.headers or {})
        return answer

    async def ours(_: Request, error: Exception) -> Response:
        return service.failed(error)

    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, http)
    for kind in _OURS:
        app.add_exception_handler(kind, ours)


_OURS: tuple[type[Exception], ...] = (HTTPProblem, AbstractionError, GranolaError, KGError)


def _add_health(app: FastAPI, service: Service) -> None:
    @app.get("/v1/health/live", response_model=Health, tags=["health"], responses=documents.health())
    async def live() -> Response:
        """Whether the process runs."""
        return Response(b'{"status":"ok"}', media_type=JSON, headers={"Cache-Control": "no-store"})

    @app.get(
        "/v1/health/ready", response_model=Health, tags=["health"],
        responses={503: {"model": Health, "description": "Not yet, or no longer."}, **documents.health()},
    )  # fmt: skip
    async def ready() -> Response:
        """Whether requests can be answered."""
        headers = {"Cache-Control": "no-store"}
        if service.desk.is_open:
            return answer(b'{"status":"ok"}', service.desk.snapshot_id, headers=headers)
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

    async def conditional(request: Request, make: Callable[[SnapshotSession], Any]) -> Response:
        """The answer with an ETag that snapshot, program and address decide; 304 where the asker has it already."""

        def tag(snapshot_id: str) -> str:
            asked = f"{snapshot_id} {__version__} {request.url.path}?{request.url.query}"
            return f'"{hashlib.sha256(asked.encode()).hexdigest()[:32]}"'

        known_tags = {part.strip().removeprefix("W/") for part in request.headers.get("if-none-match", "").split(",")}
        now = tag(desk.snapshot_id)
        headers = {"ETag": now, "Cache-Control": "no-cache"}
        if now in known_tags:
            return Response(status_code=304, headers={**headers, SNAPSHOT_HEADER: desk.snapshot_id})
        done = await desk.run(lambda holding: orjson.dumps(make(holding)))
        if "*" in known_tags:  # there is something to be had
            return Response(status_code=304, headers={**headers, SNAPSHOT_HEADER: done.snapshot_id})
        return answer(done.value, done.snapshot_id, headers={**headers, "ETag": tag(done.snapshot_id)})

    @app.get("/v1/entity/{qid}", response_model=EntityAnswer, tags=["snapshot"], responses=documents.gotten(404))
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
        name: Annotated[str, Query(min_length=1, max_length=LONGEST_NAME, examples=["Honolulu"])],
        language: Language = "en",
        limit: Annotated[int, Query(ge=1, le=MOST_FOUND)] = 20,
        begins: Annotated[bool, Query(description="Names that begin so, too: to complete what is typed.")] = False,
    ) -> Response:
        """Entities that carry a name as label or alias; with `begins` those that carry one which begins so."""
        return await conditional(
            request, lambda holding: snapshot_work.search(holding, name, language=language, limit=limit, begins=begins)
        )

    @app.get("/v1/snapshot", response_model=Manifest, tags=["snapshot"], responses=documents.gotten())
    async def snapshot(request: Request) -> Response:
        """What the snapshot was made from and how."""
        return await conditional(request, lambda holding: public(holding.manifest))


def public(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """A manifest without the folders of whoever built the snapshot, and without secrets in addresses."""

    def plain(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: plain(part) for key, part in value.items()}
        if isinstance(value, list):
            return [plain(part) for part in value]
        if not isinstance(value, str) or "/" not in value:
            return value
        return without_secrets(value) if "://" in value else PurePath(value).name

    out = {key: plain(value) for key, value in manifest.items() if key != "command"}
    if isinstance(command := manifest.get("command"), str):
        try:
            out["command"] = shlex.join(plain(word) for word in shlex.split(command))
        except ValueError:
            out["command"] = ""
    return out
