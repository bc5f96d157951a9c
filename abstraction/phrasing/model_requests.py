"""Sends requests about a stream of items to a model, in order; an unreadable reply is asked for once more."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from abstraction.base.faults import FAULT, Fault, fault_of
from abstraction.errors import ReplyError
from abstraction.models.chat_model import ChatModel, Failure, Message, Request, Result
from abstraction.phrasing.prompt_files import Prompt

T = TypeVar("T")
V = TypeVar("V")

UNREADABLE = "unreadable-reply"  # the code `failed` of a reply that was unreadable twice
_MOST_REPEATED = 4000  # characters of an unreadable reply that the second request repeats
_MOST_WAITING = 4096  # most items that wait for an earlier one, before no more are requested: bounds memory


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestOutcome(Generic[V]):
    """The result for an item: `value`, or None with the code `failed` and the reason `why`.

    `calls` are the keys of its requests, in order, as in the log of calls and the cache. `fault` is an unexpected
    error in making the request or in reading the reply; it does not stop the other items.
    """

    value: V | None
    calls: tuple[str, ...] = ()
    failed: str = ""
    why: str = ""
    fault: Fault | None = None

    @classmethod
    def of_fault(cls, error: Exception, calls: tuple[str, ...] = ()) -> RequestOutcome[V]:
        """The outcome of an unexpected error. Other errors, such as ModelError, are raised again."""
        fault = fault_of(error, "asking a model")
        return cls(value=None, calls=calls, failed=FAULT, why=fault.reason.removeprefix(f"{FAULT} "), fault=fault)


@dataclass(slots=True)
class _Slot(Generic[T, V]):
    item: T
    request: Request | None
    calls: tuple[str, ...] = ()
    outcome: RequestOutcome[V] | None = None


@dataclass(slots=True)
class RequestForm(Generic[T, V]):
    """How to ask about items: `ask` makes the request of an item (None for no request), `read` reads the text of the
    reply.

    `read` raises ReplyError for an unreadable reply; then `again`, filled with the reason, follows once in the same
    conversation. Results depend only on replies, not on the time at which they arrive.
    """

    model: ChatModel
    ask: Callable[[T], Request | None]
    read: Callable[[T, str], V]
    again: Prompt

    def run(self, items: Iterable[T]) -> Iterator[tuple[T, RequestOutcome[V]]]:
        """The items with their outcomes, in order. Memory does not grow with their number.

        Raises ModelError where all further requests would fail.
        """
        source = iter(items)
        waiting: deque[_Slot[T, V]] = deque()
        retries: deque[_Slot[T, V]] = deque()
        asked: deque[_Slot[T, V]] = deque()
        over = False

        def requests() -> Iterator[Request]:
            nonlocal over
            while True:
                # Second requests go first: the oldest item holds back the output.
                if retries:
                    slot = retries.popleft()
                elif over or len(waiting) >= _MOST_WAITING:
                    return
                else:
                    try:
                        item = next(source)
                    except StopIteration:
                        over = True
                        return
                    try:
                        slot = _Slot(item, self.ask(item))
                    except Exception as error:
                        slot = _Slot(item, None, outcome=RequestOutcome.of_fault(error))
                    waiting.append(slot)
                if slot.outcome is not None:
                    continue
                if slot.request is None:
                    slot.outcome = RequestOutcome(value=None)
                    continue
                slot.calls = (*slot.calls, slot.request.key())
                asked.append(slot)
                yield slot.request

        def finished_items() -> Iterator[tuple[T, RequestOutcome[V]]]:
            while waiting and (outcome := waiting[0].outcome) is not None:
                yield waiting.popleft().item, outcome

        while True:
            for result in self.model.generate(requests()):
                slot = asked.popleft()
                self._store_result(slot, result)
                if slot.outcome is None:
                    retries.append(slot)
                yield from finished_items()
            yield from finished_items()
            if over and not retries:
                return

    def _store_result(self, slot: _Slot[T, V], result: Result) -> None:
        """Set the slot's outcome, or its second request."""
        if isinstance(result, Failure):
            slot.outcome = RequestOutcome(value=None, calls=slot.calls, failed=str(result.reason), why=result.message)
            return
        try:
            slot.outcome = RequestOutcome(value=self.read(slot.item, result.text), calls=slot.calls)
        except ReplyError as error:
            why = f"{error}; it was cut off" if result.completions[0].finish_reason == "length" else str(error)
            if len(slot.calls) > 1:
                slot.outcome = RequestOutcome(value=None, calls=slot.calls, failed=UNREADABLE, why=why)
            else:
                text = result.text.strip()[:_MOST_REPEATED] or "(nothing)"
                answer, problem = Message(role="assistant", content=text), self.again.fill({"problem": why})
                slot.request = replace(result.request, messages=(*result.request.messages, answer, *problem))
        except Exception as error:
            slot.outcome = RequestOutcome.of_fault(error, slot.calls)
