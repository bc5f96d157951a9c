"""Bytes in, entities out."""
