"""Mixed load for an hour: the server's memory, descriptors and disk stay flat.

Workers store, search, pack, send, receive, hand on, publish, join, forget, read figures and events, make mistakes, and leave in
the middle of a request. The space they work in changes every 20 seconds. Handoffs that are open or parked keep their
space, however long ago the last of them was written: a person has to end them. So an operator goes behind the workers.
Of the spaces that were left, in turns, one is deleted, in one everything is cancelled and discarded, and in one what nobody
takes is parked by its time, and discarded then; the last two go by themselves when nothing was written in them for a while.
A server that gives everything back stays as large as it is.

The first third is for warming up: every time that something is kept for (OPTIONS) is over many times by then. After it the
largest sample of the last third may not be larger than that of the second third by more than the slack below: a leak grows as
long as it is looked at. Exits with 1 where something grew, an answer was 5xx, or the server ended; what is in the store at the
end is printed.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import random
import shutil
import sqlite3
import statistics
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
SAMPLE_S = 2.0
# Everything that is kept for a time is kept for a short one: ended handoffs and events, spaces, answers to
# Idempotency-Keys, what nobody takes from a queue. Rows in memory are kept as long as there is room for them: so little that
# they fill it before the first third is over.
OPTIONS = ("--keep", "30s", "--keep-idle", "60s", "--idempotency-ttl", "60s", "--queue-timeout", "20s", "--cache", "2m")
# What samples differ by without a leak: the allocator's pages, a burst of connections, a WAL before its checkpoint
# (1,000 pages of 4 KiB), a round of spaces that went a moment later.
SLACK = {"memory_kb": (1.10, 8 * 1024), "descriptors": (1.0, 2 * WORKERS), "disk_kb": (1.15, 4 * 1024), "spaces": (1.0, 3)}
# How the operator ends a space that was left; the number of the space says which.
WAYS = ("delete", "cancel", "time")
OPERATE_S = 2.0
WORDS = "retry gateway backoff jitter order payment request schema migration index latency budget review patch test plan".split()


@dataclass
class Counts:
    calls: int = 0
    bad: int = 0
    worst: str = ""


def text(chance: random.Random) -> str:
    return " ".join(chance.choice(WORDS) for _ in range(int(chance.paretovariate(1.2) * 30) % 2000 + 5))


def space_number() -> int:
    return int(time.monotonic() / options.space_seconds)


class Worker:
    def __init__(self, server: Server, number: int, seed: int, counts: Counts) -> None:
        self.server, self.name, self.counts = server, f"agent-{number % 8}", counts
        self.chance = random.Random(seed * 1000 + number)
        self.client: Client | None = None

    async def call(self, path: str, body: Any, method: str = "POST", headers: str = "") -> tuple[int, Any]:
        assert self.client is not None and self.client.writer is not None
        if method == "POST":
            self.client.send(path, body, headers)
        else:
            self.client.writer.write(f"{method} {path} HTTP/1.1\r\n{self.client.head}\r\n".encode())
        status, answer = await self.client.answer()
        self.counts.calls += 1
        if status >= 500 and status != 504:
            self.counts.bad += 1
            self.counts.worst = f"{method} {path}: {status} {str(answer)[:200]}"
        return status, answer

    def key(self) -> str:
        """For every third call an Idempotency-Key."""
        return f"Idempotency-Key: {self.chance.getrandbits(64):x}\r\n" if self.chance.random() < 1 / 3 else ""

    async def remember(self) -> None:
        body = {"content": text(self.chance), "agent": self.name}
        status, memory = await self.call("/v1/memories", body, headers=self.key())
        if status == 201 and self.chance.random() < 0.3:
            await self.call(f"/v1/memories/{memory['id']}", None, "DELETE")

    async def search(self) -> None:
        await self.call(f"/v1/memories?query={'+'.join(self.chance.sample(WORDS, 3))}", None, "GET")

    async def send(self) -> None:
        await self.call("/v1/handoffs", {
            "from": self.name, "target_agent": f"agent-{self.chance.randrange(8)}", "task_summary": text(self.chance)[:500],
            "constraints": {"language": "c"}}, headers=self.key())

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
            now = f"soak-{space_number()}"
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


class Operator:
    """Ends what the workers have left behind in their spaces."""

    def __init__(self, server: Server, counts: Counts) -> None:
        self.server, self.counts = server, counts
        self.spaces = 0  # there were at the last look
        self.deleted = 0

    async def call(self, method: str, path: str, body: Any = None, space: str = "default") -> Any:
        client = await Client(self.server.address, space).connect(asyncio.Semaphore(1))
        assert client.writer is not None
        if method == "POST":
            client.send(path, body)
        else:
            client.writer.write(f"{method} {path} HTTP/1.1\r\n{client.head}\r\n".encode())
        status, answer = await client.answer()
        client.close()
        self.counts.calls += 1
        if status >= 500:
            self.counts.bad += 1
            self.counts.worst = f"{method} {path}: {status} {str(answer)[:200]}"
        return answer

    async def end(self, space: dict[str, Any]) -> None:
        name, way = space["name"], WAYS[int(space["name"].removeprefix("soak-")) % len(WAYS)]
        everything = {"all": True, "limit": 1000, "why": "nobody works here any more"}
        if way == "delete":
            await self.call("DELETE", f"/v1/spaces/{name}?confirm={name}")
            self.deleted += 1
        if way == "cancel" and space["handoffs_open"]:
            await self.call("POST", "/v1/queued/cancel", everything, name)
        if way != "delete" and space["parked"]:
            await self.call("POST", "/v1/parked/discard", everything, name)

    async def run(self, until: float) -> None:
        while time.monotonic() < until:
            listed = (await self.call("GET", "/v1/spaces?page_size=1000"))["spaces"]
            self.spaces = len(listed)
            # The space before the present one may still have a call under way.
            left = [space for space in listed
                    if space["name"].startswith("soak-") and int(space["name"].removeprefix("soak-")) < space_number() - 1]
            for space in left:
                await self.end(space)
            await asyncio.sleep(OPERATE_S)


def sample(server: Server, operator: Operator) -> dict[str, int]:
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
        "spaces": operator.spaces,
        "calls": operator.counts.calls,
    }


def verdict(samples: list[dict[str, int]]) -> bool:
    third, ok = len(samples) // 3, True
    parts = [samples[:third], samples[third:2 * third], samples[2 * third:]]
    print("| figure | at first | most in each third | median of each third | |\n| --- | --- | --- | --- | --- |")
    for name, (factor, more) in SLACK.items():
        most = [max(s[name] for s in part) for part in parts]
        middle = [int(statistics.median(s[name] for s in part)) for part in parts]
        grew = most[2] > most[1] * factor + more
        ok = ok and not grew
        cells = [name, samples[0][name], ", ".join(map(str, most)), ", ".join(map(str, middle)), "GREW" if grew else "flat"]
        print(f"| {' | '.join(map(str, cells))} |")
    calls = [part[-1]["calls"] - part[0]["calls"] for part in parts]
    print(f"calls in each third: {', '.join(map(str, calls))}")
    return ok


def contents(data: Path) -> str:
    """What a store that was stopped is made of: rows and kilobytes of each table, its indexes with it."""
    with contextlib.closing(sqlite3.connect(f"file:{data / 'spine.db'}?mode=ro", uri=True)) as db:
        tables = [name for name, in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        rows = {name: db.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in tables}
        size = dict(db.execute("SELECT tbl_name, sum(pgsize) / 1024 FROM dbstat JOIN sqlite_schema USING (name) GROUP BY 1"))
        free = db.execute("PRAGMA freelist_count").fetchone()[0] * 4
    largest = sorted((name for name in tables if rows[name]), key=lambda name: -size.get(name, 0))
    return f"free {free} kB; " + "; ".join(f"{name} {rows[name]} rows {size.get(name, 0)} kB" for name in largest)


async def soak(server: Server) -> bool:
    counts, end = Counts(), time.monotonic() + options.seconds
    samples: list[dict[str, int]] = []
    operator = Operator(server, counts)
    tasks = [asyncio.create_task(Worker(server, number, options.seed, counts).run(end)) for number in range(WORKERS)]
    tasks.append(asyncio.create_task(operator.run(end)))
    while time.monotonic() < end and server.process.poll() is None and not any(task.done() for task in tasks):
        samples.append(sample(server, operator))
        await asyncio.sleep(SAMPLE_S)
    await asyncio.gather(*tasks)
    print(f"{counts.calls} calls in {options.seconds} s, {counts.bad} of them 5xx{': ' + counts.worst if counts.bad else ''}; "
          f"{operator.deleted} spaces deleted by name")
    return verdict(samples) and counts.bad == 0


def main() -> int:
    directory = Path(tempfile.mkdtemp(prefix="spine-soak-"))
    server = Server(directory / "data", *OPTIONS).wait_until_ready()
    try:
        ok = asyncio.run(soak(server))
        ok = server.terminate() == 0 and ok
        print(f"in the store at the end: {contents(server.data)}")
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
    parser.add_argument("--space-seconds", type=float, default=20.0, help="so long they work in one space")
    parser.add_argument("--pause", type=float, default=0.02, help="of each worker between two acts, in seconds")
    options = parser.parse_args()
    sys.exit(main())
