"""Uses of a chat model on tiered rows: it writes their ladders, which the graph checks, and scores how likely their
descriptions belong to another entity; with the prompts, and the descriptions that fill them.

Its replies are read strictly: one in another form than requested is unreadable (ReplyError), so that no guess about a
reply enters a ladder.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, Literal

import orjson

from abstraction.base.faults import Fault, OnReject, attempt
from abstraction.base.tiers import Evidence, Level, Tier
from abstraction.errors import PromptError, ReplyError
from abstraction.files.records import QUESTION_SITELINKS
from abstraction.files.rows import TieredRow
from abstraction.ladders.assembly.filters import is_variant_of_answer_name
from abstraction.models.chat_model import ChatModel, Failure, Reply, Request, Sampling, sampling_of
from abstraction.phrasing.checking import Action, CheckResult, LadderCheck, TextDecision, Unproven, with_note
from abstraction.phrasing.prompting import Prompt, PromptKind, RequestForm, RequestOutcome, load_prompts, signature_of
from abstraction.text.language.template_marks import first_model_turn, without_thoughts_and_if_cut
from kg.base.model import fallback_chain
from kg.graph.graph import Graph
from kg.store.protocol import Store

ANSWER_SITELINKS = "answer_entity_sitelinks"


def with_descriptions_and_sitelinks(row: TieredRow, graph: Graph) -> TieredRow:
    """The row with the descriptions and sitelink counts of its entities, where it lacks them.

    The popularity in GRANOLA-EQ's columns is not in WikiData: it stays as the row gives it, or empty.
    """
    entity = row.question_entity or {}
    columns = {
        **_description_and_sitelinks_columns(
            graph, entity.get("qid"), "question_entity_description", QUESTION_SITELINKS
        ),
        **_description_and_sitelinks_columns(
            graph, row.levels[0].tiers[0].qid, "answer_entity_description", ANSWER_SITELINKS
        ),
    }
    missing = {key: value for key, value in columns.items() if row.extra.get(key) in (None, "")}
    return replace(row, extra={**row.extra, **missing}) if missing else row


def _description_and_sitelinks_columns(graph: Graph, qid: object, description: str, sitelinks: str) -> dict[str, Any]:
    entity = graph.entity(qid) if isinstance(qid, str) else None
    if entity is None:
        return {}
    chain = fallback_chain(graph.shown_in)
    text = next((entity.descriptions[code] for code in chain if code in entity.descriptions), None)
    return {key: value for key, value in ((description, text), (sitelinks, entity.sitelinks)) if value}


LADDER = PromptKind(
    name="ladder", required=frozenset({"question", "answer"}), optional=frozenset({"about_question", "about_answer"})
)
AGAIN = PromptKind(name="again", required=frozenset(), optional=frozenset({"problem"}))
CONSISTENCY = PromptKind(
    name="consistency",
    required=frozenset({"question", "answer", "about_question", "about_answer"}),
    optional=frozenset({"subject"}),
)
KINDS = (LADDER, AGAIN, CONSISTENCY)
UNKNOWN = "not known"  # shown in a prompt for a missing description
SETS = ("paper", "guided")  # built as Yona et al. 2024 describe; our own, with whole ladders as examples


def read_prompts(chosen: Path | str | None = None) -> dict[str, Prompt]:
    """All prompts by name: from the set `chosen` (see `SETS`), or from a folder, completed by the default set.

    Raises PromptError.
    """
    with as_file(files("abstraction") / "phrasing" / "prompts") as bundled:
        prompts = load_prompts(KINDS, bundled, chosen, sets=SETS)
    if [turn.role for turn in prompts[AGAIN.name].turns] != ["user"]:
        where = f"{chosen}/again.txt" if chosen is not None else "again.txt"
        raise PromptError(f"{where}: it comes after other turns and must be a single [user] turn")
    return prompts


def slot_values(row: TieredRow) -> dict[str, str]:
    """The values for the slots question, answer, about_question and about_answer, from a row."""

    def description(key: str) -> str:
        text = row.extra.get(key)
        return text if isinstance(text, str) and text.strip() else UNKNOWN

    return {
        "question": row.question,
        "answer": "; ".join(row.answers),
        "about_question": description("question_entity_description"),
        "about_answer": description("answer_entity_description"),
    }


def read_tagged(reply: str, tag: str) -> str:
    """The text between <tag> and </tag>, of which there must be one pair. Raises ReplyError.

    Text from data has no angle brackets once it is in a prompt (`prompting.harmless`), so the pair is by the model
    even where it repeats data.
    """
    opened, closed = f"<{tag}>", f"</{tag}>"
    if reply.count(opened) != 1 or reply.count(closed) != 1:
        raise ReplyError(
            f"the reply must have {opened}...{closed} once: it has {reply.count(opened)} and {reply.count(closed)}"
        )
    before, _, behind = reply.partition(opened)
    if closed in before:
        raise ReplyError(f"{closed} stands before {opened} in the reply")
    return behind.partition(closed)[0].strip()


def read_list_in_tag(reply: str, tag: str) -> list[str]:
    """The items between <tag> and </tag>, one per line, all with a dash or all numbered from 1.

    Raises ReplyError for another line, and where there is no item.
    """
    lines = [line.strip() for line in read_tagged(reply, tag).splitlines() if line.strip()]
    dashed = [re.fullmatch(r"[-*•]\s+(\S.*)", line) for line in lines]
    numbered = [re.fullmatch(rf"{at}[.)]\s+(\S.*)", line) for at, line in enumerate(lines, start=1)]
    for matches in (dashed, numbered):
        items = [match[1] for match in matches if match]
        if items and len(items) == len(lines):
            return items
    raise ReplyError(f"<{tag}> must hold lines of '- item', or '1. item', '2. item' and so on")


def read_numbered_lines(reply: str) -> list[str]:
    """The items of lines such as `1:: item`, numbered from 1 without a gap.

    Lines without `::` may precede and follow them, but not interrupt them. Raises ReplyError.
    """
    lines = [line.strip().strip("`") for line in reply.splitlines() if line.strip()]
    matches = [re.fullmatch(r"(\d{1,3})\s{0,3}::\s{0,3}(\S.*)", line) for line in lines]
    places = [at for at, match in enumerate(matches) if match]
    items = [
        match[2]
        for at, match in enumerate((matches[place] for place in places), start=1)
        if match and int(match[1]) == at
    ]
    if not items or len(items) != len(places) or places[-1] - places[0] + 1 != len(places):
        raise ReplyError("the answers must stand on lines of '1:: answer', '2:: answer' and so on, without a gap")
    return items


def read_vote(reply: str) -> bool | None:
    """Whether the first word of a reply, after its thoughts, is yes rather than no; None for another word."""
    match = re.match(r"\W*(yes|no)\b", first_model_turn(without_thoughts_and_if_cut(reply)[0]), re.IGNORECASE)
    return match[1].lower() == "yes" if match else None


TAG = "answers"  # the tag around the answers in our own prompts
MOST_ANSWERS = 14  # most answers of a reply: the number of answer columns in GRANOLA-EQ
LONGEST_ANSWER = 200  # characters of one answer
_QUOTED = re.compile(r"\A(?:\"(.+)\"|“(.+)”|\*\*(.+)\*\*|'(.+)')\Z")


def final_text(reply: str) -> str:
    """A reply without thoughts and without tokens that mark turns. Raises ReplyError for an unfinished thought."""
    text, unfinished = without_thoughts_and_if_cut(reply)
    if unfinished and not text.strip():
        raise ReplyError("the reply ends in the midst of a thought")
    return first_model_turn(text)


def read_ladder(reply: str, names: Collection[str] = (), *, answer_first: bool = False) -> list[str]:
    """The coarser answers of a reply, finest first; [] where the reply is "none". Raises ReplyError.

    Both forms that the prompts ask for are read: with the tag `answers` around it or, for lines of `1:: answer`,
    without. The first of such lines is left out where it is one of the `names` of the given answer; some models begin
    with a coarser one. With `answer_first` it is always left out.
    """
    text = final_text(reply)
    inner = read_tagged(text, TAG) if f"<{TAG}>" in text else text
    if re.search(r"^\s{0,8}`?\d{1,3}\s{0,3}::", inner, re.MULTILINE) or (inner is text and "::" in text):
        items = [_clean_and_check_answer(item) for item in read_numbered_lines(inner)]
        # The given answer, alone or followed by more: `Hamburg`, `Hamburg, Germany`.
        first = (items[0], re.split(r"[,;(]", items[0])[0])
        if answer_first or any(is_variant_of_answer_name(text, names, person=False) for text in first):
            items = items[1:]
    else:
        items = [_clean_and_check_answer(item) for item in read_list_in_tag(text, TAG)]
    if [item.casefold().rstrip(".") for item in items] == ["none"]:
        return []
    if len(items) > MOST_ANSWERS:
        raise ReplyError(f"{len(items)} answers are too many: {MOST_ANSWERS} at most")
    return items


def _clean_and_check_answer(item: str) -> str:
    """One answer without quotation marks around it. Raises ReplyError for anything but a short text on one line."""
    match = _QUOTED.match(item.strip())
    # Models like to quote answers or set them in bold.
    text = (next(part for part in match.groups() if part) if match else item).strip()
    if len(text) > LONGEST_ANSWER:
        raise ReplyError(f"an answer of {len(text)} characters is too long: {LONGEST_ANSWER} at most")
    if re.search(r"[<>{}`]|\\n", text) or any(
        unicodedata.category(letter) in ("Cc", "Cs", "Cf", "Co") for letter in text
    ):
        raise ReplyError("an answer must be a plain text, without tags, braces or invisible characters")
    if not any(letter.isalnum() for letter in text):
        raise ReplyError("an answer without a word")
    return text


Mode = Literal["free", "paper"]
VERSION = 2  # of the processing of replies: part of the fingerprint, so that a change of rules is visible
NOTHING_LEFT, NONE_GIVEN = "nothing-left", "none-given"  # codes of the fallback in a row's note
SAMPLING = Sampling(max_tokens=512)  # more than MOST_ANSWERS short answers need


def kind_and_name_of_model(identity: Mapping[str, object]) -> str:
    """The name of a model in fingerprints, without its address."""
    named = identity.get("model") or str(identity.get("weights") or identity.get("sha256") or "")[:8]
    return f"{identity.get('kind')}:{named}"


class ModelPhraser:
    """Phrases the ladders of rows; an `abstraction.datasets.building.Phraser`.

    Mode "free": the model writes coarser answers from the question, the answer and their descriptions (Yona, Aharoni
    and Geva 2024, section 3.1); those that pass the checks are the ladder. A row without a readable reply, or without
    a text that passes, keeps the graph's ladder, and its note gives the reason. Mode "paper": the model's reply is the
    ladder, its first line the answer, unchecked and unmerged; a row without a reply has its answer only. Missing,
    repeated or trivial tiers are removed in cleaning, as in the paper. One reply is sampled per row.
    """

    def __init__(
        self,
        model: ChatModel,
        store: Store,
        *,
        mode: Mode = "free",
        prompts: Mapping[str, Prompt] | None = None,
        sampling: Sampling = SAMPLING,
        unproven: Unproven = "keep",
        language: str = "en",
    ) -> None:
        """Raises ValueError where `sampling` asks for several answers."""
        if sampling.n != 1:
            raise ValueError(f"n is {sampling.n}: one answer a row is phrased")
        self.model = model
        self.mode: Mode = mode
        self._prompts = read_prompts() if prompts is None else prompts
        self._sampling = sampling_of(model, sampling)
        self._unproven = unproven
        self._check = LadderCheck(store, unproven=unproven, language=language)

    @property
    def prompts_hash(self) -> str:
        """The hash of the prompts that are used."""
        return signature_of(self._prompts, LADDER, AGAIN)

    @property
    def settings(self) -> dict[str, object]:
        """Everything that the phrasing depends on, besides rows and snapshot."""
        return {
            "mode": self.mode,
            "model": dict(self.model.identity),
            "prompts": self.prompts_hash,
            "sampling": asdict(self._sampling),
            "unproven": self._unproven,
            "version": VERSION,
        }

    @property
    def fingerprint(self) -> str:
        """The model, the mode, the prompts' hash, and a hash of everything."""
        digest = hashlib.sha256(orjson.dumps(self.settings, option=orjson.OPT_SORT_KEYS)).hexdigest()[:8]
        return f"{kind_and_name_of_model(self.model.identity)} {self.mode} prompts:{self.prompts_hash} {digest}"

    def __call__(self, rows: Sequence[TieredRow], /) -> Sequence[TieredRow]:
        """The same rows in the same order, phrased."""
        return list(self.stream(rows))

    def stream(self, rows: Iterable[TieredRow], *, on_reject: OnReject | None = None) -> Iterator[TieredRow]:
        """Rows with the graph's ladder as phrased rows, in order; descriptions of their entities are looked up.

        Each has its whole note, see `abstraction.phrasing.checking`. A row on which the program fails goes to
        `on_reject`; without it the error is raised. Raises ModelError where all further requests would fail.
        """

        def read_reply(row: TieredRow, text: str) -> list[str]:
            """The reply, whose first line may be the answer: a gold answer, all as the prompt joins them, an alias."""
            names = {*row.answers, "; ".join(row.answers), *row.levels[0].names()}
            return read_ladder(text, names, answer_first=self.mode == "paper")

        asking = RequestForm(model=self.model, ask=self._request, read=read_reply, again=self._prompts[AGAIN.name])
        for row, outcome in asking.run(rows):
            phrased = attempt("phrasing", self._phrase_row, row, outcome) if outcome.fault is None else outcome.fault
            if not isinstance(phrased, Fault):
                yield phrased
            elif on_reject is not None:
                on_reject(phrased.rejected(source=row.source, id=row.id, text=row.question))
            elif phrased.cause is not None:
                raise phrased.cause

    def _request(self, row: TieredRow) -> Request:
        slots = slot_values(with_descriptions_and_sitelinks(row, self._check.graph))
        return Request(id=row.id, messages=self._prompts[LADDER.name].fill(slots), sampling=self._sampling)

    def _phrase_row(self, row: TieredRow, outcome: RequestOutcome[list[str]]) -> TieredRow:
        calls, texts = outcome.calls, outcome.value
        if self.mode == "paper":
            return _unchecked_row(row, outcome)
        if texts is None:
            return with_note(row, mode=self.mode, calls=calls, fallback=outcome.failed, why=outcome.why)
        if not texts:
            return with_note(row, mode=self.mode, calls=calls, fallback=NONE_GIVEN)
        checked = self._check.check(row, texts, call=calls[-1])
        phrased = replace(row, levels=checked.levels)
        if checked.has_model_texts:
            return with_note(replace(phrased, abstained=None), mode=self.mode, calls=calls, decisions=checked.decisions)
        left, why = NOTHING_LEFT, f"none of {len(texts)} answers passed the checks"
        return with_note(phrased, mode=self.mode, calls=calls, fallback=left, why=why, decisions=checked.decisions)


def _unchecked_row(row: TieredRow, outcome: RequestOutcome[list[str]]) -> TieredRow:
    """The row with the answers as the model wrote them, one level each; without a reply only the answer."""
    calls, texts = outcome.calls, outcome.value or []
    evidence = (Evidence(kind="model", call=calls[-1], check=str(CheckResult.UNCHECKED)),) if calls else ()
    levels = [Level(tiers=(Tier(text=text, evidence=evidence),)) for text in texts]
    kept = partial(TextDecision, finding=CheckResult.UNCHECKED, why="as the model wrote it", action=Action.KEPT)
    decisions = [kept(line=at, text=text, level=at) for at, text in enumerate(texts, 2)]
    left = "" if texts else outcome.failed or NONE_GIVEN
    written = replace(row, levels=(row.levels[0], *levels), abstained=None)
    return with_note(written, mode="paper", calls=calls, fallback=left, why=outcome.why, decisions=decisions)


SAMPLES = 10  # replies per row


class ConsistencyScorer:
    """Asks a yes/no question with examples, several times at temperature 1 (Yona, Aharoni and Geva 2024, appendix B).

    The score is the share, in [0, 1], of the readable replies that are no; 1 is the worst. A row without descriptions
    has none, nor one where more than half of the replies are neither yes nor no. An
    `abstraction.datasets.building.Scorer`.
    """

    def __init__(
        self, model: ChatModel, *, prompts: Mapping[str, Prompt] | None = None, samples: int = SAMPLES, seed: int = 0
    ) -> None:
        self.model = model
        self._prompts = read_prompts() if prompts is None else prompts
        self._sampling = sampling_of(model, Sampling(n=samples, temperature=1.0, max_tokens=64, seed=seed))

    @property
    def fingerprint(self) -> str:
        """The model, the number of samples, the prompt's hash, and a hash of everything."""
        prompts = signature_of(self._prompts, CONSISTENCY)
        how = self._sampling  # its seed and number of samples decide which replies are drawn
        # Settings in the model spec change its replies, so they are part of the fingerprint.
        told = getattr(self.model, "sampling", {})
        parts = [dict(self.model.identity), prompts, how.n, how.seed, *([dict(told)] if told else [])]
        settings = orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)
        digest = hashlib.sha256(settings).hexdigest()[:8]
        return f"{kind_and_name_of_model(self.model.identity)} {how.n} samples prompts:{prompts} {digest}"

    def __call__(self, rows: Sequence[TieredRow], /) -> Sequence[float | Failure | None]:
        """For each row its score, None where it has none, the Failure where the model could not be reached."""
        asked = {at: request for at, row in enumerate(rows) if (request := self._request(row)) is not None}
        scores: list[float | Failure | None] = [None] * len(rows)
        for at, result in zip(asked, self.model.generate(asked.values()), strict=True):
            if isinstance(result, Reply):
                scores[at] = share_of_no_votes([completion.text for completion in result.completions])
            else:
                scores[at] = result
        return scores

    def _request(self, row: TieredRow) -> Request | None:
        slots = slot_values(row)
        if slots["about_question"] == slots["about_answer"] == UNKNOWN:
            return None
        slots["subject"] = str((row.question_entity or {}).get("text") or UNKNOWN)
        return Request(id=row.id, messages=self._prompts[CONSISTENCY.name].fill(slots), sampling=self._sampling)


def share_of_no_votes(replies: Sequence[str]) -> float | None:
    """The share of no among the replies that are yes or no; None where those are less than half of all."""
    votes = [vote for vote in map(read_vote, replies) if vote is not None]
    if not votes or 2 * len(votes) < len(replies):
        return None
    return votes.count(False) / len(votes)
