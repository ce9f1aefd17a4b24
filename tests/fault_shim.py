"""Lets calls of the C library fail in a server that a test has started: faults/server/shim.c, preloaded.

    library, control = build(directory), Control(directory / "control")
    server = Server(data, program=plain_binary(), **control.environment(library, data)).wait_until_ready()
    control.arm(SOCKET, errno.EMFILE, at=1, stays=True)
"""

from __future__ import annotations

import mmap
import os
import struct
import subprocess
from pathlib import Path

SOURCE = Path(__file__).resolve().parent / "faults" / "server" / "shim.c"
CONTROL = struct.Struct("<6q")
# The kinds of calls, as in shim.c.
STORE_WRITE, STORE_SYNC, STORE_OPEN, ACCEPT, SOCKET, SOCKET_READ, SOCKET_WRITE, MEMORY = range(1, 9)


def build(directory: Path) -> Path:
    """The library that is preloaded."""
    library = directory / "shim.so"
    subprocess.run(
        [os.environ.get("CC", "cc"), "-O2", "-Wall", f"-I{SOURCE.parents[2]}", "-shared", "-fPIC", "-o", str(library),
         str(SOURCE), "-ldl"],
        check=True,
    )
    return library


class Control:
    """What one server is told to let fail."""

    def __init__(self, path: Path) -> None:
        path.write_bytes(bytes(CONTROL.size))
        self.path = path
        self.file = path.open("r+b")
        self.map = mmap.mmap(self.file.fileno(), CONTROL.size)

    def environment(self, library: Path, data: Path) -> dict[str, str]:
        return {"LD_PRELOAD": str(library), "FAULT_CONTROL": str(self.path), "FAULT_ROOT": str(data)}

    def arm(self, kind: int, error: int, at: int, stays: bool) -> None:
        self.map[: CONTROL.size] = CONTROL.pack(kind, error, at, stays, 0, 0)

    def hits(self) -> int:
        """How many calls have failed so far."""
        return CONTROL.unpack(self.map[: CONTROL.size])[5]

    def disarm(self) -> tuple[int, int]:
        """Returns how many calls there were, and how many of them failed."""
        _, _, _, _, calls, hits = CONTROL.unpack(self.map[: CONTROL.size])
        self.map[: CONTROL.size] = bytes(CONTROL.size)
        return calls, hits

    def close(self) -> None:
        self.map.close()
        self.file.close()
