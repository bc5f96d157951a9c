"""The commands by what they are for: a line of help for each, and which of their options few people need.

Nothing of a command is imported to list them.
"""

from __future__ import annotations

GROUPS: dict[str, dict[str, str]] = {
    "Look around": {
        "demo": "Build a snapshot, make ladders, score two prediction files and write a page.",
        "serve": "Serve ladders, links, verdicts and scores over HTTP, and a page to try them on.",
    },
    "Snapshots of WikiData": {
        "snapshot": "Build, verify, compare, export and mirror snapshots.",
    },
    "Ladders": {
        "tiers": "Make a ladder for every question of a file.",
        "ladder": "Show the ladder of one answer, and what entails each tier.",
        "dataset": "Build a dataset with its card, statistics and what was left out.",
        "audit": "Check the tiers of a file against a snapshot, whoever made them.",
    },
    "Predictions": {
        "answer": "Ask a model the questions, and keep its responses.",
        "aggregate": "Make one answer of several responses to each question.",
        "experiment": "Run models, methods and settings of a file, and compare them.",
        "guess": "Guess answers from relations and names alone: a baseline.",
    },
    "Scores": {
        "score": "Score predictions, with intervals and a signature.",
        "match": "Say which level each prediction states, and by which rule.",
        "compare": "Compare systems by paired tests.",
        "report": "Draw the paper's figures for systems of one's own.",
    },
    "Evidence": {
        "grounding": "Answer from passages, and judge answers: grounded, deflecting, cited?",
        "knowledge": "Write, judge, choose and rate knowledge texts: factuality, relevance, coherence ...",
        "attribution": "Build a benchmark of evidence and answers, and hold evaluators against it.",
        "pool": "Pool several judges of the same items, and show how far they agree.",
    },
}
COMMANDS = {name: line for group in GROUPS.values() for name, line in group.items()}

MEMBERS = {
    "snapshot": ("build", "info", "verify", "push", "export", "diff", "spark"),
    "attribution": ("build", "audit", "train", "evaluate", "check"),
    "grounding": ("describe", "answer", "judge", "score", "draw"),
    "knowledge": ("generate", "judge", "choose", "rate", "correlate", "draw", "describe"),
}  # the commands of a command
_ALONE = {"snapshot"}  # whose members' runs go by the member's name


_FOLDERS = {
    "ladders": "tiers ladder dataset audit guess",
    "decoding": "answer aggregate experiment",
    "scores": "score match compare report",
    "snapshots": "snapshot",
}  # in granola/runs; another group's runs are in a folder of its name, a command's that is in none are in no folder
_FOLDER_OF = {name: folder for folder, names in _FOLDERS.items() for name in names.split()}


def run_of(name: str, group: str | None = None) -> str:
    """Where the run of a command is in `granola.runs`: `attribution build` is AttributionBuildRun."""
    if group is not None and group not in _ALONE:
        return f"{group}.{group}_{name}_run:{group.title()}{name.title()}Run"
    folder = _FOLDER_OF.get(group or name)
    return f"{folder}.{name}_run:{name.title()}Run" if folder else f"{name}_run:{name.title()}Run"


def advanced(name: str, group: str | None = None) -> set[str]:
    """The options of a command that few people need."""
    return set(ADVANCED.get(name if group is None or group in _ALONE else f"{group} {name}", "").split())


_SCORING = "--join --answers --seed --resamples --workers --ignore-unknown"
_BY_VIEWS = "--page-views --bins"
_COUNTING = "--counting --linker --csv-raw"
_BOUNDS = "--max-body --max-rows --seconds --waiting --connections"
_SAMPLING = "--prompts --top-p --max-tokens"
_FIELDS = "--question-field --answer-field --id-field --preset --split"
_PHRASING = f"--phrase-mode --unproven --temperature --phrase-seed --answers {_SAMPLING}"

ADVANCED: dict[str, str] = {
    "tiers": f"{_PHRASING} {_FIELDS} --linker --engine --master --csv-raw",
    "dataset": f"{_PHRASING} {_FIELDS} --linker --one-answer --trivial --threshold --samples --batch --restart",
    "answer": f"{_SAMPLING} {_FIELDS} --seed --answers {_COUNTING} --abstaining --aggregator --language",
    "aggregate": f"{_COUNTING} --aggregator --prompts --answers",
    "grounding judge": "--prompts --answers --temperature --matcher --entailment",
    "grounding score": "--resamples --seed --bands",
    "grounding draw": "--resamples --seed --bands --unjudged",
    "knowledge generate": "--texts --documents --answers --prompts --shots --max-tokens --top-p --system",
    "knowledge judge": "--texts --documents --embeddings --aggregation --validity --randoms --baselines --entities "
    "--prompts --system --language --scores --resamples --seed --pieces --reference",
    "score": _SCORING,
    "compare": f"{_SCORING} {_BY_VIEWS}",
    "report": f"{_SCORING} {_BY_VIEWS} --csv-raw --colour",
    "serve": f"{_BOUNDS} --answers --model-seconds --per-client --hang-seconds",
    "attribution build": "--together --answer-edge --head --impossible --hub --flattening --most-answers --test-share "
    "--prompts --answers --extend --format",
    "audit": "--equally --with-first",
    "attribution evaluate": "--premise --entailment --unparsed --human-facts --people --temperature --prompts "
    "--answers --resamples --seed --figure",
    "build": f"{_FIELDS} --cache --hub-limit --exclude-instances-of --keep-partial --workers --restart --along "
    "--complete",
}
