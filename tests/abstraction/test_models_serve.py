"""Chat models behind `transformers serve`, which is not ours, with a tiny model of random weights.

Skips where it is not installed: pip install -e '.[models]' 'transformers[serving]'.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from abstraction.errors import ModelUnreachableError
from abstraction.models.chat_model import Message, Reply, Request, Sampling
from abstraction.models.spec import open_model
from tests import tiny_model

for library in ("torch", "transformers", "fastapi", "uvicorn", "openai"):
    pytest.importorskip(library, reason=f"{library} is not installed: pip install 'transformers[serving]'")

pytestmark = [pytest.mark.xdist_group("torch"), pytest.mark.thorough("abstraction/models")]
STARTED_WITHIN = 120.0  # seconds


def ask(text: str, **how: object) -> Request:
    settings: dict[str, object] = {"temperature": 1.0, "max_tokens": 8} | how
    return Request(
        id=text,
        messages=(Message(role="system", content="one two"), Message(role="user", content=text)),
        sampling=Sampling(**settings),  # type: ignore[arg-type]
    )


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    folder = tiny_model.build(tmp_path_factory.mktemp("served"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
    command = [str(Path(sys.executable).with_name("transformers")), "serve", str(folder)]
    command += ["--device", "cpu", "--host", "127.0.0.1", "--port", str(port)]
    log = tmp_path_factory.mktemp("log") / "server.txt"
    with log.open("wb") as told, subprocess.Popen(command, env=environment, stdout=told, stderr=told) as process:
        url = f"http://127.0.0.1:{port}/v1"
        deadline = time.monotonic() + STARTED_WITHIN
        try:
            while True:  # asked until it answers: the first answer is slow too
                try:
                    model = open_model(f"openai:{url}?tries=1&timeout=30#{folder}")
                    assert isinstance(next(iter(model.generate([ask("who")]))), Reply)
                    break
                except ModelUnreachableError:
                    assert process.poll() is None, log.read_text(encoding="utf-8")
                    assert time.monotonic() < deadline, log.read_text(encoding="utf-8")
            yield url, folder
        finally:
            process.kill()


def test_samples_seeds_and_the_cache(server: tuple[str, Path], tmp_path: Path) -> None:
    url, folder = server
    word = f"openai:{url}?concurrency=1#{folder}"
    model = open_model(word, cache=tmp_path / "cache.sqlite", log=tmp_path / "calls.jsonl")
    requests = [ask("where is the city", n=4), ask("yes or no", n=4, seed=9)]
    results = list(model.generate(requests))
    for result in results:
        assert isinstance(result, Reply), result
        assert len({one.text for one in result.completions}) > 1  # it ignores n, and the seeds differ
    assert model.totals.calls == 8
    assert model.totals.completion_tokens > 8
    again = open_model(word, cache=tmp_path / "cache.sqlite")
    assert [one.completions for one in again.generate(requests)] == [one.completions for one in results]
    assert again.totals.calls == 0
    replay = open_model(f"replay:{tmp_path}/calls.jsonl")
    assert [one.completions for one in replay.generate(requests)] == [one.completions for one in results]
    unkept = open_model(word)  # the same seeds bring the same answers
    assert [one.completions for one in unkept.generate(requests)] == [one.completions for one in results]


def test_the_same_greedy_answer_as_locally(server: tuple[str, Path]) -> None:
    url, folder = server
    requests = [ask(text, temperature=0.0) for text in ("where is the city", "who is born in the place")]
    # The server keeps the model's own repetition penalty, which bears on all tokens but the first.
    served = [one.completions[0].text for one in open_model(f"openai:{url}#{folder}").generate(requests)]
    local = [one.completions[0].text for one in open_model(f"local:{folder}").generate(requests)]
    assert [text.split()[0] for text in served] == [text.split()[0] for text in local]
