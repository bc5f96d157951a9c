"""Models that score texts: entailment, relevance, log-probabilities, coherence, embeddings; local or on servers."""

from granola.text_models.coherence import CoherenceModel
from granola.text_models.continuations import Continuation, ContinuationModel, TokenScores
from granola.text_models.embeddings import EmbeddingModel
from granola.text_models.kept_scores import ScoreStore
from granola.text_models.relevance import QueryPassage, RelevanceModel
from granola.text_models.text_entailment import Entailment, EntailmentModel, TextPair
from granola.text_models.text_model_words import (
    open_coherence,
    open_continuations,
    open_embeddings,
    open_entailment,
    open_relevance,
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
