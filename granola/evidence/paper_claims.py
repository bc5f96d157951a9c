"""What the papers report, the command that gives it here, and how far; a test holds it against the commands."""

from __future__ import annotations

from importlib.resources import files
from typing import Literal

from pydantic import BaseModel, TypeAdapter


class PaperClaim(BaseModel):
    """A figure, table or procedure of a paper.

    `command` is a command line with words in capitals for files and models, "" where there is none; `why` says what is
    otherwise, or what the paper leaves open.
    """

    paper: str
    reports: str
    command: str
    standing: Literal["same", "better", "not possible"]
    why: str


def read_claims() -> list[PaperClaim]:
    """All of them, paper by paper."""
    data = (files("granola") / "evidence" / "data" / "papers.json").read_bytes()
    return TypeAdapter(list[PaperClaim]).validate_json(data)


def claims_in_markdown() -> list[str]:
    """A table for each paper, as docs/reference/papers.md has it."""
    lines: list[str] = []
    paper = ""
    for claim in read_claims():
        if claim.paper != paper:
            paper = claim.paper
            lines += ["", f"## {paper}", "", "| reports | command | here | why |", "|---|---|---|---|"]
        command = f"`{claim.command}`" if claim.command else ""
        lines.append(f"| {claim.reports} | {command} | {claim.standing} | {claim.why} |")
    return lines
