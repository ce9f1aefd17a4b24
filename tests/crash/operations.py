"""The writes that the crash test makes. Each knows what it asks for, what an answer means for the model, and, where no
answer came, what may be found after the restart: all of it or nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from model import Contested, Memory, Space, brief, text_of
from wire import Answer, Connection

REFUSED_STATUS = 503  # draining: nothing was done


class Broken(Exception):
    """The server did not keep a promise."""


def expect(condition: bool, what: str) -> None:
    if not condition:
        raise Broken(what)


def num_of(identifier: str) -> int:
    return int(identifier.removeprefix("ms-"))


@dataclass(eq=False)
class Store:
    """One memory, or a batch. `replaces` is the memory that a single one supersedes; `num` is a number that the caller
    chose."""

    space: Space
    markers: list[str]
    key: str | None
    batch: bool = False
    replaces: Memory | None = None
    num: int | None = None
    nums: list[int] | None = None  # once it is known

    def _body(self) -> Any:
        memories: list[dict[str, Any]] = [{"content": text_of(marker), "kind": "note"} for marker in self.markers]
        if self.replaces is not None:
            memories[0]["supersedes"] = self.replaces.id
        if self.num is not None:
            memories[0]["id"] = f"ms-{self.num}"
        return {"memories": memories} if self.batch else memories[0]

    def ask(self, connection: Connection) -> Answer:
        path = "/v1/memories/batch" if self.batch else "/v1/memories"
        return connection.ask("POST", path, self._body(), key=self.key)

    def answered(self, answer: Answer) -> bool:
        """Takes an answer to the first request. Returns whether it was carried out."""
        if answer.status == REFUSED_STATUS or (answer.status == 409 and self.num is not None):
            return False
        expect(
            answer.status == 201, f"storing {self.markers[0]} was answered with {answer.status} {brief(answer.body)}"
        )
        expect(
            not answer.replayed, f"storing {self.markers[0]} for the first time was answered with a replayed reply"
        )
        self.happened(self._nums(answer))
        return True

    def retried(self, answer: Answer) -> None:
        """Takes the answer to a request that was sent before, with the same key."""
        what = f"storing {self.markers[0]} again"
        if self.nums is None and self.num is not None and answer.status == 409:
            return  # Somebody else got that number meanwhile.
        if self.nums is not None and any(self.space.memories[num].forgotten for num in self.nums):
            gone = answer.status == 409 and answer.body["code"] == "memory_forgotten"
            expect(gone, f"{what}, which is forgotten, was answered with {answer.status} {brief(answer.body)}")
            return
        expect(answer.status == 201, f"{what} was answered with {answer.status} {brief(answer.body)}")
        expect(answer.replayed == (self.nums is not None), f"{what}: replayed is {answer.replayed}")
        nums = self._nums(answer)
        if self.nums is None:
            self.happened(nums)
        expect(nums == self.nums, f"{self.markers[0]} is {self.nums}, but its key was answered with {nums}")

    def happened(self, nums: list[int]) -> None:
        expect(nums == list(range(nums[0], nums[0] + len(nums))), f"a batch was numbered {nums}")
        self.nums = nums
        for num, marker in zip(nums, self.markers):
            wrong = self.space.add(Memory(num, [marker]), chosen=self.num is not None)
            expect(wrong is None, str(wrong))
        if self.replaces is not None:
            self.replaces.superseded_by = nums[0]

    def _nums(self, answer: Answer) -> list[int]:
        memories = answer.body["memories"] if self.batch else [answer.body]
        contents = [memory["content"] for memory in memories]
        expect(
            contents == [text_of(marker) for marker in self.markers],
            f"{self.markers[0]} was answered with {brief(contents)}",
        )
        return [num_of(memory["id"]) for memory in memories]

    def settle(self, found: dict[str, int]) -> None:
        """After a restart: `found` is where the markers of unanswered stores were found."""
        there = [marker for marker in self.markers if marker in found]
        expect(
            len(there) in (0, len(self.markers)),
            f"{len(there)} of the {len(self.markers)} of a batch are there: {there}",
        )
        if there:
            self.happened([found[marker] for marker in self.markers])


@dataclass(eq=False)
class BrokenBatch:
    """A batch that must be refused because of its last entry, whose number is taken. Nothing of it may ever be
    found."""

    markers: list[str]
    taken: Memory

    def ask(self, connection: Connection) -> Answer:
        memories = [{"content": text_of(marker)} for marker in self.markers]
        memories.append({"content": "one too many", "id": self.taken.id})
        return connection.ask("POST", "/v1/memories/batch", {"memories": memories})

    def answered(self, answer: Answer) -> bool:
        expect(
            answer.status in (409, REFUSED_STATUS),
            f"a batch with a number that is taken was answered with {answer.status}",
        )
        return False


@dataclass(eq=False)
class Change:
    """An update, pin, unpin, revert or forget of a memory that nobody else changes."""

    memory: Memory
    after: Memory
    method: str
    path: str
    body: Any = None
    if_match: bool = False

    def ask(self, connection: Connection) -> Answer:
        match = f"{self.memory.id}@{self.memory.version}" if self.if_match else None
        return connection.ask(self.method, f"/v1/memories/{self.memory.id}{self.path}", self.body, if_match=match)

    def answered(self, answer: Answer) -> bool:
        if answer.status == REFUSED_STATUS:
            return False
        what = f"{self.method} {self.memory.id}{self.path}"
        expect(answer.status == 200, f"{what} was answered with {answer.status} {brief(answer.body)}")
        expect(
            answer.body["version"] == self.after.version,
            f"{what} made version {answer.body['version']}, not {self.after.version}",
        )
        self.memory.become(self.after)
        return True

    def settle(self, seen: Any) -> None:
        """After a restart: it happened, or it did not."""
        if self.memory.difference(seen) is None:
            return
        wrong = self.after.difference(seen)
        expect(wrong is None, f"{self.method} {self.memory.id}{self.path} is neither done nor undone: {wrong}")
        self.memory.become(self.after)


@dataclass(eq=False)
class ContestedUpdate:
    """An update of a memory that others update, too."""

    contested: Contested
    marker: str
    version: int  # that it makes, if nobody is faster

    def ask(self, connection: Connection) -> Answer:
        memory = self.contested.memory
        self.contested.attempted.setdefault(self.version, set()).add(self.marker)
        body = {"content": text_of(self.marker)}
        return connection.ask("PATCH", f"/v1/memories/{memory.id}", body, if_match=f"{memory.id}@{self.version - 1}")

    def answered(self, answer: Answer) -> bool:
        if answer.status == 412:
            self.contested.latest = answer.body["current_version"]
        if answer.status in (412, REFUSED_STATUS):
            self.contested.attempted[self.version].discard(self.marker)
            return False
        expect(
            answer.status == 200,
            f"updating {self.contested.memory.id} was answered with {answer.status} {brief(answer.body)}",
        )
        expect(
            answer.body["version"] == self.version,
            f"If-Match {self.version - 1} made version {answer.body['version']}",
        )
        other = self.contested.acknowledged.setdefault(self.version, self.marker)
        expect(other == self.marker, f"version {self.version} was acknowledged for {other} and for {self.marker}")
        self.contested.latest = self.version
        return True
