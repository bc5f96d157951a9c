"""How far our sentences of long answers agree with those that others cut: AttributionBench's claims in their responses.

python scripts/measure_answer_sentences.py [--data ../shared/data] [--show N]
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from pathlib import Path

from abstraction.faults import RejectedRow
from abstraction.files.records import read_records
from granola.grounding.answer_sentences import answer_sentences
from granola.grounding.citation_markers import without_markers

IDS = tuple(map(str, range(1, 41)))


def main() -> None:
    """Count by source, and show claims that are no sentence of ours."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the real data")
    parser.add_argument("--show", type=int, default=0, help="how many claims to print that are no sentence of ours")
    given = parser.parse_args()
    counts: dict[str, Counter[bool]] = {}
    shown = 0
    for record in read_records(given.data / "attribution" / "attributionbench_dev.jsonl.gz"):
        if isinstance(record, RejectedRow):
            continue
        row = record.data
        ours = {_plain(one) for one in answer_sentences(row["response"], IDS)}
        claim = _plain(row["claim_raw_string"])
        there = claim in ours or re.sub(r"^\d+ ", "", claim) in ours
        counts.setdefault(row["src_dataset"], Counter())[there] += 1
        if not there and shown < given.show:
            shown += 1
            print(f"{row['src_dataset']}: {row['claim_raw_string'][:200]!r}")
    for source, own in sorted(counts.items()):
        print(f"{source:20}{own[True]:6,} of {own.total():6,}")
    every = sum(counts.values(), Counter())
    print(f"{'all':20}{every[True]:6,} of {every.total():6,}")


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", " ", without_markers(text, IDS).replace("</s>", "")).strip().casefold()


if __name__ == "__main__":
    main()
