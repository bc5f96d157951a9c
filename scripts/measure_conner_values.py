"""Scores of CONNER's NQ reference texts by models that are named here, beside the authors' own values.

python scripts/measure_conner_values.py --data ../shared/data [--relevance MODEL] [--causal MODEL] [--coherence MODEL]
"""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path

from measuring import arguments

from abstraction.models.spec import open_coherence, open_continuations, open_relevance
from abstraction.models.text_scorers import Continuation, QueryPassage
from abstraction.text.language.phrases import sentences
from granola.evidence.knowledge.knowledge_items import read_items
from granola.evidence.knowledge.knowledge_judge import mean_sentence_coherence
from granola.evidence.knowledge.knowledge_task import somers_d

CUT = 100.0  # the authors' perplexities are cut there


def main() -> None:
    """Print n, both means and Somers' D of ours given theirs, for each model that is named."""
    parser = arguments(__doc__)
    for name in ("relevance", "causal", "coherence"):
        parser.add_argument(f"--{name}", help="a model, as granola knowledge judge names it")
    given = parser.parse_args()
    folder = given.data / "conner"
    texts = _lines(folder / "nq_ref.txt.gz")
    items = list(read_items(folder / "nq_test_random_testset.txt.gz", on_reject=lambda row: None))
    print(f"{len(texts):,} texts, {len(items):,} queries")
    parted = [sentences(text) for text in texts]
    if given.relevance:
        pairs = [QueryPassage(item.query, text) for item, text in zip(items, texts, strict=True)]
        _told("relevance", open_relevance(given.relevance).scores(pairs), _values(folder / "nq_ref_rel.txt.gz"))
    if given.causal:
        model = open_continuations(given.causal)
        scores = [model.scores([Continuation("", one) for one in own]) for own in parted]
        ours = [mean_sentence_coherence(own, perplexity_cut=CUT) for own in scores]
        theirs = [1 / min(CUT, value) for value in _values(folder / "nq_ref_avg_sent_ppl.txt.gz")]
        _told("sentence coherence, perplexity cut at 100", ours, theirs)
    if given.coherence:
        ours = open_coherence(given.coherence).scores(parted)
        _told("paragraph coherence", ours, _values(folder / "nq_ref_avg_coh_para.txt.gz"))


def _told(name: str, ours: list[float], theirs: list[float]) -> None:
    """Of values that are not as many as the texts, which text each is of is not known: means alone."""
    if len(ours) != len(theirs):
        mean, their_mean = (sum(values) / len(values) for values in (ours, theirs))
        print(f"{name}: n {len(ours):,}, ours {mean:.4f}; theirs {their_mean:.4f}, n {len(theirs):,}")
        return
    pairs = [(a, b) for a, b in zip(ours, theirs, strict=False) if not math.isnan(a) and not math.isnan(b)]
    mine, others = [a for a, _ in pairs], [b for _, b in pairs]
    mean, their_mean = (sum(values) / len(values) for values in (mine, others))
    d, p = somers_d(others, mine)
    print(f"{name}: n {len(pairs):,}, ours {mean:.4f}, theirs {their_mean:.4f}, D {d:.3f} (p {p:.3g})")


def _lines(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        return [line.rstrip("\n") for line in stream]


def _values(path: Path) -> list[float]:
    """A value a line, or all of them as an array in the first."""
    lines = _lines(path)
    return json.loads(lines[0]) if lines[0].startswith("[") else [float(line) for line in lines if line.strip()]


if __name__ == "__main__":
    main()
