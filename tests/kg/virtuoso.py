"""A SPARQL server that is not ours: Virtuoso, from Debian's package virtuoso-opensource-7-bin."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

import pytest

_SETTINGS = """
[Database]
DatabaseFile = {folder}/v.db
ErrorLogFile = {folder}/v.log
LockFile = {folder}/v.lck
TransactionFile = {folder}/v.trx
xa_persistent_file = {folder}/v.pxa
FileExtend = 200
[TempDatabase]
DatabaseFile = {folder}/t.db
TransactionFile = {folder}/t.trx
[Parameters]
ServerPort = 127.0.0.1:{sql}
NumberOfBuffers = 10000
MaxDirtyBuffers = 6000
DirsAllowed = {folder}
[HTTPServer]
ServerPort = 127.0.0.1:{http}
ServerRoot = {folder}
[SPARQL]
ResultSetMaxRows = {rows}
MaxQueryExecutionTime = 5
"""


@dataclass(frozen=True, kw_only=True)
class Virtuoso:
    """A running server: where it answers, and how it is loaded."""

    url: str
    sql: int
    folder: Path

    def run(self, statement: str) -> None:
        """Run SQL or SPARQL (after the word SPARQL)."""
        command = ["isql-vt", f"127.0.0.1:{self.sql}", "dba", "dba", f"exec={statement}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert "Error" not in done.stderr + done.stdout, done.stdout + done.stderr

    def load(self, path: Path) -> None:
        """Replace all that is loaded by an N-Triples file."""
        folder = self.folder / "load"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        shutil.copy(path, folder / "data.nt")
        self.run("delete from DB.DBA.load_list; SPARQL CLEAR GRAPH <http://example.org/g>;")
        self.run(f"ld_dir('{folder}', '*.nt', 'http://example.org/g'); rdf_loader_run(); checkpoint;")


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


@contextmanager
def serving(folder: Path, *, rows: int) -> Iterator[Virtuoso]:
    """A server whose results end after so many rows. Skips the test where Virtuoso is not installed."""
    if shutil.which("virtuoso-t") is None or shutil.which("isql-vt") is None:
        pytest.skip("Virtuoso is not installed (Debian: apt-get install virtuoso-opensource-7-bin)")
    sql, http = _free_port(), _free_port()
    (folder / "v.ini").write_text(_SETTINGS.format(folder=folder, sql=sql, http=http, rows=rows))
    with (folder / "out").open("wb") as out:
        process = subprocess.Popen(
            ["virtuoso-t", "+configfile", str(folder / "v.ini"), "+foreground"], cwd=folder, stdout=out, stderr=out
        )
    url = f"http://127.0.0.1:{http}/sparql"
    try:
        for _ in range(300):
            assert process.poll() is None, (folder / "out").read_text() + (folder / "v.log").read_text()
            with contextlib.suppress(OSError), urlopen(f"{url}?query=ASK%7B%7D", timeout=5):
                break
            time.sleep(0.1)
        else:
            pytest.fail("Virtuoso does not answer")
        yield Virtuoso(url=url, sql=sql, folder=folder)
    finally:
        process.terminate()
        process.wait(30)
