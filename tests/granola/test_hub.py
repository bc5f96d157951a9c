"""`granola dataset --push-to-hub`: the library's client against a server on the loopback that answers as the Hub."""

from __future__ import annotations

import base64
import json
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from abstraction.datasets.hub import check_hub
from abstraction.errors import DatasetError
from tests.command_line import run_granola
from tests.worlds import CLASSES, entity, snapshot_at

pytest.importorskip("huggingface_hub", reason="huggingface_hub is not installed (pip install -e '.[datasets]')")
WORLD = (
    *CLASSES,
    entity("Q64", "Berlin", "capital of Germany", P31="Q515", P131="Q183", P17="Q183"),
    entity("Q183", "Germany", "country", P31="Q3624078"),
)


class Hub(BaseHTTPRequestHandler):
    """The requests of a push: the dataset made, its card checked, how files are to be sent, the commit with them."""

    status = 200
    files: ClassVar[dict[str, bytes]] = {}
    made: ClassVar[list[dict[str, Any]]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.status != 200:
            return self.answer({"error": "no write token"}, self.status)
        if self.path == "/api/repos/create":
            self.made.append(json.loads(body))
            return self.answer({"url": f"http://{self.headers['Host']}/datasets/me/places", "id": "me/places"})
        if "/preupload/" in self.path:
            named = [{**file, "uploadMode": "regular", "shouldIgnore": False} for file in json.loads(body)["files"]]
            return self.answer({"files": named})
        if "/commit/" not in self.path:  # whether the card's front matter is right
            return self.answer({"errors": [], "warnings": []})
        for line in map(json.loads, body.splitlines()):
            if line["key"] == "file":
                self.files[line["value"]["path"]] = base64.b64decode(line["value"]["content"])
        commit = "https://huggingface.co/datasets/me/places/commit/0"
        return self.answer({"success": True, "commitOid": "0" * 40, "commitUrl": commit, "hookOutput": ""})

    def do_GET(self) -> None:
        self.answer({"id": "me/places", "siblings": [], "sha": "0" * 40})

    def answer(self, data: object, status: int = 200) -> None:
        body = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[type[Hub]]:
    kind = type("TestedHub", (Hub,), {"files": {}, "made": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("HF_TOKEN", "hf_test")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    for name in ("HF_HUB_OFFLINE", *(name for name in os.environ if name.lower().endswith("_proxy"))):
        monkeypatch.delenv(name, raising=False)
    yield kind
    server.shutdown()


def push(tmp_path: Path) -> Any:
    snapshot_at(tmp_path / "w.sqlite", WORLD)
    (tmp_path / "q.jsonl").write_text('{"id": "1", "question": "Where was Ada born?", "answer": "Berlin"}\n')
    return run_granola(
        "dataset", "q.jsonl", "--snapshot", "w.sqlite", "--out", "out", "--push-to-hub", "me/places", cwd=tmp_path
    )


def test_a_dataset_is_at_the_hub_as_it_is_in_its_folder(hub: type[Hub], tmp_path: Path) -> None:
    done = push(tmp_path)
    assert done.returncode == 0, done.stderr
    assert "at the Hub: " in done.stderr
    (made,) = hub.made
    assert (made["type"], made["name"]) == ("dataset", "places")
    assert made.get("private") or made.get("visibility") == "private"  # as versions of the client say it
    folder = tmp_path / "out"
    files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert {name: text for name, text in hub.files.items() if name != ".gitattributes"} == files


def test_a_refusal_leaves_the_folder_and_says_how_to_push_it(hub: type[Hub], tmp_path: Path) -> None:
    hub.status = 403
    done = push(tmp_path)
    assert done.returncode == 2
    assert "is built, but not at the Hub" in done.stderr
    assert "hf upload me/places" in done.stderr
    assert (tmp_path / "out" / "README.md").exists()


@pytest.mark.parametrize("name", ["", "a/b/c", "a b/c", "https://x/y"])
def test_a_name_that_is_none_is_told_before_anything_is_built(name: str) -> None:
    with pytest.raises(DatasetError, match="expected USER/NAME"):
        check_hub(name)
