"""Agreement of the matchers with people, and what every rule and veto of `rules` is worth.

    python scripts/measure_matching.py [--data ../shared/data] [--aside] [--no-parts]

Three sets of judgements. `nq`: answers of five systems to questions of Natural Questions, right or wrong for a person
(EVOUNA, Wang et al. 2023). `openqa`: the same of OpenQA-eval (Kamalloo et al. 2023), in the half that was tuned on and
the half that was not. `ladders`: 400 answers of `nq` against ladders, each with the level that two readers gave it
(docs/evaluation/answers-judged.jsonl); a quarter is measured with `--aside` alone. Few of these answers stand above
level 1, so the levels that are claimed falsely are counted too. `simpleqa`: long answers of three search systems with
the grade of a model (right, wrong, not attempted). `mkqa`: answers in English, French, Spanish and Dutch to questions
for a number; counted are those taken for right, and of them those without any of the gold answer's digits: conversions,
roundings and number words. `danish`: 600 answers of Mintaka with the kappa of the
rules and of word recall, where answers on which both agree are taken to be as they say, and the others were read.

Half of the questions of `nq`, by a hash, is for tuning. Cohen's kappa with a
95 % bootstrap interval over questions. A part's worth is what changes where it is left out.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from measuring import ROOT, arguments, rows_of

from granola.matching import Verdict, in_language, matcher, rules, squad, vetoes
from granola.scoring.statistics import cohen_kappa as kappa
from granola.scoring.statistics import percentile_interval

LADDERS = ROOT / "docs/evaluation/answers-judged.jsonl"
DANISH = ROOT / "docs/evaluation/danish-judged.json"
RESAMPLES = 500
THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.7)
LENGTHS = (("1-3", 3), ("4-8", 8), ("9-20", 20), ("21+", 10**6))
Row = dict[str, Any]
Judge = Callable[[Row], Verdict]

# The source put "null" for "nan" everywhere: "finullce". Words that have it of their own stay: null, nullify, annulled.
_REPLACED = re.compile(r"(?<![Aa]n)(?:(?<=[A-Za-z])null|null(?=[a-z]))(?!if)")


def nq(data: Path) -> list[Row]:
    """The judgements of EVOUNA's development half, with `nan` where it was replaced."""
    rows = list(rows_of(data / "evouna/nq_dev.jsonl.gz"))
    for row in rows:
        row["question"], row["prediction"] = (_REPLACED.sub("nan", row[name]) for name in ("question", "prediction"))
        row["levels"] = [[_REPLACED.sub("nan", answer) for answer in row["answers"]]]
        row["half"] = half(row["question"], "nq-1")
    return rows


def openqa(data: Path) -> list[Row]:
    """The judgements of OpenQA-eval."""
    rows = list(rows_of(data / "openqa_eval/judgements.jsonl"))
    for row in rows:
        row["levels"], row["half"] = [row["answers"]], half(row["question"], "matching-1")
    return rows


def simpleqa(data: Path) -> list[Row]:
    """Graded long answers to SimpleQA; `grade` is A (right), B (wrong) or C (not attempted)."""
    return [
        {**row, "prediction": row["answer"] or "", "levels": [[row["gold"]]], "human": row["grade"] == "A"}
        for row in rows_of(data / "answers/simpleqa_en_tavily.jsonl.gz")
    ]


def print_long_answers(rows: Sequence[Row]) -> None:
    """Kappa with the grader, what is taken for an abstention, and the order of the systems."""
    verdicts = [rules_say(row) for row in rows]
    pairs = pairs_of(rows, verdicts)
    print(f"simpleqa: {len(rows)} answers, kappa {kappa(pairs):.4f} ({interval(rows, pairs)})")
    declined = [(verdict.abstained, row["grade"] == "C") for row, verdict in zip(rows, verdicts, strict=True)]
    both = sum(ours and theirs for ours, theirs in declined)
    taken, graded = sum(ours for ours, _ in declined), sum(theirs for _, theirs in declined)
    print(f"  abstentions: {taken} taken, {graded} graded, precision {both / taken:.3f}, recall {both / graded:.3f}")
    print_groups(rows, verdicts, pairs)


def print_typed_numbers(data: Path) -> None:
    """How many numbers of MKQA are taken for right in each language, and how many of these have other digits."""
    taken, answered, others = Counter[str](), Counter[str](), 0
    for row in rows_of(data / "answers/mkqa_llm_answers.jsonl.gz"):
        golds = [gold for gold in row["gold"] if gold["type"] in ("number", "number_with_unit")]
        names = [name for gold in golds for name in (gold["text"], *gold.get("aliases", ())) if name]
        for answer in row["answers"].values() if names else ():
            answered[row["language"]] += 1
            verdict = in_language(_RULES, row["language"]).match(answer or "", [names], row["question"])
            if verdict.level is not None:
                taken[row["language"]] += 1
                others += _digits(answer).isdisjoint(digit for name in names for digit in _digits(name))
    shares = ", ".join(f"{code} {taken[code]} of {answered[code]}" for code in sorted(answered))
    print(f"mkqa, numbers taken for right: {shares}; {others} of them have other digits")


def print_danish(data: Path) -> None:
    """Kappa of the rules and of word recall (half of the gold answer's words) on the same Danish answers."""
    judged: dict[str, bool] = json.loads(DANISH.read_text(encoding="utf-8"))["right"]
    answers = [
        (f"{row['id']}-{place}", row["q_da"], str(row["gold_da"]), sample)
        for row in rows_of(data / "answers/mintaka_test_5samples.jsonl.gz")
        if type(row.get("gold_da")) in (str, int, float) and "samples_da" in row and "q_da" in row
        for place, sample in enumerate(row["samples_da"][:2])
    ]
    random.Random(36).shuffle(answers)
    danish, ours, recall = in_language(_RULES, "da"), [], []
    for name, question, gold, said in answers[:600]:
        wanted, there = squad.tokens(gold), set(squad.tokens(said))
        recalled = sum(token in there for token in wanted) >= len(wanted) / 2
        taken = danish.match(said, [[gold]], question).level is not None
        if taken != recalled and name not in judged:
            continue  # not read
        ours.append((taken, judged.get(name, taken)))
        recall.append((recalled, judged.get(name, recalled)))
    print(f"danish: {len(ours)} answers, kappa {kappa(ours):.3f}, of word recall {kappa(recall):.3f}")


def _digits(text: str) -> set[str]:
    """The numbers of a text without their separators and outer zeros."""
    return {re.sub(r"\D", "", number).strip("0") for number in re.findall(r"\d+(?:[.,\s]\d+)*", text)} - {""}


def half(question: str, seed: str) -> str:
    """The half that a question falls into, with all of its answers."""
    return "tuned on" if hashlib.sha256(f"{seed}\n{question}".encode()).digest()[0] % 2 else "kept aside"


def ladders(rows: Sequence[Row], *, aside: bool) -> list[Row]:
    """The judged ladders with their answers, the gold answers as level 1; `level` as the first reader gave it."""
    by_id = {row["id"]: row for row in rows}
    _, *lines = rows_of(LADDERS)
    return [
        {
            **by_id[line["id"]],
            "level": line["first"],
            "levels": by_id[line["id"]]["levels"] + [[n for tier in level for n in tier] for level in line["coarser"]],
        }
        for line in lines
        if aside or not line["aside"]
    ]


def rules_say(row: Row) -> Verdict:
    """The verdict of `rules` on a row."""
    return _RULES.match(row["prediction"], row["levels"], row["question"])


_RULES = matcher("rules")


def pairs_of(rows: Sequence[Row], verdicts: Sequence[Verdict]) -> list[tuple[bool, bool]]:
    """(taken as right, right for people) of each row."""
    return [(verdict.level is not None, row["human"]) for row, verdict in zip(rows, verdicts, strict=True)]


def interval(rows: Sequence[Row], pairs: Sequence[tuple[bool, bool]]) -> str:
    """95 % interval of kappa over resampled questions."""
    groups: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for row, pair in zip(rows, pairs, strict=True):
        groups[row["question"]].append(pair)
    drawing, all_groups = random.Random(0), list(groups.values())
    values = [
        kappa([pair for group in drawing.choices(all_groups, k=len(all_groups)) for pair in group])
        for _ in range(RESAMPLES)
    ]
    found = percentile_interval(values)
    return f"{found.low:.3f}-{found.high:.3f}"


def contained(row: Row) -> Verdict:
    """Whether the normalised answer contains a normalised gold answer: six lines to compare with."""
    said = f" {squad.normalise(row['prediction'])} "
    golds = [squad.normalise(name) for names in row["levels"] for name in names]
    return Verdict(level=1 if any(gold and f" {gold} " in said for gold in golds) else None, rule="containment")


def _by(name: str, **settings: float) -> Judge:
    chosen = matcher(name, **settings)
    return lambda row: chosen.match(row["prediction"], row["levels"], row["question"])


JUDGES: dict[str, Judge] = {
    "em": _by("em"),
    **{f"f1 > {tau:g}": _by("f1", tau=tau) for tau in THRESHOLDS},
    "containment": contained,
    "rules": rules_say,
}


def print_agreement(title: str, rows: Sequence[Row]) -> None:
    """Kappa of every judge by half."""
    for name in ("tuned on", "kept aside"):
        part = [row for row in rows if row["half"] == name]
        right = sum(row["human"] for row in part)
        print(f"{title}, half {name}: {len(part)} answers, {right} right")
        print("  judge         kappa  95 %           agree  right as wrong  wrong as right")
        for judge_name, judge in JUDGES.items():
            pairs = pairs_of(part, [judge(row) for row in part])
            agreed = sum(a == b for a, b in pairs) / len(pairs)
            missed, taken = sum(b and not a for a, b in pairs), sum(a and not b for a, b in pairs)
            told = f"{kappa(pairs):.3f}  {interval(part, pairs)}    {agreed:.3f}  {missed:14d}  {taken:14d}"
            print(f"  {judge_name:12s}  {told}")


def print_groups(rows: Sequence[Row], verdicts: Sequence[Verdict], pairs: Sequence[tuple[bool, bool]]) -> None:
    """Kappa by the length of answers and by system, and the order of systems beside the people's."""

    def length(row: Row) -> str:
        words = len(row["prediction"].split())
        return next(title for title, most in LENGTHS if words <= most)

    shares: dict[str, tuple[float, float]] = {}
    for title, key in (("words", length), ("system", lambda row: row["system"])):
        groups: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
        for row, pair in zip(rows, pairs, strict=True):
            groups[key(row)].append(pair)
        for name, part in sorted(groups.items()):
            ours, human = sum(a for a, _ in part) / len(part), sum(b for _, b in part) / len(part)
            shares[name] = ours, human
            print(f"  {title} {name:8s} {len(part):5d}  kappa {kappa(part):.3f}  right {ours:.3f}, people {human:.3f}")
    systems = sorted({row["system"] for row in rows})
    for title, index in (("rules ", 0), ("people", 1)):
        print(f"  order by {title}: {' > '.join(sorted(systems, key=lambda name: -shares[name][index]))}")
    told = Counter((v.rule, v.level is not None, b) for v, (_, b) in zip(verdicts, pairs, strict=True))
    print("  decided by                     accepts right wrong   refuses right wrong")
    for rule in sorted({rule for rule, _, _ in told}):
        counts = [told[rule, accepts, human] for accepts in (True, False) for human in (True, False)]
        print(f"  {rule:30s} {counts[0]:13d} {counts[1]:5d} {counts[2]:15d} {counts[3]:5d}")


def print_ladders(rows: Sequence[Row], verdicts: Sequence[Verdict]) -> None:
    """How often the level is the readers', and in which ways it is not."""
    found = Counter(_ladder_outcome(row, verdict) for row, verdict in zip(rows, verdicts, strict=True))
    print(f"ladders: {len(rows)} answers, {sum(row['level'] in (None, 1) for row in rows)} of them at level 1 or none")
    for name, count in found.most_common():
        print(f"  {name:28s} {count}")
    for name, judge in JUDGES.items():
        if name.startswith("f1"):
            counts = Counter(_ladder_outcome(row, judge(row)) for row in rows)
            false = sum(count for outcome, count in counts.items() if outcome.endswith("falsely"))
            print(f"  {name}: as the readers {counts['as the readers']}, missed {counts['right level missed']}, "
                  f"claimed falsely {false}, another level {counts['too fine'] + counts['too coarse']}")  # fmt: skip


def _ladder_outcome(row: Row, verdict: Verdict) -> str:
    if verdict.level == row["level"]:
        return "as the readers"
    if verdict.level is None:
        return "right level missed"
    if row["level"] is None:
        return f"level {verdict.level} claimed falsely"
    return "too fine" if verdict.level < row["level"] else "too coarse"


@contextmanager
def without(module: ModuleType, kind: str, index: int) -> Iterator[None]:
    """`rules` without one of its parts."""
    listed = getattr(module, kind)
    setattr(module, kind, listed[:index] + listed[index + 1 :])
    try:
        yield
    finally:
        setattr(module, kind, listed)


def print_parts(flat: Sequence[Row], judged: Sequence[Row]) -> None:
    """For every rule and veto: right and wrong verdicts that it turns, and the kappa that it is worth.

    On flat judgements, on the same with an unstated second level, as ladders are read, and on the judged ladders.
    """
    as_ladders = [{**row, "levels": [*row["levels"], [UNSTATED]]} for row in flat]
    sets = {"flat": flat, "read as ladders": as_ladders, "ladders": judged}
    with_all = {title: [rules_say(row) for row in rows] for title, rows in sets.items()}
    print("made right, made wrong, kappa       " + "   ".join(f"{title:>20s}" for title in sets))
    for module, kind in ((rules, "RULES"), (vetoes, "VETOES")):
        for index, part in enumerate(getattr(module, kind)):
            name = part.name if isinstance(part, rules.Rule) else f"{part[0]} ({len(part[1])} tests)"
            told = []
            with without(module, kind, index):
                for title, rows in sets.items():
                    told.append(_worth(rows, with_all[title], [rules_say(row) for row in rows]))
            print(f"{name:52s} " + "   ".join(f"{right:4d} {wrong:4d} {worth:+.4f}" for right, wrong, worth in told))


UNSTATED = "what no answer says"


def _worth(rows: Sequence[Row], having: Sequence[Verdict], lacking: Sequence[Verdict]) -> tuple[int, int, float]:
    """(verdicts made right, made wrong, what is gained in kappa of right at any level) by having a part."""
    right = wrong = 0
    for row, a, b in zip(rows, having, lacking, strict=True):
        judged = "level" in row
        wanted = row["level"] if judged else row["human"]
        said, unsaid = (v.level if judged else v.level is not None for v in (a, b))
        right += said != unsaid and said == wanted
        wrong += said != unsaid and unsaid == wanted
    return right, wrong, kappa(pairs_of(rows, having)) - kappa(pairs_of(rows, lacking))


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--aside", action="store_true", help="measure the quarter of the ladders kept aside as well")
    parser.add_argument("--no-parts", action="store_true", help="leave out the worth of every rule and veto")
    given = parser.parse_args()
    rows, others = nq(given.data), openqa(given.data)
    judged = ladders(rows, aside=given.aside)
    verdicts = [rules_say(row) for row in rows]
    pairs = pairs_of(rows, verdicts)
    print_agreement("nq", rows)
    print(f"nq, all: {len(rows)} answers, kappa {kappa(pairs):.4f} ({interval(rows, pairs)})")
    print_groups(rows, verdicts, pairs)
    print_agreement("openqa", others)
    print_long_answers(simpleqa(given.data))
    print_typed_numbers(given.data)
    print_danish(given.data)
    print_ladders(judged, [rules_say(row) for row in judged])
    if not given.no_parts:
        print_parts([*rows, *others], judged)


if __name__ == "__main__":
    main()
