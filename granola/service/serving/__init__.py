"""Processes, connections and figures of the server."""
