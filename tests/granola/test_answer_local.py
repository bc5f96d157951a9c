"""`granola answer` with a local `transformers` model of random weights. Skips where torch is not installed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from granola.cli import main
from kg.store.sqlite import SQLiteStore
from tests import tiny_model
from tests.worlds import CLASSES, entity

torch = pytest.importorskip("torch", reason="torch is not installed: pip install -e '.[models]'")
pytest.importorskip("transformers", reason="pip install -e '.[models]'")

pytestmark = pytest.mark.xdist_group("torch")  # loaded once, by one worker


def test_methods_share_what_a_local_model_drew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(os.environ, "HF_HUB_OFFLINE", "1")
    torch.set_num_threads(1)
    model = tiny_model.build(tmp_path / "model", room=2048)
    with SQLiteStore.create(tmp_path / "world.sqlite") as store:
        store.write([*CLASSES, entity("Q64", "Berlin", "city", P31="Q515")])
        store.finish()
    asked = tmp_path / "asked.jsonl"
    asked.write_text("".join(json.dumps({"id": str(n), "question": f"Where was {n} born?"}) + "\n" for n in range(3)))
    common = [asked, "--model", f"local:{model}?batch=4&max_tokens=8&answers={tmp_path / 'kept.sqlite'}"]

    def answered(method: str, *more: object) -> list[dict[str, object]]:
        out = tmp_path / f"{method}.jsonl"
        words = ["granola", "answer", *common, "--method", method, *more, "--out", out]
        monkeypatch.setattr("sys.argv", [str(word) for word in words])
        with pytest.raises(SystemExit) as ended:
            main.main()
        assert not ended.value.code, capsys.readouterr().err
        return [json.loads(line) for line in out.read_text().splitlines()]

    drawn = answered("drag-graph", "--samples", 4, "--snapshot", tmp_path / "world.sqlite")
    assert [len(row["samples"]) for row in drawn] == [4, 4, 4]  # type: ignore[arg-type]
    capsys.readouterr()
    majority = answered("self-consistency", "--samples", 4)
    assert "12 answers had before" in capsys.readouterr().err
    assert [row["samples"] for row in majority] == [row["samples"] for row in drawn]
    assert [row["samples"] for row in answered("sample")] == [row["samples"][:1] for row in drawn]  # type: ignore[index]
    assert all(len(row["samples"]) == 1 for row in answered("greedy"))  # type: ignore[arg-type]
