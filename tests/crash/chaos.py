"""Kills a server at random moments while handoffs go through it, and looks whether any was lost, doubled or forgotten.

Senders deliver with and without waiting. Receivers are of the worst kind: they ack, nack, reject and complete, some crash
with what they hold, some hang and answer when their lease is long over, some answer twice, some with a lease of yesterday.
At a random moment the server gets SIGKILL, in some rounds the power goes, too (power.py); it is started again on the same
data, and what all of them have seen is checked (deliveries.py). A request without an answer is sent again with its key and
makes no second handoff. Some of the servers keep what has ended for a second or two only, so that the kill also comes while
it is being pruned.

--seed replays the schedule. The threads' interleaving is the machine's own.
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent)]

import power  # noqa: E402
from crash import check  # noqa: E402
from deliveries import History  # noqa: E402
from operations import Broken, expect  # noqa: E402
from server import Server, StartError  # noqa: E402
from wire import Connection, Lost  # noqa: E402

SPACE = "chaos"
AGENTS = ["worker", "deputy"]
SENDERS, RECEIVERS = 2, 4
POWER_CUTS = 0.25
CHECK_EVERY = 20
KEEPS = 0.6  # of the servers, what has ended for a time only
KEEP = ("--keep-handoffs", "1s", "--keep-events", "2s")
PRUNED_S = 30.0
OPEN_MOST = 150  # senders pause above it, so that the queue does not outgrow the receivers
FINISH_S = 5.0  # at the end, everything that can be taken is taken
REFUSED = (503,)


class Client(threading.Thread):
    """One connection, until the server is gone."""

    def __init__(self, name: str, history: History, address: tuple[str, int], dice: random.Random) -> None:
        super().__init__(name=name)
        self.history, self.address, self.dice = history, address, dice

    def run(self) -> None:
        try:
            self.connection = Connection(self.address, SPACE)
            while True:
                self.once()
        except Lost:
            self.history.counts["lost replies"] += 1
        except Exception as error:  # noqa: BLE001: an error of the test itself must not pass for a quiet round
            self.history.problems.append(f"{self.name}: {error!r}")

    def once(self) -> None:
        raise NotImplementedError


class Sender(Client):
    """Delivers, with a key; keeps those that were not answered."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.count = 0
        self.unanswered: list[tuple[str, dict[str, Any]]] = []
        self.keyed: list[tuple[str, dict[str, Any], str]] = []

    def once(self) -> None:
        self.count += 1
        key = f"{self.name}-{self.count}"
        body: dict[str, Any] = {
            "envelope": {"from": "sender", "target_agent": "worker", "task_summary": key, "include_recent": 0, "include_pins": False},
            "max_attempts": self.dice.randint(1, 4), "priority": self.dice.randint(0, 9), "ack_timeout_s": self.dice.choice([0.2, 15]),
        }
        if self.dice.random() < 0.3:
            body["fallbacks"] = ["deputy"]
        if self.dice.random() < 0.3:
            body["wait_s"] = self.dice.choice([0.01, 0.1, 1])
        try:
            answer = self.connection.ask("POST", "/v1/handoffs", body, key=key)
        except Lost:
            self.unanswered.append((key, body))
            raise
        self.take(key, body, answer)

    def take(self, key: str, body: dict[str, Any], answer: Any) -> None:
        named = answer.body.get("id") or answer.body.get("handoff")
        expect(answer.status in (200, 202, 409, 504) or answer.status in REFUSED, f"a delivery was answered with {answer.status} {answer.body}")
        if named is None:
            expect(answer.body.get("code") in ("circuit_open", "draining"), f"a delivery was refused: {answer.body}")
            return
        self.history.accepted(named, answer.body.get("envelope_id"), "wait_s" in body)
        if answer.status in (200, 202):
            self.keyed.append((key, body, named))


class Receiver(Client):
    """Takes, and then does anything."""

    def once(self) -> None:
        agent = "deputy" if self.dice.random() < 0.25 else "worker"
        body = {"wait_s": self.dice.choice([0, 0.05]), "lease_s": self.dice.choice([0.03, 0.2, 30]), "max": self.dice.choice([1, 1, 3]),
                "format": "none", "instance": self.name}
        answer = self.connection.ask("POST", f"/v1/agents/{agent}/receive", body)
        expect(answer.status == 200 or answer.status in REFUSED, f"a receive was answered with {answer.status} {answer.body}")
        for taken in answer.body.get("handoffs", []):
            self.history.leased(self.name, taken)
        for taken in answer.body.get("handoffs", []):
            self.treat(taken)

    def treat(self, taken: dict[str, Any]) -> None:
        what = self.dice.random()
        number = int(taken["lease"].rsplit(".", 1)[1])
        if what < 0.12:  # crashes with it
            self.connection.close()
            self.connection = Connection(self.address, SPACE)
            return
        if what < 0.2:  # hangs, and answers when its lease may be over
            time.sleep(self.dice.choice([0.01, 0.05]))
        if number > 1 and what < 0.3:  # a lease of yesterday
            self.settle_stale(taken["id"], number - 1)
        verb = self.dice.choices(["ack", "work", "complete", "nack", "reject", "progress"], [40, 10, 25, 15, 4, 6])[0]
        if verb == "progress":
            self.ask(taken["id"], number, "progress", {"note": "at it"})
            verb = "complete"
        if verb == "work":
            if self.settle(taken["id"], number, "ack", {"work_lease_s": self.dice.choice([0.05, 30])}) != 200 or self.dice.random() < 0.3:
                return
            verb = "complete"
        more: dict[str, Any] = {"result": taken["lease"]} if verb == "complete" else {}
        if verb == "nack" and self.dice.random() < 0.7:
            more["delay_s"] = self.dice.choice([0, 0.02])
        status = self.settle(taken["id"], number, verb, more)
        if verb in ("ack", "complete") and self.dice.random() < 0.2:  # answers twice
            again = self.settle(taken["id"], number, verb, more)
            if status == 200:
                expect(again in (200, 410) or again in REFUSED, f"the same {verb} of {taken['lease']} was answered with 200 and then with {again}")

    def ask(self, handoff: str, number: int, verb: str, more: dict[str, Any]) -> Any:
        answer = self.connection.ask("POST", f"/v1/handoffs/{handoff}/{verb}", {"lease": f"{handoff}.{number}", **more})
        is_pruned = answer.status == 410 and answer.body.get("code") == "handoff_pruned"
        expect(answer.status in (200, 409) or answer.status in REFUSED or is_pruned, f"{verb} was answered with {answer.status} {answer.body}")
        return answer

    def settle(self, handoff: str, number: int, verb: str, more: dict[str, Any]) -> int:
        settle = self.history.settling(handoff, number, verb, more.get("result"))
        answer = self.ask(handoff, number, verb, more)
        if answer.status not in REFUSED:
            self.history.settled(handoff, number, settle, answer.status, answer.body)
        return int(answer.status)

    def settle_stale(self, handoff: str, number: int) -> None:
        answer = self.ask(handoff, number, self.dice.choice(["ack", "nack", "complete", "reject"]), {})
        expect(answer.status != 200, f"{handoff}.{number} was taken for a lease, though the next had been given out")


class Story:
    """One store and all that happened to it."""

    def __init__(self, directory: Path, seed: str) -> None:
        self.data, self.seed = directory / "data", seed
        self.library, self.log = power.build(directory), directory / "power.log"
        self.history = History()
        self.taken_back = 0
        self.start_for(1)

    def start_for(self, number: int) -> None:
        self.power_will_fail = random.Random(f"{self.seed}/{number}/power").random() < POWER_CUTS
        self.log.unlink(missing_ok=True)
        more = {"LD_PRELOAD": str(self.library), "POWER_LOG": str(self.log)} if self.power_will_fail else {}
        keep = KEEP if random.Random(f"{self.seed}/{number}/keep").random() < KEEPS else ()
        self.server = Server(self.data, *keep, **more).wait_until_ready()

    def round(self, number: int) -> None:
        dice = random.Random(f"{self.seed}/{number}")
        senders = [Sender(f"s{number}-{n}", self.history, self.server.address, random.Random(f"{self.seed}/{number}/s{n}")) for n in range(SENDERS)]
        receivers = [Receiver(f"r{number}-{n}", self.history, self.server.address, random.Random(f"{self.seed}/{number}/r{n}")) for n in range(RECEIVERS)]
        is_full = sum(not known.is_settled for known in self.history.handoffs.values()) > OPEN_MOST
        clients = receivers + ([] if is_full else senders)
        for client in clients:
            client.start()
        time.sleep(dice.uniform(0.01, 0.3))
        code = self.server.process.poll()
        expect(code is None, f"the server ended by itself with {code}; its log ends: {self.server.log_tail()}")
        if dice.random() < 0.1:
            self.server.process.send_signal(signal.SIGTERM)
            time.sleep(dice.uniform(0, 0.01))
        self.server.kill()
        for client in clients:
            client.join()
        expect(not self.history.problems, "; ".join(self.history.problems[:3]))
        if self.power_will_fail:
            self.taken_back += power.cut(self.data, self.log, dice)
        if number % CHECK_EVERY == 0:
            check(self.data)
        self.start_for(number + 1)
        self.verify(senders)

    def verify(self, senders: list[Sender]) -> None:
        connection = Connection(self.server.address, SPACE)
        for known in list(self.history.handoffs.values()):
            self.history.check_leases(known)
            if not known.is_settled:
                self.look(connection, known.id)
        for sender in senders:
            sender.connection = connection
            for key, body in sender.unanswered:
                self.send_again(sender, key, {**body})
            for key, body, handoff in sender.keyed[-3:]:
                answer = connection.ask("POST", "/v1/handoffs", body, key=key)
                expect(answer.replayed and answer.body["id"] == handoff, f"{key} made {handoff}, and its key was answered with {answer.status} {answer.body}")
        connection.close()

    def send_again(self, sender: Sender, key: str, body: dict[str, Any]) -> None:
        """The client saw no answer: the same key makes one handoff, whatever the server had done."""
        answer = sender.connection.ask("POST", "/v1/handoffs", body, key=key)
        if "wait_s" in body and answer.status == 410 and answer.body.get("code") == "envelope_pruned":
            return  # it goes on waiting for one that has ended since, and is kept for a second only
        sender.take(key, body, answer)
        if answer.status in (200, 202):
            again = sender.connection.ask("POST", "/v1/handoffs", body, key=key)
            expect(again.replayed and again.body["id"] == answer.body["id"], f"{key} made {answer.body['id']}, and then {again.body}")

    def look(self, connection: Connection, handoff: str) -> dict[str, Any]:
        answer = connection.ask("GET", f"/v1/handoffs/{handoff}")
        if answer.status == 410 and answer.body.get("code") == "handoff_pruned":
            known = self.history.handoffs[handoff]
            self.history.check_pruned(known, answer.body["detail"])
            if known.envelope:
                left = connection.ask("GET", f"/v1/envelopes/{known.envelope}/verify")
                expect(left.status == 200 and left.body["ok"] and left.body["verdict"] == "pruned", f"{known.envelope} does not verify: {left.body}")
            return {"state": "pruned"}
        expect(answer.status == 200, f"{handoff} was accepted, and is answered with {answer.status} {answer.body}")
        self.history.check_state(self.history.handoffs[handoff], answer.body)
        return dict(answer.body)

    def prune(self) -> None:
        """A server that keeps what has ended for a second has pruned all of it in the end."""
        expect(self.server.terminate() == 0, "the server did not end well")
        self.server = Server(self.data, *KEEP).wait_until_ready()
        connection = Connection(self.server.address, SPACE)
        deadline = time.monotonic() + PRUNED_S
        while any(connection.ask("GET", f"/v1/handoffs?state={state}&page_size=1").body["handoffs"] for state in ("completed", "discarded", "expired")):
            expect(time.monotonic() < deadline, f"something old is there after {PRUNED_S} s")
            time.sleep(0.05)
        connection.close()

    def finish(self) -> None:
        """Takes what can be taken, then looks at every handoff there ever was; before it was pruned, and after."""
        self.look_at_all()
        self.prune()
        self.look_at_all()
        code = self.server.terminate()
        expect(code == 0, f"the server ended with {code} after SIGTERM; its log ends: {self.server.log_tail()}")
        check(self.data)

    def look_at_all(self) -> None:
        connection = Connection(self.server.address, SPACE)
        deadline = time.monotonic() + FINISH_S
        while time.monotonic() < deadline:
            for agent in AGENTS:
                answer = connection.ask("POST", f"/v1/agents/{agent}/receive", {"wait_s": 0.2, "max": 100, "lease_s": 60, "format": "none"})
                for taken in answer.body["handoffs"]:
                    self.history.leased("last", taken)
                    number = int(taken["lease"].rsplit(".", 1)[1])
                    settle = self.history.settling(taken["id"], number, "ack")
                    done = connection.ask("POST", f"/v1/handoffs/{taken['id']}/ack", {"lease": taken["lease"]})
                    self.history.settled(taken["id"], number, settle, done.status, done.body)
            if not connection.ask("GET", "/v1/handoffs?state=queued&page_size=1").body["handoffs"]:
                break  # what is leased still, by somebody who crashed with it, has its time to run
        expect(not self.history.problems, "; ".join(self.history.problems[:3]))
        states: dict[str, int] = {}
        for known in self.history.handoffs.values():
            self.history.check_leases(known)
            state = self.look(connection, known.id)["state"]
            states[state] = states.get(state, 0) + 1
        print("handoffs at the end: " + ", ".join(f"{count} {state}" for state, count in sorted(states.items())))
        connection.close()


def run(seed: str, rounds: int | None, seconds: float | None) -> tuple[int, int]:
    directory = Path(tempfile.mkdtemp(prefix="spine-chaos-"))
    began, number, passed = time.monotonic(), 0, 0
    story = None
    try:
        story = Story(directory, seed)
        while number != rounds and (seconds is None or time.monotonic() - began < seconds):
            number += 1
            story.round(number)
            passed += 1
        story.finish()
    except (Broken, Lost, StartError, subprocess.TimeoutExpired) as problem:
        kind = "no answer: " if isinstance(problem, Lost) else ""
        print(f"round {number} (seed {seed}): {kind}{problem}\n  its data was kept in {directory}", flush=True)
        if story is not None:
            story.server.kill()
        return passed, 1
    print(", ".join(f"{count} {what}" for what, count in story.history.counts.items())
          + f", power cuts took {story.taken_back} writes to the disk back; {time.monotonic() - began:.0f} s")
    shutil.rmtree(directory)
    return passed, 0


def main() -> int:
    parser = argparse.ArgumentParser(description="Kills a server while handoffs go through it, and looks whether any was lost.")
    parser.add_argument("--rounds", type=int, help="how many (default: 40, or no end with --seconds)")
    parser.add_argument("--seconds", type=float, help="stop after this time")
    parser.add_argument("--seed", default=str(random.SystemRandom().randrange(10**9)), help="replay a schedule")
    options = parser.parse_args()
    rounds = options.rounds if options.rounds or options.seconds else 40
    print(f"delivery under crashes, seed {options.seed}", flush=True)
    passed, failed = run(options.seed, rounds, options.seconds)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
