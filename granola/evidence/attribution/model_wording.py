"""Citations, questions and statements reworded by a model, each checked for exactly the names of its facts.

The three prompts follow the structure of Hu et al. 2025 (CAQA), appendix B, in our words. A text that fails its check
twice is replaced by the template's; both are counted. A text with the right names may still negate its facts ("It is a
myth that ..."): with an entailment model, a citation must entail its facts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from itertools import islice

from abstraction.errors import ReplyError
from abstraction.models.chat_model import ChatModel, Request, Sampling, sampling_of
from abstraction.models.text_scorers import EntailmentModel, TextPair
from abstraction.phrasing.model_requests import RequestForm
from abstraction.phrasing.prompt_files import Prompt, PromptKind, load_prompts, prompts_hash
from granola.evidence.attribution.attribution_samples import AttributionSample, CitedFact
from granola.evidence.attribution.text_checks import TextCoverage, coverage, states_name

CITATION = PromptKind(name="citation", required=frozenset({"facts"}))
QUESTION = PromptKind(name="question", required=frozenset({"facts"}))
STATEMENT = PromptKind(name="statement", required=frozenset({"question", "answers"}))
AGAIN = PromptKind(name="again", required=frozenset(), optional=frozenset({"problem"}))
LONGEST = 1_500  # characters of the longest reply that is accepted
_BATCH = 256  # samples per batch of requests


def read_wording_prompts() -> dict[str, Prompt]:
    """The four prompts."""
    with as_file(files("granola") / "evidence" / "attribution" / "prompts") as bundled:
        return load_prompts((CITATION, QUESTION, STATEMENT, AGAIN), bundled)


@dataclass(frozen=True, kw_only=True, slots=True)
class _WordedText:
    """A requested text: its kind and slots, and the names that it must contain, may contain, and must not contain."""

    kind: PromptKind
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
    prompts: Mapping[str, Prompt] = field(default_factory=read_wording_prompts)
    sampling: Sampling = field(default_factory=lambda: Sampling(max_tokens=200))
    entailment: EntailmentModel | None = None
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.sampling = sampling_of(self.model, self.sampling)

    @property
    def fingerprint(self) -> str:
        """The hash of the prompts."""
        return prompts_hash(dict(self.prompts))[:8]

    def reword(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionSample]:
        """The samples in order, with the texts of the model where they passed the check."""
        source = iter(samples)
        while batch := list(islice(source, _BATCH)):
            asked: dict[_WordedText, str | None] = {text: None for sample in batch for text in _wanted_texts(sample)}
            form: RequestForm[_WordedText, str] = RequestForm(
                model=self.model, ask=self._request, read=_WordedText.check, again=self.prompts[AGAIN.name]
            )
            failed = {}
            for text, outcome in form.run(asked):
                asked[text], failed[text] = outcome.value, outcome.failed or "left"
            for text in self._not_entailed(asked):
                asked[text], failed[text] = None, "does not entail its facts"
            for text, worded in asked.items():
                self.counts[f"{text.kind.name}: {'worded' if worded else failed[text]}"] += 1
            for sample in batch:
                texts = [asked[text] for text in _wanted_texts(sample)]
                number = len(sample.citations)
                citations = tuple(new or old for new, old in zip(texts[:number], sample.citations, strict=True))
                question = sample.question if _is_original(sample) else texts[number] or sample.question
                statement = texts[-1] or sample.statement
                yield sample.model_copy(update={"citations": citations, "question": question, "statement": statement})

    def _not_entailed(self, worded: Mapping[_WordedText, str | None]) -> list[_WordedText]:
        """The citations that do not entail their facts; empty without an entailment model."""
        # Without a model the check of names is the only one.
        if self.entailment is None:
            return []
        pairs = [(text, TextPair(reply, text.says)) for text, reply in worded.items() if reply and text.says]
        judged = self.entailment.scores([pair for _, pair in pairs])
        return [
            text
            for (text, _), found in zip(pairs, judged, strict=True)
            if found.entailed <= max(found.neutral, found.refuted)
        ]

    def _request(self, text: _WordedText) -> Request:
        slots = {name: value if isinstance(value, str) else list(value) for name, value in text.slots}
        return Request(id=text.kind.name, messages=self.prompts[text.kind.name].fill(slots), sampling=self.sampling)


def _wanted_texts(sample: AttributionSample) -> list[_WordedText]:
    """The requested texts of a sample: citations, the question if it comes from a template, the statement."""
    texts = [
        _WordedText(
            kind=CITATION,
            slots=(("facts", tuple("; ".join(fact.names) for fact in facts)),),
            wanted=_names(facts),
            known=tuple(fact.names[1] for fact in facts),
            says=" ".join(fact.text for fact in facts),
        )
        for facts in cited_facts(sample)
    ]
    required = _required_names(sample)
    relations = tuple(fact.names[1] for fact in sample.subgraph)
    if not _is_original(sample):
        texts.append(
            _WordedText(
                kind=QUESTION,
                slots=(("facts", _masked_facts(sample)),),
                wanted=required,
                known=relations,
                hidden=sample.answer,
            )
        )
    texts.append(
        _WordedText(
            kind=STATEMENT,
            slots=(("question", sample.question), ("answers", "; ".join(sample.answer))),
            wanted=(*required, *sample.answer) if not _is_original(sample) else sample.answer,
            known=(*relations, *required, sample.question),
        )
    )
    return texts


def cited_facts(sample: AttributionSample) -> list[tuple[CitedFact, ...]]:
    """The facts that each citation states, according to the row; empty where the row does not record them."""
    places = sample.cited or ((),) * len(sample.citations)
    return [tuple(sample.evidence[at] for at in of_citation) for of_citation in places]


def _is_original(sample: AttributionSample) -> bool:
    """Whether the question is from the source data: then it is not reworded."""
    return sample.provenance.get("extension") == "none" and sample.provenance.get("original_question") is not None


def _names(facts: Sequence[CitedFact]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for fact in facts for name in (fact.names[0], fact.names[2])))


def _required_names(sample: AttributionSample) -> tuple[str, ...]:
    """The names that a question must contain: those of the entities in its query."""
    branches = (sample.query or {}).get("branches", ())
    ids = {entity_id for branch in branches for entity_id in (branch["start"], *branch["via"]) if entity_id is not None}
    ends = [pair for one in sample.subgraph for pair in ((one.subject, one.names[0]), (one.object, one.names[2]))]
    names = [name for entity_id, name in ends if entity_id in ids]
    if (sample.query or {}).get("union"):
        names = [name.partition(" (")[0] for name in names]  # descriptions distinguish namesakes only in citations
    return tuple(dict.fromkeys(names))


def _masked_facts(sample: AttributionSample) -> tuple[str, ...]:
    """The facts of the query with ?x for answers and ?y for entities in between."""
    given = set(_required_names(sample))
    # The prompt must not reveal the answer, or the model may write it into the question.
    masks: dict[str, str] = dict.fromkeys(sample.answer, "?x")

    def mask_name(name: str) -> str:
        if name in given:
            return name
        return masks.setdefault(name, f"?y{len(masks) - len(sample.answer) + 1}")

    lines = ("; ".join((mask_name(fact.names[0]), fact.names[1], mask_name(fact.names[2]))) for fact in sample.subgraph)
    return tuple(dict.fromkeys(lines))


def automatic_coverage(sample: AttributionSample) -> list[tuple[str, str, TextCoverage]]:
    """Kind, text and label of each citation and of an extended question, by the automatic check."""
    found = []
    for text, facts in zip(sample.citations, cited_facts(sample), strict=True):
        if facts:
            known = [name for fact in facts for name in (fact.names[1], fact.text)]
            found.append(("citation", text, coverage(text, _names(facts), known)[0]))
    if not _is_original(sample):
        known = [name for fact in sample.subgraph for name in fact.names]
        found.append(("question", sample.question, coverage(sample.question, _required_names(sample), known)[0]))
    return found
