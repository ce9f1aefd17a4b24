#!/usr/bin/python3
"""Looks whether the peers sync before they answer, as they are set for the benchmark: bench/peers/syncs.py [PEER…]

One client does its cycles while strace watches the server. An answer counts where a sync was completed since the answer
before it. A sync is fsync or fdatasync; for NATS, whose store is marked with chattr +S, it is a write to a file of the
store that bears the mark. With a single client nothing else can be the reason of a sync, so as many answers as the
protocol makes durable must count in each cycle.
"""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True

from peer_servers import PEERS, Peer, PeerError  # noqa: E402

BUILT = Path(__file__).resolve().parent.parent.parent / "build" / "bench"
SECONDS = 2
ATTACH_S = 10.0
SHARE_MIN = 0.98  # the first and the last cycle are not seen whole

# Answers of a cycle that wait for the disk. Redis writes down who reads what, PostgreSQL its leases; beanstalkd's
# leases are in memory. RabbitMQ sends the confirm (an ack has no answer); NATS keeps acks in memory.
DURABLE_ANSWERS = {"redis": 3, "rabbitmq": 1, "postgres": 3, "beanstalkd": 2, "nats": 1}

CALLS = "fsync,fdatasync,write,writev,pwrite64,pwritev,sendto,sendmsg"
SYNCED = re.compile(r"(?:fsync|fdatasync)(?:\(| resumed).*= 0$")
WRITTEN = re.compile(r"(?:write|pwrite64|writev|pwritev)\(\d+<([^>]*\.blk)>")
ANSWERED = re.compile(r"(?:write|writev|sendto|sendmsg)\(\d+<TCP:\[127\.0\.0\.1:(\d+)->")


def marked(path: str) -> bool:
    """Whether the file system syncs every write to it."""
    told = subprocess.run(["lsattr", path], capture_output=True, text=True, check=False).stdout
    return "S" in told.split(" ")[0]


def count_answers(lines: list[str], peer: Peer) -> tuple[int, int]:
    """How many answers went to the client, and how many of them after a sync."""
    answers = after_sync = 0
    synced = False
    marks: dict[str, bool] = {}
    for line in lines:
        if SYNCED.search(line):
            synced = True
        elif (match := WRITTEN.search(line)) and peer.name == "nats":
            path = match.group(1)
            synced = synced or marks.setdefault(path, marked(path))
        elif (match := ANSWERED.search(line)) and int(match.group(1)) == peer.port:
            answers += 1
            after_sync += synced
            synced = False
    return answers, after_sync


def watch(peer: Peer, trace: Path) -> subprocess.Popen[bytes]:
    watched = peer.server_pid()
    command = ["strace", "-f", "-qq", "-yy", "-s", "0", "-e", f"trace={CALLS}", "-e", "signal=none", "-o", str(trace)]
    strace = subprocess.Popen([*command, "-p", str(watched)], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + ATTACH_S
    while f"TracerPid:\t{strace.pid}\n" not in Path(f"/proc/{watched}/status").read_text():
        if strace.poll() is not None or time.monotonic() > deadline:
            raise PeerError(f"strace cannot watch {peer.name}")
        time.sleep(0.01)
    return strace


def check(name: str) -> bool:
    data = BUILT / "scratch" / f"syncs-{name}"
    trace = data.with_suffix(".strace")
    shutil.rmtree(data, ignore_errors=True)
    with PEERS[name](data) as peer:
        strace = watch(peer, trace)
        command = [BUILT / "peers/peers", "--peer", name, "--clients", "1", "--warmup", "0", "--seconds", str(SECONDS)]
        told = subprocess.run([*map(str, command), str(peer.port)], stdout=subprocess.PIPE, check=True)
        strace.send_signal(signal.SIGINT)
        strace.wait()
        answers, after_sync = count_answers(trace.read_text(errors="replace").splitlines(), peer)
    trace.unlink()
    cycles = json.loads(told.stdout)["all_cycles"]
    good = after_sync >= SHARE_MIN * DURABLE_ANSWERS[name] * cycles
    print(
        f"{name:11} {cycles:6,} cycles, {answers / cycles:5.2f} answers a cycle, {after_sync / cycles:5.2f} of them "
        f"after a sync (at least {DURABLE_ANSWERS[name]}): {'OK' if good else 'DOES NOT SYNC'}",
        flush=True,
    )
    return good


def main() -> int:
    chosen = sys.argv[1:] or list(PEERS)
    if unknown := [name for name in chosen if name not in PEERS]:
        print(f"there is no peer {unknown[0]}; there are {', '.join(PEERS)}", file=sys.stderr)
        return 2
    return 0 if all([check(name) for name in chosen]) else 1


if __name__ == "__main__":
    sys.exit(main())
