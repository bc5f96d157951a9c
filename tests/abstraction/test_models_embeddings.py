"""Embeddings are the library's own: pooling, length and prompts as a folder says them."""

from __future__ import annotations

from pathlib import Path

import pytest

from abstraction.models.spec import open_embeddings
from abstraction.models.text_scorers import EmbeddedText
from tests.tiny_model import WORDS
from tests.tiny_scorers import build_classifier

library = pytest.importorskip("sentence_transformers", reason="pip install -e '.[models]'")

TEXTS = [" ".join(WORDS[at : at + 6]) for at in range(9)] + ["the river " * 40]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_classifier(tmp_path_factory.mktemp("plain"), ["one"])


@pytest.fixture(scope="module")
def folder(plain: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With CLS pooling, texts of 16 tokens and a prompt for queries."""
    from sentence_transformers.sentence_transformer.modules import Pooling

    encoder = library.SentenceTransformer(str(plain), device="cpu", prompts={"query": "who is ", "document": ""})
    encoder[1] = Pooling(encoder.get_embedding_dimension(), pooling_mode="cls")
    encoder.max_seq_length = 16
    place = tmp_path_factory.mktemp("cls")
    encoder.save(str(place))
    return place


@pytest.mark.parametrize("query", [False, True])
def test_a_folder_s_own_pooling_length_and_prompts_count(folder: Path, query: bool) -> None:
    encoder = library.SentenceTransformer(str(folder), device="cpu")
    encode = encoder.encode_query if query else encoder.encode_document
    wanted = encode(TEXTS, normalize_embeddings=True)
    found = open_embeddings(f"local:{folder}?device=cpu&batch=3").scores([EmbeddedText(text, query) for text in TEXTS])
    cosines = [sum(a * b for a, b in zip(one, other, strict=True)) for one, other in zip(found, wanted, strict=True)]
    assert cosines == pytest.approx([1.0] * len(TEXTS), abs=1e-5)
