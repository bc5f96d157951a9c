"""Links of PopQA's answers against the QIDs that the data set gives, by confidence: a reliability table.

    python scripts/measure_popqa_links.py SNAPSHOT [--data ../shared/data] [--verbose]

An answer is linked by its text, the relation and the name of the subject. `wrong` counts links to another entity than
PopQA's; `absent` are those among them whose right entity the snapshot lacks. `--verbose` lists the wrong ones.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from abstraction.pipeline import LadderMaker
from abstraction.rows import QARow
from kg.store import open_store

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"


def rows(data: Path) -> list[dict[str, Any]]:
    """PopQA's rows with the id of their answer."""
    with gzip.open(data / "open_qa" / "popqa.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [row for row in map(json.loads, lines) if row.get("o_qid")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("snapshot")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of the public data sets")
    parser.add_argument("--verbose", action="store_true", help="list the wrong links")
    given = parser.parse_args()
    gold = rows(given.data)
    maker = LadderMaker(open_store(given.snapshot))
    asked = [
        QARow(id=str(row["i"]), question=row["question"], answers=(row["answer"],), answer_qids=(None,),
              relation=row["pid"])
        for row in gold
    ]  # fmt: skip
    counts = defaultdict[str, Counter[str]](Counter)
    for row, made in zip(gold, maker.make_all(asked), strict=True):
        link = made.links[0] if made.links else {}
        qid = None if link.get("abstained") else link.get("qid")
        state = "none" if qid is None else "right" if qid == row["o_qid"] else "wrong"
        absent = state == "wrong" and maker.graph.entity(row["o_qid"]) is None
        for group in ("all", str(link.get("confidence") or "none"), row["pid"]):
            counts[group][state] += 1
            counts[group]["absent"] += absent
        if given.verbose and state == "wrong":
            print(f"{link['confidence']} {row['pid']} {row['subj']}: {row['answer']} is {row['o_qid']}, not {qid}")
    for group, held in sorted(counts.items(), key=lambda pair: -sum(pair[1].values())):
        linked = held["right"] + held["wrong"]
        share = 100 * held["wrong"] / linked if linked else 0
        print(f"{group:8} linked {linked:4} of {linked + held['none']:4}, wrong {held['wrong']:3} = {share:4.1f} % "
              f"(absent {held['absent']})")  # fmt: skip


if __name__ == "__main__":
    main()
