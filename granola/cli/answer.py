"""`granola answer`: questions put to a model, answered by one of several methods."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing
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
from granola.decoding.methods import SAMPLES, TEMPERATURE, Answering
from granola.decoding.self_consistency import Counting

ANSWERS_SUFFIX = ".answers.sqlite"


def answer(
    questions: list[str] = typer.Argument(
        help="Questions, with or without answers: JSON, JSONL, CSV, Parquet, tiered rows; - is standard input.",
        metavar="QUESTIONS...",
    ),
    model: str = typer.Option(help="The model: openai:URL#NAME, local:FOLDER or replay:FILE.", metavar="MODEL"),
    out: str = typer.Option(help="Where to write the predictions; - is standard output."),
    method: Answering = typer.Option(Answering.GREEDY, help="How questions are answered."),
    relation: str | None = typer.Option(None, help="Property id, as P19, of rows that name none."),
    samples: int = typer.Option(SAMPLES, min=1, help="Responses to a question, for the methods that draw several."),
    temperature: float = typer.Option(TEMPERATURE, help="Temperature of what is drawn, up to 2; above 0 for several."),
    top_p: float = typer.Option(1.0, "--top-p", help="Share of likely tokens that is drawn from."),
    max_tokens: int = typer.Option(64, "--max-tokens", min=1, help="The longest response."),
    seed: int = typer.Option(0, help="Seed of the first response; the next one's is one more."),
    prompts: str | None = typer.Option(
        None,
        help=PROMPTS_HELP,
        metavar="SET|FOLDER",
    ),
    answers: Path | None = typer.Option(
        None,
        help=f"Where the model's responses are kept, so that nothing is asked twice (default: OUT{ANSWERS_SUFFIX}).",
        metavar="FILE",
    ),
    snapshot: str | None = typer.Option(None, help="What responses are linked to, where ladders or names count."),
    support: Support = None,
    calibration: CalibrationOption = None,
    weigh: Weigh = None,
    counting: CountingOption = Counting.TEXT,
    abstaining: AbstainingOption = None,
    aggregator: AggregatorOption = None,
    language: ResponseLanguage = "en",
    linker: Linker = LinkerName.QUESTION,
    limit: Limit = None,
    force: Force = False,
    csv_raw: CsvRaw = False,
) -> None:
    """Ask a model the questions and write its predictions, with the responses that they were made of.

    Killed, it goes on with the same command: no response is asked for twice. Methods that draw share their responses
    where --answers names one file. Questions without a response are listed in OUT.rejects.jsonl; the exit status is 1.
    """
    from abstraction.faults import Fault, Taken, attempt
    from abstraction.formats.writing import check_format, write_records
    from abstraction.models.spec import parse_model_spec
    from abstraction.relations import relation as relation_row
    from abstraction.rows import RejectedRow
    from granola.cli.output import (
        REJECTS_SUFFIX,
        STANDARD,
        check_language,
        check_outputs,
        check_standard_input,
        count,
        exit_status,
        list_rejects,
        removed_on_error,
        report_rejects,
        warn_of_language,
    )
    from granola.cli.phrasing_options import opened
    from granola.cli.progress import with_progress
    from granola.decoding.answer_prompts import read_prompts
    from granola.decoding.calibration import Calibration
    from granola.decoding.method_rules import needs_snapshot, rule_of, usual_abstaining
    from granola.decoding.model_answers import Answered, Answerer, AnswerSettings
    from granola.decoding.response_aggregation import Aggregator, answer_row
    from granola.decoding.samples import read_asked
    from granola.errors import PredictionError, UsageError
    from granola.run_record import SUFFIX as RECORD_SUFFIX
    from granola.run_record import write_run_record
    from kg.store import open_store

    check_language(language)
    check_standard_input(questions)
    parse_model_spec(model)
    if aggregator is not None:
        if method is not Answering.DRAG:
            raise UsageError(f"--aggregator is drag's; --method {method} asks no second model")
        parse_model_spec(aggregator)
    if relation is not None:
        relation = relation_row(relation.upper() if relation[:1] == "p" else relation).id
    rule = rule_of(
        method, support=support, weigh=weigh, counting=counting, abstaining=abstaining,
        calibration=None if calibration is None else Calibration.read(calibration),
    )  # fmt: skip
    abstaining = getattr(rule, "abstaining", None) or abstaining or usual_abstaining(method)
    asking = AnswerSettings(
        method=method,
        samples=samples,
        temperature=temperature,
        top_p=top_p,
        max_tokens=max_tokens,
        seed=seed,
        abstaining=abstaining,
    )
    if needs_snapshot(rule) and snapshot is None:
        raise UsageError(f"--method {method} links responses to a snapshot: give --snapshot")
    texts = read_prompts(prompts)
    to_stdout = out == STANDARD
    inputs: list[str | Path] = [*questions, *(one for one in (snapshot, calibration) if one is not None)]
    sides = (REJECTS_SUFFIX, RECORD_SUFFIX)
    if not to_stdout:
        check_outputs(out, inputs=inputs, sides=sides, force=force)
    check_format(out)
    rejected: list[RejectedRow] = []
    taken = Taken(rejected.append)
    outcomes: Counter[str] = Counter()
    more: dict[str, Any] = {}
    with ExitStack() as stack:
        stack.enter_context(removed_on_error(None if to_stdout else out))
        store = None if snapshot is None else stack.enter_context(closing(open_store(snapshot)))
        if store is not None:
            warn_of_language(language, store)
        asked = stack.enter_context(opened(model, None if to_stdout else out, answers, inputs))
        drag_model = None
        if aggregator not in (None, model):
            drag_model = stack.enter_context(opened(aggregator, None if to_stdout else out, answers, inputs))
        linked = None if rule is None else Aggregator(store, language=language, linker=linker)
        answerer = Answerer(
            asked, asking, texts, aggregator=linked, rule=rule, language=language, drag_model=drag_model
        )

        def predictions() -> Iterator[dict[str, Any]]:
            rows = read_asked(questions, relation=relation, limit=limit, on_reject=rejected.append)
            for found in answerer.answer(rows):
                if isinstance(found, Answered):
                    taken.take(found.row.source, found.row.id, found.row.question)
                    made = attempt("writing", answer_row, found.row, found.decision, method=method)
                    if isinstance(made, Fault):
                        taken.unwritten(made)
                        continue
                    outcomes["IDK" if found.decision.abstains else "answered"] += 1
                    yield made
                else:
                    rejected.append(found.rejected())
            if not outcomes:
                why = f": {rejected[0].source}: {rejected[0].reason}" if rejected else ""
                raise PredictionError(f"no question in {', '.join(questions)} has an answer{why}")

        write_records(with_progress(predictions()), out, csv_raw=csv_raw, on_fault=taken.unwritten)
        more |= answerer.settings
        if store is not None:
            more["snapshot"] = store.manifest()["snapshot_id"]
        rejects = list_rejects(out, rejected)
    screen = sys.stderr if to_stdout else sys.stdout
    total = count(outcomes.total(), "question")
    print(f"{total}: {outcomes['answered']:,} answered, {outcomes['IDK']:,} IDK", file=screen)
    if not to_stdout:
        arguments = {
            "questions": list(questions), "model": model, "method": method, "relation": relation, "samples": samples,
            "temperature": temperature, "top_p": top_p, "max_tokens": max_tokens, "seed": seed, "prompts": prompts,
            "snapshot": snapshot, "support": getattr(rule, "support", None), "weigh": weigh,
            "counting": counting, "abstaining": abstaining,
            "aggregator": aggregator, "language": language, "linker": linker, "limit": limit,
            "calibration": calibration and str(calibration),
        }  # fmt: skip
        more |= {"outcomes": dict(outcomes), "rejected": len(rejected)}
        write_run_record(out, command="answer", arguments=arguments, inputs=inputs, more=more)
    report_rejects(", ".join(questions), rejected, listed=rejects)
    exit_status(rejected)
