"""`granola audit`: are the tiers of a file correct, informative and coarser with each level?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from abstraction.base.faults import RejectedRow
from abstraction.files.rows import read_tiered
from abstraction.files.writing import check_kind, writing_lines
from granola.base.settings import Setting
from granola.base.terminal_lines import show_lines
from granola.commands.command import Command
from granola.commands.messages import count, report_rejects
from granola.commands.output import writing
from granola.errors import UsageError
from granola.evidence.audit.offences import FindingTally, Offence, audit
from granola.scoring.shared_settings import Force, Language, check_language
from kg.store import open_store

SHOWN = 20  # findings on screen where --out has them all


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditResult:
    """The result of an audit."""

    findings: Sequence[Offence]
    tally: FindingTally
    snapshot: str
    rejected: Sequence[RejectedRow]

    @property
    def by_verdict(self) -> dict[str, int]:
        """The number of findings by verdict or flaw."""
        return dict(sorted(Counter(finding.verdict for finding in self.findings).items()))

    def to_json(self) -> dict[str, Any]:
        """The counts as a JSON object."""
        counts = self.tally.to_json()
        return {"snapshot": self.snapshot, **counts, "findings": self.by_verdict, "namesakes": self.tally.namesakes}


@dataclass(frozen=True, kw_only=True)
class Audit(Command[AuditResult]):
    """Audit a tiered file, whoever made it: correctness, informativeness, granularity, as far as the graph can tell.

    Prints the number of tiers that fail each axis, per relation and answer class, and lists these tiers; the exit
    status is 1 if there are any. --entailment replays evidence. `granola sheets` is for audits by people.
    """

    file: Annotated[
        str,
        Setting(
            "A tiered file, ours or GRANOLA-EQ's, or a dataset's folder; - is standard input.",
            metavar="TIERED",
            positional=True,
            folder=True,
        ),
    ]
    snapshot: Annotated[str, Setting("The snapshot to judge by: a file, or bolt://HOST:PORT.")]
    entailment: Annotated[bool, Setting("Replay each tier's own evidence instead of judging its words.")] = False
    out: Annotated[Path | None, Setting("Write every offending tier as JSONL.")] = None
    language: Language = "en"
    force: Force = False

    def run(self) -> AuditResult:
        """Run the audit. Raises UsageError for a file without rows."""
        check_language(self.language)
        with writing(self.out, inputs=[self.file, self.snapshot], force=self.force):
            if self.out is not None:
                check_kind(self.out, "jsonl")
            return self._audit()

    def _audit(self) -> AuditResult:
        rejected: list[RejectedRow] = []
        tally = FindingTally()
        with closing(open_store(self.snapshot)) as store:
            rows = read_tiered(self.file, on_reject=rejected.append)
            findings = list(
                audit(rows, store, tally, by_evidence=self.entailment, language=self.language,
                      on_reject=rejected.append)
            )  # fmt: skip
            about = str(store.manifest()["snapshot_id"])
        # An audit of nothing must not pass.
        if tally.total["rows"] == 0:
            report_rejects(self.file, rejected)
            raise UsageError(f"{self.file}: no row to audit")
        if self.out is not None:
            rows_and_tiers = {name: tally.total[name] for name in ("rows", "tiers")}
            with writing_lines(self.out) as write:
                write({"schema_version": 1, "snapshot": about, **rows_and_tiers})
                for line in (*(one.to_json() for one in findings), *({"namesake": one} for one in tally.namesakes)):
                    write(line)
        return AuditResult(findings=findings, tally=tally, snapshot=about, rejected=rejected)

    def failed(self, result: AuditResult) -> bool:
        """Whether there is a finding or a rejected row."""
        return bool(result.findings or result.rejected)

    def show(self, result: AuditResult) -> None:
        """Print the tables and the findings."""
        verdicts = ", ".join(f"{name} {number:,}" for name, number in result.by_verdict.items())
        show_lines(
            *result.tally.tables(by_evidence=self.entailment),
            *([f"findings: {verdicts}"] if verdicts else []),
            *_finding_lines(result.findings, result.tally, self.out),
        )

    def report_problems(self, result: AuditResult) -> None:
        """Report the rejected rows."""
        report_rejects(self.file, result.rejected)


def _finding_lines(findings: Sequence[Offence], tally: FindingTally, out: Path | None) -> Iterator[str]:
    if tally.namesakes:
        yield from ("", f"{count(len(tally.namesakes), 'chain')} of a namesake of the answer's entity:")
    for namesake in tally.namesakes:
        whose = f"; they belong to {namesake['belongs_to']}" if namesake["belongs_to"] else ""
        doubt = "" if namesake["certain"] else " (if that is meant)"
        chain = " › ".join(namesake["chain"])
        yield f"  {namesake['row']}: {namesake['answer']} is {namesake['taken_for']}{doubt}, not in {chain}{whose}"
    if findings:
        yield from ("", f"{count(len(findings), 'finding')}:")
    for offence in findings[:SHOWN] if out is not None else findings:
        place = f"{offence.row} level {offence.level}.{offence.tier}"
        yield f"  {place}: {offence.text!r}: {offence.verdict}: {offence.why}"
    if out is not None and findings:
        yield f"  all of them: {out}"
