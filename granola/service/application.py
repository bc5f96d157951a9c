"""The application: routes over the library, problems for errors, snapshot and version with every answer."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import PurePath
from typing import Annotated, Any

import orjson
from fastapi import FastAPI, Path, Query, Request, Response
from fastapi.responses import PlainTextResponse
from starlette.exceptions import HTTPException

from granola import __version__
from granola.service.gate import Gate
from granola.service.incoming.bounded_routes import Bound, BoundedRoute, as_typed, bounded
from granola.service.incoming.limits import LONGEST_NAME, MOST_FOUND
from granola.service.incoming.problems import MEDIA_TYPE, HTTPProblem
from granola.service.incoming.schemas import Language
from granola.service.routes.page_routes import add_page
from granola.service.routes.question_routes import add_judging, add_ladders
from granola.service.served import Service
from granola.service.work import snapshot_work
from kg.web.addresses import without_secrets

_PROBLEM = {
    "description": "Not answered: `code` says why, `detail` what to do. After 503 ask again in `Retry-After` seconds.",
    "content": {MEDIA_TYPE: {"schema": {"type": "object", "required": ["type", "title", "status", "code", "detail"]}}},
}


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

    async def refused(request: Request, error: Exception) -> Response:
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

    app.add_exception_handler(HTTPException, refused)
    _add_health(app, service)
    _add_reading(app, service)
    add_ladders(app, service)
    add_judging(app, service)
    add_page(app, service)
    return Gate(app, service)


def _add_health(app: FastAPI, service: Service) -> None:
    @app.get("/v1/health/live", tags=["health"])
    @bounded(Bound(products=as_typed, token=False))
    async def live() -> Response:
        """Whether the process runs."""
        return Response(b'{"status":"ok"}', media_type="application/json", headers={"Cache-Control": "no-store"})

    @app.get("/v1/health/ready", tags=["health"])
    @bounded(Bound(products=as_typed, token=False))
    async def ready() -> Response:
        """Whether requests can be answered."""
        is_open = service.snapshots.is_open
        body = b'{"status":"ok"}' if is_open else b'{"status":"starting"}'
        headers = {"Cache-Control": "no-store"}
        return Response(body, 200 if is_open else 503, headers, media_type="application/json")

    @app.get("/v1/metrics", tags=["health"], response_class=PlainTextResponse)
    @bounded(Bound(products=as_typed))
    async def metrics() -> Response:
        """Figures in Prometheus' text format."""
        return Response(service.metrics.page(), media_type="text/plain; version=0.0.4; charset=utf-8")


def _add_reading(app: FastAPI, service: Service) -> None:
    @app.get("/v1/entity/{qid}", tags=["snapshot"])
    @bounded(Bound(products=as_typed))
    async def entity(
        qid: Annotated[str, Path(max_length=20, examples=["Q76"])],
        language: Language = "en",
    ) -> Response:
        """An item or property: names, and all statements with a mark on the current ones. Redirects are followed."""
        return await service.made(language, lambda session: snapshot_work.entity_json(session, qid, language=language))

    @app.get("/v1/search", tags=["snapshot"])
    @bounded(Bound(products=as_typed))
    async def search(
        name: Annotated[str, Query(min_length=1, max_length=LONGEST_NAME, examples=["Honolulu"])],
        language: Language = "en",
        limit: Annotated[int, Query(ge=1, le=MOST_FOUND)] = 20,
        begins: Annotated[bool, Query(description="Names that begin so, too: to complete what is typed.")] = False,
    ) -> Response:
        """Entities that carry a name as label or alias; with `begins` those that carry one which begins so."""
        find = partial(snapshot_work.search, name=name, language=language, limit=limit, begins=begins)
        return await service.made(language, find)

    @app.get("/v1/snapshot", tags=["snapshot"])
    @bounded(Bound(products=as_typed))
    async def snapshot() -> Response:
        """The sources and settings of the snapshot."""
        generation = service.snapshots.current
        return service.answer(orjson.dumps(public(generation.manifest)), generation)


def public(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """A manifest without the command and the folders of whoever built the snapshot, and without addresses' secrets."""

    def plain(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: plain(part) for key, part in value.items()}
        if isinstance(value, list):
            return [plain(part) for part in value]
        if not isinstance(value, str) or "/" not in value:
            return value
        return without_secrets(value) if "://" in value else PurePath(value).name

    return {key: plain(value) for key, value in manifest.items() if key != "command"}
