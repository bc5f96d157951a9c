"""Log-probabilities, relevance, coherence and embeddings: saved models of a test's own, and servers on loopback."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import pytest

from abstraction.errors import ModelAccessError, ModelError, ModelSpecError
from abstraction.models.answer_store import CachedScorer
from abstraction.models.local_scorers import LocalCoherence, LocalContinuations, LocalRelevance
from abstraction.models.spec import (
    LocalScoreSettings,
    open_coherence,
    open_continuations,
    open_embeddings,
    open_entailment,
    open_relevance,
)
from abstraction.models.text_scorers import Continuation, EmbeddedText, Entailment, QueryPassage, TextPair, TokenScores
from kg.web.client import AnswerCache
from tests.scoring_server import logprob_of, scoring_server
from tests.tiny_model import WORDS, build, build_encoder_decoder
from tests.tiny_scorers import build_classifier

pytest.importorskip("sentence_transformers")
CPU = LocalScoreSettings(device="cpu", batch=4)


@pytest.fixture(scope="module")
def causal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("causal"), room=32)


def texts(count: int, *, most: int = 8, seed: int = 1) -> list[str]:
    draw = random.Random(seed)
    return [" ".join(draw.choices(WORDS, k=draw.randint(1, most))) for _ in range(count)]


def by_hand(folder: Path, prompt: str, text: str) -> list[float]:
    """One text alone through the saved model, without anything of ours."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    before = [tokenizer.eos_token_id, *tokenizer(prompt)["input_ids"]]
    ids = torch.tensor([[*before, *tokenizer(text)["input_ids"]]])
    with torch.no_grad():
        shares = model(ids).logits[0].log_softmax(-1)
    return [float(shares[at - 1, ids[0, at]]) for at in range(len(before), ids.shape[1])]


def test_log_probabilities_are_those_of_the_saved_model(causal: Path) -> None:
    given = [Continuation(prompt, " " + text) for prompt, text in zip(["", *texts(8)], texts(9, seed=2), strict=True)]
    found = LocalContinuations(causal, CPU).scores(given)
    for one, scores in zip(given, found, strict=True):
        assert scores.logprobs == pytest.approx(by_hand(causal, one.prompt, one.text), abs=1e-4)
        assert 0 < scores.geometric_mean < 1


def test_batch_and_order_change_no_log_probability(causal: Path) -> None:
    given = [Continuation("who is", " " + text) for text in texts(17)]
    alone = [LocalContinuations(causal, CPU).scores([one])[0].mean_logprob for one in given]
    other = LocalContinuations(causal, LocalScoreSettings(device="cpu", batch=5)).scores(given[::-1])
    assert [one.mean_logprob for one in other[::-1]] == pytest.approx(alone, abs=1e-5)


def test_beyond_the_room_a_prompt_loses_its_beginning_and_a_text_its_end(causal: Path) -> None:
    model = LocalContinuations(causal, CPU)  # 32 tokens
    (long, cut) = model.scores([
        Continuation("one " * 50 + "the river " * 14, "a city in the"),
        Continuation("", "one " * 100),
    ])  # fmt: skip
    assert len(long.logprobs) == 4
    assert cut.logprobs == pytest.approx(by_hand(causal, "", "one " * 31), abs=1e-4)


def test_empty_and_one_token_texts(causal: Path) -> None:
    empty, one = LocalContinuations(causal, CPU).scores([Continuation("who", ""), Continuation("", "a")])
    assert empty == TokenScores(())
    assert math.isnan(empty.mean_logprob)
    assert len(one.logprobs) == 1


def test_a_token_over_the_boundary_is_the_texts(causal: Path) -> None:
    """ "riv" and "er" are joined to the word that the tokenizer knows."""
    (joined,) = LocalContinuations(causal, CPU).scores([Continuation("the riv", "er in")])
    assert joined.logprobs == pytest.approx(by_hand(causal, "the", "river in"), abs=1e-4)


def test_an_encoder_decoder_has_no_log_probabilities(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="is an encoder-decoder; log-probabilities are of causal models"):
        open_continuations(f"local:{build_encoder_decoder(tmp_path)}?device=cpu")


def test_positions_behind_the_padding_token_are_fewer(tmp_path: Path) -> None:
    model = LocalRelevance(build_classifier(tmp_path, ["one"], room=64, kind="roberta"), CPU)
    assert (model.config.pad_token_id, model.max_positions) == (0, 63)
    long, cut = model.scores([QueryPassage("who", "one " * 100), QueryPassage("who", "one " * 59)])
    assert long == pytest.approx(cut, abs=1e-6)


@pytest.mark.parametrize("labels", [["relevant"], ["no", "yes"]])
def test_relevance_is_a_sigmoid_or_the_second_of_two(tmp_path: Path, labels: list[str]) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder = build_classifier(tmp_path, labels)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    given = [QueryPassage("who is born", text) for text in texts(7)]
    for pair, score in zip(given, LocalRelevance(folder, CPU).scores(given), strict=True):
        with torch.no_grad():
            logits = model(**tokenizer(pair.query, pair.passage, return_tensors="pt")).logits[0]
        wanted = logits.softmax(-1)[1] if len(labels) == 2 else logits.sigmoid()[0]
        assert score == pytest.approx(float(wanted), abs=1e-5)


def test_coherence_is_of_the_whole_paragraph(tmp_path: Path) -> None:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder = build_classifier(tmp_path, ["coherent"])
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    found = LocalCoherence(folder, CPU).scores([["the river is one", "a city in the country"], ["no"]])
    for score, text in zip(found, ["the river is one a city in the country", "no"], strict=True):
        logit = model(**AutoTokenizer.from_pretrained(folder)(text, return_tensors="pt")).logits[0]
        assert score == pytest.approx(float(logit.detach().sigmoid()), abs=1e-5)


def test_servers_answer_in_their_forms() -> None:
    with scoring_server() as server:
        word = f"openai:{server.url}?concurrency=4#m"
        (scores, alone) = open_continuations(word).scores([
            Continuation("who is", " born in one"), Continuation("", "a place"),
        ])  # fmt: skip
        assert scores.logprobs == (logprob_of(" born"), logprob_of(" in"), logprob_of(" one"))
        assert alone.logprobs == (logprob_of("a"), logprob_of(" place"))
        assert open_relevance(word).scores([QueryPassage("q", "x" * 40)]) == [0.4]
        (vector,) = open_embeddings(word).scores([EmbeddedText("abcd")])
        assert vector == pytest.approx([0.6, 0.8])
        server.failing = 1
        assert open_relevance(word).scores([QueryPassage("q", "x" * 20)]) == [0.2]
    with scoring_server(starts=False) as server:
        (alone,) = open_continuations(f"openai:{server.url}#m").scores([Continuation("", "a place")])
        assert alone.logprobs == (logprob_of(" place"),)


def test_servers_get_lists() -> None:
    with scoring_server() as server:
        word = f"openai:{server.url}?batch=10#m"
        given = [Continuation("who is", f" born in {text}") for text in texts(24)]
        scores = open_continuations(word).scores(given)
        assert [len(one.logprobs) for one in scores] == [len(one.text.split()) for one in given]
        passages = [QueryPassage("q" if at < 15 else "r", "x" * at) for at in range(24)]
        assert open_relevance(word).scores(passages) == [at / 100 for at in range(24)]
        vectors = open_embeddings(word).scores([EmbeddedText("x" * at) for at in range(24)])
        assert [round(vector[1] / vector[0] * 3) for vector in vectors] == list(range(24))
        assert len(server.asked) == 3 + 3 + 3
        # Requests run beside each other: which arrives first is not fixed.
        assert sorted(len(body["prompt"]) for _, body in server.asked if "prompt" in body) == [4, 10, 10]


def test_a_server_that_takes_no_lists_is_told_how_to_be_asked() -> None:
    passages = [QueryPassage("q", "x" * 20)] * 2
    with scoring_server(lists=False) as server:
        with pytest.raises(ModelError, match="batch=1 sends them one by one"):
            open_relevance(f"openai:{server.url}?tries=1#m").scores(passages)
        assert open_relevance(f"openai:{server.url}?batch=1#m").scores(passages) == [0.2, 0.2]


@pytest.mark.parametrize("indices", [(0, 0), (0, None), (None, None)])
def test_entries_that_do_not_say_whose_they_are(indices: tuple[int | None, ...]) -> None:
    given = [{} if index is None else {"index": index} for index in indices]
    entries = [{**one, "score": 0.5, "embedding": [1.0]} for one in given]
    with scoring_server() as server:
        server.answer = {"results": entries, "data": entries}
        word = f"openai:{server.url}?tries=1#m"
        with pytest.raises(ModelError, match="in another form"):
            open_relevance(word).scores([QueryPassage("q", "x"), QueryPassage("q", "y")])
        if any(given):
            with pytest.raises(ModelError, match="in another form"):
                open_embeddings(word).scores([EmbeddedText("x"), EmbeddedText("y")])
        else:  # in the order of the texts
            assert open_embeddings(word).scores([EmbeddedText("x"), EmbeddedText("y")]) == [[1.0], [1.0]]
        server.answer = {"data": [{"index": 0, "embedding": []}]}
        with pytest.raises(ModelError, match="an empty vector"):
            open_embeddings(word).scores([EmbeddedText("x")])


def test_a_server_without_such_scores_is_told() -> None:
    with scoring_server(knows=()) as server, pytest.raises(ModelAccessError, match="does the server know /rerank"):
        open_relevance(f"openai:{server.url}#m").scores([QueryPassage("q", "p")])


def test_words_of_coherence_and_entailment() -> None:
    for use, opened in [("coherence", open_coherence), ("entailment", open_entailment)]:
        with pytest.raises(ModelSpecError, match=f"no server is known for {use}; allowed: local:"):
            opened("openai:http://x/v1#m")
    with pytest.raises(ModelSpecError, match="low is no setting"):
        open_coherence("local:x?low=much")


class _Counting:
    identity = {"kind": "counting"}  # noqa: RUF012

    def __init__(self) -> None:
        self.asked: list[TextPair] = []

    def scores(self, pairs: Any, /) -> list[Entailment]:
        self.asked += pairs
        return [Entailment(math.nan, 0.25, 0.25) for _ in pairs]


def test_scores_are_kept_and_asked_for_once(tmp_path: Path, causal: Path) -> None:
    pair = TextPair("a", "b")
    for times in (1, 2):
        store, model = AnswerCache(tmp_path / "scores.sqlite"), _Counting()
        found = CachedScorer(model, store).scores([pair, TextPair("b", "a"), pair])
        assert len(model.asked) == (2 if times == 1 else 0)
        assert math.isnan(found[2].entailed)
        assert found[0].neutral == 0.25
        scorer = CachedScorer(LocalContinuations(causal, CPU), store)
        assert scorer.scores([Continuation("", "a city")]) == scorer.scores([Continuation("", "a city")])
        store.close()
