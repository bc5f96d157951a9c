"""A checkpoint fine-tuned on rows that people marked: macro-F1 of supported or not on rows that it never saw.

    python scripts/measure_encoder.py CHECKPOINT [--data ../shared/data] [--longest 192] [--epochs 4] [--device auto]

Trained on four of five questions of AttributionBench's development set (a part of them chooses the epoch), tested on
the fifth, and out of its domain on FactcheckGPT's pairs of claim and passage. Beside it words that statement and
citations share, at the threshold that is best on the rows for training.
"""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from measuring import arguments

from granola.attribution.attribution_samples import AttributionSample, read_any_samples
from granola.attribution.encoder_evaluator import EncoderEvaluator, EncoderTraining, train_encoder
from granola.attribution.evaluators import AttributionEvaluator
from granola.attribution.simple_evaluators import WordEvaluator


def macro_f1(evaluator: AttributionEvaluator, samples: Sequence[AttributionSample]) -> float:
    """Of supported and not, each by itself, and their mean."""
    from sklearn.metrics import f1_score

    judged = {one.id: one.supported for one in evaluator.judged(samples)}
    return float(f1_score([s.supported for s in samples], [judged[s.id] for s in samples], average="macro"))


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("checkpoint", help="a folder or a name on the hub, such as all-MiniLM-L6-v2's")
    parser.add_argument("--longest", type=int, default=192)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--out", type=int, default=500, help="pairs of FactcheckGPT")
    parser.add_argument("--device", default="auto")
    given = parser.parse_args()
    folder = given.data / "attribution"
    rows = [one for one in read_any_samples(folder / "attributionbench_dev.jsonl.gz") if one.supported is not None]
    kept = [one for one in rows if hashlib.sha256(one.question.encode()).digest()[0] % 5 == 0]
    learnt = [one for one in rows if one not in kept]
    other = list(read_any_samples(folder / "factcheckgpt_claim_evidence_stance.jsonl.gz"))
    other = [one for one in other if one.supported is not None][:: max(1, len(other) // given.out)]
    with tempfile.TemporaryDirectory() as name:
        begun, used = time.perf_counter(), time.process_time()
        how = EncoderTraining(
            checkpoint=given.checkpoint, longest=given.longest, epochs=given.epochs, device=given.device, progress=True
        )
        found = train_encoder(learnt, Path(name), how)
        seconds = f"{time.perf_counter() - begun:,.0f} s, {time.process_time() - used:,.0f} s of the processor"
        print(f"{len(learnt)} rows, {given.longest} tokens, best of {found['epochs']} epochs by {found['macro_f1']:.3f}"
              f" on {found['samples']} of them, {seconds}")  # fmt: skip
        words = max((WordEvaluator(share=at / 20) for at in range(1, 20)), key=lambda one: macro_f1(one, learnt))
        print(f"| evaluator | AttributionBench, {len(kept)} held out | FactcheckGPT, {len(other)} |\n|---|---|---|")
        for label, evaluator in {"fine-tuned": EncoderEvaluator(name), f"words={words.share}": words}.items():
            print(f"| {label} | {macro_f1(evaluator, kept):.3f} | {macro_f1(evaluator, other):.3f} |", flush=True)


if __name__ == "__main__":
    main()
