"""Build GRANOLA-EQ anew: EntityQuestions' test split with answers at several granularities, from a snapshot.

    python scripts/build_granola_eq.py QUESTIONS --snapshot SNAPSHOT --out FOLDER [--relations paper|all|P19,P20]

QUESTIONS is a folder of EntityQuestions, a file a relation (P19.test.json). The selection and the cleaning are the
paper's (Yona, Aharoni and Geva 2024, appendix B): its seventeen relations (sixteen templates), questions with one
answer, no missing or repeated answers, no trivial coarser ones; each step can be left out. Without a model the answers
are the graph's own, those that the question gives away among them. With --phrase a model writes them and the graph
checks each; with --consistency one scores the descriptions, and rows above the threshold go. Killed, it goes on with
the same command and asks nothing again. Rows
have GRANOLA-EQ's columns and ids, ours behind them; README.md compares the statistics.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from abstraction.datasets.building import BATCH, DatasetSettings
from abstraction.datasets.dataset_cleaning import MOST, STEPS, CleaningStep, read_trivial
from abstraction.datasets.questions import GRANOLA_EQ, GRANOLA_EQ_RELATIONS, EntityQuestions, relations_in
from abstraction.errors import AbstractionError
from abstraction.relations import relation
from granola.cli.dataset import make
from granola.cli.phrasing_options import LONGEST, PhraseMode, PhraseOptions, PhrasingModels, Unproven, check_unphrased
from granola.errors import GranolaError
from kg.errors import KGError


def asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path, help="EntityQuestions' folder of one split")
    parser.add_argument("--snapshot", required=True, help="a snapshot's file, or bolt://HOST:PORT")
    parser.add_argument("--out", type=Path, required=True, help="the folder to write")
    parser.add_argument(
        "--relations", default="paper", help="paper (17), all that are there, or P19,P20 (default: paper)"
    )
    parser.add_argument("--name", default="GRANOLA-EQ rebuilt from WikiData", help="the dataset's name")
    parser.add_argument("--split", default="test", help="the split's name (default: test)")
    parser.add_argument("--format", choices=("parquet", "jsonl"), default="jsonl", help="of the rows (default: jsonl)")
    parser.add_argument(
        "--linker", choices=("question", "smallest"), default="smallest",
        help="how names find entities: the smallest id, as in the paper (default), or what the question says",
    )  # fmt: skip
    parser.add_argument("--without", action="append", choices=[str(step) for step in STEPS], default=[],
                        help="leave a step of the cleaning out; may be given again")  # fmt: skip
    parser.add_argument("--trivial", type=Path, help="a file of texts that never are a coarser answer, one a line")
    parser.add_argument("--threshold", type=float, default=MOST, help=f"the greatest error score (default: {MOST})")
    parser.add_argument(
        "--phrase", metavar="MODEL", help="writes the answers: openai:URL#NAME, local:FOLDER, replay:FILE"
    )
    parser.add_argument("--phrase-mode", choices=[str(one) for one in PhraseMode], default="free",
                        help="word: the model only words the graph's answers (default: free)")  # fmt: skip
    parser.add_argument("--unproven", choices=[str(one) for one in Unproven], default="keep",
                        help="what becomes of answers that the graph does not know (default: keep)")  # fmt: skip
    parser.add_argument(
        "--consistency", metavar="MODEL", help="scores how well descriptions fit; may be the same model"
    )
    parser.add_argument("--samples", type=int, default=10, help="how often it is asked about a row (default: 10)")
    parser.add_argument("--prompts", help="paper (the default), guided, or a folder with prompts of your own")
    parser.add_argument("--temperature", type=float, default=0.0, help="of --phrase (default: 0)")
    parser.add_argument("--top-p", type=float, default=1.0, help="share of likely tokens to draw from (default: 1)")
    parser.add_argument("--max-tokens", type=int, default=LONGEST, help=f"the longest reply (default: {LONGEST})")
    parser.add_argument("--phrase-seed", type=int, default=0, help="of --phrase, above temperature 0 (default: 0)")
    parser.add_argument("--answers", type=Path, help="where models' answers are kept (default: OUT.answers.sqlite)")
    parser.add_argument("--limit", type=int, help="stop after so many questions")
    parser.add_argument("--batch", type=int, default=BATCH, help=f"questions that a kill may cost (default: {BATCH})")
    parser.add_argument("--restart", action="store_true", help="throw away what a killed run left")
    parser.add_argument("--force", action="store_true", help="replace a dataset that was built here before")
    return parser.parse_args()


def build(args: argparse.Namespace) -> int:
    if args.relations in ("all", "paper"):
        chosen = tuple(relations_in(args.questions)) if args.relations == "all" else GRANOLA_EQ_RELATIONS
    else:
        chosen = tuple(relation(name.strip().upper()).id for name in args.relations.split(","))
    questions = EntityQuestions(folder=args.questions, relations=chosen, limit=args.limit)
    settings = DatasetSettings(
        name=args.name,
        linker=args.linker,
        as_asked=False,
        split=args.split,
        format=args.format,
        steps=frozenset(STEPS) - {CleaningStep(step) for step in args.without},
        trivial=read_trivial(args.trivial) if args.trivial else (),
        most=args.threshold,
        batch=args.batch,
        beside=GRANOLA_EQ,
        command="python scripts/build_granola_eq.py",
    )
    phrasing = PhraseOptions(
        model=args.phrase, mode=PhraseMode(args.phrase_mode), prompts=args.prompts, unproven=Unproven(args.unproven),
        temperature=args.temperature, top_p=args.top_p, max_tokens=args.max_tokens, seed=args.phrase_seed,
    )  # fmt: skip
    check_unphrased(phrasing, answers=args.answers, scored=args.consistency is not None)
    models = PhrasingModels(phrasing=phrasing, consistency=args.consistency, samples=args.samples, answers=args.answers)
    built = make(
        questions, args.snapshot, args.out, settings=settings, models=models, force=args.force, restart=args.restart
    )
    return 1 if built.rejected or built.phrasing.unanswered or built.unscored else 0


def main() -> int:
    try:
        return build(asked())
    except (KGError, AbstractionError, GranolaError, OSError) as error:
        print(f"build_granola_eq: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("build_granola_eq: interrupted; the same command goes on", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
