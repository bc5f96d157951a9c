"""Chat models: any OpenAI-compatible server, a local `transformers` model, recorded answers."""

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
from abstraction.models.spec import ModelSpec, open_model, parse_model_spec

__all__ = [
    "ChatModel",
    "Completion",
    "Failure",
    "FailureReason",
    "Message",
    "ModelSpec",
    "Reply",
    "Request",
    "Result",
    "Sampling",
    "TokenLogprob",
    "Totals",
    "open_model",
    "parse_model_spec",
]
