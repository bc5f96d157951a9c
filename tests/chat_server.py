"""A server that speaks chat completions on loopback, as fast as it can, and misbehaves where it is told to.

    python tests/chat_server.py '{"fail": 0.3, "log": "asked.txt"}'

prints its port on standard output. A request's answer tells what was asked (`answer_to`). Settings: `fail`, the share
of calls that go wrong, each in one of the ways of `kinds`; `seed` of what goes wrong; `choices`, the most answers that
a call is given; `ignore_n`; `refuse_n`, to answer 400 where n is above 1; `refuse`, a text in a message that is
answered with 400; `echo_headers`, to repeat what was sent in headers; `need`, the key that must be sent; `delay`, in
seconds; `together`, how many calls must be under way at once before the first is answered; `most_failures`, how often
the same request fails at most; `script`, a JSON file of questions and the texts that answer them (a message's last
question counts; what is not in it is answered as ever); `log`, a file that gets a line for each answer that was sent
whole: the last message's text, seed, n, and a hash of all messages.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import re
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

KINDS = ("429", "429-late", "500", "503", "cut", "reset", "no-json", "no-choices", "error-in-200", "slow")


def answer_to(messages: list[dict[str, str]], seed: int | None) -> str:
    """What the server answers: the same for the same messages and seed."""
    told = hashlib.sha256(json.dumps([messages, seed]).encode()).hexdigest()[:8]
    return f"answer {told} to {messages[-1]['content'][:60]}"


def hash_of(messages: list[dict[str, str]]) -> str:
    """What tells conversations apart."""
    return hashlib.sha256(json.dumps(messages).encode()).hexdigest()[:16]


def question_of(messages: list[dict[str, str]]) -> str:
    """The text of the last question in a message of the user's: in its tag, or behind `Question:`."""
    said = [text for one in messages if one["role"] == "user" for text in re.findall(_QUESTION, one["content"])]
    return next(filter(None, said[-1])) if said else ""


_QUESTION = re.compile(r"<question>(.*?)</question>|^Question: (.+)$", re.MULTILINE)


@dataclass
class Settings:
    fail: float = 0.0
    kinds: tuple[str, ...] = KINDS
    seed: int = 0
    choices: int = 1000
    ignore_n: bool = False
    refuse_n: bool = False
    refuse: str = ""
    status: int = 0
    echo_headers: bool = False
    need: str = ""
    delay: float = 0.0
    together: int = 0
    most_failures: int = 1_000_000
    slow: float = 0.5
    script: str = ""
    log: str = ""
    under_way: int = 0
    most: int = 0
    held: list[Callable[[], None]] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)
    scripted: dict[str, str] = field(default_factory=dict)
    random: random.Random = field(default_factory=random.Random)


def completion(body: dict[str, Any], settings: Settings) -> dict[str, Any]:
    n = 1 if settings.ignore_n else min(body.get("n", 1), settings.choices)
    seed = body.get("seed")
    choices = []
    for at in range(n):
        text = settings.scripted.get(question_of(body["messages"])) or answer_to(
            body["messages"], None if seed is None else seed + at
        )
        choice: dict[str, Any] = {
            "index": at,
            "message": {"role": "assistant", "content": text},
            "finish_reason": "stop",
        }
        choices.append(choice)
    choices.reverse()  # their order is told by their index alone
    return {"choices": choices, "usage": {"prompt_tokens": 10, "completion_tokens": 4 * n}}


class Connection(asyncio.Protocol):
    """One kept-alive HTTP/1.1 connection."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.buffer = b""
        self.tasks: set[asyncio.Task[None]] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: asyncio.Transport = transport  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = self.buffer[:end].decode("latin-1")
        headers = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:])
        length = int(headers.get("content-length", 0))
        if len(self.buffer) < end + 4 + length:
            return
        body = json.loads(self.buffer[end + 4 : end + 4 + length])
        self.buffer = self.buffer[end + 4 + length :]
        settings = self.settings
        settings.under_way += 1
        settings.most = max(settings.most, settings.under_way)
        request = json.dumps([body["messages"], body.get("seed"), body.get("n")])
        fails = settings.random.random() < settings.fail and settings.failures[request] < settings.most_failures
        kind = settings.random.choice(settings.kinds) if fails else ""
        settings.failures[request] += fails
        if settings.most < settings.together:
            settings.held.append(lambda: self.answer(head, body, kind))
            return
        while settings.held:
            settings.held.pop()()
        delay = settings.slow if kind == "slow" else settings.delay
        if delay:
            task = asyncio.ensure_future(self.later(delay, head, body, kind))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)
        else:
            self.answer(head, body, kind)

    async def later(self, delay: float, head: str, body: dict[str, Any], kind: str) -> None:
        await asyncio.sleep(delay)
        self.answer(head, body, kind)

    def send(self, status: int, body: bytes, more: str = "", length: int | None = None) -> None:
        told = len(body) if length is None else length
        self.transport.write(
            f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {told}\r\n{more}\r\n".encode()
            + body
        )

    def answer(self, head: str, body: dict[str, Any], kind: str) -> None:
        settings = self.settings
        settings.under_way -= 1
        if self.transport.is_closing():
            return
        echoed = {"error": {"message": f"who asks so: {head}"}} if settings.echo_headers else None
        text = body["messages"][-1]["content"]
        if settings.need and f"Bearer {settings.need}" not in head:
            self.send(401, json.dumps({"error": {"message": f"wrong key in {head}"}}).encode())
        elif settings.status:
            self.send(settings.status, json.dumps(echoed or {"error": {"message": "always so"}}).encode())
        elif settings.refuse and settings.refuse in text:
            self.send(400, json.dumps({"error": {"message": "too long, says the server"}}).encode())
        elif settings.refuse_n and body.get("n", 1) > 1:
            self.send(400, b'{"error": {"message": "n is greater than the number of slots"}}')
        elif kind in ("429", "429-late"):
            self.send(429, b'{"error": {"message": "slower"}}', "Retry-After: 0.01\r\n" if kind == "429" else "")
        elif kind in ("500", "503"):
            self.send(int(kind), json.dumps(echoed).encode() if echoed else b"<html>trouble</html>")
        elif kind == "reset":
            self.transport.abort()
        elif kind == "no-json":
            self.send(200, b"well, <br> no")
        elif kind == "no-choices":
            self.send(200, b'{"choices": []}')
        elif kind == "error-in-200":
            self.send(200, b'{"error": {"message": "overloaded inside", "code": 502}}')
        else:
            answer = completion(body, settings)
            if settings.echo_headers:
                answer["choices"][0]["message"]["content"] += f" {head}"
            whole = json.dumps(answer).encode()
            if kind == "cut":
                self.send(200, whole[: len(whole) // 2], length=len(whole))
                self.transport.close()
                return
            if settings.log:
                with open(settings.log, "a", encoding="utf-8") as log:
                    told = [text, body.get("seed"), body.get("n", 1), hash_of(body["messages"])]
                    log.write(json.dumps(told) + "\n")
            self.send(200, whole)


async def listening(settings: Settings) -> asyncio.Server:
    settings.random.seed(settings.seed)
    if settings.script:
        with open(settings.script, encoding="utf-8") as script:
            settings.scripted = json.load(script)
    return await asyncio.get_running_loop().create_server(lambda: Connection(settings), "127.0.0.1", 0)


@contextmanager
def serving(**given: Any) -> Iterator[tuple[str, Settings]]:
    """A server in a thread of this process: its address, and its settings, which tell what it saw."""
    settings = Settings(**given)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server = asyncio.run_coroutine_threadsafe(listening(settings), loop).result()
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", settings
    finally:
        loop.call_soon_threadsafe(server.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


async def main(settings: Settings) -> None:
    server = await listening(settings)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(Settings(**(json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}))))
