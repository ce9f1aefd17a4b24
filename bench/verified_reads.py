#!/usr/bin/env python3
"""What verifying every page costs: two servers do the same work under callgrind, in turns, and their instructions are counted.

    bench/verified_reads.py --old BINARY [--new build/spine] [--cycles 150] [--reads 600] [--rounds 2]

    deliveries  pack, send, receive, ack, one after the other
    cold reads  memories of 3,000 bytes by their id, each once, from a server that has just started and keeps no rows
                (--cache 0): every one is read from the database file
    from log    the same from a store whose server was killed before a checkpoint: every one is read from the log

A busy machine changes no count of instructions; it does not show what the system does in calls, of which the number is
counted with strace (pread64, pwrite64, fdatasync)."""

import argparse
import http.client
import json
import os
import re
import signal
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class Server:
    def __init__(self, binary, data, tool=(), *options):
        Path(data, "server.json").unlink(missing_ok=True)
        self.process = subprocess.Popen([*tool, binary, "serve", "--quiet", "--listen", "127.0.0.1:0", "--data", data, "--log-level", "error", *options],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while True:
            try:
                note = json.loads(Path(data, "server.json").read_text())
                break
            except (OSError, ValueError):
                if self.process.poll() is not None:
                    raise SystemExit(f"{binary} did not start")
                time.sleep(0.05)
        self.pid = note["pid"]
        self.http = http.client.HTTPConnection(*note["url"].removeprefix("http://").split(":"), timeout=300)

    def ask(self, method, path, body=None):
        self.http.request(method, path, json.dumps(body) if body is not None else None, {"Content-Type": "application/json"})
        answer = self.http.getresponse()
        data = answer.read()
        assert answer.status < 300, data
        return json.loads(data)

    def end(self, number=signal.SIGTERM):
        os.kill(self.pid, number)
        self.process.wait()


def cycles(server, count):
    for i in range(count):
        server.ask("POST", "/v1/memories", {"content": f"fact {i} " + "of some words " * 20})
        envelope = server.ask("POST", "/v1/envelopes", {"from": "a", "target_agent": "b", "task_summary": f"work {i}", "include_recent": 3})
        server.ask("POST", "/v1/handoffs", {"envelope_id": envelope["id"]})
        got = server.ask("POST", "/v1/agents/b/receive", {"wait_s": 5})["handoffs"][0]
        server.ask("POST", f"/v1/handoffs/{got['id']}/ack", {"lease": got["lease"]})


def reads(server, count):
    for i in range(1, count + 1):
        server.ask("GET", f"/v1/memories/ms-{i}")


def fill(binary, data, count, kill):
    server = Server(binary, data)
    for i in range(count):
        server.ask("POST", "/v1/memories", {"content": f"{i} " + "x" * 3000})
        if kill and i == count - 1:
            break
    server.end(signal.SIGKILL if kill else signal.SIGTERM)


def counted(binary, data, work, options=()):
    """Instructions of the work, without those of starting and stopping."""
    totals = []
    for what in (lambda server: None, work):
        out = os.path.join(tempfile.mkdtemp(), "out")
        tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"]
        copy = os.path.join(tempfile.mkdtemp(), "data")
        subprocess.run(["cp", "-r", data, copy], check=True) if os.path.exists(data) else None
        server = Server(binary, copy, tool, *options)
        what(server)
        server.end()
        totals.append(int(re.search(r"^(?:summary|totals): (\d+)", Path(out).read_text(), re.M).group(1)))
    return totals[1] - totals[0]


def calls(binary, data, work, options=()):
    copy = os.path.join(tempfile.mkdtemp(), "data")
    subprocess.run(["cp", "-r", data, copy], check=True) if os.path.exists(data) else None
    out = os.path.join(tempfile.mkdtemp(), "out")
    server = Server(binary, copy, ["strace", "-f", "-c", "-o", out, "-e", "trace=pread64,pwrite64,fdatasync"], *options)
    work(server)
    server.end()
    return {name: int(count) for count, name in re.findall(r"^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?(\w+)$", Path(out).read_text(), re.M)
            if name != "total"}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--old", required=True)
    parser.add_argument("--new", default=str(ROOT / "build" / "spine"))
    parser.add_argument("--cycles", type=int, default=150)
    parser.add_argument("--reads", type=int, default=600)
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    both = {"old": given.old, "new": given.new}
    stores = {}
    for name, binary in both.items():
        root = tempfile.mkdtemp()
        fill(binary, f"{root}/cold", given.reads, False)
        fill(binary, f"{root}/log", 200, True)
        stores[name] = root
    works = {
        "deliveries": (lambda s: cycles(s, given.cycles), given.cycles, "none", ()),
        "cold reads": (lambda s: reads(s, given.reads), given.reads, "cold", ("--cache", "0")),
        "from log": (lambda s: reads(s, 200), 200, "log", ("--cache", "0")),
    }
    for title, (work, number, store, options) in works.items():
        found = {name: [] for name in both}
        for _ in range(given.rounds):
            for name, binary in both.items():
                found[name].append(counted(binary, f"{stores[name]}/{store}", work, options) / number)
        old, new = (statistics.median(found[name]) for name in ("old", "new"))
        print(f"{title}: {old:,.0f} -> {new:,.0f} instructions each ({(new / old - 1) * 100:+.1f} %)", flush=True)
        for name, binary in both.items():
            print(f"   {name}: {calls(binary, f'{stores[name]}/{store}', work, options)}", flush=True)


if __name__ == "__main__":
    main()
