"""`granola grounding judge`: what judges say of answers written from passages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from granola.errors import UsageError
from granola.runs.grounding.grounding_settings import ChatAnswers, GroundedQuestions, GroundingPrompts
from granola.runs.rows_output import RowsWritten, rows_output
from granola.runs.settings import Run, Setting
from granola.runs.shared_settings import Force, Language, Out
from granola.terminal_lines import Part, Verbatim

if TYPE_CHECKING:
    from granola.grounding.grounded_samples import GroundedSample
    from granola.grounding.judge_models import CountedModel

_ODD_SHOWN = 20


class SentenceJudgeKind(StrEnum):
    """What `--sentences` takes."""

    CHAT = "chat"
    ENTAILMENT = "entailment"
    WORDS = "words"


@dataclass(frozen=True, kw_only=True)
class GroundingJudgeRun(Run):
    """Judge answers sentence by sentence against all passages and against the relevant ones, in both readings.

    A chat model also says whether an answer is eligible; deflection is told by named rules, or by the model. Where a
    judge fails the row stays, says what is lacking, and leaves the scores that it lacks.
    """

    verb: ClassVar[str] = "grounding judge"

    questions: GroundedQuestions
    given: Annotated[
        Path, Setting("Answers: rows with id and answer, as `granola grounding answer` writes.", flag="--answered")
    ]
    out: Out
    model: Annotated[
        str | None, Setting("The chat model that judges: openai:URL#NAME, local:FOLDER, replay:FILE.", metavar="MODEL")
    ] = None
    sentences: Annotated[
        SentenceJudgeKind | None,
        Setting(
            "Who judges sentences: chat, entailment, or words, a baseline. Chat where --model is given, else words."
        ),
    ] = None
    entailment: Annotated[
        str | None, Setting("With --sentences entailment: local:FOLDER, openai:URL#NAME.", metavar="TEXT_MODEL")
    ] = None
    ask_deflection: Annotated[bool, Setting("Ask --model whether answers deflect, in the place of the rules.")] = False
    temperature: Annotated[float, Setting("Temperature of --model (the paper: 0.2).", least=0, most=2)] = 0.2
    prompts: GroundingPrompts = None
    answers: ChatAnswers = None
    ladders: Annotated[
        Path | None,
        Setting(
            "Tiered rows with the ids of questions: at which level does an answer state the gold answer, and do "
            "relevant passages? By mention; chat and entailment judges confirm the level, and that passages entail it."
        ),
    ] = None
    matcher: Annotated[str, Setting("What decides which level a sentence mentions, with --ladders.")] = "rules"
    system: Annotated[
        str | None, Setting("What the system is called; by default as its rows say, else as the file of answers.")
    ] = None
    language: Language = "en"
    limit: Annotated[int | None, Setting("Judge so many answers at most.", least=1)] = None
    force: Force = False

    def run(self) -> RowsWritten:
        """Judge and write. Raises UsageError for settings that do not go together."""
        from abstraction.language.languages import is_known, notice
        from granola.runs.outputs import count, note

        kind = self.sentences or (SentenceJudgeKind.WORDS if self.model is None else SentenceJudgeKind.CHAT)
        if kind is SentenceJudgeKind.CHAT and self.model is None:
            raise UsageError("--sentences chat asks --model, which is not given")
        if (kind is SentenceJudgeKind.ENTAILMENT) != (self.entailment is not None):
            raise UsageError("--sentences entailment and --entailment go together")
        if not is_known(self.language):
            raise UsageError(f"--language is {self.language!r}, which is no known code")
        if (lacking := notice(self.language)) is not None:
            note(lacking)
        if self.ask_deflection and self.model is None:
            raise UsageError("--ask-deflection asks --model, which is not given")
        inputs = [self.questions, self.given, *([self.ladders] if self.ladders is not None else [])]
        with rows_output(self, self.out, inputs=inputs, force=self.force) as output:
            unknown: Counter[str] = Counter()
            pairs, names = self._pairs(output, unknown)
            for odd, number in unknown.most_common(_ODD_SHOWN):
                note(f"not understood {count(number, 'time')}: {odd}")
            with ExitStack() as stack:
                judge = self._judge(kind, stack)
                judge.ladders = self._ladders(output, {sample.id for sample, _ in pairs})
                output.more |= {"judge": judge.signature()}

                def rows() -> Iterator[dict[str, Any]]:
                    for item in judge.judged(pairs):
                        output.counts["judged" if not item.unjudged else "partly judged"] += 1
                        yield replace(item, system=names[item.id]).to_json()

                output.write(rows())
                took = self._took(judge.chat)
                output.more |= {"asked": took}
        counts = ", ".join(f"{number:,} {name}" for name, number in sorted(output.counts.items()))
        lines: list[Part] = [f"{count(len(pairs), 'answer')}: {counts}", Verbatim(f"judge {judge.signature()}")]
        if took:
            lines.append("the model's answers took " + shown_asked(took))
        return output.ended(*lines, source=str(self.given))

    def _took(self, chat: CountedModel | None) -> dict[str, float]:
        """What the answers of the chat model took, those that were kept from earlier runs among them."""
        if chat is None or self.model is None:
            return {}
        from abstraction.models.ledger import Prices
        from abstraction.models.spec import parse_model_spec
        from granola.commands.models import kept_places
        from granola.runs.outputs import STANDARD

        spec = parse_model_spec(self.model)
        log = kept_places(self.model, None if self.out == STANDARD else self.out, self.answers)[1]
        names = ("prompt_price", "completion_price")
        prices = None
        if set(names) & set(spec.settings):
            sent, received = (spec.settings.get(name, 0.0) for name in names)
            prices = Prices(prompt=sent, completion=received)
        return chat.asked(Path(spec.where) if spec.kind == "replay" else log, prices)

    def _ladders(self, output: Any, ids: set[str]) -> dict[str, Any]:
        if self.ladders is None:
            return {}
        from abstraction.rows import read_tiered

        rows = read_tiered(self.ladders, on_reject=output.rejected.append)
        ladders = {row.id: row for row in rows if row.id in ids}
        if not ladders:
            raise UsageError(f"--ladders {self.ladders} has no row with the id of an answered question")
        return ladders

    def _pairs(self, output: Any, unknown: Counter[str]) -> tuple[list[Any], dict[str, str]]:
        """The questions with their answers, and what the system of each is called."""
        from abstraction.faults import RejectedRow, excerpt
        from abstraction.files.records import read_records
        from granola.grounding.grounded_rows import read_grounded
        from granola.runs.outputs import count, note

        samples = {
            one.id: one for one in read_grounded(self.questions, on_reject=output.rejected.append, unknown=unknown)
        }
        pairs: list[Any] = []
        names: dict[str, str] = {}
        seen: set[str] = set()
        for record in read_records(self.given):
            if len(pairs) == self.limit:
                note(f"--limit: answers behind the first {count(len(pairs), 'answer')} of {self.given} are not judged")
                break
            if isinstance(record, RejectedRow):
                output.rejected.append(record)
                continue
            key, answer = record.data.get("id"), record.data.get("answer")
            why = (
                "no question of this id" if str(key) not in samples
                else "this id stands there twice" if str(key) in seen
                else "" if isinstance(answer, str) else 'no answer: a text is wanted under "answer"'
            )  # fmt: skip
            if why:
                shown = excerpt(repr(dict(record.data)))
                output.rejected.append(RejectedRow(source=record.source, reason=why, excerpt=shown))
                continue
            seen.add(str(key))
            told = record.data.get("system")
            names[str(key)] = self.system or (told[:300] if isinstance(told, str) and told.strip() else self.given.stem)
            pairs.append((samples[str(key)], answer))
        else:
            if lacking := len(samples) - len(pairs):
                note(f"{lacking:,} of {count(len(samples), 'question')} have no answer in {self.given}")
        if not pairs:
            first = output.rejected[0] if output.rejected else None
            why = f"; {first.source}: {first.reason}" if first is not None else ""
            if not samples:
                raise UsageError(f"{self.questions} has no question that can be read{why}")
            raise UsageError(f"{self.given} has no answer to a question of {self.questions}{why}")
        _note_unknown_citations(pairs)
        return pairs, names

    def _judge(self, kind: SentenceJudgeKind, stack: ExitStack) -> Any:
        from abstraction.models import Sampling
        from granola.commands.models import opened
        from granola.grounding.answer_judging import AnswerJudge
        from granola.grounding.judge_models import CountedModel
        from granola.grounding.sentence_judges import (
            ChatSentences,
            EntailmentSentences,
            WordSentences,
            read_grounding_prompts,
        )
        from granola.matching import matcher
        from granola.runs.outputs import STANDARD
        from granola.text_models import open_entailment
        from kg.files import sha256_of

        prompts = read_grounding_prompts(self.prompts)
        place = None if self.out == STANDARD else self.out
        chat = None
        if self.model is not None:
            asked = stack.enter_context(opened(self.model, place, self.answers, [self.questions, self.given]))
            chat = CountedModel(asked)
        sentences: Any = WordSentences()
        if kind is SentenceJudgeKind.ENTAILMENT:
            word = self.entailment or ""
            called = Path(word.partition(":")[2].partition("?")[0]).name if word.startswith("local:") else ""
            sentences = EntailmentSentences(model=open_entailment(word), called=called)
        elif kind is SentenceJudgeKind.CHAT and chat is not None:
            sampling = Sampling(temperature=self.temperature, max_tokens=2_000)
            sentences = ChatSentences(model=chat, prompts=prompts, sampling=sampling)
        return AnswerJudge(
            sentences=sentences, chat=chat, asks_deflection=self.ask_deflection, language=self.language,
            prompts=prompts, sampling=Sampling(temperature=self.temperature, max_tokens=64),
            ladders_hash="" if self.ladders is None else (sha256_of(self.ladders) or "")[:8],
            matcher=matcher(self.matcher, language=self.language) if self.ladders is not None else None,
        )  # fmt: skip


def shown_asked(asked: Mapping[str, float]) -> str:
    """What answers of a model took, in words."""
    return ", ".join(f"{number:,.10g} {name.replace('_', ' ')}" for name, number in asked.items())


def _note_unknown_citations(pairs: Sequence[tuple[GroundedSample, str]]) -> None:
    """Say how many citations name no passage: often ids are not those that answers use."""
    from granola.grounding.citation_markers import cited_passages
    from granola.runs.outputs import count, note

    unknown = Counter[str]()
    for sample, answer in pairs:
        unknown.update(cited_passages(answer, [passage.id for passage in sample.passages])[1])
    if unknown:
        often = ", ".join(f"[{name[:40]}]" for name, _ in unknown.most_common(3))
        note(f"{count(unknown.total(), 'citation')} of no passage of the question, counted as wrong: {often}")
