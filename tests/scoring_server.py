"""A server on loopback that answers as servers of scores do, in all their forms, by rules that a test can repeat."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def logprob_of(token: str) -> float:
    """The longer, the less likely."""
    return -0.5 * len(token)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server: Any = self.server
        server.asked.append((self.path, body))
        if server.failing > 0:
            server.failing -= 1
            self._send(503, {"error": "busy"})
            return
        status, answer = self._answer(body)
        self._send(status, answer)

    def _answer(self, body: dict[str, Any]) -> tuple[int, Any]:
        knows = self.server.knows  # type: ignore[attr-defined]
        if knows is not None and self.path not in knows:
            return 404, {"error": "no such path"}
        if self.server.answer is not None:  # type: ignore[attr-defined]
            return 200, self.server.answer  # type: ignore[attr-defined]
        if not self.server.lists and any(isinstance(v, list) and len(v) > 1 for v in body.values()):  # type: ignore[attr-defined]
            return 422, {"error": "one text alone"}
        if self.path.endswith("/completions"):
            prompts = body["prompt"] if isinstance(body["prompt"], list) else [body["prompt"]]
            choices = [{"index": at, "logprobs": self._logprobs(prompt)} for at, prompt in enumerate(prompts)]
            return 200, {"choices": choices[::-1]}
        if self.path.endswith("/rerank"):
            scores = [{"index": at, "relevance_score": len(text) / 100} for at, text in enumerate(body["documents"])]
            return 200, {"results": sorted(scores, key=lambda score: -score["relevance_score"])}
        if self.path.endswith("/embeddings"):
            data = [{"index": at, "embedding": [3.0, float(len(text))]} for at, text in enumerate(body["input"])]
            return 200, {"data": data[::-1]}
        return 404, {"error": "no such path"}

    def _logprobs(self, prompt: str) -> dict[str, Any]:
        tokens = re.findall(r" ?[^ ]+| ", prompt)
        start = ["<s>"] if self.server.starts else []  # type: ignore[attr-defined]
        told = [*start, *tokens, " more"]
        numbers = [None, *(logprob_of(token) for token in told[1:])]
        return {"tokens": told, "token_logprobs": numbers, "text_offset": [0] * len(told)}

    def _send(self, status: int, answer: Any) -> None:
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Retry-After", "0")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def scoring_server(
    *, starts: bool = True, lists: bool = True, knows: tuple[str, ...] | None = None
) -> Iterator[Any]:
    """The server, with `url`, `asked`, `failing` (how many calls are to fail) and `answer` (instead of its own)."""
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.asked, server.failing, server.starts, server.knows, server.lists = [], 0, starts, knows, lists
    server.answer = None
    server.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
