"""The reference of the command line, docs/reference/commands.md, from what the commands say of themselves.

    python scripts/command_docs.py

Help, options, defaults and bounds are those of `granola.commands`, so the page says what `--help` says. A test
fails where the page is not current; this writes it anew.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path

from granola.base.settings import DeclaredSetting, settings_of
from granola.commands.command_list import VERBS, command_class

SHARED = 2  # commands from which on an option stands in the table of shared ones, once
PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "commands.md"
HEAD = """# Commands

Every command with its options, as its own help prints them. `python scripts/command_docs.py` writes this
page; to change a line, change the help in `granola/commands/`.

All commands work alike:

- Data goes to standard output, everything else to standard error. `-` stands for standard input or standard output.
- The exit status is 0 when all is well, 1 when some rows were rejected or a check failed, and 2 for wrong usage or
  unusable input.
- A rejected row does not stop a run. It is listed with its file, line and reason in `OUT.rejects.jsonl`.
- A file appears under its final name only when it is complete. No output is replaced without `--force`,
  and none is written by two commands at once: the second is refused.
- Where a text in CSV begins with a sign that a spreadsheet takes for a formula, a `'` stands before it;
  with the environment variable `GRANOLA_CSV_RAW=1` it does not.
- `--json` prints the result of any command as one JSON object, in the place of its tables and sentences; only `serve`
  and `mcp` have no result. Where rows go to standard output, it goes to standard error.
- `OUT.run.json` beside an output records how it was made: see [file formats](file-formats.md#run-records).
"""


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


def page() -> str:
    """The whole page."""
    lines = [HEAD, "| command | what it does |\n|---|---|"]
    commands = {f"granola {verb}": command_class(verb) for verb in VERBS}
    lines += [f"| [`{title}`](#{title.replace(' ', '-')}) | {_first_line(one)} |" for title, one in commands.items()]
    rows = Counter((_named(one), _row(one)) for command in commands.values() for one in settings_of(command))
    usual = {named: row for (named, row), times in reversed(rows.most_common()) if times >= SHARED}
    shared = set(usual.values())
    lines += ["", "## Shared options", "", "Sections of commands name these without repeating them.", ""]
    lines += ["| option | meaning |\n|---|---|", *sorted(shared)]
    for title, command in commands.items():
        lines += ["", f"## {title}", "", *_section(title, command, shared)]
    return "\n".join(lines) + "\n"


def _first_line(command: type) -> str:
    return _cell((inspect.getdoc(command) or "").partition("\n\n")[0])


def _section(title: str, command: type, shared: Collection[str]) -> Iterator[str]:
    settings = settings_of(command)
    positional = [one for one in settings if one.setting.positional]
    usage = " ".join([title, *map(_usage, positional), "[OPTIONS]"])
    yield f"```text\n{usage}\n```"
    yield ""
    yield " ".join((inspect.getdoc(command) or "").replace("\n\n", "\0").split("\n")).replace("\0", "\n\n")
    own = [one for one in settings if _row(one) not in shared]
    usual = [one for one in own if not one.setting.advanced]
    for heading, these in (("option", usual), ("rarely needed", [one for one in own if one.setting.advanced])):
        if these:
            yield ""
            yield f"| {heading} | meaning |\n|---|---|"
            yield from map(_row, these)
    if others := [_named(one) for one in settings if _row(one) in shared]:
        yield ""
        yield f"Shared: {', '.join(others)}."


def _row(one: DeclaredSetting) -> str:
    return f"| {_named(one)} | {_meaning(one)} |"


def _usage(one: DeclaredSetting) -> str:
    name = one.setting.command_line_name(one.field)
    name += "..." if one.many and not name.endswith("...") else ""
    return name if one.default is ... else f"[{name}]"


def _named(one: DeclaredSetting) -> str:
    setting = one.setting
    if setting.positional:
        return f"`{setting.command_line_name(one.field)}`"
    names = (setting.flag or setting.command_line_name(one.field)).split("/")
    value = "" if one.type is bool else f" {setting.metavar or _placeholder(one)}"
    return ", ".join(f"`{_cell(name + value)}`" for name in (*names, *([setting.short] if setting.short else [])))


def _placeholder(one: DeclaredSetting) -> str:
    if one.choices:
        return "WORD"
    return "PATH" if issubclass(one.type, Path) else "N" if issubclass(one.type, int | float) else "TEXT"


def _meaning(one: DeclaredSetting) -> str:
    parts = [one.setting.help.strip()]
    if one.choices:
        parts.append("One of " + ", ".join(f"`{word}`" for word in one.choices) + ".")
    if one.many and not one.setting.positional and "repeat" not in one.setting.help:
        parts.append("May be repeated.")
    if one.default is ...:
        parts.append("Required.")
    elif (shown := _default(one)) and "efault" not in one.setting.help:
        parts.append(f"Default: {shown}.")
    return _cell(" ".join(parts))


def _default(one: DeclaredSetting) -> str:
    """The default as the help shows it; empty where there is nothing to say."""
    if one.default in (None, (), "") or one.default is False:
        return ""
    if one.default is True:
        return "on"
    values = one.default if isinstance(one.default, tuple) else (one.default,)
    return ", ".join(f"`{value}`" for value in values)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    main()
