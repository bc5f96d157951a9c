"""Models that score texts: entailment, relevance, log-probabilities, coherence, embeddings; local or on servers."""

from granola.text_models.kept_scores import ScoreStore
from granola.text_models.text_model_words import (
    open_coherence,
    open_continuations,
    open_embeddings,
    open_entailment,
    open_relevance,
)
from granola.text_models.text_scorers import (
    CoherenceModel,
    Continuation,
    ContinuationModel,
    EmbeddingModel,
    Entailment,
    EntailmentModel,
    QueryPassage,
    RelevanceModel,
    TextPair,
    TokenScores,
)

__all__ = [
    "CoherenceModel",
    "Continuation",
    "ContinuationModel",
    "EmbeddingModel",
    "Entailment",
    "EntailmentModel",
    "QueryPassage",
    "RelevanceModel",
    "ScoreStore",
    "TextPair",
    "TokenScores",
    "open_coherence",
    "open_continuations",
    "open_embeddings",
    "open_entailment",
    "open_relevance",
]
