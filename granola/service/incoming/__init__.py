"""Requests: their bounds, their types, and errors in them."""
