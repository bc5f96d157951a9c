"""Entailment by a checkpoint of a test's own: the order of its labels, batches, texts that are too long."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from abstraction.errors import ModelError
from abstraction.models.local_scorers import LocalEntailment, classes_of_labels
from abstraction.models.spec import LocalEntailmentSettings, open_entailment
from abstraction.models.text_scorers import TextPair
from tests.tiny_model import WORDS
from tests.tiny_scorers import build_classifier

pytest.importorskip("sentence_transformers")
CPU = LocalEntailmentSettings(device="cpu", batch=4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_classifier(tmp_path_factory.mktemp("nli"), ["CONTRADICTION", "NEUTRAL", "ENTAILMENT"])


def pairs(count: int) -> list[TextPair]:
    draw = random.Random(1)
    return [
        TextPair(" ".join(draw.choices(WORDS, k=draw.randint(1, 20))), " ".join(draw.choices(WORDS, k=5)))
        for _ in range(count)
    ]


def test_the_classes_are_those_of_the_config(folder: Path) -> None:
    """Against a computation of our own with the saved model."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    given = pairs(9)
    found = LocalEntailment(folder, CPU).scores(given)
    for pair, one in zip(given, found, strict=True):
        with torch.no_grad():
            shares = model(**tokenizer(pair.premise, pair.hypothesis, return_tensors="pt")).logits[0].softmax(-1)
        assert [one.refuted, one.neutral, one.entailed] == pytest.approx(shares.tolist(), abs=1e-5)
        assert one.entailed + one.neutral + one.refuted == pytest.approx(1.0)
    assert len({round(one.entailed, 4) for one in found}) > 5


def test_batch_and_order_change_nothing(folder: Path) -> None:
    given = pairs(20)
    alone = [LocalEntailment(folder, CPU).scores([one])[0].entailed for one in given]
    backwards = LocalEntailment(folder, LocalEntailmentSettings(device="cpu", batch=7)).scores(given[::-1])
    assert [one.entailed for one in backwards[::-1]] == pytest.approx(alone, abs=1e-5)


def test_a_long_premise_loses_its_end_and_a_long_hypothesis_is_cut_too(folder: Path) -> None:
    model = LocalEntailment(folder, CPU)
    beginning = "the river " * 28  # 56 tokens: with 5 and the 3 special ones, all that 64 hold
    (long, cut) = model.scores([
        TextPair(beginning + "one two three " * 500, "a city in the country"),
        TextPair(beginning, "a city in the country"),
    ])  # fmt: skip
    assert long.entailed == pytest.approx(cut.entailed, abs=1e-6)
    (both,) = model.scores([TextPair("the river " * 500, "a city " * 500)])
    assert 0 <= both.entailed <= 1


def test_labels_that_say_nothing_are_refused(tmp_path: Path) -> None:
    folder = build_classifier(tmp_path, ["LABEL_0", "LABEL_1", "LABEL_2"])
    with pytest.raises(ModelError, match="labels=refuted,neutral,entailed"):
        LocalEntailment(folder, CPU)
    model = open_entailment(f"local:{folder}?labels=neutral,entailed,refuted")
    assert model.identity["classes"] == ["neutral", "entailed", "refuted"]
    with pytest.raises(ModelError, match="2 labels are given, the model has 3"):
        open_entailment(f"local:{folder}?labels=entailed,refuted")


def test_words_of_two_classes() -> None:
    assert classes_of_labels(["CORRECT", "INCORRECT"], where="x") == ("entailed", "refuted")
    assert classes_of_labels(["entailment", "not_entailment"], where="x") == ("entailed", "neutral")
    with pytest.raises(ModelError, match="none of its labels"):
        classes_of_labels(["neutral", "contradiction"], where="x")


@pytest.mark.parametrize("place", ["/no/such/folder", "./none", ""])
def test_a_place_without_a_model(place: str) -> None:
    with pytest.raises(ModelError, match="no such folder"):
        LocalEntailment(place)


def test_a_checkpoint_without_the_head_is_refused_rather_than_filled_with_random_numbers(tmp_path: Path) -> None:
    from transformers import BertConfig, BertModel

    from tests.tiny_scorers import pair_tokenizer

    tokenizer = pair_tokenizer()
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        num_labels=3, id2label={0: "entailment", 1: "neutral", 2: "contradiction"},
    )  # fmt: skip
    BertModel(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    with pytest.raises(ModelError, match="no weights for a classifier"):
        LocalEntailment(tmp_path, CPU).scores([TextPair("a", "b")])
