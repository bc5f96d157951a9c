"""A small trained evaluator: random forests on numeric features of claims, stored as plain numbers.

One forest separates supported from not supported and is trained on all samples; a second one separates the other
categories and is trained on samples with categories. So data sets with two and with four classes can be combined.

The features are shares of the statement, independent of style: overlap of words, numbers and names, and negation. Words
are weighted by rarity in the training texts (as in IDF).
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from functools import cached_property, lru_cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from abstraction.models.spec import open_entailment
from abstraction.models.text_scorers import Entailment, EntailmentModel, TextPair
from abstraction.text.language.phrases import FUNCTION, singular
from granola.base.run_record import hash_of_modules
from granola.errors import UsageError
from granola.evidence.attribution.attribution_task import TWO_WAY, AttributionSample, Category
from granola.evidence.attribution.evaluators import TextEvaluator
from granola.evidence.attribution.sample_texts import folded_words, foreign_names
from kg.base.files import atomic_path
from kg.base.packages import install_hint

FILE = "evaluator.json"
BUNDLED = "bundled"  # the name of the evaluator that comes with the package
NO, YES = TWO_WAY
# number of trees, leaves per tree at most, samples per leaf at least: a file of about 190 KB
TREES, LEAVES, OF_LEAF = 100, 32, 5
_DIGITS = 4
FEATURES = (
    "words in citations", "weighted words in best sentence", "new words in citations",
    "best sentence's words in statement", "numbers in citations", "names in citations", "heaviest missing word",
    "negated unlike best sentence", "log of words of citations", "other numbers", "words of statement", "missing words",
)  # fmt: skip
LONGEST = 40_000  # characters of a text that are read: bounds the time for a long document
_SENTENCES = 600  # sentences of the citations that are compared with the statement
_BEST = 3  # sentences with the largest overlap, used for "other numbers"
_COMMON = 0.01  # share of training texts below which all words count as equally rare
_WORD = re.compile(r"[^\W_]+(?:['’.][^\W_]+)*")
# The repetitions are bounded, so that matching takes linear time.
_NUMBER = re.compile(r"\d[\d.,]{0,30}")
_END = re.compile(r"(?<=[.!?])\s+|\n+")
# Function words beyond those of `phrases`: they carry no content of a claim.
_PRONOUNS = """
    be been being this these those it its there their they he she his her him has have had do does did can could may
    might will would should also but if than then so such into over about more most some any all other i you we our
    your my me us them what when where why how as
"""
_PLAIN = FUNCTION | frozenset(_PRONOUNS.split())
_NEGATIONS = "no not never none nor neither without cannot nobody nothing hardly false incorrect unlike"
_NEGATING = frozenset(_NEGATIONS.split())


@dataclass(frozen=True, slots=True)
class WordWeights:
    """Weights of words by document frequency in `texts` texts; `common` has the words of at least one text in a
    hundred.
    """

    texts: int = 0
    common: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, samples: Iterable[AttributionSample]) -> WordWeights:
        """Count document frequencies over the citations of samples."""
        texts = [set(_stemmed_words(_evidence_text(sample))) for sample in samples]
        counts = Counter(word for words in texts for word in words)
        # Only common words are stored: the file stays small, and rare words share one weight.
        least = max(_COMMON * len(texts), 2)
        return cls(len(texts), {word: found for word, found in sorted(counts.items()) if found >= least})

    def total_weight(self, words: Iterable[str]) -> float:
        """The sum of the weights of words, rounded once, because sets of words have another order in each process."""
        return math.fsum(self.weight(word) for word in words)

    def weight(self, word: str) -> float:
        """Inverse document frequency, smoothed, plus 0.2 so that every word has a positive weight."""
        return math.log((self.texts + 1) / (self.common.get(word, _COMMON * self.texts) + 1)) + 0.2


def features_of(sample: AttributionSample, weights: WordWeights, entailment: Entailment | None = None) -> list[float]:
    """The features in the order of `FEATURES`, then the three probabilities of `entailment`, where it is given."""
    statement, evidence = sample.statement[:LONGEST], _evidence_text(sample)
    said, cited = _stemmed_words(statement), _stemmed_words(evidence)
    words, there = set(said) - _PLAIN, set(cited)
    whole = weights.total_weight(words) or 1.0
    sentences = [text for text in _END.split(evidence)[:_SENTENCES] if text.strip()] or [""]
    best_first = sorted(sentences, key=lambda text: -weights.total_weight(words & set(_stemmed_words(text))))
    best, told = best_first[0], " ".join(best_first[:_BEST])
    in_best = set(_stemmed_words(best)) - _PLAIN
    # Words that the question already contains are no evidence of an answer.
    new = words - set(_stemmed_words(sample.question[:LONGEST]))
    # A contradicted claim often differs from its evidence only in a name or a number.
    names, own = set(map(folded_words, foreign_names(statement, ()))), _numbers(statement)
    features = [
        _share_contained(words, there),
        weights.total_weight(words & in_best) / whole,
        weights.total_weight(new & there) / (weights.total_weight(new) or 1.0),
        _share_contained(in_best, words),
        _share_contained(own, _numbers(evidence)),
        _share_contained(names, there | set(folded_words(evidence).split())),
        max((weights.weight(word) for word in words - there), default=0.0),
        # A negation on one side only indicates a contradiction.
        float(_contains_negation(statement) != _contains_negation(best)),
        math.log(1 + len(cited)),
        float(not own <= _numbers(told) and not _numbers(told) <= own),
        len(said),
        len(words - there),
    ]
    return features if entailment is None else [*features, *astuple(entailment)]


def _evidence_text(sample: AttributionSample) -> str:
    return " ".join(sample.citations)[:LONGEST]


def _stemmed_words(text: str) -> tuple[str, ...]:
    """The stemmed lower-case words of a text; short texts are cached."""
    return _stems(text) if len(text) < 400 else _stems.__wrapped__(text)


@lru_cache(maxsize=4_096)
def _stems(text: str) -> tuple[str, ...]:
    return tuple(singular(word.removesuffix("'s").removesuffix("’s")) for word in _WORD.findall(text.casefold()))


def _numbers(text: str) -> set[str]:
    # "1,000" equals "1000"; a full stop after a number is punctuation.
    return {number.rstrip(".,").replace(",", "") for number in _NUMBER.findall(text)}


def _contains_negation(text: str) -> bool:
    words = _WORD.findall(text.casefold())
    return any(word in _NEGATING or word.endswith(("n't", "n’t")) for word in words)


def _share_contained(of: Collection[object], among: Collection[object]) -> float:
    """The share of `of` that is in `among`; 1 where `of` is empty."""
    return sum(one in among for one in of) / len(of) if of else 1.0


@dataclass(frozen=True, slots=True)
class Forest:
    """Trees whose votes are the class shares of their leaves (Breiman 2001).

    A leaf is a list of shares in the order of `classes`; an inner node is [feature index, threshold, node up to it,
    node above it].
    """

    classes: list[str]
    trees: list[Any]

    @classmethod
    def grow(cls, features: Sequence[Sequence[float]], labels: Sequence[str], *, seed: int) -> Forest:
        """Train with scikit-learn, with balanced class weights. Raises UsageError if it is not installed."""
        if find_spec("sklearn") is None:
            raise UsageError(f"training an evaluator needs scikit-learn: {install_hint('evidence')}")
        from sklearn.ensemble import RandomForestClassifier

        model = RandomForestClassifier(
            TREES, max_leaf_nodes=LEAVES, min_samples_leaf=OF_LEAF, class_weight="balanced", random_state=seed
        ).fit(features, labels)
        return cls(list(map(str, model.classes_)), [_node_as_list(one.tree_, 0) for one in model.estimators_])

    def mean_class_shares(self, features: Sequence[float]) -> dict[str, float]:
        """The share of each class, as a mean over the trees; the shares sum to 1."""
        leaves = []
        for node in self.trees:
            while isinstance(node[-1], list):
                node = node[2] if features[node[0]] <= node[1] else node[3]
            leaves.append(node)
        return {name: sum(leaf[at] for leaf in leaves) / len(leaves) for at, name in enumerate(self.classes)}


def _node_as_list(tree: Any, at: int) -> list[Any]:
    """A node of a scikit-learn tree with its subtrees; scikit-learn marks leaves with the feature -2."""
    if tree.feature[at] < 0:
        shares = tree.value[at][0]
        return [round(float(share), _DIGITS) for share in shares / shares.sum()]
    below = [_node_as_list(tree, int(side[at])) for side in (tree.children_left, tree.children_right)]
    return [int(tree.feature[at]), round(float(tree.threshold[at]), _DIGITS), *below]


class TrainedEvaluator(BaseModel, TextEvaluator, frozen=True):
    """`supports` separates supported from not; `others` gives the category of the rest, None without such samples.

    `entailment` names the model whose probabilities are further features, or is empty. The file is its JSON.
    """

    features: tuple[str, ...] = FEATURES
    weights: WordWeights
    supports: Forest
    others: Forest | None = None
    entailment: str = ""

    @cached_property
    def model(self) -> EntailmentModel | None:
        """The entailment model, opened. Raises ModelError."""
        return open_entailment(self.entailment) if self.entailment else None

    @classmethod
    def train(
        cls, samples: Iterable[AttributionSample], *, seed: int = 0, entailment: str | None = None
    ) -> TrainedEvaluator:
        """Train on samples with categories or labels, of both classes. Raises UsageError, ModelError."""
        labelled = [sample for sample in samples if sample.supported is not None]
        if len({sample.supported for sample in labelled}) < 2:
            raise UsageError("training needs samples that are supported and others that are not")
        weights = WordWeights.of(labelled)
        features = list(_feature_rows(labelled, weights, open_entailment(entailment) if entailment else None))
        rest = [
            (numbers, str(sample.category))
            for numbers, sample in zip(features, labelled, strict=True)
            if sample.category not in (None, Category.SUPPORTIVE)
        ]
        # Samples that are all of one category need no forest to tell categories apart.
        several = len({label for _, label in rest}) > 1
        return cls(
            weights=weights,
            supports=Forest.grow(features, [YES if sample.supported else NO for sample in labelled], seed=seed),
            others=Forest.grow([one for one, _ in rest], [label for _, label in rest], seed=seed) if several else None,
            entailment=entailment or "",
        )

    def signature(self) -> str:
        """`trained:HASH|v:HASH`: the hash of its numbers, and of the code of the features."""
        digest = hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:8]
        return f"trained:{digest}|v:{hash_of_modules(__name__)}"

    def labels(self, batch: Sequence[AttributionSample]) -> Iterator[Category | bool]:
        """The category of each sample, or whether it is supported, where the training samples had no categories."""
        for features in _feature_rows(batch, self.weights, self.model):
            # Class weights are balanced in training, so one half is the natural threshold.
            supported = self.supports.mean_class_shares(features)[YES] > 0.5
            if self.others is None:
                yield supported
            else:
                votes = self.others.mean_class_shares(features)
                yield Category.SUPPORTIVE if supported else Category(max(votes, key=votes.__getitem__))

    def save(self, folder: Path) -> None:
        """Write evaluator.json into the folder."""
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_path(folder / FILE) as place:
            place.write_text(self.model_dump_json(), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path | str) -> TrainedEvaluator:
        """Load the evaluator of a folder, or the `bundled` one.

        Raises UsageError if it is missing, or was trained on the features of another version.
        """
        path: Any = files("granola") / "evidence" / "attribution" / "data" if str(folder) == BUNDLED else Path(folder)
        try:
            loaded = cls.model_validate_json((path / FILE).read_bytes())
        except (OSError, ValueError) as error:
            raise UsageError(f"{folder} is no trained evaluator: {str(error)[:300]}") from error
        # Indices in the trees refer to this order of features.
        if loaded.features != FEATURES:
            raise UsageError(f"{folder} was trained by another version, on other features; train it anew")
        return loaded


def _feature_rows(
    samples: Sequence[AttributionSample], weights: WordWeights, model: EntailmentModel | None
) -> Iterator[list[float]]:
    pairs = [TextPair(" ".join(sample.citations), sample.statement) for sample in samples]
    judged = [None] * len(samples) if model is None else model.scores(pairs)
    for sample, entailment in zip(samples, judged, strict=True):
        yield features_of(sample, weights, entailment)
