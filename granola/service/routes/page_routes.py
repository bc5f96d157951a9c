"""The page's routes: `/` with its style and its script, and `/docs`."""

from __future__ import annotations

import logging

from fastapi import FastAPI, Request, Response
from fastapi.responses import RedirectResponse

from granola.pages.templates import page_file
from granola.service.incoming.bounded_routes import Bound, as_typed, bounded
from granola.service.incoming.schemas import LadderRequest
from granola.service.page import ladder_page, page_form
from granola.service.page.example_questions import Example, examples
from granola.service.routes.ladder_routes import phrased_ladder, phrasing_of
from granola.service.served import SNAPSHOT_HEADER, Service
from granola.service.work import snapshot_work
from granola.service.work.snapshot_session import SnapshotSession
from granola.service.work.snapshots import Generation

log = logging.getLogger("granola.service")
Offered = tuple[tuple[Example, ...], tuple[page_form.Asked, ladder_page.FoundLadder] | None]
_TYPES = {"page.css": "text/css; charset=utf-8", "page.js": "text/javascript; charset=utf-8"}


def add_page(app: FastAPI, service: Service) -> None:
    """Add the page. What cannot be answered is told on it, with the status that it has."""
    kept: dict[str, Offered] = {}

    async def offered(generation: Generation) -> Offered:
        """The examples of the snapshot that is served, with the first one's ladder; none while they cannot be found."""
        if generation.snapshot_id not in kept:
            try:
                found = await generation.run(_offered)
            except Exception as error:
                log.warning("no examples for the page: %s", service.problem(error).detail)
                return (), None
            kept.clear()
            kept[generation.snapshot_id] = found
        return kept[generation.snapshot_id]

    @app.get("/", include_in_schema=False)
    @bounded(Bound(products=as_typed, seconds="model_seconds"))
    async def look(request: Request) -> Response:
        asked = page_form.Asked.of(request.query_params)
        if page_form.is_padded(request.query_params):
            return RedirectResponse(asked.address(), 303)
        status, retry, ladder, report, error = 200, {}, None, None, None
        generation = service.snapshots.current
        if asked.question or asked.answer:
            try:
                request_of_form, lines = asked.request(), asked.lines()
                ladder = found = await _page_ladder(service, generation, request_of_form)
                if lines:
                    report = await service.apart(
                        lambda: ladder_page.judge(
                            found.row, lines, language=request_of_form.language, snapshot=generation.snapshot_id
                        )
                    )
            except Exception as failed:
                problem = service.problem(failed)
                ladder, status, error = None, problem.status, problem.detail
                retry = {"Retry-After": str(problem.retry_after)} if problem.retry_after else {}
        samples, opening = await offered(generation)
        body = ladder_page.render(
            asked,
            snapshot=generation.snapshot_id,
            examples=samples,
            opening=opening if asked == page_form.Asked() else None,
            ladder=ladder,
            report=report,
            error=error,
            retry=bool(retry),
            has_model=service.snapshots.has_model,
        )
        headers = {
            SNAPSHOT_HEADER: generation.snapshot_id,
            "Content-Security-Policy": ladder_page.POLICY,
            "Cache-Control": "no-cache",
        }
        return Response(body, status, {**headers, **retry}, media_type="text/html; charset=utf-8")

    @app.get("/docs", include_in_schema=False)
    @bounded(Bound(products=as_typed))
    async def documentation() -> Response:
        headers = {"Content-Security-Policy": ladder_page.POLICY, "Cache-Control": "no-cache"}
        return Response(page_file("interface.html"), headers=headers, media_type="text/html; charset=utf-8")

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


def _offered(session: SnapshotSession) -> Offered:
    """The examples, and the form and the ladder of the first."""
    samples = examples(session)
    if not samples:
        return (), None
    asked = page_form.asked_as(samples[0])
    made = snapshot_work.made(session, asked.request().row, language=asked.language)
    return samples, (asked, ladder_page.find(session, made, asked.language))


async def _page_ladder(
    service: Service, generation: Generation, asked: LadderRequest
) -> ladder_page.FoundLadder:
    """What the page shows of a question: the graph's ladder, or the model's where it is asked for."""
    if asked.phrase is None:
        return await generation.run(
            lambda session: ladder_page.find(
                session, snapshot_work.made(session, asked.row, language=asked.language), asked.language
            )
        )
    how = phrasing_of(service, asked)
    with generation.held():
        made = await phrased_ladder(service, generation, asked, how)
        return await generation.run(lambda session: ladder_page.find(session, made, asked.language))
