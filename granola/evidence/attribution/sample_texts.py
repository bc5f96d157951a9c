"""The texts of samples: how they cover their facts, and how a model rewords them.

Coverage is full, lacks a name, or has a name that belongs to no fact: the labels of the annotators of Hu et al. 2025
(CAQA), section 4.2, here computed from names alone, and given by people on sheets.

The three prompts follow the structure of appendix B, in our words. A text that fails its check twice is replaced by the
template's; both are counted. A text with the right names may still negate its facts ("It is a myth that ..."): with an
entailment model, a citation must entail its facts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from importlib.resources import as_file, files
from itertools import islice
from typing import Any

from abstraction.errors import ReplyError
from abstraction.models.chat_model import ChatModel, Request, Sampling, sampling_of
from abstraction.models.text_scorers import EntailmentModel, TextPair
from abstraction.phrasing.prompting import PromptKind, RequestForm, load_prompts, prompts_hash
from abstraction.text.language.phrases import FUNCTION
from granola.evidence.attribution.attribution_task import LABELS, AttributionSample, CitedFact
from granola.evidence.evidence_task import JudgedQuestion, SheetForm

CITATION = PromptKind(name="citation", required=frozenset({"facts"}))
QUESTION = PromptKind(name="question", required=frozenset({"facts"}))
STATEMENT = PromptKind(name="statement", required=frozenset({"question", "answers"}))
AGAIN = PromptKind(name="again", required=frozenset(), optional=frozenset({"problem"}))
LONGEST_REPLY = 1_500  # characters of the longest reply that is accepted
_BATCH = 256  # samples per batch of requests
LONGEST = 20_000  # characters of a text that are read
_NAME = re.compile(r"(?<!\w)[^\W\d_][^\W_]*(?:[-'’][^\W_]+)*")


class TextCoverage(StrEnum):
    """How a text covers its facts."""

    FULL = "full coverage"
    ABSENT = "absent"
    HALLUCINATED = "hallucinated"


def states_name(text: str, name: str) -> bool:
    """Whether a text contains a name as whole words, ignoring case.

    For a namesake such as "Rick Scott (American politician)": the name, and the content words of the description
    anywhere.
    """
    words = folded_words(name)
    if not words:
        return name in text  # a name of symbols only, as of a currency, has no words
    if f" {words} " in f" {folded_words(text)} ":
        return True
    plain, _, apart = name.removesuffix(")").partition(" (")
    telling = [word for word in folded_words(apart).split() if word not in FUNCTION]
    return bool(apart) and states_name(text, plain) and all(states_name(text, word) for word in telling)


def coverage(text: str, required: Sequence[str], allowed: Iterable[str] = ()) -> tuple[TextCoverage, str]:
    """The coverage of a text, and the first foreign or missing name.

    `allowed`: further names that may occur. A capitalised word counts as a name, so the check does not suit languages
    that capitalise nouns.
    """
    if foreign := foreign_names(text, [*required, *allowed]):
        return TextCoverage.HALLUCINATED, foreign[0]
    missing = next((name for name in required if not states_name(text, name)), "")
    return TextCoverage.ABSENT if missing else TextCoverage.FULL, missing


def foreign_names(text: str, known: Iterable[str]) -> list[str]:
    """Capitalised words, in order, that belong to no known name and do not begin a sentence."""
    words = {word for name in known for word in folded_words(name).split()}
    foreign = []
    text = text[:LONGEST]
    for match in _NAME.finditer(text):
        # The first word of a sentence has a capital in any case.
        before = text[: match.start()].rstrip(" \"'“”‘’(")
        begins = not before or before[-1] in ".!?:\n"
        name = match[0].removesuffix("'s").removesuffix("’s")
        if name[0].isupper() and not begins and not set(folded_words(name).split()) <= words:
            foreign.append(name)
    return foreign


def folded_words(text: str) -> str:
    """The case-folded words of a text, separated by single blanks."""
    return " ".join(re.sub(r"[^\w]+", " ", text.casefold()).split())


def cited_facts(sample: AttributionSample) -> list[tuple[CitedFact, ...]]:
    """The facts that each citation states, according to the row; empty where the row does not record them."""
    places = sample.cited or ((),) * len(sample.citations)
    return [tuple(sample.evidence[at] for at in of_citation) for of_citation in places]


def is_original(sample: AttributionSample) -> bool:
    """Whether the question is from the source data: then it is not reworded."""
    return sample.provenance.get("extension") == "none" and sample.provenance.get("original_question") is not None


def entity_names(facts: Sequence[CitedFact]) -> tuple[str, ...]:
    """The names of the subjects and objects of facts."""
    return tuple(dict.fromkeys(name for fact in facts for name in (fact.names[0], fact.names[2])))


def required_names(sample: AttributionSample) -> tuple[str, ...]:
    """The names that a question must contain: those of the entities in its query."""
    branches = (sample.query or {}).get("branches", ())
    ids = {entity_id for branch in branches for entity_id in (branch["start"], *branch["via"]) if entity_id is not None}
    ends = [pair for one in sample.subgraph for pair in ((one.subject, one.names[0]), (one.object, one.names[2]))]
    names = [name for entity_id, name in ends if entity_id in ids]
    if (sample.query or {}).get("union"):
        names = [name.partition(" (")[0] for name in names]  # descriptions distinguish namesakes only in citations
    return tuple(dict.fromkeys(names))


def automatic_coverage(sample: AttributionSample) -> Iterator[tuple[str, str, Sequence[CitedFact], TextCoverage]]:
    """Kind, text, facts and label of each citation with recorded facts and of an extended question."""
    for text, facts in zip(sample.citations, cited_facts(sample), strict=True):
        if facts:
            known = [name for fact in facts for name in (fact.names[1], fact.text)]
            yield "citation", text, facts, coverage(text, entity_names(facts), known)[0]
    if not is_original(sample):
        known = [name for fact in sample.subgraph for name in fact.names]
        label, _ = coverage(sample.question, required_names(sample), known)
        yield "question", sample.question, sample.subgraph, label


COVERAGE = JudgedQuestion(field="coverage", **LABELS["sheets"]["coverage"])
# The paper's annotators: full coverage of 50 citations and 50 extended questions, and their kappa.
PAPER = "the paper's two readers of 100 texts: full coverage of 92 % and 95 %, kappa 0.758"


def text_items(samples: Iterable[AttributionSample]) -> Iterator[dict[str, Any]]:
    """The citations and extended questions of samples, each with its facts and the automatic label."""
    for sample in samples:
        for place, (kind, text, facts, label) in enumerate(automatic_coverage(sample)):
            written = " | ".join("; ".join(fact.names) for fact in facts)
            yield {
                "id": f"{sample.id}-{kind[0]}{place}", "kind": kind, "text": text, "facts": written,
                COVERAGE.field: str(label),
            }  # fmt: skip


_SHOWN = ("kind", "text", "facts")
TEXTS = SheetForm(
    shown=_SHOWN,
    questions=(COVERAGE,),
    lines=lambda item: [{name: str(item.get(name) or "") for name in _SHOWN}],
    verdict=lambda item, labels, annotator: {
        "id": item["id"], "judge": annotator, COVERAGE.field: labels[0].get(COVERAGE.field)
    },
    draw_by="kind",
)  # fmt: skip


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
        if not text or len(text) > LONGEST_REPLY:
            raise ReplyError(f"a text of 1 to {LONGEST_REPLY} characters is wanted")
        # A question that contains its answer needs no evidence.
        if revealed := next((name for name in self.hidden if states_name(text, name)), ""):
            raise ReplyError(f"it tells {revealed}")
        label, name = coverage(text, self.wanted, self.known)
        if label is not TextCoverage.FULL:
            why = "is missing" if label is TextCoverage.ABSENT else "stands in none of the facts"
            raise ReplyError(f"{name} {why}")
        return text


@dataclass(kw_only=True)
class ModelWording:
    """Rewords samples with `model`; `counts` has the outcomes by kind of text, `fingerprint` hashes the prompts."""

    model: ChatModel
    entailment: EntailmentModel | None = None
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        """Read the prompts."""
        with as_file(files("granola") / "evidence" / "attribution" / "prompts") as bundled:
            self.prompts = load_prompts((CITATION, QUESTION, STATEMENT, AGAIN), bundled)
        self.fingerprint = prompts_hash(dict(self.prompts))[:8]
        self._sampling = sampling_of(self.model, Sampling(max_tokens=200))

    def reword(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionSample]:
        """The samples in order, with the texts of the model where they passed the check."""
        source = iter(samples)
        while batch := list(islice(source, _BATCH)):
            wanted = [_wanted_texts(sample) for sample in batch]
            asked = self._texts_from_model(dict.fromkeys(text for texts in wanted for text in texts))
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

    def _texts_from_model(self, texts: Iterable[_WordedText]) -> dict[_WordedText, str | None]:
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
