#!/usr/bin/env python3
"""How long the lists and the search of tasks take among many.

    bench/tasks.py [--tasks N] [--old BINARY] [--rounds N]

A server makes a task; its rows are copied by SQL (bench/retention.py), with names of their own, and every thousandth with a word of
its own. Then the server is asked, over one connection. With --old a second server on a copy of the store is asked in turns: the ratio
is the median of the rounds'."""

import argparse
import shutil
import sqlite3
import statistics
import tempfile
import time
from pathlib import Path

from retention import Desk, Server, fill, make

ASKED = {
    "the newest": "/v1/tasks?page_size=50",
    "those that wait": "/v1/tasks?state=waiting&page_size=50",
    "a word of none": "/v1/tasks?query=zebra&page_size=50",
    "a word of every thousandth": "/v1/tasks?query=Okapi&page_size=50",
    "a word of all": "/v1/tasks?query=retry+policy&page_size=50",
    "a name": "/v1/tasks?query=task-1-777&page_size=50",
}


def median_ms(desk, path, times=15):
    took = []
    for _ in range(times):
        began = time.perf_counter()
        desk.ok("GET", path)
        took.append(time.perf_counter() - began)
    return 1000 * statistics.median(took)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=100_000)
    parser.add_argument("--old")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="spine-tasks-") as folder:
        data = Path(folder) / "new"
        make(data, 0, 1)
        fill(data, options.tasks, 1)
        with sqlite3.connect(data / "spine.db") as db:
            db.execute("UPDATE task SET summary = 'Okapi. ' || summary WHERE (id & 1099511627775) % 1000 = 0")
        shutil.copytree(data, Path(folder) / "old")
        servers = {"new": Server(data).wait_until_ready()}
        if options.old:
            servers["old"] = Server(Path(folder) / "old", program=Path(options.old)).wait_until_ready()
        desks = {name: Desk(server.address, "bench0") for name, server in servers.items()}
        for what, path in ASKED.items():
            rounds = [{name: median_ms(desk, path) for name, desk in desks.items()} for _ in range(options.rounds)]
            line = f"{what}: {statistics.median(one['new'] for one in rounds):.1f} ms"
            if options.old:
                ratios = sorted(one["new"] / one["old"] for one in rounds)
                line += (f", was {statistics.median(one['old'] for one in rounds):.1f} ms; {statistics.median(ratios):.2f} times "
                         f"({ratios[0]:.2f} to {ratios[-1]:.2f})")
            print(line, flush=True)
        for server in servers.values():
            assert server.terminate() == 0


if __name__ == "__main__":
    main()
