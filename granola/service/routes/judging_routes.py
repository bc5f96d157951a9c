"""The routes that hold predictions against ladders, and evidence against tiers."""

from __future__ import annotations

from dataclasses import replace

from fastapi import FastAPI, Response

from abstraction.faults import RejectedRow, shown
from abstraction.files.records import Record
from abstraction.files.writing import json_line
from granola.attribution.tier_checks import TierAttributor
from granola.errors import PredictionError
from granola.scoring.predictions import Prediction, predictions_of
from granola.scoring.scores import ScoreSettings, score, score_item
from granola.scoring.tiered_file import TieredFile
from granola.service.incoming.bounded_routes import Bound, bounded
from granola.service.incoming.limits import (
    LONGEST,
    check_compared,
    check_evidence,
    check_resampled,
    check_rows,
    lengths_of,
)
from granola.service.incoming.schemas import (
    AttributionRequest,
    MatchRequest,
    ScoreRequest,
)
from granola.service.served import Service
from granola.service.service_settings import ServiceSettings
from granola.service.work.snapshot_session import SnapshotSession
from granola.service.work.workroom import Context


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

    @app.post("/v1/attribution/check", tags=["judging"])
    @bounded(Bound(body="small", products=bound_evidence))
    async def check(asked: AttributionRequest) -> Response:
        """Each tier's evidence as citations, and whether they support it by the snapshot."""

        def do(session: SnapshotSession) -> bytes:
            tiers = TierAttributor(session.store, language=asked.language).checked(asked.tiered)
            return json_line({"id": asked.tiered.id, "tiers": [tier.to_json() for tier in tiers]})

        return await service.made(asked.language, do)

    @app.post("/v1/match", tags=["judging"])
    @bounded(Bound(body="small", products=bound_match))
    async def match(asked: MatchRequest) -> Response:
        """At which level each prediction matches a ladder, and by which rule."""
        chosen = asked.chosen(asked.language)

        def do(_: Context) -> bytes:
            told = (Prediction(id=str(number), text=text) for number, text in enumerate(asked.predictions, 1))
            items = [{**score_item(asked.tiered, o, chosen, asked.lambda_).to_json(), "id": o.id} for o in told]
            return json_line({"matcher": chosen.signature(), "items": items})

        body = await service.bench.run(do, seconds=service.settings.seconds)
        return service.answer(body, service.snapshots.current)

    @app.post("/v1/score", tags=["judging"])
    @bounded(Bound(body="large", products=bound_score, seconds="batch_seconds"))
    async def scored(asked: ScoreRequest) -> Response:
        """The scores of predictions against tiered rows, with intervals and a signature."""
        body = await service.scoring.run(lambda _: _scores(asked), seconds=service.settings.batch_seconds)
        return service.answer(body, service.snapshots.current)


def _scores(asked: ScoreRequest) -> bytes:
    """What `granola score` tells; the signature's hash is that of a file as `granola tiers` writes it."""
    rows, rejected = asked.tiered
    if not rows:
        raise PredictionError(f"no tiered row; {rejected[0].source}: {rejected[0].reason}")
    records = [_prediction_record(number, data) for number, data in enumerate(asked.predictions, 1)]
    file = replace(predictions_of(records, "predictions"), asked=asked.asked or "")
    tiered = TieredFile(
        rows=rows, rejected=tuple(rejected), snapshot=asked.snapshot or "unknown", prompts=asked.prompts or ""
    )
    settings = ScoreSettings(
        lambda_=asked.lambda_,
        standard=asked.standard,
        resamples=asked.resamples,
        seed=asked.seed,
        allow_missing=asked.allow_missing,
        ignore_unknown=asked.ignore_unknown,
    )
    report = score(tiered, file, asked.chosen("en"), settings, system=asked.system)
    items = [item.to_json() for item in report.items]
    refused = [row.to_json() for row in (*rejected, *file.rejected)]
    return json_line({**report.to_json(), "items": items, "rejected": refused})


def _prediction_record(number: int, data: object) -> Record | RejectedRow:
    source, reason = f"predictions[{number}]", "no JSON object"
    if isinstance(data, dict):
        if len(str(data.get("prediction") or "")) <= LONGEST:
            return Record(source=source, data=data)
        reason = f"more than {LONGEST:,} characters"
    return RejectedRow(source=source, reason=reason, excerpt=shown(data))
