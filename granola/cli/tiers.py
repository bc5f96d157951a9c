"""`granola tiers`: questions in, ladders out."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import typer

from abstraction.assembly.reference_levels import NamesakePlaces, References
from abstraction.errors import RowError
from abstraction.formats.writing import check_format, format_of
from abstraction.linking.gazetteer import Gazetteer
from abstraction.linking.link_settings import link_settings
from abstraction.linking.review import Reviewer, confident, decided, read_decisions, refused, write_sheet
from abstraction.pipeline import LadderMaker, make_ladders
from abstraction.relations import relation as relation_row
from abstraction.rows import RejectedRow, TieredRow, read_questions, write_granola_eq, write_tiered
from granola.cli.csv_options import CsvRaw
from granola.cli.linking_options import LINKER_HELP, LinkerName
from granola.cli.output import (
    REJECTS_SUFFIX,
    STANDARD,
    check_language,
    check_outputs,
    check_standard_input,
    count,
    note,
    removed_on_error,
    warn_of_language,
    warn_of_relation,
    warn_of_time,
    watch_languages,
)
from granola.cli.phrasing_options import (
    ANSWERS,
    LOG_SUFFIX,
    MAX_TOKENS,
    MODE,
    PHRASE,
    PHRASE_SEED,
    PROMPTS,
    TEMPERATURE,
    TOP_P,
    UNPROVEN,
    PhraseMode,
    PhraseOptions,
    PhrasingRun,
    Unproven,
    check_unphrased,
    opened,
    plain,
)
from granola.cli.progress import with_progress
from granola.errors import UsageError
from granola.run_record import SUFFIX as RECORD_SUFFIX
from granola.run_record import write_run_record
from granola.scoring.ladder_coverage import Coverage
from granola.service.service_settings import is_service
from kg.files import atomic_path
from kg.store import open_store


class Engine(StrEnum):
    """What `--engine` takes."""

    LOCAL = "local"
    SPARK = "spark"


class Confidence(StrEnum):
    """What `--min-confidence` takes."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    GIVEN = "given"


class Format(StrEnum):
    """What `--format` takes."""

    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"
    GRANOLA_EQ = "granola-eq"


def tiers(
    qa: list[str] = typer.Argument(
        help="Questions: JSON, JSONL, CSV, Parquet or GRANOLA-EQ; - is standard input.", metavar="QA..."
    ),
    snapshot: str = typer.Option(
        help="The snapshot to link to and climb in: a file, bolt://HOST:PORT, or a service as http://HOST:PORT."
    ),
    out: str = typer.Option(help="Where to write the tiered rows; - is standard output."),
    relation: str | None = typer.Option(None, help="Property id, as P19, of rows that name none."),
    format: Format | None = typer.Option(None, help="Output format; by default the suffix of --out decides."),
    language: str = typer.Option("en", help="Language of names and tiers, with its fallbacks."),
    linker: LinkerName = typer.Option(LinkerName.QUESTION, help=LINKER_HELP),
    limit: int | None = typer.Option(None, min=1, help="Stop after so many questions."),
    min_confidence: Confidence | None = typer.Option(
        None, help="Make no ladder where an answer's entity is less certain than this."
    ),
    review: Path | None = typer.Option(
        None, help="Write a CSV sheet of doubtful links, with rivals and what is known of them, to decide on."
    ),
    decisions: Path | None = typer.Option(None, help="A sheet of --review with decisions: what is meant, or none."),
    reference: Path | None = typer.Option(
        None,
        help="The dataset's own levels, by id: tiered rows or GRANOLA-EQ's columns. They are united with the ladders, "
        "and each tier is marked with where it is from.",
        metavar="FILE",
    ),
    engine: Engine = typer.Option(
        Engine.LOCAL, help="Where ladders are made: in this process, or by Spark for a large dataset."
    ),
    master: str | None = typer.Option(
        None, help="Spark's master, as spark://HOST:7077 or local[8]; by default as spark-submit says, or local[*]."
    ),
    phrase: str | None = PHRASE,
    phrase_mode: PhraseMode = MODE,
    prompts: str | None = PROMPTS,
    unproven: Unproven = UNPROVEN,
    temperature: float = TEMPERATURE,
    top_p: float = TOP_P,
    max_tokens: int = MAX_TOKENS,
    phrase_seed: int = PHRASE_SEED,
    answers: Path | None = ANSWERS,
    force: bool = typer.Option(False, "--force", help="Replace an existing output."),
    csv_raw: CsvRaw = False,
) -> None:
    """Make a ladder for every question and print the coverage per relation.

    With --phrase a model words the ladders, and each decision on its words stands in OUT.phrasing.jsonl. Killed, the
    same command goes on and asks nothing again.

    Rejected rows are listed in OUT.rejects.jsonl, and the exit status is then 1.

    How the output was made stands in OUT.run.json.
    """
    if relation is not None:
        relation = relation_row(relation.upper() if relation[:1] == "p" else relation).id
        warn_of_relation(relation)
    if master is not None and engine is not Engine.SPARK:
        raise UsageError("--master is Spark's; give --engine spark with it")
    check_language(language)
    check_standard_input(qa)
    options = PhraseOptions(
        model=phrase, mode=phrase_mode, prompts=prompts, unproven=unproven, temperature=temperature, top_p=top_p,
        max_tokens=max_tokens, seed=phrase_seed,
    )  # fmt: skip
    check_unphrased(options, answers=answers)
    options.check()
    told = read_decisions(decisions) if decisions else {}
    if review is not None and is_service(snapshot):
        raise UsageError("--review reads the snapshot itself; give a file or bolt://HOST:PORT")
    to_stdout = out == STANDARD
    if not to_stdout:
        sides = (REJECTS_SUFFIX, RECORD_SUFFIX, *([LOG_SUFFIX] if phrase else []))
        check_outputs(out, inputs=[*qa, snapshot, reference], sides=sides, force=force)
    if review is not None:
        check_outputs(str(review), inputs=[*qa, snapshot, *([str(decisions)] if decisions else [])], force=force)
    references, bad = References.read(reference) if reference is not None else (None, [])
    kind = None if format in (None, Format.GRANOLA_EQ) else str(format)
    if format is Format.GRANOLA_EQ:
        kind = format_of(out) or "jsonl"
        note("granola-eq has one text a level: aliases, siblings and evidence are not kept")
    kind = check_format(out, kind)
    write = write_granola_eq if format is Format.GRANOLA_EQ else write_tiered
    coverage, reasons = Coverage(), Counter[str]()
    rejects = Path(f"{out}{REJECTS_SUFFIX}")
    phrasing: PhrasingRun | None = None
    with (
        removed_on_error(None if to_stdout else out),
        closing(_opened(snapshot, alone=phrase is None and engine is Engine.LOCAL)) as store,
        ExitStack() as stack,
        _Rejects(None if to_stdout else rejects) as rejected,
    ):

        def reject(row: RejectedRow) -> None:
            reasons[row.reason.split(":")[0]] += 1
            rejected.add(row)

        for row in bad:
            reject(row)
        warn_of_language(language, store)
        warn_of_time(store)
        asked = (decided(row, told) for row in read_questions(qa, relation=relation, limit=limit, on_reject=reject))
        questions = watch_languages(asked, language)
        if engine is Engine.SPARK:
            from abstraction.datasets.spark_tiers import ladders_on_spark

            ladders = ladders_on_spark(
                questions, snapshot, language=language, linker=linker, master=master, on_reject=reject
            )
        elif is_service(snapshot):
            ladders = store.make_ladders(questions, language=language, linker=linker, on_reject=reject)
        else:
            ladders = make_ladders(questions, store, language=language, linker=linker, on_reject=reject)
        ladders = (refused(row, told) for row in ladders)
        if review is not None:
            ladders = write_sheet(ladders, Reviewer(store, language=language), review)
        if min_confidence is not None:
            ladders = (confident(row, min_confidence) for row in ladders)
        if references is not None:
            if not is_service(snapshot):
                references.is_of_another = NamesakePlaces(partial(_places, LadderMaker(store, language=language)))
            ladders = references.unite(ladders)
        if phrase is not None:
            model = stack.enter_context(opened(phrase, None if to_stdout else out, answers, [*qa, snapshot]))
            phrasing = PhrasingRun(options.phraser(model, store, language), None if to_stdout else out)
            ladders = phrasing.rows(ladders, on_reject=reject)
        made = coverage.watch(ladders)
        write(_some(with_progress(made), qa, rejected), out, format=kind, csv_raw=csv_raw, on_reject=reject)
        manifest = store.manifest()
    screen = sys.stderr if to_stdout else sys.stdout
    print(*coverage.lines(), sep="\n", file=screen)
    if references is not None:
        became = ", ".join(f"{number:,} {what}" for what, number in sorted(references.counts.items()))
        print(f"tiers of {reference}: {became or 'none'}", file=screen)
    if phrasing is not None:
        phrasing.report(screen)
    if not to_stdout:
        arguments: dict[str, Any] = {
            "qa": list(qa), "snapshot": snapshot, "out": out, "relation": relation, "format": format,
            "language": language, "linker": linker, "limit": limit, "min_confidence": min_confidence,
            "review": review and str(review), "decisions": decisions and str(decisions), "engine": engine,
            "master": master, "force": force,
            "reference": reference and str(reference), **(plain(options) if phrase else {}),
        }  # fmt: skip
        more = {
            "snapshot": manifest["snapshot_id"],
            "linker": {
                "name": linker,
                "settings": link_settings().fingerprint if linker is LinkerName.QUESTION else None,
            },
            "coverage": {name: counts.to_json() for name, counts in coverage.ordered()}
            | {"total": coverage.total.to_json()},
            "rejected": dict(sorted(reasons.items())),
            **({"reference": dict(references.counts)} if references is not None else {}),
        } | ({"phrasing": phrasing.record()} if phrasing else {})
        write_run_record(out, command="tiers", arguments=arguments, inputs=[*qa, snapshot], more=more)
    if rejected.count:
        _report(rejected, reasons, None if to_stdout else rejects)
    if rejected.count or (phrasing is not None and phrasing.counts.unanswered):
        raise typer.Exit(1)


def _places(maker: LadderMaker) -> Gazetteer:
    maker.make_room()
    return maker.gazetteer


def _opened(snapshot: str, *, alone: bool) -> Any:
    """The snapshot's store, or the client of the service that has it."""
    if not is_service(snapshot):
        return open_store(snapshot)
    if not alone:
        raise UsageError("--phrase and --engine spark read a snapshot themselves; give a file or bolt://HOST:PORT")
    from granola.service.client import Client

    return Client(snapshot, pinned=True)


def _report(rejected: _Rejects, reasons: Counter[str], path: Path | None) -> None:
    where = f"; listed in {path}" if path else ""
    note(f"{count(rejected.count, 'row')} rejected{where}; the first: {rejected.first}")
    for reason, number in reasons.most_common():
        print(f"  {number:>6}  {reason}", file=sys.stderr)


def _some(rows: Iterator[TieredRow], qa: list[str], rejected: _Rejects) -> Iterator[TieredRow]:
    """Hand the rows on; RowError where there is none, so that no empty file is left."""
    first = next(rows, None)
    if first is None:
        why = f": {count(rejected.count, 'row')} rejected, the first at {rejected.first}" if rejected.count else ""
        raise RowError(f"no question in {', '.join(qa)} can be used{why}")
    yield first
    yield from rows


class _Rejects:
    """The file of rejected rows: there only when a row was rejected and the run ended well."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._place: Any = None
        self._stream: Any = None
        self.count = 0
        self.first = ""

    def add(self, row: RejectedRow) -> None:
        if self.count == 0:
            self.first = f"{row.source}: {row.reason}"
            if self._path is not None:
                self._place = atomic_path(self._path)
                self._stream = self._place.__enter__().open("wb")
        self.count += 1
        if self._stream is not None:
            line = row.to_json() if self.count > 1 else {"schema_version": 1, **row.to_json()}
            self._stream.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))

    def __enter__(self) -> _Rejects:
        return self

    def __exit__(self, *error: Any) -> None:
        if self._stream is not None:
            self._stream.close()
            self._place.__exit__(*error)
        elif self._path is not None and error[0] is None:
            self._path.unlink(missing_ok=True)  # of an earlier run
