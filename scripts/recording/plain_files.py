"""A record without what tells when, where and by which code it was made, as files that `diff` compares."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from recording.recorder import Recorder

_UNREADABLE = (".png", ".pdf", ".sqlite")
_TIMELESS = (
    (re.compile(r"\bv:[0-9a-f]{8}\b"), "v:*"),
    (re.compile(r"\bversion:\d+\.\d+\.\d+\w*"), "version:*"),
    (re.compile(r"(granola(?:-ladders)?) \d+\.\d+\.\d+\w*"), r"\1 *"),
    (re.compile(r'("(?:version|granola-version|software)": ?")[^"]*"'), r'\1*"'),
    (re.compile(r'(\brules"?:? "?)[0-9a-f]{12}\b'), r"\1*"),  # of the code that makes ladders
    (re.compile(r" --[a-z-]+ None\b"), ""),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:\+00:00|Z(?=</dc))"), "TIME"),
    (re.compile(r"\b\d+(?:\.\d+)? (?:s|seconds)\b(?=[,.;)]|$)", re.MULTILINE), "DURATION"),
)


def make_plain(recorder: Recorder) -> None:
    """Rewrite the files of a part so that two records differ only where what they say does."""
    for path in sorted(filter(Path.is_file, recorder.folder.rglob("*"))):
        if path.suffix in _UNREADABLE or ".sqlite" in path.name:
            path.unlink()
        elif path.suffix == ".parquet":
            _unpack_parquet(path, recorder)
        else:
            text = path.read_text(encoding="utf-8")
            if path.name.endswith(".run.json"):
                text = json.dumps(_settings_and_results(json.loads(text)), ensure_ascii=False, indent=1)
            for word, place in recorder.places.items():
                text = text.replace(str(place), word)
            for pattern, plain in _TIMELESS:
                text = pattern.sub(plain, text)
            lines = text.splitlines(keepends=True)
            path.write_text("".join(sorted(lines) if path.suffix == ".nt" else lines), encoding="utf-8")


def _settings_and_results(record: dict[str, Any]) -> dict[str, Any]:
    """A run record without versions, settings that say nothing, so that an option may go, and hashes of files."""
    said = {key: value for key, value in record.items() if key not in ("versions", "created")}
    said["arguments"] = {key: value for key, value in record["arguments"].items() if value not in (None, False, [], "")}
    said["output"] = record["output"]["path"]
    said["inputs"] = [one["path"] for one in record.get("inputs", [])]
    return said


def _unpack_parquet(path: Path, recorder: Recorder) -> None:
    """The columns of a table and its rows. Rows of an export stand in any order, so they are sorted."""
    import pyarrow.parquet as parquet

    table = parquet.read_table(path)
    rows = sorted(json.dumps(row, ensure_ascii=False, sort_keys=True, default=str) for row in table.to_pylist())
    columns = [f"{field.name} {field.type}" for field in table.schema]
    recorder.write(f"{path.relative_to(recorder.folder)}.jsonl", [columns, *map(json.loads, rows)])
    path.unlink()
