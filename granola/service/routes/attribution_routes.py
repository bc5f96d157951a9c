"""The route that says whether evidence supports tiers."""

from __future__ import annotations

from fastapi import FastAPI, Response

from abstraction.formats.writing import json_line
from abstraction.rows import TieredRow as TieredLadder
from granola.service.incoming import documents
from granola.service.incoming.schemas import AttributionAnswer, AttributionRequest
from granola.service.routes.app_state import Service, answer
from granola.service.work import snapshot_work
from granola.service.work.snapshot_session import SnapshotSession


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
