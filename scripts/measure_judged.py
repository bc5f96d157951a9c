"""The tiers that were read one by one, as a regression: faults mended, faults left, good tiers lost.

    python scripts/measure_judged.py SNAPSHOT [--data ../shared/data] [--sheet 350]

The sheet of 500 was read once; in that of 350 a fault is one that either of two readers marked, and `of both` counts
those that both did. Each judged tier is looked for in the ladder that is made today of the same question and answer. It
is `there` where a level says it by its text, `alias` where by another name only; `reworded` where a container worded as
the kind asked for says it ("a country in Asia" for "Asia"); `unlinked` where the answer has no ladder now; otherwise
`gone`. Last, what the audit says of each judged tier as a mere text.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from measuring import arguments, relation_files

from abstraction.base.tiers import Level, Tier
from abstraction.files.rows import QARow, TieredRow
from abstraction.maker.pipeline import LadderMaker
from abstraction.text.language.phrases import short_place_name, without_article
from abstraction.verifying.tier_verdicts import Judge
from abstraction.verifying.verdicts import VerdictKind
from kg.base.model import normalise
from kg.store.sqlite import SQLiteStore

FAULTS = {"correct": "false", "informative": "uninformative", "granularity": "granularity", "wording": "clumsy"}
Judged = dict[str, str]


def verdict(judged: Judged) -> str:
    """The first fault of a judged tier, `doubtful` where its reader was not sure, or `good`."""
    for column, fault in FAULTS.items():
        if "0" in (judged.get(column), judged.get(f"{column}_A"), judged.get(f"{column}_B")):
            return fault
        if "?" in (judged.get(column), judged.get(f"{column}_A"), judged.get(f"{column}_B")):
            return "doubtful"
    return "good"


def is_agreed(judged: Judged) -> bool:
    """Whether both readers of a tier marked the same kind of fault."""
    return any(judged.get(f"{column}_A") == "0" == judged.get(f"{column}_B") for column in FAULTS)


def sheet(data: Path, size: str) -> list[Judged]:
    """The judged tiers, each with its item, relation and answers split by " / "."""
    with (data / "tiers_judged" / f"judged_{size}.csv").open(encoding="utf-8", newline="") as file:
        judged = list(csv.DictReader(file))
    if size == "500":
        return judged
    relations = {
        asked["question"]: relation
        for relation, path in relation_files(data).items()
        for asked in json.loads(path.read_text(encoding="utf-8"))
    }
    return [
        {**one, "item": str(at), "relation": relations[one["question"]], "answer": one["answer"].replace(" | ", " / ")}
        for at, one in enumerate(judged, 1)
    ]


def state(tier: str, row: TieredRow) -> str:
    """What has become of a judged tier in today's ladder."""
    if len(row.levels) < 2:
        return "unlinked"
    texts = {without_article(tier.text) for level in row.levels[1:] for tier in level.tiers}
    names = {without_article(name) for level in row.levels[1:] for name in level.names()}
    wanted = without_article(tier)
    if wanted in texts:
        return "there"
    inside = normalise(short_place_name(tier))
    if any(name.endswith((f" in {inside}", f" in the {inside}", f" and {inside}")) for name in names):
        return "reworded"
    return "alias" if wanted in names else "gone"


def measure(store: SQLiteStore, judged: list[Judged]) -> list[tuple[Judged, str]]:
    """Each judged tier with what has become of it."""
    asked = {(one["question"], one["answer"], one["relation"]) for one in judged}
    rows = []
    for question, answer, relation in sorted(asked):
        answers = tuple(answer.split(" / "))
        qids = (None,) * len(answers)
        rows.append(QARow(id=answer, question=question, answers=answers, answer_qids=qids, relation=relation))
    made = {(row.question, row.id, row.relation): row for row in LadderMaker(store).make_all(rows)}
    return [(one, state(one["tier"], made[one["question"], one["answer"], one["relation"]])) for one in judged]


def audit(store: SQLiteStore, judged: list[Judged]) -> Counter[tuple[str, str]]:
    """How many judged tiers of each verdict the audit passes, knows nothing of, or reports."""
    judge, counts = Judge(store), Counter[tuple[str, str]]()
    for one in judged:
        answers = tuple(one["answer"].split(" / "))
        levels = (Level(tiers=tuple(Tier(text=text) for text in answers)), Level(tiers=(Tier(text=one["tier"]),)))
        row = TieredRow(
            id=one["item"], question=one["question"], answers=answers, levels=levels, relation=one["relation"]
        )
        told = judge.judge(row).tiers[0].verdict
        outcome = {VerdictKind.ENTAILED: "passed", VerdictKind.UNKNOWN: "unknown"}.get(told, "reported")
        counts[verdict(one), outcome] += 1
    return counts


def table(title: str, columns: Sequence[str], counts: Counter[tuple[str, str]], more: Sequence[str] = ()) -> None:
    """A line for each verdict, and for `more`."""
    print(f"{title:<15}" + "".join(f"{column:>10}" for column in columns))
    for kind in ("good", "doubtful", *FAULTS.values(), *more):
        print(f"{kind:<15}" + "".join(f"{counts[kind, column]:>10}" for column in columns))


def main() -> None:
    parser = arguments(__doc__, snapshot=True)
    parser.add_argument("--sheet", choices=("500", "350"), default="500", help="which of the two sheets")
    given = parser.parse_args()
    judged = sheet(given.data, given.sheet)
    with SQLiteStore.open(given.snapshot) as store:
        found = measure(store, judged)
        audited = audit(store, judged)
    counts = Counter((verdict(one), state) for one, state in found)
    both = Counter(("of both", state) for one, state in found if is_agreed(one))
    more = ("of both",) if both else ()
    table("verdict", ("there", "alias", "reworded", "gone", "unlinked"), counts + both, more)
    print()
    table("audit", ("passed", "unknown", "reported"), audited)


if __name__ == "__main__":
    main()
