"""A local `transformers` model: batches, seeds, limits. Skips where torch and transformers are not installed."""

from __future__ import annotations

import os
import weakref
from pathlib import Path
from typing import Any

import pytest

from abstraction.errors import ModelError
from abstraction.models.chat_model import Failure, FailureReason, Message, Reply, Request, Sampling
from abstraction.models.local_chat import LocalChat
from abstraction.models.spec import open_model
from tests import tiny_model
from tests.tiny_model import WORDS, build_encoder_decoder

torch = pytest.importorskip("torch", reason="torch is not installed: pip install -e '.[models]'")
transformers = pytest.importorskip("transformers", reason="pip install -e '.[models]'")

pytestmark = pytest.mark.xdist_group("torch")  # loaded once, by one worker


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    os.environ["HF_HUB_OFFLINE"] = "1"
    torch.set_num_threads(1)
    return tiny_model.build(tmp_path_factory.mktemp("model"))


def ask(text: str, system: str = "", **how: Any) -> Request:
    told = (Message(role="system", content=system),) if system else ()
    settings: dict[str, Any] = {"temperature": 1.0, "seed": 3, "max_tokens": 12} | how
    return Request(id=text, messages=(*told, Message(role="user", content=text)), sampling=Sampling(**settings))


def answers(word: str, requests: list[Request]) -> list[list[str]]:
    model = open_model(word)
    found = []
    for result in model.generate(requests):
        assert isinstance(result, Reply), result
        found.append([completion.text for completion in result.completions])
    model.close()
    return found


def test_a_likeliest_answer_does_not_depend_on_the_batch(folder: Path) -> None:
    requests = [
        ask(text, system=system, temperature=0.0, max_tokens=limit)
        for text, system, limit in [("where", "", 20), ("where is the river " * 5, "", 5), ("yes or no", "one two", 12)]
    ]
    alone = answers(f"local:{folder}?batch=1", requests)
    assert answers(f"local:{folder}?batch=8", requests) == alone
    assert answers(f"local:{folder}?batch=3", requests[::-1]) == alone[::-1]


def test_what_is_drawn_is_drawn_again_by_the_same_seed(folder: Path) -> None:
    requests = [ask("who is born in the city", n=20), ask("where", top_p=0.7), ask("who is born in the city", seed=4)]
    first, again = (answers(f"local:{folder}?batch=8", requests) for _ in range(2))
    assert first == again
    assert len(set(first[0])) > 15
    assert first[2] != first[0][:1]
    other = [ask("who is born in the city", n=20, seed=100)]
    assert answers(f"local:{folder}?batch=8", other)[0] != first[0]


def test_greedy_answers_are_those_of_the_library(folder: Path) -> None:
    ((answer,),) = answers(f"local:{folder}", [ask("who is the answer", temperature=0.0, max_tokens=6)])
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder)
    text = tokenizer.apply_chat_template(
        [{"role": "user", "content": "who is the answer"}], tokenize=False, add_generation_prompt=True
    )
    ids = tokenizer(text, add_special_tokens=False, return_tensors="pt")
    made = model.generate(**ids, do_sample=False, max_new_tokens=6, repetition_penalty=1.0)[0, ids.input_ids.shape[1] :]
    assert answer == tokenizer.decode(made, skip_special_tokens=True)


def test_limits_and_counts(folder: Path, tmp_path: Path) -> None:
    model = open_model(f"local:{folder}", cache=tmp_path / "c.sqlite", log=tmp_path / "calls.jsonl")
    stopped = next(iter(model.generate([ask("where is it", temperature=0.0, max_tokens=10)])))
    (free,) = stopped.completions
    assert (len(free.text.split()), free.finish_reason, model.totals.completion_tokens) == (10, "length", 10)
    model.close()
    replayed = next(iter(open_model(f"replay:{tmp_path}/calls.jsonl").generate([stopped.request])))
    assert replayed.completions == stopped.completions
    again = open_model(f"local:{folder}", cache=tmp_path / "c.sqlite")
    results = list(again.generate([stopped.request, ask("new", n=2), ask("new", n=4), ask("new", n=3)]))
    assert [len(result.completions) for result in results] == [1, 2, 4, 3]
    assert results[0].completions == stopped.completions
    assert results[2].completions[:3] == results[3].completions
    assert (again.totals.cached, again.totals.calls) == (1, 4)


def test_models_without_a_system_turn_or_a_template(tmp_path: Path) -> None:
    refusing = tiny_model.build(tmp_path / "refusing", template=tiny_model.SYSTEM_REFUSING + tiny_model.TURNS)
    request = ask("where", system="one two", temperature=0.0)
    merged = ask("one two\n\nwhere", temperature=0.0)
    assert answers(f"local:{refusing}", [request]) == answers(f"local:{refusing}", [merged])
    bare = tiny_model.build(tmp_path / "bare", template=None)
    assert answers(f"local:{bare}", [request])[0]


def test_what_does_not_fit_is_a_failure_and_the_others_are_answered(folder: Path) -> None:
    requests = [ask("where"), ask("one " * 250), ask("who")]
    results = list(open_model(f"local:{folder}?dtype=float32&device=cpu").generate(requests))
    assert [type(result) for result in results] == [Reply, Failure, Reply]
    assert isinstance(results[1], Failure)
    assert results[1].reason is FailureReason.TOO_LONG
    assert "exceed the 256 that the model holds" in results[1].message


class Memory:
    """Memory that a batch takes and an error on its way keeps: the next batch fits when the last one is given back."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.taken: list[weakref.ref[Any]] = []
        self.sizes: list[int] = []

    def take(self, rows: int) -> object:
        held = set(range(rows))  # a set can be referred to weakly, a list cannot
        there = sum(len(other) for ref in self.taken if (other := ref()) is not None)
        self.taken.append(weakref.ref(held))
        self.sizes.append(rows)
        if there + rows > self.room:
            raise torch.OutOfMemoryError(f"{there} of {self.room} are taken, {rows} more are wanted")
        return held


def with_memory(monkeypatch: pytest.MonkeyPatch, room: int, named: str = "three") -> Memory:
    """A card on which so many rows fit, and none with a word."""
    memory, made = Memory(room), LocalChat._generate_batch

    def generate(self: LocalChat, rows: Any, batch: int) -> Any:
        held = memory.take(len(rows) if not any(named in row.ask.request.id for row in rows) else room + 1)
        assert held
        return made(self, rows, batch)

    monkeypatch.setattr(LocalChat, "_generate_batch", generate)
    return memory


def test_memory_that_runs_out_is_given_back_before_the_halves_are_tried(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = with_memory(monkeypatch, room=2)
    results = list(
        open_model(f"local:{folder}?batch=8").generate([ask(word) for word in ("one", "two", "three", "yes", "no")])
    )
    assert [type(result) for result in results] == [Reply, Reply, Failure, Reply, Reply]
    assert isinstance(results[2], Failure)
    assert results[2].reason is FailureReason.OUT_OF_MEMORY
    assert all(ref() is None for ref in memory.taken)


def test_a_batch_grows_until_memory_says_stop_and_is_remembered(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = with_memory(monkeypatch, room=40)
    model = open_model(f"local:{folder}?device=cpu")
    requests = [ask(f"{first} {second}", max_tokens=1, n=4) for first in WORDS[:6] for second in WORDS[:10]]
    assert all(isinstance(result, Reply) for result in model.generate(requests))
    assert memory.sizes[:4] == [16, 32, 64, 32]
    assert max(memory.sizes[4:]) == 32
    assert isinstance(next(iter(model.generate([ask("new", n=100, max_tokens=1)]))), Reply)
    assert max(memory.sizes[4:]) == 32


def test_other_weights_or_settings_are_another_model(folder: Path, tmp_path: Path) -> None:
    other = tiny_model.build(tmp_path / "other", room=128)
    words = [f"local:{folder}", f"local:{other}", f"local:{folder}?dtype=bfloat16"]
    assert len({str(open_model(word).identity) for word in words}) == 3
    assert open_model(f"local:{folder}?batch=2").identity == open_model(words[0]).identity
    assert open_model(f"local:{folder}?device=cpu").identity["device"] == "cpu"
    assert answers(words[2], [ask("where")])


def test_an_encoder_decoder_answers_as_the_library_does(tmp_path: Path) -> None:
    folder = build_encoder_decoder(tmp_path)
    (made,) = open_model(f"local:{folder}?device=cpu").generate([ask("where is the city", temperature=0.0)])
    assert isinstance(made, Reply), made
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder)
    out = model.generate(**tokenizer("where is the city", return_tensors="pt"), do_sample=False, max_new_tokens=12)
    assert made.text == tokenizer.decode(out[0], skip_special_tokens=True)


def test_prompt_and_answer_of_an_encoder_decoder_have_the_room_each(tmp_path: Path) -> None:
    folder = build_encoder_decoder(tmp_path, room=32)
    requests = [
        ask(text, temperature=0.0, max_tokens=limit)
        for text, limit in [("where", 12), ("one " * 33, 12), ("who", 33), ("one two " * 16, 32)]
    ]
    made = list(open_model(f"local:{folder}?device=cpu").generate(requests))
    assert [one.reason if isinstance(one, Failure) else "" for one in made] == [
        "", FailureReason.TOO_LONG, FailureReason.TOO_LONG, "",
    ]  # fmt: skip
    short = [ask(text, temperature=0.0) for text in ("where", "one two " * 12)]
    alone = answers(f"local:{folder}?device=cpu&batch=1", short)
    assert answers(f"local:{folder}?device=cpu&batch=2", short) == alone


def test_what_cannot_be_loaded_is_told(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ModelError, match="cannot be loaded"):
        list(open_model(f"local:{tmp_path}").generate([ask("x")]))
    if not torch.cuda.is_available():
        with pytest.raises(ModelError, match="device=cuda: this machine has no GPU that torch finds"):
            open_model(f"local:{folder}?device=cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(ModelError, match=r"device=cuda:7: this machine has cuda:0, cuda:1; give another"):
        open_model(f"local:{folder}?device=cuda:7")


def test_a_card_that_is_full_while_loading_is_one_sentence(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.\nSee documentation")

    monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", full)
    with pytest.raises(ModelError, match="does not fit into the memory of cpu: give dtype=bfloat16") as told:
        list(open_model(f"local:{folder}?device=cpu").generate([ask("x")]))
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("name", ["owner/mistyped", "owner/of/folders", "models/"])
def test_a_name_of_nothing_is_told_after_one_short_question_to_the_hub(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub

    def away(_: Any, place: str, *, timeout: float) -> None:
        assert (place, timeout <= 5) == ("owner/mistyped", True)
        raise ConnectionError("Name or service not known")

    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", away)
    with pytest.raises(ModelError, match=f"local:{name}: no such folder, and no model to be had from the hub"):
        open_model(f"local:{name}")
