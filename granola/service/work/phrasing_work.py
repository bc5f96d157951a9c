"""Ladders in a model's words, asked for together and checked one by one between other work."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from abstraction.rows import TieredRow
from granola.service.work.model_threads import ModelThreads, NeedsReplies, Relay
from granola.service.work.model_work import phrase
from granola.service.work.snapshot_pool import Lease
from granola.service.work.snapshot_session import SnapshotSession


class Phrasing:
    """How the rows of one request are phrased. `name` tells by what, once `begin` has found it out."""

    def __init__(self, models: ModelThreads, *, mode: str, unproven: str, language: str, seconds: float) -> None:
        self._models = models
        self._mode = mode
        self._unproven = unproven
        self._language = language
        self._seconds = seconds
        self.name = ""

    async def begin(self, lease: Lease) -> None:
        """Find out what rows will be phrased with."""
        relay = Relay(self._models.identity)
        settings = {"mode": self._mode, "unproven": self._unproven, "language": self._language}
        self.name = await lease.run(
            lambda holding: holding.phraser(relay, **settings).fingerprint, seconds=self._seconds
        )

    async def rows(self, rows: Sequence[TieredRow], lease: Lease) -> list[TieredRow]:
        """The rows as `granola tiers --phrase` writes them. Raises Problem and ModelError."""
        if not rows:
            return []
        until = self._models.until()
        relay = Relay(self._models.identity)
        phrased = await self._work(rows, lease, relay)
        if not isinstance(phrased, NeedsReplies):
            return phrased
        relay.learn(await self._models.ask(phrased.requests, until))
        out: list[TieredRow] = []
        for row in rows:
            out += await self._models.through(partial(self._work, [row], lease), until, relay)
        return out

    async def _work(self, rows: Sequence[TieredRow], lease: Lease, relay: Relay) -> list[TieredRow] | NeedsReplies:
        def do(holding: SnapshotSession) -> list[TieredRow] | NeedsReplies:
            return phrase(holding, rows, relay, language=self._language, mode=self._mode, unproven=self._unproven)

        return await lease.run(do, seconds=self._seconds)
