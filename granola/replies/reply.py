"""What a model wrote, down to the answer that is judged. Its wording is kept: whatever goes is cut off whole.

Raw output has more than an answer: thoughts, the tokens of a chat template, further questions that a base model
invents, labels, code fences, boxes, JSON. Each is cut by a rule with a name; a reply keeps what each rule cut.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Cut:
    """What a rule took off: the rule's name, and how many characters."""

    rule: str
    characters: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelReply:
    """One output: `raw` as it came, `answer` as it is judged, the `cuts` between them in their order.

    `unfinished` where the output ends in the midst of a thought: then there is no answer.
    """

    raw: str
    answer: str
    cuts: tuple[Cut, ...] = ()
    unfinished: bool = False


def read_reply(raw: str) -> ModelReply:
    """The answer in a raw output. Never raises, whatever the text; a plain answer comes back as it is."""
    if _PLAIN.fullmatch(raw):
        return ModelReply(raw=raw, answer=raw)
    cuts = []
    text, unfinished = _without_thoughts(raw)
    if text != raw:
        cuts.append(Cut(rule="thought", characters=len(raw) - len(text)))
    for name, rule in RULES:
        kept = rule(text)
        if kept != text and kept.strip():  # a rule that leaves nothing has found something else
            cuts.append(Cut(rule=name, characters=len(text) - len(kept)))
            text = kept
    answer = text.strip() if cuts else raw
    return ModelReply(raw=raw, answer=answer, cuts=tuple(cuts), unfinished=unfinished and not answer)


def outer_text(raw: str) -> str:
    """A judge's reply without thoughts, the tokens of a chat template, further turns, a box or a fence around it."""
    text, _ = _without_thoughts(raw)
    for rule in (_own_turn, _tagged, _before_next_turn, _boxed, _unfenced):
        kept = rule(text)
        text = kept if kept.strip() else text
    return text


_PLAIN = re.compile(r"[^<>\[\]{}\\`:：#◁|\n=)\"]*+")  # without these signs no rule has anything to cut

# What a model thought before it answered, in the forms in which chat templates leave it in the output.
#
# The forms are those of the published templates: `<think>` (DeepSeek-R1, Qwen3, GLM, Nemotron), `<thinking>`,
# `<thought>` (EXAONE), `<reasoning>`, `<seed:think>` (Seed-OSS), `[THINK]` (Magistral), `◁think▷` (Kimi),
# `<|START_THINKING|>` (Command A), `<|begin_of_thought|>` (OpenThinker), and the channels of harmony (gpt-oss).

_THOUGHTS = "think|thinking|thoughts?|reasoning|reflection|scratchpad|seed:think"
_THOUGHT_TAG = re.compile(
    rf"<(?P<end>/)?(?:{_THOUGHTS})>|\[(?P<end_magistral>/)?THINK\]|◁(?P<end_kimi>/)?think▷"
    r"|<\|(?:START|begin_of)_(?:THINKING|thought)\|>|<\|(?P<end_token>END|end_of)_(?:THINKING|thought)\|>",
    re.IGNORECASE,
)
_CHANNEL = re.compile(r"<\|channel\|>\s*+(\w++)[^<]{0,80}<\|message\|>")
_CHANNEL_END = re.compile(r"<\|(?:end|return|start|call|channel)\|>")
_MAY_THINK = re.compile(r"[<\[◁/|_:](?:think|thought|reason|reflect|scratch)", re.IGNORECASE)


def _without_thoughts(text: str) -> tuple[str, bool]:
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
    for tag in _THOUGHT_TAG.finditer(text):
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


_TOKEN = re.compile(r"<[|｜][^<>|｜]{1,40}[|｜]>|</?s>|<eos>|<(?:start|end)_of_turn>|\[/?INST\]")
_TURN = re.compile(  # a token with which the turn of the model begins
    r"<\|im_start\|>assistant\s|<\|start_header_id\|>assistant<\|end_header_id\|>|<\|(?:assistant|Assistant)\|>"
    r"|<｜Assistant｜>|<start_of_turn>model\s|\[/INST\]|<\|CHATBOT_TOKEN\|>|<\|START_RESPONSE\|>"
    r"|<\|begin_of_solution\|>"
)


def _own_turn(text: str) -> str:
    """What the model says in its turn: behind the last token that begins it, before the next token."""
    if not _TOKEN.search(text):
        return text
    turns = list(_TURN.finditer(text))
    start = turns[-1].end() if turns else 0
    while (token := _TOKEN.match(text, start)) or text[start : start + 1].isspace():
        start = token.end() if token else start + 1
    end = _TOKEN.search(text, start)
    return text[start : end.start() if end else len(text)].strip()


_ANSWER_TAG = re.compile(r"<(answer|final_answer|response|output)>", re.IGNORECASE)


def _tagged(text: str) -> str:
    """What stands in the last `<answer>` of a text, or before a `</answer>` alone."""
    if "<" not in text:
        return text
    openings = list(_ANSWER_TAG.finditer(text))
    if not openings:
        return re.sub(r"\s*</answer>.*\Z", "", text, flags=re.DOTALL | re.IGNORECASE)
    start = openings[-1].end()
    end = text.find("</", start)
    return text[start : end if end >= 0 else len(text)].strip()


_ASKED_AGAIN = re.compile(  # a label and a question
    r"(?<=\S)\s++(?:#{1,6} |\*\*|[-*] )?+(?:[^\W\d_]\w{0,20})(?: ?\d{1,3})?(?:\*\*)?\s?[:：](?:\*\*)?\s*+"
    r"(?![\"“„«])[^\n?？:：]{3,300}[?？؟]"
)
_NEXT_TURN = re.compile(
    r"(?<=\S)[^\S\n]*+\n\s*+(?:#{1,6} |\*\*)?+(?:Q|Question|Human|User|Assistant|System|Instruction|Input|Context"
    r"|Passage)(?: ?\d{1,3})?(?:\*\*)?\s?:",
)


def _before_next_turn(text: str) -> str:
    """What stands before a further turn."""
    turn = _NEXT_TURN.search(text)
    return text[: turn.start()].rstrip() if turn else text


def _before_next_question(text: str) -> str:
    """What stands before a further question or turn, which base models go on with."""
    if ":" not in text and "：" not in text:
        return text
    cuts = [found.start() for pattern in (_ASKED_AGAIN, _NEXT_TURN) if (found := pattern.search(text))]
    return text[: min(cuts)].rstrip() if cuts else text


_ECHO = re.compile(r"\s*+(?:#{1,6} |\*\*)?+(?:Q|Question)\s?\d*+\s?[:：][^\n]{3,500}?[?？\n]\s*+(?=\S)", re.IGNORECASE)


def _behind_echo(text: str) -> str:
    """What follows the question where the model repeats it first."""
    echo = _ECHO.match(text)
    return text[echo.end() :] if echo else text


_REMARK = re.compile(
    r"(?<=\S)\s++(?:\*\*)?(?:Explanation|Reasoning|Rationale|Confidence(?: score| level)?|Justification)(?:\*\*)?\s?:",
    re.IGNORECASE,
)


def _before_remark(text: str) -> str:
    """The answer before a labelled explanation or confidence."""
    remark = _REMARK.search(text) if ":" in text else None
    return text[: remark.start()] if remark and not _REMARK.match(f"x {text.lstrip()}", 1) else text


_FENCE = re.compile(r"\s*+```[\w-]*+[^\S\n]*+\n(.*?)\n?\s*+(?:```\s*+\Z|\Z)", re.DOTALL)


def _unfenced(text: str) -> str:
    """What stands in the code fence that is the whole of a text."""
    fence = _FENCE.fullmatch(text) if "```" in text else None
    return fence[1] if fence and "```" not in fence[1] else text


_WRAPPER = re.compile(r"\\(?:text|textbf|mathrm|mathbf|textit)\s*+\{([^{}]*+)\}")


def _boxed(text: str) -> str:
    r"""What stands in the last `\boxed{}` of a text, without the commands that set it as text."""
    start = text.rfind("\\boxed{") if "\\" in text else -1
    if start < 0:
        return text
    start += len("\\boxed{")
    depth = 1
    for place in range(start, min(len(text), start + 500)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return _WRAPPER.sub(r"\1", text[start:place]).strip()
    return text


# Words that stand before an answer with a colon: what the answer is, or what kind of thing it is.
_LABELS = re.compile(
    r"(?:the )?(?:(?:final|short|best|correct|my|your|full|likely|predicted|exact|approximate|current) )*"
    r"(?:answers?|ans|a|guess|response|output|result|prediction|solution|conclusion"
    r"|location|place|birth ?place|death ?place|(?:place|date|year|city|country|town|state) of (?:birth|death)"
    r"|birth ?date|city|town|village|country|state|region|province|county|capital|continent|nationality|citizenship"
    r"|headquarters|date|year|month|day|time|century|decade|name|person|author|writer|composer|director|producer"
    r"|performer|artist|creator|founder|owner|actor|actress|singer|spouse|father|mother|child|genre|language"
    r"|occupation|profession|position|religion|school|university|company|organi[sz]ation|publisher|manufacturer"
    r"|record label|label|film|book|song|number|amount|quantity|population|height|length|age)",
    re.IGNORECASE,
)


def is_label(text: str) -> bool:
    """Whether a text is such a label: `Location`, `Final answer`, `Place of birth`."""
    return _LABELS.fullmatch(text.strip()) is not None


def _field_of_json(text: str) -> str:
    """The one string in a text of JSON, or the one under the key of an answer."""
    bare = text.strip()
    if bare[:1] not in ("{", '"', "["):
        return text
    try:
        value = json.loads(bare, parse_int=str, parse_float=str)  # numbers as they are written
    except (ValueError, RecursionError):
        return text
    if isinstance(value, dict):
        named = [item for key, item in value.items() if is_label(key.replace("_", " "))]
        values = named if named else list(value.values())
        value = values[0] if len(values) == 1 else text
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value if isinstance(value, str) else text


_FINAL = re.compile(
    r"(?:\A|\n)\s*+(?:#{1,6} |\*\*)?+(?:(?:the|my) )?(?:final|short|correct|best) answer(?: is)?\s?"
    r"(?:\*\*)?\s?[:：](?:\*\*)?\s*+(?=\S)|\n\s*+(?:#{1,6} |\*\*)?+answer(?:\*\*)?\s?[:：](?:\*\*)?\s*+(?=\S)"
    r"|\n####\s++(?=\S)",
    re.IGNORECASE,
)


def _final_answer(text: str) -> str:
    """What follows the last "Final answer:" of a text that reasons first."""
    finals = list(_FINAL.finditer(text))
    return text[finals[-1].end() :] if finals else text


_LABEL = re.compile(r"\s*+(?:\*\*|__)?([^\W\d_][\w' -]{0,40}?)(?:\*\*|__)?\s?[:：](?:\*\*|__)?\s*+(?=\S)")
_OPTION = re.compile(  # of one alone
    r"\s*+(?:option )?\(?[A-J]\)\s*+(?=\S)(?!.*\s\(?[B-J]\)\s)", re.IGNORECASE | re.DOTALL
)


def _unlabelled(text: str) -> str:
    """A text without the label or the letter of an option that it begins with."""
    for _ in range(3):
        label = _LABEL.match(text)
        if label and is_label(label[1]):
            text = text[label.end() :]
        elif option := _OPTION.match(text):
            text = text[option.end() :]
        else:
            break
    return text


RULES: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("turn", _own_turn),
    ("tag", _tagged),
    ("echo", _behind_echo),
    ("next-question", _before_next_question),
    ("boxed", _boxed),
    ("fence", _unfenced),
    ("json", _field_of_json),
    ("final-answer", _final_answer),
    ("remark", _before_remark),
    ("label", _unlabelled),
)
"""The rules behind the one for thoughts, in their order; each takes a text and gives what it keeps."""
