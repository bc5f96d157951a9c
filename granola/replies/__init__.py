"""The border for what models write: raw output in, the answer that is judged out, and what was cut by which rule."""

from granola.replies.reply import Cut, ModelReply, read_reply
from granola.replies.verdict_words import read_word

__all__ = ["Cut", "ModelReply", "read_reply", "read_word"]
