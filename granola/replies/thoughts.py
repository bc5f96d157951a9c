"""What a model thought before it answered, in the forms in which chat templates leave it in the output.

The forms are those of the published templates: `<think>` (DeepSeek-R1, Qwen3, GLM, Nemotron), `<thinking>`,
`<thought>` (EXAONE), `<reasoning>`, `<seed:think>` (Seed-OSS), `[THINK]` (Magistral), `◁think▷` (Kimi),
`<|START_THINKING|>` (Command A), `<|begin_of_thought|>` (OpenThinker), and the channels of harmony (gpt-oss).
"""

from __future__ import annotations

import re

_NAMES = "think|thinking|thoughts?|reasoning|reflection|scratchpad|seed:think"
_TAG = re.compile(
    rf"<(?P<end>/)?(?:{_NAMES})>|\[(?P<end_magistral>/)?THINK\]|◁(?P<end_kimi>/)?think▷"
    r"|<\|(?:START|begin_of)_(?:THINKING|thought)\|>|<\|(?P<end_token>END|end_of)_(?:THINKING|thought)\|>",
    re.IGNORECASE,
)
_CHANNEL = re.compile(r"<\|channel\|>\s*+(\w++)[^<]{0,80}<\|message\|>")
_CHANNEL_END = re.compile(r"<\|(?:end|return|start|call|channel)\|>")
_MAY_THINK = re.compile(r"[<\[◁/|_:](?:think|thought|reason|reflect|scratch)", re.IGNORECASE)


def without_thoughts(text: str) -> tuple[str, bool]:
    """A text without its thoughts, and whether it ends in the midst of one.

    A closing tag alone ends a thought that the prompt began. An opening tag alone begins one that the output's end
    cut off.
    """
    if "<|channel|>" in text:
        return _final_channel(text)
    if not _MAY_THINK.search(text):
        return text, False
    kept: list[str] = []
    start, depth = 0, 0
    for tag in _TAG.finditer(text):
        if depth == 0:
            kept.append(text[start : tag.start()])
        if any(tag.groups()):
            if depth == 0:
                kept.clear()  # all before it was thought
            depth = max(0, depth - 1)
        else:
            depth += 1
        start = tag.end()
    if depth == 0:
        kept.append(text[start:])
    return "".join(kept), depth > 0


def _final_channel(text: str) -> tuple[str, bool]:
    """What stands in the last final channel of harmony; where there is none, the model was still thinking."""
    finals = [channel for channel in _CHANNEL.finditer(text) if channel[1] == "final"]
    if not finals:
        return "", True
    start = finals[-1].end()
    end = _CHANNEL_END.search(text, start)
    return text[start : end.start() if end else len(text)], False
