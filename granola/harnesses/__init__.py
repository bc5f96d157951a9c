"""GRANOLA scoring inside evaluation harnesses: an lm-evaluation-harness task and an inspect_ai scorer."""
