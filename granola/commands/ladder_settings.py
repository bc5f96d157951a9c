"""Settings of commands that make ladders: a model that phrases them, and the review of the links of answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, Literal

from abstraction.base.faults import OnReject
from abstraction.files.writing import json_line
from granola.base.settings import Setting, settings_of
from granola.commands.messages import count, note
from granola.commands.models import open_model
from granola.errors import UsageError
from kg.base.files import atomic_path
from kg.store.protocol import Store

if TYPE_CHECKING:
    from abstraction.files.rows import TieredRow
    from abstraction.linking.review import Decisions
    from abstraction.models.chat_model import ChatModel
    from abstraction.phrasing.decisions import DecisionCounts
    from abstraction.phrasing.phraser import ConsistencyScorer, Mode, ModelPhraser


@dataclass(frozen=True, kw_only=True)
class ReviewSettings:
    """Settings: the links that count, and the sheet where a person decides on doubtful ones."""

    min_confidence: Annotated[
        Literal["low", "medium", "high", "given"] | None,
        Setting("Make no ladder where an answer's entity is less certain than this.", advanced=True),
    ] = None
    review: Annotated[
        Path | None,
        Setting(
            "Write a CSV sheet of doubtful links to decide on, with rivals and what is known of them.", advanced=True
        ),
    ] = None
    decisions: Annotated[
        Path | None, Setting("A sheet of --review with decisions: what is meant, or none.", advanced=True)
    ] = None

    def read_review(self) -> Decisions:
        """Read the decisions of a person. Raises RowError as `read_decisions`."""
        from abstraction.linking.review import read_decisions

        return read_decisions(self.decisions) if self.decisions else {}

    def apply_review(
        self, ladders: Iterator[TieredRow], store: Store, decisions: Decisions, language: str
    ) -> Iterator[TieredRow]:
        """Remove the ladders of refused or uncertain links; write doubtful links to the sheet."""
        from abstraction.linking.review import Reviewer, without_refused_links, without_uncertain_links, write_sheet

        # Decisions first: decided links need not be reviewed again.
        ladders = (without_refused_links(row, decisions) for row in ladders)
        if self.review is not None:
            ladders = write_sheet(ladders, Reviewer(store, language=language), self.review)
        if self.min_confidence is None:
            return ladders
        least = self.min_confidence
        return (without_uncertain_links(row, least) for row in ladders)


LOG_SUFFIX = ".phrasing.jsonl"  # log of decisions beside the output
SAMPLES_PER_ROW = 10  # replies sampled per row for --consistency, as in Yona et al. 2024, appendix B


@dataclass(frozen=True, kw_only=True)
class PhrasingSettings:
    """How a model phrases ladders; `phrase` is None where nothing is phrased. Other commands inherit these settings."""

    phrase: Annotated[
        str | None,
        Setting(
            "A model that words the ladders, each tier checked by the graph: openai:URL#NAME, local:FOLDER, "
            "replay:FILE.",
            metavar="MODEL",
        ),
    ] = None
    phrase_mode: Annotated[
        Literal["free", "strict"],
        Setting(
            "free: of the coarser answers that the model writes those stay that the graph does not contradict; strict: "
            "those that the graph states.",
            advanced=True,
        ),
    ] = "free"
    prompts: Annotated[
        str | None,
        Setting(
            "What models are asked with: paper (its procedure as it is: what the model writes is the ladder, and "
            "nothing is checked), guided (instructions and examples of ours, checked), or a folder of your "
            "own: ladder, again, consistency, each .txt; not all of them. Without it: the paper's prompts, "
            "each answer checked.",
            metavar="SET|FOLDER",
            advanced=True,
        ),
    ] = None

    def check_phrasing(self, *, scored: bool = False) -> None:
        """Check the settings before anything is read or asked. Raises UsageError, ModelSpecError or PromptError.

        Settings without effect, for lack of a model, are refused; where `scored` a scoring model uses the prompts.
        """
        from abstraction.models.spec import parse_model_spec
        from abstraction.phrasing.phrasing_prompts import read_prompts

        if self.phrase is None:
            spared = {"phrase", *(("prompts",) if scored else ())}
            changed = [
                one for one in settings_of(PhrasingSettings)
                if one.field not in spared and getattr(self, one.field) != one.default
            ]  # fmt: skip
            if changed:
                raise UsageError(
                    f"{changed[0].setting.name(changed[0].field)} goes with --phrase MODEL, which is not given"
                )
            return
        parse_model_spec(self.phrase)
        if self.prompts == "paper" and self.phrase_mode == "strict":
            raise UsageError("--phrase-mode strict says what a check does: --prompts paper checks nothing")
        read_prompts(self.prompts)

    def phraser(self, model: ChatModel, store: Store, language: str) -> ModelPhraser:
        """The phraser with these settings, for an open model."""
        from abstraction.phrasing.phraser import ModelPhraser
        from abstraction.phrasing.phrasing_prompts import read_prompts

        # With the paper's prompts the model's reply is the ladder, unchecked.
        mode: Mode = "paper" if self.prompts == "paper" else "free"
        unproven: Literal["drop", "keep"] = "drop" if self.phrase_mode == "strict" else "keep"
        prompts = read_prompts(self.prompts)
        return ModelPhraser(model, store, mode=mode, prompts=prompts, unproven=unproven, language=language)


@dataclass(frozen=True, kw_only=True)
class DatasetModels(PhrasingSettings):
    """The models for building a dataset: one phrases ladders, one scores descriptions."""

    consistency: Annotated[
        str | None,
        Setting(
            "A model that is asked whether a row's descriptions fit it, as --phrase; gives score_for_potential_error.",
            metavar="MODEL",
        ),
    ] = None
    samples: Annotated[
        int, Setting("How often --consistency asks about a row, at temperature 1.", least=1, advanced=True)
    ] = SAMPLES_PER_ROW

    def check_models(self) -> None:
        """Check the settings of both models, see `check_phrasing`."""
        from abstraction.models.spec import parse_model_spec
        from abstraction.phrasing.phrasing_prompts import read_prompts

        self.check_phrasing(scored=self.consistency is not None)
        if self.consistency is None and self.samples != SAMPLES_PER_ROW:
            raise UsageError("--samples goes with --consistency MODEL, which is not given")
        if self.consistency is not None:
            parse_model_spec(self.consistency)
            read_prompts(self.prompts)

    def open_models(
        self, stack: ExitStack, store: Store, out: Path, inputs: Sequence[Path | str], language: str
    ) -> tuple[ModelPhraser | None, ConsistencyScorer | None]:
        """The phraser and the scorer, each None where not requested; they share a model where both name the same."""
        from abstraction.phrasing.phraser import ConsistencyScorer
        from abstraction.phrasing.phrasing_prompts import read_prompts

        model = phraser = scorer = None
        if self.phrase is not None:
            model = stack.enter_context(open_model(self.phrase, out, inputs))
            phraser = self.phraser(model, store, language)
        if self.consistency is not None:
            # One server or set of weights serves both where the specs are equal.
            if model is None or self.phrase != self.consistency:
                model = stack.enter_context(open_model(self.consistency, out, inputs))
            scorer = ConsistencyScorer(model, prompts=read_prompts(self.prompts), samples=self.samples)
        return phraser, scorer


class PhrasingRun:
    """Phrases rows as they are written, and writes a log of all decisions, which appears whole or not at all."""

    def __init__(self, phraser: ModelPhraser, out: Path | str | None) -> None:
        from abstraction.phrasing.decisions import DecisionCounts

        self.phraser = phraser
        self.counts: DecisionCounts = DecisionCounts()
        self._log = None if out is None else Path(f"{out}{LOG_SUFFIX}")

    def rows(self, ladders: Iterable[TieredRow], *, on_reject: OnReject | None = None) -> Iterator[TieredRow]:
        """The phrased rows; the log appears when all have been read. `on_reject`: see `ModelPhraser.stream`."""
        from abstraction.phrasing.decisions import log_lines, without_decisions

        with ExitStack() as stack:
            stream: BinaryIO | None = None
            if self._log is not None:
                stream = stack.enter_context(stack.enter_context(atomic_path(self._log)).open("wb"))
                stream.write(json_line({"schema_version": 1, "kind": "phrasing", **self.phraser.settings}))
            for row in self.phraser.stream(ladders, on_reject=on_reject):
                self.counts.add(row)
                if stream is not None:
                    stream.writelines(map(json_line, log_lines(row)))
                yield without_decisions(row)

    def warn(self) -> None:
        """Note on standard error how many rows another run would ask for again."""
        if self.counts.unanswered:
            asked = count(self.counts.unanswered, "row")
            where = f"; {self._log} tells why" if self._log else ""
            fallback = self.counts.fallback_in_words
            note(f"{asked} without an answer of the model's {fallback}{where}; another run asks again")
