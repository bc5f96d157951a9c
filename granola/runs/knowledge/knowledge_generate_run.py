"""`granola knowledge generate`: knowledge texts, or answers from them, by a chat model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from granola.knowledge.knowledge_generation import KIND_OF, Generated
from granola.runs.knowledge.knowledge_settings import Documents, Items, Seed, SystemName, Texts
from granola.runs.rows_output import RowsOutput, RowsWritten, rows_output
from granola.runs.settings import Run, Setting
from granola.runs.shared_settings import Force, Limit, Out
from granola.shared_settings import ANSWERS_SUFFIX


@dataclass(frozen=True, kw_only=True)
class KnowledgeGenerateRun(Run):
    """Let a model write a knowledge text for each query, or an answer from the text that is there.

    Killed, it goes on with the same command: nothing is asked for twice. With --samples several texts are drawn, for
    `granola knowledge choose` to choose from.
    """

    verb: ClassVar[str] = "knowledge generate"

    items: Items
    model: Annotated[str, Setting("The model: openai:URL#NAME, local:FOLDER or replay:FILE.", metavar="MODEL")]
    out: Out
    target: Annotated[Generated, Setting("What is written: knowledge, an answer, a reply of a dialogue.")] = (
        Generated.KNOWLEDGE
    )
    examples: Annotated[
        Path | None, Setting("Items with right answers, put before each question as examples (few-shot).")
    ] = None
    shots: Annotated[int | None, Setting("How many of --examples, drawn by the seed; without it all.", least=1)] = None
    samples: Annotated[int, Setting("Texts for each query; several need a temperature.", least=1)] = 1
    temperature: Annotated[float, Setting("0 takes the likeliest token, up to 2.")] = 0.0
    top_p: Annotated[float, Setting("Share of likely tokens that is drawn from; the paper's choice is 0.9.")] = 1.0
    max_tokens: Annotated[int, Setting("The longest text.", least=1)] = 256
    seed: Seed = 0
    system: SystemName = None
    prompts: Annotated[
        str | None, Setting("A folder with prompts of your own: knowledge.txt, answer.txt, reply.txt.")
    ] = None
    texts: Texts = None
    documents: Documents = None
    answers: Annotated[
        Path | None,
        Setting(f"Where the model's answers are kept (default: OUT{ANSWERS_SUFFIX}).", metavar="FILE", recorded=False),
    ] = None
    limit: Limit = None
    force: Force = False

    def run(self) -> RowsWritten:
        """Ask and write. Raises UsageError for settings that do not go together, before anything is asked."""
        from abstraction.models.chat_model import Sampling
        from abstraction.models.prompts import hash_of
        from abstraction.models.spec import parse_model_spec
        from granola.commands.models import opened
        from granola.errors import UsageError
        from granola.knowledge.knowledge_files import read_items
        from granola.knowledge.knowledge_generation import drawn
        from granola.knowledge.knowledge_prompts import read_knowledge_prompts
        from granola.runs.outputs import count

        parse_model_spec(self.model)
        try:
            sampling = Sampling(
                n=self.samples, temperature=self.temperature, top_p=self.top_p, max_tokens=self.max_tokens,
                seed=self.seed,
            )  # fmt: skip
        except ValueError as error:
            raise UsageError(f"--samples, --temperature and --top-p do not go together: {error}") from error
        if self.shots is not None and self.examples is None:
            raise UsageError("--shots goes with --examples FILE, which is not given")
        prompts = read_knowledge_prompts(self.prompts)
        inputs = [self.items, self.examples, self.texts, self.documents]
        with rows_output(self, self.out, inputs=inputs, force=self.force) as output:
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
        from dataclasses import replace

        from abstraction.faults import RejectedRow
        from granola.knowledge.knowledge_generation import generated

        for item in generated(items, self.target, model, prompts, sampling, shown):
            if isinstance(item, RejectedRow):
                output.rejected.append(item)
                continue
            output.taken.take(item.source, item.id, item.query)
            output.counts["written"] += 1
            yield (replace(item, system=self.system) if self.system else item).to_json()
