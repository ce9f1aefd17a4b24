#!/usr/bin/env python3
"""What pruning costs, and what it leaves: a store with many ended handoffs against one that never had them.

    bench/retention.py [--handoffs N] [--live N] [--spaces N] [--idle] [--data DIR] [--rounds N] [--out FILE]

1. A server makes one handoff of each kind: its envelope, events, result and memory. Then it stops.
2. The rows are copied N times by SQL, with ids and digests of their own and a day old: that takes seconds, not hours.
   Beside it a second store has the live handoffs alone.
3. The server starts with --keep 1h. While it prunes, a client stores a memory again and again; with --idle nobody does. That takes
   as long as it takes: a million in about a quarter of an hour. With --data both stores stay, and a second run begins with step 4.
4. Both servers start anew, get the same live handoffs, and are measured in turns: deliveries of 64 clients (bench/load), a handoff with a
   result of one client, and the lists. A figure is the median of the rounds' ratios: what slows the machine down slows down both.
5. Both stop. What is in the files is told by dbstat.
"""

import argparse
import json
import os
import sqlite3
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "wire")]
os.environ.setdefault("SPINE_BIN", str(ROOT / "build" / "spine"))

from delivery import Desk  # noqa: E402
from server import Server  # noqa: E402

SUMMARY = "Review the change of the retry policy in the payment service, and say what is missing. " * 3
RESULT = "The policy retries on 502 and 503, but not on a connection that was reset; a test is missing. " * 4
KEYS = (1 << 40) - 1
DAY_MS = 86_400_000


def cycle(desk, number):
    desk.ok("POST", "/v1/handoffs", {"envelope": {"from": "boss", "target_agent": "worker", "task_summary": f"{number} {SUMMARY}",
                                                    "include_recent": 0, "intent": SUMMARY}}, status=202)
    desk.settle("complete", desk.take("worker"), result=f"{number} {RESULT}")


def columns(db, table):
    return [row[1] for row in db.execute(f"PRAGMA table_info({table})")]


def copy(db, table, changes, where, count):
    """Copies the row that fits `where` so many times; `changes` are expressions of i, which counts from 1."""
    names = columns(db, table)
    values = ", ".join(changes.get(name, f"t.{name}") for name in names)
    db.execute(f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}) "
               f"INSERT INTO {table} ({', '.join(names)}) SELECT {values} FROM n, {table} t WHERE {where}")


def fill(data, count, spaces):
    """The first handoff of each space, `count` times in all, a day old."""
    db = sqlite3.connect(data / "spine.db", isolation_level=None)
    db.execute("PRAGMA synchronous = OFF")
    each = count // spaces
    for (space,) in db.execute("SELECT id FROM space WHERE name LIKE 'bench%' ORDER BY id").fetchall():
        base, day = f"{space << 40}", f"- {DAY_MS}"
        last = {t: db.execute(f"SELECT max(id) & {KEYS} FROM {t} WHERE id >> 40 = {space}").fetchone()[0] for t in ("memory", "envelope", "handoff")}
        m, e, h = (f"({base} | ({last[t]} + i))" for t in ("memory", "envelope", "handoff"))
        versions = db.execute("SELECT max(id) FROM memory_version").fetchone()[0]
        events = db.execute("SELECT id FROM event WHERE space = ? ORDER BY id", (space,)).fetchall()
        top = db.execute("SELECT max(id) FROM event").fetchone()[0]
        number = db.execute("SELECT max(number) FROM event WHERE space = ?", (space,)).fetchone()[0]
        db.execute("BEGIN")
        copy(db, "memory", {"id": m, "created_at": f"t.created_at {day}"}, f"t.id = {base} | 1", each)
        copy(db, "memory_version", {"id": f"{versions} + i", "memory": m, "updated_at": f"t.updated_at {day}"}, f"t.memory = {base} | 1", each)
        copy(db, "task", {"id": e, "name": "t.name || '-' || i", "created_at": f"t.created_at {day}"}, f"t.id = {base} | 1", each)
        copy(db, "envelope", {"id": e, "task": e, "created_at": f"t.created_at {day}", "digest": "randomblob(32)"}, f"t.id = {base} | 1", each)
        copy(db, "handoff", {"id": h, "envelope": e, "created_at": f"t.created_at {day}", "changed_at": f"t.changed_at {day}"}, f"t.id = {base} | 1", each)
        copy(db, "result", {"handoff": h, "memory": f"{last['memory']} + i"}, f"t.handoff = {base} | 1", each)
        for at, (event,) in enumerate(events):
            copy(db, "event", {"id": f"{top} + (i - 1) * {len(events)} + {at + 1}", "handoff": f"iif(t.handoff > 0, {last['handoff']} + i, 0)",
                               "number": f"{number} + (i - 1) * {len(events)} + {at + 1}", "at": f"t.at {day}", "envelope": f"{last['envelope']} + i"}, f"t.id = {event}", each)
        db.execute(f"UPDATE handoff SET created_at = created_at {day}, changed_at = changed_at {day} WHERE id >> 40 = {space}")
        db.execute("UPDATE space SET memories = memories + ?, next_memory = next_memory + ? WHERE id = ?", (each, each, space))
        db.execute("COMMIT")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()


def make(data, live, spaces):
    """A store with one completed handoff in each space, and the live ones in the first."""
    server = Server(data).wait_until_ready()
    for number in range(spaces):
        desk = Desk(server.address, f"bench{number}")
        cycle(desk, 0)
        desk.close()
    assert server.terminate() == 0


def add_live(server, live):
    desk = Desk(server.address, "bench0")
    for number in range(live):
        desk.ok("POST", "/v1/handoffs", {"envelope": {"from": "boss", "target_agent": "waiting", "task_summary": f"{number} {SUMMARY}",
                                                        "include_recent": 0}}, status=202)
    desk.close()


def percentiles(times):
    cuts = statistics.quantiles(times, n=100)
    return {"p50_ms": round(cuts[49] * 1000, 2), "p99_ms": round(cuts[98] * 1000, 2), "max_ms": round(max(times) * 1000, 2), "count": len(times)}


def stores(desk, until):
    """How long a store takes, again and again until `until` says so."""
    times = []
    while not until(len(times)):
        began = time.perf_counter()
        desk.store("a small memory")
        times.append(time.perf_counter() - began)
    return percentiles(times)


def is_left(data):
    """Is something there that is to go? The first that is found says so: counting would hold up what is measured."""
    cut = ((time.time() - 3600) * 1000,)
    with sqlite3.connect(f"file:{data}/spine.db?mode=ro", uri=True, timeout=30) as db:
        return (db.execute("SELECT 1 FROM handoff WHERE state IN (4, 5, 7, 8) AND changed_at < ? LIMIT 1", cut).fetchone() or
                db.execute("SELECT 1 FROM event WHERE at < ? LIMIT 1", cut).fetchone())


def free_bytes(data):
    with sqlite3.connect(f"file:{data}/spine.db?mode=ro", uri=True, timeout=30) as db:
        return db.execute("PRAGMA freelist_count").fetchone()[0] * 4096


def sizes(data):
    with sqlite3.connect(f"file:{data}/spine.db?mode=ro", uri=True, timeout=30) as db:
        tables = dict(db.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name").fetchall())
    return {"file": os.path.getsize(data / "spine.db"), "free": free_bytes(data), "tables": tables}


def rss_kb(server):
    return int(next(line for line in open(f"/proc/{server.process.pid}/status") if line.startswith("VmRSS")).split()[1])


LISTS = {
    "tasks": "/v1/tasks?page_size=50",
    "tasks that wait": "/v1/tasks?state=waiting&page_size=50",
    "tasks by a word": "/v1/tasks?query=retry+policy&page_size=50",
    "handoffs": "/v1/handoffs?page_size=100&order=newest",
    "queues": "/v1/queues",
    "events, the newest": "/v1/audit?page_size=50",
    "search of memories": "/v1/memories?query=retry+policy",
    "a task": "/v1/tasks/{task}",
}


def cpu_seconds(server):
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def median_ms(action, times):
    took = []
    for number in range(times):
        began = time.perf_counter()
        action(number)
        took.append(time.perf_counter() - began)
    return 1000 * statistics.median(took)


def deliver(server, seconds=3):
    """Publish, receive, ack with 64 clients: cycles a second, and CPU time of the server for one."""
    before = cpu_seconds(server)
    told = json.loads(subprocess.run([ROOT / "build/bench/load/load", "--scenario", "deliver", "--connections", "64", "--seconds", str(seconds),
                                      "--warmup", "1", "--json", str(server.address[1])], stdout=subprocess.PIPE, check=True).stdout)
    # The warm-up of one second is in the CPU time and not in the cycles.
    cycles = told["cycles"] * (seconds + 1) / seconds
    return seconds / told["cycles"], (cpu_seconds(server) - before) / cycles


def measure(server):
    """What is smaller is better."""
    desk = Desk(server.address, "bench0")
    seconds, cpu = deliver(server)
    figures = {"deliver, 64 clients: ms a cycle": 1000 * seconds, "deliver, 64 clients: CPU us a cycle": 1e6 * cpu,
               "send, receive, complete: ms": median_ms(lambda n: cycle(desk, n), 100)}
    task = desk.ok("GET", "/v1/tasks?state=waiting&page_size=1")["tasks"][0]["id"]
    for name, path in LISTS.items():
        figures[name + ": ms"] = median_ms(lambda _, path=path.format(task=task): desk.ok("GET", path), 30)
    desk.close()
    return figures


def compare(pruned, reference, rounds):
    seen = {"pruned": [], "reference": []}
    for turn in range(rounds):
        order = [("pruned", pruned), ("reference", reference)]
        for name, server in order if turn % 2 else reversed(order):
            seen[name].append(measure(server))
    table = {}
    for figure in seen["pruned"][0]:
        ratios = sorted(p[figure] / r[figure] for p, r in zip(seen["pruned"], seen["reference"]))
        table[figure] = {**{name: round(statistics.median(one[figure] for one in told), 3) for name, told in seen.items()},
                         "ratio": round(statistics.median(ratios), 3), "least": round(ratios[0], 3), "most": round(ratios[-1], 3)}
    return table


def prune(data, idle):
    """Starts a server on the store, and waits until it has pruned; how long that took, and how long stores took meanwhile."""
    server = Server(data, "--keep", "1h").wait_until_ready()
    began, seen = time.monotonic(), [0.0, False]
    desk = Desk(server.address, "others")

    def over(_):
        if time.monotonic() - seen[0] > 1:
            seen[0] = time.monotonic()
            seen[1] = not is_left(data)
        return seen[1]

    times = None
    if idle:
        while not over(0):
            time.sleep(0.5)
    else:
        times = stores(desk, over)
    took = time.monotonic() - began
    quiet = time.monotonic()
    free, still = -1, time.monotonic()
    while time.monotonic() - still < 15:    # until no more is given back
        now = free_bytes(data)
        if now != free:
            free, still = now, time.monotonic()
        time.sleep(0.5)
    desk.close()
    assert server.terminate() == 0
    return times, took, still - quiet


def prepare(base, full, options):
    """Both stores; the one has had many handoffs, and has pruned them."""
    for data in (base, full):
        make(data, options.live, options.spaces)
    began = time.monotonic()
    fill(full, options.handoffs, options.spaces)
    report = {"handoffs": options.handoffs, "live": options.live, "spaces": options.spaces, "filled_s": round(time.monotonic() - began, 1)}
    report["before"] = {"file": os.path.getsize(full / "spine.db"), "bytes_a_handoff": round(os.path.getsize(full / "spine.db") / options.handoffs)}
    times, took, shrunk = prune(full, options.idle)
    report["pruning"] = {"seconds": round(took, 1), "handoffs_a_second": round(options.handoffs / took), "stores_meanwhile": times,
                         "giving_back_s": round(shrunk, 1)}
    reference = Server(base, "--keep", "1h").wait_until_ready()
    desk = Desk(reference.address, "others")
    report["stores_without_pruning"] = None if options.idle else stores(desk, lambda count: count >= 2000)
    desk.close()
    assert reference.terminate() == 0
    return report


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--handoffs", type=int, default=100_000)
    parser.add_argument("--live", type=int, default=2000)
    parser.add_argument("--spaces", type=int, default=1)
    parser.add_argument("--idle", action="store_true", help="nobody else writes while it prunes")
    parser.add_argument("--data", help="keep both stores here, as they were before they were measured; where they are, begin with them")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="spine-retention-") as folder:
        where = Path(options.data or folder)
        base, full, told = where / "base", where / "full", where / "told.json"
        if not told.exists():
            told.write_text(json.dumps(prepare(base, full, options)))
        report = json.loads(told.read_text())
        if options.data:        # what is measured is a copy
            for name in ("base", "full"):
                shutil.copytree(where / name, Path(folder) / name)
            base, full = Path(folder) / "base", Path(folder) / "full"
        server, reference = (Server(data, "--keep", "1h").wait_until_ready() for data in (full, base))
        for one in (reference, server):
            add_live(one, options.live)
            assert one.terminate() == 0
        report["sizes"] = {"reference": sizes(base), "pruned": sizes(full)}
        server, reference = (Server(data, "--keep", "1h").wait_until_ready() for data in (full, base))
        report["speed"] = compare(server, reference, options.rounds)
        for name, one in (("reference", reference), ("pruned", server)):
            report.setdefault("rss_kb", {})[name] = rss_kb(one)
            assert one.terminate() == 0
        # Before what was measured: a cycle more in one of the two is no difference of theirs.
        pruned, fresh = report["sizes"]["pruned"], report["sizes"]["reference"]
        stubs = sum(pruned["tables"].get(t, 0) for t in ("pruned_envelope", "pruned_handoff"))
        tombs = pruned["tables"]["memory"] - fresh["tables"]["memory"]
        report["left_a_handoff"] = {"stubs": round(stubs / options.handoffs, 1), "tombstones_of_results": round(tombs / options.handoffs, 1),
                                    "together": round((stubs + tombs) / options.handoffs, 1)}
        report["rest_against_reference"] = {
            "file": round((pruned["file"] - stubs - tombs) / fresh["file"], 3),
            "without_free_pages": round((pruned["file"] - pruned["free"] - stubs - tombs) / (fresh["file"] - fresh["free"]), 3)}
    text = json.dumps(report, indent=1)
    print(text)
    if options.out:
        Path(options.out).write_text(text + "\n")


if __name__ == "__main__":
    main()
