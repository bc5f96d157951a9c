"""The cheap trained evaluator: logistic regression on features of overlap, and of entailment where a model is given."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import orjson

from abstraction.models import Entailment, EntailmentModel, TextPair
from granola.attribution.attribution_samples import AttributionSample
from granola.attribution.categories import Category
from granola.attribution.evaluators import AttributionJudgement, of_category
from granola.attribution.text_checks import folded, states_name
from granola.code_hash import hash_of_modules
from granola.errors import UsageError
from kg.extras import install_hint
from kg.files import atomic_path

# What can be counted of a sample without a model: how much of statement and question the citations repeat.

FEATURES = (
    "statement words in citations", "citation words in statement", "statement pairs in citations",
    "statement names in citations", "question names in citations", "own names in citations",
    "citation names in statement", "strange names", "best citation", "worst citation", "numbers in citations",
    "citations", "words of citations", "words of statement", "longest run",
)  # fmt: skip
ENTAILMENT_FEATURES = ("entailed", "neutral", "refuted")
LONGEST = 20_000  # characters of a text that are looked at
_NAME = re.compile(r"\b[A-Z][\w'’-]{0,60}(?: (?:of |the |and |de |for |in )?[A-Z][\w'’-]{0,60}){0,8}")
_NUMBER = re.compile(r"\d[\d.,]{0,30}")


def features_of(sample: AttributionSample, entailment: Entailment | None = None) -> list[float]:
    """Numbers in the order of `FEATURES`, then of `ENTAILMENT_FEATURES` where a model has judged."""
    statement, question = sample.statement[:LONGEST], sample.question[:LONGEST]
    evidence = " ".join(sample.citations)[:LONGEST]
    statement_words, cited = folded(statement).split(), folded(evidence).split()
    words, evidence_words = set(statement_words), set(cited)
    names, asked, there = names_in(statement), names_in(question), names_in(evidence)
    answer_names = [name for name in names if not states_name(question, name)]  # the answer's, most likely
    each = [_share(words, set(folded(citation[:LONGEST]).split())) for citation in sample.citations] or [0.0]
    numbers = set(_NUMBER.findall(statement))
    features = [
        _share(words, evidence_words),
        _share(evidence_words, words),
        _share(set(pairwise(statement_words)), set(pairwise(cited))),
        _stated(names, evidence),
        _stated(asked, evidence),
        _stated(answer_names, evidence),
        _stated(there, f"{question} {statement}"),
        float(sum(not states_name(f"{question} {statement}", name) for name in there)),
        max(each),
        min(each),
        _share(numbers, set(_NUMBER.findall(evidence))),
        float(len(sample.citations)),
        min(len(cited), 1_000) / 100,
        min(len(statement_words), 1_000) / 100,
        _longest_run(statement_words[:200], cited[:2_000]),
    ]
    if entailment is not None:
        features += [entailment.entailed, entailment.neutral, entailment.refuted]
    return features


def names_in(text: str) -> list[str]:
    """Runs of words with capitals, without repeats."""
    return list(dict.fromkeys(match[0] for match in _NAME.finditer(text[:LONGEST])))


def _share(of: set[str] | set[tuple[str, str]], among: set[str] | set[tuple[str, str]]) -> float:
    return len(of & among) / len(of) if of else 1.0


def _stated(names: Sequence[str], text: str) -> float:
    return sum(states_name(text, name) for name in names) / len(names) if names else 1.0


def _longest_run(statement_words: Sequence[str], cited: Sequence[str]) -> float:
    """The longest run of the statement's words that stands in the citations, as a share of the statement."""
    best, row = 0, [0] * (len(cited) + 1)
    for word in statement_words:
        new = [0] * (len(cited) + 1)
        for at, other in enumerate(cited, 1):
            if word == other:
                new[at] = row[at - 1] + 1
                best = max(best, new[at])
        row = new
    return best / len(statement_words) if statement_words else 1.0


# The evaluator.


FILE = "linear.json"
NEEDED = f"the linear evaluator needs scikit-learn: {install_hint('evidence')}"
_BATCH = 256


@dataclass(frozen=True, kw_only=True, eq=False)
class LinearEvaluator:
    """Weights as plain numbers, [classes][features], of features with mean 0 and deviation 1 in training."""

    classes: tuple[Category, ...]
    means: tuple[float, ...]
    scales: tuple[float, ...]
    weights: tuple[tuple[float, ...], ...]
    intercepts: tuple[float, ...]
    entailment: EntailmentModel | None = None

    @classmethod
    def trained(
        cls, samples: Iterable[AttributionSample], *, seed: int = 0, entailment: EntailmentModel | None = None
    ) -> LinearEvaluator:
        """Of samples with categories, two or more. Raises UsageError."""
        if find_spec("sklearn") is None:
            raise UsageError(NEEDED)
        from sklearn.linear_model import LogisticRegression
        from sklearn.preprocessing import StandardScaler

        labelled = [sample for sample in samples if sample.category is not None]
        labels = [str(sample.category) for sample in labelled]
        if len(set(labels)) < 2:
            raise UsageError("samples of two categories or more are wanted to train on")
        scaler = StandardScaler()
        scaled = scaler.fit_transform(list(_features(labelled, entailment)))
        model = LogisticRegression(max_iter=2_000, random_state=seed).fit(scaled, labels)
        weights, intercepts = model.coef_.tolist(), model.intercept_.tolist()
        if len(weights) == 1:  # of two classes scikit-learn keeps the second's weights alone
            weights, intercepts = [[0.0] * len(weights[0]), weights[0]], [0.0, intercepts[0]]
        return cls(
            classes=tuple(Category(label) for label in model.classes_),
            means=tuple(scaler.mean_.tolist()),
            scales=tuple(scaler.scale_.tolist()),
            weights=tuple(map(tuple, weights)),
            intercepts=tuple(intercepts),
            entailment=entailment,
        )

    def signature(self) -> str:
        """`linear:HASH|v:HASH`: by its weights, and by the code that counts features."""
        digest = hashlib.sha256(orjson.dumps(self._numbers())).hexdigest()[:8]
        return f"linear:{digest}|v:{hash_of_modules('granola.attribution.linear_evaluator')}"

    def judged(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionJudgement]:
        """As `AttributionEvaluator.judged`."""
        source = iter(samples)
        while batch := list(islice(source, _BATCH)):
            for sample, features in zip(batch, _features(batch, self.entailment), strict=True):
                scaled = [(x - mean) / scale for x, mean, scale in zip(features, self.means, self.scales, strict=True)]
                scores = [
                    bias + math.fsum(w * x for w, x in zip(row, scaled, strict=True))
                    for row, bias in zip(self.weights, self.intercepts, strict=True)
                ]
                yield of_category(sample, self.classes[scores.index(max(scores))])

    def _numbers(self) -> dict[str, Any]:
        names = FEATURES + (ENTAILMENT_FEATURES if self.entailment is not None else ())
        return {
            "schema_version": 1, "kind": "linear", "classes": [str(category) for category in self.classes],
            "features": list(names), "means": list(self.means), "scales": list(self.scales),
            "weights": [list(row) for row in self.weights], "intercepts": list(self.intercepts),
        }  # fmt: skip

    def save(self, folder: Path) -> None:
        """Write linear.json into the folder."""
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_path(folder / FILE) as place:
            place.write_bytes(orjson.dumps(self._numbers(), option=orjson.OPT_INDENT_2))

    @classmethod
    def load(cls, folder: Path, *, entailment: EntailmentModel | None = None) -> LinearEvaluator:
        """The evaluator of a folder. Raises UsageError where there is none, or where it was trained otherwise."""
        path = folder / FILE
        try:
            data = orjson.loads(path.read_bytes())
            names = [*FEATURES, *(ENTAILMENT_FEATURES if entailment is not None else ())]
            if data["features"] != names:
                features = "with" if len(data["features"]) > len(FEATURES) else "without"
                raise UsageError(
                    f"{path} was trained {features} an entailment model, or by another version; train it anew"
                )
            return cls(
                classes=tuple(Category(name) for name in data["classes"]),
                means=tuple(map(float, data["means"])),
                scales=tuple(map(float, data["scales"])),
                weights=tuple(tuple(map(float, row)) for row in data["weights"]),
                intercepts=tuple(map(float, data["intercepts"])),
                entailment=entailment,
            )
        except (OSError, KeyError, TypeError, ValueError) as error:
            if isinstance(error, UsageError):
                raise
            raise UsageError(f"{path} is no trained evaluator: {error}") from error


def _features(samples: Sequence[AttributionSample], entailment: EntailmentModel | None) -> Iterator[list[float]]:
    if entailment is None:
        yield from (features_of(sample) for sample in samples)
        return
    pairs = [TextPair(" ".join(sample.citations), sample.statement) for sample in samples]
    for sample, judged in zip(samples, entailment.entailments(pairs), strict=True):
        yield features_of(sample, judged)
