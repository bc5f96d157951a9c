"""Several judges of the same items: pooled by majority and mean, and how far they agree.

One judge may favour answers of its own family (Sorodoc et al. 2025, limitations); pooled judges, or people, are a cure.
"""

from __future__ import annotations

import copy
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from statistics import fmean
from typing import Any

from granola.errors import UsageError
from granola.evidence.evidence_task import EvidenceTask, Row
from granola.evidence.task_list import TASKS
from granola.evidence.verdict_rows import VerdictRows
from granola.scoring.statistics import kappa

POOLED = "pooled by majority"  # what the name of the judge of a pooled row begins with
# By field, the labels that count against an item, then those for it, the worst first.
LABELS: Mapping[str, Sequence[Sequence[Any]]] = {
    **{question.field: question.sides for task in TASKS for question in task.questions},
    "deflects": ((False,), (True,)),
    "supported": ((False,), (True,)),
}
_LACKING: Mapping[str, str] = {
    question.field: question.lacking or question.field for task in TASKS for question in task.questions
}
Places = dict[tuple[Any, ...], Any]  # what a judge says, by the keys that lead to it in a row


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgePool:
    """`rows` as if of one judge; `agreement` by field of a label.

    Agreement has `n`, `agree` (the share on which all agree) and `kappa`, over the labels that all judges gave;
    `kappa` is None where chance alone is certain.
    """

    judges: Sequence[str]
    rows: Sequence[dict[str, Any]]
    agreement: Mapping[str, Mapping[str, float | None]]


def pool_judges(given: VerdictRows) -> JudgePool:
    """Pool verdicts over the items that every judge has judged; a judge is known by its name, else by its file.

    Raises UsageError for one judge alone, one that judged an item twice, and judges of different items.
    """
    task = given.task
    judges: dict[str, dict[tuple[Any, ...], Row]] = {}
    for row in given.rows:
        judge = str(row.get(task.judge) or row.get("file"))
        if judge.startswith(POOLED):
            raise UsageError(f"{row.get('file')} is the outcome of pooling, no judge of its own")
        key = tuple(row.get(name) for name in ("system", "id", "candidate"))
        if key in judges.setdefault(judge, {}):
            raise UsageError(f"{judge} judged {row['id']!r} twice; a judge, with its replays, counts once")
        judges[judge][key] = row
    if len(judges) < 2:
        raise UsageError("these are of one judge; give verdicts of two or more over the same items")
    first = next(iter(judges.values()))
    together = [
        [rows[key] for rows in judges.values()] for key in first if all(key in rows for rows in judges.values())
    ]
    if not together:
        raise UsageError("no item was judged by all; judges are pooled over the same systems and questions")
    rows = [_pooled(task, own, list(judges)) for own in together]
    return JudgePool(judges=list(judges), rows=rows, agreement=_agreement(together))


def _verdicts(row: Row) -> Places:
    """Labels and numbers of the item and of its sentences."""
    verdicts: Places = {(name,): row[name] for name in LABELS if name in row}
    if verdicts.get(("deflects",)) is not None:  # by which rule, says the row
        verdicts["deflects",] = bool(row["deflects"])
    verdicts |= {("scores", name): number for name, number in row.get("scores", {}).items()}
    for at, sentence in enumerate(row.get("sentences") or ()):
        verdicts |= {("sentences", at, name): sentence[name] for name in sentence if name not in ("text", "piece")}
    return verdicts


def _pooled(task: EvidenceTask, rows: Sequence[Row], judges: Sequence[str]) -> dict[str, Any]:
    """One item as most judges see it; of as many votes the worse label, and numbers by the mean."""
    given = [
        [*(row.get(name) for name in task.texts), *map(itemgetter("text"), row.get("sentences") or ())] for row in rows
    ]
    for judge, theirs in zip(judges, given, strict=True):
        if theirs != given[0]:
            raise UsageError(f"{judges[0]} and {judge} judged another text or other sentences of {rows[0]['id']!r}")
    pooled: dict[str, Any] = copy.deepcopy(dict(rows[0]))
    every, lacking = [_verdicts(row) for row in rows], dict[str, str]()
    for place in {place: None for own in every for place in own}:
        votes = [own[place] for own in every if own.get(place) is not None]
        value = _majority(votes, LABELS[place[-1]]) if place[-1] in LABELS else fmean(votes) if votes else None
        if value is None:
            name = _LACKING.get(place[-1], place[-1])
            reasons = [row["unjudged"][name] for row in rows if name in row.get("unjudged", {})]
            lacking[name] = next(iter(reasons), "no judge told")
        elif place == ("deflects",):
            value = next(row["deflects"] for row in rows if row["deflects"]) if value else ""
        parent: Any = pooled
        for key in place[:-1]:
            parent = parent[key]
        parent[place[-1]] = value
    own = {"unjudged": lacking, "reply": "", "failed": "", "facts": [], "notes": []}  # not of one judge any more
    pooled |= {name: value for name, value in own.items() if name in pooled}
    pooled = {name: value for name, value in pooled.items() if name not in ("unclear", "file", "settings")}
    return pooled | {task.judge: f"{POOLED}: {' '.join(f'[{judge}]' for judge in judges)}"}


def _majority(votes: Sequence[Any], sides: Sequence[Sequence[Any]]) -> Any:
    """The label with most votes on the side with most votes; None where nobody votes."""
    if not votes:
        return None
    counts = Counter(votes)
    side = max(sides, key=lambda labels: sum(counts[label] for label in labels))
    return max(side, key=lambda label: counts[label])


def _agreement(together: Sequence[Sequence[Row]]) -> dict[str, dict[str, float | None]]:
    labels: dict[str, list[tuple[str, ...]]] = {}
    for rows in together:
        first, *others = map(_verdicts, rows)
        for place, label in first.items():
            votes = (label, *(other.get(place) for other in others))
            if place[-1] in LABELS and None not in votes:
                labels.setdefault(_LACKING.get(place[-1], place[-1]), []).append(tuple(map(str, votes)))
    agreement: dict[str, dict[str, float | None]] = {}
    for name, own in labels.items():
        beyond_chance = kappa(own)
        agreement[name] = {
            "n": len(own), "agree": fmean(len(set(votes)) == 1 for votes in own),
            "kappa": None if math.isnan(beyond_chance) else beyond_chance,
        }  # fmt: skip
    return agreement
