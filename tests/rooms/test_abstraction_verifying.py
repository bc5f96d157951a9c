"""Does a tier follow from its evidence?"""

from __future__ import annotations

from dataclasses import replace

from abstraction.files.rows import TieredRow
from abstraction.verifying.entailment import EntailmentChecker
from abstraction.verifying.tier_verdicts import Judge
from abstraction.verifying.verdicts import VerdictKind
from kg.store.sqlite import SQLiteStore


def renamed(row: TieredRow, text: str) -> TieredRow:
    *finer, last = row.levels
    wrong = replace(last.tiers[0], text=text, qid=None, aliases=())
    return replace(row, levels=(*finer, replace(last, tiers=(wrong,))))


def test_the_evidence_of_a_ladder_bears_it_out(store: SQLiteStore, row: TieredRow) -> None:
    checker = EntailmentChecker(store)
    assert {check.status for check in checker.check(row)} == {"entailed"}
    assert "flawed" in {check.status for check in checker.check(renamed(row, "Canada"))}


def test_words_are_judged_by_the_graph(store: SQLiteStore, row: TieredRow) -> None:
    verdicts = [one.verdict for one in Judge(store).judge(renamed(row, "Canada")).tiers]
    assert verdicts[-1] is VerdictKind.CONTRADICTED
