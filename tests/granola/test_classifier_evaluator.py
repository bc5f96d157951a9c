"""A classifier that somebody fine-tuned judges samples: its labels are read, the claim is its first text."""

from __future__ import annotations

from pathlib import Path

import pytest

from granola.errors import UsageError
from granola.evidence.attribution.attribution_task import AttributionSample, Category
from granola.evidence.attribution.evaluators import ClassifierEvaluator
from tests.tiny_model import WORDS
from tests.tiny_scorers import build_classifier

for library in ("torch", "sentence_transformers"):
    pytest.importorskip(library, reason="pip install -e '.[models]'")

pytestmark = pytest.mark.xdist_group("torch")
SAMPLES = [
    AttributionSample(id=word, question="who", statement=f"is {word}", citations=(word[:3], "yes")) for word in WORDS
]


@pytest.mark.parametrize("labels", [["Not_Supported", "Supported"], [*Category]])
def test_the_labels_of_a_classifier_are_verdicts(labels: list[str], tmp_path: Path) -> None:
    from abstraction.models.spec import open_classifier

    folder = build_classifier(tmp_path, labels, spread=2.0, seed=2)
    rows = open_classifier(f"local:{folder}?device=cpu").logits([
        (f"who {one.statement}", " ".join(one.citations)) for one in SAMPLES
    ])  # fmt: skip
    best = [row.index(max(row)) for row in rows]
    found = list(ClassifierEvaluator(f"{folder}?device=cpu").judge(SAMPLES))
    if len(labels) == 2:
        assert [(one.category, one.supported) for one in found] == [(None, at == 1) for at in best]
    else:
        assert [one.category for one in found] == [list(Category)[at] for at in best]
    assert len(set(best)) > 1


def test_other_labels_are_no_verdicts(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has the labels entailment, neutral; expected supportive"):
        ClassifierEvaluator(str(build_classifier(tmp_path, ["entailment", "neutral"])))
