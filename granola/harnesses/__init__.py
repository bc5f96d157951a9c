"""GRANOLA scoring inside evaluation harnesses: lm-evaluation-harness and inspect_ai."""
