"""The routes that hold predictions against ladders, and evidence against tiers."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import FastAPI, Response

from abstraction.files.writing import json_line
from granola.matching import Matcher, matcher
from granola.matching.model_judge import JudgeMatcher
from granola.service.incoming.bounded_routes import Bound, bounded
from granola.service.incoming.limits import (
    check_compared,
    check_evidence,
    check_resampled,
    check_rows,
    lengths_of,
    raw_lengths,
)
from granola.service.incoming.schemas import (
    AttributionAnswer,
    AttributionRequest,
    MatchAnswer,
    MatchRequest,
    MatchSettings,
    ScoreAnswer,
    ScoreRequest,
)
from granola.service.served import Service
from granola.service.service_settings import ServiceSettings
from granola.service.work import snapshot_work
from granola.service.work.model_session import judge_ahead
from granola.service.work.snapshot_session import SnapshotSession
from granola.service.work.workroom import NoContext, Workroom


def bound_evidence(asked: AttributionRequest, settings: ServiceSettings) -> None:
    """Raise HTTPProblem or RowError for a row of too many steps."""
    check_evidence(asked.tiered)


def bound_match(asked: MatchRequest, settings: ServiceSettings) -> None:
    """Raise HTTPProblem or RowError where too much is to be compared."""
    check_compared([(list(map(len, asked.predictions)), lengths_of(asked.tiered))])


def bound_score(asked: ScoreRequest, settings: ServiceSettings) -> None:
    """Raise HTTPProblem for too many rows, comparisons or samples, by the rows as they were sent."""
    check_rows(max(len(asked.rows), len(asked.predictions)), settings.rows)
    sent = {str(one.get("id")): len(str(one.get("prediction"))) for one in asked.predictions if isinstance(one, dict)}
    rows = [(n, row) for n, row in enumerate(asked.rows, 1) if isinstance(row, dict)]
    ids = [str(row.get("id", f"row-{n}")) for n, row in rows]
    check_compared(([sent[i]], raw_lengths(row)) for i, (_, row) in zip(ids, rows, strict=True) if i in sent)
    check_resampled(asked.resamples, len({str(row.get("relation")) for _, row in rows}), len(asked.rows))


def add_judging(app: FastAPI, service: Service) -> None:
    """Add them."""
    settings = service.settings

    @app.post("/v1/attribution/check", response_model=AttributionAnswer, tags=["judging"])
    @bounded(Bound(body="small", products=bound_evidence))
    async def check(asked: AttributionRequest) -> Response:
        """Each tier's evidence as citations, and whether they support it by the snapshot."""

        def do(session: SnapshotSession) -> bytes:
            snapshot_work.check_language(session, asked.language)
            tiers = session.attributor(asked.language).checked(asked.tiered)
            return json_line({"id": asked.tiered.id, "tiers": [tier.to_json() for tier in tiers]})

        return await service.made(do)

    async def judged(
        room: Workroom[NoContext], seconds: float, do: Callable[[Matcher], bytes], asked: MatchSettings
    ) -> Response:
        """The answer that `do` makes with the matcher that is asked for: with a model's on its thread."""
        if asked.matcher == "judge":
            generation = service.with_model()
            body = await generation.ask(lambda session: do(session.judge(tau=asked.tau, raw=asked.raw)))
            return service.answer(body, generation)
        language = asked.language if isinstance(asked, MatchRequest) else "en"
        snapshot_work.check_answer_language(language)
        chosen = matcher(asked.matcher, tau=asked.tau, language=language, raw=asked.raw)
        body = await room.run(lambda _: do(chosen), seconds=seconds)
        return service.answer(body, service.snapshots.current)

    @app.post("/v1/match", response_model=MatchAnswer, tags=["judging"])
    @bounded(Bound(body="small", products=bound_match, seconds="model_seconds"))
    async def match(asked: MatchRequest) -> Response:
        """At which level each prediction matches a ladder, and by which rule."""

        def do(chosen: Matcher) -> bytes:
            if isinstance(chosen, JudgeMatcher):
                pairs = [(asked.tiered, prediction) for prediction in asked.predictions]
                judge_ahead(chosen, pairs, most=settings.model_rows)
            return json_line(snapshot_work.match(asked.predictions, asked.tiered, chosen, asked.lambda_))

        return await judged(service.bench, settings.seconds, do, asked)

    @app.post("/v1/score", response_model=ScoreAnswer, tags=["judging"])
    @bounded(Bound(body="large", products=bound_score, seconds="batch_seconds"))
    async def score(asked: ScoreRequest) -> Response:
        """The scores of predictions against tiered rows, with intervals and a signature."""

        def do(chosen: Matcher) -> bytes:
            return json_line(snapshot_work.scores(asked, chosen, judged=settings.model_rows))

        return await judged(service.scoring, settings.batch_seconds, do, asked)
