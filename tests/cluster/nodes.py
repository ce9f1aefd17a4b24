"""The nodes of a cluster on this machine. Each reaches the database and is reached by the others through links of its
own that can be shut (proxy.py); clients go to the node itself."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

from postgres import Postgres, free_port
from proxy import Proxies
from server import Server, binary

PEER_OPTION = "--advertise"


def knows_peers(program: Path) -> bool:
    """A server that cannot be one of several has no such option, and is tested alone."""
    shown = subprocess.run([program, "serve", "--help"], capture_output=True, text=True, check=True).stdout
    return PEER_OPTION in shown


class Node:
    def __init__(self, name: str, directory: Path, proxies: Proxies, postgres: Postgres, programs: list[Path]) -> None:
        self.name, self.data, self.programs = name, directory / name, programs
        self.port = free_port()
        self.to_database = proxies.link(("127.0.0.1", postgres.port))
        self.to_here = proxies.link(("127.0.0.1", self.port))
        self.starts = 0
        self.server: Server | None = None

    @property
    def address(self) -> tuple[str, int]:
        return "127.0.0.1", self.port

    def start(self) -> None:
        """Without waiting for it. Each start takes the next of the programs: with two of them every restart is an
        upgrade, or the way back."""
        program = self.programs[self.starts % len(self.programs)]
        self.starts += 1
        options = ["--store", f"postgres://spine@127.0.0.1:{self.to_database.port}/postgres"]
        if knows_peers(program):
            options += [PEER_OPTION, f"http://127.0.0.1:{self.to_here.port}"]
        else:
            options += ["--no-sandbox"]
        self.server = Server(self.data, *options, listen=f"127.0.0.1:{self.port}", program=program)

    def wait(self) -> None:
        assert self.server is not None
        self.server.wait_until_ready()

    def kill(self) -> None:
        assert self.server is not None
        self.server.kill()

    def terminate(self) -> int:
        assert self.server is not None
        return int(self.server.terminate())

    def pause(self) -> None:
        assert self.server is not None
        os.kill(self.server.process.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        assert self.server is not None
        os.kill(self.server.process.pid, signal.SIGCONT)

    def ended_by_itself(self) -> str | None:
        code = self.server.process.poll() if self.server else None
        return None if code is None else f"{self.name} ended with {code}; its log ends: {self.server.log_tail() if self.server else ''}"

    def close(self) -> None:
        if self.server is not None and self.server.process.poll() is None:
            self.go_on()
            self.kill()


def make(count: int, directory: Path, proxies: Proxies, postgres: Postgres, old: Path | None) -> list[Node]:
    programs = [binary(), *([old.resolve()] if old else [])]
    return [Node(f"n{number}", directory, proxies, postgres, programs) for number in range(1, count + 1)]
