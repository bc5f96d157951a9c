"""Citations, questions and statements reworded by a model, each checked for exactly the names of its facts.

The three prompts follow the structure of Hu et al. 2025 (CAQA), appendix B, in our words. A text that fails its check
twice is replaced by the template's; both are counted. A text with the right names may still negate its facts ("It is a
myth that ..."): with an entailment model, a citation must entail its facts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from itertools import islice

from abstraction.errors import ReplyError
from abstraction.models.chat_model import ChatModel, Request, Sampling, sampling_of
from abstraction.models.text_scorers import EntailmentModel, TextPair
from abstraction.phrasing.model_requests import RequestForm
from abstraction.phrasing.prompt_files import PromptKind, load_prompts, prompts_hash
from granola.evidence.attribution.attribution_samples import AttributionSample
from granola.evidence.attribution.text_coverage import (
    TextCoverage,
    cited_facts,
    coverage,
    entity_names,
    is_original,
    required_names,
    states_name,
)

CITATION = PromptKind(name="citation", required=frozenset({"facts"}))
QUESTION = PromptKind(name="question", required=frozenset({"facts"}))
STATEMENT = PromptKind(name="statement", required=frozenset({"question", "answers"}))
AGAIN = PromptKind(name="again", required=frozenset(), optional=frozenset({"problem"}))
LONGEST = 1_500  # characters of the longest reply that is accepted
_BATCH = 256  # samples per batch of requests


@dataclass(frozen=True, kw_only=True, slots=True)
class _WordedText:
    """A requested text: its kind and slots, and the names that it must contain, may contain, and must not contain."""

    kind: PromptKind
    before: str  # the text of the templates
    slots: tuple[tuple[str, str | tuple[str, ...]], ...]
    wanted: tuple[str, ...]
    known: tuple[str, ...]
    hidden: tuple[str, ...] = ()
    says: str = ""  # the template sentences that a citation must entail

    def check(self, reply: str) -> str:
        """The text in a reply. Raises ReplyError if it fails the check."""
        text = " ".join(reply.split()).strip('"“”')
        if not text or len(text) > LONGEST:
            raise ReplyError(f"a text of 1 to {LONGEST} characters is wanted")
        # A question that contains its answer needs no evidence.
        revealed = [name for name in self.hidden if states_name(text, name)]
        if revealed:
            raise ReplyError(f"it tells {revealed[0]}")
        label, name = coverage(text, self.wanted, self.known)
        if label is not TextCoverage.FULL:
            why = "is missing" if label is TextCoverage.ABSENT else "stands in none of the facts"
            raise ReplyError(f"{name} {why}")
        return text


@dataclass(kw_only=True)
class ModelWording:
    """Rewords samples with `model`; `counts` has the outcomes by kind of text."""

    model: ChatModel
    entailment: EntailmentModel | None = None
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        """Read the prompts."""
        with as_file(files("granola") / "evidence" / "attribution" / "prompts") as bundled:
            self.prompts = load_prompts((CITATION, QUESTION, STATEMENT, AGAIN), bundled)
        self._sampling = sampling_of(self.model, Sampling(max_tokens=200))

    @property
    def fingerprint(self) -> str:
        """The hash of the prompts."""
        return prompts_hash(dict(self.prompts))[:8]

    def reword(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionSample]:
        """The samples in order, with the texts of the model where they passed the check."""
        source = iter(samples)
        while batch := list(islice(source, _BATCH)):
            wanted = [_wanted_texts(sample) for sample in batch]
            asked = self._reworded(dict.fromkeys(text for texts in wanted for text in texts))
            for sample, texts in zip(batch, wanted, strict=True):
                new = [asked[text] or text.before for text in texts]
                number = len(sample.citations)
                yield sample.model_copy(
                    update={
                        "citations": tuple(new[:number]),
                        "question": sample.question if is_original(sample) else new[number],
                        "statement": new[-1],
                    }
                )

    def _reworded(self, texts: Iterable[_WordedText]) -> dict[_WordedText, str | None]:
        """The accepted text of the model for each; None where it failed its check."""
        form: RequestForm[_WordedText, str] = RequestForm(
            model=self.model, ask=self._request, read=_WordedText.check, again=self.prompts[AGAIN.name]
        )
        outcomes = dict(form.run(texts))
        worded = {text: outcome.value for text, outcome in outcomes.items()}
        failed = {text: outcome.failed or "left" for text, outcome in outcomes.items()}
        # Without a model of entailment the check of names is the only one.
        if self.entailment is not None:
            pairs = [(text, TextPair(reply, text.says)) for text, reply in worded.items() if reply and text.says]
            judged = self.entailment.scores([pair for _, pair in pairs])
            for (text, _), found in zip(pairs, judged, strict=True):
                if found.entailed <= max(found.neutral, found.refuted):
                    worded[text], failed[text] = None, "does not entail its facts"
        self.counts.update(f"{text.kind.name}: {'worded' if reply else failed[text]}" for text, reply in worded.items())
        return worded

    def _request(self, text: _WordedText) -> Request:
        slots = {name: value if isinstance(value, str) else list(value) for name, value in text.slots}
        return Request(id=text.kind.name, messages=self.prompts[text.kind.name].fill(slots), sampling=self._sampling)


def _wanted_texts(sample: AttributionSample) -> list[_WordedText]:
    """The requested texts of a sample: citations, the question if it comes from a template, the statement."""
    required, is_extended = required_names(sample), not is_original(sample)
    relations = tuple(fact.names[1] for fact in sample.subgraph)
    texts = [
        _WordedText(
            kind=CITATION, before=text, slots=(("facts", tuple("; ".join(fact.names) for fact in facts)),),
            wanted=entity_names(facts), known=tuple(fact.names[1] for fact in facts),
            says=" ".join(fact.text for fact in facts),
        )
        for text, facts in zip(sample.citations, cited_facts(sample), strict=True)
    ]  # fmt: skip
    question = _WordedText(
        kind=QUESTION, before=sample.question, slots=(("facts", _masked_facts(sample)),), wanted=required,
        known=relations, hidden=sample.answer,
    )  # fmt: skip
    statement = _WordedText(
        kind=STATEMENT, before=sample.statement, known=(*relations, *required, sample.question),
        slots=(("question", sample.question), ("answers", "; ".join(sample.answer))),
        wanted=(*required, *sample.answer) if is_extended else sample.answer,
    )  # fmt: skip
    return [*texts, question, statement] if is_extended else [*texts, statement]


def _masked_facts(sample: AttributionSample) -> tuple[str, ...]:
    """The facts of the query with ?x for answers and ?y for entities in between."""
    given = set(required_names(sample))
    # The prompt must not reveal the answer, or the model may write it into the question.
    masks: dict[str, str] = dict.fromkeys(sample.answer, "?x")

    for fact in sample.subgraph:
        for name in (fact.names[0], fact.names[2]):
            if name not in given:
                masks.setdefault(name, f"?y{len(masks) - len(sample.answer) + 1}")
    shown = masks | {name: name for name in given}
    lines = ("; ".join((shown[fact.names[0]], fact.names[1], shown[fact.names[2]])) for fact in sample.subgraph)
    return tuple(dict.fromkeys(lines))


