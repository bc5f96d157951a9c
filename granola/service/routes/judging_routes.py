"""The routes that hold predictions against ladders, and evidence against tiers."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import FastAPI, Response

from abstraction.files.writing import json_line
from granola.matching import Matcher, matcher
from granola.matching.model_judge import JudgeMatcher
from granola.scoring.predictions import Prediction
from granola.scoring.scores import score_item
from granola.service.incoming.bounded_routes import Bound, bounded
from granola.service.incoming.limits import (
    check_compared,
    check_evidence,
    check_resampled,
    check_rows,
    lengths_of,
)
from granola.service.incoming.schemas import (
    AttributionRequest,
    MatchRequest,
    MatchSettings,
    ScoreRequest,
)
from granola.service.served import Service
from granola.service.service_settings import ServiceSettings
from granola.service.work import snapshot_work
from granola.service.work.model_session import judge_ahead
from granola.service.work.snapshot_session import SnapshotSession
from granola.service.work.workroom import Context, Workroom


def bound_evidence(asked: AttributionRequest, settings: ServiceSettings) -> None:
    """Raise HTTPProblem or RowError for a row of too many steps."""
    check_evidence(asked.tiered)


def bound_match(asked: MatchRequest, settings: ServiceSettings) -> None:
    """Raise HTTPProblem or RowError where too much is to be compared."""
    check_compared([(list(map(len, asked.predictions)), lengths_of(asked.tiered))])


def bound_score(asked: ScoreRequest, settings: ServiceSettings) -> None:
    """Raise HTTPProblem for too many rows, comparisons or samples."""
    check_rows(max(len(asked.rows), len(asked.predictions)), settings.rows)
    sent = {str(one.get("id")): len(str(one.get("prediction"))) for one in asked.predictions if isinstance(one, dict)}
    rows, _ = asked.tiered
    check_compared(([sent[row.id]], lengths_of(row)) for row in rows if row.id in sent)
    check_resampled(asked.resamples, len({row.relation for row in rows}), len(rows))


def add_judging(app: FastAPI, service: Service) -> None:
    """Add them."""
    settings = service.settings

    @app.post("/v1/attribution/check", tags=["judging"])
    @bounded(Bound(body="small", products=bound_evidence))
    async def check(asked: AttributionRequest) -> Response:
        """Each tier's evidence as citations, and whether they support it by the snapshot."""

        def do(session: SnapshotSession) -> bytes:
            tiers = session.attributor(asked.language).checked(asked.tiered)
            return json_line({"id": asked.tiered.id, "tiers": [tier.to_json() for tier in tiers]})

        return await service.made(asked.language, do)

    async def judged(
        room: Workroom[Context], seconds: float, do: Callable[[Matcher], bytes], asked: MatchSettings, language: str
    ) -> Response:
        """The answer that `do` makes with the matcher that is asked for: with a model's on its thread."""
        if asked.matcher == "judge":
            generation = service.with_model()
            body = await generation.ask(lambda session: do(session.judge(tau=asked.tau, raw=asked.raw)))
            return service.answer(body, generation)
        snapshot_work.check_answer_language(language)
        chosen = matcher(asked.matcher, tau=asked.tau, language=language, raw=asked.raw)
        body = await room.run(lambda _: do(chosen), seconds=seconds)
        return service.answer(body, service.snapshots.current)

    @app.post("/v1/match", tags=["judging"])
    @bounded(Bound(body="small", products=bound_match, seconds="model_seconds"))
    async def match(asked: MatchRequest) -> Response:
        """At which level each prediction matches a ladder, and by which rule."""

        def do(chosen: Matcher) -> bytes:
            if isinstance(chosen, JudgeMatcher):
                judge_ahead(chosen, [(asked.tiered, told) for told in asked.predictions], most=settings.model_rows)
            told = (Prediction(id=str(number), text=text) for number, text in enumerate(asked.predictions, 1))
            items = [{**score_item(asked.tiered, o, chosen, asked.lambda_).to_json(), "id": o.id} for o in told]
            return json_line({"matcher": chosen.signature(), "items": items})

        return await judged(service.bench, settings.seconds, do, asked, asked.language)

    @app.post("/v1/score", tags=["judging"])
    @bounded(Bound(body="large", products=bound_score, seconds="batch_seconds"))
    async def score(asked: ScoreRequest) -> Response:
        """The scores of predictions against tiered rows, with intervals and a signature."""

        def do(chosen: Matcher) -> bytes:
            return json_line(snapshot_work.scores(asked, chosen, judged=settings.model_rows))

        return await judged(service.scoring, settings.batch_seconds, do, asked, "en")
