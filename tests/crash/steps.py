"""Kills a server at random moments while pipelines step through it, and looks whether a step was ever half done.

Each task goes through a row of agents. A worker takes its work, and settles it together with handing it on and taking the
next: one call (`receive` with `settle`, each with `then`). At a random moment the server gets SIGKILL, in some rounds the
power goes, too. The worker saw no answer, so it sends the same call again when the server is back, as a client would.
After each restart and at the end:

  - a handoff that is completed has handed on to exactly one next one, unless it is the last of the row;
  - one that is not completed has handed on nothing;
  - what the next one carries is the result of the one before, the intent word for word, and the constraint.

--seed replays the schedule. The threads' interleaving is the machine's own.
"""

from __future__ import annotations

import argparse
import random
import shutil
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
from operations import Broken, expect  # noqa: E402
from server import Server, StartError  # noqa: E402
from wire import Connection, Lost  # noqa: E402

SPACE = "steps"
ROW = ["research", "write", "review", "publish"]
WORKERS = 2  # of each agent
TASKS = 12  # that are begun in a round
POWER_CUTS = 0.25
CHECK_EVERY = 10
FINISH_S = 60.0


def result_of(handoff: str) -> str:
    return f"the result of {handoff}"


class Worker(threading.Thread):
    """Steps until the server is gone. What it has asked without an answer it asks again in the next round."""

    def __init__(self, agent: str, dice: random.Random) -> None:
        super().__init__(name=agent)
        self.agent, self.dice = agent, dice
        self.pending: list[dict[str, Any]] = []
        self.problems: list[str] = []
        self.steps = 0

    def renew(self, address: tuple[str, int]) -> Worker:
        other = Worker(self.agent, self.dice)
        other.address, other.pending, other.steps = address, self.pending, self.steps
        return other

    address: tuple[str, int] = ("", 0)

    def run(self) -> None:
        try:
            connection = Connection(self.address, SPACE)
            while True:
                self.once(connection)
        except Lost:
            pass
        except Exception as error:  # noqa: BLE001: an error of the test itself must not pass for a quiet round
            self.problems.append(f"{self.agent}: {error!r}")

    def once(self, connection: Connection) -> bool:
        body = {"wait_s": self.dice.choice([0, 0.02]), "max": self.dice.choice([1, 3]), "lease_s": 30, "format": "none", "settle": self.pending}
        answer = connection.ask("POST", f"/v1/agents/{self.agent}/receive", body)
        if answer.status == 503:
            return False
        expect(answer.status == 200, f"a step was answered with {answer.status} {answer.body}")
        for asked, told in zip(self.pending, answer.body.get("settled", [])):
            # A lease that ended while the server was away is not ours any more; somebody else does the work.
            code = told.get("problem", {}).get("code")
            expect(code in (None, "stale_lease"), f"{asked} was answered with {told}")
            self.steps += code is None
        self.pending = [self.finished(taken) for taken in answer.body["handoffs"]]
        return bool(self.pending)

    def finished(self, taken: dict[str, Any]) -> dict[str, Any]:
        done = {"id": taken["id"], "verb": "complete", "lease": taken["lease"], "result": result_of(taken["id"])}
        if self.agent != ROW[-1]:
            after = ROW[ROW.index(self.agent) + 1]
            done["then"] = {"envelope": {"target_agent": after, "task_summary": f"{after} it", "include_recent": 0}}
        return done


class Story:
    def __init__(self, directory: Path, seed: str) -> None:
        self.data, self.seed = directory / "data", seed
        self.library, self.log = power.build(directory), directory / "power.log"
        self.workers = [Worker(agent, random.Random(f"{seed}/{agent}/{n}")) for agent in ROW for n in range(WORKERS)]
        self.tasks: set[str] = set()
        self.start_for(1)

    def start_for(self, number: int) -> None:
        self.power_will_fail = random.Random(f"{self.seed}/{number}/power").random() < POWER_CUTS
        self.log.unlink(missing_ok=True)
        more = {"LD_PRELOAD": str(self.library), "POWER_LOG": str(self.log)} if self.power_will_fail else {}
        self.server = Server(self.data, **more).wait_until_ready()

    def begin(self, number: int) -> None:
        connection = Connection(self.server.address, SPACE)
        for n in range(TASKS):
            task = f"task-{number}-{n}"
            envelope = {"from": "user", "target_agent": ROW[0], "task_summary": f"{ROW[0]} it", "task": task, "include_recent": 0,
                        "intent": f"Do {task}, and nothing else.", "constraints": {"max_cost": 5}}
            answer = connection.ask("POST", "/v1/handoffs", {"envelope": envelope}, key=task)
            expect(answer.status == 202, f"{task} was answered with {answer.status} {answer.body}")
            self.tasks.add(task)
        connection.close()

    def round(self, number: int) -> None:
        dice = random.Random(f"{self.seed}/{number}")
        self.begin(number)
        self.workers = [worker.renew(self.server.address) for worker in self.workers]
        for worker in self.workers:
            worker.start()
        time.sleep(dice.uniform(0.01, 0.15))
        code = self.server.process.poll()
        expect(code is None, f"the server ended by itself with {code}; its log ends: {self.server.log_tail()}")
        self.server.kill()
        for worker in self.workers:
            worker.join()
            expect(not worker.problems, "; ".join(worker.problems[:3]))
        if self.power_will_fail:
            power.cut(self.data, self.log, dice)
        if number % CHECK_EVERY == 0:
            check(self.data)
        self.start_for(number + 1)
        self.verify()

    def handoffs(self, connection: Connection) -> list[dict[str, Any]]:
        found, token = [], ""
        while token is not None:
            page = connection.ask("GET", f"/v1/handoffs?page_size=1000{token and '&page_token=' + token}").body
            found += page["handoffs"]
            token = page.get("next_page_token")
        return found

    def verify(self) -> dict[str, int]:
        """No step is half done."""
        connection = Connection(self.server.address, SPACE)
        all_of_them = self.handoffs(connection)
        envelopes = {}
        for handoff in all_of_them:
            number = handoff["envelope_id"]
            expect(number not in envelopes, f"{number} was handed over twice")
            envelopes[number] = connection.ask("GET", f"/v1/envelopes/{number}").body
        after: dict[str, list[str]] = {}
        for handoff in all_of_them:
            after.setdefault(envelopes[handoff["envelope_id"]]["lineage"]["parent"], []).append(handoff["id"])
        states: dict[str, int] = {}
        for handoff in all_of_them:
            self.verify_one(handoff, envelopes[handoff["envelope_id"]], after.get(handoff["envelope_id"], []))
            states[handoff["state"]] = states.get(handoff["state"], 0) + 1
        connection.close()
        return states

    def verify_one(self, handoff: dict[str, Any], envelope: dict[str, Any], followers: list[str]) -> None:
        follows = handoff["state"] == "completed" and handoff["to"] != ROW[-1]
        expect(len(followers) == follows, f"{handoff['id']} of {handoff['to']} is {handoff['state']}, and was handed on as {followers}")
        task, hop = envelope["task"], envelope["lineage"]["hop"]
        expect(task["intent"] == f"Do {task['id']}, and nothing else." and envelope["constraints"]["max_cost"] == 5, f"{envelope['id']} has lost something")
        expect(handoff["to"] == ROW[hop - 1] and handoff["state"] in ("queued", "leased", "completed"), f"{handoff['id']} is {handoff['state']} with {handoff['to']}")
        texts = [ref["text"] for ref in envelope["memory"]["refs"] if ref["why"] == "cited"]
        expect(len(texts) == (hop > 1) and all(text.startswith("the result of ho-") for text in texts), f"{envelope['id']} carries {texts}")

    def finish(self) -> int:
        """Everybody goes on until every task is through the row."""
        connection = Connection(self.server.address, SPACE)
        deadline = time.monotonic() + FINISH_S
        while time.monotonic() < deadline:
            for worker in self.workers:
                worker.once(connection)
            states = self.verify()
            if set(states) == {"completed"}:
                break
        expect(states == {"completed": len(ROW) * len(self.tasks)}, f"{len(self.tasks)} tasks, and their handoffs are {states}")
        connection.close()
        code = self.server.terminate()
        expect(code == 0, f"the server ended with {code} after SIGTERM; its log ends: {self.server.log_tail()}")
        check(self.data)
        return sum(worker.steps for worker in self.workers)


def run(seed: str, rounds: int) -> tuple[int, int]:
    directory = Path(tempfile.mkdtemp(prefix="spine-steps-"))
    number, story = 0, None
    try:
        story = Story(directory, seed)
        while number < rounds:
            number += 1
            story.round(number)
        steps = story.finish()
    except (Broken, Lost, StartError, subprocess.TimeoutExpired) as problem:
        kind = "no answer: " if isinstance(problem, Lost) else ""
        print(f"round {number} (seed {seed}): {kind}{problem}\n  its data was kept in {directory}", flush=True)
        if story is not None:
            story.server.kill()
        return number - 1, 1
    print(f"{len(story.tasks)} tasks through {len(ROW)} agents, {steps} steps answered, {rounds} kills")
    shutil.rmtree(directory)
    return number, 0


def main() -> int:
    parser = argparse.ArgumentParser(description="Kills a server while pipelines step through it, and looks whether a step was half done.")
    parser.add_argument("--rounds", type=int, default=25, help="how many (default: 25)")
    parser.add_argument("--seed", default=str(random.SystemRandom().randrange(10**9)), help="replay a schedule")
    options = parser.parse_args()
    print(f"steps under crashes, seed {options.seed}", flush=True)
    passed, failed = run(options.seed, options.rounds)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
