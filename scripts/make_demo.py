"""Write the demo's data files from the tables in demo_facts: `make_demo.py [--out granola/demo]`.

The same tables give the same bytes. Facts are checked against real data by check_demo.py.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from demo_questions import read_questions
from demo_table import Dump, TableError, read_tables

FACTS = Path(__file__).parent / "demo_facts"
TABLES = (
    "classes", "countries", "places_europe", "places_americas", "places_other", "terms",
    "people_letters", "people_arts", "organisations", "works", "properties",
)  # fmt: skip


def load() -> Dump:
    """All tables, read in a fixed order."""
    return Dump(read_tables(FACTS / f"{name}.txt" for name in TABLES))


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def files() -> dict[str, str]:
    """The text of every data file by its name."""
    dump = load()
    questions = read_questions(FACTS / "questions.txt", dump)
    return {
        "wikidata.json": "[\n" + ",\n".join(map(_line, dump.entities())) + "\n]\n",
        "questions.jsonl": "".join(_line(question.row()) + "\n" for question in questions),
        "predictions-specific.jsonl": "".join(_line(q.prediction("specific")) + "\n" for q in questions),
        "predictions-cautious.jsonl": "".join(_line(q.prediction("cautious")) + "\n" for q in questions),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=FACTS.parent.parent / "granola" / "demo")
    arguments = parser.parse_args()
    try:
        texts = files()
    except TableError as error:
        print(f"make_demo: {error}", file=sys.stderr)
        return 1
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (arguments.out / name).write_text(text, encoding="utf-8")
        print(f"{arguments.out / name}: {len(text.encode())} bytes", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
