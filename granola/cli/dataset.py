"""`granola dataset`: questions of one's own in, a folder to publish out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path

import typer

from abstraction.datasets.building import BATCH, Built, Settings, build_dataset, check_place
from abstraction.datasets.cleaning import MOST, STEPS, Step, read_trivial
from abstraction.datasets.questions import QuestionFiles, Questions
from abstraction.relations import relation as relation_row
from granola.cli.linking import LINKER_HELP, LinkerName
from granola.cli.output import check_language, count, note, warn_of_language, warn_of_relation
from granola.run_record import write_run_record
from kg.store import is_address, open_store


class DataFormat(StrEnum):
    """What `--format` takes."""

    PARQUET = "parquet"
    JSONL = "jsonl"


def dataset(
    qa: list[Path] = typer.Argument(help="Questions: JSON, JSONL, CSV, Parquet or GRANOLA-EQ.", metavar="QA..."),
    snapshot: str = typer.Option(help="The snapshot to link to and climb in: a file, or bolt://HOST:PORT."),
    out: Path = typer.Option(help="The folder to write; it appears when all is done."),
    name: str | None = typer.Option(None, help="The dataset's name on its card; by default the folder's."),
    relation: str | None = typer.Option(None, help="Property id, as P19, of rows that name none."),
    split: str = typer.Option("test", help="What the `datasets` library shall call the rows."),
    format: DataFormat = typer.Option(DataFormat.JSONL, help="The format of the file with the rows."),
    language: str = typer.Option("en", help="Language of names and tiers, with its fallbacks."),
    linker: LinkerName = typer.Option(LinkerName.QUESTION, help=LINKER_HELP),
    without: list[Step] = typer.Option([], help="Leave a step of the cleaning out; may be given again."),
    one_answer: bool = typer.Option(
        False, "--one-answer", help="Only questions with one gold answer, as in GRANOLA-EQ (the step several-answers)."
    ),
    trivial: Path | None = typer.Option(None, help="A file of texts that never are a coarser answer, one a line."),
    threshold: float = typer.Option(
        MOST, help="Rows whose score_for_potential_error is above it are left out; from 0 to 1."
    ),
    limit: int | None = typer.Option(None, min=1, help="Stop after so many questions."),
    batch: int = typer.Option(BATCH, min=1, help="Questions to a batch, what a kill may cost."),
    restart: bool = typer.Option(False, "--restart", help="Throw away what a killed run left."),
    force: bool = typer.Option(False, "--force", help="Replace a dataset that was built here before."),
) -> None:
    """Build a dataset of answers at several granularities: rows, a card with statistics, what was left out and why.

    Killed, it goes on with the same command. The folder is loaded with datasets.load_dataset(OUT).
    """
    if relation is not None:
        relation = relation_row(relation.upper() if relation[:1] == "p" else relation).id
        warn_of_relation(relation)
    steps = frozenset(STEPS) - frozenset(without)
    settings = Settings(
        name=name if name is not None else out.resolve().name,
        language=language,
        linker=linker,
        split=split,
        format="jsonl" if format is DataFormat.JSONL else "parquet",
        steps=steps if one_answer else steps - {Step.SEVERAL_ANSWERS},
        trivial=read_trivial(trivial) if trivial else (),
        most=threshold,
        batch=batch,
        command="granola dataset",
    )
    questions = QuestionFiles(files=tuple(qa), relation=relation, limit=limit)
    if make(questions, snapshot, out, settings=settings, force=force, restart=restart).rejected:
        raise typer.Exit(1)


def make(
    questions: Questions, snapshot: str, out: Path, *, settings: Settings, force: bool = False, restart: bool = False
) -> Built:
    """Build the dataset and tell on stdout what is in it, on stderr how far it is and what was rejected."""
    check_language(settings.language)
    for path in questions.files:
        if not path.exists():
            raise FileNotFoundError(2, "no such file", str(path))
    check_place(out, [*questions.files, *([] if is_address(snapshot) else [Path(snapshot)])], force=force)
    with closing(open_store(snapshot)) as store, _shown() as progress:
        warn_of_language(settings.language, store)
        built = build_dataset(questions, store, out, settings=settings, force=force, restart=restart, progress=progress)
        arguments = {**asdict(settings), **questions.asked, "snapshot": snapshot, "out": out, "force": force}
        arguments |= {"steps": list(built.cleaner.counts), "beside": settings.beside.name if settings.beside else None}
        write_run_record(
            built.data,
            command="dataset",
            arguments=arguments,
            inputs=[*questions.files, snapshot],
            more={"snapshot": store.manifest()["snapshot_id"]},
        )
    for step, counted in built.cleaner.counts.items():
        taken = f", {count(counted.answers, 'answer')} taken out" if step is Step.TRIVIAL_ANSWERS else ""
        unjudged = f", {counted.unjudged:,} without a score" if step is Step.INCONSISTENT_DESCRIPTIONS else ""
        print(f"{step}: {counted.dropped:,} of {count(counted.rows, 'row')} left out{taken}{unjudged}")
        for reason, number in counted.reasons.most_common():
            print(f"  {number:>6}  {reason}")
    print("", *built.statistics.tables(settings.beside), "", f"{built.data}", sep="\n")
    if built.rejected:
        listed = out / "rejected.jsonl"
        note(f"{count(built.rejected, 'row')} rejected; listed in {listed}; the first: {built.first_reject}")
    return built


@contextmanager
def _shown() -> Iterator[Callable[[int], None]]:
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.completed:,.0f} questions"), TimeElapsedColumn())
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as shown:
        task = shown.add_task("", total=None)
        yield lambda done: shown.update(task, completed=done)
