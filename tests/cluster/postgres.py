"""A PostgreSQL for the fault test: it syncs, it can be killed, and it is started again on the same files."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

START_TIMEOUT_S = 60.0
SETTINGS = ["fsync=on", "synchronous_commit=on", "max_connections=300", "shared_buffers=64MB", "listen_addresses=127.0.0.1"]


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def programs() -> Path:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: [int(n) for n in re.findall(r"\d+", str(path))])
    if not found:
        raise SystemExit("there is no PostgreSQL here; scripts/deps test installs it")
    return found[-1].parent


class Postgres:
    def __init__(self, directory: Path) -> None:
        self.bin, self.directory, self.data = programs(), directory, directory / "postgres"
        self.port = free_port()
        # PostgreSQL refuses root.
        self.lower = ["setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups"] if os.getuid() == 0 else []
        self.data.mkdir(mode=0o700)
        directory.chmod(0o711)
        if self.lower:
            shutil.chown(self.data, "nobody", "nogroup")
        subprocess.run([*self.lower, str(self.bin / "initdb"), "-D", str(self.data), "-U", "spine", "-A", "trust", "-E", "UTF8", "--locale=C",
                        "--no-sync"], check=True, stdout=subprocess.DEVNULL, cwd="/")
        self.start()

    def start(self) -> None:
        options = [word for setting in SETTINGS for word in ("-c", setting)]
        with (self.directory / "postgres.log").open("ab") as log:
            self.process = subprocess.Popen(
                [*self.lower, self.bin / "postgres", "-D", self.data, "-k", "", "-p", str(self.port), *options],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/")
        deadline = time.monotonic() + START_TIMEOUT_S
        ready = [self.bin / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port), "-U", "spine", "-d", "postgres"]
        while subprocess.run(ready, check=False).returncode != 0:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit("PostgreSQL does not start; see " + str(self.directory / "postgres.log"))
            time.sleep(0.05)

    def kill(self) -> None:
        """The postmaster and all of its children at the same moment: nobody writes anything down any more."""
        children = self.children()
        for pid in [self.process.pid, *children]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()
        while any(Path(f"/proc/{pid}").exists() for pid in children):
            time.sleep(0.01)

    def children(self) -> list[int]:
        try:
            text = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        except OSError:
            return []
        return [int(pid) for pid in text.split()]

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)  # fast
            self.process.wait()
