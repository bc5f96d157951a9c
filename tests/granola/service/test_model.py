"""`granola serve --model`: as the command line does it, against a real server of chat completions; a slow or refusing
one holds up nobody and tells nothing."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
import requests

from abstraction.models.server_chat import OpenAIModel
from granola.service.service_settings import ServiceSettings
from granola.service.work.model_session import opened_model
from tests.chat_server import serving as chatting
from tests.command_line import COMMAND, run_granola
from tests.granola.service.conftest import DEMO, OBAMA, Running, is_well, limited, serving, wait_until

pytestmark = pytest.mark.thorough("granola/service")

LINES = (DEMO / "questions.jsonl").read_bytes().splitlines()[:12]
QUESTIONS = b"\n".join(LINES) + b"\n"
REPLIES = {
    json.loads(LINES[0])["question"]: "<answers>\n- Hawaii\n- France\n- the United States\n</answers>",
    json.loads(LINES[1])["question"]: "<answers>\n- Baden-Württemberg\n- Germany\n</answers>",
    json.loads(LINES[2])["question"]: "I would say Maine.",
    "Which level?": "2",
    "Which?": "a city in Hawaii",
}


@pytest.fixture(scope="module")
def chat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The word of a model that has a few answers, and says nothing that can be read to all else."""
    script = tmp_path_factory.mktemp("chat") / "script.json"
    script.write_text(json.dumps(REPLIES))
    with chatting(script=str(script)) as (url, _):
        yield f"openai:{url}#a-model"


@pytest.fixture(scope="module")
def modelled(chat: str, demo_snapshot: Path) -> Iterator[Running]:
    """A service with that model."""
    with serving(demo_snapshot, "--model", chat) as running:
        yield running


def post(service: Running, path: str, body: Any, **query: str) -> requests.Response:
    return requests.post(service.address + path, json=body, params=query, timeout=60)


@pytest.mark.parametrize("mode", ["free", "word"])
def test_batches_are_phrased_to_the_byte_as_the_command_line_does_it(
    modelled: Running, chat: str, mode: str, tmp_path: Path
) -> None:
    (tmp_path / "qa.jsonl").write_bytes(QUESTIONS)
    out = tmp_path / "tiers.jsonl"
    source = [tmp_path / "qa.jsonl", "--snapshot", modelled.snapshot]
    run_granola("tiers", *source, "--out", out, "--phrase", chat, "--phrase-mode", mode).check_returncode()
    got = requests.post(f"{modelled.address}/v1/ladders?phrase={mode}", data=QUESTIONS, timeout=60)
    assert got.content == out.read_bytes()
    fingerprint = json.loads(Path(f"{out}.run.json").read_text())["phrasing"]["fingerprint"]
    assert got.headers["Granola-Model"] == fingerprint
    assert fingerprint.startswith(f"openai:a-model {mode} prompts:")
    if mode == "free":
        first = got.json() if got.text.count("\n") == 1 else json.loads(got.text.splitlines()[0])
        assert [level["tiers"][0]["text"] for level in first["levels"][1:]] == ["Hawaii", "the United States"]


def test_a_single_ladder_is_phrased_as_in_a_batch(modelled: Running) -> None:
    for line in LINES[:4]:
        row = json.loads(line)
        one = post(modelled, "/v1/ladder", {**row, "phrase": "free", "unproven": "drop"})
        (many,) = requests.post(
            f"{modelled.address}/v1/ladders?phrase=free&unproven=drop", data=line, timeout=60
        ).text.splitlines()
        assert one.json() == json.loads(many)
        assert one.json()["phrasing"]["mode"] == "free"
        assert one.headers["Granola-Model"]
    plain = post(modelled, "/v1/ladder", json.loads(LINES[0]))
    assert "phrasing" not in plain.json()
    assert "Granola-Model" not in plain.headers


def test_the_judge_scores_and_signs_as_on_the_command_line(modelled: Running, chat: str, tmp_path: Path) -> None:
    asked = {"predictions": ["anything", "else"], "levels": [["a"], ["b"]], "question": "Which level?"}
    found = post(modelled, "/v1/match", {**asked, "matcher": "judge"}).json()
    assert [(item["level"], item["rule"]) for item in found["items"]] == [(2, "judge")] * 2
    assert found["matcher"].startswith("judge|model:a-model-")
    row = {"id": "1", "question": "Which level?", "answer": ["a"]}
    row["levels"] = [{"tiers": [{"text": text}]} for text in "abc"]
    predictions = [{"id": "1", "prediction": "whatever"}]
    (tmp_path / "t.jsonl").write_text(json.dumps({"schema_version": 1, **row}, separators=(",", ":")) + "\n")
    (tmp_path / "p.jsonl").write_text(json.dumps(predictions[0]) + "\n")
    judging = ["--matcher", f"judge:{chat}"]
    done = run_granola("score", tmp_path / "t.jsonl", tmp_path / "p.jsonl", "--json", *judging)
    done.check_returncode()
    got = post(modelled, "/v1/score", {"rows": [row], "predictions": predictions, "matcher": "judge", "system": "p"})
    expected = json.loads(done.stdout)
    assert {key: got.json()[key] for key in expected} == expected
    assert "judge|model:a-model-" in got.json()["signature"]
    unread = post(modelled, "/v1/match", {**asked, "question": "Another?", "matcher": "judge"})
    assert (unread.status_code, unread.json()["code"]) == (503, "model")
    assert "2 unreadable-reply" in unread.json()["detail"]


def test_the_model_makes_one_answer_of_several(modelled: Running) -> None:
    asked = {"question": "Which?", "samples": ["Honolulu", "Hilo"], "method": "drag", "note": 1}
    got = post(modelled, "/v1/aggregate", asked)
    assert (got.json()["prediction"], got.json()["method"], got.json()["note"]) == ("a city in Hawaii", "drag", 1)
    assert got.headers["Granola-Model"].startswith("openai:a-model drag prompts:")
    same = post(modelled, "/v1/aggregate", {**asked, "samples": ["Hilo", "Hilo"]}).json()
    assert same["explanation"] == "2 of 2 responses say the same"


NEEDING = [
    ("/v1/ladder", {**OBAMA, "phrase": "free"}),
    ("/v1/match", {"predictions": ["x"], "levels": [["x"]], "matcher": "judge"}),
    ("/v1/aggregate", {"question": "?", "samples": ["x", "y"], "method": "drag"}),
    ("/v1/score", {"rows": [{}], "predictions": [{}], "matcher": "judge"}),
]


@pytest.mark.parametrize(("path", "body"), NEEDING, ids=[path for path, _ in NEEDING])
def test_without_a_model_that_is_said(service: Running, path: str, body: dict[str, Any]) -> None:
    got = post(service, path, body)
    assert (got.status_code, got.json()["code"]) == (422, "no-model")
    assert "--model" in got.json()["detail"]
    batch = requests.post(f"{service.address}/v1/ladders?phrase=word", data=QUESTIONS, timeout=10)
    assert (batch.status_code, batch.json()["code"]) == (422, "no-model")


def test_a_model_that_does_not_answer_holds_up_nobody(demo_snapshot: Path) -> None:
    with (
        chatting(together=3) as (url, seen),
        limited(demo_snapshot, model=f"openai:{url}?timeout=60#slow", model_seconds=60, model_requests=2) as service,
        ThreadPoolExecutor(2) as pool,
    ):
        asking = [pool.submit(post, service, path, body) for path, body in NEEDING[:2]]
        wait_until(lambda: seen.under_way == 2)
        third = post(service, "/v1/ladder", {**OBAMA, "phrase": "free"})
        assert (third.status_code, third.json()["code"]) == (503, "overloaded")
        assert int(third.headers["Retry-After"]) > 0
        assert all(is_well(service) for _ in range(10))
        assert requests.get(f"{service.address}/v1/search?name=Honolulu", timeout=10).status_code == 200
        assert not any(one.done() for one in asking)
        # The third call lets all be answered, and their places are free again.
        requests.post(f"{url}/chat/completions", json={"messages": [{"role": "user", "content": "x"}]}, timeout=10)
        assert {one.result().json().get("code") for one in asking} <= {None, "model"}
        assert "code" not in post(service, "/v1/ladder", {**OBAMA, "phrase": "free"}).json()


def test_a_request_to_a_model_that_does_not_answer_has_its_time(demo_snapshot: Path) -> None:
    with (
        chatting(together=9) as (url, _),
        limited(
            demo_snapshot, model=f"openai:{url}?timeout=2&tries=1#slow", model_seconds=0.5, model_requests=1
        ) as service,
    ):
        for path, body in (*NEEDING[:2], NEEDING[0]):
            told = {"code": "overloaded"}
            while told["code"] == "overloaded":  # until the place is free again
                got = post(service, path, body)
                told = got.json()
            assert (got.status_code, told["code"]) == (503, "time-limit")


def test_two_tries_fit_into_the_time_of_a_request() -> None:
    for seconds in (4.0, 60.0):
        word = "openai:http://127.0.0.1:1/v1#m"
        model = opened_model(ServiceSettings(snapshot="x", model=word, model_seconds=seconds))
        assert isinstance(model, OpenAIModel)
        patience = model.settings.patience
        assert patience.tries == 2
        assert 0.8 * (seconds - 1) < 2 * patience.timeout < seconds - 1


def test_a_slow_answer_leaves_the_graphs_ladder(demo_snapshot: Path) -> None:
    with (
        chatting(together=9) as (url, _),
        limited(demo_snapshot, model=f"openai:{url}?timeout=0.2&tries=2#slow", model_seconds=60) as service,
    ):
        got = post(service, "/v1/ladder", {**OBAMA, "phrase": "free"})
        assert got.status_code == 200
        assert got.json()["phrasing"]["fallback"] == "time-limit"
        assert len(got.json()["levels"]) > 2
        metrics = requests.get(f"{service.address}/v1/metrics", timeout=10).text
        assert 'granola_phrased_total{outcome="time-limit"} 1.0' in metrics


def test_a_key_is_shown_to_its_server_alone(demo_snapshot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "sk-0123456789abcdef"
    monkeypatch.setenv("A_KEY", key)
    for settings, status in (({"need": key}, 200), ({"need": "another", "echo_headers": True}, 503)):
        with (
            chatting(**settings) as (url, _),
            serving(demo_snapshot, "--model", f"openai:{url}?key=A_KEY#m", "--workers", "2") as service,
        ):
            for path, body in NEEDING[:3]:
                got = post(service, path, body)
                assert got.status_code == status or path == "/v1/match"
                assert key not in got.text + str(got.headers)
                assert url not in got.text
            for path in ("/v1/metrics", "/v1/snapshot", "/v1/openapi.json"):
                assert key not in requests.get(service.address + path, timeout=10).text
            assert key not in service.log.read_text()
            if status == 503:
                assert (got.status_code, got.json()["code"]) == (503, "model-access")
                assert "model-access" in service.log.read_text()


def test_a_model_that_is_away_is_told_as_that(demo_snapshot: Path) -> None:
    with closing(socket.socket()) as held:  # so that nobody else listens there meanwhile
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}/v1"
        with serving(demo_snapshot, "--model", f"openai:{url}#gone", "--model-seconds", "30") as service:
            got = post(service, "/v1/ladder", {**OBAMA, "phrase": "free"})
            assert (got.status_code, got.json()["code"]) == (503, "model-unreachable")
            assert url.partition("//")[2].partition("/")[0] not in got.text
            batch = requests.post(f"{service.address}/v1/ladders?phrase=free", data=QUESTIONS, stream=True, timeout=30)
            lines: list[bytes] = []
            with suppress(requests.RequestException):
                for line in batch.iter_lines():
                    lines.append(line)
            assert json.loads(lines[-1])["problem"]["code"] == "model-unreachable"
            assert is_well(service)


def test_answers_are_kept_for_all_processes(demo_snapshot: Path, tmp_path: Path) -> None:
    log = tmp_path / "asked.txt"
    with (
        chatting(log=str(log)) as (url, _),
        serving(
            demo_snapshot, "--model", f"openai:{url}#m", "--answers", str(tmp_path / "a.sqlite"), "--workers", "2"
        ) as service,
    ):
        told = {post(service, "/v1/ladder", {**OBAMA, "phrase": "free"}).text for _ in range(12)}
        assert len(told) == 1
        assert len(log.read_text().splitlines()) == 2  # the reply, and the second one, as the first cannot be read


def test_too_many_rows_for_the_model_are_refused(chat: str, demo_snapshot: Path) -> None:
    with limited(demo_snapshot, model=chat, model_rows=3) as service:
        batch = requests.post(f"{service.address}/v1/ladders?phrase=free", data=QUESTIONS, timeout=10)
        assert (batch.status_code, batch.json()["code"], batch.json()["most"]) == (413, "too-many-rows", 3)
        asked = {"predictions": ["x"] * 4, "levels": [["x"]], "matcher": "judge"}
        assert post(service, "/v1/match", asked).status_code == 413


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--model", "gpt"], "openai:URL#NAME"),
        (["--model", "openai:http://127.0.0.1:1/v1?key=NOT_SET_ANYWHERE#m"], "NOT_SET_ANYWHERE is not set"),
        (["--model", "replay:nowhere.jsonl"], "nowhere.jsonl"),
        (["--answers", "x.sqlite"], "--model"),
    ],
)
def test_a_model_that_cannot_be_had_is_told_at_the_start(options: list[str], said: str) -> None:
    words = ["serve", "--demo", "--port", "0", *options]
    done = subprocess.run([*COMMAND, *words], capture_output=True, text=True, timeout=30)
    assert done.returncode in (1, 2)
    assert said in done.stderr


def test_the_page_offers_the_models_words_where_there_is_a_model(modelled: Running, demo_snapshot: Path) -> None:
    asked = {key: json.loads(LINES[0])[key] for key in ("question", "answer")}
    box = '<input type="checkbox" name="phrase" value="free"'
    plain = requests.get(modelled.address, params=asked, timeout=30)
    assert f"{box}>" in plain.text
    assert "are in a model’s words" not in plain.text
    phrased = requests.get(modelled.address, params={**asked, "phrase": "free"}, timeout=30)
    assert phrased.status_code == 200
    assert f"{box} checked>" in phrased.text
    assert "The coarser answers are in a model’s words" in phrased.text
    assert "the United States" in phrased.text
    assert "France" not in phrased.text  # which the model says, and nothing entails
    assert phrased.headers["Granola-Snapshot"] == plain.headers["Granola-Snapshot"]
    silent = {key: json.loads(LINES[2])[key] for key in ("question", "answer")}
    kept = requests.get(modelled.address, params={**silent, "phrase": "free"}, timeout=30)
    assert "the model’s words could not be used" in kept.text
    with serving(demo_snapshot) as without:
        assert "checkbox" not in requests.get(without.address, params=asked, timeout=30).text
        refused = requests.get(without.address, params={**asked, "phrase": "free"}, timeout=30)
        assert refused.status_code == 422
        assert "--model" in refused.text
