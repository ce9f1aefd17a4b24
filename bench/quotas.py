#!/usr/bin/python3
"""What a space at its limit costs the others: bench/results/quotas.md.

Rounds of three kinds follow each other, so that what else the machine does falls on all of them alike:

  alone     a client stores and searches in a space of its own
  health    beside it two clients ask for /healthz as fast as they can: what any hammering costs
  refused   beside it two clients store into a space that is full, as fast as they can: each is refused

What is compared is the rate of the first client, and the CPU time of the server for each request of the others.
"""

from __future__ import annotations

import argparse
import http.client
import json
import multiprocessing
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from server import Server  # noqa: E402


class Caller:
    def __init__(self, address, space):
        self.connection = http.client.HTTPConnection(*address, timeout=60)
        self.headers = {"Spine-Space": space, "Content-Type": "application/json"}

    def call(self, method, path, body=None):
        self.connection.request(method, path, None if body is None else json.dumps(body), self.headers)
        response = self.connection.getresponse()
        return response.status, response.read()


def hammer(address, space, method, path, body, expected, stop, count):
    caller, done = Caller(address, space), 0
    while not stop.is_set():
        status, _ = caller.call(method, path, body)
        assert status == expected, status
        done += 1
    with count.get_lock():
        count.value += done


def cpu_seconds(server):
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def victim(caller, seconds):
    """Stores and searches in turn; how many a second."""
    begin, done = time.monotonic(), 0
    while time.monotonic() - begin < seconds:
        assert caller.call("POST", "/v1/memories", {"content": f"payment {done} of the gateway"})[0] == 201
        assert caller.call("GET", "/v1/memories?query=gateway+payment")[0] == 200
        done += 2
    return done / (time.monotonic() - begin)


def round_of(server, kind, caller, seconds, clients):
    stop, count, processes = multiprocessing.Event(), multiprocessing.Value("q", 0), []
    if kind != "alone":
        what = (("GET", "/healthz", None, 200) if kind == "health"
                else ("POST", "/v1/memories", {"content": "one more"}, 429))
        processes = [multiprocessing.Process(target=hammer, args=(server.address, "full", *what, stop, count)) for _ in range(clients)]
    for process in processes:
        process.start()
    before, begin = cpu_seconds(server), time.monotonic()
    rate = victim(caller, seconds)
    stop.set()
    for process in processes:
        process.join()
    return rate, count.value / (time.monotonic() - begin), cpu_seconds(server) - before


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--clients", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder) / "data").wait_until_ready()
        full = Caller(server.address, "full")
        assert full.call("PUT", "/v1/space", {"quota_memories": 1})[0] == 200
        assert full.call("POST", "/v1/memories", {"content": "the only one"})[0] == 201
        found = {kind: [] for kind in ("alone", "health", "refused")}
        for number in range(options.rounds):
            for kind in found:
                caller = Caller(server.address, f"victim-{number}-{kind}")
                found[kind].append(round_of(server, kind, caller, options.seconds, options.clients))
        server.terminate()
    print("| round | requests a second of the space beside it | requests a second that hammer | CPU seconds of the server |")
    print("| --- | ---: | ---: | ---: |")
    for kind, rounds in found.items():
        rate, other, cpu = (statistics.median(column) for column in zip(*rounds))
        print(f"| {kind} | {rate:.0f} | {other:.0f} | {cpu:.2f} |")
    for one, other in (("refused", "health"), ("refused", "alone"), ("health", "alone")):
        ratios = [a[0] / b[0] for a, b in zip(found[one], found[other])]
        print(f"\n{one} against {other}: the median of {len(ratios)} rounds is {statistics.median(ratios):.2f} "
              f"(from {min(ratios):.2f} to {max(ratios):.2f}).", end="")
    print()


if __name__ == "__main__":
    main()
