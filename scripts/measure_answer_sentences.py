"""How far our sentences of long answers agree with those that others cut: AttributionBench's claims in their responses.

python scripts/measure_answer_sentences.py [--data ../shared/data] [--show N]
"""

from __future__ import annotations

import re
from collections import Counter

from measuring import arguments, rows_of

from granola.grounding.answer_sentences import answer_sentences
from granola.grounding.citation_markers import without_markers

IDS = tuple(map(str, range(1, 41)))


def main() -> None:
    """Count by source, and show claims that are no sentence of ours."""
    parser = arguments(__doc__)
    parser.add_argument("--show", type=int, default=0, help="how many claims to print that are no sentence of ours")
    given = parser.parse_args()
    counts: dict[str, Counter[bool]] = {}
    shown = 0
    for row in rows_of(given.data / "attribution" / "attributionbench_dev.jsonl.gz"):
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
