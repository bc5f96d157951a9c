"""Names of models in signatures of judges."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import orjson

from abstraction.models.chat_model import ChatModel


def identity_name(identity: Mapping[str, object]) -> str:
    """The name of a model and a hash of its whole identity."""
    digest = hashlib.sha256(orjson.dumps(dict(identity), option=orjson.OPT_SORT_KEYS, default=str)).hexdigest()[:8]
    called = str(identity.get("model") or identity.get("kind") or "model")
    return "".join(c if c.isalnum() or c in "._/-" else "_" for c in called) + f"-{digest}"


def model_name(model: ChatModel) -> str:
    """See `identity_name`; for a replay, the names of the recorded models."""
    # A replay gives the verdicts of the recorded models: its signature must equal theirs.
    recorded = getattr(getattr(model, "source", None), "recorded", None) or [model.identity]
    return "+".join(sorted(map(identity_name, recorded)))
