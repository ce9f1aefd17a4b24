"""A light request while others ask for a lot of work: it must not wait for them.

Attackers run in processes of their own, each in a loop: 8 MB of random letters to be counted, an envelope of 120 memories
of 256 KiB to be packed (the first time, which is the slow one, is a part of it), a body of 8 MB of JSON, 8 MiB of memories to be fetched, and
an envelope of 4 MB to be read, sent again and received; and, on a server with many rows,
searches of 7 KB whose 1,000 results are explained, and lists of tasks with a filter that nothing fits. Measures the 99th percentile of
a light GET meanwhile, for each attack with two attackers. Exits with 1 where it is above --most-ms, or where another
client with a little work of the same kind waits longer than --turn-s.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent.parent)]

from server import Server  # noqa: E402

LETTERS = 7_900_000
HUNDRED_KB = 100_000
CONNECTIONS = 4  # of the light requests: some on each of the server's threads


def letters(seed: int, count: int) -> str:
    return "".join(random.Random(seed).choices("abcdefghijklmnopqrstuvwxyz", k=count))


def call(address: tuple[str, int], method: str, path: str, body: object = None, agent: str = "light", timeout: float = 120) -> tuple:
    connection = http.client.HTTPConnection(*address, timeout=timeout)
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    connection.request(method, path, data, {"Content-Type": "application/json", "Spine-Agent": agent})
    response = connection.getresponse()
    answer = response.status, response.read()
    connection.close()
    return answer


def attacker(address: tuple[str, int], path: str, body: bytes | None, done: multiprocessing.Value) -> None:
    while True:
        with contextlib.suppress(OSError, http.client.HTTPException):
            status, answer = call(address, "POST" if body else "GET", path, body, "attacker")
            assert status in (200, 202, 400), answer[:300]
            done.value += 1


def large_envelope(server: Server) -> str:
    """Sent to `b` and `c`: who peeks gets it each time."""
    steps = [{"agent": "a", "action": f"did {number} " + "x" * 2000, "result": "y" * 200} for number in range(1500)]
    packed = {"from": "a", "target_agent": "b", "task_summary": "go", "include_recent": 0, "execution_history": steps,
              "constraints": {"max_tokens": 1_000_000}}
    status, data = call(server.address, "POST", "/v1/handoffs", {"envelope": packed})
    assert status == 202, data
    return json.loads(data)["envelope_id"]


def attacks(server: Server) -> dict[str, tuple[str, bytes | None]]:
    ids = []
    for number in range(120):
        status, data = call(server.address, "POST", "/v1/memories", {"content": letters(number, 256_000)})
        assert status == 201, data
        ids.append(json.loads(data)["id"])
    text = letters(1000, LETTERS)
    wide = json.dumps({"ids": [[1, {"a": "b"}]] * 600_000})[: 8_000_000 - 2]
    envelope = large_envelope(server)
    return {
        "large envelope as a prompt": (f"/v1/envelopes/{envelope}?format=prompt", None),
        "large envelope, considered": (f"/v1/envelopes/{envelope}/considered", None),
        "large envelope, sent again": ("/v1/handoffs", json.dumps({"envelope_id": envelope}).encode()),
        "large envelope over MCP": ("/mcp", json.dumps({
            "jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": f"spine://envelope/{envelope}"}}).encode()),
        "counting": ("/v1/tokens", json.dumps({"text": text}).encode()),
        "packing": ("/v1/envelopes", json.dumps({
            "from": "a", "target_agent": "b", "task_summary": "Read " + " ".join(ids), "dry_run": True,
            "constraints": {"max_tokens": 10_000_000}}).encode()),
        "large JSON": ("/v1/memories/fetch", wide.encode()),
        "fetching": ("/v1/memories/fetch", json.dumps({"ids": ids}).encode()),
    }


def fill(server: Server, memories: int, tasks: int) -> list[str]:
    """Many rows. Returns the words that the memories are made of."""
    chance = random.Random(2)
    words = [letters(number, 7) for number in range(2000)]
    for _ in range(memories // 500):
        batch = [{"content": " ".join(chance.choices(words, k=40))} for _ in range(500)]
        status, data = call(server.address, "POST", "/v1/memories/batch", {"memories": batch})
        assert status == 201, data
    with ThreadPoolExecutor(16) as pool:
        for status, data in pool.map(lambda number: call(server.address, "POST", "/v1/handoffs", {"envelope": {
                "from": "a", "target_agent": f"b{number % 20}", "task_summary": f"do {number}", "include_recent": 0}}), range(tasks)):
            assert status == 202, data
    return words


def attacks_on_rows(server: Server, memories: int, tasks: int) -> dict[str, tuple[str, bytes | None]]:
    query = "+".join(fill(server, memories, tasks))[:7000]
    return {
        "explained search": (f"/v1/memories?query={query}&explain=true&page_size=1000", None),
        "tasks, none of that age": ("/v1/tasks?older_than_s=100000", None),
        "tasks, none of that age, waiting": ("/v1/tasks?state=waiting&older_than_s=100000", None),
        "tasks, none with that text": ("/v1/tasks?query=nothingofthat", None),
        "audit, none by that actor": ("/v1/audit?actor=nobody", None),
    }


def light_ms(address: tuple[str, int], seconds: float) -> tuple[float, float, float]:
    connections = [http.client.HTTPConnection(*address, timeout=60) for _ in range(CONNECTIONS)]
    for connection in connections:
        connection.connect()
    times, until = [], time.monotonic() + seconds
    while time.monotonic() < until or len(times) < 100:
        connection = connections[len(times) % CONNECTIONS]
        began = time.monotonic()
        connection.request("GET", "/v1/memories?page_size=1&query=zzz")
        response = connection.getresponse()
        response.read()
        assert response.status == 200, response.status
        times.append((time.monotonic() - began) * 1000)
        time.sleep(0.002)
    for connection in connections:
        connection.close()
    times.sort()
    return times[len(times) // 2], times[int(len(times) * 0.99)], times[-1]


def wait_until_alone(address: tuple[str, int], seconds: float = 120) -> None:
    """What attackers asked for before they ended is done to the end."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if json.loads(call(address, "GET", "/v1/status")[1])["http"]["requests_active"] == 1:
            return
        time.sleep(0.05)


def measure(server: Server, name: str, attack: tuple[str, bytes | None], options: argparse.Namespace) -> list[str]:
    wrong = []
    done = multiprocessing.Value("i", 0)
    attackers = [multiprocessing.Process(target=attacker, args=(server.address, *attack, done), daemon=True) for _ in range(2)]
    for one in attackers:
        one.start()
    p50, p99, most = light_ms(server.address, options.seconds)
    began = time.monotonic()
    status, data = call(server.address, "POST", "/v1/tokens", {"text": letters(5, HUNDRED_KB)})
    turn = time.monotonic() - began
    assert status == 200, data
    for one in attackers:
        one.terminate()
        one.join()
    wait_until_alone(server.address)
    print(f"{name}: attackers were answered {done.value} times; a light GET {p50:.1f} ms, p99 {p99:.1f} ms, "
          f"at the most {most:.0f} ms; counting 100 KB {turn:.2f} s")
    sys.stdout.flush()
    if p99 > options.most_ms:
        wrong.append(f"{name}: a light GET waited {p99:.1f} ms")
    if turn > options.turn_s:
        wrong.append(f"{name}: another client's turn came after {turn:.2f} s")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--most-ms", type=float, default=50.0)
    parser.add_argument("--turn-s", type=float, default=5.0)
    parser.add_argument("--memories", type=int, default=40_000, help="on the server with many rows")
    parser.add_argument("--tasks", type=int, default=16_000)
    parser.add_argument("--only", default="", help="attacks whose name has this in it")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="spine-fair-"))
    wrong: list[str] = []
    try:
        for prepare in (attacks, lambda server: attacks_on_rows(server, options.memories, options.tasks)):
            server = Server(folder / str(len(os.listdir(folder))), "--log-level", "error").wait_until_ready()
            named = prepare(server)
            print("without attackers: a light GET %.1f ms, p99 %.1f ms, at the most %.0f ms" % light_ms(server.address, options.seconds))
            for name, attack in named.items():
                if options.only in name:
                    wrong += measure(server, name, attack, options)
            if server.terminate() != 0:
                wrong.append("the server did not end well: " + server.log_tail())
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for one in wrong:
        print("  " + one)
    print(f"{0 if wrong else 1} passed, {1 if wrong else 0} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
