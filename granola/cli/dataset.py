"""`granola dataset`: questions of one's own in, a folder to publish out."""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path

import typer

from abstraction.datasets.building import BATCH, Built, DatasetSettings, build_dataset, check_place
from abstraction.datasets.dataset_cleaning import MOST, STEPS, CleaningStep, read_trivial
from abstraction.datasets.questions import QuestionFiles, Questions
from abstraction.relations import relation as relation_row
from granola.cli.linking_options import LINKER_HELP, LinkerName
from granola.cli.output import check_language, count, note, warn_of_language, warn_of_relation
from granola.cli.phrasing_options import (
    ANSWERS,
    CONSISTENCY,
    MAX_TOKENS,
    MODE,
    PHRASE,
    PHRASE_SEED,
    PROMPTS,
    SAMPLES,
    TEMPERATURE,
    TOP_P,
    UNPROVEN,
    PhraseMode,
    PhraseOptions,
    PhrasingModels,
    Unproven,
    check_unphrased,
)
from granola.cli.progress import counting
from granola.run_record import write_run_record
from kg.files import resolved
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
    without: list[CleaningStep] = typer.Option([], help="Leave a step of the cleaning out; may be given again."),
    one_answer: bool = typer.Option(
        False, "--one-answer", help="Only questions with one gold answer, as in GRANOLA-EQ (the step several-answers)."
    ),
    trivial: Path | None = typer.Option(None, help="A file of texts that never are a coarser answer, one a line."),
    threshold: float = typer.Option(
        MOST, help="Rows whose score_for_potential_error is above it are left out; from 0 to 1."
    ),
    phrase: str | None = PHRASE,
    phrase_mode: PhraseMode = MODE,
    consistency: str | None = CONSISTENCY,
    samples: int = SAMPLES,
    prompts: str | None = PROMPTS,
    unproven: Unproven = UNPROVEN,
    temperature: float = TEMPERATURE,
    top_p: float = TOP_P,
    max_tokens: int = MAX_TOKENS,
    phrase_seed: int = PHRASE_SEED,
    answers: Path | None = ANSWERS,
    limit: int | None = typer.Option(None, min=1, help="Stop after so many questions."),
    batch: int = typer.Option(BATCH, min=1, help="Questions to a batch, what a kill may cost."),
    restart: bool = typer.Option(False, "--restart", help="Throw away what a killed run left."),
    force: bool = typer.Option(False, "--force", help="Replace a dataset that was built here before."),
) -> None:
    """Build a dataset of answers at several granularities: rows, a card with statistics, what was left out and why.

    With --phrase a model words the ladders, with --consistency one scores whether descriptions fit their questions.

    Killed, it goes on with the same command. The folder is loaded with datasets.load_dataset(OUT).
    """
    if relation is not None:
        relation = relation_row(relation.upper() if relation[:1] == "p" else relation).id
        warn_of_relation(relation)
    steps = frozenset(STEPS) - frozenset(without)
    settings = DatasetSettings(
        name=name if name is not None else resolved(out).name,
        language=language,
        linker=linker,
        split=split,
        format="jsonl" if format is DataFormat.JSONL else "parquet",
        steps=steps if one_answer else steps - {CleaningStep.SEVERAL_ANSWERS},
        trivial=read_trivial(trivial) if trivial else (),
        most=threshold,
        batch=batch,
        command="granola dataset",
    )
    questions = QuestionFiles(files=tuple(qa), relation=relation, limit=limit)
    options = PhraseOptions(
        model=phrase, mode=phrase_mode, prompts=prompts, unproven=unproven, temperature=temperature, top_p=top_p,
        max_tokens=max_tokens, seed=phrase_seed,
    )  # fmt: skip
    check_unphrased(options, answers=answers, scored=consistency is not None)
    models = PhrasingModels(phrasing=options, consistency=consistency, samples=samples, answers=answers)
    built = make(questions, snapshot, out, settings=settings, models=models, force=force, restart=restart)
    if built.rejected or built.phrasing.unanswered or built.unscored:
        raise typer.Exit(1)


def make(
    questions: Questions,
    snapshot: str,
    out: Path,
    *,
    settings: DatasetSettings,
    models: PhrasingModels | None = None,
    force: bool = False,
    restart: bool = False,
) -> Built:
    """Build the dataset and tell on stdout what is in it, on stderr how far it is and what was rejected."""
    check_language(settings.language)
    if models is not None:
        models.check()
    for path in questions.files:
        if not path.exists():
            raise FileNotFoundError(2, "no such file", str(path))
    check_place(out, [*questions.files, *([] if is_address(snapshot) else [Path(snapshot)])], force=force)
    inputs: list[Path | str] = [*questions.files, snapshot]
    with closing(open_store(snapshot)) as store, ExitStack() as stack, counting("questions") as progress:
        warn_of_language(settings.language, store)
        phraser, scorer = models.opened(stack, store, out, inputs, settings.language) if models else (None, None)
        built = build_dataset(
            questions, store, out, settings=settings, phraser=phraser, scorer=scorer, force=force, restart=restart,
            progress=progress,
        )  # fmt: skip
        arguments = {**asdict(settings), **questions.asked, "snapshot": snapshot, "out": out, "force": force}
        arguments |= models.plain() if models else {}
        arguments |= {"steps": list(built.cleaner.counts), "beside": settings.beside.name if settings.beside else None}
        write_run_record(
            built.data,
            command="dataset",
            arguments=arguments,
            inputs=inputs,
            more={
                "snapshot": store.manifest()["snapshot_id"],
                **({"phrasing": {**phraser.settings, "fingerprint": phraser.fingerprint}} if phraser else {}),
                **({"scorer": scorer.fingerprint} if scorer else {}),
            },
        )
    if models is not None and models.phrasing.model is not None:
        print(*built.phrasing.lines(), "", sep="\n")
    for step, counted in built.cleaner.counts.items():
        taken = f", {count(counted.answers, 'answer')} taken out" if step is CleaningStep.TRIVIAL_ANSWERS else ""
        unjudged = f", {counted.unjudged:,} without a score" if step is CleaningStep.INCONSISTENT_DESCRIPTIONS else ""
        print(f"{step}: {counted.dropped:,} of {count(counted.rows, 'row')} left out{taken}{unjudged}")
        for reason, number in counted.reasons.most_common():
            print(f"  {number:>6}  {reason}")
    print("", *built.statistics.tables(settings.beside), "", f"{built.data}", sep="\n")
    if built.rejected:
        listed = out / "rejected.jsonl"
        note(f"{count(built.rejected, 'row')} rejected; listed in {listed}; the first: {built.first_reject}")
    if built.phrasing.unanswered:
        rows = count(built.phrasing.unanswered, "row")
        note(
            f"{rows} without an answer of the model's keep the graph's ladder; --force builds anew and asks them again"
        )
    if built.unscored:
        rows = count(built.unscored, "row")
        note(f"{rows} without a score, as the model could not be had; --force builds anew and asks them again")
    return built
