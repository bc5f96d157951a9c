"""Measure ladders on real data against a snapshot of the 76 K sample.

    python scripts/measure_ladders.py SNAPSHOT [--data ../shared/data] [--parts a,b,c,d,e,f] [--verbose]

a  EntityQuestions test, 24 relations: first answers linked, with tiers; questions a second on one core; tiers with
   bits, ladders whose bits rise (none should), and tiers whose own count fell short of a finer one's.
b  GRANOLA-EQ rows with gold ids: hand-labelled reference tiers matched (token-F1 >= 0.5), and their order.
c  Ordinary GRANOLA-EQ place rows: rows with a coarser tier, reference coarser tiers stated.
d  PopQA's answers linked by text, relation and the subject's name, against its ids, by confidence and relation: a
   reliability table. `absent` are wrong links whose right entity the snapshot lacks.
e  Pantheon's birthplaces (even ids): ladders that hold the country, and in the United States the state.
f  Statements of P19, P159 and P740: values with a coarser tier, and ladders with a continent beside another tier.

A reference that only a maker without `as_asked` states is one that the question gives away, or that most answers share:
it is counted apart. A container worded as the kind asked for ("a country in Asia") states the bare one.

Linking alone is measured by measure_linking.py.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path

from abstraction.information.weighing import rises
from abstraction.pipeline import LadderMaker
from abstraction.rows import QARow, TieredRow, read_questions
from abstraction.tiers import Tier
from granola.matching.squad import token_f1
from granola.scoring.ladder_coverage import Coverage
from granola.terminal_lines import show_lines
from kg.model import entity_number
from kg.store.sqlite import SQLiteStore
from kg.terms import normalise

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"
SAME = 0.5  # token-F1 from which a tier states a reference


def percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def best_level(text: str, row: TieredRow, *, texts_only: bool = False) -> int | None:
    """The coarser level (1 and on) that states `text` best, the finest of equals; None below `SAME`."""
    best, found = SAME, None
    for number, level in enumerate(row.levels[1:], 1):
        names = [tier.text for tier in level.tiers] if texts_only else level.names()
        score = max((token_f1(name, text) for name in names), default=0.0)
        if score > best or (score == best and found is None):
            best, found = score, number
    return found


def entity_questions(store: SQLiteStore, data: Path) -> None:
    """Part a."""
    files = sorted(
        (data / "entityquestions" / "test").glob("*.json"), key=lambda p: entity_number(p.name.split(".")[0])
    )
    rows = [replace(row, answers=row.answers[:1], answer_qids=row.answer_qids[:1]) for row in read_questions(files)]
    maker = LadderMaker(store)
    coverage = Coverage()
    weight = Weight()
    for label in ("first pass", "second pass, everything cached"):
        begin = time.process_time()
        made = maker.make_all(rows)
        for row in coverage.watch(made) if label == "first pass" else made:
            if label == "first pass":
                weight.add(row)
        spent = time.process_time() - begin
        print(f"{label}: {len(rows)} questions, {spent:.1f} s of processor time, {len(rows) / spent:.0f} a second")
    show_lines(*coverage.tables())
    print(f"{weight.line()}, {maker.information.lowered} told by a finer tier's count (both passes)")


@dataclass(kw_only=True)
class Weight:
    """How many tiers have bits, and whether they rise."""

    tiers: int = 0
    told: int = 0
    rising: int = 0

    def add(self, row: TieredRow) -> None:
        """Count one row."""
        found = [tier.bits is not None for level in row.levels[1:] for tier in level.tiers]
        self.tiers += len(found)
        self.told += sum(found)
        self.rising += bool(rises(row.levels))

    def line(self) -> str:
        """The counts in words."""
        return f"bits: {self.told} of {self.tiers} tiers ({percent(self.told, self.tiers)}), {self.rising} ladders rise"


@dataclass(kw_only=True)
class Agreement:
    """What part b counts."""

    references: Counter[str] = field(default_factory=Counter)
    matched: Counter[str] = field(default_factory=Counter)
    by_text: int = 0
    told: int = 0
    pairs: Counter[str] = field(default_factory=Counter)
    ours: int = 0
    ours_like_wrong: list[str] = field(default_factory=list)
    ours_equal_wrong: int = 0
    misses: list[str] = field(default_factory=list)

    def add(self, row: TieredRow, plain: TieredRow) -> None:
        """Count one row, made from a question that kept its references, and the same made without `as_asked`."""
        references = [level[0] for level in row.extra["reference_levels"][1:]]
        labels = row.extra["reference_labels"]
        stated: list[int | None] = []
        for text, label in zip(references, labels, strict=True):
            found = best_level(text, row)
            self.references[label] += 1
            self.matched[label] += found is not None
            if label == "good":
                self.by_text += best_level(text, row, texts_only=True) is not None
                stated.append(found)
                if found is None and best_level(text, plain) is not None:
                    self.told += 1
                elif found is None:
                    self.misses.append(f"{row.relation} {row.id} {row.answers[0]}: {text!r} not in {shown(row)}")
        for fine, coarse in combinations([n for n in stated if n is not None], 2):
            order = "concordant" if fine < coarse else "tied" if fine == coarse else "discordant"
            self.pairs[order] += 1
        for level in row.levels[1:]:
            for tier in level.tiers:
                self.ours += 1
                like = {
                    label: max(token_f1(name, text) for name in tier.names())
                    for text, label in zip(references, labels, strict=True)
                }
                wrong = like.get("wrong", 0.0)
                if wrong >= SAME and wrong > like.get("good", 0.0):
                    self.ours_like_wrong.append(f"{row.relation} {row.id} {row.answers[0]}: {tier.text!r}")
                    self.ours_equal_wrong += wrong == 1.0

    def print(self, name: str, rows: int, *, verbose: bool) -> None:
        """One paragraph on standard output."""
        good = self.references["good"]
        wrong = len(self.ours_like_wrong)
        print(f"{name}: {rows} rows")
        matched = self.matched["good"]
        print(
            f"  good reference tiers matched {matched}/{good} {percent(matched, good)}; {self.told} more that the"
            f" question gives away or most answers share: {matched + self.told}/{good}, of the others"
            f" {percent(matched, good - self.told)}"
        )
        print(f"  by a tier's text alone {percent(self.by_text, good)}; order {dict(self.pairs)}")
        print(f"  of our {self.ours} tiers {wrong} match one labelled wrong, {self.ours_equal_wrong} exactly")
        if verbose:
            others = {k: f"{self.matched[k]}/{n}" for k, n in self.references.items() if k != "good"}
            print(f"  other labels matched: {others}")
            print(*(f"  miss   {line}" for line in self.misses), sep="\n")
            print(*(f"  wrong? {line}" for line in self.ours_like_wrong), sep="\n")


def shown(row: TieredRow) -> str:
    ladder = " > ".join(" | ".join(tier.text for tier in level.tiers) for level in row.levels)
    return ladder + (f" [{row.abstained}]" if row.abstained else "")


def labelled_rows(store: SQLiteStore, data: Path, *, verbose: bool) -> None:
    """Part b."""
    rows = list(read_questions([data / "granola_eq" / "rows_dev.jsonl"]))
    known = store.entities([q for row in rows for q in row.answer_qids if q], properties=())
    whole, inside, outside = Agreement(), Agreement(), Agreement()
    counts: Counter[bool] = Counter()
    plain = LadderMaker(store, as_asked=False).make_all(rows)
    for question, row, bare in zip(rows, LadderMaker(store).make_all(rows), plain, strict=True):
        within = question.answer_qids[0] in known
        counts[within] += 1
        whole.add(row, bare)
        (inside if within else outside).add(row, bare)
    whole.print("all rows", len(rows), verbose=verbose)
    inside.print("gold entity in the snapshot", counts[True], verbose=False)
    outside.print("gold entity not in the snapshot", counts[False], verbose=False)


@dataclass(kw_only=True)
class PlaceCounts:
    """What part c counts."""

    rows: int = 0
    coarser: int = 0
    linked: int = 0
    references: int = 0
    stated: int = 0
    exact: int = 0
    told: int = 0
    told_whole: int = 0

    def add(self, row: TieredRow, plain: TieredRow) -> list[str]:
        """Count one row; gives the reference tiers that none of ours states, by any name of its entity."""
        texts = [level[0] for level in row.extra["reference_levels"][1:]]
        missing = [text for text in texts if best_level(text, row) is None]
        told = [text for text in missing if best_level(text, plain) is not None]
        names = {normalise(name) for level in row.levels[1:] for name in level.names()}
        self.rows += 1
        self.coarser += len(row.levels) > 1
        self.linked += row.levels[0].tiers[0].qid is not None
        self.references += len(texts)
        self.stated += len(texts) - len(missing)
        self.exact += sum(normalise(text) in names for text in texts)
        self.told += len(told)
        self.told_whole += len(row.levels) == 1 < len(plain.levels)
        return [text for text in missing if text not in told]

    def print(self, name: str) -> None:
        """Two lines on standard output."""
        print(f"{name}: {self.rows}; linked {percent(self.linked, self.rows)}")
        print(
            f"  with a coarser tier {self.coarser} {percent(self.coarser, self.rows)}; reference coarser tiers stated"
            f" {self.stated}/{self.references} {percent(self.stated, self.references)}, by a name exactly"
            f" {percent(self.exact, self.references)}"
        )
        rows, references = self.rows - self.told_whole, self.references - self.told
        print(
            f"  without {self.told_whole} rows and {self.told} references that the question gives away:"
            f" {percent(self.coarser, rows)} with a coarser tier, {percent(self.stated, references)} stated"
        )


def place_rows(store: SQLiteStore, data: Path, *, verbose: bool) -> None:
    """Part c."""
    rows = list(read_questions([data / "granola_eq" / "places_dev.jsonl"]))
    known = store.find([row.answers[0] for row in rows], languages=("en", "mul"))
    whole, named = PlaceCounts(), PlaceCounts()
    plain = LadderMaker(store, as_asked=False).make_all(rows)
    for row, bare in zip(LadderMaker(store).make_all(rows), plain, strict=True):
        missing = whole.add(row, bare)
        if known.get(row.answers[0]):
            named.add(row, bare)
        if verbose and missing:
            print(f"  miss   {row.relation} {row.question} {missing} not in {shown(row)}")
    whole.print("all rows")
    named.print("rows whose answer's name the snapshot knows")


def popqa_links(store: SQLiteStore, data: Path, *, verbose: bool) -> None:
    """Part d."""
    with gzip.open(data / "open_qa" / "popqa.jsonl.gz", "rt", encoding="utf-8") as lines:
        gold = [row for row in map(json.loads, lines) if row.get("o_qid")]
    maker, counts = LadderMaker(store), defaultdict[str, Counter[str]](Counter)
    asked = [_question(str(row["i"]), row["question"], row["answer"], row["pid"]) for row in gold]
    for row, made in zip(gold, maker.make_all(asked), strict=True):
        link = made.links[0] if made.links else {}
        qid = None if link.get("abstained") else link.get("qid")
        state = "none" if qid is None else "right" if qid == row["o_qid"] else "wrong"
        level = str(link.get("confidence") or "none") if qid else "none"
        groups = ("all", level, row["pid"], *(("not low", f"{row['pid']} not low") if level != "low" else ()))
        for group in groups:
            counts[group][state] += 1
            counts[group]["absent"] += state == "wrong" and maker.graph.entity(row["o_qid"]) is None
        if verbose and state == "wrong":
            print(f"  {level} {row['pid']} {row['subj']}: {row['answer']} is {row['o_qid']}, not {qid}")
    for group, held in sorted(counts.items(), key=lambda pair: -sum(pair[1].values())):
        linked = held["right"] + held["wrong"]
        if linked:
            print(f"  {group:12} linked {linked:4} of {linked + held['none']:4}, wrong {held['wrong']:3} ="
                  f" {percent(held['wrong'], linked)} (absent {held['absent']})")  # fmt: skip


def birthplaces(store: SQLiteStore, data: Path, *, verbose: bool) -> None:
    """Part e."""
    with gzip.open(data / "granola_eq" / "pantheon_1.0.tsv.gz", "rt", encoding="utf-8") as lines:
        told = [row for row in csv.DictReader(lines, delimiter="\t") if row["birthcity"] and row["countryName"]]
    known = [row for row in told if row["countryName"] != "UNKNOWN" and int(row["en_curid"]) % 2 == 0]
    asked = [
        _question(str(at), f"Where was {row['name']} born?", row["birthcity"].split(",")[0], "P19")
        for at, row in enumerate(known)
    ]
    counts = Counter[str]()
    for row, made in zip(known, LadderMaker(store).make_all(asked), strict=True):
        if len(made.levels) < 2:
            continue
        names = {normalise(name) for level in made.levels for name in level.names()}
        country = normalise(row["countryName"])
        wanted = {"united states": {"united states", "united states of america"}, "china": {"china",
                  "people's republic of china"}}.get(country, {country})  # fmt: skip
        counts["ladders"] += 1
        counts["country"] += not wanted.isdisjoint(names)
        if country == "united states" and row["birthstate"]:
            counts["in a state"] += 1
            counts["state"] += any(normalise(row["birthstate"]) in name for name in names)
        if verbose and wanted.isdisjoint(names):
            print(f"  miss   {row['name']}, {row['birthcity']}, {row['countryName']}: {shown(made)}")
    print(f"  {len(known)} births, {counts['ladders']} ladders; country {percent(counts['country'], counts['ladders'])}"
          f", state {percent(counts['state'], counts['in a state'])} of {counts['in a state']}")  # fmt: skip


def stated_places(store: SQLiteStore, *, verbose: bool) -> None:
    """Part f."""
    maker = LadderMaker(store)
    for prop in ("P19", "P159", "P740"):
        values = store.values_of(prop)
        found = store.entities([qid for qid, _ in values], properties=())
        asked = [
            QARow(id=qid, question="Where?", answers=(entity.labels.get("en", qid),), answer_qids=(qid,), relation=prop)
            for qid, entity in found.items()
        ]
        coarser = weight = beside = 0
        used = dict(values)
        for made in maker.make_all(asked):
            weight += used[made.id]
            coarser += used[made.id] * (len(made.levels) > 1)
            several = (level.tiers for level in made.levels[1:] if len(level.tiers) > 1)
            mixed = [tiers for tiers in several if any(map(_is_continent, tiers))]
            beside += bool(mixed)
            if verbose and mixed:
                print(f"  beside {shown(made)}")
        print(f"  {prop}: {len(asked)} values, of statements with one {percent(coarser, weight)} have a coarser tier;"
              f" {beside} continents beside another tier")  # fmt: skip


def _is_continent(tier: Tier) -> bool:
    return tier.text in ("Africa", "Antarctica", "Asia", "Europe", "North America", "Oceania", "South America")


def _question(row_id: str, question: str, answer: str, relation: str) -> QARow:
    return QARow(id=row_id, question=question, answers=(answer,), answer_qids=(None,), relation=relation)


def main(arguments: Iterable[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("snapshot", type=Path, help="a snapshot of wikidata/entities.json.gz")
    parser.add_argument("--data", type=Path, default=DATA, help=f"folder of the public data sets [{DATA.name}]")
    parser.add_argument("--parts", default="a,b,c,d,e,f", help="which parts, comma-separated [a to f]")
    parser.add_argument("--verbose", action="store_true", help="list every miss")
    given = parser.parse_args(None if arguments is None else list(arguments))
    if not given.data.is_dir():
        print(f"measure_ladders: no folder {given.data}; give --data", file=sys.stderr)
        return 2
    parts = given.parts.split(",")
    with SQLiteStore.open(given.snapshot) as store:
        if "a" in parts:
            print("a. EntityQuestions, test, first answers")
            entity_questions(store, given.data)
        if "b" in parts:
            print("b. GRANOLA-EQ rows, hand-labelled references")
            labelled_rows(store, given.data, verbose=given.verbose)
        if "c" in parts:
            print("c. GRANOLA-EQ places")
            place_rows(store, given.data, verbose=given.verbose)
        if "d" in parts:
            print("d. PopQA's ids")
            popqa_links(store, given.data, verbose=given.verbose)
        if "e" in parts:
            print("e. Pantheon's birthplaces")
            birthplaces(store, given.data, verbose=given.verbose)
        if "f" in parts:
            print("f. Places by statements")
            stated_places(store, verbose=given.verbose)
    return 0


if __name__ == "__main__":
    sys.exit(main())
