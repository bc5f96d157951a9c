"""Counts the files, functions and calls of the three walks of docs/architecture.md, on the bundled sample.

    python scripts/count_walks.py [--files]

A dump line: a snapshot built of one entity, in one process. A question: one row of a file, by a maker that has answered
another. A prediction: a file of one, scored by the default matcher, a second time. Functions of the three packages
alone are counted, in the thread that calls; what a module runs when it is imported is not. Calls differ by a few with
the order of sets.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import TypeVar

from measuring import ROOT, arguments

from abstraction.files.rows import read_questions
from abstraction.maker.pipeline import LadderMaker
from granola.matching.matchers import matcher
from granola.scoring.predictions import read_predictions
from granola.scoring.scores import score
from kg.building import snapshot
from kg.store import open_store

SAMPLE = ROOT / "granola" / "demo" / "wikidata.json"
PACKAGES = ("kg", "abstraction", "granola")
T = TypeVar("T")


class Walk:
    """The calls of our own functions while one thing is done."""

    def __init__(self) -> None:
        self.calls: Counter[tuple[str, str]] = Counter()

    def of(self, work: Callable[[], T]) -> T:
        """Do it, and count."""
        sys.setprofile(self._see)
        try:
            return work()
        finally:
            sys.setprofile(None)

    def _see(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_name != "<module>" and code.co_filename.startswith(str(ROOT)):
            path = Path(code.co_filename).relative_to(ROOT)
            if path.parts[0] in PACKAGES:
                self.calls[str(path), code.co_qualname] += 1

    def files(self) -> list[str]:
        """The files that were passed."""
        return sorted({path for path, _ in self.calls})


def walks(folder: Path) -> dict[str, Walk]:
    """The three walks, with what they need made in `folder`."""
    first_line = next(line for line in SAMPLE.read_text(encoding="utf-8").splitlines() if '"id":"Q' in line)
    (folder / "one.json").write_text(f"[\n{first_line.rstrip(',')}\n]\n", encoding="utf-8")
    line, question, prediction = Walk(), Walk(), Walk()
    line.of(lambda: snapshot.build([folder / "one.json"], folder / "one.sqlite", workers=1))

    snapshot.build([SAMPLE], folder / "sample.sqlite")
    store = open_store(folder / "sample.sqlite")
    maker = LadderMaker(store)

    def rows(name: str, text: str, answer: str) -> list[object]:
        path = folder / f"{name}.jsonl"
        path.write_text(json.dumps({"id": "q", "question": text, "answer": answer}), encoding="utf-8")
        return [maker.make(row) for row in read_questions([path])]

    rows("before", "Where was Angela Merkel born?", "Hamburg")
    tiered = question.of(lambda: rows("asked", "Where was Barack Obama born?", "Honolulu"))

    (folder / "predictions.jsonl").write_text('{"id": "q", "prediction": "He was born in Hawaii."}', encoding="utf-8")

    def scored() -> object:
        return score(tiered, read_predictions(folder / "predictions.jsonl"), matcher("rules"))

    scored()
    prediction.of(scored)
    store.close()
    return {"a dump line to a row": line, "a question to its ladder": question, "a prediction to its score": prediction}


def main() -> None:
    parser = arguments(__doc__, data=False)
    parser.add_argument("--files", action="store_true", help="name the files")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        for what, walk in walks(Path(name)).items():
            print(f"{what}: {len(walk.files())} files, {len(walk.calls)} functions, {walk.calls.total()} calls")
            if options.files:
                print(*(f"  {path}" for path in walk.files()), sep="\n")


if __name__ == "__main__":
    main()
