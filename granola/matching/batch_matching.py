"""Many predictions matched in order, by this process or by several: the verdicts are the same."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import TypeVar

from abstraction.base.faults import Fault, attempt
from granola.errors import MatcherError
from granola.matching import Matcher, in_language
from granola.matching.verdict import Levels, Verdict

CHUNK = 500  # predictions per task of a process: few enough to share evenly, enough to outweigh the transfer
CASES_OF_ONE_PROCESS = 4_000  # cases that one process matches in the time that it takes to start the others
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class MatchCase:
    """A prediction with the tiers to match it with; `language` is that of the row, None where it names none."""

    prediction: str
    levels: Levels
    question: str | None = None
    language: str | None = None


def match_many(matcher: Matcher, cases: Iterable[MatchCase], *, workers: int | None = 1) -> Iterator[Verdict]:
    """The verdict on each case, in order, by `workers` processes, 1 or more; None: one per core, if there are many
    cases.

    Raises MatcherError for fewer than 1 and where a process ended before its work was done, and any error of matching
    a case.
    """
    return _distribute(_match, matcher, cases, workers)


def match_each(matcher: Matcher, cases: Iterable[MatchCase], *, workers: int | None = 1) -> Iterator[Verdict | Fault]:
    """As `match_many`, but a case that fails by an error of the program has a Fault in place of its verdict."""
    return _distribute(_match_or_fault, matcher, cases, workers)


def _distribute(
    work: Callable[[Matcher, MatchCase], T], matcher: Matcher, cases: Iterable[MatchCase], workers: int | None
) -> Iterator[T]:
    """Results of `work` on each case, in order, by this process and, if there are many cases, by several."""
    if workers is not None and workers < 1:
        raise MatcherError(f"workers is {workers}; allowed: 1 or more")
    left = iter(cases)
    for case in left if workers == 1 else islice(left, CASES_OF_ONE_PROCESS if workers is None else 0):
        yield work(matcher, case)
    further = list(islice(left, 1))
    if further:
        from kg.building.source_pass import cores

        yield from _distribute_to_processes(work, matcher, chain(further, left), workers or cores())


def _distribute_to_processes(
    work: Callable[[Matcher, MatchCase], T], matcher: Matcher, left: Iterator[MatchCase], workers: int
) -> Iterator[T]:
    """Results of `work` on the cases that are left, in order, by a pool of processes."""
    import multiprocessing
    from concurrent.futures import Future, ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    running: deque[Future[list[T]]] = deque()
    # spawn: a fork would copy threads and locks of a service
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        try:
            while True:
                # three chunks per process keep every process busy while results are read in order
                while len(running) < 3 * workers and (chunk := list(islice(left, CHUNK))):
                    running.append(pool.submit(_work_on_chunk, work, matcher, chunk))
                if not running:
                    return
                yield from running.popleft().result()
        except BrokenProcessPool as error:
            raise MatcherError("a matching process was ended, perhaps for lack of memory; use fewer workers") from error
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _match(matcher: Matcher, case: MatchCase) -> Verdict:
    chosen = in_language(matcher, case.language) if case.language else matcher
    return chosen.match(case.prediction, case.levels, case.question)


def _match_or_fault(matcher: Matcher, case: MatchCase) -> Verdict | Fault:
    return attempt("matching", _match, matcher, case)


def _work_on_chunk(work: Callable[[Matcher, MatchCase], T], matcher: Matcher, cases: Sequence[MatchCase]) -> list[T]:
    return [work(matcher, case) for case in cases]
