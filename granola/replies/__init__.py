"""Reading of model output: raw text in, the answer or the verdict out, and the rules that cut something."""

from granola.replies.reply import ModelReply, read_reply
from granola.replies.verdict_reading import read_numbered_verdicts, read_verdict

__all__ = ["ModelReply", "read_numbered_verdicts", "read_reply", "read_verdict"]
