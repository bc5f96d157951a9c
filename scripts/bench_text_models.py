"""Throughput of each scorer of texts, with random weights, as a ratio to a plain loop of one text at a time.

    python scripts/bench_text_models.py [--texts 64] [--layers 12] [--width 768] [--device cpu]

Twelve layers of 768 with a vocabulary of 30 000 are about 110 million parameters.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from transformers import BertConfig, BertForSequenceClassification, GPT2Config, GPT2LMHeadModel

from abstraction.models import Continuation, QueryPassage, TextPair
from abstraction.models.local_scorers import (
    LocalCoherence,
    LocalContinuations,
    LocalEmbeddings,
    LocalEntailment,
    LocalRelevance,
)
from abstraction.models.local_weights import WeightSettings
from tests.tiny_model import WORDS, build
from tests.tiny_scorers import pair_tokenizer

VOCABULARY = 30_000


def classifier(folder: Path, outputs: int, layers: int, width: int) -> Path:
    labels = ["entailment", "neutral", "contradiction"] if outputs == 3 else ["score"]
    config = BertConfig(
        vocab_size=VOCABULARY, num_hidden_layers=layers, hidden_size=width, num_attention_heads=width // 64,
        intermediate_size=4 * width, num_labels=outputs, id2label=dict(enumerate(labels)),
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer = pair_tokenizer()
    tokenizer.save_pretrained(folder)
    return folder


def causal(folder: Path, layers: int, width: int) -> Path:
    build(folder)
    config = GPT2Config(vocab_size=VOCABULARY, n_layer=layers, n_embd=width, n_head=width // 64, bos_token_id=2,
                        eos_token_id=2, pad_token_id=1)  # fmt: skip
    GPT2LMHeadModel(config).save_pretrained(folder)
    return folder


def seconds(work: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=64)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    draw = random.Random(0)
    texts = [" ".join(draw.choices(WORDS, k=draw.randint(5, 100))) for _ in range(given.texts)]
    with tempfile.TemporaryDirectory() as name:
        three = classifier(Path(name) / "three", 3, given.layers, given.width)
        one = classifier(Path(name) / "one", 1, given.layers, given.width)
        language = causal(Path(name) / "causal", given.layers, given.width)
        batched = WeightSettings(device=given.device, batch=16)
        alone = WeightSettings(device=given.device, batch=1)
        pairs = [TextPair(text, "the city is in the country") for text in texts]
        scorers: dict[str, tuple[Callable[[WeightSettings], Any], Callable[[Any, Any], Any], list[Any]]] = {
            "entailment": (lambda how: LocalEntailment(three, settings=how), lambda m, s: m.entailments(s), pairs),
            "relevance": (lambda how: LocalRelevance(one, settings=how), lambda m, s: m.relevances(s),
                          [QueryPassage("who is born", text) for text in texts]),
            "log-probabilities": (lambda how: LocalContinuations(language, settings=how),
                                  lambda m, s: m.token_scores(s), [Continuation("who", f" {text}") for text in texts]),
            "coherence": (lambda how: LocalCoherence(one, settings=how), lambda m, s: m.coherences(s),
                          [[text] for text in texts]),
            "embeddings": (lambda how: LocalEmbeddings(one, settings=how), lambda m, s: m.embeddings(s), texts),
        }  # fmt: skip
        print(f"{given.texts} texts of 5 to 100 words, {torch.get_num_threads()} threads, {given.device}")
        print("scorer, texts a second in batches of 16, in a plain loop, ratio")
        for scorer, (opened, score, items) in scorers.items():
            together, single = opened(batched), opened(alone)
            for model in (together, single):
                score(model, items[:2])  # weights are read at the first use
            fast = seconds(lambda m=together, s=score, i=items: s(m, i))
            slow = seconds(lambda m=single, s=score, i=items: [s(m, [one]) for one in i])
            print(f"{scorer}, {given.texts / fast:.1f}, {given.texts / slow:.1f}, {slow / fast:.2f}", flush=True)


if __name__ == "__main__":
    main()
