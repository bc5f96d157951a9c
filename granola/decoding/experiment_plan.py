"""What an experiment runs: models, methods and settings from a TOML file, and each combination of them as a cell.

    tiered = "tiers.jsonl"              # what predictions are scored against
    questions = "questions.jsonl"       # one or a list; without it the tiered rows' own questions
    snapshot = "mine.sqlite"            # for methods that link responses
    methods = ["greedy", "drag", "drag-graph"]
    temperatures = [0.5, 1.0]           # of methods that draw
    samples = [5, 10]                   # of those that draw several
    supports = [0.6, 1.0]               # of drag-graph
    aggregator = "small"                # of drag: a model of the table below, or another; else the one that is sampled

    [models]
    small = "openai:http://127.0.0.1:8000/v1#small"

    [scoring]
    matcher = "rules"

Paths are relative to the file. What else there is to set stands in `KEYS` and `SCORING`.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from abstraction.linking.linker import Method as LinkerMethod
from granola.decoding.answer_prompts import SETS
from granola.decoding.decision import Abstaining
from granola.decoding.drag_graph import SUPPORT
from granola.decoding.methods import METHODS, SAMPLES, TEMPERATURE, Answering, needs_snapshot, rule_of, usual_abstaining
from granola.decoding.model_answers import AnswerSettings
from granola.decoding.response_aggregation import Method
from granola.decoding.self_consistency import Counting
from granola.errors import UsageError
from granola.scoring.metrics import STANDARDS, Standard

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,40}")
# Each key with the type of its values and what stands where it is not given; a list may stand for its one value.
KEYS: Mapping[str, tuple[type, Any]] = {
    "tiered": (str, None), "questions": (str, []), "snapshot": (str, ""), "prompts": (str, ""),
    "methods": (str, None), "temperatures": (float, [TEMPERATURE]), "samples": (int, [SAMPLES]),
    "supports": (float, [SUPPORT]), "counting": (str, ["text"]),
    "abstaining": (str, ""), "aggregator": (str, ""), "seed": (int, 0), "top_p": (float, 1.0), "max_tokens": (int, 64),
    "language": (str, "en"), "linker": (str, "question"), "limit": (int, 0), "models": (dict, None),
    "scoring": (dict, {}),
}  # fmt: skip
# An empty text: what the matcher has by default.
SCORING: Mapping[str, tuple[type, Any]] = {
    "matcher": (str, "rules"), "tau": (float, ""), "standard": (str, ""), "lambda": (float, 0.5),
    "resamples": (int, 1000),
}  # fmt: skip
LISTED = frozenset({"questions", "methods", "temperatures", "samples", "supports", "counting"})


@dataclass(frozen=True, kw_only=True, slots=True)
class ExperimentCell:
    """One system: a model with a method and its settings. `name` is unique and fit for a file."""

    name: str
    model: str
    asking: AnswerSettings
    rule: Method | None
    support: float | None = None
    counting: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """A whole experiment. `models` are words of `abstraction.models.spec` by name; `settings` all keys as resolved."""

    tiered: Path
    questions: tuple[Path, ...]
    snapshot: str | None
    prompts: str | None
    aggregator: str | None
    models: Mapping[str, str]
    language: str
    linker: str
    limit: int | None
    matcher: str
    tau: float | None
    standard: Standard | None
    lambda_: float
    resamples: int
    seed: int
    cells: tuple[ExperimentCell, ...]
    settings: Mapping[str, Any]


def read_plan(path: Path) -> Plan:
    """The plan in a TOML file. Raises UsageError naming the key and what is allowed."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is no TOML: {error}") from error
    settings = _resolved(table, KEYS, str(path))
    scoring = _resolved(settings["scoring"], SCORING, f"{path}, [scoring]")
    _check(settings, scoring, str(path))
    if "limit" in table and settings["limit"] < 1:
        raise UsageError(f"{path}: limit is {settings['limit']}; allowed: 1 and more, or no limit at all")
    folder = path.parent
    tiered = folder / settings["tiered"]
    plan = Plan(
        tiered=tiered,
        questions=tuple(folder / file for file in settings["questions"]) or (tiered,),
        snapshot=_address(settings["snapshot"], folder),
        prompts=_prompts(settings["prompts"], folder),
        aggregator=_placed(settings["models"].get(settings["aggregator"], settings["aggregator"]), folder) or None,
        models={name: _placed(word, folder) for name, word in settings["models"].items()},
        language=settings["language"],
        linker=settings["linker"],
        limit=settings["limit"] or None,
        matcher=scoring["matcher"],
        tau=None if scoring["tau"] == "" else scoring["tau"],
        standard=scoring["standard"] or None,
        lambda_=scoring["lambda"],
        resamples=scoring["resamples"],
        seed=settings["seed"],
        cells=tuple(_cells(settings, str(path))),
        settings={**settings, "scoring": scoring},
    )
    if plan.snapshot is None and (cell := next((c for c in plan.cells if needs_snapshot(c.rule)), None)):
        raise UsageError(f"{path}: {cell.asking.method} links responses; give snapshot")
    return plan


def _check(settings: Mapping[str, Any], scoring: Mapping[str, Any], where: str) -> None:
    """Raises UsageError for values that are not among those allowed."""
    models = settings["models"]
    if not models or not all(isinstance(word, str) and _NAME.fullmatch(name) for name, word in models.items()):
        raise UsageError(f'{where}, [models]: give each model a name of letters, digits, - and _, as in small = "..."')
    for key, allowed in (("linker", get_args(LinkerMethod)), ("abstaining", ("", *Abstaining))):
        if settings[key] not in allowed:
            raise UsageError(f"{where}: {key} is {settings[key]!r}; allowed: {', '.join(allowed)}")
    if scoring["standard"] not in ("", *STANDARDS):
        raise UsageError(f"{where}: standard is {scoring['standard']!r}; allowed: {', '.join(STANDARDS)}")


def _address(snapshot: str, folder: Path) -> str | None:
    """A store's address, or a file beside the plan's; None for none."""
    return (snapshot if "://" in snapshot else str(folder / snapshot)) if snapshot else None


def _prompts(given: str, folder: Path) -> str | None:
    """A set of prompts by its name, or a folder beside the plan's; None for the default."""
    return (given if given in SETS else str(folder / given)) if given else None


def _placed(word: str, folder: Path) -> str:
    """A model's word with its file beside the plan's."""
    kind, _, place = word.partition(":")
    if kind not in ("replay", "local") or Path(place).is_absolute():
        return word
    return f"{kind}:{folder / place}"


def _resolved(table: Mapping[str, Any], keys: Mapping[str, tuple[type, Any]], where: str) -> dict[str, Any]:
    for key in table:
        if key not in keys:
            near = difflib.get_close_matches(key, keys, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise UsageError(f"{where}: no key {key}; there are {', '.join(keys)}{hint}")
    out: dict[str, Any] = {}
    for key, (kind, usual) in keys.items():
        if key not in table:
            if usual is None:
                raise UsageError(f"{where}: {key} is missing")
            out[key] = usual
            continue
        value = table[key]
        listed = value if isinstance(value, list) else [value]
        if isinstance(value, list) and (key not in LISTED or not value):
            raise UsageError(f"{where}: {key} takes {'at least one value' if key in LISTED else 'no list'}")
        for entry in listed:
            if isinstance(entry, bool) or not isinstance(entry, (int, float) if kind is float else kind):
                raise UsageError(f"{where}: {key} is {entry!r}; expected {_WORDS[kind]}")
        if len(set(map(repr, listed))) < len(listed):
            raise UsageError(f"{where}: {key} repeats a value")
        typed = [float(entry) for entry in listed] if kind is float else listed
        out[key] = typed if key in LISTED else typed[0]
    return out


_WORDS = {str: "a text", float: "a number", int: "a whole number", dict: "a table"}


def _cells(settings: Mapping[str, Any], where: str) -> Iterator[ExperimentCell]:
    names = list(Answering)
    methods = []
    for name in settings["methods"]:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise UsageError(f"{where}: no method {name!r}; there are {', '.join(names)}{hint}")
        methods.append(Answering(name))
    for name in settings["counting"]:
        if name not in list(Counting):
            raise UsageError(f"{where}: counting is {name!r}; allowed: {', '.join(Counting)}")
    for model in settings["models"]:
        for method in methods:
            drawn = METHODS[method].drawn
            for temperature in settings["temperatures"] if drawn != "no" else [TEMPERATURE]:
                for samples in settings["samples"] if drawn == "often" else [SAMPLES]:
                    yield from _of_one(model, method, temperature, samples, settings)


def _of_one(
    model: str, method: Answering, temperature: float, samples: int, settings: Mapping[str, Any]
) -> Iterator[ExperimentCell]:
    abstaining = Abstaining(settings["abstaining"]) if settings["abstaining"] else usual_abstaining(method)
    asking = AnswerSettings(
        method=method,
        samples=samples,
        temperature=temperature,
        top_p=settings["top_p"],
        max_tokens=settings["max_tokens"],
        seed=settings["seed"],
        abstaining=abstaining,
    )
    drawn = METHODS[method].drawn
    parts = [] if len(settings["models"]) == 1 else [model]
    parts.append(method)
    if drawn != "no":
        parts.append(f"t{_plain(temperature)}")
    if drawn == "often":
        parts.append(f"n{samples}")
    if method is Answering.DRAG_GRAPH:
        for support in settings["supports"]:
            rule = rule_of(method, support=support, abstaining=abstaining)
            name = "-".join([*parts, f"s{_plain(support)}"])
            yield ExperimentCell(name=name, model=model, asking=asking, rule=rule, support=support)
    elif method is Answering.SELF_CONSISTENCY:
        for counting in settings["counting"]:
            rule = rule_of(method, counting=Counting(counting), abstaining=abstaining)
            name = "-".join([*parts, counting])
            yield ExperimentCell(name=name, model=model, asking=asking, rule=rule, counting=counting)
    else:
        yield ExperimentCell(name="-".join(parts), model=model, asking=asking, rule=None)


def _plain(number: float) -> str:
    """A number in a file's name: 0.8 is 0_8."""
    return f"{number:g}".replace(".", "_")
