"""`granola audit`: are the tiers of a file correct, informative and coarser with each level?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from abstraction.base.faults import RejectedRow
from abstraction.files.writing import check_kind, json_line_writer
from granola.base.settings import Setting
from granola.base.terminal_lines import show_lines
from granola.commands.command import Command
from granola.commands.messages import count, report_rejects
from granola.commands.output import writing
from granola.errors import UsageError
from granola.scoring.shared_settings import Force, Language, check_language
from kg.store import open_store

if TYPE_CHECKING:
    from granola.evidence.audit.offences import TierAudit

SHOWN = 20  # findings on screen where --out has them all


@dataclass(frozen=True, kw_only=True)
class Audit(Command["TierAudit"]):
    """Audit a tiered file, whoever made it: correctness, informativeness, granularity, as far as the graph can tell.

    Prints the number of tiers that fail each axis, per relation, and lists these tiers; the exit
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

    def run(self) -> TierAudit:
        """Run the audit. Raises UsageError for a file without rows."""
        from abstraction.files.rows import read_tiered
        from granola.evidence.audit.offences import audit

        check_language(self.language)
        with writing(self.out, inputs=[self.file, self.snapshot], force=self.force):
            if self.out is not None:
                check_kind(self.out, "jsonl")
            rejected: list[RejectedRow] = []
            with closing(open_store(self.snapshot)) as store:
                result = audit(
                    read_tiered(self.file, on_reject=rejected.append), store, by_evidence=self.entailment,
                    language=self.language, rejected=rejected,
                )  # fmt: skip
            # An audit of nothing must not pass.
            if not result.relations:
                report_rejects(self.file, rejected)
                raise UsageError(f"{self.file}: no row to audit")
            if self.out is not None:
                total = result.total
                with json_line_writer(self.out) as write:
                    head = {"schema_version": 1, "snapshot": result.snapshot}
                    for line in (
                        head | {name: total[name] for name in ("rows", "tiers")}, *result.findings,
                        *({"namesake": one} for one in result.namesakes),
                    ):  # fmt: skip
                        write(line)
            return result

    def failed(self, result: TierAudit) -> bool:
        """Whether there is a finding or a rejected row."""
        return bool(result.findings or result.rejected)

    def show(self, result: TierAudit) -> None:
        """Print the tables and the findings."""
        verdicts = ", ".join(f"{name} {number:,}" for name, number in result.findings_by_verdict.items())
        show_lines(
            result.table(by_evidence=self.entailment),
            "",
            *([f"findings: {verdicts}"] if verdicts else []),
            *_finding_lines(result, self.out),
        )

    def report_problems(self, result: TierAudit) -> None:
        """Report the rejected rows."""
        report_rejects(self.file, result.rejected)


def _finding_lines(result: TierAudit, out: Path | None) -> Iterator[str]:
    if result.namesakes:
        yield from ("", f"{count(len(result.namesakes), 'chain')} of a namesake of the answer's entity:")
    for namesake in result.namesakes:
        whose = f"; they belong to {namesake['belongs_to']}" if namesake["belongs_to"] else ""
        doubt = "" if namesake["certain"] else " (if that is meant)"
        chain = " › ".join(namesake["chain"])
        yield f"  {namesake['row']}: {namesake['answer']} is {namesake['taken_for']}{doubt}, not in {chain}{whose}"
    if result.findings:
        yield from ("", f"{count(len(result.findings), 'finding')}:")
    for one in result.findings[:SHOWN] if out is not None else result.findings:
        place = f"{one['row']} level {one['level']}.{one['tier']}"
        yield f"  {place}: {one['text']!r}: {one['verdict']}: {one['why']}"
    if out is not None and result.findings:
        yield f"  all of them: {out}"
