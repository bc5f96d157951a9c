"""Tokens a second of a local chat model: ours, the library's `generate` used plainly, a plain loop of one at a time.

    python scripts/bench_local_model.py [--device cuda] [--dtype bfloat16] [--size 1b] [--batches 16 64 256]

The model has random weights and a llama's shape. All sample at temperature 1 from the same prompts; on a card the
library has its static cache. Medians of runs by turns on warm models, by the clock and in brackets by the processor's
time; `auto` is our default batch.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from measuring import device_chosen, model_arguments, rates, save_llama

from abstraction.models.chat_model import ChatModel, Message, Reply, Request, Sampling
from abstraction.models.spec import open_model

# width, layers, heads, inner
SIZES = {"tiny": (256, 4, 4, 1024), "100m": (768, 12, 12, 2048), "1b": (2048, 16, 32, 8192)}
PROMPT = "where is the river " * 16


def ours(model: ChatModel, count: int, tokens: int, first: int) -> int:
    """Tokens made; `first` makes the requests new."""
    before = model.totals.completion_tokens
    messages = (Message(role="user", content=PROMPT),)
    sampling = [Sampling(temperature=1.0, max_tokens=tokens, seed=first + at) for at in range(count)]
    requests = [Request(id=str(at), messages=messages, sampling=how) for at, how in enumerate(sampling)]
    assert all(isinstance(result, Reply) for result in model.generate(requests))
    return model.totals.completion_tokens - before


class Library:
    """`generate` alone, from text to text."""

    def __init__(self, folder: str, device: str) -> None:
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self.tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        self.model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype="auto").to(device).eval()
        self.device = device

    def made(self, count: int, tokens: int) -> int:
        """Tokens made for so many prompts at once."""
        import torch

        turns = [[{"role": "user", "content": PROMPT}]] * count
        texts = self.tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        encoded = self.tokenizer(texts, return_tensors="pt", padding=True, padding_side="left").to(self.device)
        cache = {"cache_implementation": "static"} if self.device.startswith("cuda") else {}
        with torch.inference_mode():
            out = self.model.generate(
                input_ids=encoded.input_ids, attention_mask=encoded.attention_mask, do_sample=True, temperature=1.0,
                top_k=0, repetition_penalty=1.0, max_new_tokens=tokens, **cache,
            )  # fmt: skip
        self.tokenizer.batch_decode(out[:, encoded.input_ids.shape[1] :], skip_special_tokens=True)
        return int((out.shape[1] - encoded.input_ids.shape[1]) * count)


def main() -> None:
    parser = model_arguments(__doc__)
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16", "float16"])
    parser.add_argument("--size", default="tiny", choices=sorted(SIZES))
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 16, 64])
    parser.add_argument("--tokens", type=int, default=32)
    given = parser.parse_args()
    device, described = device_chosen(given)
    width, layers, heads, inner = SIZES[given.size]
    with tempfile.TemporaryDirectory() as name:
        save_llama(
            Path(name), width=width, layers=layers, heads=heads, inner=inner, vocabulary=32_000, dtype=given.dtype
        )  # fmt: skip
        print(f"{given.size}, {given.dtype}, {described}")
        library = Library(name, device)
        print("| batch | ours, tokens/s (per s of processor) | auto | library | plain loop | ours / library |")
        print("|---|---|---|---|---|---|")
        for batch in given.batches:
            fixed = open_model(f"local:{name}?device={device}&batch={batch}")
            grown = open_model(f"local:{name}?device={device}")
            found = rates(
                {
                    "ours": lambda n, m=fixed, b=batch: ours(m, b, given.tokens, 100_000 * (n + 1)),
                    "auto": lambda n, m=grown, b=batch: ours(m, b, given.tokens, 100_000 * (n + 1)),
                    "library": lambda _, b=batch: library.made(b, given.tokens),
                    "loop": lambda _: library.made(1, given.tokens),
                },
                given.rounds, device,
            )  # fmt: skip
            ratio = found["ours"].over(found["library"])
            print(f"| {batch} | {' | '.join(map(str, found.values()))} | {ratio} |", flush=True)


if __name__ == "__main__":
    main()
