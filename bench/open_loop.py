"""Messages at a constant rate, to receivers that wait: ours and the peers."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

from figures import Part
from loading import BUILT, CLIENTS, MESSAGE_BYTES, OURS, cpu_seconds, fresh
from peer_servers import PEERS
from server import Server

ARRIVALS = 1000  # a second
ARRIVALS_S = 60.0
OPEN_LOOP_PEERS = ("redis", "rabbitmq", "postgres")


def arrive(side: str, seconds: float) -> dict[str, Any]:
    """Messages at a constant rate on a server that is started for it: see bench/peers/open_loop.c."""

    def measure(name: str, port: int) -> dict[str, Any]:
        options = ["--rate", str(ARRIVALS), "--clients", str(CLIENTS), "--seconds", str(seconds), "--warmup", "2"]
        command = [BUILT / "peers/peers", "--peer", name, *options, "--bytes", str(MESSAGE_BYTES), str(port)]
        # One that cannot keep up loses messages, which is what is to be told; it ends with 1 then.
        done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True, check=False)
        if not done.stdout:
            raise SystemExit(f"bench: {' '.join(map(str, command))} ended with {done.returncode}")
        told: dict[str, Any] = json.loads(done.stdout)
        return told

    data = fresh("arrivals")
    if side != OURS:
        with PEERS[side](data) as peer:
            return measure(side, peer.port)
    server = Server(data).wait_until_ready()
    try:
        before = cpu_seconds(server.process.pid)
        told = measure("spine", server.address[1])
        told["server_cpu"] = 100 * (cpu_seconds(server.process.pid) - before) / (seconds + 2)
        return told
    finally:
        server.terminate()
        shutil.rmtree(data)


def open_loop(quick: bool) -> Part:
    seconds = 3.0 if quick else ARRIVALS_S
    part = Part(
        "Open loop",
        f"{ARRIVALS:,} messages of {MESSAGE_BYTES:,} bytes a second for {seconds:.0f} seconds, after 2 to warm "
        f"up, at a constant rate: the n-th is due n/{ARRIVALS:,} seconds after the start, and its time counts "
        f"from then, even where it goes out later because {CLIENTS} senders all wait for an answer. {CLIENTS} "
        "receivers wait; each acks what it gets and waits again. Delivered: from when it was due to the receiver "
        "having it. Safe: to the sender having the server's word. Late: went out more than 1 ms after it was "
        "due. All servers sync before they answer and before they deliver: Memory Spine with its defaults (one "
        "agent, whose instances the receivers are; `receive` acks the one before and is answered with the "
        "prompt); Redis Streams with `appendfsync always` (`XREADGROUP BLOCK`; `XACK`, `XDEL` and the next "
        "`XREADGROUP` in one go); a quorum queue of RabbitMQ with publisher confirms and a prefetch of 1; "
        "PostgreSQL with `synchronous_commit` on (`INSERT` with `pg_notify`, `SKIP LOCKED`, `DELETE`; one "
        "connection listens for all receivers). The same program measures all of them (peers/open_loop.c). Ours "
        "is measured first and again at the end.",
    )
    told: dict[str, list[dict[str, Any]]] = {}
    for side in (OURS, *OPEN_LOOP_PEERS) if quick else (OURS, *OPEN_LOOP_PEERS, OURS):
        told.setdefault(side, []).append(arrive(side, seconds))
    titles = {OURS: "Memory Spine", **{name: PEERS[name].title for name in OPEN_LOOP_PEERS}}
    for side, runs in told.items():
        targets: dict[str, dict[str, Any]] = {"p99": {"at_most": 10}, "lost": {"at_most": 0}} if side == OURS else {}
        for name, key in (("p50", "p50_ms"), ("p99", "p99_ms"), ("p99.9", "p999_ms"), ("most", "max_ms")):
            label = f"{titles[side]}, delivered, {name}" if name == "p50" else f"  {name}"
            part.add(label, [run[key] for run in runs], "ms", digits=2, **targets.get(name, {}))
        part.add("  safe, p99", [run["safe_p99_ms"] for run in runs], "ms", digits=2)
        part.add("  lost or failed", [run["lost"] for run in runs], **targets.get("lost", {}))
        part.add("  delivered twice", [run["twice"] for run in runs])
        part.add("  went out late", [100 * run["late"] / max(run["messages"], 1) for run in runs], "%", digits=2)
        part.add("  its clients' CPU time a message", [run["load_cpu_us"] for run in runs], "us")
        if side == OURS:
            part.add("  server's CPU, of a core", [run["server_cpu"] for run in runs], "%", digits=1)
    return part
