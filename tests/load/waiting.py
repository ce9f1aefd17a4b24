"""Ten thousand receivers that wait at one server: none is refused, each costs little memory, all together no CPU.

Then one handoff for each: every one must get its own, and a join waits until all have completed theirs, which must not cost
more than what its answer holds. Prints what it measured; exits with 1 where something failed or a waiter took more than
--most-kb.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent.parent)]

from many import Client, allow_descriptors, connect_all  # noqa: E402
from server import Server  # noqa: E402

IDLE_S = 5.0
IDLE_CPU_MOST_S = 0.1
PUBLISH_AT_ONCE = 1000
JOIN_MOST_KB = 200 * 1024


def resident_kb(server: Server) -> int:
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:"))


def cpu_seconds(server: Server) -> float:
    """Of all threads, to the nanosecond: in ticks of the clock next to nothing would be none, or a whole tick."""
    tasks = Path(f"/proc/{server.process.pid}/task").glob("*/schedstat")
    return sum(int(path.read_text().split()[0]) for path in tasks) / 1e9


async def requests_held(address: tuple[str, int]) -> int:
    reader, writer = await asyncio.open_connection(*address)
    writer.write(b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    text = (await reader.read()).decode()
    writer.close()
    return int(text.split('"requests_active":')[1].split(",")[0].rstrip("}")) - 1


async def measure(server: Server, count: int) -> bool:
    before_kb = resident_kb(server)
    clients = await connect_all(server.address, "default", count)
    connected_kb = resident_kb(server)
    for number, client in enumerate(clients):
        client.send(f"/v1/agents/agent-{number}/receive", {"wait_s": 60, "format": "none"})
    while await requests_held(server.address) < count:
        await asyncio.sleep(0.05)
    waiting_kb, cpu, began = resident_kb(server), cpu_seconds(server), time.monotonic()
    await asyncio.sleep(IDLE_S)
    used, passed = cpu_seconds(server) - cpu, time.monotonic() - began
    each_kb = (waiting_kb - before_kb) / count
    print(f"{count} receivers wait: {each_kb:.2f} KB resident each ({(connected_kb - before_kb) / count:.2f} of it for the connection), "
          f"{used * 1000:.1f} ms of CPU in {passed:.1f} s")
    served = await serve(server, clients)
    for client in clients:
        client.close()
    return served and each_kb <= options.most_kb and used <= IDLE_CPU_MOST_S


async def serve(server: Server, clients: list[Client]) -> bool:
    """One handoff for each."""
    sender, joiner = await connect_all(server.address, "default", 2)
    began = time.monotonic()
    draft = {"from": "load", "target_agent": "x", "task_summary": "wake up", "include_recent": 0}
    status, envelope = await sender.post("/v1/envelopes", draft)
    assert status == 201, envelope
    for first in range(0, len(clients), PUBLISH_AT_ONCE):
        names = [f"agent-{number}" for number in range(first, min(first + PUBLISH_AT_ONCE, len(clients)))]
        body = {"envelope_id": envelope["id"], "receivers": names, "ack_timeout_s": 600}
        status, made = await sender.post("/v1/channels/all/publish", body)
        assert status == 200, made
    answers = await asyncio.gather(*(client.answer() for client in clients))
    right = [answer["handoffs"][0] for number, (status, answer) in enumerate(answers)
             if status == 200 and len(answer["handoffs"]) == 1 and answer["handoffs"][0]["to"] == f"agent-{number}"]
    print(f"{len(right)} of {len(clients)} were given their handoff, in {time.monotonic() - began:.1f} s")
    if len(right) != len(clients):
        return False
    before_kb, began = resident_kb(server), time.monotonic()
    joiner.send("/v1/channels/all/join", {"envelope_id": envelope["id"], "wait_s": 60})
    done = await asyncio.gather(*(client.post(f"/v1/handoffs/{handoff['id']}/complete", {"lease": handoff["lease"], "result": 1})
                                  for client, handoff in zip(clients, right)))
    status, joined = await joiner.answer()
    grown_kb = resident_kb(server) - before_kb
    print(f"{joined.get('completed')} completed, joined in {time.monotonic() - began:.1f} s, {grown_kb / 1024:.0f} MB more resident")
    return all(status == 200 for status, _ in done) and joined.get("state") == "joined" and grown_kb <= JOIN_MOST_KB


def main() -> int:
    if not allow_descriptors(options.receivers + 500):
        print(f"this machine does not allow {options.receivers} open files")
        return 1
    directory = Path(tempfile.mkdtemp(prefix="spine-load-"))
    server = Server(directory / "data", "--max-connections", str(options.receivers + 100)).wait_until_ready()
    try:
        ok = asyncio.run(measure(server, options.receivers))
        ok = server.terminate() == 0 and ok
    finally:
        if server.process.poll() is None:
            server.kill()
        shutil.rmtree(directory)
    print("ok" if ok else "FAILED")
    return 0 if ok else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Ten thousand receivers that wait at one server.")
    parser.add_argument("--receivers", type=int, default=10000)
    parser.add_argument("--most-kb", type=float, default=10.0, help="resident memory of a waiter at most")
    options = parser.parse_args()
    sys.exit(main())
