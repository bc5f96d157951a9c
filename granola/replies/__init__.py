"""The border for what models write: raw output in, the answer or the verdict out, and what was cut by which rule."""

from granola.replies.reply import Cut, ModelReply, read_reply
from granola.replies.verdict_reading import ReadVerdict, read_numbered_verdicts, read_verdict

__all__ = ["Cut", "ModelReply", "ReadVerdict", "read_numbered_verdicts", "read_reply", "read_verdict"]
