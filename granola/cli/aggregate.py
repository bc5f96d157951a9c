"""`granola aggregate`: samples in, predictions out; only DRAG asks a model."""

from __future__ import annotations

import gc
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from enum import StrEnum
from pathlib import Path
from typing import Any

import typer

from granola.cli.csv_options import CsvRaw
from granola.cli.decoding_options import (
    PROMPTS_HELP,
    AbstainingOption,
    AggregatorOption,
    CalibrationOption,
    CountingOption,
    Force,
    Limit,
    Linker,
    ResponseLanguage,
    Support,
    Weigh,
)
from granola.cli.linking_options import LinkerName
from granola.cli.phrasing_options import ANSWERS_SUFFIX
from granola.decoding.self_consistency import Counting


class AggregateMethod(StrEnum):
    """What `--method` takes."""

    DRAG_GRAPH = "drag-graph"
    SELF_CONSISTENCY = "self-consistency"
    DRAG = "drag"


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
    support: Support = None,
    calibration: CalibrationOption = None,
    weigh: Weigh = None,
    counting: CountingOption = Counting.TEXT,
    abstaining: AbstainingOption = None,
    aggregator: AggregatorOption = None,
    prompts: str | None = typer.Option(None, help=f"drag: {PROMPTS_HELP}", metavar="SET|FOLDER"),
    answers: Path | None = typer.Option(
        None, help=f"drag: where the model's answers are kept (default: OUT{ANSWERS_SUFFIX}).", metavar="FILE"
    ),
    language: ResponseLanguage = "en",
    linker: Linker = LinkerName.QUESTION,
    limit: Limit = None,
    force: Force = False,
    csv_raw: CsvRaw = False,
) -> None:
    """Make one answer of several responses to each question, with its support, confidence and an explanation.

    Fields that mean nothing here stay in the rows. Bad rows are listed in OUT.rejects.jsonl, and the exit status is 1.
    """
    from abstraction.faults import Fault, Taken, attempt
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
        warn_of_language,
    )
    from granola.cli.phrasing_options import opened
    from granola.cli.progress import with_progress
    from granola.decoding import Aggregator, Decision, SampleRow, prediction_row, read_samples
    from granola.decoding.answer_prompts import read_prompts
    from granola.decoding.calibration import Calibration
    from granola.decoding.method_rules import needs_snapshot, rule_of, usual_abstaining
    from granola.decoding.methods import Answering
    from granola.decoding.model_answers import Answered, Answerer, AnswerSettings
    from granola.errors import UsageError
    from granola.run_record import SUFFIX as RECORD_SUFFIX
    from granola.run_record import write_run_record
    from kg.store import open_store

    check_language(language)
    chosen = rule_of(
        method, support=support, weigh=weigh, counting=counting, abstaining=abstaining,
        calibration=None if calibration is None else Calibration.read(calibration),
    )  # fmt: skip
    abstaining = getattr(chosen, "abstaining", None) or abstaining or usual_abstaining(method)
    if (aggregator is None) != (method is not AggregateMethod.DRAG):
        raise UsageError("--method drag asks a model: give it as --aggregator MODEL, which no other method takes")
    if snapshot is None and needs_snapshot(chosen):
        raise UsageError("responses are linked to a snapshot: give --snapshot, or --method self-consistency alone")
    to_stdout = out == STANDARD
    inputs = [samples, *(str(one) for one in (snapshot, calibration) if one is not None)]
    if not to_stdout:
        check_outputs(out, inputs=inputs, sides=(REJECTS_SUFFIX, RECORD_SUFFIX), force=force)
    check_format(out)
    rejected: list[RejectedRow] = []
    taken = Taken(rejected.append)
    outcomes: Counter[str] = Counter()
    gc.set_threshold(100_000, 20, 100)  # what is read of a snapshot stays: looking it through takes a tenth of the time
    manifest: dict[str, Any] = {}
    more: dict[str, Any] = {}
    with ExitStack() as stack:
        stack.enter_context(removed_on_error(None if to_stdout else out))
        store = None if snapshot is None else stack.enter_context(closing(open_store(snapshot)))
        if store is not None:
            warn_of_language(language, store)

        def decided(rows: Iterable[SampleRow]) -> Iterator[tuple[SampleRow, Decision]]:
            if chosen is not None:
                linked = Aggregator(store, language=language, linker=linker)
                yield from linked.decide(rows, chosen, on_reject=rejected.append)
                return
            assert aggregator is not None
            model = stack.enter_context(opened(aggregator, None if to_stdout else out, answers, inputs))
            asking = AnswerSettings(method=Answering.DRAG, abstaining=abstaining)
            answerer = Answerer(model, asking, read_prompts(prompts), language=language)
            more.update(answerer.settings)
            for found in answerer.aggregate(rows):
                if isinstance(found, Answered):
                    yield found.row, found.decision
                else:
                    reason = f"{found.reason}: {found.message}"
                    rejected.append(RejectedRow(source=found.row.source, reason=reason, excerpt=found.row.question))

        def predictions() -> Iterator[dict[str, Any]]:
            rows = read_samples(samples, on_reject=rejected.append, limit=limit)
            for row, decision in decided(rows):
                taken.take(row.source, row.id, row.question)
                made = attempt("writing", prediction_row, row, decision, method=method)
                if isinstance(made, Fault):
                    taken.unwritten(made)
                    continue
                outcomes["IDK" if decision.abstains else "answered"] += 1
                yield made

        write_records(with_progress(predictions()), out, csv_raw=csv_raw, on_fault=taken.unwritten)
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
            "samples": samples, "method": method, "snapshot": snapshot, "weigh": weigh,
            "support": getattr(chosen, "support", None), "calibration": calibration and str(calibration),
            "counting": counting, "abstaining": abstaining, "language": language, "linker": linker, "limit": limit,
            "aggregator": aggregator, "prompts": prompts,
        }  # fmt: skip
        more |= {"outcomes": dict(outcomes), "rejected": len(rejected)}
        if manifest:
            more["snapshot"] = manifest["snapshot_id"]
        write_run_record(out, command="aggregate", arguments=arguments, inputs=inputs, more=more)
    report_rejects(samples, rejected, listed=rejects)
    exit_status(rejected)
