"""Processes, connections and figures of the server."""

__all__ = [
    "connections",
    "prometheus_metrics",
    "server",
    "supervisor",
]
