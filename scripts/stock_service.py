"""The one route `POST /v1/ladder` on plain FastAPI and uvicorn, for scripts/bench_service.py --stock to compare with.

    python scripts/stock_service.py SNAPSHOT PORT WORKERS

What a service is with nothing of ours: FastAPI reads the body, its pool of threads makes ladders, one at a time in
each worker, uvicorn's own workers share the port, and `limit_concurrency` refuses what is too much.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio.to_thread
import uvicorn
from fastapi import FastAPI, Response

from granola.service.incoming.schemas import LadderRequest
from granola.service.work import snapshot_work
from granola.service.work.snapshot_session import SnapshotSession

AT_ONCE = 64  # requests in flight in a worker, above which uvicorn answers 503
SNAPSHOT = "GRANOLA_STOCK_SNAPSHOT"


@asynccontextmanager
async def one_at_a_time(_: FastAPI) -> AsyncIterator[None]:
    """A snapshot and the makers that read it are of one thread."""
    anyio.to_thread.current_default_thread_limiter().total_tokens = 1
    yield


app = FastAPI(lifespan=one_at_a_time)
_sessions: list[SnapshotSession] = []


@app.post("/v1/ladder")
def ladder(asked: LadderRequest) -> Response:
    """The ladder of one question."""
    if not _sessions:
        _sessions.append(SnapshotSession(os.environ[SNAPSHOT], language="en", seconds=30.0))
    row = snapshot_work.read_question(asked.model_dump(exclude_unset=True, exclude=snapshot_work.LADDER_SETTINGS))
    made = snapshot_work.made(_sessions[0], row, language=asked.language)
    return Response(snapshot_work.line_of(made.to_json(), first=True), media_type="application/json")


if __name__ == "__main__":
    snapshot, port, workers = sys.argv[1:4]
    os.environ[SNAPSHOT] = snapshot
    uvicorn.run(
        "stock_service:app", port=int(port), workers=int(workers), limit_concurrency=AT_ONCE, log_level="warning"
    )
