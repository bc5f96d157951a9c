"""What checking does with tiers whose quality is known: a scripted model returns published tiers as they are.

    python scripts/measure_phrasing.py SNAPSHOT [--data ../shared/data] [--verbose]

The rows are GRANOLA-EQ's with a label by hand for each coarser answer (`reference_labels`). They go the whole way of
`granola tiers --phrase`: ladders from the snapshot, prompts, replies, checking. Printed is, label by label, what was
decided; then two shares. `kept`: of the answers labelled good, those that stand in the ladder on a level of their own.
`caught`: of those labelled wrong, alias, duplicate, sibling, finer_than_previous or not_coarser_than_answer, those that
are dropped, merged into a sibling's level, joined to another's names, or moved to where they belong; the last is told
apart, for such an answer still stands in the ladder.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from typing import Any

from measuring import arguments

from abstraction.files.rows import read_questions
from abstraction.maker.pipeline import LadderMaker
from abstraction.models.chat_model import Completion, Reply, Request, Result, Totals
from abstraction.phrasing.checking import NOTE, Action
from abstraction.phrasing.phraser import ModelPhraser
from kg.store import open_store

BAD = ("wrong", "alias", "duplicate", "sibling", "finer_than_previous", "not_coarser_than_answer")
GOOD_BAR, BAD_BAR = 0.95, 0.85


class Scripted:
    """A chat model that answers request `id` with the texts that it was given for that id."""

    identity: Mapping[str, Any] = {"kind": "scripted"}
    totals = Totals()

    def __init__(self, texts: Mapping[str, list[str]]) -> None:
        self._texts = texts

    def generate(self, requests: Iterable[Request]) -> Iterator[Result]:
        """One reply a request."""
        for request in requests:
            lines = "\n".join(f"- {text}" for text in self._texts[request.id])
            reply = Completion(text=f"<answers>\n{lines}\n</answers>", finish_reason="stop")
            yield Reply(request=request, completions=(reply,))

    def close(self) -> None:
        """Nothing to release."""


def main() -> int:
    parser = arguments(__doc__, snapshot=True)
    parser.add_argument("--verbose", action="store_true", help="list what was decided against the label")
    given = parser.parse_args()
    rows = list(read_questions([given.data / "granola_eq" / "rows_dev.jsonl"]))
    labels = {row.id: row.extra["reference_labels"] for row in rows}
    published = {row.id: [text for level in row.extra["reference_levels"][1:] for text in level] for row in rows}
    table = defaultdict[str, Counter[str]](Counter)
    kept, caught, moved = Counter[bool](), Counter[bool](), 0
    with closing(open_store(given.snapshot)) as store:
        for row in ModelPhraser(Scripted(published), store).stream(LadderMaker(store).make_all(rows)):
            for label, told in zip(labels[row.id], row.extra[NOTE]["tiers"], strict=True):
                is_kept, is_moved = told["action"] == Action.KEPT, bool(told.get("moved"))
                table[label][f"{told['action']} {told['finding']}{' (moved)' if is_moved else ''}"] += 1
                if label == "good":
                    kept[is_kept] += 1
                elif label in BAD:
                    caught[not is_kept or is_moved] += 1
                    moved += is_kept and is_moved
                if given.verbose and (label == "good") != (is_kept and not is_moved):
                    print(f"{row.id} {row.relation} {row.question} | {row.answers[0]} | {told['text']}: {label}")
                    print(f"    {told['action']} {told['finding']}: {told['why']}")
    for label, found in sorted(table.items()):
        print(f"{label} {found.total()}: {', '.join(f'{n} {how}' for how, n in found.most_common())}")
    shares = (kept[True] / kept.total(), caught[True] / caught.total())
    print(f"kept {kept[True]}/{kept.total()} = {shares[0]:.3f} (bar {GOOD_BAR})")
    print(f"caught {caught[True]}/{caught.total()} = {shares[1]:.3f} (bar {BAD_BAR}), {moved} of them by moving")
    return 0 if shares[0] >= GOOD_BAR and shares[1] >= BAD_BAR else 1


if __name__ == "__main__":
    sys.exit(main())
