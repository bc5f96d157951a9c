"""The page's routes: `/` with its style and its script, and `/docs`."""

from __future__ import annotations

import logging

from fastapi import FastAPI, Request, Response
from fastapi.responses import RedirectResponse

from granola.pages.templates import page_file
from granola.service.incoming.middleware import SNAPSHOT_HEADER
from granola.service.incoming.problems import problem_of
from granola.service.incoming.schemas import LadderRequest
from granola.service.page import ladder_page, page_form
from granola.service.page.example_questions import Example, examples
from granola.service.routes.app_state import Service
from granola.service.routes.ladder_routes import phrased_ladder, phrasing_of
from granola.service.work import snapshot_work
from granola.service.work.snapshot_pool import Done
from granola.service.work.snapshot_session import SnapshotSession

log = logging.getLogger("granola.service")
Offered = tuple[tuple[Example, ...], tuple[page_form.Asked, ladder_page.FoundLadder] | None]
_TYPES = {"page.css": "text/css; charset=utf-8", "page.js": "text/javascript; charset=utf-8"}


def add_page(app: FastAPI, service: Service) -> None:
    """Add the page. What cannot be answered is told on it, with the status that it has."""
    desk = service.desk
    kept: dict[str, Offered] = {}

    async def offered() -> Offered:
        """The examples of the snapshot that is served, with the first one's ladder; none while they cannot be found."""
        if desk.snapshot_id not in kept:
            try:
                done = await desk.run(_offered)
            except Exception as error:
                log.warning("no examples for the page: %s", problem_of(error).detail)
                return (), None
            kept.clear()
            kept[done.snapshot_id] = done.value
        return kept.get(desk.snapshot_id, ((), None))

    @app.get("/", include_in_schema=False)
    async def look(request: Request) -> Response:
        asked = page_form.Asked.of(request.query_params)
        if page_form.is_padded(request.query_params):
            return RedirectResponse(asked.address(), 303)
        snapshot, status, retry = desk.snapshot_id, 200, {}
        ladder = report = error = None
        if asked.question or asked.answer:
            try:
                request_of_form = asked.request()
                lines = asked.lines()
                done = await _page_ladder(service, request_of_form)
                ladder, snapshot = done.value, done.snapshot_id
                if lines:
                    made = ladder.row
                    from_ = snapshot
                    report = await service.bench.run(
                        lambda: ladder_page.judge(made, lines, language=request_of_form.language, snapshot=from_),
                        seconds=service.settings.seconds,
                    )
            except Exception as failed:
                problem = problem_of(failed)
                if problem.status == 500:
                    log.exception("the page failed")
                ladder, status, error = None, problem.status, problem.detail
                retry = {"Retry-After": str(problem.retry_after)} if problem.retry_after else {}
        samples, opening = await offered()
        body = ladder_page.render(
            asked,
            snapshot=snapshot,
            examples=samples,
            opening=opening if asked == page_form.Asked() else None,
            ladder=ladder,
            report=report,
            error=error,
            retry=bool(retry),
            has_model=service.models is not None,
        )
        headers = {
            SNAPSHOT_HEADER: snapshot,
            "Content-Security-Policy": ladder_page.POLICY,
            "Cache-Control": "no-cache",
        }
        return Response(body, status, {**headers, **retry}, media_type="text/html; charset=utf-8")

    @app.get("/docs", include_in_schema=False)
    async def documentation() -> Response:
        headers = {"Content-Security-Policy": ladder_page.POLICY, "Cache-Control": "no-cache"}
        return Response(page_file("interface.html"), headers=headers, media_type="text/html; charset=utf-8")

    def add_asset(name: str) -> None:
        @app.get(f"/{name}", include_in_schema=False)
        async def asset(request: Request) -> Response:
            data, tag = ladder_page.asset(name)
            headers = {"ETag": tag, "Cache-Control": "no-cache"}
            if request.headers.get("if-none-match") == tag:
                return Response(status_code=304, headers=headers)
            return Response(data, headers=headers, media_type=_TYPES[name])

    for name in _TYPES:
        add_asset(name)


def _offered(holding: SnapshotSession) -> Offered:
    """The examples, and the form and the ladder of the first."""
    samples = examples(holding)
    if not samples:
        return (), None
    asked = page_form.asked_as(samples[0])
    row = snapshot_work.read_question(
        asked.request().model_dump(exclude_unset=True, exclude=snapshot_work.LADDER_SETTINGS)
    )
    made = snapshot_work.made(holding, row, language=asked.language)
    return samples, (asked, ladder_page.find(holding, made, asked.language))


async def _page_ladder(service: Service, asked: LadderRequest) -> Done[ladder_page.FoundLadder]:
    """What the page shows of a question: the graph's ladder, or the model's where it is asked for."""
    row = snapshot_work.read_question(asked.model_dump(exclude_unset=True, exclude=snapshot_work.LADDER_SETTINGS))
    if asked.phrase is None:
        return await service.desk.run(
            lambda holding: ladder_page.find(
                holding, snapshot_work.made(holding, row, language=asked.language), asked.language
            )
        )
    phrasing = phrasing_of(service, asked)
    async with service.desk.lease(counted=False) as lease:
        made = await phrased_ladder(service, asked, row, phrasing, lease)
        ladder = await lease.run(
            lambda holding: ladder_page.find(holding, made, asked.language), seconds=service.settings.seconds
        )
    return Done(ladder, lease.snapshot_id)
