"""The primary of PostgreSQL dies, or is cut off, under load, and Patroni promotes another: the fault test on the set-up of
deploy/cluster, in network namespaces. Needs root and what `scripts/deps cluster` installs; `make cluster-failover`.

    tests/cluster/failover.py --seconds 600 --seed 3

Served again is counted from the promotion: how long that takes is Patroni's (its ttl is 20 s). The checks are those of
run.py.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any, Callable

sys.dont_write_bytecode = True
sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent)]

import checker  # noqa: E402
import readback  # noqa: E402
from clients import World  # noqa: E402
from faults import Driver  # noqa: E402
from history import History  # noqa: E402
from run import report  # noqa: E402
from server import ROOT  # noqa: E402

SCRIPT = ROOT / "deploy" / "cluster" / "cluster"
HOSTS = {"h1": "10.77.0.11", "h2": "10.77.0.12", "h3": "10.77.0.13"}
SERVICES = ("etcd", "patroni", "node")
PROMOTED_WITHIN_S, SETTLED_WITHIN_S = 60.0, 120.0
POLL_S = 0.1


def cluster(*words: str) -> None:
    subprocess.run([SCRIPT, *words], check=True, stdin=subprocess.DEVNULL)


class Host:
    """A machine, as the driver knows its nodes."""

    def __init__(self, name: str) -> None:
        self.name = name

    def ended_by_itself(self) -> str | None:
        base = Path(os.environ.get("SPINE_CLUSTER_DIR", "/var/tmp/spine-cluster")) / self.name
        if Path(f"/proc/{(base / 'node.pid').read_text().strip()}").exists():
            return None
        return f"the node on {self.name} ended; its log ends: {(base / 'node.log').read_text()[-800:]}"

    def start(self) -> None:
        cluster("start", self.name, "node")

    def wait(self) -> None:
        deadline = time.monotonic() + SETTLED_WITHIN_S
        while answer_of(f"http://{HOSTS[self.name]}:8788/readyz") is None:
            if time.monotonic() > deadline:
                raise SystemExit(f"the node on {self.name} does not become ready")
            time.sleep(POLL_S)


def answer_of(url: str) -> Any:
    """None: no success."""
    try:
        with urllib.request.urlopen(url, timeout=1) as answer:
            return json.loads(answer.read() or b"null") or {}
    except (OSError, ValueError):
        return None


def primary(among: list[str]) -> str | None:
    return next((name for name in among if answer_of(f"http://{HOSTS[name]}:8008/primary") is not None), None)


def is_settled() -> bool:
    """One leads, one follows it synchronously, and the third follows, too."""
    for address in HOSTS.values():
        members = (answer_of(f"http://{address}:8008/cluster") or {}).get("members", [])
        roles = sorted(member["role"] for member in members if member["state"] in ("running", "streaming"))
        return roles == ["leader", "replica", "sync_standby"]
    return False


class Failover(Driver):
    def wait_for(self, what: str, seconds: float, function: Callable[[], Any]) -> Any:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = function()
            if found:
                return found
            time.sleep(POLL_S)
        self.history.problem(f"{what}: not within {seconds:.0f} s")
        return None

    def lose_primary(self, what: str, lose: Callable[[str], None], find: Callable[[str], None], node_goes: bool) -> None:
        """Loses it, waits for the promotion of another, and brings it back."""
        old = primary(list(HOSTS))
        assert old is not None
        others = [name for name in HOSTS if name != old]
        left = [node for node in self.nodes if node.name != old or not node_goes]
        self.nobody(what)
        self.down = [node for node in self.nodes if node.name == old and node_goes]
        at = time.monotonic()
        lose(old)
        new = self.wait_for(f"a promotion after '{what}'", PROMOTED_WITHIN_S, lambda: primary(others))
        self.say(f"{what} {old}: {new} was promoted after {time.monotonic() - at:.1f} s")
        self.serve_again(f"{what} {old}, promoted {new}", left)
        self.nobody("bring it back")
        find(old)
        for node in self.down:
            node.wait()
        self.down = []
        self.serve_again(f"{old} is back", self.nodes)
        self.settle()

    def settle(self) -> None:
        self.wait_for("a synchronous standby", SETTLED_WITHIN_S, is_settled)

    def kill_database(self) -> None:
        self.lose_primary("kill the primary", lambda host: cluster("kill", host, "patroni"),
                          lambda host: cluster("start", host, "patroni"), node_goes=False)

    def cut(self) -> None:
        self.lose_primary("cut off the primary's machine", lambda host: cluster("cut", host), lambda host: cluster("heal", host),
                          node_goes=True)

    def kill_machine(self) -> None:
        def lose(host: str) -> None:
            for service in SERVICES:
                cluster("kill", host, service)

        def find(host: str) -> None:
            for service in SERVICES:
                cluster("start", host, service)
        self.lose_primary("kill the primary's machine", lose, find, node_goes=True)

    def stop_database(self) -> None:
        self.lose_primary("stop the primary", lambda host: cluster("stop", host, "patroni"),
                          lambda host: cluster("start", host, "patroni"), node_goes=False)


FAULTS: dict[str, Callable[[Failover], None]] = {
    "kill": Failover.kill_database, "cut": Failover.cut, "machine": Failover.kill_machine, "stop": Failover.stop_database,
}


def inside(options: argparse.Namespace) -> int:
    """In the namespace from which the nodes are reached."""
    history = History()
    spaces = [f"space-{number}" for number in range(1, options.spaces + 1)]
    world = World(options.seed, spaces, {name: (address, 8788) for name, address in HOSTS.items()}, history)
    hosts: list[Any] = [Host(name) for name in HOSTS]
    driver = Failover(hosts, None, history, spaces, random.Random(options.seed))
    driver.settle()
    clients = world.start()
    until = time.monotonic() + options.seconds
    pending = options.faults.split(",")
    try:
        driver.serve_again("begin", driver.nodes)
        while pending or time.monotonic() < until:
            FAULTS[pending.pop(0) if pending else driver.dice.choice(options.faults.split(","))](driver)
    finally:
        ended_at = time.monotonic()
        world.stop(clients, checker.SERVED_WITHIN_S)
    views = readback.drain_and_look(world)
    found = checker.check(history, views, spaces, ended_at)
    history.save(Path(options.history))
    return report(history, found, driver.took)


def main() -> int:
    parser = argparse.ArgumentParser(description="Failovers of PostgreSQL under load, with a checker on top.")
    parser.add_argument("--seconds", type=float, default=0, help="how long faults go on; each is done once in any case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--spaces", type=int, default=6)
    parser.add_argument("--faults", default=",".join(FAULTS), help="of " + ", ".join(FAULTS))
    parser.add_argument("--history", default="/tmp/spine-failover.jsonl", help="where the history is written")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        return inside(options)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        cluster("up")
        command = [str(SCRIPT), "exec", "front", sys.executable, __file__, "--inside", *sys.argv[1:]]
        return subprocess.run(command, check=False).returncode
    finally:
        cluster("down")


if __name__ == "__main__":
    sys.exit(main())
