"""The cheap trained evaluator: forests of small decision trees on `claim_features`, kept as plain numbers.

One forest tells supported from not, of all samples; a second one tells the other categories apart, of samples with
categories alone, so that sets that people marked in two ways and in four train it together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from abstraction.models import EntailmentModel, TextPair
from granola.attribution.attribution_samples import AttributionSample
from granola.attribution.categories import Category
from granola.attribution.claim_features import ENTAILMENT_FEATURES, FEATURES, WordWeights, features_of
from granola.attribution.evaluators import AttributionJudgement, of_category
from granola.code_hash import hash_of_modules
from granola.errors import UsageError
from kg.extras import install_hint
from kg.files import atomic_path

FILE = "evaluator.json"
BUNDLED = "bundled"  # the name of the one in the box
NEEDED = f"training an evaluator needs scikit-learn: {install_hint('evidence')}"
YES, NO = "supported", "not supported"
TREES, LEAVES, OF_LEAF = 100, 32, 5
_BATCH = 256
_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Tree:
    """Nodes by number, 0 the root: `feature` and `limit` of a fork (at most the limit: `left`), `shares` of a leaf."""

    feature: tuple[int, ...]  # -1: a leaf
    limit: tuple[float, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]
    shares: tuple[tuple[float, ...], ...]  # of the classes of training; () of a fork

    def leaf(self, features: Sequence[float]) -> tuple[float, ...]:
        """The shares where features lead."""
        at = 0
        while self.feature[at] >= 0:
            at = self.left[at] if features[self.feature[at]] <= self.limit[at] else self.right[at]
        return self.shares[at]


@dataclass(frozen=True, slots=True)
class Forest:
    """Trees that vote with their leaves' shares (Breiman 2001)."""

    classes: tuple[str, ...]
    trees: tuple[Tree, ...]

    @classmethod
    def grown(cls, features: Sequence[Sequence[float]], labels: Sequence[str], *, seed: int) -> Forest:
        """By scikit-learn, classes weighing alike. Raises UsageError without it."""
        if find_spec("sklearn") is None:
            raise UsageError(NEEDED)
        from sklearn.ensemble import RandomForestClassifier

        model = RandomForestClassifier(
            TREES, max_leaf_nodes=LEAVES, min_samples_leaf=OF_LEAF, class_weight="balanced", random_state=seed
        ).fit(features, labels)
        return cls(tuple(map(str, model.classes_)), tuple(_tree(one.tree_) for one in model.estimators_))

    def votes(self, features: Sequence[float]) -> dict[str, float]:
        """The mean share of each class, of 1 in all."""
        leaves = [tree.leaf(features) for tree in self.trees]
        return {name: sum(leaf[at] for leaf in leaves) / len(leaves) for at, name in enumerate(self.classes)}

    def to_json(self) -> dict[str, Any]:
        """As plain numbers."""
        trees = [[tree.feature, tree.limit, tree.left, tree.right, tree.shares] for tree in self.trees]
        return {"classes": self.classes, "trees": trees}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Forest:
        """The inverse of `to_json`. Raises TypeError, ValueError, KeyError."""
        trees = tuple(
            Tree(tuple(feature), tuple(limit), tuple(left), tuple(right), tuple(map(tuple, shares)))
            for feature, limit, left, right, shares in data["trees"]
        )
        return cls(tuple(data["classes"]), trees)


def _tree(grown: Any) -> Tree:
    """A tree of scikit-learn's, whose leaves have the feature -2."""
    forks = [int(feature) if feature >= 0 else -1 for feature in grown.feature]
    return Tree(
        feature=tuple(forks),
        limit=tuple(round(float(limit), _DIGITS) for limit in grown.threshold),
        left=tuple(map(int, grown.children_left)),
        right=tuple(map(int, grown.children_right)),
        shares=tuple(
            () if fork >= 0 else tuple(round(float(share), _DIGITS) for share in value[0] / value[0].sum())
            for fork, value in zip(forks, grown.value, strict=True)
        ),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainedEvaluator:
    """`supports` tells supported from not; `others` which category the rest is, None where no sample said."""

    weights: WordWeights
    supports: Forest
    others: Forest | None = None
    entailment: EntailmentModel | None = None

    @property
    def classes(self) -> tuple[Category, ...]:
        """Those that it can give; none where it tells only two apart."""
        return (Category.SUPPORTIVE, *map(Category, self.others.classes)) if self.others is not None else ()

    @classmethod
    def trained(
        cls, samples: Iterable[AttributionSample], *, seed: int = 0, entailment: EntailmentModel | None = None
    ) -> TrainedEvaluator:
        """Of samples with categories or labels, supported ones and others. Raises UsageError."""
        labelled = [sample for sample in samples if sample.supported is not None]
        if len({sample.supported for sample in labelled}) < 2:
            raise UsageError("samples that are supported and others that are not are wanted to train on")
        weights = WordWeights.of(labelled)
        features = list(_features(labelled, weights, entailment))
        rest = [
            (numbers, str(sample.category))
            for numbers, sample in zip(features, labelled, strict=True)
            if sample.category not in (None, Category.SUPPORTIVE)
        ]
        several = len({label for _, label in rest}) > 1
        return cls(
            weights=weights,
            supports=Forest.grown(features, [YES if sample.supported else NO for sample in labelled], seed=seed),
            others=Forest.grown([one for one, _ in rest], [label for _, label in rest], seed=seed) if several else None,
            entailment=entailment,
        )

    def signature(self) -> str:
        """`trained:HASH|v:HASH`: by its numbers, and by the code that counts features."""
        digest = hashlib.sha256(orjson.dumps(self._numbers())).hexdigest()[:8]
        version = hash_of_modules("granola.attribution.claim_features", "granola.attribution.trained_evaluator")
        return f"trained:{digest}|v:{version}"

    def judged(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionJudgement]:
        """As `AttributionEvaluator.judged`."""
        source = iter(samples)
        while batch := list(islice(source, max(_BATCH, getattr(self.entailment, "block", 0)))):
            for sample, features in zip(batch, _features(batch, self.weights, self.entailment), strict=True):
                yield self._judgement(sample, features)

    def _judgement(self, sample: AttributionSample, features: Sequence[float]) -> AttributionJudgement:
        supported = self.supports.votes(features)[YES] > 0.5
        if supported and self.others is not None:
            return of_category(sample, Category.SUPPORTIVE)
        if self.others is None:
            return AttributionJudgement(id=sample.id, supported=supported)
        votes = self.others.votes(features)
        return of_category(sample, Category(max(votes, key=votes.__getitem__)))

    def _numbers(self) -> dict[str, Any]:
        names = FEATURES + (ENTAILMENT_FEATURES if self.entailment is not None else ())
        return {
            "schema_version": 1, "kind": "trained", "features": names, "texts": self.weights.texts,
            "words": dict(self.weights.common), "supports": self.supports.to_json(),
            "others": None if self.others is None else self.others.to_json(),
        }  # fmt: skip

    def save(self, folder: Path) -> None:
        """Write evaluator.json into the folder."""
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_path(folder / FILE) as place:
            place.write_bytes(orjson.dumps(self._numbers()))

    @classmethod
    def load(cls, folder: Path | str, *, entailment: EntailmentModel | None = None) -> TrainedEvaluator:
        """The evaluator of a folder, or the `bundled` one.

        Raises UsageError where there is none, or where it was trained with other features.
        """
        bundled = str(folder) == BUNDLED
        path: Any = files("granola") / "attribution" / "data" / FILE if bundled else Path(folder) / FILE
        try:
            data = orjson.loads(path.read_bytes())
            names = [*FEATURES, *(ENTAILMENT_FEATURES if entailment is not None else ())]
            if data["features"] != names:
                how = "with" if len(data["features"]) > len(FEATURES) else "without"
                raise UsageError(f"{path} was trained {how} an entailment model, or by another version; train it anew")
            return cls(
                weights=WordWeights(data["texts"], data["words"]),
                supports=Forest.from_json(data["supports"]),
                others=None if data["others"] is None else Forest.from_json(data["others"]),
                entailment=entailment,
            )
        except (OSError, KeyError, TypeError, ValueError) as error:
            if isinstance(error, UsageError):
                raise
            raise UsageError(f"{path} is no trained evaluator: {error}") from error


def _features(
    samples: Sequence[AttributionSample], weights: WordWeights, entailment: EntailmentModel | None
) -> Iterator[list[float]]:
    if entailment is None:
        yield from (features_of(sample, weights) for sample in samples)
        return
    pairs = [TextPair(" ".join(sample.citations), sample.statement) for sample in samples]
    for sample, judged in zip(samples, entailment.entailments(pairs), strict=True):
        yield features_of(sample, weights, judged)
