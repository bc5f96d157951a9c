"""`granola audit`: are the tiers of a file correct, informative and coarser with each level?"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import typer

from abstraction.formats.writing import check_kind
from abstraction.rows import RejectedRow, TieredRow, read_tiered
from granola.audit.annotation import rate_lines, rates
from granola.audit.finding_tables import axes_lines, entailment_lines
from granola.audit.offences import FindingTally, Offence, audit_axes, audit_entailment
from granola.audit.sheets import KEY_SUFFIX, draw, read_sheet, write_sheet
from granola.cli.csv_options import CsvRaw
from granola.cli.output import (
    check_language,
    check_outputs,
    check_standard_input,
    count,
    note,
    print_json,
    report_rejects,
)
from granola.errors import UsageError
from kg.files import atomic_path
from kg.store import open_store

SHOWN = 20
COMPARABLE = (
    "paper: Yona et al. 2024, Table 2, of 358 answers with the 124 first ones among them; of coarser tiers alone its "
    "shares are about 9 % (informative_template) and 14 % (granularity), if they are of answers. informative is our "
    "stricter reading, from the question as asked."
)


def audit(
    files: list[str] = typer.Argument(
        help="A tiered file, ours or GRANOLA-EQ's; with --annotated, filled sheets.", metavar="TIERED"
    ),
    snapshot: str | None = typer.Option(None, help="The snapshot to judge by: a file, or bolt://HOST:PORT."),
    entailment: bool = typer.Option(
        False, "--entailment", help="Replay each tier's own evidence instead of judging its words."
    ),
    out: Path | None = typer.Option(
        None, help="Write every offending tier as JSONL; with --sheet, the sheet (default TIERED.sheet.csv)."
    ),
    sheet: int | None = typer.Option(None, min=1, help="Draw so many tiers into a CSV sheet for annotators."),
    equally: bool = typer.Option(False, "--equally", help="Draw as many from each relation, not from all tiers alike."),
    with_first: bool = typer.Option(
        False, "--with-first", help="With --sheet: draw from the answers themselves, too, as in the paper's audit."
    ),
    seed: int = typer.Option(0, help="Seed of the draw and of the order of a sheet."),
    annotated: bool = typer.Option(
        False, "--annotated", help="Read filled sheets: error rates with intervals, and the annotators' agreement."
    ),
    language: str = typer.Option("en", help="Language of names and tiers, with its fallbacks."),
    as_json: bool = typer.Option(False, "--json", help="Print the figures as JSON."),
    force: bool = typer.Option(False, "--force", help="Replace existing outputs."),
    csv_raw: CsvRaw = False,
) -> None:
    """Audit a tiered file, whoever made it: correctness, informativeness, granularity, as far as the graph can tell.

    Prints the tiers against each axis per relation and answer class, and lists them; the exit status is 1 if there are
    any. --entailment replays evidence; --sheet and --annotated are for audits by people.
    """
    if annotated:
        if sheet or entailment or out:
            raise UsageError("--annotated reads filled sheets and goes with none of --sheet, --entailment and --out")
        _annotated(files, as_json=as_json)
        return
    if len(files) != 1:
        raise UsageError(f"one tiered file is audited at a time, not {len(files)}; sheets are read with --annotated")
    check_standard_input(files)
    if sheet is not None:
        if entailment:
            raise UsageError("--sheet draws tiers for people; --entailment goes without it")
        _sheet(files[0], sheet, out, seed=seed, equally=equally, with_first=with_first, force=force, csv_raw=csv_raw)
        return
    if snapshot is None:
        raise UsageError("give the --snapshot to judge by; `granola snapshot build` makes one")
    check_language(language)
    if out is not None:
        check_outputs(out, inputs=[*files, snapshot], force=force)
        check_kind(out, "jsonl")
    _audit(files[0], snapshot, out, entailment=entailment, language=language, as_json=as_json)


def _audit(path: str, snapshot: str, out: Path | None, *, entailment: bool, language: str, as_json: bool) -> None:
    rejected: list[RejectedRow] = []
    tally = FindingTally()
    with closing(open_store(snapshot)) as store:
        rows = read_tiered(path, on_reject=rejected.append)
        run = audit_entailment if entailment else audit_axes
        found = list(run(rows, store, tally, language=language, on_reject=rejected.append))
        about = str(store.manifest()["snapshot_id"])
    if tally.total.rows == 0:
        report_rejects(path, rejected)
        raise UsageError(f"{path}: no row to audit")
    if out is not None:
        _write(found, tally, out, about)
    if as_json:
        print_json(_figures(tally, found, about), indent=2)
    else:
        print(*(entailment_lines(tally) if entailment else axes_lines(tally)), sep="\n")
        _list(found, tally, out)
    report_rejects(path, rejected)
    if found or rejected:
        raise typer.Exit(1)


def _list(found: list[Offence], tally: FindingTally, out: Path | None) -> None:
    if tally.namesakes:
        print(f"\n{count(len(tally.namesakes), 'chain')} of a namesake of the answer's entity:")
    for one in tally.namesakes:
        whose = f"; they belong to {one['belongs_to']}" if one["belongs_to"] else ""
        doubt = "" if one["certain"] else " (if that is meant)"
        print(f"  {one['row']}: {one['answer']} is {one['taken_for']}{doubt}, not in {' › '.join(one['chain'])}{whose}")
    if found:
        print(f"\n{count(len(found), 'finding')}:")
    for offence in found[:SHOWN] if out is not None else found:
        place = f"{offence.row} level {offence.level}.{offence.position}"
        print(f"  {place}: {offence.text!r}: {offence.verdict}: {offence.why}")
    if out is not None and found:
        print(f"  all of them: {out}")


def _figures(tally: FindingTally, found: list[Offence], snapshot: str) -> dict[str, object]:
    def group(counts: object) -> dict[str, object]:
        return {"rows": counts.rows, "tiers": counts.tiers, **dict(sorted(counts.by.items()))}  # type: ignore[attr-defined]

    return {
        "schema_version": 1,
        "snapshot": snapshot,
        "total": group(tally.total),
        "relations": {name: group(counts) for name, counts in sorted(tally.relations.items())},
        "classes": {name: group(counts) for name, counts in sorted(tally.classes.items())},
        "findings": dict(sorted(Counter(one.verdict for one in found).items())),
        "namesakes": tally.namesakes,
    }


def _write(found: list[Offence], tally: FindingTally, out: Path, snapshot: str) -> None:
    with atomic_path(out) as place, place.open("w", encoding="utf-8", newline="\n") as stream:
        head = {"schema_version": 1, "snapshot": snapshot, "rows": tally.total.rows, "tiers": tally.total.tiers}
        for record in (head, *(one.to_json() for one in found), *({"namesake": one} for one in tally.namesakes)):
            stream.write(json.dumps(record, ensure_ascii=False) + "\n")


def _sheet(
    path: str, n: int, out: Path | None, *, seed: int, equally: bool, with_first: bool, force: bool, csv_raw: bool
) -> None:
    if path == "-" and out is None:
        raise UsageError("name the sheet with --out where the tiered file is standard input")
    place = out or Path(f"{path}.sheet.csv")
    check_outputs(place, inputs=[path], sides=(KEY_SUFFIX,), force=force)
    check_kind(place, "csv")
    rejected: list[RejectedRow] = []
    items = draw(_rows(path, rejected), n, seed=seed, equally=equally, with_first=with_first)
    if not items:
        raise UsageError(f"{path}: no tier beyond the answers, so there is nothing to annotate")
    if len(items) < n:
        note(f"there are only {count(len(items), 'tier')}; all of them are in the sheet")
    key = write_sheet(items, place, source=path, seed=seed, csv_raw=csv_raw)
    print(f"{place}: {count(len(items), 'tier')} to annotate; {key} says where each is from")
    report_rejects(path, rejected)
    if rejected:
        raise typer.Exit(1)


def _rows(path: str, rejected: list[RejectedRow]) -> Iterator[TieredRow]:
    return read_tiered(path, on_reject=rejected.append)


def _annotated(files: list[str], *, as_json: bool) -> None:
    sheets = [read_sheet(path) for path in files]
    coarser = rates(sheets, first=False)
    whole = rates(sheets) if any(sheet.first for sheet in sheets) else None
    if as_json:
        more = {"rates_with_first_answers": [rate.to_json() for rate in whole]} if whole else {}
        told = [rate.to_json() for rate in coarser]
        print_json({"schema_version": 1, "sheets": files, "rates": told, **more, "comparable": COMPARABLE}, indent=2)
        return
    if whole:
        print("All answers, the first ones among them, as in the paper's audit:", *rate_lines(whole), "", sep="\n")
    print("Tiers coarser than the answer:", *rate_lines(coarser), COMPARABLE, sep="\n")
