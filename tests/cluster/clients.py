"""Who works on the cluster: each call goes to a node chosen by chance, and is sent again, with its key or its lease, until
somebody says what became of it. All of it is written into the history."""

from __future__ import annotations

import http.client
import json
import random
import socket
import threading
import time
from typing import Any, Callable

from history import UNANSWERED, Call, History

Address = tuple[str, int]
OPEN_MOST = 40  # senders pause above it
CONNECT_S, ANSWER_S = 3.0, 12.0
AGENTS = ["planner", "worker"]
AGAIN_S = (0.05, 0.4)
FOLLOWED_MOST = 10**9
ENDS = ("no_owner", "store_busy")  # of a stream whose node loses the space, or its database


class Stop(Exception):
    """The test is over."""


class Way:
    """Connections of one client, one to each node."""

    def __init__(self, space: str, addresses: dict[str, Address]) -> None:
        self.space, self.addresses = space, addresses
        self.connections: dict[str, http.client.HTTPConnection] = {}

    def ask(self, node: str, method: str, path: str, body: Any = None, **more: str) -> tuple[int, Any]:
        """Status 0: nobody knows whether it was carried out. `more` are headers."""
        headers = {"Spine-Space": self.space, **{name.replace("_", "-"): value for name, value in more.items() if value}}
        if body is not None:
            headers["Content-Type"] = "application/json"
        try:
            connection = self.connections.get(node) or self.connect(node)
            connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or b"null")
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.drop(node)
            return UNANSWERED, {"code": type(error).__name__}

    def connect(self, node: str) -> http.client.HTTPConnection:
        connection = http.client.HTTPConnection(*self.addresses[node], timeout=CONNECT_S)
        connection.connect()
        connection.sock.settimeout(ANSWER_S)
        self.connections[node] = connection
        return connection

    def drop(self, node: str) -> None:
        connection = self.connections.pop(node, None)
        if connection is not None:
            connection.close()


class Client(threading.Thread):
    def __init__(self, name: str, space: str, world: World) -> None:
        super().__init__(name=f"{space}/{name}", daemon=True)
        self.label, self.space, self.world = name, space, world
        self.dice = random.Random(f"{world.seed}/{space}/{name}")
        self.way = Way(space, world.addresses)

    def run(self) -> None:
        try:
            while True:
                self.once()
                self.pause(*self.world.pace)
        except Stop:
            pass
        except Exception as error:  # noqa: BLE001: an error of the test itself must not pass for a quiet client
            self.world.history.problem(f"{self.name}: {error!r}")

    def once(self) -> None:
        raise NotImplementedError

    def pause(self, least: float, most: float) -> None:
        if self.world.stopping.wait(self.dice.uniform(least, most)):
            raise Stop

    def ask(self, verb: str, method: str, path: str, body: Any = None, node: str = "", if_match: str = "",
            **more: Any) -> tuple[Call, Any]:
        """One request. Its call has the answer's status, code and, where it is given none, its id."""
        node = node or self.dice.choice(sorted(self.world.addresses))
        call = self.world.history.begin(Call(self.label, node, self.space, verb, **more))
        status, answer = self.way.ask(node, method, path, body, Idempotency_Key=call.key, If_Match=if_match)
        answer = answer if isinstance(answer, dict) else {}
        if not call.id:
            call.id = str(answer.get("id") or answer.get("handoff") or "")
        if verb == "receive" and status == 200:
            call.taken = [(one["id"], int(one["lease"].rsplit(".", 1)[1])) for one in answer["handoffs"]]
        if verb == "publish" and status == 200:
            call.made = [one["id"] for one in answer["handoffs"]]
        if verb == "complete" and status == 200 and answer.get("then"):
            call.made = [answer["then"]["id"]]
        if verb == "join" and status == 200:
            call.value, call.results = answer["state"], {one["id"]: one["result"] for one in answer["results"] if "result" in one}
        if verb == "read" and status == 200:
            call.value = answer["content"]
        self.world.history.end(call, status, str(answer.get("code", "")))
        return call, answer

    def until_known(self, verb: str, method: str, path: str, body: Any = None, **more: Any) -> tuple[Call, Any]:
        """Sent again until it is carried out or refused; also when everybody is told to stop, so that nothing stays open."""
        while True:
            call, answer = self.ask(verb, method, path, body, **more)
            if call.status not in (UNANSWERED, 503, 500):
                return call, answer
            if self.world.giving_up.wait(self.dice.uniform(*AGAIN_S)):
                raise Stop


class Sender(Client):
    """Packs and sends, in one call or in two; one after the other, so that there is an order."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.count = 0

    def once(self) -> None:
        if self.world.open[self.space] > OPEN_MOST:
            return
        self.count += 1
        key, agent, priority = f"{self.label}-{self.count}", self.dice.choice(AGENTS), self.dice.choice([5, 5, 5, 5, 2])
        draft = {"from": self.label, "target_agent": agent, "task_summary": key, "include_recent": 0, "include_pins": False}
        body: dict[str, Any] = {"priority": priority, "max_attempts": 100}
        if self.dice.random() < 0.5:
            body["envelope"] = draft
        else:
            packed, _ = self.until_known("pack", "POST", "/v1/envelopes", draft, key=f"{key}-packed")
            body["envelope_id"] = packed.id
        is_waiting = self.dice.random() < 0.1
        if is_waiting:
            body["wait_s"] = 0.3
        call, _ = self.until_known("send", "POST", "/v1/handoffs", body, key=key, is_waiting=is_waiting,
                                   group=f"{self.label} to {agent} by {priority}")
        if call.is_accepted:
            self.world.count(self.space, 1)
            if self.dice.random() < 0.1:  # the answer was lost on the way to whoever asked
                self.until_known("send", "POST", "/v1/handoffs", body, key=key, is_waiting=is_waiting)
            self.until_known("look", "GET", f"/v1/handoffs/{call.id}", id=call.id)


class Receiver(Client):
    """Takes, works, and settles; sometimes twice, sometimes too late, sometimes never. What was published is completed, for
    somebody joins it; of other work some is handed on."""

    def once(self) -> None:
        agent = self.dice.choice(AGENTS)
        body = {"wait_s": self.dice.choice([0, 1, 5]), "lease_s": self.dice.choice([0.5, 3]), "max": self.dice.choice([1, 1, 3]),
                "format": "none", "instance": self.label}
        call, answer = self.ask("receive", "POST", f"/v1/agents/{agent}/receive", body)
        for (handoff, lease), one in zip(call.taken, answer.get("handoffs", []), strict=True):
            self.treat(handoff, lease, is_joined=bool(one["channel"]))

    def treat(self, handoff: str, lease: int, is_joined: bool) -> None:
        what = self.dice.random()
        if what < 0.04:  # forgets it
            return
        if what < 0.08:  # works for longer than its lease
            self.pause(0.4, 0.8)
        if lease > 1 and what < 0.2:
            self.settle("complete", handoff, lease - 1, "of a lease that is over")
        verb = "complete" if is_joined else self.dice.choices(["complete", "ack", "nack"], [60, 30, 10])[0]
        then = self.next_of(handoff) if not is_joined and self.dice.random() < 0.2 else None
        result = f"{self.label} {handoff}.{lease}"
        if self.settle(verb, handoff, lease, result, then):
            self.world.count(self.space, 0 if then and verb == "complete" else -1)
        if self.dice.random() < 0.15:
            self.settle(self.dice.choice(["complete", "ack", "nack"]), handoff, lease, result, then)

    def next_of(self, handoff: str) -> dict[str, Any]:
        """What says something new is no loop, and a chain seldom grows to its limit of hops."""
        draft = {"target_agent": self.dice.choice(AGENTS), "task_summary": f"after {handoff}", "include_recent": 0,
                 "include_pins": False}
        return {"envelope": draft, "max_attempts": 100}

    def settle(self, verb: str, handoff: str, lease: int, result: str, then: Any = None) -> bool:
        body: dict[str, Any] = {"lease": f"{handoff}.{lease}"}
        if verb == "complete":
            body["result"] = result
        if verb == "complete" and then:
            body["then"] = then
        if verb == "nack":
            body["delay_s"] = 0
        call, _ = self.until_known(verb, "POST", f"/v1/handoffs/{handoff}/{verb}", body, id=handoff, lease=lease,
                                   value=result if verb == "complete" else "", hands_on="then" in body)
        return call.is_accepted and verb != "nack"


class Publisher(Client):
    """Publishes to all agents, and joins until everybody has completed it."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.count = 0

    def once(self) -> None:
        if self.world.open[self.space] > OPEN_MOST:
            return
        self.count += 1
        key = f"{self.label}-{self.count}"
        draft = {"from": self.label, "target_agent": AGENTS[0], "task_summary": key, "include_recent": 0, "include_pins": False}
        packed, _ = self.until_known("pack", "POST", "/v1/envelopes", draft, key=f"{key}-packed")
        body = {"envelope_id": packed.id, "receivers": AGENTS, "max_attempts": 100}
        call, _ = self.until_known("publish", "POST", "/v1/channels/news/publish", body, key=key, id=packed.id)
        self.world.count(self.space, len(call.made))
        while call.is_accepted:
            joined, _ = self.until_known("join", "POST", "/v1/channels/news/join",
                                         {"envelope_id": packed.id, "wait_s": self.dice.choice([0, 1, 3])}, id=packed.id)
            if not joined.is_accepted or joined.value != "waiting":
                break
            self.pause(0.1, 0.3)
        self.pause(0.2, 0.6)


class Keeper(Client):
    """Stores memories, and looks for them at once through any node."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.count = 0

    def once(self) -> None:
        self.count += 1
        text = f"{self.label} of {self.space} knows {self.count}"
        call, _ = self.until_known("store", "POST", "/v1/memories", {"content": text}, key=text.replace(" ", "-"), value=text)
        self.until_known("look", "GET", f"/v1/memories/{call.id}", id=call.id)


class Counter(Client):
    """Counts up in one memory. A request that was held up somewhere and arrives late is refused by its If-Match."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.count = 0

    def once(self) -> None:
        self.count += 1
        memory = self.world.counters[self.space]
        call, answer = self.until_known("write", "PATCH", f"/v1/memories/{memory}", {"content": str(self.count)},
                                        if_match=f'"{memory}@{self.count}"', value=str(self.count))
        if call.status == 412 and answer.get("current_version") == self.count + 1:
            call.status = 200  # an earlier one of these requests was carried out, and its answer lost


class Reader(Client):
    """Reads what is counted, through any node."""

    def once(self) -> None:
        memory = self.world.counters[self.space]
        self.ask("read", "GET", f"/v1/memories/{memory}", id=memory)


class Prober(Client):
    """Has each node write in each space, again and again: so it is known when a space is served."""

    def __init__(self, node: str, spaces: list[str], world: World) -> None:
        super().__init__(f"prober-{node}", "", world)
        self.node, self.spaces, self.count = node, spaces, 0

    def once(self) -> None:
        self.count += 1
        for self.space in self.spaces:
            self.way.space = self.space
            text = f"{self.label} {self.count}"
            self.ask("probe", "POST", "/v1/memories", {"content": text}, node=self.node, value=text, key=text.replace(" ", "-"))


class Follower(Client):
    """Follows the events of handoffs in a space, through one node after the other: where a stream ends, or is left, the
    next goes on behind the last event."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.last = "0"
        self.connection: http.client.HTTPConnection | None = None

    def once(self) -> None:
        self.follow(self.dice.choice(sorted(self.world.addresses)), self.dice.randint(20, 300))

    def follow(self, node: str, most: int, until: int | None = None) -> None:
        """At most so many events, and to the one with that number."""
        call = self.world.history.begin(Call(self.label, node, self.space, "stream", value=self.last))
        try:
            answer = self.open(node)
            call.status, call.code = answer.status, "" if answer.status == 200 else answer.read().decode()
            if answer.status == 200:
                self.read(answer, call, most, until)
        except (OSError, http.client.HTTPException, ValueError, AttributeError) as error:
            call.code = type(error).__name__
        self.world.history.end(call, call.status, call.code)
        self.cut()

    def open(self, node: str) -> http.client.HTTPResponse:
        self.way.drop(node)
        connection = self.connection = self.way.connect(node)
        if self.world.stopping.is_set() and self.is_alive():
            raise ConnectionAbortedError
        connection.request("GET", "/v1/events?types=handoff.", headers={"Spine-Space": self.space, "Last-Event-ID": self.last})
        return connection.getresponse()

    def read(self, answer: http.client.HTTPResponse, call: Call, most: int, until: int | None) -> None:
        """A block counts when it is whole."""
        block: dict[str, str] = {}
        for line in answer:
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name:
                block[name] = value
                continue
            if "data" in block and not self.keep(call, json.loads(block["data"]), block.get("event", "")):
                return
            self.last = block.get("id", self.last)
            block = {}
            if len(call.events) >= most or (until is not None and int(self.last) >= until):
                return

    def keep(self, call: Call, data: dict[str, Any], kind: str) -> bool:
        """False: it was no event, but why the stream ends."""
        if kind != "problem":
            call.events.append((int(data["id"]), data["type"].removeprefix("com.memoryspine."), data["subject"]))
            return True
        call.code = data["code"]
        if call.code not in ENDS:
            self.world.history.problem(f"{self.name} through {call.node}: the stream ended with {data}")
        return False

    def cut(self) -> None:
        """From any thread: who reads finds the end."""
        connection = self.connection
        try:
            if connection is not None:
                connection.sock.shutdown(socket.SHUT_RDWR)
        except (OSError, AttributeError):
            pass

    def catch_up(self, until: int, seconds: float) -> None:
        """When nothing is done to anybody any more: to the event with that number."""
        deadline = time.monotonic() + seconds
        while int(self.last) < until and time.monotonic() < deadline:
            self.follow(self.dice.choice(sorted(self.world.addresses)), FOLLOWED_MOST, until)


class World:
    """What all clients have in common."""

    def __init__(self, seed: int, spaces: list[str], addresses: dict[str, Address], history: History,
                 pace: tuple[float, float] = (0.0, 0.05)) -> None:
        self.seed, self.spaces, self.addresses, self.history, self.pace = seed, spaces, addresses, history, pace
        self.stopping, self.giving_up = threading.Event(), threading.Event()
        self.counters: dict[str, str] = {}
        self.followers: list[Follower] = []
        self.lock = threading.Lock()
        self.open = {space: 0 for space in spaces}  # roughly: sent, and not yet settled for good

    def count(self, space: str, more: int) -> None:
        with self.lock:
            self.open[space] += more

    def start(self) -> list[Client]:
        """Makes the memories to count in, and everybody begins."""
        for space in self.spaces:
            way = Way(space, self.addresses)
            status, answer = way.ask(sorted(self.addresses)[0], "POST", "/v1/memories", {"content": "0"})
            if status != 201:
                raise SystemExit(f"{space} cannot be written before the first fault: {status} {answer}")
            self.counters[space] = answer["id"]
        kinds: list[tuple[str, Callable[..., Client]]] = [
            ("sender", Sender), ("receiver-1", Receiver), ("receiver-2", Receiver), ("keeper", Keeper), ("counter", Counter),
            ("reader", Reader), ("publisher", Publisher),
        ]
        clients = [kind(name, space, self) for space in self.spaces for name, kind in kinds]
        self.followers = [Follower("follower", space, self) for space in self.spaces]
        clients += self.followers
        clients += [Prober(node, self.spaces, self) for node in sorted(self.addresses)]
        for client in clients:
            client.start()
        return clients

    def stop(self, clients: list[Client], patience_s: float) -> None:
        """Nobody begins anything new; what is under way is brought to its end."""
        self.stopping.set()
        for follower in self.followers:
            follower.cut()
        self.join(clients, patience_s)

    def join(self, clients: list[Client], patience_s: float) -> None:
        """Waits for them. Who is not over by then gives up what it asks for again and again."""
        timer = threading.Timer(patience_s, self.giving_up.set)
        timer.start()
        for client in clients:
            client.join(patience_s + ANSWER_S + CONNECT_S)
            if client.is_alive():
                self.history.problem(f"{client.name} does not come to its end")
        timer.cancel()
        self.giving_up.clear()
