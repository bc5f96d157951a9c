"""`granola knowledge judge`: the six scores of knowledge texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, ClassVar

from granola.knowledge.knowledge_judge import AnswerForm
from granola.knowledge.knowledge_metrics import Aggregation
from granola.runs.knowledge.knowledge_settings import (
    Documents,
    Items,
    Seed,
    SystemName,
    Texts,
    hash_of_identity,
)
from granola.runs.rows_output import RowsWritten, rows_output
from granola.runs.settings import Run, Setting
from granola.runs.shared_settings import Force, Limit, Out, Resamples
from granola.terminal_lines import Part, TextTable, Verbatim

SCORES_SUFFIX = ".scores.sqlite"
_TOGETHER = 64  # texts that are judged at a time
_WORD = "local:FOLDER_OR_NAME or openai:URL#NAME"


@dataclass(frozen=True, kw_only=True)
class KnowledgeJudgeRun(Run):
    """Score knowledge texts: factuality, relevance, coherence, informativeness, helpfulness, validity.

    Each score needs its model; what has none is not scored. Killed, it goes on with the same command. The means stand
    on standard output, each with its 95 % interval and n; OUT has every text with its scores, sentences and notes.
    """

    verb: ClassVar[str] = "knowledge judge"

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
        str | None, Setting(f"Look passages up by vectors of this model instead of by words: {_WORD}.", metavar="MODEL")
    ] = None
    snapshot: Annotated[str | None, Setting("A snapshot whose statements about the topic are evidence.")] = None
    reference: Annotated[bool, Setting("The right knowledge of an item is evidence, the first piece.")] = False
    pieces: Annotated[int, Setting("Pieces of evidence for a sentence, at most.", least=1)] = 10
    aggregation: Annotated[Aggregation, Setting("How the sentences make the text's vector.")] = Aggregation.MIN
    validity: Annotated[AnswerForm, Setting("Answers are judged by the gold answer, or by evidence.")] = AnswerForm.SPAN
    randoms: Annotated[int, Setting("Random texts that helpfulness compares with (u).", least=1)] = 4
    baselines: Annotated[bool, Setting("Score the baselines too, where there is a reference or a gold answer.")] = False
    entities: Annotated[
        str, Setting("What finds named entities for the baseline HE: rule, or spacy:MODEL where spaCy is installed.")
    ] = "rule"
    prompts: Annotated[
        str | None, Setting("A folder with prompts of your own: given_query.txt, given_knowledge.txt.")
    ] = None
    texts: Texts = None
    documents: Documents = None
    system: SystemName = None
    language: Annotated[str, Setting("The texts' language, which decides how sentences are split.")] = "en"
    scores: Annotated[
        Path | None,
        Setting(f"Where scores are kept (default: OUT{SCORES_SUFFIX}).", metavar="FILE", recorded=False),
    ] = None
    resamples: Resamples = 1000
    seed: Seed = 0
    limit: Limit = None
    force: Force = False

    def run(self) -> RowsWritten:
        """Judge and write. Raises UsageError where there is no model, ModelSpecError for one that is misnamed."""
        from granola.errors import UsageError
        from granola.knowledge.knowledge_files import read_items
        from granola.runs.outputs import STANDARD, check_language, check_outputs, count

        check_language(self.language)
        if not any((self.entailment, self.relevance, self.causal, self.reader, self.coherence)) and not self.baselines:
            raise UsageError(
                "nothing to score with: give --entailment, --relevance, --causal, --reader or --coherence, each with a "
                "model, or --baselines"
            )
        if self.embeddings is not None and self.passages is None:
            raise UsageError("--embeddings goes with --passages FILE, which is not given")
        inputs = [self.items, self.texts, self.documents, self.passages, self.snapshot]
        with rows_output(self, self.out, inputs=inputs, force=self.force) as output, ExitStack() as stack:
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
            judge = self._judge(stack, store_path, items)
            rows: list[dict[str, Any]] = []
            output.write(self._rows(items, judge, rows))
            identity = judge.identity
            output.more |= {"judge": identity, "judge_hash": hash_of_identity(identity)}
        lines = self._lines(rows, hash_of_identity(identity))
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

    def _judge(self, stack: ExitStack, store_path: Path | None, items: Sequence[Any]) -> Any:
        from granola.knowledge.knowledge_judge import JudgeModels, JudgeSettings, KnowledgeJudge
        from granola.knowledge.knowledge_prompts import read_knowledge_prompts
        from granola.text_models import kept_scores, text_model_words

        opened = {
            name: getattr(text_model_words, f"open_{kind}")(word)
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
        store = stack.enter_context(closing(kept_scores.ScoreStore(store_path)))
        wrapping = {
            "entailment": kept_scores.KeptEntailment, "relevance": kept_scores.KeptRelevance,
            "causal": kept_scores.KeptContinuations, "reader": kept_scores.KeptContinuations,
            "coherence": kept_scores.KeptCoherence, "embeddings": kept_scores.KeptEmbeddings,
        }  # fmt: skip
        wrapped: dict[str, Any] = {name: wrapping[name](model, store) for name, model in opened.items()}
        encoder = wrapped.pop("embeddings", None)
        settings = JudgeSettings(
            aggregation=self.aggregation, pieces=self.pieces, randoms=self.randoms, validity=self.validity,
            baselines=self.baselines, entities=self.entities, seed=self.seed, language=self.language,
        )  # fmt: skip
        return KnowledgeJudge(
            JudgeModels(**wrapped),
            prompts,
            settings=settings,
            evidence=self._evidence(stack, encoder),
            pool=[item.knowledge for item in items],
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

    def _lines(self, rows: Sequence[Mapping[str, Any]], identity_hash: str) -> list[Part]:
        from granola.knowledge.knowledge_summary import signature, summary

        lines: list[Part] = []
        for system, scores in summary(rows, resamples=self.resamples, seed=self.seed).items():
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
        return [*lines, Verbatim(signature(identity_hash, n=len(rows), resamples=self.resamples, seed=self.seed))]
