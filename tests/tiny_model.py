"""A causal language model with random weights, a word tokenizer and a chat template, small enough to build in tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

WORDS = ("the", "a", "of", "in", "place", "river", "city", "country", "who", "where", "is", "born", "answer", "yes",
         "no", "one", "two", "three")  # fmt: skip
SYSTEM_REFUSING = "{% if messages[0].role == 'system' %}{{ raise_exception('no system turn') }}{% endif %}"
TURNS = (
    "{% for m in messages %}<|turn|> {{ m.role }} {{ m.content }} <|end|> {% endfor %}"
    "{% if add_generation_prompt %}<|turn|> assistant {% endif %}"
)


def word_tokenizer() -> Any:
    """Words and letters, each a token of its own."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    specials = ["<|unknown|>", "<|pad|>", "<|end|>", "<|turn|>"]
    letters = [chr(code) for code in range(33, 127)]
    words = dict.fromkeys([*specials, "system", "user", "assistant", *WORDS, *letters])
    inner = Tokenizer(models.WordLevel({word: at for at, word in enumerate(words)}, unk_token="<|unknown|>"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(
        tokenizer_object=inner,
        unk_token="<|unknown|>",
        pad_token="<|pad|>",
        eos_token="<|end|>",
        additional_special_tokens=["<|turn|>"],
    )


def build(folder: Path, *, template: str | None = TURNS, room: int = 256) -> Path:
    """Save it in `folder`; the same each time."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    tokenizer = word_tokenizer()
    if template is not None:
        tokenizer.chat_template = template
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=len(tokenizer), n_positions=room, n_embd=32, n_layer=2, n_head=2, initializer_range=0.6,
        bos_token_id=2, eos_token_id=2, pad_token_id=1,
    )  # fmt: skip
    model = GPT2LMHeadModel(config)
    # Settings of a model's own that would change what is asked for.
    model.generation_config.repetition_penalty = 1.5
    model.generation_config.do_sample = True
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def build_encoder_decoder(folder: Path, *, room: int | None = None) -> Path:
    """A T5 of the same words, or a BART with `room` positions, saved in `folder`; the same each time."""
    import torch
    from transformers import AutoModelForSeq2SeqLM, BartConfig, T5Config

    tokenizer = word_tokenizer()
    torch.manual_seed(0)
    if room is None:
        config: Any = T5Config(
            vocab_size=len(tokenizer), d_model=32, d_kv=16, d_ff=64, num_layers=2, num_heads=2, initializer_factor=3.0,
            pad_token_id=1, eos_token_id=2, decoder_start_token_id=1,
        )  # fmt: skip
    else:
        config = BartConfig(
            vocab_size=len(tokenizer), d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
            decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, max_position_embeddings=room,
            init_std=0.6, pad_token_id=1, bos_token_id=2, eos_token_id=2, decoder_start_token_id=2,
            forced_eos_token_id=None,
        )  # fmt: skip
    AutoModelForSeq2SeqLM.from_config(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
