"""`granola grounding judge`: verdicts on long answers from passages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from abstraction.files.records import Record, read_records
from granola.base.settings import Setting
from granola.base.terminal_lines import Verbatim
from granola.commands.messages import count, note
from granola.commands.output import RowsCommand, WrittenRows, open_model, writing_rows
from granola.errors import SampleError, UsageError
from granola.replies.reply import visible_text
from granola.scoring.shared_settings import Force, Language, Limit, Out

if TYPE_CHECKING:
    from abstraction.models.chat_model import ChatModel
    from granola.evidence.grounding.answer_judging import AnswerJudge, GivenAnswer, SentenceJudge
    from granola.evidence.grounding.grounded_rows import GroundedSample

CHAT, WORDS = "chat", "words=0.6"  # values of `--sentences`; 0.6: least share of shared words


@dataclass(frozen=True, kw_only=True)
class GroundingJudge(RowsCommand):
    """Judge answers sentence by sentence against all passages and against the relevant ones, in both readings.

    A chat model also judges whether an answer is eligible; named rules, or the model, decide whether it deflects.
    Where a judge fails, the row is kept with the reason, and is left out of the scores that need the missing verdict.
    """

    resumes = True

    questions: Annotated[
        Path,
        Setting("Questions with passages: GaRAGe's rows, or your own with id, question and passages.",
                metavar="QUESTIONS", positional=True),
    ]  # fmt: skip
    given: Annotated[
        Path, Setting("Answers: rows with id and answer, as `granola generate` writes them.", flag="--answered")
    ]
    out: Out
    model: Annotated[
        str | None, Setting("The chat model that judges: openai:URL#NAME, local:FOLDER, replay:FILE.", metavar="MODEL")
    ] = None
    sentences: Annotated[
        str | None,
        Setting(
            "Who judges sentences: chat, or an evaluator of attribution as KIND=WHERE, such as words=0.6 (a baseline), "
            "nli=TEXT_MODEL, trained=bundled. Chat where --model is given, else words=0.6.",
            metavar="JUDGE",
        ),
    ] = None
    ask_deflection: Annotated[bool, Setting("Ask --model whether answers deflect, in the place of the rules.")] = False
    prompts: Annotated[
        Path | None,
        Setting("A folder with prompts of your own: eligibility, sentences, deflection, again.", advanced=True),
    ] = None
    language: Language = "en"
    limit: Limit = None
    force: Force = False

    def run(self) -> WrittenRows:
        """Judge the answers and write the verdicts. Raises UsageError for settings that contradict each other."""
        from abstraction.text.language.languages import is_supported_language, language_gaps_notice
        from granola.evidence.grounding.grounded_rows import read_grounded

        kind = self.sentences or (WORDS if self.model is None else CHAT)
        if kind == CHAT and self.model is None:
            raise UsageError("--sentences chat asks --model, which is not given")
        if not is_supported_language(self.language):
            raise UsageError(f"--language is {self.language!r}, which is no known code")
        if (lacking := language_gaps_notice(self.language)) is not None:
            note(lacking)
        if self.ask_deflection and self.model is None:
            raise UsageError("--ask-deflection asks --model, which is not given")
        with writing_rows(self, self.out, inputs=[self.questions, self.given], force=self.force) as output:
            read = read_grounded(self.questions, on_reject=output.rejected.append)
            pairs = self._samples_with_answers(output, {sample.id: sample for sample in read})
            with ExitStack() as stack:
                judge = self._open_judge(kind, output, stack)
                output.more |= {"judge": judge.signature()}

                def verdict_rows() -> Iterator[dict[str, Any]]:
                    judged = judge.judge((sample, row.answer) for sample, row in pairs)
                    for (_, row), item in zip(pairs, judged, strict=True):
                        output.counts["judged" if not item.unjudged else "partly judged"] += 1
                        yield {**item.model_dump(mode="json"), "system": row.system or self.given.stem}

                output.write(verdict_rows())
            counts = ", ".join(f"{number:,} {name}" for name, number in sorted(output.counts.items()))
            line = f"{count(len(pairs), 'answer')}: {counts}"
            return output.finish(line, Verbatim(f"judge {judge.signature()}"), source=str(self.given))

    def _samples_with_answers(
        self, output: WrittenRows, samples: Mapping[str, GroundedSample]
    ) -> list[tuple[GroundedSample, GivenAnswer]]:
        """Return pairs of questions and answers, each answer without the parts that users of the system do not see."""
        from abstraction.files.row_models import read_each_id_once, without_rejected
        from granola.evidence.grounding.answer_judging import GivenAnswer
        from granola.evidence.grounding.answer_text import cited_passages

        def read_answer(record: Record) -> GivenAnswer:
            row = GivenAnswer.of(record)
            if row.id not in samples:
                raise SampleError("no question of this id")
            # Users do not see the thoughts of a model, which are not judged.
            return row.model_copy(update={"answer": visible_text(row.answer)})

        pairs: list[tuple[GroundedSample, GivenAnswer]] = []
        for row in without_rejected(read_each_id_once(read_records(self.given), read_answer), output.rejected.append):
            # After the limit no row is read, so that the number of further answers is not known.
            if len(pairs) == self.limit:
                note(f"--limit: answers behind the first {count(len(pairs), 'answer')} of {self.given} are not judged")
                break
            pairs.append((samples[row.id], row))
        else:
            if lacking := len(samples) - len(pairs):
                note(f"{lacking:,} of {count(len(samples), 'question')} have no answer in {self.given}")
        # The first rejected row usually explains why nothing matched.
        if not pairs:
            first = output.rejected[0] if output.rejected else None
            why = f"; {first.source}: {first.reason}" if first is not None else ""
            if not samples:
                raise UsageError(f"{self.questions} has no question that can be read{why}")
            raise UsageError(f"{self.given} has no answer to a question of {self.questions}{why}")
        unknown = Counter[str]()
        for sample, row in pairs:
            unknown.update(cited_passages(row.answer, [passage.id for passage in sample.passages])[1])
        # Usually answers use other ids than the passages.
        if unknown:
            often = ", ".join(f"[{name[:40]}]" for name, _ in unknown.most_common(3))
            note(f"{count(unknown.total(), 'citation')} of no passage of the question, counted as wrong: {often}")
        return pairs

    def _open_judge(self, kind: str, output: WrittenRows, stack: ExitStack) -> AnswerJudge:

        from granola.evidence.attribution.evaluators import EvaluatorOpener
        from granola.evidence.grounding import answer_judging
        from granola.evidence.grounding.answer_judging import AnswerJudge

        prompts = answer_judging.read_grounding_prompts(self.prompts)
        chat: ChatModel | None = None
        if self.model is not None:
            chat = stack.enter_context(open_model(self.model, output.named_path, output.inputs))
        if kind == CHAT:
            assert chat is not None
            sentences: SentenceJudge = answer_judging.ChatSentenceJudge(model=chat, prompts=prompts)
        else:
            opener = EvaluatorOpener(
                chat=lambda spec: open_model(spec, output.named_path, output.inputs),
                temperature=answer_judging.TEMPERATURE,
            )
            opener.check_specs([kind])
            # Evaluators that compare two short texts get one passage at a time.
            apart = kind.partition("=")[0] in answer_judging.ONE_PASSAGE_KINDS
            sentences = answer_judging.EvaluatorSentenceJudge(evaluator=opener.open(kind, stack), apart=apart)
        return AnswerJudge(
            sentences=sentences, chat=chat, asks_deflection=self.ask_deflection, language=self.language,
            prompts=prompts,
        )  # fmt: skip
