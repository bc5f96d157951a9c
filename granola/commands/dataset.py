"""`granola dataset`: questions of one's own in, a folder to publish out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from abstraction.base.faults import OnReject
from abstraction.datasets.dataset_cleaning import MOST, STEPS, CleaningStep, read_trivial_answers
from abstraction.datasets.saved_work import QuestionFiles
from abstraction.files.row_shapes import RowShape
from granola.base.run_record import write_run_record
from granola.base.settings import Setting, command_line, recorded_settings
from granola.base.terminal_lines import TextTable, count_table, show_lines
from granola.commands.command import Command
from granola.commands.messages import (
    count,
    note,
    progress_counter,
    unanswered_rows_line,
    warn_of_misread_rows,
    warn_of_snapshot_gaps,
)
from granola.commands.output import lock_output, open_model, writing
from granola.commands.tiers import PhrasingSettings, ReviewSettings
from granola.errors import UsageError
from granola.scoring.shared_settings import (
    LINKED_TO,
    Force,
    Language,
    Limit,
    Linker,
    QuestionSettings,
    Relation,
    check_language,
    property_id,
)
from kg.base.files import resolve_symlinks
from kg.store import is_address, open_store
from kg.store.protocol import Store

if TYPE_CHECKING:
    from abstraction.datasets.building import BuiltDataset, DatasetSettings
    from abstraction.files.rows import QARow
    from abstraction.linking.review import Decisions
    from abstraction.phrasing.phraser import ConsistencyScorer, ModelPhraser

SAMPLES_PER_ROW = 10  # replies sampled per row for --consistency, as in Yona et al. 2024, appendix B


@dataclass(frozen=True, kw_only=True)
class DatasetModels(PhrasingSettings):
    """The models for building a dataset: one phrases ladders, one scores descriptions."""

    consistency: Annotated[
        str | None,
        Setting(
            "A model that is asked whether a row's descriptions fit it, as --phrase; gives score_for_potential_error.",
            metavar="MODEL",
        ),
    ] = None
    samples: Annotated[
        int, Setting("How often --consistency asks about a row, at temperature 1.", least=1, advanced=True)
    ] = SAMPLES_PER_ROW

    def check_models(self) -> None:
        """Check the settings of both models, see `check_phrasing`."""
        from abstraction.models.spec import parse_model_spec

        self.check_phrasing(scored=self.consistency is not None)
        if self.consistency is None and self.samples != SAMPLES_PER_ROW:
            raise UsageError("--samples goes with --consistency MODEL, which is not given")
        if self.consistency is not None:
            parse_model_spec(self.consistency)
            self.read_prompts()

    def open_models(
        self, stack: ExitStack, store: Store, out: Path, inputs: Sequence[Path | str], language: str
    ) -> tuple[ModelPhraser | None, ConsistencyScorer | None]:
        """The phraser and the scorer, each None where not requested; they share a model where both name the same."""
        from abstraction.phrasing.phraser import ConsistencyScorer

        model = phraser = scorer = None
        if self.phrase is not None:
            model = stack.enter_context(open_model(self.phrase, out, inputs))
            phraser = self.phraser(model, store, language)
        if self.consistency is not None:
            # One server or set of weights serves both where the specs are equal.
            if model is None or self.phrase != self.consistency:
                model = stack.enter_context(open_model(self.consistency, out, inputs))
            scorer = ConsistencyScorer(model, prompts=self.read_prompts(), samples=self.samples)
        return phraser, scorer


@dataclass(frozen=True, kw_only=True)
class QuestionFilesWithWarnings(QuestionFiles):
    """Files of questions; rows that are probably not read as intended are reported on standard error."""

    decisions: Decisions = field(default_factory=dict)

    def read_questions(self, on_reject: OnReject) -> Iterator[QARow]:
        """See `QuestionFiles.read_questions`."""
        questions = QuestionFiles.read_questions(self, on_reject)
        return warn_of_misread_rows(questions, self.language, self.decisions)


@dataclass(frozen=True, kw_only=True)
class Dataset(Command["BuiltDataset"], QuestionSettings, DatasetModels, ReviewSettings):
    """Build a dataset of answers at several granularities: rows, a card with statistics, what was left out and why.

    With --phrase a model words the ladders, with --consistency one scores whether descriptions fit their questions.

    Killed, it goes on with the same command. The folder is loaded with datasets.load_dataset(OUT).
    """

    resumes = True

    qa: Annotated[
        tuple[Path, ...],
        Setting("Questions: JSON, JSONL, CSV, Parquet or GRANOLA-EQ.", metavar="QA...", positional=True),
    ]
    snapshot: Annotated[str, Setting(LINKED_TO)]
    out: Annotated[Path, Setting("The folder to write; it appears when all is done.")]
    relation: Relation = None
    language: Language = "en"
    linker: Linker = "question"
    split: Annotated[
        str | None,
        Setting("What the `datasets` library shall call the rows (test); rows that name another split are left out."),
    ] = None
    one_answer: Annotated[
        bool,
        Setting("Only questions with one gold answer, as in GRANOLA-EQ (the step several-answers).", advanced=True),
    ] = False
    name: Annotated[str | None, Setting("The dataset's name on its card; by default the folder's.")] = None
    format: Annotated[Literal["parquet", "jsonl"], Setting("The format of the file with the rows.")] = "jsonl"
    without: Annotated[tuple[CleaningStep, ...], Setting("Leave a step of the cleaning out; may be given again.")] = ()
    trivial: Annotated[
        Path | None, Setting("A file of texts that never are a coarser answer, one a line.", advanced=True)
    ] = None
    threshold: Annotated[
        float, Setting("Rows whose score_for_potential_error is above it are left out; from 0 to 1.", advanced=True)
    ] = MOST
    limit: Limit = None
    restart: Annotated[bool, Setting("Throw away what a killed run left.", recorded=False, advanced=True)] = False
    force: Force = False

    def shape(self) -> RowShape | None:
        """See `QuestionSettings.shape`; rows without a split are accepted."""
        shape = super().shape()
        return None if shape is None else replace(shape, split_must_be_told=False)

    def run(self) -> BuiltDataset:
        """Build the dataset. Raises UsageError, DatasetError and the errors of reading the questions."""
        from abstraction.datasets.building import check_output_folder

        check_language(self.language)
        questions = QuestionFilesWithWarnings(
            files=tuple(map(Path, self.expand_folders(self.qa))),
            relation=property_id(self.relation),
            limit=self.limit,
            shape=self.shape(),
            language=self.language,
            decisions=self.read_review(),
        )
        settings = self._dataset_settings(questions.decisions)
        # Before the questions are read: a wrong model must not be found after hours of work.
        self.check_models()
        # Before anything is written.
        for path in questions.files:
            if not path.exists():
                raise FileNotFoundError(2, "no such file", str(path))
        # A snapshot that is an address is no file, so the output folder cannot overwrite it.
        beside = [] if is_address(self.snapshot) else [Path(self.snapshot)]
        check_output_folder(self.out, [*questions.files, *beside], force=self.force)
        with lock_output(self.out):
            return self._build(questions, settings)

    def _dataset_settings(self, decisions: Decisions) -> DatasetSettings:
        from abstraction.datasets.building import DatasetSettings

        steps = frozenset(STEPS) - frozenset(self.without)
        return DatasetSettings(
            name=self.name if self.name is not None else resolve_symlinks(self.out).name,
            language=self.language,
            linker=self.linker,
            split=self.split or "test",
            format=self.format,
            # Several answers are kept unless one is asked for.
            steps=steps if self.one_answer else steps - {CleaningStep.SEVERAL_ANSWERS},
            trivial=read_trivial_answers(self.trivial) if self.trivial else (),
            most=self.threshold,
            least=self.min_confidence,
            decisions=tuple((*key, meant) for key, meant in sorted(decisions.items())),
            command=command_line(self.verb, self),
        )

    def _build(self, questions: QuestionFiles, settings: DatasetSettings) -> BuiltDataset:
        from abstraction.datasets.building import build_dataset

        inputs: list[Path | str] = [*questions.files, self.snapshot, *([self.decisions] if self.decisions else [])]
        with (
            # The sheet of doubtful links lies outside the folder, so it is locked and checked by itself.
            writing(self.review, inputs=inputs, force=self.force, option="--review"),
            closing(open_store(self.snapshot)) as store,
            ExitStack() as stack,
            progress_counter("questions") as progress,
        ):
            warn_of_snapshot_gaps(store, settings.language, questions.relation)
            phraser, scorer = self.open_models(stack, store, self.out, inputs, settings.language)
            built = build_dataset(
                questions, store, self.out, settings=settings, phraser=phraser, scorer=scorer, force=self.force,
                restart=self.restart, progress=progress, review=self.review,
            )  # fmt: skip
            # The record is published, so that it has no folders of the user.
            named = self.snapshot if is_address(self.snapshot) else Path(self.snapshot).name
            arguments = {**asdict(settings), **questions.selection_settings, "snapshot": named}
            arguments["out"] = resolve_symlinks(self.out).name
            more = {
                "snapshot": store.manifest()["snapshot_id"],
                **({"phrasing": {**phraser.settings, "fingerprint": phraser.fingerprint}} if phraser else {}),
                **({"scorer": scorer.fingerprint} if scorer else {}),
            }
            # Without the settings of models that are not used.
            asked = recorded_settings(self, DatasetModels)
            scored = {name: asked.pop(name) for name in ("consistency", "samples")}
            arguments |= (asked if self.phrase else {}) | (scored if self.consistency else {})
            write_run_record(
                built.data, command="dataset", inputs=inputs, is_published=True, more=more,
                arguments=arguments | {"steps": list(built.cleaner.counts)},
            )  # fmt: skip
        return built

    def failed(self, result: BuiltDataset) -> bool:
        """Whether rows were rejected, or got no answer of a model."""
        return bool(result.rejected + result.phrasing.rows_with_failed_call + result.unscored)

    def show(self, result: BuiltDataset) -> None:
        """Print the content of the dataset, and the numbers of omitted rows by reason."""
        if self.phrase is not None:
            show_lines(*result.phrasing.lines(), "")
        for step, step_count in result.cleaner.counts.items():
            taken = unjudged = ""
            if step is CleaningStep.TRIVIAL_ANSWERS:
                taken = f", {count(step_count.answers_taken_out, 'answer')} taken out"
            if step is CleaningStep.INCONSISTENT_DESCRIPTIONS:
                how = "" if self.consistency else " (--consistency gives them)"
                unjudged = f", {step_count.unjudged:,} without a score{how}"
            show_lines(
                f"{step}: {step_count.dropped:,} of {count(step_count.rows, 'row')} left out{taken}{unjudged}",
                count_table(step_count.reasons),
            )
        for head, lines in result.statistics.summary_tables():
            show_lines("", TextTable(head=head, rows=lines))
        show_lines("", f"{result.data}")

    def json_result(self, result: BuiltDataset) -> Any:
        """The statistics."""
        return {
            "data": result.data, "statistics": result.statistics, "cleaning": result.cleaner.counts,
            "rejected": result.rejected + result.phrasing.rows_with_failed_call + result.unscored,
            "unanswered": result.unanswered,
        }  # fmt: skip

    def report_problems(self, result: BuiltDataset) -> None:
        """Report the rejected rows, and those without an answer of a model."""
        if result.unanswered:
            note(unanswered_rows_line(result.unanswered))
        if result.rejected:
            listed = self.out / "rejected.jsonl"
            note(f"{count(result.rejected, 'row')} rejected; listed in {listed}; the first: {result.first_reject}")
        again = "--force builds anew and asks them again"
        if result.phrasing.rows_with_failed_call:
            rows = count(result.phrasing.rows_with_failed_call, "row")
            note(f"{rows} without an answer of the model's keep the graph's ladder; {again}")
        if result.unscored:
            note(f"{count(result.unscored, 'row')} without a score, as the model could not be had; {again}")
