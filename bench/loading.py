"""What the parts of bench/run are made with: directories, servers under load, and what those take."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import Any

from server import Server, clean_environment

ROOT = Path(__file__).resolve().parent.parent
BUILT = ROOT / "build" / "bench"
TEXT_BYTES = 300
CLIENTS = 64
MESSAGE_BYTES = 4096
CONCURRENT = {64: 4.0, 1000: 8.0}  # clients, and for how many seconds: a cycle of the slowest takes more than one
OURS = "ours"


def run_tool(*command: str | Path, **environment: str) -> str:
    arguments = [str(part) for part in command]
    done = subprocess.run(
        arguments, env=clean_environment(**environment), stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"bench: {' '.join(arguments)} ended with {done.returncode}")
    return done.stdout


def fresh(name: str) -> Path:
    """A directory on the disk that is measured: the one the build is on."""
    path = BUILT / "scratch" / name
    shutil.rmtree(path, ignore_errors=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cpu_seconds_exact(pid: int) -> float:
    """To the nanosecond instead of the clock's tick, for what uses next to nothing; without threads that have ended."""
    return sum(int(path.read_text().split()[0]) for path in Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9


def memory_mb(pid: int, name: str) -> float:
    match = re.search(rf"^{name}:\s+(\d+) kB$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return int(match.group(1)) / 1024 if match else 0.0


def busy_percent() -> float:
    """How much of the CPU is in use, over a second in which nothing is measured: by others, that is."""

    def read() -> tuple[int, int]:
        numbers = [int(word) for word in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
        return numbers[3] + numbers[4], sum(numbers)

    idle_before, all_before = read()
    time.sleep(1)
    idle, total = read()
    return 100 - 100 * (idle - idle_before) / max(total - all_before, 1)


def ask(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=300) as answer:
        return json.load(answer)


def load(
    server: Server,
    connections: int,
    seconds: float,
    seed: int,
    scenario: str = "store",
    text_bytes: int = TEXT_BYTES,
    more: tuple[str, ...] = (),
) -> dict[str, Any]:
    """A run of the load generator, with the server's own CPU time a cycle added."""
    before = cpu_seconds(server.process.pid)
    options = [
        "--connections",
        str(connections),
        "--seconds",
        str(seconds),
        "--seed",
        str(seed),
        "--bytes",
        str(text_bytes),
    ]
    told: dict[str, Any] = json.loads(
        run_tool(BUILT / "load/load", "--json", "--scenario", scenario, *options, *more, str(server.address[1]))
    )
    # The warm-up second is in the CPU time, but not in the cycles.
    told["server_cpu_us"] = (
        (cpu_seconds(server.process.pid) - before) * 1e6 * seconds / (seconds + 1) / max(told["cycles"], 1)
    )
    return told
