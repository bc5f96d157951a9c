"""A causal language model with random weights, a word tokenizer and a chat template, small enough to build in tests."""

from __future__ import annotations

from pathlib import Path

WORDS = ("the", "a", "of", "in", "place", "river", "city", "country", "who", "where", "is", "born", "answer", "yes",
         "no", "one", "two", "three")  # fmt: skip
SYSTEM_REFUSING = "{% if messages[0].role == 'system' %}{{ raise_exception('no system turn') }}{% endif %}"
TURNS = (
    "{% for m in messages %}<|turn|> {{ m.role }} {{ m.content }} <|end|> {% endfor %}"
    "{% if add_generation_prompt %}<|turn|> assistant {% endif %}"
)


def build(folder: Path, *, template: str | None = TURNS, room: int = 256) -> Path:
    """Save it in `folder`; the same each time."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    specials = ["<|unknown|>", "<|pad|>", "<|end|>", "<|turn|>"]
    letters = [chr(code) for code in range(33, 127)]
    vocabulary = {
        word: at for at, word in enumerate(dict.fromkeys([*specials, "system", "user", "assistant", *WORDS, *letters]))
    }
    inner = Tokenizer(models.WordLevel(vocabulary, unk_token="<|unknown|>"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner,
        unk_token="<|unknown|>",
        pad_token="<|pad|>",
        eos_token="<|end|>",
        additional_special_tokens=["<|turn|>"],
    )
    if template is not None:
        tokenizer.chat_template = template
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=len(vocabulary), n_positions=room, n_embd=32, n_layer=2, n_head=2, initializer_range=0.6,
        bos_token_id=2, eos_token_id=2, pad_token_id=1,
    )  # fmt: skip
    model = GPT2LMHeadModel(config)
    # Settings of a model's own that would change what is asked for.
    model.generation_config.repetition_penalty = 1.5
    model.generation_config.do_sample = True
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
