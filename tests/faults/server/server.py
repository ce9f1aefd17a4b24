"""Faults in a real server: each call of the C library fails in turn, once and for good, while clients are served.

What was answered 2xx is there after a restart, what was refused is told by a problem, nobody waits for ever, and a
server that stops says why. shim.c, preloaded, makes the calls fail.

  server.py                           some calls of each kind, chosen by the seed 1
  server.py --calls N --seed N        at most so many
  server.py --first N --every K       all of the first N, then each K-th; --from N goes on where a run was ended
  server.py --only memory             one kind
  server.py --only memory --at 77     one call

Ends with "N passed, N failed", and exits with 1 where something failed.
"""

from __future__ import annotations

import argparse
import errno
import http.client
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import fault_shim  # noqa: E402
from fault_shim import ACCEPT, Control  # noqa: E402
from server import Server, StartError, binary, clean_environment  # noqa: E402

ANSWER_S = 20.0  # nobody waits longer; the longest wait asked for is 0
REFUSALS = {503, 507}
SAID_EVERY = 250  # rounds of a long run


@dataclass
class Fault:
    name: str
    kind: int  # as in fault_shim.py
    error: int
    goes_on: bool = False  # nobody notices
    may_stay: bool = True
    may_stop: bool = False
    first: int = 6  # so many are always among the calls that fail: what is made once comes first
    starts: str = ""  # while the server starts: on an "empty" directory, or on a "filled" one


FAULTS = [
    Fault("store-full", 1, errno.ENOSPC),
    Fault("store-write", 1, errno.EIO),
    Fault("store-short", 1, 0, goes_on=True),
    Fault("store-sync", 2, errno.EIO),
    Fault("store-open", 3, errno.EMFILE, may_stop=True),
    Fault("accept-too-many", 4, errno.EMFILE),
    Fault("accept-interrupted", 4, errno.EINTR, goes_on=True, may_stay=False),
    Fault("accept-aborted", 4, errno.ECONNABORTED, goes_on=True, may_stay=False),
    Fault("socket-too-many", 5, errno.EMFILE, goes_on=True),
    Fault("read-interrupted", 6, errno.EINTR, goes_on=True, may_stay=False),
    Fault("read-short", 6, 0, goes_on=True),
    Fault("send-interrupted", 7, errno.EINTR, goes_on=True, may_stay=False),
    Fault("send-short", 7, 0, goes_on=True),
    Fault("memory", 8, errno.ENOMEM, may_stop=True, may_stay=False),
    Fault("memory-first-start", 8, errno.ENOMEM, may_stop=True, may_stay=False, starts="empty"),
    Fault("memory-start", 8, errno.ENOMEM, may_stop=True, may_stay=False, first=60, starts="filled"),
]


@dataclass
class Story:
    """What clients were told."""

    memories: dict[str, str] = field(default_factory=dict)  # stored, with their text
    forgotten: set[str] = field(default_factory=set)
    settled: set[str] = field(default_factory=set)
    unsure: set[str] = field(default_factory=set)  # nobody answered
    refused: list[str] = field(default_factory=list)
    lost: int = 0


class Wrong(Exception):
    pass


class Client:
    """Keeps its connection, as agents do, and makes a new one where it was closed."""

    def __init__(self, address: tuple[str, int], story: Story) -> None:
        self.address = address
        self.story = story
        self.connection: http.client.HTTPConnection | None = None

    def call(self, method: str, path: str, body: object = None) -> tuple[int, dict]:
        """The answer; status 0 where there was none."""
        if self.connection is None:
            self.connection = http.client.HTTPConnection(*self.address, timeout=ANSWER_S)
        try:
            headers = {"Content-Type": "application/json"} if body is not None else {}
            self.connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            answer = self.connection.getresponse()
            text = answer.read()
        except TimeoutError:
            raise Wrong(f"{method} {path} is not answered") from None
        except (OSError, http.client.HTTPException):
            self.connection.close()
            self.connection = None
            self.story.lost += 1
            return 0, {}
        value = json.loads(text) if text else {}
        if answer.status >= 400:
            self.note_refusal(f"{method} {path}", answer.status, value)
        return answer.status, value

    def note_refusal(self, what: str, status: int, problem: dict) -> None:
        is_unknown = status == 500 and problem.get("code") == "outcome_unknown"  # in the transaction whose sync failed
        if status not in REFUSALS and not is_unknown:
            raise Wrong(f"{what} is answered {status}: {problem}")
        if not problem.get("detail") or not problem.get("code"):
            raise Wrong(f"{what} is refused without a reason: {problem}")
        self.story.refused.append(f"{what}: {status} {problem['detail']}")


def tell(client: Client) -> None:
    """The mix: memories, search, envelopes, delivery with handing on, forgetting."""
    story = client.story
    last = ""
    for n in range(3):
        text = f"the gateway of line {n} times out " + "x" * (n * 5000)
        status, made = client.call("POST", "/v1/memories", {"content": text})
        if status == 201:
            last = made["id"]
            story.memories[last] = text
            status, read = client.call("GET", f"/v1/memories/{last}")
            if status == 200 and read["content"] != text:
                raise Wrong(f"{last} is read as something else")
    client.call("GET", "/v1/memories?query=gateway")
    client.call("POST", "/v1/tokens", {"text": "how many are these?"})
    client.call("POST", "/v1/handoffs", {"envelope": {"target_agent": "worker", "task_summary": "look at it"}})
    status, taken = client.call("POST", "/v1/agents/worker/receive", {"wait_s": 0})
    for handoff in taken.get("handoffs", []) if status == 200 else []:
        settle(client, handoff)
    if last:
        status, _ = client.call("DELETE", f"/v1/memories/{last}")
        if status in (0, 500):  # nobody was told, or nobody knows; what is answered 503 is not there
            story.unsure.add(last)
        if status in (200, 204):
            story.forgotten.add(last)
    client.call("GET", "/v1/tasks")


def settle(client: Client, handoff: dict) -> None:
    body = {
        "lease": handoff["lease"],
        "result": "done",
        "then": {"envelope": {"target_agent": "reviewer", "task_summary": "look again"}},
    }
    status, _ = client.call("POST", f"/v1/handoffs/{handoff['id']}/complete", body)
    if status == 200:
        client.story.settled.add(handoff["id"])


def verify(data: Path, story: Story) -> None:
    """After a restart without faults."""
    server = Server(data).wait_until_ready()
    client = Client(server.address, Story())
    try:
        for name, text in story.memories.items():
            status, memory = raw_get(client, f"/v1/memories/{name}")
            if name in story.forgotten and status == 200 and memory.get("content"):
                raise Wrong(f"{name} was forgotten, and is there")
            if name not in story.forgotten | story.unsure and (status != 200 or memory["content"] != text):
                raise Wrong(f"{name} was acknowledged, and is answered {status}")
        for name in story.settled:
            status, handoff = raw_get(client, f"/v1/handoffs/{name}")
            if status != 200 or handoff["state"] != "completed":
                raise Wrong(f"{name} was completed, and is {handoff.get('state', status)}")
            check_next(client, name, handoff)
    finally:
        server.terminate()
    done = subprocess.run(
        [str(binary()), "check", "--data", str(data)], capture_output=True, text=True, env=clean_environment()
    )
    if done.returncode != 0:
        raise Wrong(f"check: {done.stdout}{done.stderr}")


def check_next(client: Client, name: str, handoff: dict) -> None:
    """What was handed on with it is there."""
    following = handoff.get("then") or handoff.get("result_then") or {}
    number = following.get("id") if isinstance(following, dict) else None
    if number and raw_get(client, f"/v1/handoffs/{number}")[0] != 200:
        raise Wrong(f"{number}, which {name} was handed on with, is lost")


def raw_get(client: Client, path: str) -> tuple[int, dict]:
    connection = http.client.HTTPConnection(*client.address, timeout=ANSWER_S)
    connection.request("GET", path)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, json.loads(text) if text else {}


class Bench:
    def __init__(self, work: Path) -> None:
        self.work = work
        self.library = fault_shim.build(work)
        self.rounds = 0
        self.filled = Story()

    def play(self, fault: Fault, at: int, stays: bool) -> int:
        """One server, one fault. Returns how many calls of that kind there were."""
        self.rounds += 1
        data = self.work / f"data-{self.rounds}"
        control = Control(self.work / f"control-{self.rounds}")
        if fault.starts:
            return self.play_start(fault, at, data, control)
        server = Server(data, **control.environment(self.library, data)).wait_until_ready()
        story = Story()
        try:
            calls = self.play_on(server, control, fault, at, stays, story)
            self.end(server, fault)
        finally:
            if server.process.poll() is None:
                server.kill()
            control.close()
        verify(data, story)
        shutil.rmtree(data)
        return calls

    def play_start(self, fault: Fault, at: int, data: Path, control: Control) -> int:
        """It fails while the server starts: it serves, or ends and says why; and the next one serves what was there."""
        story = Story()
        if fault.starts == "filled":
            shutil.copytree(self.template(), data)
            story = self.filled
        control.arm(fault.kind, fault.error, at, False)
        server = Server(data, **control.environment(self.library, data))
        try:
            try:
                server.wait_until_ready()
            except StartError:
                pass
            calls, _ = control.disarm()
            if server.process.poll() is None and not server.url:
                raise Wrong("the server neither serves nor ends")
            self.end(server, fault)
        finally:
            if server.process.poll() is None:
                server.kill()
            control.close()
        verify(data, story)
        shutil.rmtree(data)
        return calls

    def template(self) -> Path:
        """A store that was served, with what was told to its clients in self.filled."""
        data = self.work / "filled"
        if not data.exists():
            server = Server(data).wait_until_ready()
            tell(Client(server.address, self.filled))
            server.kill()
            (data / "server.json").unlink(missing_ok=True)
        return data

    def play_on(self, server: Server, control: Control, fault: Fault, at: int, stays: bool, story: Story) -> int:
        client = Client(server.address, story)
        client.call("GET", "/healthz")  # the connection is there before anything fails
        control.arm(fault.kind, fault.error, at, stays)
        tell(client)
        if not (stays and fault.kind == ACCEPT):
            client = Client(server.address, story)  # with a connection of its own
        tell(client)
        calls, _ = control.disarm()
        if fault.goes_on and (story.refused or story.lost):
            raise Wrong(f"refused: {story.refused}, connections lost: {story.lost}")
        if server.process.poll() is None and not fault.may_stop:
            status, _ = Client(server.address, Story()).call("GET", "/healthz")
            if status not in REFUSALS | {200}:
                raise Wrong(f"afterwards a new client is answered {status}")
        return calls

    def end(self, server: Server, fault: Fault) -> None:
        code = server.process.poll()
        if code is None:
            server.kill()
        elif not fault.may_stop:
            raise Wrong(f"the server ended with {code}: {server.log_tail()}")
        elif fault.starts and code == 1 and "spine: " in server.log_tail():
            pass  # it could not be started, and said what was wanting
        elif not any(word in server.log_tail() for word in ("out of memory", "stopping")):
            raise Wrong(f"the server ended with {code}, and does not say why: {server.log_tail()}")


def choose(fault: Fault, calls: int, options: argparse.Namespace, dice: random.Random) -> list[int]:
    wanted = options.calls
    if options.every:
        return [at for at in range(options.begin, calls + 1) if at <= options.first or at % options.every == 0]
    if wanted == 0 or wanted >= calls:
        return list(range(1, calls + 1))
    first = range(1, min(calls, fault.first) + 1)
    return sorted({*first, *(dice.randint(n * calls // wanted + 1, (n + 1) * calls // wanted) for n in range(wanted))})


def try_one(bench: Bench, fault: Fault, at: int, stays: bool) -> bool:
    try:
        bench.play(fault, at, stays)
    except (Wrong, StartError) as wrong:
        again = f"server.py --only {fault.name} --at {at}" + (" --stays" if stays else "")
        print(f"FAILED: {wrong}. Again with: {again}", flush=True)
        return False
    return True


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--every", type=int, default=0)
    parser.add_argument("--from", type=int, default=1, dest="begin")
    parser.add_argument("--only")
    parser.add_argument("--at", type=int)
    parser.add_argument("--stays", action="store_true")
    options = parser.parse_args()
    dice = random.Random(options.seed)
    results: list[bool] = []
    base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=base, prefix="spine-faults-") as work:
        bench = Bench(Path(work))
        for fault in FAULTS:
            if options.only and options.only != fault.name:
                continue
            if options.at:
                results.append(try_one(bench, fault, options.at, options.stays))
                continue
            calls = bench.play(fault, 0, False)
            places = choose(fault, calls, options, dice)
            before = results.count(False)
            for number, at in enumerate(places):
                if number % SAID_EVERY == 0 and options.every:
                    print(f"{fault.name}: at {at} of {calls}, {number} of {len(places)} done", flush=True)
                results.append(try_one(bench, fault, at, False))
                if fault.may_stay:
                    results.append(try_one(bench, fault, at, True))
            bad = results.count(False) - before
            print(f"{fault.name:20} {calls:6} calls, {len(places)} of them failed{f': {bad} FAILED' if bad else ''}", flush=True)
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 1 if results.count(False) else 0


if __name__ == "__main__":
    sys.exit(main())
