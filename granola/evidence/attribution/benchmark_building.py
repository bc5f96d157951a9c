"""From logical queries to samples: ground, extend, edit, prove, word. No model is used."""

from __future__ import annotations

import json
import random
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from abstraction.base.faults import RejectedRow
from abstraction.files.writing import write_records
from granola.evidence.attribution.attribution_task import LABELS, AttributionSample, Category, Complexity, NoSampleError
from granola.evidence.attribution.sample_queries import (
    EvidenceEditor,
    Extension,
    QueryExtender,
    SourcedQuery,
    branch_facts,
    reason_unproven,
    unique_facts,
)
from granola.evidence.attribution.sample_texts import CLASS, FactWording, RelationValues, states_name, wording_templates
from kg.base.files import sha256_of
from kg.errors import GroundingError
from kg.graph.logical_query import Grounding, Hop, LogicalQuery, Shape, StoreFacts, ground_all
from kg.graph.query_mining import english_label

COMPLEXITY = {
    Shape.SINGLE: Complexity.SINGLE,
    Shape.PATH: Complexity.CONCATENATION,
    Shape.TREE: Complexity.INTERSECTION,
    Shape.UNION: Complexity.UNION,
}
PAPER_COUNTS: Mapping[str, tuple[int, int, int]] = LABELS["table_4"]  # training, testing, all
# Shares of all samples in Table 4, by category and by complexity.
PAPER_SHARES = {one: counts[2] / PAPER_COUNTS["all"][2] for one, counts in PAPER_COUNTS.items() if one != "all"}
LEFT_OUT, DROPPED = "query left out: ", "sample dropped: "  # prefixes of the keys of `counts`; a reason follows
_MOST_ANSWERS = 3  # of a query
_PARTIAL_FACTOR = 1.3  # chosen so that the number of names or words does not reveal the category
WITHIN = 0.015  # tolerated difference from each share of Table 4
_BATCH = 512  # queries per batch: few reads of the store, and little memory


class CategoryShares(StrEnum):
    """The shares of categories in a benchmark.

    PAPER: those of Table 4, with single triples, which are never partially supportive, treated apart. Complexities
    follow Table 4 too; surplus samples are removed at the end (`subset_in_paper_shares`). ALL: one sample of every
    possible category per query.
    """

    PAPER = "paper"
    ALL = "all"


_GroundedQuery = tuple[SourcedQuery, Extension, Grounding]  # a query, possibly extended, with its answers


class SampleMaker:
    """Makes samples from queries over a store. `extend`: make queries more complex first.

    Each query gets the category with the largest deficit among samples of the same complexity; if its edit is
    impossible or its label cannot be proved, the next category is tried. `counts` has the numbers of queries and
    samples, of skipped ones by reason, and of extensions by kind.
    """

    def __init__(
        self, facts: StoreFacts, *, seed: int = 0, shares: CategoryShares = CategoryShares.PAPER, extend: bool = True
    ) -> None:
        self._seed, self._shares = seed, shares
        self.counts = Counter[str]()
        self._facts = facts
        self._words = FactWording(facts)
        values = RelationValues(facts)
        self._editor = EvidenceEditor(facts, values)
        self._extender = QueryExtender(facts, values) if extend else None
        self._made: Counter[tuple[Shape, Category]] = Counter()

    def samples(self, queries: Iterable[SourcedQuery]) -> Iterator[AttributionSample]:
        """The samples of queries, in order."""
        source = iter(queries)
        while batch := list(islice(source, _BATCH)):
            self.counts["queries"] += len(batch)
            ready = self._ground_and_filter([(sourced, Extension.NONE, sourced.query) for sourced in batch])
            for one in ready if self._extender is None else self._extend_at_random(ready, self._extender):
                yield from self._samples_in_wanted_categories(*one)

    def _extend_at_random(self, ready: Sequence[_GroundedQuery], extender: QueryExtender) -> list[_GroundedQuery]:
        """Extend the queries; those that changed are grounded again."""
        found: dict[str, _GroundedQuery] = {}
        changed = []
        for sourced, extension, grounding in ready:
            option, query = extender.extend(grounding, self._random_generator_for(sourced, "extend"))
            impossible = query is None and option is not Extension.NONE
            self.counts[f"extension {option}{', impossible' if impossible else ''}"] += 1
            if query is None:
                found[sourced.id] = sourced, extension, grounding
            else:
                changed.append((sourced, option, query))
        found.update((one[0].id, one) for one in self._ground_and_filter(changed))
        return [found[sourced.id] for sourced, *_ in ready if sourced.id in found]

    def _random_generator_for(self, sourced: SourcedQuery, purpose: str) -> random.Random:
        return random.Random(f"{self._seed} {purpose} {sourced.id}")

    def _ground_and_filter(
        self, queries: Sequence[tuple[SourcedQuery, Extension, LogicalQuery]]
    ) -> list[_GroundedQuery]:
        """Ground queries, and keep those that have answers with names, but no more than `_MOST_ANSWERS`."""
        ready = []
        groundings = ground_all((query for *_, query in queries), self._facts)
        for (sourced, extension, _), (_, grounding) in zip(queries, groundings, strict=True):
            if isinstance(grounding, GroundingError):
                self.counts[f"{LEFT_OUT}it leads to too many entities"] += 1
            elif reason := self._reason_to_leave_out_or_empty(sourced, grounding, extension):
                self.counts[f"{LEFT_OUT}{reason}"] += 1
            else:
                ready.append((sourced, extension, grounding))
        return ready

    def _reason_to_leave_out_or_empty(self, sourced: SourcedQuery, grounding: Grounding, extension: Extension) -> str:
        """The reason why a query gives no samples; empty where it gives some."""
        if not grounding.answers:
            return "no answer in the graph"
        # A union with an empty branch would be proved by the other branch alone.
        ways = [grounding.ways[answer] for answer in grounding.answers]
        if grounding.query.union and not all(map(any, zip(*ways, strict=True))):
            return "a branch of a union has no answer"
        # A reflexive fact gives its own subject as the answer.
        if any(fact.subject == fact.object for fact in grounding.facts()):
            return "a fact leads to itself"
        if len(grounding.answers) > _MOST_ANSWERS:
            return f"more than {_MOST_ANSWERS} answers"
        # WikiData may have changed since the source was published.
        if sourced.gold and extension is Extension.NONE and not set(sourced.gold) & set(grounding.answers):
            return "the graph has another answer than the row"
        return ""

    def _samples_in_wanted_categories(
        self, sourced: SourcedQuery, extension: Extension, grounding: Grounding
    ) -> Iterator[AttributionSample]:
        shape = grounding.query.shape
        try:
            display_names = self._words.distinct_names_of_namesakes(grounding.query)
            worded = self._sample_without_citations(sourced, extension, grounding, display_names)
        except NoSampleError as error:
            self.counts[f"{LEFT_OUT}{error}"] += 1
            return
        drawing = self._random_generator_for(sourced, "category")
        for category in self._categories_to_try(shape, drawing, several=len(grounding.answers) > 1):
            try:
                groups = self._editor.evidence_for_category(category, grounding, drawing)
                if reason := reason_unproven(category, grounding, groups, self._facts):
                    raise NoSampleError(reason)
                stated = tuple(self._words.with_sentence(fact, display_names) for fact in unique_facts(groups))
                order = list(range(len(stated)))
                # Shuffled, or else the first citation would always be about the first subject.
                self._random_generator_for(sourced, "order").shuffle(order)
                citations = tuple(stated[at].text for at in order)
                # "New York" contains "York": a reader would find the answer although the label excludes it.
                hidden = category in (Category.CONTRADICTORY, Category.IRRELEVANT) and not grounding.query.union
                if hidden and any(states_name(text, answer) for text in citations for answer in worded.answer):
                    raise NoSampleError("the citations contain the answer's name")
            except NoSampleError as error:
                self.counts[f"{DROPPED}{category}: {error}"] += 1
                continue
            self.counts["samples"] += 1
            self._made[shape, category] += 1
            own = {"id": f"{worded.id}-{category[:3]}", "category": category, "citations": citations}
            yield worded.model_copy(update={**own, "evidence": stated, "cited": tuple((at,) for at in order)})
            if self._shares is not CategoryShares.ALL:
                return

    def _categories_to_try(self, shape: Shape, drawing: random.Random, *, several: bool) -> list[Category]:
        """The possible categories in the order in which to try them: the largest deficit first.

        For paths with several answers, PARTIAL is preferred: the fact cut there is the last one, which leaves all
        names of the question in place.
        """
        possible = [category for category in Category if category is not Category.PARTIAL or shape is not Shape.SINGLE]
        if self._shares is CategoryShares.ALL:
            return possible
        # Random order breaks ties between equal deficits; the sort below is stable.
        drawing.shuffle(possible)
        weights = {one: _paper_share(one, COMPLEXITY[shape]) for one in possible}
        if several and shape is Shape.PATH:
            weights[Category.PARTIAL] *= _PARTIAL_FACTOR
        return sorted(possible, key=lambda category: self._made[shape, category] / weights[category])

    def _sample_without_citations(
        self, sourced: SourcedQuery, extension: Extension, grounding: Grounding, display_names: Mapping[str, str]
    ) -> AttributionSample:
        """The sample without category and citations. Raises NoSampleError."""
        query, words = grounding.query, self._words
        # The question templates expect a proper name as subject.
        if sourced.question is None and any(words.english_label(start)[:1].islower() for start in query.named_entities):
            raise NoSampleError("a common noun in the place of a name")
        for branch in query.branches:
            kinds = self._facts.targets(branch.start, Hop(property=CLASS)) if len(branch.hops) == 1 else ()
            # "unlike" is the class of subjects for which the question of the relation sounds unnatural.
            if wording_templates(branch.hops[0].property).get("unlike") in kinds:
                raise NoSampleError("the question of the relation does not suit the class of its subject")
        facts = unique_facts(branch_facts(grounding))
        nodes = list(dict.fromkeys(node for fact in facts for node in (fact.subject, fact.object)))
        # Two entities of one name would make the citations ambiguous.
        if len({(display_names.get(node) or words.english_label(node)).casefold() for node in nodes}) < len(nodes):
            raise NoSampleError("two entities of a sample have one name")
        asked = sourced.question and words.extend_question(sourced.question, sourced.query, query)
        question, answers = asked or words.question(query), tuple(map(words.english_label, grounding.answers))
        # A question that contains its answer can be answered without evidence.
        if any(states_name(question, answer) for answer in answers):
            raise NoSampleError("the question names the answer")
        return AttributionSample(
            id=sourced.id,
            question=question,
            statement=words.statement(grounding, display_names),
            citations=(),
            complexity=COMPLEXITY[query.shape],
            answer=answers,
            answer_qids=grounding.answers,
            query=query.to_json(),
            subgraph=tuple(words.with_sentence(fact, display_names) for fact in facts),
            # Enough to find the source row again.
            provenance={
                "source": sourced.source, "row": sourced.id, "extension": str(extension),
                "original_question": sourced.question,
            },
        )  # fmt: skip


def _paper_share(category: Category, complexity: Complexity) -> float:
    """The share of a category among samples of a complexity; 0 for PARTIAL among single triples."""
    shares = PAPER_SHARES
    # Single triples are never partial, so the other complexities need a larger share of partial samples.
    partial = 0.0 if complexity is Complexity.SINGLE else shares[Category.PARTIAL] / (1 - shares[Complexity.SINGLE])
    # The other categories divide the remaining share in the proportions of the paper.
    others = (1 - partial) * shares[category] / (1 - shares[Category.PARTIAL])
    return partial if category is Category.PARTIAL else others


def subset_in_paper_shares(samples: Sequence[AttributionSample], *, seed: int = 0) -> list[AttributionSample]:
    """The largest subset of samples, in order, with the shares of Table 4 for categories and complexities.

    Each share differs from the paper's by at most `WITHIN`, or by as little as the samples allow.
    """
    cells: dict[tuple[Category, Complexity], list[int]] = {}
    for at, sample in enumerate(samples):
        if sample.category is not None and sample.complexity is not None:
            cells.setdefault((sample.category, sample.complexity), []).append(at)
    wanted = {(a, b): PAPER_SHARES[b] * _paper_share(a, b) for a in Category for b in Complexity}
    number = len(samples)
    while True:
        kept = {cell: min(len(cells.get(cell, ())), round(number * share)) for cell, share in wanted.items()}
        whole = sum(kept.values()) or 1
        sums = {one: sum(n for cell, n in kept.items() if one in cell) for one in PAPER_SHARES}
        far = max(abs(sums[one] / whole - share) for one, share in PAPER_SHARES.items())
        # Below 100 samples the shares cannot be met by rounding.
        if far <= WITHIN or number < 100:
            break
        # The size shrinks in steps of 2 %, so the result is within 2 % of the largest feasible size.
        number = int(number * 0.98)
    chosen: set[int] = set()
    for cell, n in kept.items():
        chosen.update(random.Random(f"shares {seed} {cell}").sample(cells.get(cell, []), n))
    return [sample for at, sample in enumerate(samples) if at in chosen]


BIN = 5  # words: bin width of the histogram of lengths
DOMAINS = 15  # classes listed by name; the others are summed
TRAIN, TEST = "train", "test"


def start_entities(sample: AttributionSample) -> Iterator[str]:
    """The entities from which a sample's query starts, in its order."""
    return (branch["start"] for branch in (sample.query or {}).get("branches", ()))


def split_by_subject(
    samples: Sequence[AttributionSample], *, test: float, seed: int
) -> dict[str, list[AttributionSample]]:
    """Split samples into training and test sets that share no subject. The paper gives no rule for its split.

    Subjects that occur in the same sample form a group (connected components); groups are drawn at random until their
    samples reach the share `test`.
    """
    import networkx

    graph: Any = networkx.Graph()
    for sample in samples:
        # Samples that share a subject must not be in both sets, or an evaluator could memorise facts.
        networkx.add_path(graph, start_entities(sample))
    group_of = {one: at for at, group in enumerate(networkx.connected_components(graph)) for one in group}
    sizes = Counter(group_of[next(start_entities(sample))] for sample in samples)
    groups, lacking = sorted(sizes), test * len(samples)
    # The generator is local and named: the split depends on the seed alone.
    random.Random(f"split {seed}").shuffle(groups)
    tests: set[int] = set()
    for group in groups:
        if sizes[group] <= lacking:
            tests.add(group)
            lacking -= sizes[group]
    sides: dict[str, list[AttributionSample]] = {TRAIN: [], TEST: []}
    for sample in samples:
        sides[TEST if group_of[next(start_entities(sample))] in tests else TRAIN].append(sample)
    return sides


def count_by_label(samples: Iterable[AttributionSample]) -> dict[str, int]:
    """The number of samples: all, by category and by complexity, with the keys of `PAPER_COUNTS`. Table 4."""
    tally = Counter(str(key) for sample in samples for key in ("all", sample.category, sample.complexity))
    return {str(key): tally[key] for key in PAPER_COUNTS}


def count_by_citation_words(samples: Iterable[AttributionSample]) -> dict[int, int]:
    """The histogram of citation lengths: samples by words in all citations, in bins of `BIN`, keyed by the lower end.
    Figures 3, 4.
    """
    number_of = Counter(sum(len(citation.split()) for citation in sample.citations) // BIN * BIN for sample in samples)
    return dict(sorted(number_of.items()))


def count_by_subject_class(samples: Iterable[AttributionSample], facts: StoreFacts) -> dict[str, int]:
    """The number of questions by the class of their start entity, most frequent first; the remainder as "other".
    Figure 5.
    """
    kinds = (facts.targets(next(start_entities(sample)), Hop(property=CLASS)) for sample in samples if sample.query)
    tally = Counter((own and english_label(facts.entity(own[0]))) or "without a class" for own in kinds)
    most = dict(tally.most_common(DOMAINS))
    others = tally.total() - sum(most.values())
    return {**most, **({"other": others} if others else {})}


def write_benchmark(
    out: Path,
    samples_by_split: Mapping[str, Sequence[AttributionSample]],
    *,
    facts: StoreFacts,
    outcomes: Mapping[str, int],
    origin: Mapping[str, str],
    wording: str,
    rejected: Sequence[RejectedRow] = (),
) -> dict[str, Any]:
    """Write the folder atomically, replacing an earlier one; return its statistics.

    `outcomes`: numbers of queries and samples by outcome. `origin`: snapshot, command and version, for the card.
    """
    # Imported late: they load all that makes ladders, which --help need not wait for.
    from abstraction.datasets.building import RECORD
    from abstraction.datasets.card import markdown_table

    sides = {side: samples for side, samples in samples_by_split.items() if samples}
    # In the same directory, because a rename must not cross file systems.
    with tempfile.TemporaryDirectory(dir=out.absolute().parent, prefix=f".{out.name}-") as work:
        final = Path(work) / "final"
        (final / "data").mkdir(parents=True)
        data = {}
        for side, samples in sides.items():
            path = f"data/{side}.jsonl"
            write_records((sample.to_json() for sample in samples), final / path, format="jsonl")
            data[side] = {"path": path, "sha256": sha256_of(final / path)}
        tallies = {side: count_by_label(samples) for side, samples in sides.items()}
        summary: dict[str, Any] = {
            "counts": tallies,
            "citation_words": {side: count_by_citation_words(samples) for side, samples in sides.items()},
            "domains": {side: count_by_subject_class(samples, facts) for side, samples in sides.items()},
        }
        # The layout of Table 4.
        whole = sum((Counter(tally) for tally in tallies.values()), Counter[str]())
        rows = [
            (key, *(f"{tally[key]:,}" for tally in tallies.values()), f"{whole[key]:,}",
             f"{whole[key] / whole['all']:.1%}", f"{theirs / PAPER_COUNTS['all'][2]:.1%}")
            for key, (_, _, theirs) in PAPER_COUNTS.items()
        ]  # fmt: skip
        card = (files("granola") / "evidence" / "attribution" / "data" / "card.md").read_text(encoding="utf-8")
        text = card.format(
            name=json.dumps(out.name, ensure_ascii=False), title=out.name, wording=wording,
            table=markdown_table(("", *tallies, "all", "share", "in the paper"), rows),
            files="\n".join(f"  - split: {side}\n    path: data/{side}.jsonl" for side in sides),
            built=markdown_table(("number", "what"), [(n, what) for what, n in outcomes.items()]),
            made=markdown_table(("", ""), [(key, f"`{value}`") for key, value in origin.items()]),
        )  # fmt: skip
        (final / "README.md").write_text(text, encoding="utf-8")
        if rejected:
            write_records((row.to_json() for row in rejected), final / "rejected.jsonl", format="jsonl")
        record = {
            "schema_version": 2,
            "made": dict(origin),
            "built": dict(outcomes),
            "statistics": summary,
            "data": data,
        }
        (final / RECORD).write_bytes(orjson.dumps(record, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS))
        # Rename instead of delete: an interrupted run leaves the old folder or the new one.
        if out.exists():
            out.rename(Path(work) / "replaced")
        final.rename(out)
    return summary
