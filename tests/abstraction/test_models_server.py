"""Chat models behind a server that misbehaves on purpose."""

from __future__ import annotations

import itertools
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from abstraction.errors import ModelAccessError, ModelError, ModelUnreachableError
from abstraction.models.answer_store import CachedChatModel
from abstraction.models.chat_model import (
    Failure,
    FailureReason,
    Message,
    Reply,
    Request,
    Result,
    Sampling,
    completion_of,
)
from abstraction.models.model_servers import ServerChat, ServerClient
from abstraction.models.spec import ServerSettings, open_model
from kg.errors import SourceError
from kg.web.client import RetryDelays
from tests.chat_server import KINDS, answer_to, serving


def ask(text: str, **how: Any) -> Request:
    settings = {"temperature": 0.5, "seed": 7} | how
    return Request(id=text, messages=(Message(role="user", content=text),), sampling=Sampling(**settings))


def quick(url: str, concurrency: int = 64, tries: int = 12, timeout: float = 10.0, **files: Path) -> CachedChatModel:
    patience = RetryDelays(tries=tries, base=0.002, cap=0.01, longest=30.0, timeout=timeout)
    client = ServerClient(url, "m", ServerSettings(concurrency=concurrency), patience=patience)
    return CachedChatModel(ServerChat(client), **files)


def one(model: Any, request: Request) -> Result:
    return next(iter(model.generate([request])))


def texts(result: Result) -> list[str]:
    assert isinstance(result, Reply), result
    return [completion.text for completion in result.completions]


def expected(request: Request) -> list[str]:
    said = [{"role": one.role, "content": one.content} for one in request.messages]
    return [answer_to(said, request.sampling.seed_of(sample)) for sample in range(request.sampling.n)]


def lines(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


def test_every_request_is_answered_or_rejected_where_three_in_ten_calls_fail(tmp_path: Path) -> None:
    kinds = tuple(kind for kind in KINDS if kind != "slow")  # which no machine overcomes within a short limit for sure
    with serving(fail=0.3, kinds=kinds, refuse="impossible", seed=3, most_failures=8) as (url, seen):
        requests = [ask(f"row {at}" + (" impossible" if at % 100 == 99 else "")) for at in range(200)]
        model = quick(url, log=tmp_path / "calls.jsonl")
        results = list(model.generate(requests))
    assert [result.request for result in results] == requests
    for result in results:
        if "impossible" in result.request.id:
            assert isinstance(result, Failure)
            assert result.reason is FailureReason.REFUSED
            assert "too long, says the server" in result.message
        else:
            assert isinstance(result, Reply), result
            assert texts(result) == expected(result.request)
    calls = lines(tmp_path / "calls.jsonl")[1:]
    assert len(calls) == model.totals.calls == 200
    assert sum("error" in call for call in calls) == model.totals.failed_calls == 2
    assert seen.failures.total() > 40


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("500", FailureReason.SERVER_ERROR),
        ("cut", FailureReason.BAD_ANSWER),
        ("no-json", FailureReason.BAD_ANSWER),
        ("slow", FailureReason.TIME_LIMIT),
    ],
)
def test_what_never_succeeds_is_a_failure_with_its_reason(kind: str, reason: FailureReason) -> None:
    with serving(fail=1.0, kinds=(kind,), slow=1.0) as (url, _):
        failure = one(quick(url, tries=2, timeout=0.2 if kind == "slow" else 10.0), ask("x"))
    assert isinstance(failure, Failure)
    assert failure.reason is reason
    assert "(2 calls)" in failure.message


def test_a_server_that_fails_everything_ends_the_run() -> None:
    with (
        serving(fail=1.0, kinds=("500",)) as (url, _),
        pytest.raises(ModelUnreachableError, match=r"so did the \d+ requests before it"),
    ):
        list(quick(url, concurrency=4, tries=1).generate(ask(str(at)) for at in range(100)))


def test_no_server_ends_the_run_and_says_so() -> None:
    with socket.socket() as held:  # so that nobody else listens there meanwhile
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}/v1"
        with pytest.raises(ModelUnreachableError, match=r"refused.*is the server running"):
            list(quick(url).generate([ask("x")]))
    with pytest.raises(ModelUnreachableError, match="is the server running"):
        list(quick("http://no-such-host.invalid/v1").generate([ask("x")]))


@pytest.mark.parametrize(
    ("server", "calls"),
    [
        ({}, 1 + 1),
        ({"ignore_n": True}, (1 + 7) + 8),
        ({"refuse_n": True}, (1 + 1 + 7) + 8),  # what was refused once is not tried again
        ({"choices": 3}, (1 + 5) + (1 + 5)),
    ],
    ids=["answers", "ignores n", "refuses n", "gives three"],
)
def test_n_answers_with_seeds_of_their_own_from_every_kind_of_server(server: dict[str, Any], calls: int) -> None:
    with serving(**server) as (url, _):
        model = quick(url)
        for request in [ask("first", n=8), ask("second", n=8)]:
            result = one(model, request)
            assert texts(result) == expected(request)
            assert len(set(texts(result))) == 8
    assert model.totals.calls == calls


def test_what_is_kept_is_not_asked_again_and_more_answers_only_for_the_rest(tmp_path: Path) -> None:
    cache = tmp_path / "cache.sqlite"
    with serving() as (url, _):
        first = one(quick(url, cache=cache), ask("x", n=3))
        again = quick(url, cache=cache)
        assert texts(one(again, ask("x", n=3))) == texts(first)
        assert again.totals.calls == 0
        assert texts(one(again, ask("x", n=5))) == expected(ask("x", n=5))
        assert (again.totals.calls, again.totals.cached, again.totals.completion_tokens) == (1, 6, 8)
        others = [ask("x", seed=8), ask("x", temperature=0.6), ask("x", top_p=0.9), ask("x", max_tokens=9),
                  ask("y"), ask("x", temperature=0.0)]  # fmt: skip
        assert all(map(texts, again.generate(others)))
        assert again.totals.cached == 6
        other = open_model(f"openai:{url}#another", cache=cache)
        assert texts(one(other, ask("x")))
        assert other.totals.calls == 1


def test_the_same_question_twice_at_once_is_asked_once() -> None:
    with serving(delay=0.2) as (url, _):
        model = quick(url)
        results = list(model.generate([ask("x"), ask("x"), ask("x", n=2), ask("y")]))
    assert [len(texts(result)) for result in results] == [1, 1, 2, 1]
    assert texts(results[2])[0] == texts(results[0])[0]
    assert model.totals.calls == 3


def test_no_more_calls_at_once_than_asked_for() -> None:
    for at_once in (5, 64):
        with serving(delay=0.02, together=at_once) as (url, seen):
            results = list(quick(url, at_once).generate(ask(str(at)) for at in range(3 * at_once)))
            assert all(isinstance(result, Reply) for result in results)
            assert seen.most == at_once


def test_requests_are_taken_as_results_are_used() -> None:
    taken = itertools.count()

    def endless() -> Iterator[Request]:
        while True:
            yield ask(str(next(taken)))

    with serving() as (url, _):
        results = quick(url, concurrency=4).generate(endless())
        for _ in range(100):
            next(results)
        results.close()  # type: ignore[attr-defined]
    assert next(taken) <= 100 + 4 * 4 + 1


def test_who_is_told_to_wait_keeps_the_others_waiting_and_it_costs_no_try() -> None:
    with serving(fail=1.0, kinds=("429",), most_failures=4) as (url, seen):
        model = quick(url, tries=1)
        assert all(isinstance(result, Reply) for result in model.generate(ask(str(at)) for at in range(8)))
        assert seen.failures.total() == 8 * 4


@pytest.mark.parametrize(
    ("status", "after_an_answer"), [(401, False), (401, True), (402, True), (403, False), (404, False), (307, False)]
)
def test_a_refusal_that_holds_for_all_ends_the_run(status: int, after_an_answer: bool) -> None:
    with serving() as (url, settings):
        model = quick(url)
        if after_an_answer:
            one(model, ask("before"))
        settings.status = status
        with pytest.raises(ModelAccessError, match=str(status)):
            one(model, ask("x"))


def test_a_refusal_of_one_request_is_its_own() -> None:
    with serving() as (url, settings):
        model = quick(url)
        one(model, ask("before"))
        settings.status = 403
        failure = one(model, ask("x"))
        assert isinstance(failure, Failure)
        assert (failure.reason, "403" in failure.message) == (FailureReason.REFUSED, True)


def test_totals(tmp_path: Path) -> None:
    with serving() as (url, _):
        model = open_model(f"openai:{url}#m", cache=tmp_path / "c.sqlite")
        list(model.generate(ask(str(at)) for at in range(100)))
        totals = model.totals
    assert (totals.calls, totals.failed_calls, totals.prompt_tokens, totals.completion_tokens) == (100, 0, 1000, 400)


def test_a_log_is_replayed(tmp_path: Path) -> None:
    log = tmp_path / "calls.jsonl"
    with serving(choices=2, fail=0.2, kinds=("500",)) as (url, _):
        requests = [ask(str(at), n=3) for at in range(20)]
        live = [texts(result) for result in quick(url, log=log).generate(requests)]
    with log.open("ab") as stream:
        stream.write(b'{"id": "cut')  # as a run leaves it that was killed
    replay = open_model(f"replay:{log}")
    assert [texts(result) for result in replay.generate(requests)] == live
    failure = one(replay, ask("0", n=4))
    assert isinstance(failure, Failure)
    assert failure.reason == FailureReason.NOT_RECORDED
    with serving() as (url, _):  # and is continued
        quick(url, log=log).close()
    assert texts(one(open_model(f"replay:{log}"), requests[3])) == live[3]


def test_answers_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text('{"prompt": "q", "answers": ["one", "two"]}\n', encoding="utf-8")
    model = open_model(f"replay:{path}")
    assert texts(one(model, ask("q", n=2, temperature=1.0))) == ["one", "two"]
    assert isinstance(one(model, ask("q ")), Failure)
    path.write_text('{"prompt": "q", "answers": "one"}\n', encoding="utf-8")
    with pytest.raises(ModelError, match="line 1: no call of a log, and no 'answers', a list of texts"):
        open_model(f"replay:{path}")


def test_a_damaged_cache_and_a_folder_in_its_place_are_told(tmp_path: Path) -> None:
    (tmp_path / "bad.sqlite").write_bytes(b"no database" * 100)
    for path in (tmp_path / "bad.sqlite", tmp_path):
        with pytest.raises(SourceError, match="cannot be used as a cache"):
            open_model("openai:http://127.0.0.1:1/v1#m", cache=path)


def test_what_is_under_way_ends_with_its_run() -> None:
    with serving(delay=0.01) as (url, _):
        model = quick(url, concurrency=4)
        results = model.generate(ask(str(at)) for at in range(500))
        next(results)
        results.close()  # type: ignore[attr-defined]
        assert isinstance(one(model, ask("another")), Reply)
        assert model.totals.calls < 50
        model.close()


def test_thoughts_that_come_apart_stand_before_the_text_as_models_write_them() -> None:
    for name in ("reasoning_content", "reasoning"):
        message = {"content": "Ulm", name: "It lies there."}
        assert completion_of({"message": message}).text == "<think>It lies there.</think>\nUlm"
    choice = {"message": {"content": None, "reasoning_content": "Hm"}, "finish_reason": "length"}
    empty = completion_of(choice)
    assert (empty.text, empty.finish_reason) == ("<think>Hm</think>\n", "length")
