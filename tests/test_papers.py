"""What the papers report and which command gives it: every command and option in the table exists."""

from __future__ import annotations

import shlex
from pathlib import Path

from granola.commands.command_list import VERBS, command_class
from granola.evidence.paper_claims import PaperClaim, claims_in_markdown, read_claims
from granola.evidence.task_list import FIGURES, TABLES
from granola.grounding.sample_statistics import QUESTION_FIGURES
from granola.settings import settings_of

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "reference" / "papers.md"


def check(claim: PaperClaim) -> None:
    program, *words = shlex.split(claim.command)
    assert program == "granola", claim
    verb = next(known for known in (" ".join(words[:2]), words[0]) if known in VERBS)
    settings = {one.setting.name(one.field): one for one in settings_of(command_class(verb))}
    for at, word in enumerate(words):
        if not word.startswith("--"):
            continue
        assert word in settings, (claim.command, word)
        value = words[at + 1] if at + 1 < len(words) else ""
        if word == "--table":
            assert value in TABLES, claim.command
        if word == "--figure" and verb == "draw":
            assert value in {*FIGURES, *QUESTION_FIGURES}, claim.command


def test_every_command_of_the_table_exists() -> None:
    claims = read_claims()
    assert len({claim.paper for claim in claims}) == 4
    for claim in claims:
        if claim.command:
            check(claim)
        else:
            assert claim.standing == "not possible", claim
            assert claim.why, claim


def test_the_document_has_the_table() -> None:
    assert DOCUMENT.read_text(encoding="utf-8").endswith("\n".join(claims_in_markdown()).lstrip("\n") + "\n")
