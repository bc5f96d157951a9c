"""The pages' routes: `/` with its style and its script, `/docs`, and the ladders of a dataset."""

from __future__ import annotations

import logging
import re

from fastapi import FastAPI, Request, Response

from granola.pages.templates import page_file
from granola.service.incoming.bounded_routes import Bound, as_typed, bounded
from granola.service.page import ladder_page
from granola.service.page.page_form import Asked
from granola.service.routes.ladder_routes import made_ladder
from granola.service.served import SNAPSHOT_HEADER, Service
from granola.service.work.snapshots import Generation

log = logging.getLogger("granola.service")
_TYPES = {"page.css": "text/css; charset=utf-8", "page.js": "text/javascript; charset=utf-8"}
_HEADERS = {"Content-Security-Policy": ladder_page.POLICY, "Cache-Control": "no-cache"}
_HTML = "text/html; charset=utf-8"


def add_page(app: FastAPI, service: Service) -> None:
    """Add them. What cannot be answered is told on the page, with the status that it has."""
    kept: dict[str, list[Asked]] = {}

    async def examples(generation: Generation) -> list[Asked]:
        """Those of the snapshot that is served; none while they cannot be found."""
        if generation.snapshot_id not in kept:
            try:
                found = await generation.run(ladder_page.examples)
            except Exception as error:
                log.warning("no examples for the page: %s", service.problem(error).detail)
                return []
            kept.clear()
            kept[generation.snapshot_id] = found
        return kept[generation.snapshot_id]

    async def found_ladder(generation: Generation, asked: Asked) -> ladder_page.FoundLadder:
        request, lines = asked.request(), asked.lines()
        row = await made_ladder(service, generation, request)
        found = await generation.run(lambda session: ladder_page.find(session, row, request.language))
        if not lines:
            return found
        return await service.apart(lambda: ladder_page.judge(found, lines, language=request.language))

    @app.get("/", include_in_schema=False)
    @bounded(Bound(products=as_typed))
    async def look(request: Request) -> Response:
        asked = Asked.of(request.query_params)
        status, retry, ladder, error = 200, {}, None, ""
        with service.snapshots.current.held() as generation:
            offered = await examples(generation)
            try:
                if asked.question or asked.answer:
                    ladder = await found_ladder(generation, asked)
            except Exception as failed:
                problem = service.problem(failed)
                status, error = problem.status, problem.detail
                retry = {"Retry-After": str(problem.retry_after)} if problem.retry_after else {}
        body = ladder_page.render(
            asked,
            snapshot=generation.snapshot_id,
            examples=offered,
            ladder=ladder,
            error=error,
            retry=bool(retry),
            dataset=service.settings.dataset is not None,
        )
        return Response(body, status, {SNAPSHOT_HEADER: generation.snapshot_id, **_HEADERS, **retry}, media_type=_HTML)

    @app.get("/docs", include_in_schema=False)
    @bounded(Bound(products=as_typed))
    async def documentation() -> Response:
        return Response(page_file("interface.html"), headers=_HEADERS, media_type=_HTML)

    if (page := service.settings.dataset) is not None:
        policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page.decode())
        headers = {**_HEADERS, "Content-Security-Policy": f"{policy[1] if policy else ''}; frame-ancestors 'none'"}

        @app.get("/dataset", include_in_schema=False)
        @bounded(Bound(products=as_typed))
        async def dataset() -> Response:
            return Response(page, headers=headers, media_type=_HTML)

    def add_asset(name: str) -> None:
        @app.get(f"/{name}", include_in_schema=False)
        @bounded(Bound(products=as_typed))
        async def asset(request: Request) -> Response:
            data, tag = ladder_page.asset(name)
            headers = {"ETag": tag, "Cache-Control": "no-cache"}
            if request.headers.get("if-none-match") == tag:
                return Response(status_code=304, headers=headers)
            return Response(data, headers=headers, media_type=_TYPES[name])

    for name in _TYPES:
        add_asset(name)
