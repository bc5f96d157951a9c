"""Language models behind a few protocols: chat, and scores of texts; on servers, on this machine, or recorded."""

from abstraction.models.chat_model import (
    ChatModel,
    Completion,
    Failure,
    FailureReason,
    Message,
    Reply,
    Request,
    Result,
    Sampling,
    TokenLogprob,
    Totals,
)
from abstraction.models.kept_scores import ScoreStore, kept
from abstraction.models.ledger import Prices, read_calls
from abstraction.models.spec import ModelSpec, open_model, open_spec, parse_model_spec
from abstraction.models.text_model_words import (
    open_coherence,
    open_continuations,
    open_embeddings,
    open_entailment,
    open_relevance,
)
from abstraction.models.text_scorers import (
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
    "ChatModel",
    "CoherenceModel",
    "Completion",
    "Continuation",
    "ContinuationModel",
    "EmbeddingModel",
    "Entailment",
    "EntailmentModel",
    "Failure",
    "FailureReason",
    "Message",
    "ModelSpec",
    "Prices",
    "QueryPassage",
    "RelevanceModel",
    "Reply",
    "Request",
    "Result",
    "Sampling",
    "ScoreStore",
    "TextPair",
    "TokenLogprob",
    "TokenScores",
    "Totals",
    "kept",
    "open_coherence",
    "open_continuations",
    "open_embeddings",
    "open_entailment",
    "open_model",
    "open_relevance",
    "open_spec",
    "parse_model_spec",
    "read_calls",
]
