"""Model output reduced to the answer that is judged. The wording of the answer is kept; everything else is cut.

Raw output contains more than an answer: thoughts, the tokens of a chat template, further questions that a base model
invents, labels, code fences, boxes, JSON. Each is cut by a rule with a name; a reply lists the rules that cut.
"""

from __future__ import annotations

import json
import re
from ast import literal_eval
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from abstraction.text.language.template_marks import first_model_turn, without_thoughts_and_if_cut
from granola.replies.refusals import refusal_in_any_language

UNFINISHED = "abstain:unfinished"
EMPTY = "abstain:empty"


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelReply:
    """One output: `raw` as received, `answer` as judged, the rules that made the `cuts` between them in order.

    `unfinished` where the output ends within a thought: then there is no answer.
    """

    raw: str
    answer: str
    cuts: tuple[str, ...] = ()
    unfinished: bool = False

    def abstention_rule(self, language: str = "en") -> str | None:
        """The rule by which the answer declines (`granola.replies.refusals`), None where it answers.

        A thought without an end gives `abstain:unfinished`, an empty answer `abstain:empty`.
        """
        if self.unfinished:
            return UNFINISHED
        if not self.answer.strip():
            return EMPTY
        declined = refusal_in_any_language(self.answer, language)
        return declined.rule if declined is not None and not (declined.guess and declined.offer.strip()) else None


def read_reply(raw: str) -> ModelReply:
    """The answer in a raw output. Never raises, whatever the text; a plain answer comes back as it is."""
    if _PLAIN.fullmatch(raw) and "assistantfinal" not in raw and "ption" not in raw:
        return ModelReply(raw=raw, answer=raw)
    cuts = []
    text, unfinished = without_thoughts_and_if_cut(raw)
    if text != raw:
        cuts.append("thought")
    for name, rule in RULES:
        kept = rule(text)
        if kept != text and kept.strip():  # a rule that leaves nothing has misread the text
            cuts.append(name)
            text = kept
    answer = text.strip() if cuts else raw
    return ModelReply(raw=raw, answer=answer, cuts=tuple(cuts), unfinished=unfinished and not answer)


def text_without_wrapping(raw: str) -> str:
    """A judge's reply without thoughts, the tokens of a chat template, further turns, a box or a fence around it."""
    text, _ = without_thoughts_and_if_cut(raw)
    for rule in (
        first_model_turn,
        _answer_tag_content_or_whole_text,
        _text_before_next_turn,
        _box_content_or_whole_text,
        _fence_content_or_whole_text,
    ):
        kept = rule(text)
        text = kept if kept.strip() else text
    return text


def visible_text(text: str) -> str:
    """A long text as a reader sees it, without thoughts and the tokens of a chat template; paragraphs, lists and
    headings are kept.

    Empty where the text ends within a thought.
    """
    shown, unfinished = without_thoughts_and_if_cut(text)
    return "" if unfinished else first_model_turn(shown).strip()


_PLAIN = re.compile(r"[^<>\[\]{}\\`:：#◁|\n=)\"&']*+")  # without these nothing is cut


@cache
def _label_words_by_kind() -> dict[str, list[str]]:
    """The words of labels, in all languages, by the kind of label."""
    data: dict[str, list[str]] = json.loads((files("granola") / "replies" / "labels.json").read_text(encoding="utf-8"))
    return data


def _alternatives(*groups: str) -> str:
    """The alternatives of a pattern that matches any word of the groups, longer ones first."""
    words = {word for group in groups for word in _label_words_by_kind()[group]}
    return "|".join(re.escape(word).replace(r"\ ", " ") for word in sorted(words, key=lambda word: (-len(word), word)))


_FINAL_WORDS = rf"(?:(?:{_alternatives('final')})(?:\s|(?<=[\u3040-\u9fff])))*"
_BEGINS = r"(?:#{1,6} ?|\*\*|__|[-*] )?+"  # marks allowed before a label
_COLON = r"\s?(?:\*\*|__)?\s?[:：]\s?(?:\*\*|__)?\s*+"

_ANSWER_TAG = re.compile(r"<(answer|final_answer|response|output)>", re.IGNORECASE)


def _answer_tag_content_or_whole_text(text: str) -> str:
    """The content of the last `<answer>` of a text, or the text before a `</answer>` that nothing opens; else the
    whole text.
    """
    if "<" not in text:
        return text
    openings = list(_ANSWER_TAG.finditer(text))
    if not openings:
        return re.sub(r"\s*</answer>.*\Z", "", text, flags=re.DOTALL | re.IGNORECASE)
    start = openings[-1].end()
    end = text.find("</", start)
    return text[start : end if end >= 0 else len(text)].strip()


_QUESTION_WORDS = _alternatives("question")
_ASKED_AGAIN = re.compile(  # a label for questions, followed by a question, which base models go on to write
    rf"(?<=\S)\s++(?:#{{1,6}} |\*\*|[-*] )?+(?:{_QUESTION_WORDS})(?: ?\d{{1,3}})?(?:\*\*)?\s?[:：](?:\*\*)?\s*+"
    r"(?![\"“„«])[^\n?？؟]{3,300}[?？؟]",
    re.IGNORECASE,
)
_NEXT_TURN = re.compile(
    rf"(?<=\S)(?:[^\S\n]*+\n\s*+[-*_=]{{3,}})?[^\S\n]*+\n\s*+{_BEGINS}(?:"
    rf"(?:{_QUESTION_WORDS}|{_alternatives('turn')})(?: ?\d{{1,3}})?(?:\*\*)?\s?[:：]"
    # a numbered question follows an answer, not the start of the text or another question of the same thought
    r"|Q\.\s|(?<!\?\n)(?!1[.)])(?:\d{1,2}[.)]\s++)[^\n?]{3,200}\?[^\S\n]*+(?:\n|\Z))",
    re.IGNORECASE,
)


def _text_before_label_or_whole_text(pattern: re.Pattern[str], text: str) -> str:
    """The text before the first match of the pattern of a label; the whole text where nothing matches."""
    found = pattern.search(text) if ":" in text or "：" in text else None
    return text[: found.start()] if found else text


def _text_before_next_turn(text: str) -> str:
    """The text before a further turn of the conversation, which base models go on to write."""
    turn = _NEXT_TURN.search(text) if "\n" in text else None
    return text[: turn.start()] if turn else text


_ECHO = re.compile(  # the question, where the model repeats it first
    rf"\A\s*+{_BEGINS}(?:{_QUESTION_WORDS})\s?\d*+(?:\*\*)?\s?[:：][^\n]{{3,500}}?[?？؟\n]\s*+(?=\S)", re.IGNORECASE
)

_REMARK = re.compile(  # a labelled explanation, note or confidence
    rf"(?<=\S)\s++(?:{_BEGINS}(?:{_alternatives('remark')}){_COLON}|(?<=\n){_BEGINS}\(?(?:{_alternatives('remark_on_a_line')}){_COLON})",
    re.IGNORECASE,
)

_FENCE = re.compile(r"(?:\A|[^\n]*:[^\S\n]*+\n)\s*+```(?:[\w-]*+[^\S\n]*+\n)?(.*?)\n?\s*+(?:```\s*+\Z|\Z)", re.DOTALL)
_FENCE_END = re.compile(r"\s*+```\s*+\Z")


def _fence_content_or_whole_text(text: str) -> str:
    """The content of the code fence that is the whole of a text, or all of it after a line that ends with a colon."""
    if "```" not in text:
        return text
    if text.count("```") == 1 and not text.lstrip().startswith("```"):
        return _FENCE_END.sub("", text)
    fence = _FENCE.fullmatch(text)
    return fence[1] if fence and "```" not in fence[1] else text


_BOX = re.compile(r"\\(?:boxed|fbox)\s?\{")
_WRAPPER = re.compile(r"\\(?:text|textbf|mathrm|mathbf|textit)\s*+\{([^{}]*+)\}")


def _box_content_or_whole_text(text: str) -> str:
    r"""The content of the last `\boxed{}` of a text, without the commands that set it as text."""
    boxes = list(_BOX.finditer(text)) if "\\" in text else []
    if not boxes:
        return text
    start = boxes[-1].end()
    depth = 1
    for place in range(start, min(len(text), start + 500)):  # characters; a longer box is no answer
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return _WRAPPER.sub(r"\1", text[start:place]).strip()
    return text


# Labels before an answer, with a colon: "answer", or the kind of the thing asked for ("Location").
_LABELS = re.compile(
    rf"{_FINAL_WORDS}(?:{_alternatives('answer')})(?: (?:{_alternatives('final')}))?(?: is)?|option [a-j]|[a-j]"
    rf"|(?:(?:{_alternatives('kind')}|the|of|and)(?:['’]s)?(?:\s+|\Z))+"
    rf"|{_alternatives('kind_in_other_languages')}|assistant|bot|ai",
    re.IGNORECASE,
)


def is_label(text: str) -> bool:
    """Whether a text is the label of an answer: `Location`, `Final answer`, `Place of birth`, `Respuesta`."""
    return _LABELS.fullmatch(text.strip()) is not None


_HALF_A_PAIR = re.compile("[\ud800-\udfff]")  # JSON escapes can contain half of a surrogate pair


def _answer_in_json_or_whole_text(text: str) -> str:
    """The only string in a text that is JSON or a Python literal, or the one under the key of an answer; else the
    whole text.
    """
    bare = text.strip()
    if bare[:1] not in ("{", '"', "[", "'") or bare[-1:] not in ("}", '"', "]", "'"):
        return text
    value: object = None
    try:
        value = json.loads(bare, parse_int=str, parse_float=str)  # numbers as they are written
    except (ValueError, RecursionError):
        if bare[0] == "{":
            try:
                value = literal_eval(bare)
            except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
                return text
    for _ in range(4):  # values are nested at most four deep
        if isinstance(value, dict):
            named = [item for key, item in value.items() if is_label(str(key).replace("_", " "))]
            values = named if named else list(value.values())
            value = values[0] if len(values) == 1 else None
        elif isinstance(value, list) and len(value) == 1:
            value = value[0]
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    return value if isinstance(value, str) and not _HALF_A_PAIR.search(value) else text


_FINAL = re.compile(
    rf"[^\S\n]*+(?:{_BEGINS}(?:(?:{_alternatives('final')})\s?)*(?:{_alternatives('answer')})(?: is)?{_COLON}(?=\S)"
    rf"|(?:#{{1,6}} ?|\*\*){_FINAL_WORDS}(?:{_alternatives('answer')})(?:\*\*)?[^\S\n]*+\n\s*+(?=\S))|####\s++(?=\S)",
    re.IGNORECASE,
)
_LINE = re.compile(r"^(?=\S)|^(?=[^\S\n]{1,8}\S)", re.MULTILINE)


def _text_after_final_answer_or_whole_text(text: str) -> str:
    """The text after the last "Final answer:", or after such a heading, in a text that reasons first; else the whole
    text.
    """
    end = -1
    for line in _LINE.finditer(text):
        if (final := _FINAL.match(text, line.start())) is not None:
            end = final.end()
    return text if end < 0 else text[end:]


_OFFERED = re.compile(r"(?<![^\s*])(?:[Oo]ption |[Cc]hoice )?\(?([A-J])(?:[).:]| is| =)(?:\*\*)?\s+")
_CHOSEN = re.compile(
    rf"(?i:\b(?:{_alternatives('answer')}|choose|chose|pick|select|go(?:ing)? with|(?:choice|option)(?= is|:))\b"
    r"(?:\s*\b(?:is|be|would|must|the|option|letter|most likely)\b|[\s:：*(])*)([A-J])(?![\w'’]|, [A-J]| and)"
)


def _chosen_option_or_whole_text(text: str) -> str:
    """The text of the option whose letter is chosen last, in a text that lists several; the whole text where none is
    chosen.
    """
    if not any(second in text for second in ("B)", "B.", "B:", "B is", "B =")):
        return text  # most texts list no options; this search is faster
    offers = list(_OFFERED.finditer(text))
    remark = _REMARK.search(text)  # a remark on confidence may use letters too
    if len({offer[1] for offer in offers}) < 2 or (remark and remark.end() <= offers[0].start()):
        return text
    if not (choices := list(_CHOSEN.finditer(text, offers[1].end()))):
        return text
    choice = choices[-1]
    sentence = max(text.rfind(sign, 0, choice.start()) for sign in (". ", "\n", "? ", "! "))
    ends = sorted({offer.start() for offer in offers} | {sentence, len(text)})
    for offer in reversed(offers):
        if offer[1] == choice[1]:
            end = next(end for end in ends if end > offer.start())
            return text[offer.end() : end].partition("\n")[0].rstrip(" ,;.*")
    return text


LABEL_SPAN = 60  # characters at most of a label with its marks
_LABEL = re.compile(rf"\s*+{_BEGINS}([^\W\d_][\w '’-]{{0,40}}?){_COLON}(?=\S)")
_OPTION = re.compile(  # the letter of an option, where the text has no other options
    r"\s*+(?:option )?\(?[A-J]\)\s*+(?=\S)(?!.*\s\(?[B-J]\)\s)", re.IGNORECASE | re.DOTALL
)


def _without_label(text: str) -> str:
    """A text without the label or the letter of an option that it begins with."""
    for _ in range(3):  # several labels in a row: "Final answer: Location: Paris"
        label = _LABEL.match(text) if ":" in text[:LABEL_SPAN] or "：" in text[:LABEL_SPAN] else None
        if label and is_label(label[1]):
            text = text[label.end() :]
        elif ")" in text[:LABEL_SPAN] and (option := _OPTION.match(text)):
            text = text[option.end() :]
        else:
            break
    return text


RULES: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("turn", first_model_turn),
    ("tag", _answer_tag_content_or_whole_text),
    ("echo", lambda text: _ECHO.sub("", text)),
    ("next-question", lambda text: _text_before_next_turn(_text_before_label_or_whole_text(_ASKED_AGAIN, text))),
    ("boxed", _box_content_or_whole_text),
    ("fence", _fence_content_or_whole_text),
    ("json", _answer_in_json_or_whole_text),
    ("option", _chosen_option_or_whole_text),
    ("final-answer", _text_after_final_answer_or_whole_text),
    ("remark", lambda text: _text_before_label_or_whole_text(_REMARK, text)),
    ("label", _without_label),
)
"""The rules after the one for thoughts, in order; each takes a text and returns the part to keep."""
