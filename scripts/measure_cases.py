"""How many of the failing and holding inputs from public bug reports come out as expected.

    python scripts/measure_cases.py [--data ../shared/data] [--errors] [--only 03]

Each row of `cases/NN-name.give.jsonl` failed when it was gathered, each of `NN-name.holds.jsonl` held. Read are those
with a prediction (`granola match`), replies of judges (15), deflections (16, 25), and citations (17).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measuring import arguments, rows_of

from granola.evidence.grounding.answer_text import cited_passages, deflecting_rule
from granola.matching import in_language, matcher
from granola.replies import read_reply, read_verdict

Case = dict[str, Any]
_SHOWN = ("language", "question", "prediction", "answer", "reply", "levels")


def cases(folder: Path) -> Iterator[tuple[str, str, Case]]:
    """Number, `give` or `holds`, and the case, of every row that can be read."""
    for path in sorted(folder.glob("*.jsonl")):
        number, kind = path.name[:2], path.name.split(".")[-2]
        yield from ((number, kind, case) for case in rows_of(path))


def outcome(case: Case) -> dict[str, Any] | str | None:
    """What the code says of a case, in the form of its `expected`; None for one that is not read here."""
    if "reply" in case:
        words = [*(str(level) for level in range(1, len(case["levels"]) + 1)), "wrong", "abstains"]
        word = read_verdict(case["reply"], {word: (word,) for word in words})
        return "no verdict" if word is None else f"level {word}" if word.isdigit() else word
    if "passages" in case:
        ids = [passage["id"] for passage in case["passages"]]
        return {"deflects": deflecting_rule(case["answer"], ids, language=case["language"]) is not None}
    if "passage_ids" in case:
        return {"cited": list(cited_passages(case["answer"], case["passage_ids"])[0])}
    if "prediction" not in case or "levels" not in case:
        return None
    rules = in_language(matcher("rules"), case.get("language", "en"))
    verdict = rules.match(read_reply(case["prediction"]).answer, case["levels"], case.get("question"))
    return {"level": verdict.level, "abstained": verdict.abstained, "rule": verdict.rule}


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--errors", action="store_true", help="print each case that does not come out")
    parser.add_argument("--only", default="", help="the cases whose number begins so")
    given = parser.parse_args()
    right, read = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for number, kind, case in cases(given.data / "cases"):
        if not number.startswith(given.only) or number == "40" or (got := outcome(case)) is None:
            continue
        expected = case["expected"]
        holds = got == expected if isinstance(got, str) else all(got[key] == expected[key] for key in expected)
        read[number, kind] += 1
        right[number, kind] += holds
        if given.errors and not holds:
            shown = {key: case[key] for key in _SHOWN if key in case}
            print(f"{number} {kind} {json.dumps(shown, ensure_ascii=False)}\n   expected {expected}, got {got}")
    for number in sorted({number for number, _ in read}):
        print(number, *(f"{kind} {right[number, kind]}/{read[number, kind]}" for kind in ("give", "holds")))
    for kind in ("give", "holds"):
        count = [sum(counter[key] for key in read if key[1] == kind) for counter in (right, read)]
        print(f"{kind}: {count[0]} of {count[1]} as expected")


if __name__ == "__main__":
    main()
