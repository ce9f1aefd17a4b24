#!/usr/bin/python3
"""What `spine mcp` costs: how much later an answer comes than over HTTP, and how long it takes to start.

    bench/mcp_stdio.py [--calls N] [--starts N] [--out FILE]

1. One tool call at a time, in turns of 100: over a connection to /mcp that stays open, and through `spine mcp`. The client
   is the same program, and writes and reads the same bytes. What is added is the difference of the medians.
2. From the start of the process to the answer of its first message (server/discover), beside `spine version`, which is
   what a process of this program takes at the least.
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from server import Server, binary, clean_environment  # noqa: E402

TURN = 100
VERSION = "2026-07-28"


def message(number, method, **params):
    meta = {"io.modelcontextprotocol/protocolVersion": VERSION, "io.modelcontextprotocol/clientCapabilities": {}}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, "_meta": meta}}).encode()


def status_call(number):
    return message(number, "tools/call", name="spine_status", arguments={})


class Http:
    def __init__(self, address):
        self.socket = socket.create_connection(address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.stream = self.socket.makefile("rb")

    def ask(self, body):
        head = (f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                f"Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {VERSION}\r\n"
                f"Mcp-Method: tools/call\r\nMcp-Name: spine_status\r\nContent-Length: {len(body)}\r\n\r\n")
        self.socket.sendall(head.encode() + body)
        length = 0
        while (line := self.stream.readline()) != b"\r\n":
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        return self.stream.read(length)


class Stdio:
    def __init__(self, url):
        self.process = subprocess.Popen([str(binary()), "mcp", "--url", url], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env=clean_environment(), bufsize=0)
        self.stream = self.process.stdout

    def ask(self, body):
        os.write(self.process.stdin.fileno(), body + b"\n")
        answer = b""
        while not answer.endswith(b"\n"):
            answer += os.read(self.stream.fileno(), 1 << 16)
        return answer

    def close(self):
        self.process.stdin.close()
        assert self.process.wait(10) == 0


def timed_ms(run):
    begin = time.perf_counter()
    run()
    return (time.perf_counter() - begin) * 1000


def calls(server, count):
    """The times of both ways, in milliseconds."""
    ways = {"HTTP": Http(server.address), "spine mcp": Stdio(server.url)}
    times = {name: [] for name in ways}
    for name, way in ways.items():
        assert b'"ready"' in way.ask(status_call(0)), name
    for turn in range(count // TURN):
        for name, way in ways.items():
            times[name] += [timed_ms(lambda: way.ask(status_call(number))) for number in range(TURN)]
    ways["spine mcp"].close()
    return times


def starts(server, count):
    times = {"spine mcp": [], "spine version": []}

    def first_answer():
        host = Stdio(server.url)
        host.ask(message(1, "server/discover"))
        hosts.append(host)

    for _ in range(count):
        hosts = []
        times["spine mcp"].append(timed_ms(first_answer))
        hosts[0].close()
        times["spine version"].append(timed_ms(lambda: subprocess.run([str(binary()), "version"], capture_output=True)))
    return times


def row(name, values):
    cuts = statistics.quantiles(values, n=100)
    return f"| {name} | {len(values)} | {cuts[49]:.3f} | {cuts[94]:.3f} | {cuts[98]:.3f} |"


def table(title, times):
    return [f"| {title} | n | p50 ms | p95 ms | p99 ms |", "| --- | --- | --- | --- | --- |",
            *(row(name, values) for name, values in times.items()), ""]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=5000)
    parser.add_argument("--starts", type=int, default=100)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as where:
        server = Server(Path(where) / "data").wait_until_ready()
        try:
            call, start = calls(server, given.calls), starts(server, given.starts)
        finally:
            server.terminate()
    added = statistics.median(call["spine mcp"]) - statistics.median(call["HTTP"])
    begun = statistics.median(start["spine mcp"])
    lines = ["# What `spine mcp` costs", "", f"`bench/mcp_stdio.py`; the program says how. {os.cpu_count()} cores, load "
             f"{os.getloadavg()[0]:.1f} at the end.", "",
             *table("a tool call (spine_status)", call),
             f"Added at the median: {added:.3f} ms; promised: at most 1 ms.", "",
             *table("from the start to the first answer", start),
             f"Started at the median: {begun:.1f} ms; promised: at most 50 ms."]
    print("\n".join(lines))
    if given.out:
        given.out.write_text("\n".join(lines) + "\n")
    return 0 if added <= 1 and begun <= 50 else 1


if __name__ == "__main__":
    sys.exit(main())
