"""`granola generate`: a model writes answers from passages, or knowledge texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from abstraction.base.faults import RejectedRow, excerpt
from granola.base.settings import Setting
from granola.commands.messages import count
from granola.commands.output import RowsCommand, WrittenRows, open_model, writing_rows
from granola.errors import UsageError
from granola.scoring.shared_settings import Force, Limit, Out

if TYPE_CHECKING:
    from abstraction.models.chat_model import Request, Sampling
    from granola.evidence.knowledge.knowledge_items import KnowledgeItem

# Temperature and top-p for several texts, as in CONNER; a single text is greedy, as in both papers.
DRAWN_AT = 1.0, 0.9
LONGEST_GROUNDED, LONGEST_OTHERS = 1_000, 256  # tokens of the longest reply


class Target(StrEnum):
    """The values of `--target`."""

    GROUNDED = "grounded"
    KNOWLEDGE = "knowledge"
    ANSWER = "answer"
    REPLY = "reply"


@dataclass(frozen=True, kw_only=True)
class Generate(RowsCommand):
    """Let a model write long answers from passages, citing them by id; or knowledge texts, and answers from these.

    --target grounded takes questions with passages, for `granola grounding judge`; the others take queries, for
    `granola knowledge judge`. Killed, it goes on with the same command: nothing is asked for twice.
    """

    resumes = True

    items: Annotated[str, Setting("Questions with passages, or queries.", metavar="ITEMS", positional=True)]
    model: Annotated[str, Setting("The model: openai:URL#NAME, local:FOLDER or replay:FILE.", metavar="MODEL")]
    target: Annotated[
        Target,
        Setting("An answer from passages (grounded); a knowledge text, an answer from one, a reply of a dialogue."),
    ]
    out: Out
    examples: Annotated[
        Path | None, Setting("Items with right answers, put before each query as examples (few-shot).")
    ] = None
    samples: Annotated[
        int, Setting("Texts for each query; several are drawn at temperature 1 and top-p 0.9 by default.", least=1)
    ] = 1
    prompts: Annotated[
        Path | None, Setting("A folder with prompts of your own: answer.txt, knowledge.txt, reply.txt.", advanced=True)
    ] = None
    limit: Limit = None
    force: Force = False

    def run(self) -> WrittenRows:
        """Ask the model and write its replies. Raises UsageError where there is nothing to ask, before anything is
        asked.
        """
        from abstraction.models.chat_model import Sampling, sampling_of
        from abstraction.models.spec import parse_model_spec

        spec = parse_model_spec(self.model)
        if self.target is Target.GROUNDED and (self.examples is not None or self.samples > 1):
            raise UsageError("--target grounded takes neither --examples nor --samples")
        temperature, top_p = DRAWN_AT if self.samples > 1 else (0.0, 1.0)
        # Settings in the spec of the model override these.
        longest = LONGEST_GROUNDED if self.target is Target.GROUNDED else LONGEST_OTHERS
        usual = Sampling(n=self.samples, temperature=temperature, top_p=top_p, max_tokens=longest)
        sampling = sampling_of(spec, usual)
        with writing_rows(self, self.out, inputs=[self.items, self.examples], force=self.force) as output:
            rows = self._grounded_answers if self.target is Target.GROUNDED else self._knowledge_texts
            output.write(rows(output, sampling))
            # Only rejected rows: reported as such instead.
            if not output.written and not output.rejected:
                raise UsageError(f"{self.items} has nothing to ask")
            return output.finish(f"{count(output.counts['written'], 'text')} written", source=self.items)

    def _grounded_answers(self, output: WrittenRows, sampling: Sampling) -> Iterator[dict[str, Any]]:
        """Yield rows of `{"id", "answer"}`; `failed` has the reason for a missing answer."""
        from abstraction.models.chat_model import Failure, Request
        from abstraction.phrasing.prompting import signature_of
        from granola.evidence.grounding.answer_judging import ANSWER, passage_lines, read_grounding_prompts
        from granola.evidence.grounding.grounded_rows import GroundedSample, read_grounded
        from granola.evidence.knowledge.knowledge_prompts import items_with_results

        prompts = read_grounding_prompts(self.prompts)
        samples = list(islice(read_grounded(self.items, on_reject=output.rejected.append), self.limit))
        if not samples:
            raise UsageError(f"{self.items} has no question with passages")

        def request_of(sample: GroundedSample) -> Request:
            slots: dict[str, str | Sequence[str]] = {
                # Questions of GaRAGe may depend on the day on which they were asked.
                "question": sample.question, "date": sample.question_date or "not given",
                "passages": passage_lines(sample.passages),
            }  # fmt: skip
            return Request(id=sample.id, messages=prompts[ANSWER.name].fill(slots), sampling=sampling)

        with open_model(self.model, output.named_path, output.inputs) as model:
            output.more |= {"model": dict(model.identity), "prompts": signature_of(prompts, ANSWER)}
            for sample, result in items_with_results(samples, request_of, model):
                answer, failed = (None, result.reason) if isinstance(result, Failure) else (result.text, None)
                output.counts["unanswered" if failed else "written"] += 1
                yield {"id": sample.id, "answer": answer, "failed": failed}

    def _knowledge_texts(self, output: WrittenRows, sampling: Sampling) -> Iterator[dict[str, Any]]:
        """Yield the items with generated texts or answers, one row per sample; an item without any is rejected."""
        from abstraction.models.chat_model import Failure, Request
        from abstraction.phrasing.prompting import signature_of
        from granola.evidence.knowledge.knowledge_items import read_items
        from granola.evidence.knowledge.knowledge_prompts import (
            generating_turns,
            items_with_results,
            read_knowledge_prompts,
        )
        from granola.replies import read_reply
        from granola.replies.reply import visible_text

        prompt = read_knowledge_prompts(self.prompts)[self.target]
        rejected = output.rejected.append
        examples = [] if self.examples is None else list(read_items(self.examples, on_reject=rejected))
        items = read_items(self.items, on_reject=rejected, limit=self.limit)

        def request_of(item: KnowledgeItem) -> Request:
            return Request(id=item.id, messages=generating_turns(prompt, item, examples), sampling=sampling)

        with open_model(self.model, output.named_path, output.inputs) as model:
            output.more |= {
                "model": dict(model.identity), "prompts": signature_of({self.target: prompt}, prompt.kind),
                "examples": [item.id for item in examples],
            }  # fmt: skip
            for item, result in items_with_results(items, request_of, model):
                if isinstance(result, Failure):
                    source, why = item.read_from or item.id, f"{result.reason}: {result.message}"
                    rejected(RejectedRow(source=source, reason=why, excerpt=excerpt(item.query), id=item.id))
                    continue
                for number, completion in enumerate(result.completions):
                    if self.target is Target.KNOWLEDGE:
                        text = visible_text(completion.text)
                        made = {"knowledge": text, "reference": item.reference_or_own_knowledge, "candidate": number}
                    else:
                        # Thoughts before an answer and phrases around it are no part of it.
                        answer = read_reply(completion.text).answer.strip()
                        made = {"answer": answer, "candidate": number or item.candidate}
                    output.counts["written"] += 1
                    yield item.model_copy(update=made).to_json()
