"""Works on a cluster of real nodes while they are killed, paused, cut off and restarted, and checks what came of it.

    tests/cluster/run.py --seconds 600 --seed 7 --nodes 3 --faults kill,pause,cut,restart,postgres

Each of the faults is done once, in their order, and then at random until the time is over. What the clients do is in
clients.py, what is done to the cluster in faults.py, what must follow in checker.py. --seed replays the choices; the
interleaving is the machine's own. Where something is wrong the history stays, as lines of JSON, and the logs with it.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent)]

import checker  # noqa: E402
import nodes as cluster  # noqa: E402
import readback  # noqa: E402
from clients import World  # noqa: E402
from faults import FAULTS, Driver  # noqa: E402
from history import History  # noqa: E402
from postgres import Postgres  # noqa: E402
from proxy import Proxies  # noqa: E402
from server import binary  # noqa: E402

SHOWN = 10
BETWEEN_S = (0.2, 1.5)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Faults in a cluster, under load, with a checker on top.")
    parser.add_argument("--seconds", type=float, default=60, help="how long faults go on; each is done once in any case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--spaces", type=int, default=6)
    parser.add_argument("--faults", default=",".join(name for name in FAULTS if name != "roll"), help="of " + ", ".join(FAULTS))
    parser.add_argument("--old", type=Path, help="another version of the program, which every second start of a node takes")
    parser.add_argument("--keep", type=Path, help="where history and logs are kept, whatever comes of it")
    options = parser.parse_args()
    unknown = set(options.faults.split(",")) - set(FAULTS) - {""}
    if unknown:
        parser.error(f"there is no fault {', '.join(sorted(unknown))}")
    return options


def play(driver: Driver, names: list[str], seconds: float) -> None:
    until = time.monotonic() + seconds
    driver.serve_again("begin", driver.nodes)
    pending = list(names)
    while pending or (names and time.monotonic() < until):
        name = pending.pop(0) if pending else driver.dice.choice(names)
        FAULTS[name](driver)
        time.sleep(driver.dice.uniform(*BETWEEN_S))
    if not names:
        time.sleep(max(0.0, until - time.monotonic()))


def report(history: History, found: dict[str, list[str]], took: list[tuple[str, float]]) -> int:
    """Prints what is wrong, and the line of counts. Returns the exit code."""
    found = {**found, "problems": history.problems}
    for name, wrong in found.items():
        for line in wrong[:SHOWN]:
            print(f"{name}: {line}")
        if len(wrong) > SHOWN:
            print(f"{name}: and {len(wrong) - SHOWN} more")
    done = checker.accepted(history.calls, "send")
    verbs = {verb: sum(call.verb == verb and call.is_accepted for call in history.calls) for verb in
             ("send", "publish", "join", "receive", "complete", "ack", "nack", "store", "probe", "write", "read", "stream")}
    handed_on, events = sum(len(call.made) for call in history.calls if call.hands_on), sum(len(call.events) for call in history.calls)
    not_now = sum(call.status in checker.NOT_NOW for call in history.calls)
    print(f"{len(history.calls)} calls, {not_now} of them not answered or put off; accepted: "
          + ", ".join(f"{count} {verb}" for verb, count in verbs.items()) + f"; {handed_on} handed on, {events} events followed")
    if took:
        what, longest = max(took, key=lambda pair: pair[1])
        print(f"{len(took)} times served again, after {longest:.1f} s at most ('{what}')")
    if not done:
        found["problems"] = [*found["problems"], "nothing was sent at all"]
        print("problems: nothing was sent at all")
    failed = sum(bool(wrong) for wrong in found.values())
    print(f"{len(found) - failed} passed, {failed} failed")
    return 1 if failed else 0


def run(options: argparse.Namespace, directory: Path) -> int:
    history, proxies = History(), Proxies()
    spaces = [f"space-{number}" for number in range(1, options.spaces + 1)]
    dice = random.Random(f"{options.seed}/driver")
    postgres = Postgres(directory)
    nodes = cluster.make(options.nodes, directory, proxies, postgres, options.old)
    try:
        if len(nodes) > 1 and not cluster.knows_peers(binary()):
            raise SystemExit(f"{binary()} cannot be one of several nodes")
        for node in nodes:
            node.start()
        for node in nodes:
            node.wait()
        world = World(options.seed, spaces, {node.name: node.address for node in nodes}, history)
        driver = Driver(nodes, postgres, history, spaces, dice)
        clients = world.start()
        try:
            play(driver, [name for name in options.faults.split(",") if name], options.seconds)
        finally:
            ended_at = time.monotonic()
            world.stop(clients, checker.SERVED_WITHIN_S)
        views = readback.drain_and_look(world)
        found = checker.check(history, views, spaces, ended_at)
        history.save(directory / "history.jsonl")
        return report(history, found, driver.took)
    finally:
        for node in nodes:
            node.close()
        postgres.stop()
        proxies.close()


def main() -> int:
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    os.environ.pop("SPINE_TEST_POSTGRES", None)  # the store's address is the harness's own
    directory = Path(tempfile.mkdtemp(prefix="spine-cluster-"))
    code = 1
    try:
        code = run(options, directory)
    finally:
        if options.keep is not None:
            options.keep.mkdir(parents=True, exist_ok=True)
        kept = options.keep or (Path(tempfile.mkdtemp(prefix="spine-cluster-failed-")) if code else None)
        if kept is not None:
            for file in [*directory.glob("*.log"), *directory.glob("history.jsonl")]:
                shutil.copy(file, kept)
            print(f"history and logs: {kept}", file=sys.stderr)
        shutil.rmtree(directory, ignore_errors=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
