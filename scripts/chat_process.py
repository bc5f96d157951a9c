"""A chat server (`tests/chat_server.py`) in a process of its own, for scripts that measure or kill what asks it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SERVER = Path(__file__).resolve().parents[1] / "tests" / "chat_server.py"


@contextmanager
def serving(**settings: object) -> Iterator[str]:
    """Its address; the settings are those of the server."""
    command = [sys.executable, str(SERVER), json.dumps(settings)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
        finally:
            process.kill()
