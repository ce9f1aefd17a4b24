#!/usr/bin/env python3
"""The server on PostgreSQL: cycles a second beside the usual queue on the same PostgreSQL, and claims among many that are handled.

    bench/postgres.py [--nodes 1,3] [--rounds 3] [--handled 2000000] [--only cycles|claims] [--write]

1. One PostgreSQL, as for the peers of bench/run (its defaults for durability, so that it syncs at every commit).
2. cycles: in each round, at 64 and at 1,000 clients, the queue of bench/peers (SKIP LOCKED, a transaction for each call) and ours in
   turn, who begins changes: publish a handoff of 4 KB, receive one, ack it. Ours are spread over eight spaces and over the nodes.
   All of it with one node, then with three, each with a database of its own.
3. claims: two databases, one of them with so many handled handoffs in the same eight spaces, copied by SQL with their envelopes,
   tasks and events; the same load on both in turn.

A figure is the median of the rounds' ratios. It takes about fifteen minutes, and wants a machine that does nothing else; how busy it was
is told. --write puts the table into bench/results/postgres.md."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Iterator

ROOT = Path(__file__).resolve().parent.parent
BUILT = ROOT / "build" / "bench"
sys.path[:0] = [str(ROOT / "bench" / "peers"), str(ROOT / "tests"), str(ROOT / "bench")]

from loading import MESSAGE_BYTES, busy_percent, cpu_seconds  # noqa: E402
from peer_servers import PostgreSQL  # noqa: E402

SPACES = 8
BYTES = MESSAGE_BYTES  # as in bench/run, and in the comparison with the peers
KEYS = (1 << 40) - 1
DAY_MS = 86_400_000
SECONDS = {64: 5, 1000: 8}  # clients, and for how long: a cycle of the slowest takes more than a second
TARGETS = {64: 2.5, 1000: 10}


class Node:
    """One server of ours on a database."""

    def __init__(self, database: str) -> None:
        self.data = tempfile.mkdtemp(prefix="node-", dir=BUILT)
        self.process = subprocess.Popen(
            [os.environ.get("SPINE_BIN", str(ROOT / "build" / "spine")), "serve", "--store", database, "--listen", "127.0.0.1:0",
             "--data", self.data, "--log-format", "json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.port = 0
        while not self.port:
            line = self.process.stdout.readline()
            if not line:
                raise SystemExit("bench: the server did not start")
            found = re.search(r"127\.0\.0\.1:(\d+)", line)
            self.port = int(found.group(1)) if found else 0

    def stop(self) -> None:
        self.process.terminate()
        self.process.communicate()
        shutil.rmtree(self.data, ignore_errors=True)


@contextlib.contextmanager
def serving(database: str, count: int) -> Iterator[list[Node]]:
    nodes: list[Node] = []
    try:
        for _ in range(count):
            nodes.append(Node(database))
        yield nodes
    finally:
        for node in nodes:
            node.stop()


def tool(*command: object) -> dict:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"bench: {command[0]} ended with {done.returncode}: {done.stderr[-500:]}")
    return json.loads(done.stdout)


def ours(nodes: list[Node], clients: int, seconds: float) -> dict:
    before = sum(cpu_seconds(node.process.pid) for node in nodes)
    told = tool(BUILT / "load" / "load", "--scenario", "deliver", "--connections", clients, "--spaces", SPACES, "--bytes", BYTES,
                "--seconds", seconds, "--warmup", 1, "--json", ",".join(str(node.port) for node in nodes))
    taken = sum(cpu_seconds(node.process.pid) for node in nodes) - before
    told["server_us"] = 1e6 * taken * seconds / (seconds + 1) / max(told["cycles"], 1)
    return told


def database_seconds(peer: PostgreSQL) -> float:
    """CPU time of PostgreSQL, also of sessions that have ended."""
    total = 0.0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text().rsplit(")", 1)[1].split()
            if int(path.parent.name) == peer.server_pid():
                total += sum(int(word) for word in fields[11:15])
            elif int(fields[1]) == peer.server_pid():
                total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


def with_database(peer: PostgreSQL, side, seconds: float) -> dict:
    """Of a run, with PostgreSQL's CPU time a cycle."""
    before = database_seconds(peer)
    ran = side()
    taken = database_seconds(peer) - before
    ran["database_us"] = 1e6 * taken * seconds / (seconds + 1) / max(ran["cycles"], 1)
    return ran


def theirs(peer: PostgreSQL, clients: int, seconds: float) -> dict:
    told = tool(BUILT / "peers" / "peers", "--peer", "postgres", "--clients", clients, "--seconds", seconds, "--warmup", 1,
                "--bytes", BYTES, peer.port)
    told.setdefault("rate", told["cycles"] / seconds)
    return told


def sql(peer: PostgreSQL, database: str, text: str) -> str:
    done = subprocess.run([str(peer.programs() / "psql"), "-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(peer.port),
                           "-U", "bench", "-d", database, "-f", "-"], input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"bench: SQL failed: {done.stderr[-800:]}")
    return done.stdout.strip()


def address(peer: PostgreSQL, database: str) -> str:
    return f"postgres://bench@127.0.0.1:{peer.port}/{database}"


# --- Handled handoffs ---


def copy(peer: PostgreSQL, database: str, table: str, changes: dict[str, str], where: str, count: int) -> str:
    """Copies the row that fits `where` so many times; `changes` are expressions of i, which counts from 1."""
    names = sql(peer, database, "SELECT string_agg(attname, ',' ORDER BY attnum) FROM pg_attribute WHERE attnum > 0 AND NOT attisdropped "
                f"AND attrelid = 'spine.{table}'::regclass").split(",")
    values = ", ".join(changes.get(name, f"t.{name}") for name in names)
    return (f"INSERT INTO spine.{table} ({', '.join(names)}) SELECT {values} FROM generate_series(1, {count}) i, spine.{table} t "
            f"WHERE {where};\n")


def fill(peer: PostgreSQL, database: str, count: int) -> None:
    """The last handled handoff of each space, again and again, a day old. No server is at work."""
    each = count // SPACES
    statements = ["SET synchronous_commit TO off;\n"]
    spaces = sql(peer, database, "SELECT shard, id FROM spine.space WHERE removed_at = 0 AND name LIKE 'load-%'::bytea ORDER BY 1, 2")
    for line in spaces.splitlines():
        shard, space = (int(word) for word in line.split("|"))
        low, high = space << 40, (space + 1) << 40
        at = f"shard = {shard} AND id > {low} AND id < {high}"
        h, e = (int(sql(peer, database, f"SELECT max(id) FROM spine.{table} WHERE {at}")) for table in ("handoff", "envelope"))
        row, envelope = sql(peer, database, f"SELECT id, envelope FROM spine.handoff WHERE {at} AND state = 4 ORDER BY id DESC LIMIT 1").split("|")
        task = sql(peer, database, f"SELECT task FROM spine.envelope WHERE shard = {shard} AND id = {envelope}")
        top = f"(SELECT max(id) FROM spine.event WHERE shard = {shard})"
        old = {"created_at": f"t.created_at - {DAY_MS}"}
        statements += [
            copy(peer, database, "task", {"id": f"{e} + i", "name": "convert_to('handled-' || i, 'UTF8')", **old},
                 f"t.shard = {shard} AND t.id = {task}", each),
            copy(peer, database, "envelope", {"id": f"{e} + i", "task": f"{e} + i", **old}, f"t.shard = {shard} AND t.id = {envelope}", each),
            copy(peer, database, "handoff", {"id": f"{h} + i", "envelope": f"{e} + i", "place": f"{h & KEYS} + i",
                 "changed_at": f"t.changed_at - {DAY_MS}", **old}, f"t.shard = {shard} AND t.id = {row}", each),
        ]
        of_handoff = f"t.shard = {shard} AND t.space = {space} AND t.handoff = {int(row) & KEYS}"
        for event in sql(peer, database, f"SELECT id FROM spine.event t WHERE {of_handoff} AND t.handoff > 0 ORDER BY id").split():
            statements.append(copy(peer, database, "event", {"id": f"{top} + i", "handoff": f"{h & KEYS} + i", "envelope": f"{e & KEYS} + i",
                                   "at": f"t.at - {DAY_MS}"}, f"t.shard = {shard} AND t.id = {event}", each))
    sql(peer, database, "".join(statements) + "ANALYZE;\nCHECKPOINT;\n")


# --- The parts ---


def told(ratios: list[float]) -> str:
    return f"{statistics.median(ratios):.2f} times ({min(ratios):.2f} to {max(ratios):.2f})"


def cycles(peer: PostgreSQL, count: int, options: argparse.Namespace) -> list[list[str]]:
    sql(peer, "postgres", f"CREATE DATABASE cycles_{count}")
    rows = []
    with serving(address(peer, f"cycles_{count}"), count) as nodes:
        ours(nodes, 64, 1)  # makes the spaces
        for clients, seconds in SECONDS.items():
            ran = []
            for turn in range(options.rounds):
                order = [("ours", lambda: ours(nodes, clients, seconds)), ("theirs", lambda: theirs(peer, clients, seconds))]
                ran.append({name: with_database(peer, side, seconds) for name, side in (order if turn % 2 else order[::-1])})
                print(f"{count} nodes, {clients} clients: ours {ran[-1]['ours']['rate']:,.0f}/s, SKIP LOCKED {ran[-1]['theirs']['rate']:,.0f}/s", flush=True)
            ratios = [one["ours"]["rate"] / one["theirs"]["rate"] for one in ran]
            reached = "OK" if statistics.median(ratios) >= TARGETS[clients] else "short"
            rows.append([f"cycles/s, {clients:,} clients, over SKIP LOCKED", told(ratios), f"at least {TARGETS[clients]} times", reached])
            for name, key in (("ours", "ours"), ("SKIP LOCKED", "theirs")):
                rows.append([f"{name}, {clients:,} clients", f"{statistics.median(one[key]['rate'] for one in ran):,.0f} /s", "", ""])
                rows.append([f"{name}, p50 and p99 of a cycle", " and ".join(f"{statistics.median(one[key][p] for one in ran):.1f} ms" for p in ("p50_ms", "p99_ms")),
                             "", ""])
                rows.append([f"{name}, PostgreSQL's CPU time a cycle", f"{statistics.median(one[key]['database_us'] for one in ran):.0f} us", "", ""])
            rows.append([f"our servers' CPU time a cycle, {clients:,} clients", f"{statistics.median(one['ours']['server_us'] for one in ran):.0f} us", "", ""])
    return rows


def claims(peer: PostgreSQL, options: argparse.Namespace) -> list[list[str]]:
    for database in ("few", "many"):
        sql(peer, "postgres", f"CREATE DATABASE {database}")
        with serving(address(peer, database), 1) as nodes:
            ours(nodes, 64, 1)
    began = time.monotonic()
    fill(peer, "many", options.handled)
    print(f"filled in {time.monotonic() - began:.0f} s", flush=True)
    ratios, rates = [], []
    with serving(address(peer, "few"), 1) as few, serving(address(peer, "many"), 1) as many:
        for turn in range(options.rounds + 1):
            order = [("few", few), ("many", many)]
            ran = {name: ours(nodes, 64, 5) for name, nodes in (order if turn % 2 else order[::-1])}
            if turn == 0:
                continue  # what is read once, and the database's own memory
            ratios.append(ran["many"]["rate"] / ran["few"]["rate"])
            rates.append(ran["many"]["rate"])
            print(f"{options.handled:,} handled: {ran['many']['rate']:,.0f}/s, none: {ran['few']['rate']:,.0f}/s", flush=True)
    reached = "OK" if statistics.median(ratios) >= 0.8 else "short"
    return [[f"cycles/s, 64 clients, beside {options.handled:,} handled handoffs, over a new store", told(ratios), "at least 0.8 times", reached],
            ["beside them", f"{statistics.median(rates):,.0f} /s", "", ""]]


def report(parts: dict[str, list[list[str]]], options: argparse.Namespace, busy: list[float]) -> str:
    version = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    lines = [
        "# On PostgreSQL", "", "Written by `bench/postgres.py --write`: how it is measured stands there. Medians, with the least and the most of "
        f"{options.rounds} rounds in brackets. [decisions.md](../../docs/decisions.md#what-a-delivery-on-postgresql-costs) says where the time goes.", "",
        f"- {time.strftime('%Y-%m-%d')}, spine at {version}, {os.cpu_count()} cores for everything: PostgreSQL, the servers and the load; eight spaces, "
        f"{BYTES} bytes, fsync on",
        f"- CPU in use by others before and after: {busy[0]:.0f} % and {busy[1]:.0f} %"
        + (" (busy: the ratios are made in turns, the rates mean little)" if max(busy) > 20 else ""),
    ]
    for title, rows in parts.items():
        lines += ["", f"## {title}", "", "| figure | measured | target | |", "| --- | --- | --- | --- |"]
        lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=lambda text: [int(one) for one in text.split(",")], default=[1, 3])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--handled", type=int, default=2_000_000)
    parser.add_argument("--only", choices=["cycles", "claims"])
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    BUILT.mkdir(parents=True, exist_ok=True)
    busy = [busy_percent()]
    parts: dict[str, list[list[str]]] = {}
    scratch = BUILT / "scratch" / "on-postgres"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.parent.mkdir(parents=True, exist_ok=True)
    with PostgreSQL(scratch) as peer:
        for count in options.nodes if options.only != "claims" else []:
            parts["One node" if count == 1 else f"{count} nodes, which share the cores that one has alone"] = cycles(peer, count, options)
        if options.only != "cycles":
            parts["Claims"] = claims(peer, options)
    busy.append(busy_percent())
    text = report(parts, options, busy)
    print(text)
    if options.write:
        (ROOT / "bench" / "results" / "postgres.md").write_text(text)


if __name__ == "__main__":
    main()
