"""Tokens a second of the local backend, beside the library's own sampling loop, at several batch sizes.

    python scripts/bench_local_model.py [--device cuda] [--dtype bfloat16] [--size 1b] [--batches 1 16 64]

The model has random weights and a llama's shape. Both sides sample at temperature 1 from the same prompts; the ratio
is ours over the library's, the better of `--rounds` runs each.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from abstraction.models import Message, Reply, Request, Sampling
from abstraction.models.local import LocalModel, LocalSettings

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests import tiny_model

SIZES = {
    "tiny": (256, 4, 4, 1024),
    "100m": (768, 12, 12, 2048),
    "1b": (2048, 16, 32, 8192),
}  # width, layers, heads, inner
VOCABULARY = 32_000


def build(folder: Path, size: str, dtype: str) -> None:
    """A model of random weights with the tests' tokenizer."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    tiny_model.build(folder)
    width, layers, heads, inner = SIZES[size]
    config = LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads,
        num_key_value_heads=max(1, heads // 4), intermediate_size=inner, max_position_embeddings=4096,
        bos_token_id=2, eos_token_id=2, pad_token_id=1,
    )  # fmt: skip
    torch.manual_seed(0)
    model = LlamaForCausalLM(config).to(getattr(torch, dtype))
    print(f"{sum(one.numel() for one in model.parameters()) / 1e6:,.0f} M parameters, {dtype}")
    model.save_pretrained(folder)


def ours(model: LocalModel, count: int, tokens: int, first: int) -> float:
    """Tokens a second; `first` makes the requests new."""
    requests = [
        Request(
            id=str(at),
            messages=(Message(role="user", content="where is the river " * 16),),
            sampling=Sampling(temperature=1.0, max_tokens=tokens, seed=first + at),
        )
        for at in range(count)
    ]
    before, begun = model.totals.completion_tokens, time.perf_counter()
    assert all(isinstance(result, Reply) for result in model.generate(requests))
    return (model.totals.completion_tokens - before) / (time.perf_counter() - begun)


def the_library(engine: Any, count: int, tokens: int) -> float:
    """Tokens a second of `generate` alone, on prompts that are tokenized already."""
    import torch

    message = Message(role="user", content="where is the river " * 16)
    prompt = engine.prompt(Request(id="x", messages=(message,), sampling=Sampling(max_tokens=tokens)))
    ids = torch.tensor([prompt] * count, device=engine._device)
    begun = time.perf_counter()
    with torch.inference_mode():
        made = engine._model.generate(
            input_ids=ids, attention_mask=torch.ones_like(ids), do_sample=True, temperature=1.0, top_k=0,
            max_new_tokens=tokens, eos_token_id=None,
        )  # fmt: skip
        made.tolist()
    return (made.shape[1] - ids.shape[1]) * count / (time.perf_counter() - begun)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16", "float16"])
    parser.add_argument("--size", default="tiny", choices=sorted(SIZES))
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 16, 64])
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        build(Path(name), given.size, given.dtype)
        for batch in given.batches:
            model = LocalModel(name, settings=LocalSettings(device=given.device, dtype=given.dtype, batch=batch))
            ours(model, batch, 4, 0)
            best = [0.0, 0.0]
            for number in range(given.rounds):
                best[0] = max(best[0], ours(model, batch, given.tokens, 1000 * number))
                best[1] = max(best[1], the_library(model._engine, batch, given.tokens))
            print(f"batch {batch:3}: {best[0]:9,.0f} tokens/s, the library {best[1]:9,.0f}: {best[0] / best[1]:.2f}")
