"""Removal of chat-template marks from model output: thoughts before the answer, and turn tokens.

The forms are those of the published templates: `<think>` (DeepSeek-R1, Qwen3, GLM, Nemotron), `<thinking>`,
`<thought>` (EXAONE), `<reasoning>`, `<seed:think>` (Seed-OSS), `[THINK]` (Magistral), `◁think▷` (Kimi),
`<|START_THINKING|>` (Command A), `<|begin_of_thought|>` (OpenThinker), `<unused94>` (MedGemma), and the channels of
harmony (gpt-oss), with their tokens or, where a tokenizer dropped these, without.
"""

from __future__ import annotations

import re

_THOUGHTS = (
    "think|thinking|thoughts?|thought_process|reasoning|reflection|analysis|scratchpad|(?:internal_|inner_)?monologue"
    "|chain_of_thought|cot|seed:think"
)
_THOUGHT_TAG = re.compile(
    rf"(?:<|&lt;)\s?(?P<end>/)?\s?(?:{_THOUGHTS})\s?(?:>|&gt;)|\[(?P<end_magistral>/)?THINK\]|◁(?P<end_kimi>/)?think▷"
    rf"|<\|(?P<end_bar>/)?(?:{_THOUGHTS})\|>|<\|(?:START|begin_of)_(?:THINKING|thought)\|>"
    r"|<\|(?P<end_token>END|end_of)_(?:THINKING|thought)\|>|<unused94>|(?P<end_unused><unused95>)",
    re.IGNORECASE,
)
# A cheap test before the tags are parsed.
_MAY_THINK = re.compile(
    r"[<\[◁/|_:;]\s?(?:think|thought|reason|reflect|scratch|analy|inner|internal|mono|chain|cot|seed)|<unused9",
    re.IGNORECASE,
)
_CHANNEL = re.compile(r"<\|channel\|>\s*+(\w++)[^<]{0,80}<\|message\|>")
_CHANNEL_END = re.compile(r"<\|(?:end|return|start|call|channel)\|>")
# Harmony output whose tokens were dropped: "analysis...assistantfinal...".
_BARE_FINAL = re.compile(r"\A\s*+analysis(?=[A-Z\s]).*?assistantfinal\s*+", re.DOTALL)


def without_thoughts_and_if_cut(text: str) -> tuple[str, bool]:
    """The text without its thoughts, and whether it ends within one.

    A closing tag alone ends a thought that the prompt began. An opening tag alone begins one that was cut off. For
    harmony output the text of the last final channel is returned.
    """
    if "<|channel|>" in text:
        finals = [channel for channel in _CHANNEL.finditer(text) if channel[1] == "final"]
        if not finals:
            return "", True  # the model was still thinking
        start = finals[-1].end()
        end = _CHANNEL_END.search(text, start)
        return text[start : end.start() if end else len(text)], False
    if "assistantfinal" in text:
        return _BARE_FINAL.sub("", text, count=1), False
    if not _MAY_THINK.search(text):
        return text, False
    kept: list[str] = []
    start, depth = 0, 0
    for tag in _THOUGHT_TAG.finditer(text):
        if depth == 0:
            kept.append(text[start : tag.start()])
        if any(tag.groups()):
            if depth == 0:
                kept.clear()  # everything before this closing tag was thought
            depth = max(0, depth - 1)
        else:
            depth += 1
        start = tag.end()
    if depth == 0:
        kept.append(text[start:])
    return "".join(kept), depth > 0


_TOKEN = re.compile(r"<[|｜][^<>|｜]{1,40}[|｜]>|</?s>|<eos>|<bos>|<pad>|<(?:start|end)_of_turn>|\[/?INST\]")
_TURN = re.compile(  # tokens that begin the model's turn
    r"<\|im_start\|>assistant\s|<\|start_header_id\|>assistant<\|end_header_id\|>|<\|(?:assistant|Assistant)\|>"
    r"|<｜Assistant｜>|<start_of_turn>model\s|\[/INST\]|<\|CHATBOT_TOKEN\|>|<\|START_RESPONSE\|>"
    r"|<\|begin_of_solution\|>"
)
_BEGIN = re.compile(r"\s*+(?:(?:<s>|<bos>|<pad>|<\|begin_of_text\|>|<\|startoftext\|>)\s*+)*+")
_ROLE = re.compile(r"\s*+(?:assistant|model)[^\S\n]*+\n\s*+(?=\S)")  # the rest of a token that a tokenizer dropped


def first_model_turn(text: str) -> str:
    """The text of the model's first turn, up to the next token; turns of a repeated prompt before it are skipped."""
    if not ("<" in text or "[" in text) or not _TOKEN.search(text):
        role = _ROLE.match(text)
        return text[role.end() :] if role else text
    begin = _BEGIN.match(text)
    start = begin.end() if begin else 0
    if _TOKEN.match(text, start) and (turn := _TURN.search(text, start)):
        start = turn.end()
    while (token := _TOKEN.match(text, start)) or text[start : start + 1].isspace():
        start = token.end() if token else start + 1
    end = _TOKEN.search(text, start)
    return text[start : end.start() if end else len(text)].strip()
