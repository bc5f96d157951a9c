"""`granola mcp`: ladders, links and verdicts as tools that agents call."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Annotated

from granola.base.settings import Setting
from granola.commands.command import Command
from granola.commands.messages import warn_of_language
from granola.errors import UsageError
from granola.scoring.shared_settings import Language, check_language
from kg.base.packages import install_hint


@dataclass(frozen=True, kw_only=True)
class Mcp(Command[None]):
    """Serve ladders, links, verdicts and what guesses agree on as tools of the Model Context Protocol.

    An agent starts it and speaks to it over standard input and output; it ends with the agent.
    """

    prints = False

    snapshot: Annotated[
        str | None, Setting("The snapshot to link to and climb in; without one, the bundled sample.")
    ] = None
    language: Language = "en"

    def run(self) -> None:
        """Serve until the input ends. Raises UsageError without the SDK."""
        # Checked before a snapshot is built for nothing.
        if find_spec("mcp") is None:
            raise UsageError(f"granola mcp needs the protocol's SDK: {install_hint('mcp')}")
        from granola.service.agent_tools import tool_server
        from granola.shortcuts import snapshot

        check_language(self.language)
        with closing(snapshot(self.snapshot)) as store:
            warn_of_language(self.language, store)
            tool_server(store, language=self.language).run("stdio")
