"""GRANOLA scoring inside evaluation harnesses: lm-evaluation-harness, inspect_ai, and Hugging Face's evaluate."""
