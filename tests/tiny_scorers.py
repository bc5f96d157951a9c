"""Checkpoints with random weights that score texts: classification of pairs, embeddings; small enough for tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.tiny_model import WORDS

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]


def pair_tokenizer() -> Any:
    """Words and letters, [CLS] first [SEP] second [SEP]."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    letters = [chr(code) for code in range(33, 127)]
    vocabulary = {word: at for at, word in enumerate(dict.fromkeys([*SPECIALS, *WORDS, *letters]))}
    inner = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    inner.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=inner, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]"
    )


def build_classifier(
    folder: Path, labels: Sequence[str], *, room: int = 64, seed: int = 0, spread: float = 0.6, kind: str = "bert"
) -> Path:
    """A BERT, or another `kind`, of two layers with an output for each label, saved in `folder`; the same each time."""
    import torch
    from transformers import AutoConfig, AutoModelForSequenceClassification

    tokenizer = pair_tokenizer()
    torch.manual_seed(seed)
    config = AutoConfig.for_model(
        kind, vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=room, num_labels=len(labels), id2label=dict(enumerate(labels)),
        label2id={label: at for at, label in enumerate(labels)}, pad_token_id=0, initializer_range=spread,
    )  # fmt: skip
    AutoModelForSequenceClassification.from_config(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
