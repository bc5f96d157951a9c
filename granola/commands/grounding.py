"""`granola grounding`: answers from passages, what judges say of them, and their scores."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from granola.commands.command import Command
from granola.commands.item_verdicts import told_test
from granola.commands.messages import count, note, print_json, report_rejects
from granola.commands.models import kept_places, opened
from granola.commands.output import STANDARD, RowsCommand, RowsOutput, RowsWritten, writing_rows
from granola.errors import UsageError
from granola.grounding.grounded_samples import RELEVANT_SHARE, Relevance
from granola.grounding.grounding_scores import (
    THIRDS,
    Deflecting,
    GroundingSettings,
    Over,
    Unjudged,
    bands_stated,
    reading_of,
    worths,
)
from granola.settings import Setting
from granola.shared_settings import AsJson, Force, KeptAnswers, Language, Limit, Out, Resamples
from granola.terminal_lines import Part, TextTable, Verbatim, show_lines

if TYPE_CHECKING:
    from granola.attribution.evaluator_words import EvaluatorWords
    from granola.evidence.judge_names import CountedModel
    from granola.grounding.grounded_samples import GroundedSample
    from granola.grounding.grounding_items import GroundingItem
    from granola.scoring.aggregation import Estimate
    from granola.scoring.system_comparison import Difference

_ODD_SHOWN = 20
GroundedQuestions = Annotated[
    Path,
    Setting("Questions with passages: GaRAGe's rows, or your own with id, question and passages.", metavar="QUESTIONS",
            positional=True),
]  # fmt: skip
GroundingPrompts = Annotated[
    Path | None,
    Setting(
        "A folder with prompts of your own: answer, eligibility, sentences, deflection, again; not all of them.",
        advanced=True,
    ),
]
ChatWord = Annotated[str, Setting("The chat model: openai:URL#NAME, local:FOLDER, replay:FILE.", metavar="MODEL")]
JudgedAnswers = Annotated[tuple[Path, ...], Setting("Judged answers.", metavar="JUDGED...", positional=True)]
Bands = Annotated[
    tuple[float, ...],
    Setting(
        "Where bands of the share of relevant passages end, each in (0, 1); the paper's limits are not in its text. "
        "Relevant is strict or wide as --by says; relevant_share is as the score of --of, strict for E, uF and F.",
        advanced=True,
    ),
]
Seed = Annotated[int, Setting("Seed of the resamples.", least=0, advanced=True)]
K = TypeVar("K", bound=StrEnum)
RAF = "RAF strict"


def check_score(name: str, option: str) -> None:
    """Raise UsageError for a name that is no score's."""
    if name not in worths():
        raise UsageError(f"{option} is {name!r}; allowed: {', '.join(worths())}")


@dataclass(frozen=True, kw_only=True)
class FormingSettings:
    """How scores are formed, for the runs that form them."""

    over: Annotated[Over, Setting("Over which questions E, uF, F, uRAF and RAF run.")] = Over.ANSWERABLE
    over_of: Annotated[
        tuple[str, ...],
        Setting(
            "The same of one score: E=all. May be repeated.", metavar="SCORE=OVER", flag="--over-of", advanced=True
        ),
    ] = ()
    deflecting: Annotated[Deflecting, Setting("What a deflecting answer counts in these scores.")] = (
        Deflecting.AS_JUDGED
    )
    deflecting_of: Annotated[
        tuple[str, ...],
        Setting(
            "The same of one score: E=fails. May be repeated.",
            metavar="SCORE=WORTH",
            flag="--deflecting-of",
            advanced=True,
        ),
    ] = ()
    unjudged: Annotated[Unjudged, Setting("What an answer counts if a judge gave no verdict on it.")] = (
        Unjudged.LEFT_OUT
    )
    sliced: Annotated[str, Setting("The score that slices, tests, figures and biases are of.", flag="--of")] = RAF
    resamples: Resamples = 1_000
    seed: Seed = 0

    def forming(self) -> GroundingSettings:
        """As the library takes them. Raises UsageError for what names no score, or nothing that it can be."""
        check_score(self.sliced, "--of")
        return GroundingSettings(
            over=self.over, deflecting=self.deflecting, unjudged=self.unjudged,
            resamples=self.resamples, seed=self.seed,
            over_of=_by_score(self.over_of, Over, "--over-of"),
            deflecting_of=_by_score(self.deflecting_of, Deflecting, "--deflecting-of"),
        )  # fmt: skip


def _by_score(given: tuple[str, ...], kind: type[K], name: str) -> dict[str, K]:
    by_score = {}
    for pair in given:
        score, equals, word = pair.partition("=")
        check_score(score, name)
        if not equals or word not in list(kind):
            raise UsageError(f"{name} is {pair!r}; expected SCORE=VALUE with a value of {', '.join(kind)}")
        by_score[score] = kind(word)
    return by_score


def check_bands(bands: tuple[float, ...]) -> None:
    """Raise UsageError for limits that are not in (0, 1)."""
    for limit in bands:
        if not 0 < limit < 1:
            raise UsageError(f"--bands has {limit}; limits are above 0 and below 1")


def named_tags(given: Iterable[str], score: str) -> list[str]:
    """The tags that --by names, each once; `relevant_share` is of the score's reading, strict where it has none."""
    of_score = (reading_of(score) or Relevance.STRICT).share_tag
    return list(dict.fromkeys(of_score if by == RELEVANT_SHARE else by for by in given))


def check_tag(by: str, systems: Mapping[str, list[GroundingItem]]) -> None:
    """Raise UsageError for a tag that no answer has."""
    tags = sorted({tag for items in systems.values() for item in items for tag in item.tags})
    if by not in tags:
        raise UsageError(f"--by {by}: no answer has this tag; there are {', '.join(tags) or 'none'}")


@dataclass(frozen=True, kw_only=True, slots=True)
class QuestionsDescribed:
    """Counts of a file, as `statistics_of` gives them, with `not_understood`."""

    counts: Mapping[str, Any]
    rejected: Sequence[Any]


@dataclass(frozen=True, kw_only=True)
class GroundingDescribe(Command[QuestionsDescribed]):
    """Count questions, passages, labels, providers, expected deflections and tags, and what was not understood."""

    questions: GroundedQuestions

    def run(self) -> QuestionsDescribed:
        """Read and count. Raises UsageError where there is no question."""
        from granola.grounding.grounded_rows import read_grounded
        from granola.grounding.sample_statistics import statistics_of

        rejected: list[Any] = []
        unknown: Counter[str] = Counter()
        counts = statistics_of(read_grounded(self.questions, on_reject=rejected.append, unknown=unknown))
        if not counts["questions"]:
            more = f"; its first row: {rejected[0].reason}" if rejected else ""
            raise UsageError(f"{self.questions} has no question with passages{more}")
        counts["not_understood"] = dict(unknown.most_common())
        return QuestionsDescribed(counts=counts, rejected=rejected)

    def show(self, result: QuestionsDescribed) -> None:
        """The counts as JSON; rejected rows on standard error."""
        print_json({"schema_version": 1, **result.counts}, indent=1)
        report_rejects(str(self.questions), result.rejected)


@dataclass(frozen=True, kw_only=True)
class GroundingAnswer(RowsCommand):
    """Ask a model the questions over their passages, with citations by id; killed, it goes on with the same command."""

    questions: GroundedQuestions
    model: ChatWord
    out: Out
    prompts: GroundingPrompts = None
    answers: KeptAnswers = None
    limit: Limit = None
    force: Force = False
    as_json: AsJson = False

    def run(self) -> RowsWritten:
        """Ask and write `{"id", "answer"}` a row. Raises UsageError where there is no question."""
        from abstraction.models import Request, Sampling, parse_model_spec, sampling_of
        from abstraction.phrasing.model_requests import RequestForm
        from granola.grounding.grounded_rows import read_grounded
        from granola.grounding.sentence_judges import ANSWER, passage_lines, read_grounding_prompts

        prompts = read_grounding_prompts(self.prompts)
        sampling = sampling_of(parse_model_spec(self.model), Sampling(max_tokens=1_000))
        with writing_rows(self, self.out, inputs=[self.questions], force=self.force) as output:
            samples = list(islice(read_grounded(self.questions, on_reject=output.rejected.append), self.limit))
            if not samples:
                raise UsageError(f"{self.questions} has no question with passages")

            def ask(sample: GroundedSample) -> Request:
                slots = {
                    "question": sample.question, "date": sample.question_date or "not given",
                    "passages": passage_lines(sample.passages),
                }  # fmt: skip
                return Request(id=sample.id, messages=prompts[ANSWER.name].fill(slots), sampling=sampling)

            def rows() -> Iterator[dict[str, Any]]:
                with opened(self.model, output.beside, self.answers, [self.questions]) as model:
                    form: RequestForm[GroundedSample, str] = RequestForm(
                        model=model, ask=ask, read=lambda _, reply: reply, again=prompts["again"]
                    )
                    for sample, outcome in form.run(samples):
                        output.counts["answered" if outcome.value is not None else "unanswered"] += 1
                        yield {"id": sample.id, "answer": outcome.value, "failed": outcome.failed or None}

            output.write(rows())
            return output.ended(f"{count(output.counts['answered'], 'answer')}", source=str(self.questions))


CHAT, ENTAILMENT, WORDS = "chat", "entailment", "words"  # what `--sentences` takes, beside evaluators


@dataclass(frozen=True, kw_only=True)
class GroundingJudge(RowsCommand):
    """Judge answers sentence by sentence against all passages and against the relevant ones, in both readings.

    A chat model also says whether an answer is eligible; deflection is told by named rules, or by the model. Where a
    judge fails the row stays, says what is lacking, and leaves the scores that it lacks.
    """

    questions: GroundedQuestions
    given: Annotated[
        Path, Setting("Answers: rows with id and answer, as `granola grounding answer` writes.", flag="--answered")
    ]
    out: Out
    model: Annotated[
        str | None, Setting("The chat model that judges: openai:URL#NAME, local:FOLDER, replay:FILE.", metavar="MODEL")
    ] = None
    sentences: Annotated[
        str | None,
        Setting(
            "Who judges sentences: chat, entailment, words (a baseline), or an evaluator of attribution as KIND=WHERE, "
            "such as trained=bundled. Chat where --model is given, else words.",
            metavar="JUDGE",
        ),
    ] = None
    entailment: Annotated[
        str | None,
        Setting("With --sentences entailment: local:FOLDER, openai:URL#NAME.", metavar="TEXT_MODEL", advanced=True),
    ] = None
    ask_deflection: Annotated[bool, Setting("Ask --model whether answers deflect, in the place of the rules.")] = False
    prompts: GroundingPrompts = None
    answers: KeptAnswers = None
    system: Annotated[
        str | None, Setting("What the system is called; by default as its rows say, else as the file of answers.")
    ] = None
    language: Language = "en"
    limit: Limit = None
    force: Force = False
    as_json: AsJson = False

    def run(self) -> RowsWritten:
        """Judge and write. Raises UsageError for settings that do not go together."""
        from abstraction.language.languages import is_known, notice

        kind = self.sentences or (WORDS if self.model is None else CHAT)
        if kind not in (CHAT, ENTAILMENT, WORDS):
            self._evaluators().check([kind])
        if kind == CHAT and self.model is None:
            raise UsageError("--sentences chat asks --model, which is not given")
        if (kind == ENTAILMENT) != (self.entailment is not None):
            raise UsageError("--sentences entailment and --entailment go together")
        if not is_known(self.language):
            raise UsageError(f"--language is {self.language!r}, which is no known code")
        if (lacking := notice(self.language)) is not None:
            note(lacking)
        if self.ask_deflection and self.model is None:
            raise UsageError("--ask-deflection asks --model, which is not given")
        with writing_rows(self, self.out, inputs=[self.questions, self.given], force=self.force) as output:
            unknown: Counter[str] = Counter()
            pairs, names = self._pairs(output, unknown)
            for odd, number in unknown.most_common(_ODD_SHOWN):
                note(f"not understood {count(number, 'time')}: {odd}")
            with ExitStack() as stack:
                judge = self._judge(kind, stack)
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
        from abstraction.models import parse_model_spec

        spec = parse_model_spec(self.model)
        log = kept_places(self.model, None if self.out == STANDARD else self.out, self.answers)[1]
        return chat.asked(Path(spec.where) if spec.kind == "replay" else log, spec.prices)

    def _pairs(self, output: RowsOutput, unknown: Counter[str]) -> tuple[list[Any], dict[str, str]]:
        """The questions with their answers, and what the system of each is called."""
        from abstraction.faults import RejectedRow, excerpt
        from abstraction.files.records import read_records
        from granola.grounding.grounded_rows import read_grounded
        from granola.replies.long_texts import said

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
            pairs.append((samples[str(key)], said(str(answer))))
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

    def _evaluators(self) -> EvaluatorWords:
        """How an evaluator of attribution is opened."""
        from granola.attribution.evaluator_words import EvaluatorWords

        place = None if self.out == STANDARD else self.out
        inputs = [self.questions, self.given]
        return EvaluatorWords(chat=lambda word: opened(word, place, self.answers, inputs), temperature=0.2)

    def _judge(self, kind: str, stack: ExitStack) -> Any:
        from abstraction.models import open_entailment
        from granola.evidence.judge_names import CountedModel
        from granola.grounding.answer_judging import AnswerJudge
        from granola.grounding.sentence_judges import (
            ChatSentences,
            EntailmentSentences,
            EvaluatorSentences,
            WordSentences,
            read_grounding_prompts,
        )

        prompts = read_grounding_prompts(self.prompts)
        place = None if self.out == STANDARD else self.out
        chat = None
        if self.model is not None:
            inputs = [self.questions, self.given]
            asked = stack.enter_context(opened(self.model, place, self.answers, inputs))
            chat = CountedModel(asked)
        sentences: Any = WordSentences()
        if kind == ENTAILMENT:
            word = self.entailment or ""
            called = Path(word.partition(":")[2].partition("?")[0]).name if word.startswith("local:") else ""
            sentences = EntailmentSentences(model=open_entailment(word), called=called)
        elif kind not in (CHAT, WORDS):
            sentences = EvaluatorSentences(evaluator=self._evaluators().opened(kind, stack))
        elif kind == CHAT and chat is not None:
            sentences = ChatSentences(model=chat, prompts=prompts)
        return AnswerJudge(
            sentences=sentences, chat=chat, asks_deflection=self.ask_deflection, language=self.language,
            prompts=prompts,
        )  # fmt: skip


def shown_asked(asked: Mapping[str, float]) -> str:
    """What answers of a model took, in words."""
    return ", ".join(f"{number:,.10g} {name.replace('_', ' ')}" for name, number in asked.items())


def _note_unknown_citations(pairs: Sequence[tuple[GroundedSample, str]]) -> None:
    """Say how many citations name no passage: often ids are not those that answers use."""
    from granola.grounding.citation_markers import cited_passages

    unknown = Counter[str]()
    for sample, answer in pairs:
        unknown.update(cited_passages(answer, [passage.id for passage in sample.passages])[1])
    if unknown:
        often = ", ".join(f"[{name[:40]}]" for name, _ in unknown.most_common(3))
        note(f"{count(unknown.total(), 'citation')} of no passage of the question, counted as wrong: {often}")


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswersScored:
    """Scores of systems, with slices of one score, and paired tests in it."""

    score: str
    signature: str
    judges: Mapping[str, Sequence[str]]
    reports: Mapping[str, Mapping[str, Estimate]]
    unjudged: Mapping[str, int]
    deflections_unjudged: Mapping[str, int]
    slices: Mapping[str, Mapping[str, Mapping[str, Estimate]]]
    tests: Sequence[Difference]
    rejected: Sequence[Any]

    def parts(self) -> Iterator[Part]:
        """A table a system, its slices, the tests, the signature."""
        for name, own in self.reports.items():
            yield from self._of_system(name, own)
        for test in self.tests:
            yield told_test(test)
            yield from (f"  {remark}" for remark in filter(None, [self._judged_apart(test)]))
        yield Verbatim(self.signature)

    def _of_system(self, name: str, report: Mapping[str, Estimate]) -> Iterator[Part]:
        yield f"{name}, {self.unjudged[name]:,} answers without a verdict that was asked for"
        if not report["E"].n:
            yield "  no answer has a verdict on eligibility (judge --model, and a reference), so E, F and RAF have n 0"
        yield estimates_table(
            [((score,), estimate) for score, estimate in report.items() if not score.startswith("cited")]
        )
        if self.deflections_unjudged[name]:
            yield f"  {self.deflections_unjudged[name]:,} answers are in no deflection score: not judged"
        yield "  citations, over answerable questions"
        cited = []
        for whose in ("cited", "cited-relevant strict", "cited-relevant wide"):
            if report[f"{whose} pooled_f1"].n:
                against = "the reference's" if whose == "cited" else whose.removeprefix("cited-")
                cited += [((f"against {against}, {way}",), report[f"{whose} {key}"]) for key, way in _WAYS.items()]
        yield estimates_table(cited)
        yield estimates_table(
            [
                ((f"{self.score}, {by} {key[:40]}",), estimate)
                for by, estimates in self.slices[name].items()
                for key, estimate in estimates.items()
            ]
        )

    def to_json(self) -> dict[str, Any]:
        """Everything."""
        return {
            "schema_version": 1,
            "signature": self.signature,
            "judges": {name: list(signatures) for name, signatures in self.judges.items()},
            "unjudged": dict(self.unjudged),
            "deflections_unjudged": dict(self.deflections_unjudged),
            "systems": {
                name: {key: one.to_json() for key, one in by_name.items()} for name, by_name in self.reports.items()
            },
            "slices": {
                name: {by: {key: score.to_json() for key, score in scores.items()} for by, scores in by_name.items()}
                for name, by_name in self.slices.items()
            },
            "tests": [{**test.to_json(), "note": self._judged_apart(test) or None} for test in self.tests],
        }

    def _judged_apart(self, test: Difference) -> str:
        """Which judge is whose, where two systems were judged by different ones; else ""."""
        first, second = (
            set(self.judges[name]) for name in (test.first, test.second)
        )
        if first == second:
            return ""
        whose = "; ".join(
            f"{name}: {' '.join(f'[{judge}]' for judge in self.judges[name]) or 'not told'}"
            for name in (test.first, test.second)
        )
        return f"not judged alike, so the difference may be the judges': {whose}"


@dataclass(frozen=True, kw_only=True)
class GroundingScore(Command[AnswersScored], FormingSettings):
    """Eligibility (E), factuality against all passages (uF, F) and relevant ones (uRAF, RAF), deflection, citations.

    Rows tell their system. --by names a tag of the questions, or the share of relevant passages, in three bands:
    relevant_share_strict, relevant_share_wide, or relevant_share, which is that of the reading of --of.
    """

    judged: JudgedAnswers
    by: Annotated[
        tuple[str, ...],
        Setting(
            "Also by a tag, as time_sensitivity, source, popularity; relevant_share_strict and relevant_share_wide in "
            "bands, of which relevant_share is the one of the reading of --of."
        ),
    ] = ()
    bands: Bands = THIRDS
    as_json: AsJson = False

    def run(self) -> AnswersScored:
        """Score every system. Raises UsageError."""
        from granola.grounding.grounding_items import answers_by_system
        from granola.grounding.grounding_scores import (
            compared_answers,
            deflections_unjudged,
            grounding_report,
            judges_of,
            slice_of,
            sliced,
        )

        check_bands(self.bands)
        how = self.forming()
        rejected: list[Any] = []
        systems = answers_by_system(self.judged, rejected.append)
        tags = named_tags(self.by, self.sliced)
        for tag in tags:
            check_tag(tag, systems)
        judges = {name: judges_of(items) for name, items in systems.items()}
        return AnswersScored(
            score=self.sliced,
            signature=signed(how, judges, bands=bands_stated(tags, self.bands)),
            judges=judges,
            reports={name: grounding_report(items, how) for name, items in systems.items()},
            unjudged={name: sum(bool(item.unjudged) for item in items) for name, items in systems.items()},
            deflections_unjudged={name: deflections_unjudged(items) for name, items in systems.items()},
            slices={
                name: {tag: sliced(items, self.sliced, slice_of(tag, self.bands), how) for tag in tags}
                for name, items in systems.items()
            },
            tests=compared_answers(systems, self.sliced, how),
            rejected=rejected,
        )

    def show(self, result: AnswersScored) -> None:
        """Tables, or everything as JSON."""
        if self.as_json:
            print_json(result.to_json(), indent=1)
        else:
            show_lines(*result.parts())
        report_rejects(str(self.judged[0]), result.rejected)


_WAYS: dict[str, str] = {
    "pooled_precision": "precision, pooled", "pooled_recall": "recall, pooled", "pooled_f1": "F1, pooled",
    "mean_precision": "precision, mean", "mean_recall": "recall, mean", "f1_of_means": "F1 of these means",
    "mean_f1": "mean of F1",
}  # fmt: skip


def signed(how: GroundingSettings, judges: Mapping[str, Sequence[str]], *, bands: str = "") -> str:
    """Settings, what `bands_stated` says of slices, and all who judged."""
    everyone = sorted({judge for signatures in judges.values() for judge in signatures})
    return "|".join([str(how), *filter(None, [bands]), *(f"judge:[{judge}]" for judge in everyone)])


def estimates_table(rows: Sequence[tuple[tuple[str, ...], Estimate]]) -> TextTable:
    """Scores under their names, each with its interval and n, indented under their system."""
    names = len(rows[0][0]) if rows else 1
    words = (*range(1, names), names + 1, names + 2)
    return TextTable(rows=[(*name, *_cells(estimate)) for name, estimate in rows], words=words, keys=names, indent=2)


def _cells(estimate: Estimate) -> tuple[str, str, str]:
    if math.isnan(estimate.value):
        return "-", "", f"n {estimate.n:,}"
    interval = f"[{estimate.interval.low:.4f}, {estimate.interval.high:.4f}]"
    return f"{estimate.value:.4f}", interval, f"n {estimate.n:,}"
