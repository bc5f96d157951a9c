"""Verdicts of several judges on the same items, pooled by majority and mean; and their agreement.

A judge may favour answers of its own model family (Sorodoc et al. 2025, limitations); pooling several judges, or
people, reduces that bias.
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
from granola.evidence.verdict_rows import TASKS, VerdictRows
from granola.scoring.statistics import kappa

POOLED = "pooled by majority"  # prefix of the judge in pooled rows
# By field: labels against an item, then labels for it, each with the worst first.
LABELS: Mapping[str, Sequence[Sequence[Any]]] = {
    **{question.field: question.sides for task in TASKS for question in task.questions},
    "deflects": ((False,), (True,)),
    "supported": ((False,), (True,)),
}
_LACKING: Mapping[str, str] = {
    question.field: question.lacking or question.field for task in TASKS for question in task.questions
}
Places = dict[tuple[Any, ...], Any]  # verdicts by their key path in a row


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgePool:
    """`rows`: pooled verdicts, as if from one judge. `agreement`: by field of a label.

    `n`, `agree` (the share of unanimous labels, in [0, 1]) and `kappa`, over labels that all judges gave; `kappa` is
    None where chance agreement is 1.
    """

    judges: Sequence[str]
    rows: Sequence[dict[str, Any]]
    agreement: Mapping[str, Mapping[str, float | None]]


def pool_judges(given: VerdictRows) -> JudgePool:
    """Pool verdicts over the items that all judges have judged; a judge is identified by name, else by file.

    Raises UsageError for a single judge, a judge with two verdicts on an item, and judges of different items.
    """
    task = given.task
    judges: dict[str, dict[tuple[Any, ...], Row]] = {}
    for row in given.rows:
        judge = str(row.get(task.judge) or row.get("file"))
        # A pooled row would count its judges twice.
        if judge.startswith(POOLED):
            raise UsageError(f"{row.get('file')} has pooled verdicts; give the verdicts of single judges")
        key = tuple(row.get(name) for name in ("system", "id", "candidate"))
        # A replay of a judge is the same judge, so its votes must not count twice.
        if key in judges.setdefault(judge, {}):
            raise UsageError(f"{judge} judged {row['id']!r} twice; a judge, with its replays, counts once")
        judges[judge][key] = row
    if len(judges) < 2:
        raise UsageError("all verdicts are of one judge; give verdicts of two or more on the same items")
    first = next(iter(judges.values()))
    together = [
        [rows[key] for rows in judges.values()] for key in first if all(key in rows for rows in judges.values())
    ]
    if not together:
        raise UsageError("no item was judged by all; judges are pooled over the same systems and questions")
    rows = [_pool_item(task, own, list(judges)) for own in together]
    return JudgePool(judges=list(judges), rows=rows, agreement=_agreement(together))


def _verdicts(row: Row) -> Places:
    """Labels and scores of an item and of its sentences."""
    verdicts: Places = {(name,): row[name] for name in LABELS if name in row}
    if verdicts.get(("deflects",)) is not None:  # the row has the name of the rule; pooling needs yes or no
        verdicts["deflects",] = bool(row["deflects"])
    verdicts |= {("scores", name): number for name, number in row.get("scores", {}).items()}
    for at, sentence in enumerate(row.get("sentences") or ()):
        verdicts |= {("sentences", at, name): sentence[name] for name in sentence if name not in ("text", "piece")}
    return verdicts


def _pool_item(task: EvidenceTask, rows: Sequence[Row], judges: Sequence[str]) -> dict[str, Any]:
    """One pooled item: the majority label (the worse on a tie) and the mean of scores."""
    given = [
        [*(row.get(name) for name in task.texts), *map(itemgetter("text"), row.get("sentences") or ())] for row in rows
    ]
    for judge, theirs in zip(judges, given, strict=True):
        # Verdicts on different texts cannot be combined.
        if theirs != given[0]:
            raise UsageError(f"{judges[0]} and {judge} judged different texts or sentences of {rows[0]['id']!r}")
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
    # fields that make sense for a single judge
    own = {"unjudged": lacking, "reply": "", "failed": "", "facts": [], "notes": []}
    pooled |= {name: value for name, value in own.items() if name in pooled}
    pooled = {name: value for name, value in pooled.items() if name not in ("unclear", "file", "settings")}
    return pooled | {task.judge: f"{POOLED}: {' '.join(f'[{judge}]' for judge in judges)}"}


def _majority(votes: Sequence[Any], sides: Sequence[Sequence[Any]]) -> Any:
    """The most frequent label on the more frequent side (for or against); None without votes."""
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
    return {
        name: {
            "n": len(own), "agree": fmean(len(set(votes)) == 1 for votes in own),
            "kappa": None if math.isnan(beyond_chance := kappa(own)) else beyond_chance,
        }
        for name, own in labels.items()
    }  # fmt: skip
