"""What a chat model is asked: messages, and how to sample."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Literal, get_args

import orjson

Role = Literal["system", "user", "assistant"]
ROLES: frozenset[str] = frozenset(get_args(Role))
SEEDS = 2**31  # every server's seeds: some read them as 32 bits with a sign


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Role
    content: str

    def __post_init__(self) -> None:
        if self.role not in ROLES:
            raise ValueError(f"role {self.role!r}: a message is from {', '.join(sorted(ROLES))}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Sampling:
    """How to answer. Raises ValueError for what no model can do.

    `n`: answers wanted, each with a seed of its own: `seed`, `seed` + 1 and so on; None sends no seed. `temperature`:
    [0, 2], 0 takes the likeliest token, then `n` must be 1. `top_p`: (0, 1]. `max_tokens`: of one answer. `stop`:
    texts that end an answer and are no part of it, at most 4. `logprobs`: None for none, 0 for those of the tokens
    taken, up to 20 for as many alternatives beside.
    """

    n: int = 1
    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 256
    seed: int | None = 0
    stop: tuple[str, ...] = ()
    logprobs: int | None = None

    def __post_init__(self) -> None:
        def check(well: bool, name: str, allowed: str) -> None:
            if not well:
                raise ValueError(f"{name} is {getattr(self, name)!r}: allowed is {allowed}")

        check(self.n >= 1, "n", "1 and more")
        check(0.0 <= self.temperature <= 2.0, "temperature", "0 to 2")
        check(0.0 < self.top_p <= 1.0, "top_p", "above 0 and up to 1")
        check(self.max_tokens >= 1, "max_tokens", "1 and more")
        check(self.seed is None or 0 <= self.seed <= SEEDS - self.n, "seed", f"0 to {SEEDS} less n, or None")
        check(not isinstance(self.stop, str) and len(self.stop) <= 4 and all(self.stop), "stop", "up to 4 texts")
        check(self.logprobs is None or 0 <= self.logprobs <= 20, "logprobs", "None or 0 to 20")
        check(
            self.n == 1 or self.temperature > 0,
            "n",
            "1 where temperature is 0: the likeliest answer is the same each time",
        )

    def seed_of(self, sample: int) -> int | None:
        """The seed of the answer number `sample`, from 0; None for none, and where nothing is drawn."""
        return None if self.seed is None or self.temperature == 0 else self.seed + sample


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """One conversation to be continued. `id` names it in logs and messages and does not change its answer."""

    id: str
    messages: tuple[Message, ...]
    sampling: Sampling = Sampling()

    def __post_init__(self) -> None:
        if not self.messages or self.messages[-1].role != "user":
            raise ValueError(f"request {self.id}: its last message must be the user's")

    def key(self) -> str:
        """Hex SHA-256 of all that the answer number i depends on besides the model: everything but `id` and `n`."""
        how = self.sampling
        drawn = how.temperature > 0
        asked: dict[str, Any] = {
            "messages": [[message.role, message.content] for message in self.messages],
            "temperature": float(how.temperature),
            "top_p": float(how.top_p) if drawn else None,
            "max_tokens": how.max_tokens,
            "seed": how.seed if drawn else None,
            "stop": how.stop,
            "logprobs": how.logprobs,
        }
        return hashlib.sha256(orjson.dumps(asked, option=orjson.OPT_SORT_KEYS)).hexdigest()
