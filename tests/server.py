"""A server for a test: the real binary, on a free port and a data directory of its own.

SPINE_BIN names the binary; it is build/spine of this repository where that is not set. Other SPINE_ variables are not
handed on, so that a person's settings do not change what is tested. With SPINE_TEST_TLS=1 it speaks HTTPS; with
SPINE_TEST_POSTGRES its store is in PostgreSQL (stores.py).
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import certificates
import stores

ROOT = Path(__file__).resolve().parent.parent
START_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 30.0
POLL_S = 0.001


def binary() -> Path:
    path = Path(os.environ.get("SPINE_BIN") or ROOT / "build" / "spine").resolve()
    if not path.exists():
        raise SystemExit(f"there is no server at {path}: build it (make build), or name one in SPINE_BIN")
    return path


def plain_binary() -> Path:
    """One without sanitizers, which want their library loaded first and end otherwise than by a signal."""
    path = binary()
    return path.parents[1] / "spine" if path.parent.name in ("asan", "tsan") else path


def clean_environment(**extra: str) -> dict[str, str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SPINE_")}
    environment.update(extra)
    return environment


def check_store(data: Path) -> None:
    """Nothing is wrong with the store of this data directory, says `spine check`. It reads the files of the embedded one."""
    if stores.SERVER:
        return
    done = subprocess.run([binary(), "check", "--data", data], capture_output=True, text=True, env=clean_environment())
    assert done.returncode == 0, done


class StartError(Exception):
    """The server ended before it was ready, or took too long."""


class Server:
    """One process. It may be made again on the same data directory after it ended. is_embedded: its store is, whatever the
    tests run on."""

    def __init__(
        self,
        data: Path,
        *options: str,
        listen: str = "127.0.0.1:0",
        program: Path | None = None,
        is_embedded: bool = False,
        **environment: str,
    ) -> None:
        self.data = data
        self.log = data.with_name(data.name + ".log")
        self.url = ""
        self.started_at = time.monotonic()
        command = [str(program or binary()), "serve", "--quiet", "--listen", listen, "--data", str(data),
                   *certificates.server_options(), *([] if is_embedded else stores.options(data)), *options]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=clean_environment(**environment)
            )

    @property
    def address(self) -> tuple[str, int]:
        host, port = self.url.removeprefix("http://").removeprefix("https://").rsplit(":", 1)
        return host, int(port)

    def wait_until_ready(self) -> Server:
        """Waits for server.json, which is written when requests are taken. It names the process, because one that was
        killed leaves the file of its own behind."""
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline:
            try:
                note = json.loads((self.data / "server.json").read_text())
                if note["pid"] == self.process.pid:
                    self.url = note["url"]
                    return self
            except (OSError, ValueError):
                pass
            if self.process.poll() is not None:
                raise StartError(f"the server ended with {self.process.returncode}; its log ends: {self.log_tail()}")
            time.sleep(POLL_S)
        self.kill()
        raise StartError(f"the server was not ready after {START_TIMEOUT_S:.0f} s; its log ends: {self.log_tail()}")

    def log_tail(self) -> str:
        try:
            return self.log.read_text(errors="replace")[-800:].strip()
        except OSError:
            return ""

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def discard(self) -> None:
        """Ends it where nobody looks at how. One that counts the lines it reaches writes them down at its end, so it is asked."""
        if self.process.poll() is not None:
            return
        if binary().parent.name != "coverage":
            self.kill()
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.terminate()

    def terminate(self) -> int:
        """Asks it to drain and returns its exit code."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
