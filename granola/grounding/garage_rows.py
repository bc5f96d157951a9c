"""GaRAGe's rows (Sorodoc et al. 2025): parallel lists of labels, and passages whose text stands under `cite_N`.

A passage of the published file is {"age", "date", "provider", "cite_3": text}; texts with marks before them, as its
README tells them, are read too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from abstraction.formats.records import excerpt
from granola.errors import SampleError
from granola.grounding.deflections import deflects
from granola.grounding.grounded_samples import GroundedSample, GroundingPassage
from granola.grounding.passage_ages import is_age, is_date
from granola.grounding.sample_fields import (
    LONGEST,
    both_steps,
    count_odd,
    is_cited,
    is_private,
    is_provider,
    is_untold,
    label_word,
    optional_text,
    parallel_list,
    passage_list,
    relevant_by,
    text_field,
    told_text,
    validation,
)

_MARK = re.compile(
    r"\s{0,9}(?:\[(?P<square>[^\]\[\n]{1,240})\]|【(?P<wide>[^】【\n]{1,240})】|\((?P<round>[^()\n]{1,240})\))\s{0,9}"
)
_KEYED = re.compile(r"(?P<key>[A-Za-z][A-Za-z _-]{0,39}?)\s{0,3}[:=]\s{0,3}(?P<value>[^\n]{0,200})")
_NAMES = ("provider", "source", "date", "age")
_LINE = re.compile(
    r"\s{0,9}(?P<key>provider|source|(?:passage )?(?:date|age))[:=] {0,3}(?P<value>[^\n]{0,200})\n", re.IGNORECASE
)
_BODY = re.compile(r"\s{0,9}(?:text|passage|content): {0,3}", re.IGNORECASE)
_IN_OBJECT = {
    "text": ("text", "passage", "content"), "id": ("id", "marker", "citation", "citation_marker"),
    "date": ("date", "passage_date"), "age": ("age", "passage_age"), "provider": ("provider", "source"),
}  # fmt: skip
_CITE = re.compile(r"cite_?\d{1,4}", re.IGNORECASE)
MARKS = 8  # marks before a text, at most


def garage_sample(data: Mapping[str, Any], unknown: Counter[str] | None) -> GroundedSample:
    """The question of a row. Raises SampleError.

    A question is to be declined where its human answer is empty or deflects. `answer_validate` tells whether a second
    annotator validated that answer, by the data's README, and is a tag.
    """
    given = passage_list(data, "grounding")
    heads = [_headed(passage, unknown) for passage in given]
    marks = [head.get("id") for head in heads]
    named = None not in marks and len(set(marks)) == len(marks)
    relevant = parallel_list(data, "evidence_relevant", len(given))
    correct = parallel_list(data, "evidence_correct", len(given))
    cited = parallel_list(data, "evidence_cited", len(given))
    steps = [
        both_steps(relevant_by(label_word(first), unknown), label_word(second), unknown)
        for first, second in zip(relevant, correct, strict=True)
    ]
    passages = tuple(
        GroundingPassage(
            id=str(head["id"] if named else at + 1), text=head["text"] or "", date=head.get("date"),
            age=head.get("age"), provider=head.get("provider"), private=is_private(head.get("provider")),
            relevant=steps[at][0], label=steps[at][1],
        )
        for at, head in enumerate(heads)
    )  # fmt: skip
    answer = optional_text(data, "answer_generate") or ""
    return GroundedSample(
        id=text_field(data, "sample_id"),
        question=text_field(data, "question"),
        passages=passages,
        question_date=optional_text(data, "question_date"),
        reference=answer,
        related=optional_text(data, "answer_related_info") or optional_text(data, "related_info") or "",
        comments=optional_text(data, "comments") or "",
        cited=None
        if data.get("evidence_cited") is None
        else tuple(passage.id for passage, mark in zip(passages, cited, strict=True) if is_cited(mark, unknown)),
        deflection=deflects(answer, [passage.id for passage in passages]) is not None,
        tags={**_tags(data), **({} if (word := validation(data, unknown)) is None else {"answer_validate": word})},
    )


def _tags(data: Mapping[str, Any]) -> dict[str, str]:
    tags = {}
    for key, value in data.items():
        if key in ("question", "question_date") or not isinstance(value, str | int) or str(value).strip() == "":
            continue
        if key in ("question_tag", "topic_tag"):
            tags[key] = str(value)[:200]
        elif key.startswith("question_"):
            tags[key.removeprefix("question_")] = str(value)[:200]
    found = time_sensitivity(tags.get("type"), tags.get("sensitive"))
    return tags | ({"time_sensitivity": found} if found else {})


def time_sensitivity(kind: str | None, sensitive: str | None) -> str | None:
    """fast-changing, slow-changing or static, by `question_type` and `question_sensitive`; None where neither tells."""
    word = (kind or "").casefold()
    for name in ("fast", "slow"):
        if name in word:
            return f"{name}-changing"
    if any(name in word for name in ("static", "evergreen")):
        return "static"
    return "static" if sensitive is not None and sensitive.strip().casefold() in ("no", "false", "0") else None


def _headed(given: object, unknown: Counter[str] | None) -> dict[str, str | None]:
    """`text`, and as far as told `id`, `date`, `age` and `provider` of a passage, an object or a text with marks."""
    if isinstance(given, Mapping):
        fields = {
            name: next((value for key in keys if (value := told_text(given, key))), None)
            for name, keys in _IN_OBJECT.items()
        }
        cite = next((key for key in given if isinstance(key, str) and _CITE.fullmatch(key)), None)
        if cite is not None and fields["text"] is None:
            fields |= {"text": optional_text(given, cite), "id": cite}
        text = fields.pop("text")
        if text is None:
            raise SampleError(f"a passage has no text under cite_1 and so on, nor under text: {excerpt(repr(given))}")
        return {**_marked(text, unknown), **{name: value for name, value in fields.items() if value is not None}}
    if not isinstance(given, str) or not given.strip():
        raise SampleError(f"a passage is {excerpt(repr(given))}; expected a text")
    return _marked(given, unknown)


def _marked(given: str, unknown: Counter[str] | None) -> dict[str, str | None]:
    """A text with marks before it: [cite_1] [Age: 6 days] (Provider: web), or their values alone, or lines of them.

    A mark in square brackets behind the first that is none of these is text, and counted in `unknown`.
    """
    head: dict[str, str] = {}
    rest = given[:LONGEST]
    for number in range(MARKS):
        match = _MARK.match(rest)
        if match is not None:
            mark = str(match["square"] or match["wide"] or match["round"]).strip()
            name, value = _mark_of(mark, keyed_only=match["round"] is not None and not head)
            if name is None and number == 0 and (match["round"] is None or _CITE.fullmatch(mark)):
                name, value = "id", mark
            if name is None:
                if number and match["round"] is None:
                    count_odd(unknown, f"head [{mark[:40]}] (left in the text)")
                break
            head.setdefault(name, value)
        else:
            match = _LINE.match(rest)
            if match is None:
                break
            head.setdefault(_name(match["key"]) or "", match["value"].strip())
        rest = rest[match.end() :]
    body = _BODY.match(rest) if head else None
    text = rest[body.end() :] if body else rest
    if not text.strip():
        raise SampleError(f"a passage has no text: {excerpt(repr(given))}")
    return {**{name: told_text(head, name) for name in head}, "text": text}


def _mark_of(mark: str, *, keyed_only: bool) -> tuple[str | None, str]:
    """What a mark tells, by its key or by what its value looks like, and the value."""
    keyed = _KEYED.fullmatch(mark)
    if keyed is not None and (name := _name(keyed["key"])) is not None:
        return name, keyed["value"].strip()
    if keyed_only:
        return None, mark
    if is_provider(mark):
        return "provider", mark
    if is_age(mark):
        return "age", mark
    if is_date(mark):
        return "date", mark
    return ("", mark) if is_untold(mark) else (None, mark)


def _name(key: str) -> str | None:
    named = next((name for name in _NAMES if name in key.casefold()), None)
    return "provider" if named == "source" else named
