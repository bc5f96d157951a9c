"""`granola experiment`: models, methods and settings on one tiered file, to the report that compares them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from granola.runs.settings import Run, Setting
from granola.runs.shared_settings import CsvRaw
from kg.extras import install_hint

if TYPE_CHECKING:
    from abstraction.models.chat_model import ChatModel
    from abstraction.models.prompts import Prompt
    from abstraction.rows import RejectedRow
    from granola.decoding.experiment_plan import ExperimentCell, Plan
    from granola.decoding.response_aggregation import Aggregator
    from granola.runs.scores.scored_systems import Systems

GUESS = "guess"  # the system that knows a question's relation and its subject's name alone
STATE, RESULTS, REPORT = "experiment.json", "results.csv", "report"
PREDICTIONS, ANSWERS = "predictions", "answers.sqlite"
BEFORE = ("0.1.0",)  # versions that scored by other definitions
LEFT_OUT = ("informativeness_bits", "informativeness_bits_matched", "bits", "bits_matched", "abstention_rate")


@dataclass(frozen=True, kw_only=True)
class ExperimentRun(Run):
    """Run every model, method and setting of a file, score the predictions, and write the comparison report.

    Killed, it goes on with the same command to the same files. Questions that got no response are tried again by the
    next run; the exit status is then 1.
    """

    verb: ClassVar[str] = "experiment"

    file: Annotated[
        Path,
        Setting("The experiment: a TOML file; see docs/reference/decoding.md.", metavar="FILE.toml", positional=True),
    ]
    out: Annotated[Path, Setting("A folder for predictions, results and the report.")]
    force: Annotated[
        bool, Setting("Begin anew where OUT holds another experiment; responses that were kept are used.")
    ] = False
    csv_raw: CsvRaw = False
    no_report: Annotated[bool, Setting("Leave the report's page and figures out.")] = False
    dry_run: Annotated[bool, Setting("Name the systems, how many responses each asks for, and stop.")] = False

    def run(self) -> ExperimentDone:
        """Do what is not done yet, and score all. Raises UsageError, before any model is asked."""
        from granola.decoding.answer_prompts import read_prompts
        from granola.decoding.experiment_plan import read_plan
        from granola.runs.scores.scored_systems import check_settings, score_systems
        from granola.runs.scores.scoring_settings import ScoringSettings, StandardName

        plan = read_plan(self.file)
        prompts = read_prompts(plan.prompts)
        for path in (plan.tiered, *plan.questions):
            if not path.is_file():
                raise FileNotFoundError(2, "no such file", str(path))
        # Questions may be fewer than the tiered rows, and what got no response is asked again: neither stops scoring.
        settings = ScoringSettings(
            matcher=plan.matcher, tau=plan.tau, standard=None if plan.standard is None else StandardName(plan.standard),
            lambda_=plan.lambda_, seed=plan.seed, resamples=plan.resamples, allow_missing=True,
        )  # fmt: skip
        check_settings(settings)
        _check_inputs(plan)
        if self.dry_run:
            return ExperimentDone(plan=plan)
        with _alone_in(self.out):
            _begin(self.out, plan, prompts, force=self.force)
            failed = _run(self.out, plan, prompts)
            failed += _guess(self.out, plan)
            names = (*(cell.name for cell in plan.cells), GUESS)
            systems = score_systems(
                str(plan.tiered), [str(self.out / PREDICTIONS / f"{name}.jsonl") for name in names], settings
            )
            _write_results(self.out / RESULTS, plan.cells, systems, csv_raw=self.csv_raw)
            self._report(plan, systems)
        return ExperimentDone(plan=plan, systems=systems, missing=failed)

    def _report(self, plan: Plan, systems: Systems) -> None:
        from importlib.util import find_spec

        from granola.runs.outputs import note

        if self.no_report:
            return
        if find_spec("matplotlib") is not None:
            _write_report(self.out / REPORT, plan, systems, csv_raw=self.csv_raw)
        else:
            note(f"no figures without matplotlib ({install_hint('report')}); the scores are in {self.out / RESULTS}")


@dataclass(frozen=True, kw_only=True, slots=True)
class ExperimentDone:
    """The systems of an experiment with their scores; of a dry run the plan alone."""

    plan: Plan
    systems: Systems | None = None
    missing: int = 0

    @property
    def failed(self) -> bool:
        """Whether answers are missing."""
        return self.missing > 0

    def show(self) -> None:
        """A line a system."""
        from granola.runs.outputs import note

        if self.systems is None:
            for cell in self.plan.cells:
                print(f"{cell.name}: {cell.asking.sampling().n} a question")
            return
        _print(self.systems)
        if self.missing:
            note(f"{self.missing:,} answers are missing; the same command asks for them again")


@contextmanager
def _alone_in(out: Path) -> Iterator[None]:
    """The folder to this run alone; what a killed one was about to write is removed. UsageError where another runs."""
    import fcntl

    from granola.errors import UsageError

    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is no folder; --out takes one, which is made")
    out.mkdir(parents=True, exist_ok=True)
    handle = os.open(out, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"another experiment runs in {out}; wait for it, or give another --out") from None
        if (out / STATE).is_file():
            for path in (*out.glob(".*.part"), *(out / PREDICTIONS).glob(".*.part")):
                path.unlink(missing_ok=True)
        yield
    finally:
        os.close(handle)


def _check_inputs(plan: Plan) -> None:
    """Raise for models that no word names, and for questions that no tiered row answers, before any model is asked."""
    from abstraction.models.spec import parse_model_spec
    from abstraction.rows import read_tiered
    from granola.decoding.samples import read_asked
    from granola.errors import UsageError

    for word in plan.models.values():
        parse_model_spec(word)
        if word.startswith("replay:") and not Path(place := word.removeprefix("replay:")).is_file():
            raise FileNotFoundError(2, "no such file", place)
    if plan.questions == (plan.tiered,):
        return
    answered = {row.id for row in read_tiered(plan.tiered, on_reject=lambda row: None)}
    for row in read_asked(plan.questions, limit=plan.limit, on_reject=lambda row: None):
        if row.id not in answered:
            raise UsageError(
                f"{row.source}: no row of {plan.tiered} has the id {row.id!r}; ask what was tiered, under the same ids"
            )


def _fingerprint(plan: Plan, prompts: Mapping[str, Prompt]) -> dict[str, Any]:
    """All that the results depend on: the settings, the inputs' hashes, the prompts."""
    from abstraction.models.prompts import prompts_hash
    from granola import __version__
    from kg.files import sha256_of
    from kg.store import open_store

    description: dict[str, Any] = {
        "schema_version": 1,
        "kind": "experiment",
        "version": __version__,
        "settings": dict(plan.settings),
        "inputs": [{"name": path.name, "sha256": sha256_of(path)} for path in (plan.tiered, *plan.questions)],
        "prompts": prompts_hash(prompts),
    }
    description["models"] = {
        name: sha256_of(word.removeprefix("replay:")) if word.startswith("replay:") else word.partition("?")[0]
        for name, word in plan.models.items()
    }
    if plan.aggregator is not None and plan.aggregator.startswith("replay:"):
        description["aggregator"] = sha256_of(plan.aggregator.removeprefix("replay:"))
    if plan.snapshot is not None:
        with closing(open_store(plan.snapshot)) as store:
            description["snapshot"] = store.manifest()["snapshot_id"]
    return {**description, "fingerprint": sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()}


def _begin(out: Path, plan: Plan, prompts: Mapping[str, Prompt], *, force: bool) -> None:
    """Make the folder, or find that it holds this very experiment; what another one left in it goes with `force`."""
    from granola.errors import UsageError
    from kg.files import atomic_path

    description = _fingerprint(plan, prompts)
    state = out / STATE
    if out.is_dir() and any(out.iterdir()):
        try:
            earlier = json.loads(state.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            earlier = {}
        if earlier.get("kind") != "experiment":
            raise UsageError(f"{out} is not empty and holds no experiment; give --out a folder of its own")
        if earlier.get("fingerprint") == description["fingerprint"]:
            return
        if not force and earlier.get("version") in BEFORE:
            raise UsageError(
                f"{out} holds results of version {earlier['version']}, whose informativeness was the mean over matched "
                "answers alone; it is over all of them now, as in the paper; give another --out, or --force"
            )
        if not force:
            changed = ", ".join(
                key for key in description if description[key] != earlier.get(key) and key != "fingerprint"
            )
            raise UsageError(f"{out} holds an experiment with other {changed}; give another --out, or --force")
        for path in (out / PREDICTIONS).glob("*.jsonl"):
            path.unlink()
            _record(path).unlink(missing_ok=True)
    (out / PREDICTIONS).mkdir(parents=True, exist_ok=True)
    with atomic_path(state) as temporary:
        temporary.write_text(json.dumps(description, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _run(out: Path, plan: Plan, prompts: Mapping[str, Prompt]) -> int:
    """Make the predictions that are not there yet; how many questions got none, over all systems."""
    from abstraction.models import open_model
    from granola.decoding.response_aggregation import Aggregator
    from granola.runs.outputs import note
    from granola.runs.phrasing_settings import tell_totals
    from kg.store import open_store

    failed = 0
    with ExitStack() as stack:
        store = None if plan.snapshot is None else stack.enter_context(closing(open_store(plan.snapshot)))
        aggregator: Aggregator | None = None
        for name, word in plan.models.items():
            cells = [
                cell
                for cell in plan.cells
                if cell.model == name and not _is_done(out / PREDICTIONS / f"{cell.name}.jsonl")
            ]
            if not cells:
                continue
            kept = _kept(out, word, name)
            with ExitStack() as models:
                model = models.enter_context(closing(open_model(word, **kept)))
                other = plan.aggregator if plan.aggregator != word else None
                drag_model = None
                if other:
                    drag_model = models.enter_context(closing(open_model(other, **_kept(out, other, "aggregator"))))
                for number, cell in enumerate(cells, start=1):
                    note(f"{name}: {cell.name} ({number} of {len(cells)})")
                    if cell.rule is not None and aggregator is None:
                        aggregator = Aggregator(store, language=plan.language, linker=plan.linker)
                    failed += _predict(out, plan, cell, model, prompts, aggregator, drag_model)
                tell_totals(model)
    return failed


def _kept(out: Path, word: str, name: str) -> dict[str, Path]:
    """Where what a model says is kept, and the log of its calls."""
    return {} if word.startswith("replay:") else {"cache": out / ANSWERS, "log": out / f"{name}.calls.jsonl"}


def _guess(out: Path, plan: Plan) -> int:
    """The guess baseline's predictions, for the questions that were asked; how many of them could not be guessed."""
    from abstraction.rows import read_tiered
    from granola.decoding.guessing import guesses
    from granola.decoding.samples import read_asked
    from granola.runs.outputs import report_rejects

    path = out / PREDICTIONS / f"{GUESS}.jsonl"
    if _is_done(path):
        return 0
    rows = list(read_tiered(plan.tiered, on_reject=lambda row: None))
    asked = {row.id for row in read_asked(plan.questions, limit=plan.limit, on_reject=lambda row: None)}
    rejected: list[RejectedRow] = []
    predictions = [
        (row.source, {"id": row.id, "method": GUESS, **decision.to_json()})
        for row, decision in guesses(rows, on_reject=rejected.append)
        if row.id in asked
    ]
    sources = {row.source or row.id for row in rows if row.id in asked}
    rejected = [row for row in rejected if row.source in sources]
    _write(
        path, predictions, rejected, arguments={"system": GUESS, "method": GUESS}, inputs=[plan.tiered, *plan.questions]
    )
    report_rejects(GUESS, rejected, listed=_rejects(path))
    return len(rejected)


def _write(
    path: Path,
    rows: Sequence[tuple[str, dict[str, Any]]],
    rejected: list[RejectedRow],
    *,
    arguments: Mapping[str, Any],
    inputs: Sequence[Path],
    more: Mapping[str, Any] | None = None,
) -> None:
    """A system's predictions, each with its source, what was rejected, and last the record: then the system is done."""
    from abstraction.faults import Taken
    from abstraction.files.writing import write_records
    from granola.run_record import write_run_record
    from granola.runs.outputs import list_rejects

    if path.exists():  # until all is written again it is not to be taken for whole
        path.unlink()
    taken = Taken(rejected.append)

    def records() -> Iterator[dict[str, Any]]:
        for source, row in rows:
            taken.take(source, row["id"], row.get("question", ""))
            yield row

    write_records(records(), path, on_fault=taken.unwritten)
    list_rejects(path, rejected)
    write_run_record(path, command="experiment", arguments=arguments, inputs=inputs, more=more)


def _is_done(path: Path) -> bool:
    return path.exists() and _record(path).exists() and not _rejects(path).exists()


def _rejects(path: Path) -> Path:
    from granola.runs.outputs import REJECTS_SUFFIX

    return Path(f"{path}{REJECTS_SUFFIX}")


def _record(path: Path) -> Path:
    from granola.run_record import SUFFIX

    return Path(f"{path}{SUFFIX}")


def _predict(
    out: Path,
    plan: Plan,
    cell: ExperimentCell,
    model: ChatModel,
    prompts: Mapping[str, Prompt],
    aggregator: Aggregator | None,
    drag_model: ChatModel | None,
) -> int:
    from abstraction.faults import Fault, attempt
    from granola.decoding.model_answers import Answered, Answerer
    from granola.decoding.response_aggregation import answer_row
    from granola.decoding.samples import read_asked
    from granola.errors import PredictionError
    from granola.runs.progress import with_progress

    answerer = Answerer(
        model,
        cell.asking,
        prompts,
        aggregator=aggregator if cell.rule is not None else None,
        rule=cell.rule,
        language=plan.language,
        drag_model=drag_model,
    )
    rejected: list[RejectedRow] = []

    def predictions() -> Iterator[tuple[str, dict[str, Any]]]:
        rows = read_asked(plan.questions, limit=plan.limit, on_reject=rejected.append)
        answered = 0
        for answer in answerer.answer(rows):
            if not isinstance(answer, Answered):
                rejected.append(answer.rejected())
                continue
            row = answer.row
            prediction = attempt("writing", answer_row, row, answer.decision, method=cell.asking.method)
            if isinstance(prediction, Fault):
                rejected.append(prediction.rejected(source=row.source, id=row.id, text=row.question))
            else:
                answered += 1
                yield row.source, prediction
        if not answered:
            why = f": {rejected[0].source}: {rejected[0].reason}" if rejected else ""
            raise PredictionError(f"{cell.name}: no question has an answer{why}")

    path = out / PREDICTIONS / f"{cell.name}.jsonl"
    rows = list(with_progress(predictions()))
    arguments = {"system": cell.name, "model": cell.model, "method": cell.asking.method}
    _write(path, rows, rejected, arguments=arguments, inputs=plan.questions, more=answerer.settings)
    return len(rejected)


def _write_results(path: Path, cells: Sequence[ExperimentCell], systems: Systems, *, csv_raw: bool) -> None:
    """A row a system: its settings, each metric with its interval, n, and the signature."""
    import csv
    import math

    from abstraction.files.cells import marked
    from granola.decoding.methods import METHODS
    from kg.files import atomic_path

    metrics = [metric.name for metric in systems.reports[0].metrics if metric.name not in LEFT_OUT]
    head = ["system", "model", "method", "temperature", "samples", "support", "counting", "prompts", "n"]
    head += [f"{metric}{part}" for metric in metrics for part in ("", "_low", "_high")]
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as stream:
        rows = csv.writer(stream, lineterminator="\n")
        rows.writerow([*head, "signature"])
        for cell, report in zip((*cells, None), systems.reports, strict=True):
            if cell is None:
                record: list[Any] = [GUESS, "", GUESS, "", "", "", "", "", report.overall.n]
            else:
                drawn = METHODS[cell.asking.method].drawn
                record = [cell.name, cell.model, str(cell.asking.method)]
                record.append(cell.asking.temperature if drawn != "no" else 0.0)
                record += [cell.asking.sampling().n, cell.support, cell.counting]
                record += [report.signature.asked, report.overall.n]
            for metric in metrics:
                estimate = report.overall.estimates[metric]
                numbers = (estimate.value, estimate.interval.low, estimate.interval.high)
                record += ["" if math.isnan(number) else round(number, 6) for number in numbers]
            record.append(str(report.signature))
            rows.writerow(record if csv_raw else map(marked, record))


def _write_report(folder: Path, plan: Plan, systems: Systems, *, csv_raw: bool) -> None:
    from granola.report.study import Study
    from granola.report.study_html import PAGE, write_study
    from granola.run_record import write_run_record
    from granola.scoring.system_comparison import compare

    study = Study(
        rows=systems.rows,
        files=systems.files,
        reports=systems.reports,
        matcher=plan.matcher,
        lambda_=plan.lambda_,
        differences=compare(systems.reports, resamples=plan.resamples, seed=plan.seed),
    )
    written = write_study(study, folder, csv_raw=csv_raw)
    write_run_record(
        folder / PAGE,
        command="report",
        arguments=dict(plan.settings),
        inputs=[plan.tiered],
        more={"signatures": {r.system: str(r.signature) for r in systems.reports}, "files": written},
    )


def _print(systems: Systems) -> None:
    """A line a system on stdout; - where there is nothing to count, as in selective accuracy without an answer."""
    import math

    from granola.terminal_lines import TextTable, Verbatim, show_lines

    rows = []
    for report in systems.reports:
        cells = []
        for metric in ("selective_accuracy", "informativeness", "coverage"):
            estimate = report.overall.estimates[metric]
            interval = f"[{estimate.interval.low:.3f}, {estimate.interval.high:.3f}]"
            cells.append("-" if math.isnan(estimate.value) else f"{estimate.value:.3f} {interval}")
        rows.append((report.system, *cells))
    head = ("system", "selective accuracy", "informativeness", "coverage")
    signatures = dict.fromkeys(f"signature: {report.signature}" for report in systems.reports)
    show_lines(TextTable(head=head, rows=rows, words=(1, 2, 3)), *map(Verbatim, signatures))
