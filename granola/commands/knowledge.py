"""`granola knowledge judge`: scores of knowledge texts on six dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from granola.base.settings import Setting
from granola.base.terminal_lines import Verbatim
from granola.commands.messages import count
from granola.commands.output import RowsCommand, WrittenRows, check_outputs, writing_rows
from granola.errors import UsageError
from granola.evidence.knowledge.knowledge_items import JudgeSettings
from granola.scoring.shared_settings import Force, Out
from kg.web.client import AnswerCache

if TYPE_CHECKING:
    from granola.evidence.knowledge.knowledge_items import KnowledgeItem
    from granola.evidence.knowledge.knowledge_judge import KnowledgeJudge as Judge

SCORES_SUFFIX = ".scores.sqlite"  # cache of model scores beside OUT: lets a killed run go on
EMBEDDINGS = "embeddings"  # the part of --model that finds evidence, and scores nothing
REFERENCE = "reference"  # the value of --evidence for the item's own right knowledge
_BLOCK = 1024  # texts judged at a time: enough for full batches on a GPU


@dataclass(frozen=True, kw_only=True)
class KnowledgeJudge(RowsCommand, JudgeSettings):
    """Score knowledge texts: factuality, relevance, coherence, informativeness, helpfulness, validity.

    Each score needs its model; scores without one are left out. A killed run continues with the same command: scores
    of models are cached in OUT.scores.sqlite. `granola verdicts OUT` shows means with intervals.
    """

    resumes = True

    items: Annotated[
        str,
        Setting(
            "Knowledge texts: JSONL, CSV or Parquet with id, query and knowledge, or CONNER's four columns (.txt, "
            ".tsv, also .gz).",
            metavar="ITEMS", positional=True,
        ),
    ]  # fmt: skip
    out: Out
    model: Annotated[
        tuple[str, ...],
        Setting(
            "PART=local:FOLDER_OR_NAME or PART=openai:URL#NAME, given again for each part: entailment (factuality, "
            "validity), relevance (a cross-encoder), causal (sentence coherence, informativeness), reader "
            "(helpfulness), coherence (of paragraphs), embeddings (to look evidence up).",
            metavar="PART=MODEL",
        ),
    ] = ()
    evidence: Annotated[
        tuple[str, ...],
        Setting(
            "Evidence beside the item's own, given again for each: reference (the right knowledge), or a file of "
            "passages (records with a text, or a .txt of lines).",
            metavar="SOURCE",
        ),
    ] = ()
    examples: Annotated[
        Path | None,
        Setting(
            "Items with right knowledge and answers, put before each item where a model continues a text; random texts "
            "are then theirs (the authors: 8 of the training data).",
            advanced=True,
        ),
    ] = None
    prompts: Annotated[
        Path | None, Setting("A folder with prompts of your own: given_query.txt, given_knowledge.txt.", advanced=True)
    ] = None
    force: Force = False

    def run(self) -> WrittenRows:
        """Judge the texts and write the rows. Raises UsageError where there is no model, ModelSpecError for a bad
        model spec.
        """
        from granola.evidence.knowledge.knowledge_items import read_items

        specs = self._model_specs()
        # Embeddings find evidence, but score nothing.
        if not set(specs) - {EMBEDDINGS} and not self.baselines:
            raise UsageError("nothing to score with: give --model PART=MODEL, or --baselines")
        sources = [source for source in self.evidence if source != REFERENCE]
        if EMBEDDINGS in specs and not sources:
            raise UsageError("--model embeddings=... looks passages up: give --evidence FILE")
        inputs = [self.items, self.examples, *sources]
        with writing_rows(self, self.out, inputs=inputs, force=self.force) as output, ExitStack() as stack:
            items = list(read_items(self.items, on_reject=output.rejected.append))
            if not items:
                why = f": {output.rejected[0].source}: {output.rejected[0].reason}" if output.rejected else ""
                raise UsageError(f"{self.items} has no text to judge{why}")
            judge = self._open_judge(stack, output, specs, items)
            blocks = (judge.judge(items[at : at + _BLOCK]) for at in range(0, len(items), _BLOCK))
            output.write(scored.to_json(judge.name) for block in blocks for scored in block)
            output.more |= {"judge": judge.identity, "judge_name": judge.name}
            return output.finish(
                f"{count(len(items), 'text')} judged; granola verdicts {self.out} shows the scores",
                Verbatim(f"judge {judge.name}"), source=self.items,
            )  # fmt: skip

    def _model_specs(self) -> dict[str, str]:
        """The model spec of each part. Raises UsageError for an unknown or repeated part."""
        from granola.evidence.knowledge.knowledge_judge import PARTS_OF_MODELS

        specs: dict[str, str] = {}
        for given in self.model:
            part, equals, word = given.partition("=")
            if part not in (*PARTS_OF_MODELS, EMBEDDINGS) or not equals or part in specs:
                allowed = ", ".join((*PARTS_OF_MODELS, EMBEDDINGS))
                raise UsageError(f"--model is {given[:60]!r}; expected PART=MODEL, each part once, of {allowed}")
            specs[part] = word
        return specs

    def _open_judge(
        self, stack: ExitStack, output: WrittenRows, specs: dict[str, str], items: Sequence[KnowledgeItem]
    ) -> Judge:
        from abstraction.models import spec
        from abstraction.models.answer_store import CachedScorer
        from granola.evidence.knowledge.knowledge_items import (
            ItemPieces,
            VectorIndex,
            WordIndex,
            read_items,
            read_passages,
        )
        from granola.evidence.knowledge.knowledge_judge import PARTS_OF_MODELS
        from granola.evidence.knowledge.knowledge_judge import KnowledgeJudge as Judge
        from granola.evidence.knowledge.knowledge_prompts import read_knowledge_prompts

        store: Path | str = ":memory:"
        if output.named_path is not None:
            store = Path(f"{self.out}{SCORES_SUFFIX}")
            check_outputs(store, inputs=[*output.inputs, self.out], force=True)
        cache = stack.enter_context(closing(AnswerCache(store)))
        wanted = {part: (PARTS_OF_MODELS.get(part, part), word) for part, word in specs.items()}
        # Two parts may need the same model, which is loaded once.
        loaded = {(kind, word): getattr(spec, f"open_{kind}")(word) for kind, word in dict.fromkeys(wanted.values())}
        models = {part: CachedScorer[Any, Any](loaded[key], cache) for part, key in wanted.items()}
        encoder = models.pop(EMBEDDINGS, None)
        files = [read_passages(source) for source in self.evidence if source != REFERENCE]
        sources = tuple(WordIndex(one) if encoder is None else VectorIndex(one, encoder) for one in files)
        rejected = output.rejected.append
        examples = [] if self.examples is None else list(read_items(self.examples, on_reject=rejected))
        return Judge(
            models, read_knowledge_prompts(self.prompts), self,
            evidence=ItemPieces(reference=REFERENCE in self.evidence, sources=sources),
            # Random texts to compare with come from the examples, else from the other items.
            pool=examples or items, examples=examples, answered=any(item.answer for item in items),
        )  # fmt: skip
