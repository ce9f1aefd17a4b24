"""The end of a run: what is still open is taken and completed, and then every node is asked for everything."""

from __future__ import annotations

import time
from typing import Any, Iterator

from checker import accepted, sent
from clients import AGENTS, Client, Receiver, Stop, World
from history import UNANSWERED, View

DRAIN_S = 90.0  # longer than any lease of the receivers, and than the longest pause before another attempt
OPEN = ("queued", "leased")
ASK_AGAIN = 50
LATE_S = 5.0
FETCH = 500
FOLLOWED_WITHIN_S = 20.0


class Last(Receiver):
    """Completes what the others have left behind."""

    def once(self) -> None:
        deadline = time.monotonic() + DRAIN_S
        while time.monotonic() < deadline and self.has_open():
            for agent in AGENTS:
                body = {"wait_s": 1, "lease_s": 30, "max": 100, "format": "none", "instance": self.label}
                call, _ = self.ask("receive", "POST", f"/v1/agents/{agent}/receive", body)
                for handoff, lease in call.taken:
                    self.settle("complete", handoff, lease, f"{self.label} {handoff}.{lease}")
        raise Stop

    def has_open(self) -> bool:
        answers = [self.way.ask(node, "GET", f"/v1/handoffs?state={state}&page_size=1")
                   for node in sorted(self.world.addresses)[:1] for state in OPEN]
        return any(status != 200 or answer["handoffs"] for status, answer in answers)


class Onlooker(Client):
    """Asks one node, and gives up only when it does not answer at all."""

    def fetch(self, view: View, space: str, ids: list[str]) -> None:
        self.way.space = space
        status, answer = self.get(view.node, "/v1/memories/fetch", {"ids": ids})
        found = {one["id"]: one["content"] for one in answer["memories"]} if status == 200 else {}
        view.memories.update({(space, name): found.get(name) for name in ids})

    def settled(self, node: str, path: str) -> tuple[int, Any]:
        """A handoff. A request that waits for its ack, and was on its way for long (a cable was out), may arrive only now:
        then it is under way for a moment once more, and withdrawn again."""
        until = time.monotonic() + LATE_S
        while True:
            status, answer = self.get(node, path)
            if status != 200 or answer["state"] not in OPEN or time.monotonic() > until:
                return status, answer
            time.sleep(0.1)

    def search(self, node: str) -> None:
        """For a word of what a keeper stores."""
        status, answer = self.get(node, "/v1/memories?query=knows&page_size=1")
        if status != 200 or not answer["memories"]:
            self.world.history.problem(f"a search in {self.way.space} was answered by {node} with {status} {answer}")

    def get(self, node: str, path: str, body: Any = None, accept: str = "") -> tuple[int, Any]:
        for _ in range(ASK_AGAIN):
            status, answer = self.way.ask(node, "POST" if body else "GET", path, body, Accept=accept)
            if status not in (UNANSWERED, 503):
                return status, answer
            time.sleep(0.1)
        return UNANSWERED, {}

    def pages(self, node: str, path: str, member: str) -> Iterator[dict[str, Any]]:
        token = ""
        while True:
            status, answer = self.get(node, path + (f"&page_token={token}" if token else ""))
            if status != 200:
                self.world.history.problem(f"{path} of {self.way.space} was answered by {node} with {status} {answer}")
                return
            yield from answer[member]
            token = answer.get("next_page_token") or ""
            if not token:
                return

    def events(self, node: str) -> list[tuple[int, str, str]]:
        found: list[tuple[int, str, str]] = []
        after, has_more = 0, True
        while has_more:
            status, answer = self.get(node, f"/v1/events?types=handoff.&limit=1000&after={after}", accept="application/json")
            if status != 200:
                self.world.history.problem(f"the events of {self.way.space} were answered by {node} with {status} {answer}")
                return found
            found += [(int(one["id"]), one["type"].removeprefix("com.memoryspine."), one["subject"]) for one in answer["events"]]
            after, has_more = answer["next"], answer["has_more"]
        return found

    def look(self, node: str) -> View:
        view = View(node)
        for space, name in sent(self.world.history.calls):
            self.way.space = space
            status, answer = self.settled(node, f"/v1/handoffs/{name}")
            view.handoffs[space, name] = shape(answer) if status == 200 else None
        for space in self.world.spaces:
            stored = [call.id for call in accepted(self.world.history.calls, "store", "probe") if call.space == space]
            for begin in range(0, len(stored), FETCH):
                self.fetch(view, space, stored[begin:begin + FETCH])
        for space in self.world.spaces:
            self.way.space = space
            view.listed_handoffs[space] = [one["id"] for one in self.pages(node, "/v1/handoffs?page_size=1000", "handoffs")]
            memories = self.pages(node, "/v1/memories?state=any&page_size=1000", "memories")
            view.listed_memories[space] = [(one["id"], one["content"]) for one in memories]
            view.events[space] = self.events(node)
            self.search(node)
        return view


def shape(answer: dict[str, Any]) -> dict[str, Any]:
    leased = [event["id"] for event in answer["events"] if event["event"] == "handoff.leased"]
    number = int(str(leased[0]).rsplit("-", 1)[-1]) if leased else 0
    return {"state": answer["state"], "result": answer.get("result"), "first_leased": number,
            "handed_on": answer.get("handed_on")}


def drain_and_look(world: World) -> list[View]:
    drains = [Last("last", space, world) for space in world.spaces]
    for one in drains:
        one.start()
    world.join([*drains], DRAIN_S)
    onlooker = Onlooker("onlooker", "", world)
    views = [onlooker.look(node) for node in sorted(world.addresses)]
    for follower in world.followers:
        last = max((number for view in views for number, _, _ in view.events[follower.space]), default=0)
        follower.catch_up(last, FOLLOWED_WITHIN_S)
    return views
