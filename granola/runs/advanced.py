"""The options of runs that few people need."""

from __future__ import annotations

_SCORING = "--join --answers --seed --resamples --workers --ignore-unknown"
_BY_VIEWS = "--page-views --bins"
_WEIGHING = "--counting --linker --csv-raw"
_BOUNDS = "--max-body --max-rows --seconds --waiting --connections"
_SAMPLING = "--prompts --top-p --max-tokens"
_FIELDS = "--question-field --answer-field --id-field --preset --split"
_PHRASING = f"--phrase-mode --unproven --temperature --phrase-seed --answers {_SAMPLING}"

ADVANCED: dict[str, str] = {
    "tiers": f"{_PHRASING} {_FIELDS} --linker --engine --master --csv-raw",
    "dataset": f"{_PHRASING} {_FIELDS} --linker --one-answer --trivial --threshold --samples --batch --restart",
    "answer": f"{_SAMPLING} {_FIELDS} --seed --answers {_WEIGHING} --abstaining --aggregator --language",
    "aggregate": f"{_WEIGHING} --aggregator --prompts --answers",
    "grounding judge": "--prompts --answers --temperature --matcher --entailment",
    "grounding score": "--resamples --seed --bands",
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
