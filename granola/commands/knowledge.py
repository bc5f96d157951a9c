"""`granola knowledge`: knowledge texts written, scored, chosen, rated by people and held against ratings."""

from __future__ import annotations

import hashlib
import math
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from itertools import islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import orjson

from abstraction.faults import RejectedRow
from granola import __version__
from granola.commands.command import Command
from granola.commands.messages import count, print_json, report_rejects
from granola.commands.models import opened
from granola.commands.output import (
    STANDARD,
    RowsCommand,
    RowsOutput,
    RowsWritten,
    check_outputs,
    writing_rows,
)
from granola.errors import UsageError
from granola.knowledge.knowledge_generation import KIND_OF, Generated
from granola.knowledge.knowledge_judge import AnswerForm
from granola.knowledge.knowledge_metrics import Aggregation
from granola.settings import Setting
from granola.shared_settings import (
    AsJson,
    Force,
    KeptAnswers,
    Limit,
    Out,
    Resamples,
    Tiered,
    check_language,
)
from granola.terminal_lines import Part, TextTable, Verbatim, show_lines

if TYPE_CHECKING:
    from granola.evidence.annotation_sheets import FilledSheet
    from granola.evidence.evidence_task import Report
    from granola.knowledge.knowledge_metrics import Coefficients

Items = Annotated[
    str,
    Setting(
        "Knowledge texts: JSONL, CSV or Parquet with id, query and knowledge, or CONNER's four columns (.txt, .tsv, "
        "also .gz).",
        metavar="ITEMS",
        positional=True,
    ),
]
Texts = Annotated[
    Path | None,
    Setting(
        "With four columns: a file with the text to judge of each line; the third column is then the reference.",
        advanced=True,
    ),
]
Documents = Annotated[
    Path | None,
    Setting(
        "With four columns: a file with what was retrieved for each line, a JSON array or separated by tabs.",
        advanced=True,
    ),
]
Judged = Annotated[
    str, Setting("Judged texts, as `granola knowledge judge` writes them.", metavar="JUDGED", positional=True)
]
Seed = Annotated[int, Setting("Seed of what is drawn.", least=0)]
SystemName = Annotated[str | None, Setting("The name of who wrote the texts, for those that name none.", advanced=True)]


@dataclass(frozen=True, kw_only=True)
class KnowledgeDescribe(RowsCommand):
    """Write the evidence of tiered rows in words, a text for each row, for `granola knowledge judge`."""

    tiered: Tiered
    out: Out
    descriptions: Annotated[bool, Setting("WikiData's descriptions alone, without statements.")] = False
    limit: Limit = None
    force: Force = False
    as_json: AsJson = False

    def run(self) -> RowsWritten:
        """Write them. Raises UsageError where there is no row."""
        from abstraction.rows import read_tiered
        from granola.knowledge.ladder_texts import items_of_ladders

        with writing_rows(self, self.out, inputs=[self.tiered], force=self.force) as output:
            rows = islice(read_tiered(self.tiered, on_reject=output.rejected.append), self.limit)
            items = items_of_ladders(rows, descriptions=self.descriptions)
            if not items:
                raise UsageError(f"{self.tiered} has no tiered row; make one with granola tiers")
            output.write(item.to_json() for item in items)
            empty = sum(not item.knowledge for item in items)
            return output.ended(f"{count(len(items), 'text')}, {empty:,} of them empty", source=self.tiered)


@dataclass(frozen=True, kw_only=True)
class KnowledgeGenerate(RowsCommand):
    """Let a model write a knowledge text for each query, or an answer from the text that is there.

    Killed, it goes on with the same command: nothing is asked for twice. With --samples several texts are drawn, for
    `granola knowledge choose` to choose from.
    """

    items: Items
    model: Annotated[str, Setting("The model: openai:URL#NAME, local:FOLDER or replay:FILE.", metavar="MODEL")]
    out: Out
    target: Annotated[Generated, Setting("What is written: knowledge, an answer, a reply of a dialogue.")] = (
        Generated.KNOWLEDGE
    )
    examples: Annotated[
        Path | None, Setting("Items with right answers, put before each question as examples (few-shot).")
    ] = None
    shots: Annotated[
        int | None, Setting("How many of --examples, drawn by the seed; without it all.", least=1, advanced=True)
    ] = None
    samples: Annotated[int, Setting("Texts for each query; several need ?temperature= in --model.", least=1)] = 1
    seed: Seed = 0
    system: SystemName = None
    prompts: Annotated[
        str | None, Setting("A folder with prompts of your own: knowledge.txt, answer.txt, reply.txt.", advanced=True)
    ] = None
    texts: Texts = None
    documents: Documents = None
    answers: KeptAnswers = None
    limit: Limit = None
    force: Force = False
    as_json: AsJson = False

    def run(self) -> RowsWritten:
        """Ask and write. Raises UsageError for settings that do not go together, before anything is asked."""
        from abstraction.models import Sampling, parse_model_spec
        from abstraction.models.prompts import hash_of
        from granola.knowledge.knowledge_files import read_items
        from granola.knowledge.knowledge_generation import drawn
        from granola.knowledge.knowledge_prompts import read_knowledge_prompts

        told = parse_model_spec(self.model).sampling
        try:
            sampling = Sampling(**{"n": self.samples, "seed": self.seed, **told})
        except ValueError as error:
            raise UsageError(f"--samples and the settings of --model do not go together: {error}") from error
        if self.shots is not None and self.examples is None:
            raise UsageError("--shots goes with --examples FILE, which is not given")
        prompts = read_knowledge_prompts(self.prompts)
        inputs = [self.items, self.examples, self.texts, self.documents]
        with writing_rows(self, self.out, inputs=inputs, force=self.force) as output:
            rejected = output.rejected.append
            pool = [] if self.examples is None else list(read_items(self.examples, on_reject=rejected))
            shown = drawn(pool, self.shots, seed=self.seed)
            items = read_items(
                self.items, texts=self.texts, documents=self.documents, on_reject=rejected, limit=self.limit
            )
            with opened(self.model, output.beside, self.answers, output.inputs) as model:
                output.write(self._rows(output, items, model, prompts, sampling, shown))
                output.more["model"] = dict(model.identity)
            output.more |= {
                "prompts": hash_of(prompts, KIND_OF[self.target]), "outcomes": dict(output.counts),
                "examples": [item.id for item in shown],
            }  # fmt: skip
            return output.ended(f"{count(output.counts['written'], 'text')} written", source=self.items)

    def _rows(
        self, output: RowsOutput, items: Any, model: Any, prompts: Any, sampling: Any, shown: Any
    ) -> Iterator[dict[str, Any]]:
        from granola.knowledge.knowledge_generation import generated

        for item in generated(items, self.target, model, prompts, sampling, shown):
            if isinstance(item, RejectedRow):
                output.rejected.append(item)
                continue
            output.taken.take(item.source, item.id, item.query)
            output.counts["written"] += 1
            yield (replace(item, system=self.system) if self.system else item).to_json()


def read_judged(path: str, rejected: list[RejectedRow]) -> list[dict[str, Any]]:
    """Judged texts. Raises UsageError where there is none."""
    from abstraction.files.records import read_records
    from abstraction.files.row_reading import accepted, read_each
    from granola.knowledge.knowledge_task import read_verdict_row

    rows = list(accepted(read_each(read_records(path), read_verdict_row), rejected.append))
    if not rows:
        raise UsageError(f"{path} has no judged text; make some with granola knowledge judge")
    return rows


SCORES_SUFFIX = ".scores.sqlite"
_TOGETHER = 64  # texts that are judged at a time
_WORD = "local:FOLDER_OR_NAME or openai:URL#NAME"


@dataclass(frozen=True, kw_only=True)
class KnowledgeJudge(RowsCommand):
    """Score knowledge texts: factuality, relevance, coherence, informativeness, helpfulness, validity.

    Each score needs its model; what has none is not scored. Killed, it goes on with the same command. The means stand
    on standard output, each with its 95 % interval and n; OUT has every text with its scores, sentences and notes.
    """

    items: Items
    out: Out
    entailment: Annotated[
        str | None, Setting(f"Three classes of a pair, for factuality and validity: {_WORD}.", metavar="MODEL")
    ] = None
    relevance: Annotated[str | None, Setting(f"A cross-encoder of query and text: {_WORD}.", metavar="MODEL")] = None
    causal: Annotated[
        str | None,
        Setting(f"A causal language model, for sentence coherence and informativeness: {_WORD}.", metavar="MODEL"),
    ] = None
    reader: Annotated[
        str | None, Setting(f"A causal language model that answers, for helpfulness: {_WORD}.", metavar="MODEL")
    ] = None
    coherence: Annotated[
        str | None, Setting("A model of paragraphs' coherence: local:FOLDER_OR_NAME.", metavar="MODEL")
    ] = None
    passages: Annotated[
        Path | None, Setting("Passages that evidence is looked up in: records with a text, or a .txt of lines.")
    ] = None
    embeddings: Annotated[
        str | None,
        Setting(
            f"Look passages up by vectors of this model instead of by words: {_WORD}.", metavar="MODEL", advanced=True
        ),
    ] = None
    snapshot: Annotated[str | None, Setting("A snapshot whose statements about the topic are evidence.")] = None
    reference: Annotated[
        bool, Setting("The right knowledge of an item is evidence, the first piece.", advanced=True)
    ] = False
    pieces: Annotated[int, Setting("Pieces of evidence for a sentence, at most.", least=1, advanced=True)] = 10
    aggregation: Annotated[Aggregation, Setting("How the sentences make the text's vector.", advanced=True)] = (
        Aggregation.MIN
    )
    validity: Annotated[
        AnswerForm, Setting("Answers are judged by the gold answer, or by evidence.", advanced=True)
    ] = AnswerForm.SPAN
    randoms: Annotated[
        int, Setting("Random texts that helpfulness compares with (u; the authors: 1).", least=1, advanced=True)
    ] = 4
    examples: Annotated[
        Path | None,
        Setting(
            "Items with right knowledge and answers, put before each item where --causal and --reader continue a text; "
            "random texts are then theirs (the authors: 8 of the training data).",
            advanced=True,
        ),
    ] = None
    shots: Annotated[
        int | None, Setting("How many of --examples, drawn by the seed; without it all.", least=1, advanced=True)
    ] = None
    perplexity_cut: Annotated[
        float | None,
        Setting("No perplexity of a sentence counts as greater (the authors: 100; the paper has no cut).", least=1,
                advanced=True),
    ] = None
    baselines: Annotated[
        bool, Setting("Score the baselines too, where there is a reference or a gold answer.", advanced=True)
    ] = False
    entities: Annotated[
        str,
        Setting(
            "What finds named entities for the baseline HE: rule, or spacy:MODEL where spaCy is installed.",
            advanced=True,
        ),
    ] = "rule"
    prompts: Annotated[
        str | None, Setting("A folder with prompts of your own: given_query.txt, given_knowledge.txt.", advanced=True)
    ] = None
    texts: Texts = None
    documents: Documents = None
    system: SystemName = None
    language: Annotated[str, Setting("The texts' language, which decides how sentences are split.", advanced=True)] = (
        "en"
    )
    scores: Annotated[
        Path | None,
        Setting(f"Where scores are kept (default: OUT{SCORES_SUFFIX}).", metavar="FILE", recorded=False, advanced=True),
    ] = None
    resamples: Resamples = 1000
    seed: Seed = 0
    limit: Limit = None
    force: Force = False
    as_json: AsJson = False

    def run(self) -> RowsWritten:
        """Judge and write. Raises UsageError where there is no model, ModelSpecError for one that is misnamed."""
        from granola.knowledge.knowledge_files import read_items
        from granola.knowledge.knowledge_summary import summary

        check_language(self.language)
        if not any((self.entailment, self.relevance, self.causal, self.reader, self.coherence)) and not self.baselines:
            raise UsageError(
                "nothing to score with: give --entailment, --relevance, --causal, --reader or --coherence, each with a "
                "model, or --baselines"
            )
        if self.embeddings is not None and self.passages is None:
            raise UsageError("--embeddings goes with --passages FILE, which is not given")
        if self.shots is not None and self.examples is None:
            raise UsageError("--shots goes with --examples FILE, which is not given")
        inputs = [self.items, self.texts, self.documents, self.passages, self.snapshot, self.examples]
        with writing_rows(self, self.out, inputs=inputs, force=self.force) as output, ExitStack() as stack:
            store_path = self.scores or (None if self.out == STANDARD else Path(f"{self.out}{SCORES_SUFFIX}"))
            if store_path is not None:
                check_outputs(store_path, inputs=[*output.inputs, self.out], force=True, asked="--scores")
            items = list(
                read_items(
                    self.items, texts=self.texts, documents=self.documents, on_reject=output.rejected.append,
                    limit=self.limit,
                )
            )  # fmt: skip
            if not items:
                why = f": {output.rejected[0].source}: {output.rejected[0].reason}" if output.rejected else ""
                raise UsageError(f"{self.items} has no text to judge{why}")
            judge = self._judge(stack, store_path, items, output.rejected)
            rows: list[dict[str, Any]] = []
            output.write(self._rows(items, judge, rows))
            identity = judge.identity
            output.more |= {"judge": identity, "judge_hash": hash_of_identity(identity)}
            estimates = summary(rows, resamples=self.resamples, seed=self.seed)
            output.more["scores"] = {
                system: {name: one.to_json() for name, one in scores.items()} for system, scores in estimates.items()
            }
            lines = self._lines(estimates, hash_of_identity(identity), len(rows))
            return output.ended(f"{count(len(rows), 'text')} judged", *lines, source=self.items)

    def _rows(self, items: Sequence[Any], judge: Any, rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        source = iter(items)
        while block := list(islice(source, _TOGETHER)):
            for scored in judge.judge(block):
                row = scored.to_json()
                if self.system:
                    row["system"] = self.system
                # For the means: what a row has of the rest is long.
                rows.append({name: row[name] for name in ("system", "scores", "factuality_label") if name in row})
                yield row

    def _judge(self, stack: ExitStack, store_path: Path | None, items: Sequence[Any], rejected: list[Any]) -> Any:
        from abstraction import models
        from granola.knowledge import knowledge_judge
        from granola.knowledge.knowledge_files import read_items
        from granola.knowledge.knowledge_generation import drawn
        from granola.knowledge.knowledge_prompts import read_knowledge_prompts

        opened = {
            name: getattr(models, f"open_{kind}")(word)
            for name, kind, word in (
                ("entailment", "entailment", self.entailment), ("relevance", "relevance", self.relevance),
                ("causal", "continuations", self.causal), ("coherence", "coherence", self.coherence),
                ("reader", "continuations", self.reader if self.reader != self.causal else None),
                ("embeddings", "embeddings", self.embeddings),
            )
            if word is not None
        }  # fmt: skip
        if self.reader is not None and self.reader == self.causal:
            opened["reader"] = opened["causal"]
        prompts = read_knowledge_prompts(self.prompts)
        store = stack.enter_context(closing(models.ScoreStore(store_path)))
        wrapped: dict[str, Any] = {name: models.KeptScores(model, store) for name, model in opened.items()}
        encoder = wrapped.pop("embeddings", None)
        settings = knowledge_judge.JudgeSettings(
            aggregation=self.aggregation, pieces=self.pieces, randoms=self.randoms, validity=self.validity,
            baselines=self.baselines, entities=self.entities, seed=self.seed, language=self.language,
            perplexity_cut=self.perplexity_cut,
        )  # fmt: skip
        pool = [] if self.examples is None else list(read_items(self.examples, on_reject=rejected.append))
        return knowledge_judge.KnowledgeJudge(
            knowledge_judge.JudgeModels(**wrapped),
            prompts,
            settings=settings,
            evidence=self._evidence(stack, encoder),
            pool=pool or items,
            examples=drawn(pool, self.shots, seed=self.seed),
            answered=any(item.answer for item in items),
        )

    def _evidence(self, stack: ExitStack, encoder: Any) -> Any:
        from granola.knowledge.evidence_pieces import (
            JoinedPieces,
            OwnPieces,
            StatementPieces,
            VectorIndex,
            WordIndex,
            read_passages,
        )
        from kg.store import open_store

        sources: list[Any] = [OwnPieces(reference=self.reference)]
        if self.passages is not None:
            passages = read_passages(self.passages)
            sources.append(WordIndex(passages) if encoder is None else VectorIndex(passages, encoder))
        if self.snapshot is not None:
            store = stack.enter_context(closing(open_store(self.snapshot)))
            sources.append(StatementPieces(store, language=self.language))
        return sources[0] if len(sources) == 1 else JoinedPieces(sources=tuple(sources))

    def _lines(self, estimates: Report, identity_hash: str, n: int) -> list[Part]:
        from granola.knowledge.knowledge_summary import signature

        lines: list[Part] = []
        for system, scores in estimates.items():
            lines.append(f"{system or 'texts'}")
            cells = [
                (
                    name,
                    f"{estimate.value:.4f}",
                    f"{estimate.interval.low:.4f}–{estimate.interval.high:.4f}",
                    f"n {estimate.n:,}",
                )
                for name, estimate in scores.items()
            ]
            lines.append(TextTable(rows=cells, words=(2, 3), indent=2))
        return [*lines, Verbatim(signature(identity_hash, n=n, resamples=self.resamples, seed=self.seed))]


def hash_of_identity(identity: Mapping[str, Any]) -> str:
    """The first eight letters of the hash of what scores depend on."""
    return hashlib.sha256(orjson.dumps(identity, option=orjson.OPT_SORT_KEYS)).hexdigest()[:8]


@dataclass(frozen=True, kw_only=True)
class KnowledgeChoose(RowsCommand):
    """Choose texts by Q, the weighted sum of factuality, relevance, paragraph coherence and informativeness.

    Without --best the best candidate of each id; with it the best texts of all, as demonstrations. Each score of what
    is chosen stands beside its mean under a random choice, with the difference and its interval.
    """

    judged: Judged
    out: Out
    best: Annotated[int | None, Setting("Choose so many of all texts (the paper: 8).", least=1)] = None
    of: Annotated[int | None, Setting("With --best: of so many, drawn by the seed (the paper: 30).", least=1)] = None
    coefficients: Annotated[
        str | None, Setting("Four numbers, separated by commas; by default 0.25 each, or as --fit finds them.")
    ] = None
    fit: Annotated[
        str | None, Setting("Fit the coefficients by least squares to this score of the texts, as validity.")
    ] = None
    resamples: Resamples = 1000
    seed: Seed = 0
    force: Force = False
    as_json: AsJson = False

    def run(self) -> RowsWritten:
        """Choose and write. Raises UsageError for settings that do not go together, and for scores that are lacking."""
        from granola.knowledge.knowledge_metrics import PARTS, best_of, best_places

        if self.coefficients is not None and self.fit is not None:
            raise UsageError("--coefficients and --fit are both given; give one")
        if self.of is not None and self.best is None:
            raise UsageError("--of goes with --best, which is not given")
        with writing_rows(self, self.out, inputs=[self.judged], force=self.force) as output:
            rows = read_judged(self.judged, output.rejected)
            gamma = self._coefficients(rows)
            chosen: list[dict[str, Any]] = []
            pairs: list[tuple[list[dict[str, Any]], Sequence[dict[str, Any]]]] = []
            for group in self._groups(rows):
                qualities = [gamma.quality(row["scores"]) for row in group]
                own = best_places(qualities, self.best) if self.best is not None else [best_of(qualities)]
                chosen += [{**group[at], "quality": qualities[at]} for at in own]
                pairs.append(([group[at] for at in own], group))
            output.write(iter(chosen))
            output.more["coefficients"] = dict(zip(PARTS, gamma.values, strict=True))
            lines = list(self._lines(pairs, output.more))
            shown = ", ".join(f"{name} {value:.3f}" for name, value in zip(PARTS, gamma.values, strict=True))
            told_of = f"{count(len(chosen), 'text')} of {len(rows):,} chosen; coefficients {shown}"
            return output.ended(told_of, *lines, source=self.judged)

    def _coefficients(self, rows: Sequence[Mapping[str, Any]]) -> Coefficients:
        from granola.knowledge.knowledge_metrics import PARTS, Coefficients, fitted, read_coefficients

        if self.fit is None:
            return Coefficients() if self.coefficients is None else read_coefficients(self.coefficients)
        given = [row["scores"] for row in rows if all(name in row["scores"] for name in PARTS)]
        return fitted([(scores, float(scores[self.fit])) for scores in given if scores.get(self.fit) is not None])

    def _groups(self, rows: Sequence[dict[str, Any]]) -> Iterable[Sequence[dict[str, Any]]]:
        """The texts that are chosen among together: the candidates of each id, or with --best those drawn of all."""
        if self.best is not None:
            ordered = sorted(rows, key=lambda row: (str(row.get("system") or ""), row["id"]))
            n = len(rows) if self.of is None else min(self.of, len(rows))
            return [random.Random(self.seed).sample(ordered, n)]
        groups: defaultdict[Any, list[dict[str, Any]]] = defaultdict(list)
        for row in rows:
            groups[row.get("system", ""), row["id"]].append(row)
        return groups.values()

    def _lines(
        self, pairs: Sequence[tuple[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]]], told: dict[str, Any]
    ) -> Iterator[Part]:
        from granola.scoring.statistics import mean_estimate

        names = dict.fromkeys(name for _, group in pairs for row in group for name in row["scores"])
        rows = []
        for name in names:
            gains, chosen_scores, random_scores = [], [], []
            for chosen, group in pairs:
                best = [row["scores"][name] for row in chosen if row["scores"].get(name) is not None]
                every = [row["scores"][name] for row in group if row["scores"].get(name) is not None]
                if not best or not every:
                    continue
                mean = sum(every) / len(every)  # what a random choice brings on average
                chosen_scores += best
                random_scores += [mean] * len(best)
                gains += [score - mean for score in best]
            if gains:
                gain = mean_estimate(gains, resamples=self.resamples, seed=self.seed)
                told.setdefault("gains", {})[name] = gain.to_json()
                means = (f"{sum(scores) / len(gains):.4f}" for scores in (chosen_scores, random_scores))
                spread = f"{gain.interval.low:+.4f} to {gain.interval.high:+.4f}, n {gain.n:,}"
                rows.append((name, *means, f"{gain.value:+.4f}", spread))
        yield TextTable(head=("score", "chosen", "random", "gain", "95 % interval of the gain"), rows=rows, words=(4,))
        yield Verbatim(f"boot:{self.resamples}|seed:{self.seed}|version:{__version__}")


# Which scores are held against the ratings of an axis: the metric's own first, then the baselines (Tables 9, 10, 18).
OF_AXIS: Mapping[str, tuple[str, ...]] = {
    "factuality": ("factuality", "he_negated", "entailment_ratio", "nli_decompose"),
    "relevance": ("relevance", "knowledge_f1"),
    "coherence": ("coherence_sentence", "coherence_paragraph", "coherence_greater"),
    "informativeness": ("informativeness",),
    "helpfulness": ("helpfulness", "helpfulness_raw"),
    "validity": ("validity", "answer_em", "answer_f1"),
}
INTRINSIC = ("factuality", "relevance", "coherence_sentence", "coherence_paragraph", "informativeness")
EXTRINSIC = ("helpfulness", "validity")


_Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True, slots=True)
class RankAssociations:
    """Somers' D by system and pair of scores, kappas of raters, and factuality by slices."""

    lines: Sequence[Mapping[str, Any]]
    agreement: Mapping[str, tuple[float, int]]
    slices: Mapping[str, Mapping[str, Any]]
    signature: str
    rejected: Sequence[Any]

    def to_json(self) -> dict[str, Any]:
        """Everything; a kappa that cannot be told is null."""
        kappas = {
            axis: {"kappa": None if math.isnan(kappa) else kappa, "n": n} for axis, (kappa, n) in self.agreement.items()
        }
        by_slice = {
            by: {name: estimate.to_json() for name, estimate in estimates.items()}
            for by, estimates in self.slices.items()
        }
        return {
            "signature": self.signature, "somers_d": list(self.lines), "agreement": kappas, "slices": by_slice,
        }  # fmt: skip

    def parts(self) -> Iterator[Part]:
        """A table, and what stands below it."""
        head = ("system", "independent", "dependent", "D", "95 %", "p", "n")
        rows = [
            (
                line["system"],
                line["independent"],
                line["dependent"],
                _shown(line["d"]),
                f"{_shown(line['low'])} to {_shown(line['high'])}",
                _shown(line["p"]),
                f"{line['n']:,}",
            )
            for line in self.lines
        ]
        yield TextTable(head=head, rows=rows, words=(1, 2, 4), keys=3)
        for axis, (kappa, n) in self.agreement.items():
            yield f"kappa of the raters, {axis}: {_shown(None if math.isnan(kappa) else kappa)} on {n}"
        for by, estimates in self.slices.items():
            for name, estimate in estimates.items():
                yield (
                    f"factuality by {by} {name}: {estimate.value:.4f}  "
                    f"{estimate.interval.low:.4f}–{estimate.interval.high:.4f}  n {estimate.n:,}"
                )
        yield Verbatim(self.signature)


@dataclass(frozen=True, kw_only=True)
class KnowledgeCorrelate(Command[RankAssociations]):
    """Somers' D of scores with ratings, or without --ratings of intrinsic scores with helpfulness and validity.

    The rating, or the extrinsic score, is the independent variable: pairs that are tied in it do not count. Each D has
    its 95 % interval and p-value; then factuality by popularity and by number of sentences, where rows tell them.
    """

    judged: Judged
    ratings: Annotated[
        tuple[Path, ...],
        Setting(
            "Filled sheets of `granola sheets draw`, one a rater; JUDGED is then the items that it wrote.",
            metavar="CSV",
        ),
    ] = ()
    resamples: Resamples = 1000
    seed: Seed = 0
    as_json: AsJson = False

    def run(self) -> RankAssociations:
        """Read and correlate. Raises UsageError and SheetError for files that do not fit."""
        from granola.evidence.annotation_sheets import check_sheets, read_sheet, sheet_agreement
        from granola.knowledge.knowledge_summary import slices
        from granola.knowledge.knowledge_task import KNOWLEDGE

        rejected: list[Any] = []
        rows = read_judged(self.judged, rejected)
        form = KNOWLEDGE.sheet
        sheets = [read_sheet(path, form) for path in self.ratings]
        check_sheets(sheets, rows, form, self.judged)
        told = sheet_agreement(sheets, form) if len(sheets) > 1 else {}
        agreement = {axis: (own["kappa"], own["valid"]) for axis, own in told.items()}
        lines = list(self._by_ratings(rows, sheets) if sheets else self._by_scores(rows))
        slices_by = {
            by: estimates
            for by in ("popularity", "sentences")
            if (estimates := slices(rows, by, "factuality", resamples=self.resamples, seed=self.seed))
        }
        what = "somers-d:dependent-given-independent"
        signature = f"{what}|n:{len(rows)}|boot:{self.resamples}|seed:{self.seed}|version:{__version__}"
        return RankAssociations(
            lines=lines, agreement=agreement, slices=slices_by, rejected=rejected, signature=signature
        )

    def show(self, result: RankAssociations) -> None:
        """A table, or JSON."""
        if self.as_json:
            print_json(result.to_json(), indent=2)
        else:
            show_lines(*result.parts())
        report_rejects(self.judged, result.rejected)

    def _by_ratings(self, rows: _Rows, sheets: Sequence[FilledSheet]) -> Iterator[dict[str, Any]]:
        """Scores given ratings, of all systems and of each."""
        from granola.evidence.annotation_sheets import mean_labels
        from granola.knowledge.knowledge_task import KNOWLEDGE

        rated = mean_labels(sheets, KNOWLEDGE.sheet)
        for system, axis in product(_systems(rows), OF_AXIS):
            for name in OF_AXIS[axis]:
                pairs = [
                    (ratings[axis], rows[item - 1]["scores"].get(name))
                    for item, ratings in rated.items()
                    if axis in ratings and system in ("", rows[item - 1].get("system"))
                ]
                yield from self._line(system, axis, name, pairs)

    def _by_scores(self, rows: _Rows) -> Iterator[dict[str, Any]]:
        """Intrinsic scores given extrinsic ones, of all systems and of each."""
        for system, extrinsic, name in product(_systems(rows), EXTRINSIC, INTRINSIC):
            pairs = [
                (row["scores"].get(extrinsic), row["scores"].get(name))
                for row in rows
                if system in ("", row.get("system"))
            ]
            yield from self._line(system, extrinsic, name, pairs)

    def _line(
        self, system: str, independent: str, dependent: str, pairs: Sequence[tuple[float | None, float | None]]
    ) -> Iterator[dict[str, Any]]:
        from granola.knowledge.rank_association import somers_d

        there = [(one, two) for one, two in pairs if one is not None and two is not None]
        if there:
            first, second = ([pair[at] for pair in there] for at in (0, 1))
            association = somers_d(first, second, resamples=self.resamples, seed=self.seed)
            names = {"system": system or "all", "independent": independent, "dependent": dependent}
            yield {**names, **association.to_json()}


def _systems(rows: _Rows) -> list[str]:
    """ "" for all, and the names of those that rows tell."""
    return ["", *sorted({str(row["system"]) for row in rows if row.get("system")})]


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
