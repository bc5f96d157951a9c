"""One snapshot behind HTTP: ladders, links, verdicts and scores under /v1, and a page for people at /."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.lazy_names import lazy_names

if TYPE_CHECKING:
    from granola.service.app import create_app
    from granola.service.client import Client
    from granola.service.service_settings import ServiceSettings

__all__ = [
    "Client",
    "ServiceSettings",
    "create_app",
]
_MODULES = {
    "Client": ".client",
    "ServiceSettings": ".service_settings",
    "create_app": ".app",
}
if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _MODULES)
