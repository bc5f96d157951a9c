"""`granola aggregate`: samples in, predictions out, without a model."""

from __future__ import annotations

import gc
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing
from enum import StrEnum
from typing import Any

import typer

from granola.cli.linking import LINKER_HELP, LinkerName
from granola.decoding.decision import Abstaining
from granola.decoding.self_consistency import Counting


class AggregateMethod(StrEnum):
    """What `--method` takes."""

    DRAG_GRAPH = "drag-graph"
    SELF_CONSISTENCY = "self-consistency"


SUPPORT_HELP = "drag-graph: the share of the responses that must entail the answer, above 0 and up to 1."
WEIGH_HELP = "drag-graph: take the greatest bits times share to this power, rather than the finest; 0 or more."
COUNTING_HELP = (
    "self-consistency: what counts as the same answer: its words, what they name, or what follows from them."
)
ABSTAINING_HELP = (
    "What responses count that decline: nothing but where they are the most, nothing, or as entailing nothing."
)


def aggregate(
    samples: str = typer.Argument(
        help='Rows with "id", "question" and "samples", as JSONL, CSV or Parquet; - is standard input.',
        metavar="SAMPLES",
    ),
    out: str = typer.Option(help="Where to write the predictions; - is standard output."),
    method: AggregateMethod = typer.Option(AggregateMethod.DRAG_GRAPH, help="How one answer is made of several."),
    snapshot: str | None = typer.Option(
        None, help="The snapshot to link responses to: a file, or bolt://HOST:PORT. Counting words needs none."
    ),
    support: float = typer.Option(1.0, help=SUPPORT_HELP),
    weigh: float | None = typer.Option(None, help=WEIGH_HELP),
    counting: Counting = typer.Option(Counting.TEXT, help=COUNTING_HELP),
    abstaining: Abstaining = typer.Option(Abstaining.MAJORITY, help=ABSTAINING_HELP),
    language: str = typer.Option("en", help="Language of the responses and of the predictions."),
    linker: LinkerName = typer.Option(LinkerName.QUESTION, help=LINKER_HELP),
    limit: int | None = typer.Option(None, min=1, help="Stop after so many questions."),
    force: bool = typer.Option(False, "--force", help="Replace an existing output."),
) -> None:
    """Make one answer of several responses to each question, with its support, confidence and an explanation.

    Fields that mean nothing here stay in the rows. Bad rows are listed in OUT.rejects.jsonl, and the exit status is 1.
    """
    from abstraction.formats.writing import check_format, write_records
    from abstraction.rows import RejectedRow
    from granola.cli.output import (
        REJECTS_SUFFIX,
        STANDARD,
        check_language,
        check_outputs,
        count,
        exit_status,
        list_rejects,
        removed_on_error,
        report_rejects,
    )
    from granola.cli.progress import with_progress
    from granola.decoding import Aggregator, prediction_row, read_samples
    from granola.decoding.rules import needs_snapshot, rule_of
    from granola.errors import UsageError
    from granola.run_record import SUFFIX as RECORD_SUFFIX
    from granola.run_record import write_run_record
    from kg.store import open_store

    check_language(language)
    chosen = rule_of(method, support=support, weigh=weigh, counting=counting, abstaining=abstaining)
    assert chosen is not None  # both methods have a rule
    if snapshot is None and needs_snapshot(chosen):
        raise UsageError("responses are linked to a snapshot: give --snapshot, or --method self-consistency alone")
    to_stdout = out == STANDARD
    inputs = [samples, *([] if snapshot is None else [snapshot])]
    if not to_stdout:
        check_outputs(out, inputs=inputs, sides=(REJECTS_SUFFIX, RECORD_SUFFIX), force=force)
    check_format(out)
    rejected: list[RejectedRow] = []
    outcomes: Counter[str] = Counter()
    gc.set_threshold(100_000, 20, 100)  # what is read of a snapshot stays: looking it through takes a tenth of the time
    manifest: dict[str, Any] = {}
    with ExitStack() as stack:
        stack.enter_context(removed_on_error(None if to_stdout else out))
        store = None if snapshot is None else stack.enter_context(closing(open_store(snapshot)))

        def predictions() -> Iterator[dict[str, Any]]:
            rows = read_samples(samples, on_reject=rejected.append, limit=limit)
            for row, decision in Aggregator(store, language=language, linker=linker).decide(rows, chosen):
                outcomes["IDK" if decision.abstains else "answered"] += 1
                yield prediction_row(row, decision, method=method)

        write_records(with_progress(predictions()), out)
        if store is not None:
            manifest = dict(store.manifest())
        rejects = list_rejects(out, rejected)
    screen = sys.stderr if to_stdout else sys.stdout
    print(
        f"{count(outcomes.total(), 'question')}: {outcomes['answered']:,} answered, {outcomes['IDK']:,} IDK",
        file=screen,
    )
    if not to_stdout:
        arguments = {
            "samples": samples, "method": method, "snapshot": snapshot, "support": support, "weigh": weigh,
            "counting": counting, "abstaining": abstaining, "language": language, "linker": linker, "limit": limit,
        }  # fmt: skip
        more = {"outcomes": dict(outcomes), "rejected": len(rejected)}
        if manifest:
            more["snapshot"] = manifest["snapshot_id"]
        write_run_record(out, command="aggregate", arguments=arguments, inputs=inputs, more=more)
    report_rejects(samples, rejected, listed=rejects)
    exit_status(rejected)
