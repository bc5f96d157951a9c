"""A hundred and thirty things, each a step from the next, and a client for a server that knows them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import wikidata_api as api
from store_contract import statement

from kg.base.model import Entity, Rank
from kg.reading.api import WikiDataAPI
from kg.web.client import AnswerCache, RetryDelays

QUICK = RetryDelays(base=0.01, cap=0.05, tries=4, timeout=20.0)


def thing(number: int, *edges: tuple[str, str]) -> Entity:
    name = f"Q{number}"
    return Entity(
        id=name,
        labels={"en": f"thing {number}", "mul": f"Thing {number}", "fr": f"chose {number}"},
        aliases={"en": (f"b{number}", f"a{number}")},
        statements=tuple(statement(name, prop, target, n) for n, (prop, target) in enumerate(edges)),
        sitelinks=number % 3,
    )


WORLD = {f"Q{n}": thing(n, ("P31", f"Q{n // 10 + 1}"), ("P131", f"Q{n + 1}")) for n in range(1, 131)}
WORLD["Q5"] = Entity(id="Q5", statements=(statement("Q5", "P131", "Q99", rank=Rank.DEPRECATED),))


def client(server: api.Server, tmp_path: Path, patience: RetryDelays = QUICK, **more: Any) -> WikiDataAPI:
    return WikiDataAPI(AnswerCache(tmp_path / "cache"), url=server.url, patience=patience, **more)
