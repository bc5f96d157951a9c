"""What every chat model can do, whoever answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from abstraction.models.chat_request import Request
from abstraction.models.chat_result import Result, Totals


class ChatModel(Protocol):
    """Continues conversations.

    `identity` is all that its answers depend on besides the request, and what the cache and a signature are keyed by.
    """

    @property
    def identity(self) -> Mapping[str, Any]:
        """What tells this model from every other: its kind, where it is, its name or weights."""

    @property
    def totals(self) -> Totals:
        """What was done until now."""

    def generate(self, requests: Iterable[Request]) -> Iterator[Result]:
        """One result for each request, in their order, while more are asked.

        Requests are taken as they are needed, some hundred ahead of the results, so that memory does not grow with
        their number. Close the iterator, or use it up, to end what is under way. Raises ModelError and its kinds where
        asking on is no use; what was answered until then is in the cache.
        """

    def close(self) -> None:
        """Release connections, files and memory."""
