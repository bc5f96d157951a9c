"""`granola audit`: are the tiers of a file correct, informative and coarser with each level?"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from abstraction.files.writing import check_kind
from abstraction.rows import RejectedRow, read_tiered
from granola.audit.annotation import Rate, rates, rates_table
from granola.audit.finding_tables import WIDTH, attribution_lines, axes_lines, entailment_lines
from granola.audit.offences import FindingTally, Offence, audit_attribution, audit_axes, audit_entailment
from granola.audit.sheets import KEY_SUFFIX, draw, read_sheet, write_sheet
from granola.commands.command import Command
from granola.commands.messages import count, note, report_rejects, table_width
from granola.commands.output import check_standard_input, csv_raw, writing
from granola.errors import UsageError
from granola.settings import Setting
from granola.shared_settings import Force, Language, check_language
from granola.terminal_lines import Verbatim, show_lines
from kg.files import atomic_path
from kg.store import open_store

SHOWN = 20
COMPARABLE = (
    "paper: Yona et al. 2024, Table 2, of 358 answers with the 124 first ones among them; of coarser tiers alone its "
    "shares are about 9 % (informative_template) and 14 % (granularity), if they are of answers. informative is our "
    "stricter reading, from the question as asked."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Audited:
    """What an audit found."""

    findings: Sequence[Offence]
    tally: FindingTally
    snapshot: str
    rejected: Sequence[RejectedRow]

    def to_json(self) -> dict[str, Any]:
        """The figures."""

        def group(counts: Any) -> dict[str, object]:
            return {"rows": counts.rows, "tiers": counts.tiers, **dict(sorted(counts.by.items()))}

        return {
            "snapshot": self.snapshot,
            "total": group(self.tally.total),
            "relations": {name: group(counts) for name, counts in sorted(self.tally.relations.items())},
            "classes": {name: group(counts) for name, counts in sorted(self.tally.classes.items())},
            "findings": dict(sorted(Counter(finding.verdict for finding in self.findings).items())),
            "namesakes": self.tally.namesakes,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class SheetDrawn:
    """A sheet for annotators, and the key that says where each tier is from."""

    sheet: Path
    key: Path
    tiers: int
    rejected: Sequence[RejectedRow]


@dataclass(frozen=True, kw_only=True, slots=True)
class Annotations:
    """Rates of filled sheets: of coarser tiers, and of every answer where first ones are among them."""

    sheets: Sequence[str]
    coarser: Sequence[Rate]
    every: Sequence[Rate] | None

    def to_json(self) -> Mapping[str, Any]:
        """The rates."""
        every = {"rates_with_first_answers": [rate.to_json() for rate in self.every]} if self.every else {}
        rates = [rate.to_json() for rate in self.coarser]
        return {"sheets": list(self.sheets), "rates": rates, **every, "comparable": COMPARABLE}


@dataclass(frozen=True, kw_only=True)
class Audit(Command["Audited | SheetDrawn | Annotations"]):
    """Audit a tiered file, whoever made it: correctness, informativeness, granularity, as far as the graph can tell.

    Prints the tiers against each axis per relation and answer class, and lists them; the exit status is 1 if there are
    any. --entailment replays evidence, --attribution says what it is to the tier; --sheet and --annotated are for
    audits by people.
    """

    files: Annotated[
        tuple[str, ...],
        Setting(
            "A tiered file, ours or GRANOLA-EQ's, or a dataset's folder; with --annotated, filled sheets.",
            metavar="TIERED",
            positional=True,
            folder=True,
        ),
    ]
    snapshot: Annotated[str | None, Setting("The snapshot to judge by: a file, or bolt://HOST:PORT.")] = None
    entailment: Annotated[bool, Setting("Replay each tier's own evidence instead of judging its words.")] = False
    attribution: Annotated[
        bool, Setting("Turn each tier's evidence into citations, and say whether they support it.")
    ] = False
    out: Annotated[
        Path | None,
        Setting("Write every offending tier as JSONL; with --sheet, the sheet (default TIERED.sheet.csv)."),
    ] = None
    sheet: Annotated[int | None, Setting("Draw so many tiers into a CSV sheet for annotators.", least=1)] = None
    equally: Annotated[bool, Setting("Draw as many from each relation, not from all tiers alike.", advanced=True)] = (
        False
    )
    with_first: Annotated[
        bool, Setting("With --sheet: draw from the answers themselves, too, as in the paper's audit.", advanced=True)
    ] = False
    seed: Annotated[int, Setting("Seed of the draw and of the order of a sheet.")] = 0
    annotated: Annotated[
        bool, Setting("Read filled sheets: error rates with intervals, and the annotators' agreement.")
    ] = False
    language: Language = "en"
    force: Force = False

    def run(self) -> Audited | SheetDrawn | Annotations:
        """Audit, draw a sheet or read sheets. Raises UsageError for settings that do not go together."""
        if self.annotated:
            if self.sheet or self.entailment or self.attribution or self.out:
                raise UsageError(
                    "--annotated reads filled sheets and goes with none of --sheet, --entailment, --attribution "
                    "and --out"
                )
            return self._annotations()
        if self.entailment and self.attribution:
            raise UsageError("--entailment names flaws, --attribution categories: give one of them")
        if len(self.files) != 1:
            raise UsageError(
                f"one tiered file is audited at a time, not {len(self.files)}; sheets are read with --annotated"
            )
        check_standard_input(self.files)
        if self.sheet is not None:
            if self.entailment or self.attribution:
                raise UsageError("--sheet draws tiers for people; --entailment and --attribution go without it")
            return self._draw(self.files[0], self.sheet)
        if self.snapshot is None:
            raise UsageError("give the --snapshot to judge by; `granola snapshot build` makes one")
        check_language(self.language)
        with writing(self.out, inputs=[*self.files, self.snapshot], force=self.force):
            if self.out is not None:
                check_kind(self.out, "jsonl")
            return self._audit(self.files[0], self.snapshot)

    def _audit(self, path: str, snapshot: str) -> Audited:
        rejected: list[RejectedRow] = []
        tally = FindingTally()
        with closing(open_store(snapshot)) as store:
            rows = read_tiered(path, on_reject=rejected.append)
            run = audit_entailment if self.entailment else audit_attribution if self.attribution else audit_axes
            findings = list(run(rows, store, tally, language=self.language, on_reject=rejected.append))
            about = str(store.manifest()["snapshot_id"])
        if tally.total.rows == 0:
            report_rejects(path, rejected)
            raise UsageError(f"{path}: no row to audit")
        if self.out is not None:
            _write(findings, tally, self.out, about)
        return Audited(findings=findings, tally=tally, snapshot=about, rejected=rejected)

    def _draw(self, path: str, n: int) -> SheetDrawn:
        if path == "-" and self.out is None:
            raise UsageError("name the sheet with --out where the tiered file is standard input")
        place = self.out or Path(f"{path}.sheet.csv")
        with writing(place, inputs=[path], sides=(KEY_SUFFIX,), force=self.force):
            check_kind(place, "csv")
            rejected: list[RejectedRow] = []
            rows = read_tiered(path, on_reject=rejected.append)
            items = draw(rows, n, seed=self.seed, equally=self.equally, with_first=self.with_first)
            if not items:
                raise UsageError(f"{path}: no tier beyond the answers, so there is nothing to annotate")
            if len(items) < n:
                note(f"there are only {count(len(items), 'tier')}; all of them are in the sheet")
            key = write_sheet(items, place, source=path, seed=self.seed, csv_raw=csv_raw())
        return SheetDrawn(sheet=place, key=key, tiers=len(items), rejected=rejected)

    def _annotations(self) -> Annotations:
        sheets = [read_sheet(path) for path in self.files]
        return Annotations(
            sheets=self.files,
            coarser=rates(sheets, first=False),
            every=rates(sheets) if any(sheet.first for sheet in sheets) else None,
        )

    def failed(self, result: Audited | SheetDrawn | Annotations) -> bool:
        """Whether anything was found, or rejected."""
        return bool(getattr(result, "findings", ()) or getattr(result, "rejected", ()))

    def show(self, result: Audited | SheetDrawn | Annotations) -> None:
        """The tables and the findings, where a sheet is, or the rates of filled ones."""
        if isinstance(result, SheetDrawn):
            show_lines(
                f"{result.sheet}: {count(result.tiers, 'tier')} to annotate; {result.key} says where each is from"
            )
        elif isinstance(result, Annotations):
            _show_rates(result)
        else:
            lines = entailment_lines if self.entailment else attribution_lines if self.attribution else axes_lines
            show_lines(*map(Verbatim, lines(result.tally, table_width(WIDTH))))
            show_lines(*_listed(result.findings, result.tally, self.out))

    def tell(self, result: Audited | SheetDrawn | Annotations) -> None:
        """The rejected rows."""
        if not isinstance(result, Annotations):
            report_rejects(self.files[0], result.rejected)


def _show_rates(annotations: Annotations) -> None:
    if annotations.every:
        whole = "All answers, the first ones among them, as in the paper's audit:"
        show_lines(whole, rates_table(annotations.every), "")
    show_lines("Tiers coarser than the answer:", rates_table(annotations.coarser), COMPARABLE)


def _listed(findings: Sequence[Offence], tally: FindingTally, out: Path | None) -> Iterator[str]:
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
        place = f"{offence.row} level {offence.level}.{offence.position}"
        yield f"  {place}: {offence.text!r}: {offence.verdict}: {offence.why}"
    if out is not None and findings:
        yield f"  all of them: {out}"


def _write(findings: Sequence[Offence], tally: FindingTally, out: Path, snapshot: str) -> None:
    with atomic_path(out) as place, place.open("w", encoding="utf-8", newline="\n") as stream:
        head = {"schema_version": 1, "snapshot": snapshot, "rows": tally.total.rows, "tiers": tally.total.tiers}
        for record in (
            head,
            *(finding.to_json() for finding in findings),
            *({"namesake": namesake} for namesake in tally.namesakes),
        ):
            stream.write(json.dumps(record, ensure_ascii=False) + "\n")
