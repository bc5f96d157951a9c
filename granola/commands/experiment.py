"""`granola experiment`: every combination of the settings in a file run in order, and the systems compared.

    tiered = "tiers.jsonl"                     # questions to ask, and rows to score against
    snapshot = "mine.sqlite"                   # for methods that link responses
    method = ["greedy", "drag", "drag-graph"]  # a list makes several systems
    temperature = [0.5, 1.0]
    samples = [5, 10]
    support = [0.6, 1.0]

    [models]
    small = "openai:http://127.0.0.1:8000/v1#small"

    [scoring]
    matcher = "rules"

Keys are settings of `granola answer` and of how its model samples, under [scoring] of `granola compare`; a method
takes those that it uses.
"""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, Any

from abstraction.errors import ModelSpecError
from granola import __version__
from granola.base.run_record import record_of
from granola.base.settings import Setting, command_line
from granola.commands.answer import Aggregate, Answer
from granola.commands.command import Command
from granola.commands.messages import json_of, note, report_rejects
from granola.commands.output import REJECTS_SUFFIX, lock_output
from granola.commands.report import Report
from granola.commands.score import Compare
from granola.decoding.decision import Answering
from granola.errors import UsageError
from granola.scoring.system_comparison import ComparedSystems
from kg.base.files import atomic_path, sha256_of

STATE, COMPARISON, PREDICTIONS, ANSWERS = "experiment.json", "comparison.json", "predictions", "kept.answers.sqlite"
# Keys of a file that are settings of `granola answer` or of its model.
ASKING = (
    "method", "temperature", "samples", "top_p", "max_tokens", "seed", "support", "counting", "abstaining",
    "aggregator", "prompts", "snapshot", "language",
)  # fmt: skip
SAMPLING = ("temperature", "top_p", "max_tokens", "seed")  # parameters of a model, written into its name
SCORING = ("matcher", "standard", "lambda", "resamples")  # keys of [scoring], which are settings of `granola compare`
GUESS = "guess"  # the baseline system that knows only a question's relation and the name of its subject
_LETTERS = {"temperature": "t", "samples": "n", "support": "s"}  # before a number in a system's name


@dataclass(frozen=True, kw_only=True, slots=True)
class ExperimentDone:
    """The result of an experiment: its systems by name, their comparison, and the number of missing answers."""

    systems: Mapping[str, Answer | Aggregate]
    comparing: Compare
    compared: ComparedSystems
    missing: int


@dataclass(frozen=True, kw_only=True)
class Experiment(Command[ExperimentDone]):
    """Run every model, method and setting of a file, score the predictions, and write the comparison report.

    Killed, it goes on with the same command: what is whole is not made again, and no response is asked for twice.
    Questions that got no response are tried again by the next run; the exit status is then 1.
    """

    resumes = True
    faults = ("missing",)

    file: Annotated[
        Path,
        Setting("The experiment: a TOML file; see docs/reference/decoding.md.", metavar="FILE.toml", positional=True),
    ]
    out: Annotated[Path, Setting("A folder for predictions, the comparison and the report.")]
    no_report: Annotated[bool, Setting("Leave the report's page and figures out.")] = False

    def run(self) -> ExperimentDone:
        """Run the commands without an up-to-date output, and score all systems. Raises UsageError before any model is
        asked.
        """
        from granola.report.charts import check_matplotlib

        tiered, systems, scoring = read_plan(self.file, self.out / PREDICTIONS)
        shared: dict[str, Any] = {
            # Missing answers are reported; the others are scored.
            "tiered": tiered, "predictions": [run.out for run in systems.values()], "allow_missing": True, **scoring
        }  # fmt: skip
        comparing = Compare(**shared)
        # Before any model is asked: answers cost time and money.
        comparing.check()
        if not self.no_report:
            check_matplotlib()
        with lock_output(self.out):
            if self.out.exists() and not self.out.is_dir():
                raise UsageError(f"{self.out} is no folder; --out takes one, which is made")
            # STATE marks the folder as an experiment, which may be continued.
            if self.out.is_dir() and any(self.out.iterdir()) and not (self.out / STATE).is_file():
                raise UsageError(f"{self.out} is not empty and holds no experiment; give --out a folder of its own")
            (self.out / PREDICTIONS).mkdir(parents=True, exist_ok=True)
            _write_json(self.out / STATE, {"schema_version": 1, "systems": _command_lines(systems)})
            missing = 0
            for number, (name, system) in enumerate(systems.items(), start=1):
                # Outputs of an earlier run are reused only where all that determines them is unchanged.
                if not _is_up_to_date(system):
                    note(f"{name} ({number} of {len(systems)})")
                    made = system.run()
                    report_rejects(name, made.rejected, listed_in=made.listed)
                    missing += len(made.rejected)
            compared = comparing.run()
            _write_json(self.out / COMPARISON, json_of(compared))
            if not self.no_report:
                Report(out=self.out / "report", force=True, **shared).run()
        return ExperimentDone(systems=systems, comparing=comparing, compared=compared, missing=missing)

    def show(self, result: ExperimentDone) -> None:
        """The comparison."""
        result.comparing.show(result.compared)

    def json_result(self, result: ExperimentDone) -> Any:
        """The comparison, and the commands that make the systems."""
        return {"commands": _command_lines(result.systems), "comparison": result.compared, "missing": result.missing}

    def report_problems(self, result: ExperimentDone) -> None:
        """Report the number of missing answers."""
        if result.missing:
            note(f"{result.missing:,} answers are missing; the same command asks for them again")


def read_plan(path: Path, out: Path) -> tuple[str, dict[str, Answer | Aggregate], dict[str, Any]]:
    """Return (tiered rows, the commands that make predictions in `out` by system, the settings of scoring).

    Raises UsageError for settings that no command has, and for missing files.
    """
    from abstraction.models.spec import add_settings, parse_model_spec

    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is no TOML: {error}") from error
    models, scoring = table.pop("models", {}), table.pop("scoring", {})
    if not isinstance(models, dict) or not isinstance(scoring, dict) or not models:
        raise UsageError(f'{path}: give models and scoring as tables, and models under [models], as small = "..."')
    known = ("tiered", "models", "scoring", *ASKING)
    for part, keys, where in ((table, known, f"{path}"), (scoring, SCORING, f"{path}, [scoring]")):
        for key in (key for key in part if key not in keys):
            near = difflib.get_close_matches(key, keys, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise UsageError(f"{where}: no key {key}; there are {', '.join(keys)}{hint}")
    for key in ("tiered", "method"):
        if key not in table:
            raise UsageError(f"{path}: {key} is missing")
    tiered = str(table["tiered"])
    if not Path(tiered).is_file():
        raise FileNotFoundError(2, "no such file", tiered)
    systems: dict[str, Answer | Aggregate] = {}
    answers = out.parent / ANSWERS  # next to the folder: the answers outlive a deleted experiment
    try:
        for name, settings in _named_combinations(table, models):
            predictions = str(out / f"{name}.jsonl")
            # One store of answers: systems that ask the same question share its response.
            for asked in {"model", "aggregator"} & settings.keys():
                if parse_model_spec(settings[asked]).kind != "replay":
                    settings[asked] = add_settings(settings[asked], {"answers": answers})  # shared by all systems
            answering = Answer(questions=(tiered,), out=predictions, force=True, **settings)
            answering.check()
            systems[name] = answering
    except (UsageError, ModelSpecError) as error:
        raise UsageError(f"{path}: {error}") from error
    # A baseline for every comparison: what can be guessed without a model.
    guessed = str(out / f"{GUESS}.jsonl")
    systems[GUESS] = Aggregate(samples=(tiered,), out=guessed, method="guess", force=True)
    return tiered, systems, {"lambda_" if key == "lambda" else key: value for key, value in scoring.items()}


def _named_combinations(table: Mapping[str, Any], models: Mapping[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (name, settings) of each distinct system: values that its method does not use make no further system."""
    from abstraction.models.spec import add_settings

    listed = {key for key in ASKING if isinstance(table.get(key), list)}
    if empty := [key for key in listed if not table[key]]:
        raise UsageError(f"{empty[0]} is an empty list; give at least one value")
    choices = {key: table[key] if key in listed else [table[key]] for key in ASKING if key in table}
    # Combinations that differ only in settings without effect have the same name.
    told: set[str] = set()
    for model, *values in product(models, *choices.values()):
        settings = dict(zip(choices, values, strict=True))
        used = {key: value for key, value in settings.items() if _affects_method(settings["method"], key)}
        # A name lists only what differs between systems.
        parts = [model] if len(models) > 1 else []
        parts += [f"{_LETTERS.get(key, '')}{used[key]}" for key in used if key == "method" or key in listed]
        name = re.sub(r"[^A-Za-z0-9_-]+", "_", "-".join(parts))
        if name not in told:
            told.add(name)
            if "aggregator" in used:
                used["aggregator"] = models.get(used["aggregator"], used["aggregator"])
                if used["aggregator"] == models[model]:  # the default: the answering model aggregates
                    del used["aggregator"]
            # Sampling is part of a model's name, not a setting of `granola answer`.
            sampling = {key: used.pop(key) for key in SAMPLING if key in used}
            yield name, {"model": add_settings(models[model], sampling), **used}


def _affects_method(method: str, key: str) -> bool:
    """Whether a setting affects the result of a method."""
    from granola.decoding.methods import METHODS

    drawn = METHODS[Answering(method)].drawn if method in METHODS else "often"  # Answer raises for an unknown method
    if key in ("temperature", "top_p", "seed"):
        return drawn != "no"
    if key in ("samples", "abstaining"):
        return drawn == "often"
    # Both link responses to entities.
    if key == "snapshot":
        return method in ("drag-graph", "self-consistency")
    owners = {"support": "drag-graph", "counting": "self-consistency", "aggregator": "drag"}
    return owners.get(key, method) == method  # other settings apply to every method


def _command_lines(systems: Mapping[str, Answer | Aggregate]) -> dict[str, str]:
    return {name: command_line(system.verb, system) for name, system in systems.items()}


def _is_up_to_date(system: Answer | Aggregate) -> bool:
    """Whether the output of an earlier run is complete and has the same settings, prompts and inputs, and no rejected
    rows.
    """
    from abstraction.phrasing.prompting import signature_of
    from granola.decoding.methods import METHODS, read_prompts

    record = record_of(system.out)
    if not Path(system.out).is_file() or Path(f"{system.out}{REJECTS_SUFFIX}").exists():
        return False
    if isinstance(system, Answer):
        prompts = signature_of(read_prompts(system.prompts), *METHODS[system.method].prompts)
        # A replay costs nothing, and its recorded answers may have changed.
        if system.model.startswith("replay:") or record.get("prompts") != prompts:
            return False
    try:
        return (
            record["versions"]["granola-ladders"] == __version__
            and all(record["arguments"][key] == value for key, value in system.arguments().items() if value is not None)
            and all(one["sha256"] == sha256_of(one["path"]) for one in [*record["inputs"], record["output"]])
        )
    except (KeyError, TypeError, OSError):  # no record, a damaged one, or inputs without a file, such as a mirror
        return False


def _write_json(path: Path, data: Any) -> None:
    with atomic_path(path) as temporary:
        temporary.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
