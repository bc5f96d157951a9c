"""`abstraction.models`: models named in a word; any other with the same methods does as well."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from abstraction.models.chat_model import Message, Reply, Request
from abstraction.models.spec import open_model, open_relevance
from abstraction.models.text_scorers import Entailment, EntailmentModel, QueryPassage, TextPair
from tests.scoring_server import scoring_server


class SaysTheSame:
    """Entailed where the premise has the very words: an entailment model of one's own."""

    identity = {"kind": "words"}  # noqa: RUF012 - a model has it as an attribute

    def scores(self, pairs: Sequence[TextPair], /) -> list[Entailment]:
        return [Entailment(1, 0, 0) if one.hypothesis in one.premise else Entailment(0, 1, 0) for one in pairs]


def test_a_model_of_ones_own() -> None:
    model: EntailmentModel = SaysTheSame()
    assert model.scores([TextPair("Ulm lies on the Danube.", "Ulm")])[0].entailed == 1


def test_a_model_behind_a_server() -> None:
    with scoring_server() as server:
        (score,) = open_relevance(f"openai:{server.url}#reranker").scores([QueryPassage("Where?", "In Ulm.")])
    assert 0 <= score <= 1


def test_recorded_answers_are_played_again(tmp_path: Path) -> None:
    request = Request(id="1", messages=(Message(role="user", content="Where was Barack Obama born?"),))
    recorded = tmp_path / "answers.jsonl"
    recorded.write_text(json.dumps({"prompt": "Where was Barack Obama born?", "answers": ["Honolulu"]}) + "\n")
    (result,) = open_model(f"replay:{recorded}").generate([request])
    assert isinstance(result, Reply)
    assert result.text == "Honolulu"
