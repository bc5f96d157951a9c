"""The short way to a route: JSON read by the route's own type, and answered by its own function.

Routing and what frameworks do around it cost more than a ladder's bytes. Whatever is not as it should be takes the long
way through the application, which tells what is wrong with it.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, get_type_hints

from fastapi import FastAPI, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError

PARAMETER = "asked"  # of the functions that have a lane: all that they take


@dataclass(frozen=True, slots=True)
class Lane:
    """A POST route that takes one type of body and nothing else. `failed` answers the errors that are its own."""

    path: str
    kind: type[BaseModel]
    function: Callable[[Any], Awaitable[Response]]
    failed: Callable[[Exception], Response]
    errors: tuple[type[Exception], ...]

    def read(self, media_type: bytes, body: bytes) -> BaseModel | None:
        """What is asked; None where the body is not as it should be."""
        if media_type.partition(b";")[0].strip().lower() != b"application/json":
            return None
        try:
            return self.kind.model_validate(json.loads(body))
        except (ValidationError, ValueError, RecursionError):
            return None

    async def answer(self, asked: BaseModel) -> Response:
        """The route's answer, errors of ours included."""
        try:
            return await self.function(asked)
        except self.errors as error:
            return self.failed(error)


def lanes_of(
    app: FastAPI, failed: Callable[[Exception], Response], errors: tuple[type[Exception], ...]
) -> Mapping[str, Lane]:
    """By path, the lanes of all POST routes whose function takes a single `asked`."""
    found = {}
    for route in app.routes:
        if isinstance(route, APIRoute) and route.methods == {"POST"}:
            hints = {name: kind for name, kind in get_type_hints(route.endpoint).items() if name != "return"}
            if list(hints) == [PARAMETER]:
                found[route.path] = Lane(route.path, hints[PARAMETER], route.endpoint, failed, errors)
    return found
