"""Models as judges: what a signature calls them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import orjson

from abstraction.models.chat_model import ChatModel


def identity_name(identity: Mapping[str, object]) -> str:
    """The name of a model, and a hash of all that tells it from others."""
    digest = hashlib.sha256(orjson.dumps(dict(identity), option=orjson.OPT_SORT_KEYS, default=str)).hexdigest()[:8]
    called = str(identity.get("model") or identity.get("kind") or "model")
    return "".join(c if c.isalnum() or c in "._/-" else "_" for c in called) + f"-{digest}"


def model_name(model: ChatModel) -> str:
    """As `identity_name`; of a replay, the names of the models whose calls it repeats."""
    recorded = getattr(getattr(model, "source", None), "recorded", None) or [model.identity]
    return "+".join(sorted(map(identity_name, recorded)))
