"""Processes, connections and figures of the server."""

__all__ = [
    "connections",
    "heartbeats",
    "prometheus_metrics",
    "server",
    "supervisor",
]
