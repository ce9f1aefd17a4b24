#!/usr/bin/env python3
"""What pruning costs, and what it leaves: a store with many ended handoffs against one that never had them.

    bench/retention.py [--handoffs N] [--live N] [--spaces N] [--out FILE]

1. A server makes one handoff of each kind: its envelope, events, result and memory. Then it stops.
2. The rows are copied N times by SQL, with ids and digests of their own and a day old: that takes seconds, not hours.
   Beside it a second store has the live handoffs alone.
3. The server starts with --keep 1h. While it prunes, a client stores a memory again and again; beside it nobody does.
4. Both stores are measured: the file, what each table takes (dbstat), the memory of the process, and how fast a handoff is
   sent, received and completed.
"""

import argparse
import json
import os
import sqlite3
import statistics
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
        db.execute("BEGIN")
        copy(db, "memory", {"id": m, "created_at": f"t.created_at {day}"}, f"t.id = {base} | 1", each)
        copy(db, "memory_version", {"id": f"{versions} + i", "memory": m, "updated_at": f"t.updated_at {day}"}, f"t.memory = {base} | 1", each)
        copy(db, "task", {"id": e, "name": "t.name || '-' || i", "created_at": f"t.created_at {day}"}, f"t.id = {base} | 1", each)
        copy(db, "envelope", {"id": e, "task": e, "created_at": f"t.created_at {day}", "digest": "randomblob(32)"}, f"t.id = {base} | 1", each)
        copy(db, "handoff", {"id": h, "envelope": e, "created_at": f"t.created_at {day}", "changed_at": f"t.changed_at {day}"}, f"t.id = {base} | 1", each)
        copy(db, "result", {"handoff": h, "memory": f"{last['memory']} + i"}, f"t.handoff = {base} | 1", each)
        for at, (event,) in enumerate(events):
            copy(db, "event", {"id": f"{top} + (i - 1) * {len(events)} + {at + 1}", "handoff": f"iif(t.handoff > 0, {last['handoff']} + i, 0)",
                               "at": f"t.at {day}", "envelope": f"{last['envelope']} + i"}, f"t.id = {event}", each)
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


def left(data):
    with sqlite3.connect(f"file:{data}/spine.db?mode=ro", uri=True, timeout=30) as db:
        old = db.execute("SELECT count(*) FROM handoff WHERE state IN (4, 5, 7, 8) AND changed_at < ?", ((time.time() - 3600) * 1000,)).fetchone()[0]
        return old + db.execute("SELECT count(*) FROM event WHERE at < ?", ((time.time() - 3600) * 1000,)).fetchone()[0]


def sizes(data):
    with sqlite3.connect(f"file:{data}/spine.db?mode=ro", uri=True, timeout=30) as db:
        tables = dict(db.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name").fetchall())
        free = db.execute("PRAGMA freelist_count").fetchone()[0] * 4096
    return {"file": os.path.getsize(data / "spine.db"), "free": free, "tables": tables}


def rss_kb(server):
    return int(next(line for line in open(f"/proc/{server.process.pid}/status") if line.startswith("VmRSS")).split()[1])


def speed(server, rounds=300):
    desk = Desk(server.address, "bench0")
    times = []
    for number in range(rounds):
        began = time.perf_counter()
        cycle(desk, number)
        times.append(time.perf_counter() - began)
    lists = []
    for _ in range(50):
        began = time.perf_counter()
        desk.ok("GET", "/v1/handoffs?page_size=100&order=newest")
        desk.ok("GET", "/v1/memories?query=retry+policy")
        lists.append(time.perf_counter() - began)
    desk.close()
    return {"cycle": percentiles(times), "reads": percentiles(lists)}


def prune(data, idle):
    """Starts a server on the store, and waits until it has pruned; how long that took, and how long stores took meanwhile."""
    server = Server(data, "--keep", "1h").wait_until_ready()
    began, seen = time.monotonic(), [0.0, False]
    desk = Desk(server.address, "others")

    def over(_):
        if time.monotonic() - seen[0] > 1:
            seen[0] = time.monotonic()
            seen[1] = left(data) == 0
        return seen[1]

    times = None
    if idle:
        while not over(0):
            time.sleep(0.5)
    else:
        times = stores(desk, over)
    took = time.monotonic() - began
    quiet, size, still = time.monotonic(), -1, time.monotonic()
    while time.monotonic() - still < 5:     # until the file has its size
        now = os.path.getsize(data / "spine.db")
        if now != size:
            size, still = now, time.monotonic()
        time.sleep(0.2)
    desk.close()
    return server, times, took, still - quiet


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--handoffs", type=int, default=100_000)
    parser.add_argument("--live", type=int, default=2000)
    parser.add_argument("--spaces", type=int, default=1)
    parser.add_argument("--idle", action="store_true", help="nobody else writes while it prunes")
    parser.add_argument("--out")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="spine-retention-") as folder:
        base, full = Path(folder) / "base", Path(folder) / "full"
        for data in (base, full):
            make(data, options.live, options.spaces)
        began = time.monotonic()
        fill(full, options.handoffs, options.spaces)
        report = {"handoffs": options.handoffs, "live": options.live, "spaces": options.spaces, "filled_s": round(time.monotonic() - began, 1)}
        before = sizes(full)
        report["before"] = {"file": before["file"], "bytes_a_handoff": round(before["file"] / options.handoffs)}
        grown = Server(full).wait_until_ready()
        Desk(grown.address, "bench0").ok("GET", "/v1/memories?query=retry+policy")
        report["before"]["rss_kb"] = rss_kb(grown)
        assert grown.terminate() == 0
        server, times, took, shrunk = prune(full, options.idle)
        report["pruning"] = {"seconds": round(took, 1), "handoffs_a_second": round(options.handoffs / took), "stores_meanwhile": times,
                             "giving_back_s": round(shrunk, 1)}
        reference = Server(base, "--keep", "1h").wait_until_ready()
        for one in (reference, server):
            add_live(one, options.live)
        desk = Desk(reference.address, "others")
        report["stores_without_pruning"] = stores(desk, lambda count: count >= 2000)
        report["pruned"], report["reference"] = {}, {}
        for _ in range(2):      # in turns
            for name, one in (("reference", reference), ("pruned", server)):
                report[name]["speed"] = speed(one)
        for name, one, data in (("reference", reference, base), ("pruned", server, full)):
            report[name]["rss_kb"] = rss_kb(one)
            assert one.terminate() == 0
            report[name]["size"] = sizes(data)
        stubs = sum(report["pruned"]["size"]["tables"].get(t, 0) for t in ("pruned_envelope", "pruned_handoff"))
        tombs = report["pruned"]["size"]["tables"]["memory"] - report["reference"]["size"]["tables"]["memory"]
        report["left_a_handoff"] = {"stubs": round(stubs / options.handoffs, 1), "tombstones_of_results": round(tombs / options.handoffs, 1),
                                    "together": round((stubs + tombs) / options.handoffs, 1)}
        used = {n: report[n]["size"]["file"] - (stubs + tombs if n == "pruned" else 0) for n in ("reference", "pruned")}
        report["rest_against_reference"] = round(used["pruned"] / used["reference"], 3)
    text = json.dumps(report, indent=1)
    print(text)
    if options.out:
        Path(options.out).write_text(text + "\n")


if __name__ == "__main__":
    main()
