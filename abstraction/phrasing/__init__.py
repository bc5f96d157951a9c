"""Ladders in a language model's words: asked for with prompts that can be replaced, each tier checked by the graph."""
