"""A dataset of a handful of questions over a small world."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from abstraction.base.tiers import Level, Tier
from abstraction.datasets.building import BuiltDataset, DatasetSettings, build_dataset
from abstraction.datasets.saved_work import QuestionFiles
from abstraction.files.rows import TieredRow, read_tiered
from kg.store.sqlite import SQLiteStore
from tests.worlds import CLASSES, entity, snapshot_at

WORLD = (
    *CLASSES,
    entity(
        "Q101", "Ashby", "city in Marlow County, Norland", aliases=["Ashbyville"], P31="Q515", P131="Q102", sitelinks=7
    ),
    entity("Q102", "Marlow County", P31="Q47168", P131="Q103"),
    entity("Q103", "Norland", P31="Q35657", P131="Q104"),
    entity("Q104", "Vestria", "sovereign state in Europe", P31="Q3624078"),
    entity("Q9", "Ann Smith", "painter", P31="Q5"),
)
ASKED = [
    {"id": "a", "question": "Where was Ann Smith born?", "answer": "Ashby", "answer_qid": "Q101", "topic": "art"},
    {"id": "b", "question": "Where was Bob Smith born?", "answer": "Ashby", "topic": "none"},
    {"id": "c", "question": "Where was Carl Smith born?", "answer": "Nowhere Known"},
    {"id": "d", "question": "Where was Dora Smith born?", "answer": ["Ashby", "Norland"]},
    {"id": "e", "question": "Where was Emil Smith born?", "answer": "Marlow County", "votes": {"yes": [1]}},
]


def world(path: Path) -> SQLiteStore:
    return SQLiteStore.open(snapshot_at(path, WORLD))


def put(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def built(folder: Path, rows: Sequence[dict[str, Any]] = ASKED, **more: Any) -> tuple[BuiltDataset, list[TieredRow]]:
    settings = DatasetSettings(name="Tiny", format=more.pop("format", "jsonl"), **more.pop("settings", {}))
    questions = QuestionFiles(files=(put(folder / "q.jsonl", rows),), relation="P19")
    made = build_dataset(questions, world(folder / "w.sqlite"), folder / "out", settings=settings, **more)
    return made, list(read_tiered(made.data))


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def tiered(*levels: str | tuple[str, ...], relation: str | None = "P19", **extra: Any) -> TieredRow:
    made = tuple(
        Level(tiers=tuple(Tier(text=t) for t in (level if isinstance(level, tuple) else (level,)))) for level in levels
    )
    return TieredRow(
        id="x", question="Q?", answers=(made[0].tiers[0].text,), levels=made, relation=relation, extra=extra
    )


@dataclass
class Worded:
    """A phraser that says so, counts what it is asked, and may kill its process."""

    log: Path
    kill_at: int = -1
    fingerprint: str = "worded"
    asked: list[str] = field(default_factory=list)

    def __call__(self, rows: Sequence[TieredRow], /) -> Sequence[TieredRow]:
        done = len(self.log.read_text().split()) if self.log.exists() else 0
        if done == self.kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        with self.log.open("a") as stream:
            stream.write("".join(f"{row.id}\n" for row in rows))
        return [replace(row, extra={**row.extra, "worded": True}) for row in rows]


@dataclass(frozen=True)
class Scored:
    """A scorer with a score for every id."""

    scores: dict[str, float | None]
    fingerprint: str = "scored"

    def __call__(self, rows: Sequence[TieredRow], /) -> Sequence[float | None]:
        return [self.scores.get(row.id) for row in rows]
