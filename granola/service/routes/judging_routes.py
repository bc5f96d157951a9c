"""The routes that hold predictions against ladders, and evidence against tiers."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import FastAPI, Response

from abstraction.files.writing import json_line
from abstraction.rows import TieredRow as Row
from abstraction.rows import TieredRow as TieredLadder
from granola.matching import Matcher
from granola.matching.model_judge import JudgeMatcher
from granola.service.incoming import documents
from granola.service.incoming.limits import check_compared, lengths_of
from granola.service.incoming.problems import HTTPProblem
from granola.service.incoming.schemas import (
    AttributionAnswer,
    AttributionRequest,
    MatchAnswer,
    MatchRequest,
    MatchSettings,
    ScoreAnswer,
    ScoreRequest,
)
from granola.service.routes.app_state import Service, answer
from granola.service.work import model_work, snapshot_work
from granola.service.work.matching_thread import MatchingThread
from granola.service.work.model_threads import NeedsReplies, Relay, attempt
from granola.service.work.snapshot_session import SnapshotSession

# The route that says whether evidence supports tiers.


def add_attribution(app: FastAPI, service: Service) -> None:
    """Add it."""

    @app.post("/v1/attribution/check", response_model=AttributionAnswer, tags=["judging"], responses=documents.posted())
    async def check(asked: AttributionRequest) -> Response:
        """Each tier's evidence as citations, and whether they support it by the snapshot."""
        row = TieredLadder.from_json(asked.row.model_dump(exclude_unset=True))

        def do(holding: SnapshotSession) -> bytes:
            snapshot_work.check_language(holding, asked.language)
            tiers = holding.attributor(asked.language).checked(row)
            return json_line({"id": row.id, "tiers": [tier.to_json() for tier in tiers]})

        done = await service.desk.run(do)
        return answer(done.value, done.snapshot_id)


# Predictions against ladders.


def add_judging(app: FastAPI, service: Service) -> None:
    """Add them."""
    settings = service.settings

    async def judged(
        bench: MatchingThread, seconds: float, do: Callable[[Matcher], bytes], asked: MatchSettings
    ) -> bytes:
        """The body that `do` makes with the matcher that is asked for, on a bench."""
        if asked.matcher != "judge":
            language = asked.language if isinstance(asked, MatchRequest) else "en"
            snapshot_work.check_answer_language(language)
            chosen = snapshot_work.chosen_matcher(asked.matcher, asked.tau, language)
            return await bench.run(lambda: do(chosen), seconds=seconds)
        models = service.asked_models()
        matchers: list[JudgeMatcher] = []  # one for all attempts: it keeps the verdicts that it has

        async def judge_with(relay: Relay) -> bytes | NeedsReplies:
            if not matchers:
                matchers.append(model_work.judge(relay, tau=asked.tau))
            return await bench.run(lambda: attempt(lambda: do(matchers[0])), seconds=seconds)

        return await models.through(judge_with, models.until())

    @app.post("/v1/match", response_model=MatchAnswer, tags=["judging"], responses=documents.posted())
    async def match(asked: MatchRequest) -> Response:
        """At which level each prediction matches a ladder, and by which rule."""
        row = _row_of(asked)
        check_compared([(list(map(len, asked.predictions)), lengths_of(row))])

        def do(chosen: Matcher) -> bytes:
            if isinstance(chosen, JudgeMatcher):
                pairs = [(row, prediction) for prediction in asked.predictions]
                model_work.judge_ahead(chosen, pairs, most=settings.model_rows)
            return json_line(snapshot_work.match(asked.predictions, row, chosen, asked.lambda_))

        body = await judged(service.bench, settings.seconds, do, asked)
        return answer(body, service.desk.snapshot_id)

    @app.post("/v1/score", response_model=ScoreAnswer, tags=["judging"], responses=documents.posted())
    async def score(asked: ScoreRequest) -> Response:
        """The scores of predictions against tiered rows, with intervals and a signature."""

        def do(chosen: Matcher) -> bytes:
            return json_line(snapshot_work.scores(asked, chosen, most=settings.rows, judged=settings.model_rows))

        body = await judged(service.scoring, settings.batch_seconds, do, asked)
        return answer(body, service.desk.snapshot_id)


def _row_of(asked: MatchRequest) -> Row:
    if (asked.row is None) == (asked.levels is None):
        raise HTTPProblem(422, "request", "give either a tiered row or levels")
    if asked.row is not None:
        return Row.from_json(asked.row.model_dump(exclude_unset=True))
    assert asked.levels is not None
    return snapshot_work.row_of_names(asked.levels, asked.question)
