"""The folder of a long job: whose it is, what is cleared, what it was for."""

from __future__ import annotations

from pathlib import Path

import pytest

from kg.base.files import WorkFolder
from kg.errors import SnapshotError


def opened(folder: Path) -> WorkFolder:
    return WorkFolder(folder / "deep" / "out", error=SnapshotError)


def test_one_job_at_a_time_and_what_it_leaves(tmp_path: Path) -> None:
    one = opened(tmp_path)
    assert (one.path, one.kept) == (tmp_path / "deep" / ".out.work", False)
    with pytest.raises(SnapshotError, match=r"building .*deep/out; wait for it, or name another file"):
        opened(tmp_path)
    (one.path / "a").mkdir()
    (one.path / "a" / "b").write_text("c")
    one.close()
    two = opened(tmp_path)
    assert two.kept
    two.clear()
    with pytest.raises(SnapshotError, match="another process"):  # clearing leaves the lock
        opened(tmp_path)
    assert [path.name for path in two.path.iterdir()] == ["lock"]
    two.remove()
    assert not two.path.exists()
    opened(tmp_path).remove()


def test_work_for_something_else_is_told(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    folder.check_same_request({"a": 1}, {"a": 1})
    with pytest.raises(SnapshotError, match=r"\(it differs in b, c\); .*--restart, or name another file"):
        folder.check_same_request({"a": 1, "b": 2}, {"a": 1, "b": 3, "c": 4, "d": None})
