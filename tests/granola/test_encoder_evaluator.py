"""A fine-tuned evaluator, on a tiny checkpoint: it learns, is used as it was trained, and cuts the evidence."""

from __future__ import annotations

from pathlib import Path

import pytest

from granola.errors import UsageError
from granola.evidence.attribution.attribution_samples import AttributionSample
from granola.evidence.attribution.categories import Category
from granola.evidence.attribution.encoder_evaluator import (
    EncoderEvaluator,
    EncoderTraining,
    _trainer,
    _validation_places,
    train_encoder,
)
from tests.tiny_model import WORDS
from tests.tiny_scorers import build_classifier

for library in ("torch", "sentence_transformers", "accelerate", "sklearn"):
    pytest.importorskip(library, reason="pip install -e '.[models,evidence]'")

import torch  # noqa: E402

pytestmark = pytest.mark.xdist_group("torch")


def samples(count: int, *, categories: bool = False, filler: int = 0) -> list[AttributionSample]:
    """Supported where the citation says yes."""
    made = []
    for at in range(count):
        yes = at % 2 == 0
        citation = ("yes " if yes else "no ") + " ".join(WORDS[: at % 5]) + " river" * filler
        kind = Category.SUPPORTIVE if yes else Category.IRRELEVANT
        made.append(
            AttributionSample(
                id=str(at), question=f"who {at // 4}", citations=(citation,),
                statement=f"is born in {WORDS[at % len(WORDS)]}",
                category=kind if categories else None, attributable=yes,
            )
        )  # fmt: skip
    return made


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    base = build_classifier(tmp_path_factory.mktemp("base"), ["one"], room=64, spread=0.1)
    folder = tmp_path_factory.mktemp("trained")
    how = EncoderTraining(checkpoint=str(base), longest=32, epochs=4, batch=8, rate=3e-3, device="cpu")
    found = train_encoder(samples(120), folder, how)
    assert found["samples"] == 12
    assert found["macro_f1"] > 0.9
    return folder


def test_whole_questions_are_held_out_with_labels_as_often_as_among_all() -> None:
    given = [one.model_copy(update={"attributable": at % 4 == 0}) for at, one in enumerate(samples(120))]
    how = EncoderTraining(checkpoint="", validation=0.2)
    held = _validation_places(given, [str(one.attributable) for one in given], how)
    asked = {given[at].question for at in held}
    assert len(held) == 24
    assert asked.isdisjoint(one.question for at, one in enumerate(given) if at not in held)
    assert sum(bool(given[at].attributable) for at in held) == 6


def test_it_has_learned_and_reads_long_evidence_as_in_training(trained: Path) -> None:
    evaluator = EncoderEvaluator(f"{trained}?device=cpu")
    assert evaluator.classes == ()
    assert evaluator.signature().endswith("|longest:32")
    for filler in (0, 200):  # longer than the 32 tokens of training: the citation loses its end, the claim nothing
        given = samples(20, filler=filler)
        judged = list(evaluator.judge(given))
        right = sum(one.supported == sample.supported for one, sample in zip(judged, given, strict=True))
        assert right >= 18


def test_it_is_used_at_the_length_of_its_training(trained: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="was trained on 32 tokens; leave out longest="):
        EncoderEvaluator(f"{trained}?longest=64")
    assert EncoderEvaluator(f"{trained}?longest=32").training["longest"] == 32
    with pytest.raises(UsageError, match="is no trained encoder"):
        EncoderEvaluator(str(build_classifier(tmp_path / "plain", ["a", "b"])))
    with pytest.raises(UsageError, match="at most 64 tokens, fewer than the requested 128"):
        train_encoder(samples(20), tmp_path / "out", EncoderTraining(checkpoint=str(trained), longest=128))
    with pytest.raises(UsageError, match="at least 8 of two are wanted"):
        train_encoder(samples(4), tmp_path / "out", EncoderTraining(checkpoint=str(trained), longest=32))


def test_training_warms_up_groups_by_length_and_stops_early(trained: Path, tmp_path: Path) -> None:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer, EarlyStoppingCallback

    how = EncoderTraining(checkpoint=str(trained), epochs=4, batch=8, patience=3, device="cpu")
    model, tokenizer = (
        library.from_pretrained(trained) for library in (AutoModelForSequenceClassification, AutoTokenizer)
    )
    trainer = _trainer(model, tokenizer, [{"labels": 0}] * 80, [{"labels": 0}] * 8, str(tmp_path), how)
    assert trainer.args.warmup_steps == 4  # a tenth of 4 epochs of 10 steps
    assert trainer.args.train_sampling_strategy == "group_by_length"
    assert trainer.args.load_best_model_at_end
    stops = [one for one in trainer.callback_handler.callbacks if isinstance(one, EarlyStoppingCallback)]
    assert [one.early_stopping_patience for one in stops] == [3]
    for share in (0.0, 1.0):
        with pytest.raises(UsageError, match="between 0 and 1"):
            EncoderTraining(checkpoint=str(trained), validation=share)


def test_it_is_trained_on_from_another_stage(trained: Path, tmp_path: Path) -> None:
    how = EncoderTraining(checkpoint=str(trained), longest=32, epochs=1, batch=8, device="cpu")
    train_encoder(samples(40, categories=True), tmp_path, how)
    assert EncoderEvaluator(str(tmp_path)).classes == tuple(Category)
    train_encoder(samples(40), tmp_path / "again", how)
    given = samples(20)
    judged = EncoderEvaluator(str(tmp_path / "again")).judge(given)
    assert sum(one.supported == s.supported for one, s in zip(judged, given, strict=True)) >= 18
