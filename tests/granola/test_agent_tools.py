"""`granola mcp`: the tools as an agent calls them, by the protocol's own client over standard input and output."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from tests.command_line import run_granola

pytest.importorskip("mcp", reason="the protocol's SDK is not installed (pip install -e '.[mcp]')")
QUESTION = "Where was Barack Obama born?"


def called(*calls: tuple[str, dict[str, Any]]) -> tuple[list[str], list[Any]]:
    """The names of the tools, and what each call gives: its value, or the message of its error."""
    import anyio
    from mcp import Client, StdioServerParameters, stdio_client

    async def talk() -> tuple[list[str], list[Any]]:
        how = StdioServerParameters(command=sys.executable, args=["-m", "granola", "mcp"])
        async with Client(stdio_client(how)) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            results = []
            for name, arguments in calls:
                result = await client.call_tool(name, arguments)
                text = result.content[0].text
                results.append(text if result.is_error else json.loads(text))
            return tools, results

    return anyio.run(talk)


def test_an_agent_calls_every_tool() -> None:
    tools, (ladder, link, match, finest, bad, chosen, unlinked) = called(
        ("ladder", {"question": QUESTION, "answer": "Honolulu"}),
        ("link", {"name": "Honolulu", "question": QUESTION}),
        ("match", {"question": QUESTION, "answer": "Honolulu", "prediction": "somewhere in Hawaii"}),
        ("finest_supported", {"question": QUESTION, "guesses": ["Honolulu", "Hilo, Hawaii", "Honolulu County"]}),
        ("finest_supported", {"question": QUESTION, "guesses": []}),
        ("ladder", {"question": "Where is Harvard Law School?", "answer": "Cambridge", "qid": "Q49111"}),
        ("match", {"question": QUESTION, "answer": "Zzyzx", "prediction": "Hawaii"}),
    )
    assert tools == ["ladder", "link", "match", "finest_supported"]
    texts = [level[0]["text"] for level in ladder["levels"]]
    assert (texts[0], texts[-1]) == ("Honolulu", "United States")
    assert "located in the administrative territorial entity" in ladder["levels"][1][0]["evidence"][0]
    assert (link["meant"], link["may_mean"][0][:15]) == ("Q18094", "Q18094 Honolulu")
    assert (match["level"], match["says"]) == (texts.index("Hawaii") + 1, "Hawaii")
    assert match["no_coarser_answer"] is None
    assert unlinked["no_coarser_answer"].startswith("no-link: ")
    assert finest["answer"] == "Honolulu County"  # which two of three say
    assert "0 guesses; expected 1 to 100" in bad
    assert chosen["levels"][-1][0]["text"] == "North America"


def test_a_snapshot_that_is_not_there_is_told() -> None:
    done = run_granola("mcp", "--snapshot", "none.sqlite")
    assert done.returncode == 2
    assert "no such file: none.sqlite" in done.stderr
