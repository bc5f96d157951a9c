"""`granola.text_models`: models that score texts, named in a word; any other with the same methods does as well."""

from __future__ import annotations

from collections.abc import Sequence

from granola.text_models import Continuation, Entailment, TextPair, TokenScores, open_relevance
from granola.text_models.text_scorers import EntailmentModel
from tests.scoring_server import scoring_server


class SaysTheSame:
    """Entailed where the premise has the very words: an entailment model of one's own."""

    identity = {"kind": "words"}  # noqa: RUF012 - a model has it as an attribute

    def entailments(self, pairs: Sequence[TextPair]) -> list[Entailment]:
        return [Entailment(1, 0, 0) if one.hypothesis in one.premise else Entailment(0, 1, 0) for one in pairs]


def test_a_model_of_ones_own() -> None:
    model: EntailmentModel = SaysTheSame()
    (judged,) = model.entailments([TextPair("Ulm lies on the Danube.", "Ulm")])
    assert judged.entailed == 1


def test_a_model_behind_a_server() -> None:
    from granola.text_models import QueryPassage

    with scoring_server() as server:
        (score,) = open_relevance(f"openai:{server.url}#reranker").relevances([QueryPassage("Where?", "In Ulm.")])
    assert 0 <= score <= 1


def test_what_log_probabilities_say() -> None:
    scores = TokenScores((-0.5, -1.5))
    assert scores.mean == -1
    assert Continuation("Ulm lies", " in Germany").text.startswith(" ")
