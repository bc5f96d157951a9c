"""Reads questions with passages: GaRAGe's rows and rows of one's own.

One's own rows have `id`, `question`, `passages` (each a text, or {"id", "text", "date"?, "provider"?, "private"?,
"relevant"?, "label"?}), and where there are any `question_date`, `reference`, `reference_citations`, `deflection`,
`tags`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from abstraction.faults import OnReject, excerpt
from abstraction.files.records import Record, read_records
from abstraction.files.row_reading import accepted, each_once
from granola.errors import SampleError
from granola.grounding.citation_markers import deflects
from granola.grounding.grounded_samples import GroundedSample, GroundingPassage
from granola.grounding.sample_fields import (
    LONGEST,
    both_steps,
    count_odd,
    is_age,
    is_cited,
    is_date,
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

# GaRAGe's rows (Sorodoc et al. 2025): parallel lists of labels, and passages whose text stands under `cite_N`.
#
# A passage of the published file is {"age", "date", "provider", "cite_3": text}; texts with marks before them, as its
# README tells them, are read too.

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


# Rows of one's own.


def read_grounded(
    path: Path | str,
    *,
    on_reject: OnReject | None = None,
    unknown: Counter[str] | None = None,
) -> Iterator[GroundedSample]:
    """The questions of a file, GaRAGe's or one's own, told row by row.

    Bad and repeated rows go to `on_reject`, else they raise. `unknown` counts what was not understood, in words that
    say what it counts as: labels that are none of the known ones or contradict each other, and heads of passages.
    """

    def read(record: Record) -> GroundedSample:
        return (garage_sample if "grounding" in record.data else _plain_sample)(record.data, unknown)

    return accepted(each_once(read_records(path), read), on_reject)


def _plain_sample(data: Mapping[str, Any], unknown: Counter[str] | None) -> GroundedSample:
    passages = tuple(_passage(one, at, unknown) for at, one in enumerate(passage_list(data, "passages"), 1))
    known = {one.id for one in passages}
    if len(known) < len(passages):
        raise SampleError("two passages have one id")
    tags = data.get("tags") or {}
    if not isinstance(tags, Mapping):
        raise SampleError(f'"tags" is {excerpt(repr(tags))}; expected an object')
    cited = data.get("reference_citations")
    if cited is not None and not isinstance(cited, list):
        raise SampleError(f'"reference_citations" is {excerpt(repr(cited))}; expected a list of ids')
    if strange := [str(one) for one in cited or () if str(one) not in known]:
        raise SampleError(f'"reference_citations" names {excerpt(strange[0])}, which is no passage\'s id')
    deflection = data.get("deflection")
    if deflection is not None and not isinstance(deflection, bool):
        raise SampleError(f'"deflection" is {excerpt(repr(deflection))}; expected true or false')
    return GroundedSample(
        id=text_field(data, "id"),
        question=text_field(data, "question"),
        passages=passages,
        question_date=optional_text(data, "question_date"),
        reference=optional_text(data, "reference") or "",
        cited=None if cited is None else tuple(map(str, cited)),
        deflection=deflection is True,
        tags={str(key)[:60]: str(value)[:200] for key, value in tags.items() if value not in (None, "")},
    )


def _passage(given: object, number: int, unknown: Counter[str] | None) -> GroundingPassage:
    if isinstance(given, str) and given.strip():
        return GroundingPassage(id=str(number), text=given[:LONGEST])
    if not isinstance(given, Mapping):
        raise SampleError(f"passage {number} is {excerpt(repr(given))}; expected a text or an object with text")
    label, relevant, private = label_word(given.get("label")), given.get("relevant"), given.get("private")
    for name, value in (("relevant", relevant), ("private", private)):
        if value is not None and not isinstance(value, bool):
            raise SampleError(f'passage {number}: "{name}" is {excerpt(repr(value))}; expected true or false')
    relevant, label = both_steps(relevant, label, unknown)
    provider = optional_text(given, "provider")
    return GroundingPassage(
        id=str(number) if given.get("id") in (None, "") else text_field(given, "id"), text=text_field(given, "text"),
        date=optional_text(given, "date"), age=optional_text(given, "age"), provider=provider, relevant=relevant,
        label=label, private=is_private(provider) if private is None else private,
    )  # fmt: skip
