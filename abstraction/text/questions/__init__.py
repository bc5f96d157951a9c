"""The kind of answer that a question asks for, and whether gold answers are consistent with it."""
