#!/usr/bin/python3
"""What a tool call over /mcp costs the server, against the same call over HTTP: CPU time, turn by turn.

    bench/mcp.py [--rounds 9] [--calls 1500] [--write]

One server and one connection. Each round makes the same calls both ways, so many of each, and takes the CPU time of all
of the server's threads (schedstat, in nanoseconds). The figure is the median of the rounds' ratios: a machine that is
busy is busy for both. --write puts the figures into bench/results/mcp.md."""

import argparse
import json
import os
import socket
import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from server import Server, binary  # noqa: E402

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
AT_MOST = 1.3


def request(method, path, headers, body=None):
    data = b"" if body is None else json.dumps(body, separators=(",", ":")).encode()
    head = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", "Spine-Agent: alice", *headers]
    if body is not None:
        head += ["Content-Type: application/json", f"Content-Length: {len(data)}"]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + data


def tool(name, arguments):
    return request("POST", "/mcp", [
        "Accept: application/json, text/event-stream", "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call",
        f"Mcp-Name: {name}"], {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": name, "arguments": arguments, "_meta": META}})


CONTENT = "The payment gateway answers 429 with Retry-After; the client must wait, not hammer. " * 4
PACK = {"target_agent": "bob", "task_summary": "Fix the retries of the payment gateway", "intent": "please fix it"}
CALLS = {
    "memory_get": (request("GET", "/v1/memories/ms-1", []), tool("memory_get", {"id": "ms-1"})),
    "memory_search": (request("GET", "/v1/memories?query=payment+gateway&page_size=5", []),
                      tool("memory_search", {"query": "payment gateway", "page_size": 5})),
    "memory_store": (request("POST", "/v1/memories", [], {"content": CONTENT, "tags": ["gateway"]}),
                     tool("memory_store", {"content": CONTENT, "tags": ["gateway"]})),
    "agent_handoff": (request("POST", "/v1/handoffs", [], {"envelope": PACK}), tool("agent_handoff", PACK)),
    "handoff_receive": (request("POST", "/v1/agents/nobody/receive", [], {"format": "prompt", "wait_s": 0}),
                        tool("handoff_receive", {"wait_s": 0}).replace(b"Spine-Agent: alice", b"Spine-Agent: nobody")),
    "spine_status": (request("GET", "/v1/status", []), tool("spine_status", {})),
}


class Line:
    def __init__(self, address):
        self.socket = socket.create_connection(address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def call(self, data):
        self.socket.sendall(data)
        got = self.socket.recv(65536)
        while b"\r\n\r\n" not in got:
            got += self.socket.recv(65536)
        head, _, body = got.partition(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        while len(body) < length:
            body += self.socket.recv(65536)
        if not head.startswith(b"HTTP/1.1 20") or b'"isError"' in body:
            sys.exit(f"refused: {head!r} {body[:400]!r}")


def cpu_ns(pid):
    return sum(int((task / "schedstat").read_text().split()[0]) for task in Path(f"/proc/{pid}/task").iterdir())


def cost(server, line, data, calls):
    before = cpu_ns(server.process.pid)
    for _ in range(calls):
        line.call(data)
    return (cpu_ns(server.process.pid) - before) / calls / 1000


def measure(server, line, rounds, calls):
    for name, (plain, mcp) in CALLS.items():
        for data in (plain, mcp):
            cost(server, line, data, 100)
        told = []
        for turn in range(rounds):
            if turn % 2:
                second, first = cost(server, line, mcp, calls), cost(server, line, plain, calls)
            else:
                first, second = cost(server, line, plain, calls), cost(server, line, mcp, calls)
            told.append((first, second))
        ratios = [second / first for first, second in told]
        yield (name, statistics.median(first for first, _ in told), statistics.median(second for _, second in told),
               statistics.median(ratios), min(ratios), max(ratios))


def list_tokens(line_address):
    import subprocess
    import urllib.request

    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}).encode()
    asked = urllib.request.Request(f"http://{line_address[0]}:{line_address[1]}/mcp", body, {
        "Content-Type": "application/json", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"})
    text = urllib.request.urlopen(asked).read()
    return int(subprocess.run([str(binary()), "tokens"], input=text, stdout=subprocess.PIPE, check=True).stdout.split()[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--calls", type=int, default=1500)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as where:
        server = Server(Path(where) / "data").wait_until_ready()
        line = Line(server.address)
        for i in range(200):
            line.call(request("POST", "/v1/memories", [], {"content": f"{CONTENT} Number {i}."}))
        lines = [f"| {name} | {plain:.0f} µs | {mcp:.0f} µs | {ratio:.2f} ({least:.2f} to {most:.2f}) | "
                 f"{'OK' if ratio <= AT_MOST else 'short'} |"
                 for name, plain, mcp, ratio, least, most in measure(server, line, options.rounds, options.calls)]
        tokens = list_tokens(server.address)
        server.terminate()
    text = "\n".join(["# MCP: figures", "", "Written by `bench/mcp.py --write`.", "",
                      f"- {os.cpu_count()} cores, load {os.getloadavg()[0]:.0f} while measuring; {options.rounds} rounds of {options.calls} calls each way, in turns",
                      f"- the whole answer to `tools/list`: {tokens:,} tokens (o200k_base), at most 2,500", "",
                      "CPU time of the server for one call, medians; the ratio is the median of the rounds' ratios, at most "
                      f"{AT_MOST}.", "", "| tool | over HTTP | over /mcp | ratio | |", "| --- | --- | --- | --- | --- |",
                      *lines, ""])
    print(text)
    if options.write:
        (ROOT / "bench/results/mcp.md").write_text(text)


if __name__ == "__main__":
    main()
