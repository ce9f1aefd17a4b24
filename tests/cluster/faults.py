"""What is done to a cluster, and the waiting until every space is served again through every node that can.

Marks are set around each fault: an empty one before it, so that nobody is expected to serve while it is done, and one
behind it that names the nodes which have all they need (history.py). The driver waits no longer than the checker allows.
"""

from __future__ import annotations

import random
import time
from typing import Callable

from checker import SERVED_WITHIN_S, served_after
from history import History, Mark
from nodes import Node
from postgres import Postgres

LEASE_S = 5.0
LONGER_THAN_A_LEASE_S = 7.0
POLL_S = 0.05


class Driver:
    def __init__(self, nodes: list[Node], postgres: Postgres | None, history: History, spaces: list[str], dice: random.Random) -> None:
        self.nodes, self.postgres, self.history, self.spaces, self.dice = nodes, postgres, history, spaces, dice
        self.took: list[tuple[str, float]] = []
        self.down: list[Node] = []  # they are not expected to run

    def say(self, what: str) -> None:
        print(f"{time.strftime('%H:%M:%S')}  {what}", flush=True)

    def nobody(self, what: str) -> None:
        self.history.mark(f"before: {what}", [])

    def serve_again(self, what: str, nodes: list[Node], least_s: float = 0.0) -> None:
        """Waits until they do, and at least so long."""
        mark = self.history.mark(what, [node.name for node in nodes])
        begin = len(self.history.calls)
        after = self.wait_until_served(mark, begin)
        if nodes:
            self.took.append((what, after))
            self.say(f"{what}: served after {after:.1f} s" if after <= SERVED_WITHIN_S else f"{what}: NOT SERVED")
        time.sleep(max(0.0, mark.at + least_s - time.monotonic()))
        self.look_after_nodes()

    def wait_until_served(self, mark: Mark, begin: int) -> float:
        wanted = {(node, space) for node in mark.nodes for space in self.spaces}
        while True:
            found = served_after(self.history.calls[begin:], mark.at)
            if wanted <= set(found):
                return max([found[key] - mark.at for key in wanted], default=0.0)
            if time.monotonic() > mark.at + SERVED_WITHIN_S + 1:
                return float("inf")
            time.sleep(POLL_S)

    def look_after_nodes(self) -> None:
        for node in self.nodes:
            ended = node.ended_by_itself() if node not in self.down else None
            if ended:
                self.history.problem(ended)
                node.start()
                node.wait()

    def others(self, node: Node) -> list[Node]:
        return [other for other in self.nodes if other is not node]

    def start(self, node: Node, what: str) -> None:
        self.nobody(what)
        node.start()
        node.wait()
        self.down = []
        self.serve_again(what, self.nodes)

    # --- The faults ---

    def kill(self) -> None:
        node = self.dice.choice(self.nodes)
        self.nobody("kill")
        self.down = [node]
        node.kill()
        if self.dice.random() < 0.7:
            self.serve_again(f"kill {node.name}", self.others(node))
        self.start(node, f"start {node.name} after its kill")

    def pause(self) -> None:
        node = self.dice.choice(self.nodes)
        self.nobody("pause")
        node.pause()
        self.serve_again(f"pause {node.name}", self.others(node), LONGER_THAN_A_LEASE_S)
        self.nobody("go on")
        node.go_on()
        self.serve_again(f"{node.name} goes on", self.nodes)

    def stop(self) -> None:
        node = self.dice.choice(self.nodes)
        self.nobody("stop")
        self.down = [node]
        code = node.terminate()
        if code != 0:
            self.history.problem(f"{node.name} ended with {code} when it was asked to stop")
        self.serve_again(f"stop {node.name}", self.others(node))
        self.start(node, f"start {node.name} after its stop")

    def cut(self) -> None:
        """From the database, until its lease is over."""
        node, state = self.dice.choice(self.nodes), self.dice.choice(["refused", "silent"])
        self.nobody("cut")
        node.to_database.set(state)
        self.serve_again(f"cut {node.name} off from PostgreSQL ({state})", self.others(node), LONGER_THAN_A_LEASE_S)
        self.nobody("heal")
        node.to_database.set("open")
        self.serve_again(f"{node.name} reaches PostgreSQL", self.nodes)

    def peers(self) -> None:
        """No other node reaches it; it goes on owning its spaces, which nobody else can serve."""
        node = self.dice.choice(self.nodes)
        self.part([node], f"cut {node.name} off from its peers", f"the peers reach {node.name}")

    def apart(self) -> None:
        """The same both ways: no node reaches another, and each serves its own spaces alone. (A link has no sender, so
        that one node alone cannot be cut off in both.)"""
        self.part(self.nodes, "no node reaches another", "the nodes reach each other")

    def part(self, nodes: list[Node], what: str, over: str) -> None:
        state = self.dice.choice(["refused", "silent"])
        self.nobody("cut from peers")
        for node in nodes:
            node.to_here.set(state)
        self.serve_again(f"{what} ({state})", [], self.dice.uniform(2, 6))
        self.nobody("heal")
        for node in nodes:
            node.to_here.set("open")
        self.serve_again(over, self.nodes)

    def restart(self) -> None:
        self.nobody("restart everything")
        self.down = list(self.nodes)
        for node in self.nodes:
            node.kill()
        for node in self.nodes:
            node.start()
        for node in self.nodes:
            node.wait()
        self.down = []
        self.serve_again("restart everything", self.nodes)

    def database(self) -> None:
        assert self.postgres is not None
        self.nobody("kill PostgreSQL")
        self.postgres.kill()
        time.sleep(self.dice.choice([0.0, 2.0, LONGER_THAN_A_LEASE_S]))
        self.postgres.start()
        self.serve_again("PostgreSQL was killed and is back", self.nodes)

    def roll(self) -> None:
        """One after the other is stopped and started: with two programs, another version each time."""
        for node in self.nodes:
            self.nobody("roll")
            self.down = [node]
            code = node.terminate()
            if code != 0:
                self.history.problem(f"{node.name} ended with {code} when it was asked to stop")
            self.start(node, f"roll {node.name}")


FAULTS: dict[str, Callable[[Driver], None]] = {
    "kill": Driver.kill, "pause": Driver.pause, "stop": Driver.stop, "cut": Driver.cut, "peers": Driver.peers,
    "apart": Driver.apart, "restart": Driver.restart, "postgres": Driver.database, "roll": Driver.roll,
}
