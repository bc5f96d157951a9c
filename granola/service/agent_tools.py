"""Tools for agents by the Model Context Protocol: ladders, links, verdicts, and the finest supported answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

from abstraction.base.tiers import REASONS, Tier
from abstraction.errors import RowError
from abstraction.files.rows import TieredRow
from abstraction.linking.review import Reviewer
from abstraction.text.questions.question_wording import read_relation_wording, subject_of
from granola import __version__
from granola.decoding.methods import rule_of
from granola.decoding.response_aggregation import Aggregator
from granola.decoding.samples import SampleRow
from granola.report.ladder_view import evidence_line
from granola.shortcuts import ladder, match
from kg.errors import ForeseenError
from kg.store.protocol import Store

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

INSTRUCTIONS = (
    "A factual answer is right at several granularities: 'August 4, 1961', 'August 1961' and '1961' all say when "
    "Barack Obama was born. A ladder is the ordered list of such answers, finest first, each with facts of WikiData "
    "that entail it. Use `ladder` for coarser answers that are right as well, `link` for the items that a name may "
    "mean, `match` for the level that a prediction states, and `finest_supported` before answering: give it several "
    "independent guesses of yours, and it says how fine an answer they agree on."
)
Tool = Callable[..., Awaitable[dict[str, Any]]]
MOST_GUESSES, MOST_FOUND = 100, 10  # guesses that are accepted; items of a name that are listed


def tool_server(store: Store, *, language: str = "en") -> MCPServer[Any]:
    """The server with its tools, over one snapshot. Tools run one at a time, in the thread of their loop."""
    from mcp.server.mcpserver import MCPServer

    server: MCPServer[Any] = MCPServer("granola", version=__version__, instructions=INSTRUCTIONS)
    tools = AgentTools(store, language)
    for tool in (tools.ladder, tools.link, tools.match, tools.finest_supported):
        server.tool(structured_output=True)(_reporting_errors(tool))
    return server


def _reporting_errors(tool: Tool) -> Tool:
    """Wrap a tool so that an agent gets the reason of an expected error; other errors only say that the tool failed."""
    from mcp.server.mcpserver.exceptions import ToolError

    @wraps(tool)
    async def run(*given: Any, **named: Any) -> dict[str, Any]:
        try:
            return await tool(*given, **named)
        # Only expected errors have a message that helps an agent.
        except ForeseenError as error:
            raise ToolError(str(error)) from error

    return run


class AgentTools:
    """The tools that agents call; arguments and results are plain values. Unusable arguments raise an error with the
    reason.
    """

    def __init__(self, store: Store, language: str) -> None:
        self._store, self._language = store, language
        self._reviewer = Reviewer(store, language=language)
        self._aggregator = Aggregator(store, language=language)

    def _ladder_row(self, question: str, answer: str, qid: str | None = None) -> TieredRow:
        return ladder(question, answer, self._store, answer_qid=qid, language=self._language)

    async def ladder(self, question: str, answer: str, qid: str | None = None) -> dict[str, Any]:
        """The answer and ever coarser ones that are right as well, finest first, each with what entails it.

        Give the answer's item as `qid` (such as Q90, from `link`) where its name may mean several.
        """
        row = self._ladder_row(question, answer, qid)

        def tier_as_json(tier: Tier) -> dict[str, Any]:
            evidence = [evidence_line(step) for step in tier.evidence]
            return {"text": tier.text, "qid": tier.qid, "bits": tier.bits, "evidence": evidence}

        levels = [[tier_as_json(tier) for tier in level.tiers] for level in row.levels]
        return {"levels": levels, "no_coarser_answer": _abstention_in_words(row)}

    async def link(self, name: str, question: str | None = None) -> dict[str, Any]:
        """The items of WikiData that a name may mean; with the question that it answers, what it means there."""
        found = self._store.find([name]).get(name, [])
        # Properties may have the name, too, but are no answers.
        ids = list(dict.fromkeys(match.id for match in found if match.id.startswith("Q")))[:MOST_FOUND]
        # Without an item of that name there is nothing to link.
        meant = self._ladder_row(question, name).links[0] if question and ids else {}
        return {
            "meant": meant.get("qid"),
            "confidence": meant.get("confidence"),
            "may_mean": [self._reviewer.describe_item(qid) for qid in ids],
        }

    async def match(self, question: str, answer: str, prediction: str, qid: str | None = None) -> dict[str, Any]:
        """Which level of the answer's ladder a prediction states: 1 is as fine as the answer, null is none of them.

        `qid` as for `ladder`. Where `no_coarser_answer` says why there is one level alone, a coarser prediction that
        is right is null too.
        """
        row = self._ladder_row(question, answer, qid)
        verdict = match(prediction, row)
        level = None if verdict.level is None else row.levels[verdict.level - 1].tiers[0].text
        told = {"level": verdict.level, "of_levels": len(row.levels), "says": level, "rule": verdict.rule}
        return {**told, "no_coarser_answer": _abstention_in_words(row)}

    async def finest_supported(self, question: str, guesses: list[str]) -> dict[str, Any]:
        """How fine an answer several guesses agree on: give guesses made independently, wrong ones included.

        Guesses that differ in the town and agree in the country give the country; `answer` is IDK where they share
        nothing.
        """
        if not 1 <= len(guesses) <= MOST_GUESSES:
            raise RowError(f"{len(guesses)} guesses; expected 1 to {MOST_GUESSES}")
        relation = read_relation_wording(question, self._language).relation
        subject = subject_of(question, relation, self._language) if relation else None
        row = SampleRow(id="1", question=question, samples=tuple(guesses), relation=relation, subject_text=subject)
        method = rule_of("drag-graph")
        assert method is not None
        ((_, decision),) = self._aggregator.decide([row], method)
        told = decision.to_json()
        return {"answer": told["prediction"], **{k: told.get(k) for k in ("support", "bits", "qid", "explanation")}}


def _abstention_in_words(row: TieredRow) -> str | None:
    """The reason, in words, why the row has no coarser answer; None where it has one."""
    return f"{row.abstained}: {REASONS.get(row.abstained, '')}" if row.abstained else None
