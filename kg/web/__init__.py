"""What every online source shares: addresses, rate limits and retries, answers kept on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.lazy_names import lazy_names

if TYPE_CHECKING:
    from kg.web.addresses import ServiceAddress, without_secrets
    from kg.web.answer_cache import Cache
    from kg.web.rate_limits import RetryDelays, user_agent

__all__ = [
    "Cache",
    "RetryDelays",
    "ServiceAddress",
    "user_agent",
    "without_secrets",
]
_MODULES = {
    "Cache": ".answer_cache",
    "RetryDelays": ".rate_limits",
    "ServiceAddress": ".addresses",
    "user_agent": ".rate_limits",
    "without_secrets": ".addresses",
}
if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _MODULES)
