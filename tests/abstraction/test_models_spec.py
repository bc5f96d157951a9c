"""Naming a model in one word; what cannot be asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from abstraction.errors import ModelError, ModelSpecError
from abstraction.models.chat_model import Message, Request, Sampling, sampling_of
from abstraction.models.spec import add_settings, open_model, parse_model_spec


@pytest.mark.parametrize(
    ("word", "kind", "where", "name", "settings"),
    [
        ("openai:http://127.0.0.1:8000/v1#m", "openai", "http://127.0.0.1:8000/v1", "m", {}),
        ("openai:https://h/api/v1#org/Model:7b", "openai", "https://h/api/v1", "org/Model:7b", {}),
        ("openai:http://[::1]:80/v1?key=K&timeout=2.5#m#1", "openai", "http://[::1]:80/v1", "m#1",
         {"key": "K", "timeout": 2.5}),
        ('openai:http://h/v1?body={"top_k":20,"a":"b=c?"}#m', "openai", "http://h/v1", "m",
         {"body": {"top_k": 20, "a": "b=c?"}}),
        ("openai:http://h/v1?body=%7B%22a%22:%22%26%23%22%7D&tries=2#m", "openai", "http://h/v1", "m",
         {"body": {"a": "&#"}, "tries": 2}),
        ("local:/a/b#c", "local", "/a/b#c", "", {}),
        ("local:m?dtype=bfloat16&device=cuda:1&batch=8", "local", "m", "",
         {"dtype": "bfloat16", "device": "cuda:1", "batch": 8}),
        ("replay:what?.jsonl", "replay", "what?.jsonl", "", {}),
    ],
)  # fmt: skip
def test_words_are_read(word: str, kind: str, where: str, name: str, settings: dict[str, Any]) -> None:
    spec = parse_model_spec(word)
    assert (spec.kind, spec.where, spec.name, spec.settings) == (kind, where, name, settings)


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("gpt-4", r"allowed: openai:URL#NAME \(.*\), local:FOLDER or replay:FILE"),
        ("http://127.0.0.1:8000/v1#m", r"http names no kind of model; allowed: openai:URL#NAME"),
        ("sk-secret/word:x", r"what is given names no kind"),
        ("openai:", r"names no place"),
        ("openai:127.0.0.1:8000/v1#m", r"http:// or https://"),
        ("openai:http://h:99999/v1#m", r"no address of a server"),
        ("openai:http://h/v1", r"has no # to name the model"),
        ("openai:http://h/v1#", r"has nothing to name the model"),
        ("openai:http://h/v1?api_key=secret#m", r"api_key is no setting; allowed: key, concurrency, .*"),
        ("openai:http://h/v1?secret#m", r"what stands there is no setting"),
        ("openai:http://me:secret@h/v1#m", r"put the key into the environment and give key=VARIABLE"),
        ("openai:http://h/v1?key=sk-secret#m", r"key: the NAME, in capitals, of the environment"),
        ("openai:http://h/v1?key=gsk_secret#m", r"key: the NAME"),
        ("openai:http://h/v1?tries=0#m", r"tries: .*greater than or equal to 1"),
        ("openai:http://h/v1?tries=2&tries=3#m", r"tries is given twice"),
        ("openai:http://h/v1?timeout=nan#m", r"timeout: .*finite number"),
        ("openai:http://h/v1?body=[1]#m", r"body: .*dictionary"),
        ("openai:http://h/v1?limit=tokens#m", r"limit: .*'max_tokens' or 'max_completion_tokens'"),
        ("local:m?dtype=int3", r"dtype: .*'auto', 'float32', 'bfloat16' or 'float16'"),
        ("local:m?device=tpu", r"device: .*auto.cpu.cuda"),
        ("local:m?longest=20", r"longest is no setting; allowed: device, dtype, batch"),
        ("local:m?batch=0", r"batch: .*greater than or equal to 1"),
        ("replay:f?batch=2", r"batch is no setting; allowed: temperature, top_p, max_tokens, seed"),
        ("replay:f?temperature=3", r"temperature: .*less than or equal to 2"),
        ("replay:f?temperature=nan", r"temperature: .*finite number"),
        ("local:m?top_p=0", r"top_p: .*greater than 0"),
        ("local:m?batch_file=x", r"batch_file is no setting; allowed: device, dtype, batch"),
    ],
)
def test_what_is_wrong_in_a_word_is_told_without_its_secrets(word: str, told: str) -> None:
    with pytest.raises(ModelSpecError, match=told) as error:
        parse_model_spec(word)
    assert "secret" not in str(error.value)


def test_a_word_says_how_its_model_samples(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text('{"prompt": "x", "answers": ["y"]}')
    model = open_model(add_settings(f"replay:{tmp_path}/r.jsonl", {"temperature": 0.5, "max_tokens": 9}))
    assert sampling_of(model, Sampling(seed=7, max_tokens=64)) == Sampling(temperature=0.5, max_tokens=9, seed=7)
    assert sampling_of(object(), Sampling(n=2, temperature=1)) == Sampling(n=2, temperature=1)
    with pytest.raises(ModelSpecError, match="n is 2: at temperature 0"):
        sampling_of(parse_model_spec("replay:f?temperature=0"), Sampling(n=2, temperature=1))
    assert add_settings("openai:http://h/v1?tries=2#m", {"seed": 1}) == "openai:http://h/v1?tries=2&seed=1#m"


def test_what_cannot_be_opened_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    (tmp_path / "empty.jsonl").touch()
    for word, told in [
        ("openai:http://h/v1?key=NO_SUCH_KEY#m", "NO_SUCH_KEY is not set"),
        (f"local:{tmp_path}", "no config.json there"),
        ("openai:http://h/v1?batch_file=x#m", "batch_file is for a command that runs to its end"),
        (f"replay:{tmp_path}/none.jsonl", "no such file"),
        (f"replay:{tmp_path}/empty.jsonl", "no answers in it"),
    ]:
        with pytest.raises(ModelError, match=told):
            open_model(word)


@pytest.mark.parametrize(
    "how",
    [{"n": 0}, {"temperature": -0.1}, {"temperature": float("nan")}, {"top_p": 0.0}, {"top_p": 1.1}, {"max_tokens": 0},
     {"seed": -1}, {"seed": 2**31}, {"n": 2, "temperature": 0.0}],
)  # fmt: skip
def test_sampling_that_no_model_can_do(how: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"allowed is|at temperature 0|Input should be"):
        Sampling(**how)


def test_requests_that_no_model_can_continue() -> None:
    for messages in [(), (Message(role="assistant", content="x"),)]:
        with pytest.raises(ValueError, match="last message must be the user's"):
            Request(id="x", messages=messages)


def test_what_draws_nothing_changes_no_key() -> None:
    def key(**how: Any) -> str:
        return Request(id="x", messages=(Message(role="user", content="x"),), sampling=Sampling(**how)).key()

    assert key(seed=1, top_p=0.5) == key(seed=2) == key(temperature=0)
    assert key(temperature=1, seed=1) != key(temperature=1, seed=2)
    assert key(temperature=1, n=2) == key(temperature=1.0, n=3)
