"""Routes that have their limits by construction: one without a `Bound` cannot be added.

The JSON of a body is read by the type of the route's parameter `asked`, and bounded before the route's function is
called.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_type_hints
from urllib.parse import parse_qsl

from fastapi import Depends, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer

from granola.service.limits import SMALL, ServiceSettings
from granola.service.problems import HTTPProblem, problem_of_errors, too_slow
from granola.service.schemas import read_body

if TYPE_CHECKING:
    from granola.service.application import Service

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
PARAMETER = "asked"  # of the functions that take one JSON object
BODY = "granola.body"  # where a request's scope has what was sent
AT_ONCE = 1 << 16  # bytes that are read in the way of all others
_GRACE = 1.0  # seconds for writing the answer, added to those of the work
_told_of_token = Depends(HTTPBearer(auto_error=False, description="The secret of GRANOLA_TOKEN, if one is set."))


def as_typed(asked: Any, settings: ServiceSettings) -> None:
    """The bound of the products of a request whose types bound all that there is of it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Bound:
    """The limits of one request of a route.

    `body` is none, one about one question, or one of many rows. `products` gets the body and the settings, and raises
    HTTPProblem or RowError where sizes that are allowed alone are too large together. `seconds` is the setting that
    bounds the time to the beginning of the answer. Without `token` anyone may ask.
    """

    products: Callable[[Any, ServiceSettings], None]
    body: Literal["none", "small", "large"] = "none"
    seconds: Literal["seconds", "batch_seconds"] = "seconds"
    token: bool = True

    def most(self, settings: ServiceSettings) -> int:
        """Bytes of a body."""
        return {"none": 0, "small": min(SMALL, settings.body), "large": settings.body}[self.body]


def bounded(bound: Bound) -> Callable[[Endpoint], Endpoint]:
    """Give a route's function its bound."""

    def set_bound(endpoint: Endpoint) -> Endpoint:
        endpoint.bound = bound  # type: ignore[attr-defined]  # functions take attributes
        return endpoint

    return set_bound


class BoundedRoute(APIRoute):
    """A route with its `bound`. Raises TypeError for a function that has none."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **more: Any) -> None:
        bound = getattr(endpoint, "bound", None)
        if not isinstance(bound, Bound):
            raise TypeError(f"{path}: {endpoint.__name__} has no bound; put @bounded(Bound(...)) under its route")
        self.bound = bound
        more["dependencies"] = [*(more.get("dependencies") or ()), *([_told_of_token] if bound.token else [])]
        super().__init__(path, endpoint, **more)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """See `APIRoute.get_route_handler`: the body and the time are bounded; errors become answers."""
        kind = get_type_hints(self.endpoint).get(PARAMETER)
        inner = super().get_route_handler() if kind is None else self._handler_reading_body(kind)

        async def handle_within_time(request: Request) -> Response:
            service: Service = request.app.state.served
            seconds = getattr(service.settings, self.bound.seconds) + _GRACE
            try:
                async with asyncio.timeout(seconds):
                    return await inner(request)
            except TimeoutError:
                error: Exception = too_slow(seconds)
            except RequestValidationError as refused:
                error = problem_of_errors(refused.errors())
            except Exception as failed:
                error = failed
            return service.problem(error).answer()

        return handle_within_time

    def _handler_reading_body(self, kind: Any) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        async def handle(request: Request) -> Response:
            service: Service = request.app.state.served
            media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
            if media != "application/json" and not (media.startswith("application/") and media.endswith("+json")):
                raise HTTPProblem(415, "media-type", "send JSON, with the header Content-Type: application/json")
            if query := parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True):
                names = ", ".join(sorted({name for name, _ in query}))[:100]
                raise HTTPProblem(422, "request", f"{names} stands in the address; {self.path} reads its body alone")
            body = request.scope[BODY]

            def read() -> Any:
                asked = read_body(body, kind)
                self.bound.products(asked, service.settings)
                return asked

            if len(body) <= AT_ONCE:
                asked = read()
            else:
                asked = await service.read(read, seconds=getattr(service.settings, self.bound.seconds))
            answer: Response = await self.endpoint(asked)
            return answer

        return handle
