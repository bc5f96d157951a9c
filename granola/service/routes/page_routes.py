"""The pages' routes: `/` with its style and its script, `/docs`, and the ladders of a dataset."""

from __future__ import annotations

import re
from functools import partial
from typing import Literal

from fastapi import FastAPI, Request, Response

from granola.report.pages.templates import page_file
from granola.service.incoming.bounded_routes import Bound, as_typed, bounded
from granola.service.routes import ladder_page
from granola.service.routes.ladder_page import Asked
from granola.service.routes.question_routes import made_ladder
from granola.service.served import SNAPSHOT_HEADER, Service

_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}
_HEADERS = {"Content-Security-Policy": ladder_page.POLICY, "Cache-Control": "no-cache"}
_HTML = "text/html; charset=utf-8"


def add_page(app: FastAPI, service: Service) -> None:
    """Add the routes. An error is shown on the page, with its status."""
    @app.get("/", include_in_schema=False)
    @bounded(Bound(products=as_typed))
    async def look(request: Request) -> Response:
        asked = Asked.of(request.query_params)
        status, retry, ladder, error = 200, {}, None, ""
        offered: list[Asked] = []
        with service.snapshots.current.held() as generation:
            try:
                offered = await generation.run(ladder_page.examples)
                if asked.question or asked.answer:
                    sent, lines = asked.request(), asked.lines()
                    row = await made_ladder(service, generation, sent)
                    found = await generation.run(lambda session: ladder_page.find(session, row, sent.language))
                    judge = partial(ladder_page.judge, found, lines, language=sent.language)
                    seconds = service.settings.seconds
                    ladder = await service.bench.run(lambda _: judge(), seconds=seconds) if lines else found
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

    @app.get("/page.{kind}", include_in_schema=False)
    @bounded(Bound(products=as_typed))
    async def asset(kind: Literal["css", "js"]) -> Response:
        return Response(ladder_page.asset(kind), headers={"Cache-Control": "no-cache"}, media_type=_TYPES[kind])
