"""Mixed load for an hour: the server's memory, descriptors and disk stay flat.

Workers store, search, pack, send, receive, hand on, publish, join, forget, read figures and events, make mistakes, and leave in
the middle of a request. The space they work in changes every SPACE_S seconds; retention removes what ended and the
spaces that nobody uses any more, so that a server that gives everything back stays as large as it is.

The first third is for warming up. After it the largest sample of the last third may not be larger than that of the
second third by more than the slack below: a leak grows as long as it is looked at. Exits with 1 where something grew, an
answer was 5xx, or the server ended.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import random
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parent.parent)]

from many import Client  # noqa: E402
from server import Server  # noqa: E402

WORKERS = 24
SPACE_S = 20.0
SAMPLE_S = 2.0
OPTIONS = ("--keep", "30s", "--keep-idle", "60s", "--cache", "16m")
# What samples differ by without a leak: the allocator's pages, a burst of connections, a WAL before its checkpoint
# (1,000 pages of 4 KiB).
SLACK = {"memory_kb": (1.10, 8 * 1024), "descriptors": (1.0, 2 * WORKERS), "disk_kb": (1.15, 4 * 1024)}
WORDS = "retry gateway backoff jitter order payment request schema migration index latency budget review patch test plan".split()


@dataclass
class Counts:
    calls: int = 0
    bad: int = 0
    worst: str = ""


def text(chance: random.Random) -> str:
    return " ".join(chance.choice(WORDS) for _ in range(int(chance.paretovariate(1.2) * 30) % 2000 + 5))


class Worker:
    def __init__(self, server: Server, number: int, seed: int, counts: Counts) -> None:
        self.server, self.name, self.counts = server, f"agent-{number % 8}", counts
        self.chance = random.Random(seed * 1000 + number)
        self.client: Client | None = None

    async def call(self, path: str, body: Any, method: str = "POST") -> tuple[int, Any]:
        assert self.client is not None and self.client.writer is not None
        if method == "POST":
            self.client.send(path, body)
        else:
            self.client.writer.write(f"{method} {path} HTTP/1.1\r\n{self.client.head}\r\n".encode())
        status, answer = await self.client.answer()
        self.counts.calls += 1
        if status >= 500 and status != 504:
            self.counts.bad += 1
            self.counts.worst = f"{method} {path}: {status} {str(answer)[:200]}"
        return status, answer

    async def remember(self) -> None:
        status, memory = await self.call("/v1/memories", {"content": text(self.chance), "agent": self.name})
        if status == 201 and self.chance.random() < 0.3:
            await self.call(f"/v1/memories/{memory['id']}", None, "DELETE")

    async def search(self) -> None:
        await self.call(f"/v1/memories?query={'+'.join(self.chance.sample(WORDS, 3))}", None, "GET")

    async def send(self) -> None:
        await self.call("/v1/handoffs", {
            "from": self.name, "target_agent": f"agent-{self.chance.randrange(8)}", "task_summary": text(self.chance)[:500],
            "constraints": {"language": "c"}})

    async def work(self) -> None:
        status, answer = await self.call(f"/v1/agents/{self.name}/receive", {"wait_s": 1, "max": 4})
        for handoff in answer.get("handoffs", []) if status == 200 else []:
            verb = self.chance.choices(["complete", "then", "nack", "leave"], [6, 2, 1, 1])[0]
            body: dict[str, Any] = {"lease": handoff["lease"]}
            if verb == "leave":
                continue
            if verb == "nack":
                body["reason"] = "the soak says no"
            else:
                body["result"] = text(self.chance)[:400]
            if verb == "then":
                body["then"] = {"target_agent": f"agent-{self.chance.randrange(8)}", "task_summary": text(self.chance)[:300]}
            await self.call(f"/v1/handoffs/{handoff['id']}/{'complete' if verb == 'then' else verb}", body)

    async def publish(self) -> None:
        status, envelope = await self.call("/v1/envelopes", {"from": self.name, "target_agent": "all", "task_summary": "news"})
        if status == 201:
            await self.call("/v1/channels/news/publish", {"envelope_id": envelope["id"], "receivers": ["agent-0", "agent-1"]})
            await self.call("/v1/channels/news/join", {"envelope_id": envelope["id"], "wait_s": 0})

    async def look(self) -> None:
        for path in ("/v1/status", "/v1/stats", "/v1/alerts", "/v1/tasks", "/v1/parked", "/v1/audit?page_size=50", "/v1/agents"):
            await self.call(path, None, "GET")

    async def mistake(self) -> None:
        await self.call("/v1/handoffs/ho-999999999/ack", {"lease": "x"})
        await self.call("/v1/memories", {"content": 7})

    async def speak_mcp(self) -> None:
        await self.call("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                                 "params": {"name": "memory_search", "arguments": {"query": "retry"}}})

    async def leave(self) -> None:
        """In the middle of a request; the next call begins with a new connection."""
        assert self.client is not None and self.client.writer is not None
        self.client.writer.write(b"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{")
        with contextlib.suppress(OSError):
            await self.client.writer.drain()
        self.client.close()
        self.client = None

    async def run(self, until: float) -> None:
        acts = [(self.remember, 20), (self.search, 10), (self.send, 20), (self.work, 30), (self.publish, 3), (self.look, 2),
                (self.mistake, 2), (self.speak_mcp, 2), (self.leave, 1)]
        space = ""
        while time.monotonic() < until:
            now = f"soak-{int(time.monotonic() / SPACE_S)}"
            if self.client is None or now != space:
                if self.client:
                    self.client.close()
                space = now
                self.client = await Client(self.server.address, space).connect(asyncio.Semaphore(1))
            act = self.chance.choices([act for act, _ in acts], [weight for _, weight in acts])[0]
            await act()
            await asyncio.sleep(options.pause)
        if self.client:
            self.client.close()


def sample(server: Server) -> dict[str, int]:
    process = Path(f"/proc/{server.process.pid}")
    status = (process / "status").read_text()
    disk = 0
    for path in server.data.rglob("*"):
        with contextlib.suppress(FileNotFoundError):
            disk += path.stat().st_blocks // 2
    return {
        "memory_kb": next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:")),
        "descriptors": sum(1 for _ in (process / "fd").iterdir()),
        "disk_kb": disk,
    }


def verdict(samples: list[dict[str, int]]) -> bool:
    third, ok = len(samples) // 3, True
    for name, (factor, more) in SLACK.items():
        second, last = (max(s[name] for s in part) for part in (samples[third:2 * third], samples[2 * third:]))
        grew = last > second * factor + more
        ok = ok and not grew
        print(f"{name}: {samples[0][name]} at first, at most {second} in the second third, {last} in the last{': GREW' if grew else ''}")
    return ok


async def soak(server: Server) -> bool:
    counts, samples, end = Counts(), [], time.monotonic() + options.seconds
    workers = [asyncio.create_task(Worker(server, number, options.seed, counts).run(end)) for number in range(WORKERS)]
    while time.monotonic() < end and server.process.poll() is None and not any(worker.done() for worker in workers):
        samples.append(sample(server))
        await asyncio.sleep(SAMPLE_S)
    await asyncio.gather(*workers)
    print(f"{counts.calls} calls in {options.seconds} s, {counts.bad} of them 5xx{': ' + counts.worst if counts.bad else ''}")
    return verdict(samples) and counts.bad == 0


def main() -> int:
    directory = Path(tempfile.mkdtemp(prefix="spine-soak-"))
    server = Server(directory / "data", *OPTIONS).wait_until_ready()
    try:
        ok = asyncio.run(soak(server))
        ok = server.terminate() == 0 and ok
    finally:
        if server.process.poll() is None:
            server.kill()
        shutil.rmtree(directory)
    print("ok" if ok else "FAILED")
    return 0 if ok else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Mixed load; memory, descriptors and disk stay flat.")
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pause", type=float, default=0.02, help="of each worker between two acts, in seconds")
    options = parser.parse_args()
    sys.exit(main())
