"""What is looked at after a restart."""

from __future__ import annotations

import random
from typing import Any

from envelopes import verify_envelopes
from model import Contested, Memory, Space, brief, text_of
from operations import Change, Store, expect, num_of
from wire import Connection
from writer import Writer

FETCH_IDS = 200
OLD_SAMPLE = 60  # memories of earlier rounds that are looked at again
RETRY_SAMPLE = 20  # acknowledged requests that are sent again
LOOK_BEFORE, LOOK_BEYOND = 100, 500  # numbers around those of the round
PROBE = "mk-0-0-1-"


class Reader:
    """A connection to one space."""

    def __init__(self, address: tuple[str, int], space: str) -> None:
        self.connection = Connection(address, space)

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def fetch(self, ids: list[str]) -> dict[str, Any]:
        """Each id's memory, or the reason why there is none."""
        seen: dict[str, Any] = {}
        for at in range(0, len(ids), FETCH_IDS):
            part = ids[at : at + FETCH_IDS]
            answer = self.connection.ask("POST", "/v1/memories/fetch", {"ids": part})
            expect(answer.status == 200, f"fetch was answered with {answer.status} {brief(answer.body)}")
            missing = {entry["id"]: entry["reason"] for entry in answer.body["missing"]}
            found = iter(answer.body["memories"])
            seen.update(
                (identifier, missing[identifier] if identifier in missing else next(found)) for identifier in part
            )
        return seen

    def probe(self) -> int:
        """Stores a memory and returns its number: no other memory has a higher one."""
        answer = self.connection.ask("POST", "/v1/memories", {"content": text_of(PROBE)})
        expect(
            answer.status == 201, f"a store after the restart was answered with {answer.status} {brief(answer.body)}"
        )
        return num_of(answer.body["id"])


def verify_round(address: tuple[str, int], contested: Contested, writers: list[Writer], dice: random.Random) -> None:
    with Reader(address, contested.space) as reader:
        verify_contested(reader, contested)
    for space in {writer.space.name: writer.space for writer in writers}.values():
        with Reader(address, space.name) as reader:
            own = [writer for writer in writers if writer.space is space]
            verify_writes(reader, space, own, dice)
            verify_count(reader, space)


def look(address: tuple[str, int], space: Space) -> dict[str, Any]:
    """What a server shows of the last writes, asked without writing anything: a write would make durable what was there
    before it."""
    with Reader(address, space.name) as reader:
        first = max(1, space.floor - LOOK_BEFORE)
        return reader.fetch([f"ms-{num}" for num in range(first, space.top + LOOK_BEYOND)])


def verify_shown(shown: dict[str, Any], now: dict[str, Any]) -> None:
    for identifier, memory in shown.items():
        expect(
            now[identifier] == memory,
            f"{identifier} was shown as {brief(memory)} before the power cut and is {brief(now[identifier])} after it",
        )


def verify_writes(reader: Reader, space: Space, writers: list[Writer], dice: random.Random) -> None:
    acknowledged = [operation for writer in writers for operation in writer.acknowledged]
    unanswered = [operation for writer in writers for operation in writer.unanswered]
    floor, top = space.floor, reader.probe()
    expect(top > space.top, f"the sequence went on with {top} after ms-{space.top} had been acknowledged")
    seen = reader.fetch([f"ms-{num}" for num in range(floor + 1, top)])
    find_unanswered(space, seen, unanswered)
    changed = [operation.memory for operation in acknowledged + unanswered if isinstance(operation, Change)]
    replaced = [
        operation.replaces
        for operation in acknowledged + unanswered
        if isinstance(operation, Store) and operation.replaces
    ]
    old = dice.sample(range(1, floor + 1), min(OLD_SAMPLE, floor))
    again = {memory.num for memory in changed + replaced if memory.num <= floor}.union(
        num for num in old if num in space.memories
    )
    seen.update(reader.fetch([f"ms-{num}" for num in sorted(again)]))
    for operation in unanswered:
        if isinstance(operation, Change):
            operation.settle(seen[operation.memory.id])
    compare(space, seen)
    verify_versions(reader, [memory for memory in set(changed) if not memory.forgotten])
    space.memories[top] = Memory(top, [PROBE])
    space.top = space.floor = top
    send_again(reader, acknowledged, unanswered, dice)
    space.floor = space.top
    verify_envelopes(reader.connection, space, acknowledged, unanswered, dice)


def find_unanswered(space: Space, seen: dict[str, Any], unanswered: list[Any]) -> None:
    """Finds out which of the unanswered stores happened. What else is there, and nobody was told of, is an error."""
    stores = [operation for operation in unanswered if isinstance(operation, Store)]
    possible = {marker for store in stores for marker in store.markers}
    found: dict[str, int] = {}
    for identifier, memory in seen.items():
        num = num_of(identifier)
        if num in space.memories or memory == "unknown":
            continue
        expect(isinstance(memory, dict), f"{identifier} is {memory}, and nobody was told of it")
        marker = memory["content"].split(" ")[0]
        expect(marker in possible, f"{identifier} is there, and nobody stored it so: {brief(memory['content'])}")
        expect(marker not in found, f"{marker} is there twice, as ms-{found.get(marker)} and {identifier}")
        found[marker] = num
    for store in stores:
        store.settle(found)


def compare(space: Space, seen: dict[str, Any]) -> None:
    for identifier, shown in seen.items():
        memory = space.memories.get(num_of(identifier))
        wrong = memory.difference(shown) if memory is not None else None
        expect(wrong is None, str(wrong))


def verify_versions(reader: Reader, memories: list[Memory]) -> None:
    """The old versions, too, say what they said."""
    wanted = {f"{m.id}@{n}": marker for m in memories for n, marker in enumerate(m.markers, start=1) if n < m.version}
    for identifier, shown in reader.fetch(list(wanted)).items():
        marker = shown["content"].split(" ")[0] if isinstance(shown, dict) else shown
        expect(marker == wanted[identifier], f"{identifier} is {marker}, acknowledged was {wanted[identifier]}")


def send_again(reader: Reader, acknowledged: list[Any], unanswered: list[Any], dice: random.Random) -> None:
    """A client that saw no answer sends its request again, with the same key."""
    known = [operation for operation in acknowledged if isinstance(operation, Store) and operation.key]
    for store in dice.sample(known, min(RETRY_SAMPLE, len(known))):
        store.retried(store.ask(reader.connection))
    for store in unanswered:
        if isinstance(store, Store) and store.key and dice.random() < 0.8:
            store.retried(store.ask(reader.connection))
            store.retried(store.ask(reader.connection))


def verify_contested(reader: Reader, contested: Contested) -> None:
    memory = contested.memory
    current = reader.fetch([memory.id])[memory.id]
    expect(isinstance(current, dict), f"{memory.id} was acknowledged, but is {current}")
    ids = [f"{memory.id}@{version}" for version in range(1, current["version"] + 1)]
    wrong = contested.settle(list(reader.fetch(ids).values()))
    expect(wrong is None, str(wrong))


def verify_count(reader: Reader, space: Space) -> None:
    answer = reader.connection.ask("GET", "/v1/status")
    there = sum(not memory.forgotten for memory in space.memories.values())
    expect(
        answer.body["memories"] == there, f"{space.name} counts {answer.body['memories']} memories, there are {there}"
    )


def verify_space(address: tuple[str, int], space: Space) -> None:
    """Everything that was ever acknowledged in a space."""
    with Reader(address, space.name) as reader:
        seen = reader.fetch([f"ms-{num}" for num in range(1, space.top + 1)])
        for identifier, shown in seen.items():
            expect(
                num_of(identifier) in space.memories or shown == "unknown",
                f"{identifier} is there, and nobody stored it",
            )
        compare(space, seen)
        listed, token = 0, ""
        while token is not None:
            path = f"/v1/memories?state=any&page_size=1000&order=oldest{'&page_token=' + token if token else ''}"
            answer = reader.connection.ask("GET", path)
            expect(answer.status == 200, f"a listing was answered with {answer.status} {brief(answer.body)}")
            listed += len(answer.body["memories"])
            token = answer.body["next_page_token"]
        there = sum(not memory.forgotten for memory in space.memories.values())
        expect(listed == there, f"{space.name} lists {listed} memories, there are {there}")
