"""`granola derive targets`: samples in, training data for granularity out, as TRL reads it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing
from enum import StrEnum
from typing import Any

import typer

from granola.cli.csv_options import CsvRaw
from granola.cli.decoding_options import PROMPTS_HELP, AbstainingOption, Force, Limit, Linker, Support
from granola.cli.linking_options import LinkerName
from granola.decoding.decision import Abstaining

UNKNOWN = "I don't know."


class TargetKind(StrEnum):
    """What `--kind` takes."""

    SUPERVISED = "supervised"
    PREFERENCES = "preferences"


class TargetPrompt(StrEnum):
    """What `--prompt` takes."""

    QUESTION = "question"
    ANSWER = "answer"
    IDK = "idk"
    IDK_IF_UNCERTAIN = "idk_if_uncertain"
    AGG = "agg"


def targets(
    samples: str = typer.Argument(
        help='Rows with "id", "question" and "samples", as JSONL, CSV or Parquet; - is standard input.',
        metavar="SAMPLES",
    ),
    out: str = typer.Option(help="Where to write the training rows; - is standard output."),
    snapshot: str = typer.Option(help="The snapshot to link responses to: a file, or bolt://HOST:PORT."),
    kind: TargetKind = typer.Option(
        TargetKind.SUPERVISED, help="supervised: prompt and completion; preferences: prompt, chosen and rejected."
    ),
    support: Support = None,
    abstaining: AbstainingOption = None,
    prompt: TargetPrompt = typer.Option(
        TargetPrompt.QUESTION, help="The prompt of the rows: the question alone, or as `granola answer` asks it."
    ),
    prompts: str | None = typer.Option(None, help=PROMPTS_HELP, metavar="SET|FOLDER"),
    unknown: str = typer.Option(UNKNOWN, help="What the model shall say where too few samples agree on anything."),
    most: int = typer.Option(
        2, min=1, help="The most pairs of a question with answers that claim too much, or too little."
    ),
    language: str = typer.Option("en", help="Language of the responses."),
    linker: Linker = LinkerName.QUESTION,
    limit: Limit = None,
    force: Force = False,
    csv_raw: CsvRaw = False,
) -> None:
    """Make training data of a model's own samples: the finest answer that enough of them support, and pairs around it.

    Bad rows are listed in OUT.rejects.jsonl, and the exit status is 1.
    """
    from abstraction.faults import Fault, Taken, attempt
    from abstraction.formats.writing import check_format, write_records
    from abstraction.models.chat_request import Message
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
    from granola.cli.progress import with_progress
    from granola.decoding.answer_prompts import read_prompts
    from granola.decoding.drag_graph import SUPPORT, DragGraph
    from granola.decoding.response_aggregation import Aggregator
    from granola.decoding.samples import read_samples
    from granola.decoding.training_targets import preference_rows, supervised_row
    from granola.decoding.training_targets import targets as targets_of
    from granola.errors import UsageError
    from granola.run_record import SUFFIX as RECORD_SUFFIX
    from granola.run_record import write_run_record
    from kg.store import open_store

    check_language(language)
    if not unknown.strip():
        raise UsageError("--unknown is empty; give what the model shall say")
    abstaining = abstaining or Abstaining.MAJORITY
    rule = DragGraph(support=SUPPORT if support is None else support, abstaining=abstaining)
    texts = read_prompts(prompts)
    to_stdout = out == STANDARD
    if not to_stdout:
        check_outputs(out, inputs=[samples, snapshot], sides=(REJECTS_SUFFIX, RECORD_SUFFIX), force=force)
    check_format(out)
    rejected: list[RejectedRow] = []
    taken = Taken(rejected.append)
    counts: Counter[str] = Counter()
    with ExitStack() as stack:
        stack.enter_context(removed_on_error(None if to_stdout else out))
        store = stack.enter_context(closing(open_store(snapshot)))
        warn_of_language(language, store)

        def made() -> Iterator[dict[str, Any]]:
            rows = read_samples(samples, on_reject=rejected.append, limit=limit)
            tallies = Aggregator(store, language=language, linker=linker).tallies(rows, on_reject=rejected.append)
            for row, counted in tallies:
                taken.take(row.source, row.id, row.question)
                found = attempt("making targets", targets_of, counted, rule, unknown=unknown, most=most)
                if isinstance(found, Fault):
                    taken.unwritten(found)
                    continue
                asked = (
                    (Message(role="user", content=row.question),)
                    if prompt is TargetPrompt.QUESTION
                    else texts[prompt].fill({"question": row.question})
                )
                counts["questions"] += 1
                counts["unknown"] += found.decision.abstains
                if kind is TargetKind.SUPERVISED:
                    counts["rows"] += 1
                    yield supervised_row(row, found, asked)
                else:
                    for pair in preference_rows(row, found, asked):
                        counts["rows"] += 1
                        yield pair

        write_records(with_progress(made()), out, csv_raw=csv_raw, on_fault=taken.unwritten)
        snapshot_id = store.manifest()["snapshot_id"]
        rejects = list_rejects(out, rejected)
    screen = sys.stderr if to_stdout else sys.stdout
    total = count(counts["questions"], "question")
    print(f"{total}: {count(counts['rows'], 'row')}; {counts['unknown']:,} not known", file=screen)
    if not to_stdout:
        arguments = {
            "samples": samples, "kind": kind, "support": rule.support, "abstaining": abstaining, "prompt": prompt,
            "prompts": prompts, "unknown": unknown, "most": most, "language": language, "linker": linker,
            "limit": limit, "snapshot": snapshot,
        }  # fmt: skip
        more = {"snapshot": snapshot_id, "counts": dict(counts), "rejected": len(rejected)}
        write_run_record(out, command="derive targets", arguments=arguments, inputs=[samples, snapshot], more=more)
    report_rejects(samples, rejected, listed=rejects)
    exit_status(rejected)
