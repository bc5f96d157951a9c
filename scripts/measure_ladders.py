"""Measure ladders on real data against a snapshot of the 76 K sample.

    python scripts/measure_ladders.py SNAPSHOT [--data ../shared/data] [--parts abcdef] [--verbose]

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

import csv
import gc
import gzip
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from measuring import arguments, percent, relation_files, rows_of

from abstraction.base.tiers import Tier
from abstraction.files.rows import QARow, TieredRow, read_questions
from abstraction.ladders.weighing import positions_of_tiers_with_rising_bits
from abstraction.maker.pipeline import LadderMaker
from granola.base.terminal_lines import show_lines
from granola.matching.squad import token_f1
from granola.scoring.ladder_coverage import LadderCoverage
from kg.base.model import normalise
from kg.store.sqlite import SQLiteStore

SAME = 0.5  # token-F1 from which a tier states a reference
CONTINENTS = {"Africa", "Antarctica", "Asia", "Europe", "North America", "Oceania", "South America"}
OTHER_NAMES = {"united states": {"united states of america"}, "china": {"people's republic of china"}}


@dataclass(frozen=True, kw_only=True)
class Measuring:
    """The parts, over one snapshot and the folder of data; `verbose` lists every miss."""

    store: SQLiteStore
    data: Path
    verbose: bool

    def told(self, line: str) -> None:
        """A line that is wanted only where all is listed."""
        if self.verbose:
            print(f"  {line}")

    def a_entity_questions(self) -> None:
        """EntityQuestions, test, first answers."""
        read = read_questions(relation_files(self.data).values())
        rows = [replace(row, answers=row.answers[:1], answer_qids=row.answer_qids[:1]) for row in read]
        gc.set_threshold(100_000, 20, 100)  # as `granola tiers` does
        maker, coverage, bits = LadderMaker(self.store), LadderCoverage(), Counter[str]()
        for label in ("first pass", "second pass, everything cached"):
            begin = time.process_time()
            made = maker.make_all(rows)
            for row in coverage.count_while_iterating(made) if label == "first pass" else made:
                if label == "first pass":
                    weighed = [tier.bits is not None for level in row.levels[1:] for tier in level.tiers]
                    bits.update(
                        tiers=len(weighed),
                        told=sum(weighed),
                        rising=bool(positions_of_tiers_with_rising_bits(row.levels)),
                    )
            spent = time.process_time() - begin
            print(f"{label}: {len(rows)} questions, {spent:.1f} s of processor time, {len(rows) / spent:.0f} a second")
        show_lines(*coverage.tables())
        share = percent(bits["told"], bits["tiers"])
        print(f"bits: {bits['told']} of {bits['tiers']} tiers ({share}), {bits['rising']} ladders rise")

    def b_labelled_rows(self) -> None:
        """GRANOLA-EQ rows, hand-labelled references."""
        rows = list(read_questions([self.data / "granola_eq" / "rows_dev.jsonl"]))
        known = self.store.entities([qid for row in rows for qid in row.answer_qids if qid], properties=())
        groups = defaultdict[str, Counter[str]](Counter)
        for question, (row, bare) in zip(rows, self._both(rows), strict=True):
            there = "in the snapshot" if question.answer_qids[0] in known else "not in the snapshot"
            for group in ("all rows", f"gold entity {there}"):
                groups[group].update(self._agreement(row, bare))
        for name, held in groups.items():
            good, matched, told = held["good"], held["matched"], held["told"]
            print(f"{name}: {held['rows']} rows\n  good reference tiers matched {matched}/{good} "
                  f"{percent(matched, good)}; {told} more that the question gives away or most answers share, of the "
                  f"others {percent(matched, good - told)}\n  pairs in order {held['in order']}, at one level "
                  f"{held['tied']}, reversed {held['reversed']}; of our {held['ours']} tiers {held['like wrong']} "
                  "match one labelled wrong")  # fmt: skip

    def _both(self, rows: list[QARow]) -> Iterator[tuple[TieredRow, TieredRow]]:
        """Each row's ladder, and the one that keeps what the question gives away."""
        plain = LadderMaker(self.store, as_asked=False).make_all(rows)
        return zip(LadderMaker(self.store).make_all(rows), plain, strict=True)

    def _agreement(self, row: TieredRow, plain: TieredRow) -> Counter[str]:
        """What part b counts of one row."""
        counts = Counter(rows=1)
        texts = [level[0] for level in row.extra["reference_levels"][1:]]
        labelled = list(zip(texts, row.extra["reference_labels"], strict=True))
        stated = []
        for text in (text for text, label in labelled if label == "good"):
            found = best_level(text, row)
            told = found is None and best_level(text, plain) is not None
            counts.update(good=1, matched=found is not None, told=told)
            if found is not None:
                stated.append(found)
            elif not told:
                self.told(f"miss   {row.relation} {row.id} {row.answers[0]}: {text!r} not in {shown(row)}")
        for fine, coarse in combinations(stated, 2):
            counts["in order" if fine < coarse else "tied" if fine == coarse else "reversed"] += 1
        for tier in (tier for level in row.levels[1:] for tier in level.tiers):
            like = {label: max(token_f1(name, text) for name in tier.names()) for text, label in labelled}
            counts["ours"] += 1
            if like.get("wrong", 0.0) >= SAME and like["wrong"] > like.get("good", 0.0):
                counts["like wrong"] += 1
                self.told(f"wrong? {row.relation} {row.id} {row.answers[0]}: {tier.text!r}")
        return counts

    def c_place_rows(self) -> None:
        """GRANOLA-EQ places."""
        rows = list(read_questions([self.data / "granola_eq" / "places_dev.jsonl"]))
        known = self.store.find([row.answers[0] for row in rows], languages=("en", "mul"))
        groups = defaultdict[str, Counter[str]](Counter)
        for row, bare in self._both(rows):
            texts = [level[0] for level in row.extra["reference_levels"][1:]]
            missing = [text for text in texts if best_level(text, row) is None]
            told = [text for text in missing if best_level(text, bare) is not None]
            named = ["rows whose answer's name the snapshot knows"] if known.get(row.answers[0]) else []
            for name in ("all rows", *named):
                groups[name].update(
                    rows=1, coarser=len(row.levels) > 1, linked=row.levels[0].tiers[0].qid is not None,
                    references=len(texts), stated=len(texts) - len(missing), told=len(told),
                    given_away=len(row.levels) == 1 < len(bare.levels),
                )  # fmt: skip
            if len(missing) > len(told):
                self.told(f"miss   {row.relation} {row.question} {missing} not in {shown(row)}")
        for name, held in groups.items():
            print(f"{name}: {held['rows']}; linked {percent(held['linked'], held['rows'])}\n  with a coarser tier "
                  f"{held['coarser']} {percent(held['coarser'], held['rows'])}; reference coarser tiers stated "
                  f"{held['stated']}/{held['references']} {percent(held['stated'], held['references'])}\n  without "
                  f"{held['given_away']} rows and {held['told']} references that the question gives away: "
                  f"{percent(held['coarser'], held['rows'] - held['given_away'])} with a coarser tier, "
                  f"{percent(held['stated'], held['references'] - held['told'])} stated")  # fmt: skip

    def d_popqa_links(self) -> None:
        """PopQA's ids."""
        gold = [row for row in rows_of(self.data / "open_qa" / "popqa.jsonl.gz") if row.get("o_qid")]
        maker, counts = LadderMaker(self.store), defaultdict[str, Counter[str]](Counter)
        asked = [_question(row["i"], row["question"], row["answer"], row["pid"]) for row in gold]
        for row, made in zip(gold, maker.make_all(asked), strict=True):
            link: Any = made.links[0] if made.links else {}
            qid = None if link.get("abstained") else link.get("qid")
            state = "none" if qid is None else "right" if qid == row["o_qid"] else "wrong"
            level = str(link.get("confidence") or "none") if qid else "none"
            groups = ("all", level, row["pid"], *(("not low", f"{row['pid']} not low") if level != "low" else ()))
            for group in groups:
                counts[group][state] += 1
                counts[group]["absent"] += state == "wrong" and maker.graph.entity(row["o_qid"]) is None
            if state == "wrong":
                self.told(f"{level} {row['pid']} {row['subj']}: {row['answer']} is {row['o_qid']}, not {qid}")
        for group, held in sorted(counts.items(), key=lambda pair: -sum(pair[1].values())):
            if linked := held["right"] + held["wrong"]:
                print(f"  {group:12} linked {linked:4} of {linked + held['none']:4}, wrong {held['wrong']:3} ="
                      f" {percent(held['wrong'], linked)} (absent {held['absent']})")  # fmt: skip

    def e_birthplaces(self) -> None:
        """Pantheon's birthplaces."""
        with gzip.open(self.data / "granola_eq" / "pantheon_1.0.tsv.gz", "rt", encoding="utf-8") as lines:
            told = [row for row in csv.DictReader(lines, delimiter="\t") if row["birthcity"] and row["countryName"]]
        known = [row for row in told if row["countryName"] != "UNKNOWN" and int(row["en_curid"]) % 2 == 0]
        asked = [
            _question(at, f"Where was {row['name']} born?", row["birthcity"].split(",")[0], "P19")
            for at, row in enumerate(known)
        ]
        counts = Counter[str]()
        for row, made in zip(known, LadderMaker(self.store).make_all(asked), strict=True):
            if len(made.levels) < 2:
                continue
            names = {normalise(name) for level in made.levels for name in level.names()}
            country = normalise(row["countryName"])
            wanted = {country} | OTHER_NAMES.get(country, set())
            counts.update(ladders=1, country=not wanted.isdisjoint(names))
            if country == "united states" and row["birthstate"]:
                counts.update({"in a state": 1, "state": any(normalise(row["birthstate"]) in name for name in names)})
            if wanted.isdisjoint(names):
                self.told(f"miss   {row['name']}, {row['birthcity']}, {row['countryName']}: {shown(made)}")
        print(f"  {len(known)} births, {counts['ladders']} ladders; country "
              f"{percent(counts['country'], counts['ladders'])}, state "
              f"{percent(counts['state'], counts['in a state'])} of {counts['in a state']}")  # fmt: skip

    def f_stated_places(self) -> None:
        """Places by statements."""
        maker = LadderMaker(self.store)
        for prop in ("P19", "P159", "P740"):
            used = dict(self.store.values_of(prop))
            found = self.store.entities(list(used), properties=())
            asked = [
                replace(_question(qid, "Where?", entity.labels.get("en", qid), prop), answer_qids=(qid,))
                for qid, entity in found.items()
            ]
            coarser = weight = beside = 0
            for made in maker.make_all(asked):
                weight += used[made.id]
                coarser += used[made.id] * (len(made.levels) > 1)
                several = (level.tiers for level in made.levels[1:] if len(level.tiers) > 1)
                if any(any(map(_is_continent, tiers)) for tiers in several):
                    beside += 1
                    self.told(f"beside {shown(made)}")
            print(f"  {prop}: {len(asked)} values, of statements with one {percent(coarser, weight)} have a coarser"
                  f" tier; {beside} continents beside another tier")  # fmt: skip


def best_level(text: str, row: TieredRow) -> int | None:
    """The coarser level (1 and on) that states `text` best, the finest of equals; None below `SAME`."""
    scores = [
        max((token_f1(name, text) for name in level.names()), default=0.0) for level in row.levels[1:]
    ]  # fmt: skip
    best = max(scores, default=0.0)
    return scores.index(best) + 1 if best >= SAME else None


def shown(row: TieredRow) -> str:
    ladder = " > ".join(" | ".join(tier.text for tier in level.tiers) for level in row.levels)
    return ladder + (f" [{row.abstained}]" if row.abstained else "")


def _is_continent(tier: Tier) -> bool:
    return tier.text in CONTINENTS


def _question(row_id: object, question: str, answer: str, relation: str) -> QARow:
    return QARow(id=str(row_id), question=question, answers=(answer,), answer_qids=(None,), relation=relation)


def main() -> None:
    parser = arguments(__doc__, snapshot=True)
    parser.add_argument("--parts", default="abcdef", help="which parts")
    parser.add_argument("--verbose", action="store_true", help="list every miss")
    given = parser.parse_args()
    with SQLiteStore.open(given.snapshot) as store:
        measuring = Measuring(store=store, data=given.data, verbose=given.verbose)
        for name, part in vars(Measuring).items():
            if name[0] in given.parts and name[1:2] == "_":
                print(f"{name[0]}. {part.__doc__}")
                part(measuring)


if __name__ == "__main__":
    main()
