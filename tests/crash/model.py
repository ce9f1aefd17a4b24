"""What the server has promised so far.

A memory is held as the markers of its versions: a marker is a short unique word, and text_of() makes the whole text
from it. So the model stays small, each text says where it comes from, and two copies of one write cannot hide.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass, field
from typing import Any

MARKER = re.compile(rb"mk-[0-9]+-[0-9]+-[0-9]+-")
WORDS = "the gateway answers with retry after some seconds and agents wait for orders of a queue that sleeps".split()
FILLER = " ".join(WORDS[n * n % len(WORDS)] for n in range(8192))


def text_of(marker: str) -> str:
    """Mostly a few hundred bytes; one in a hundred takes several pages of the store."""
    dice = zlib.crc32(marker.encode())
    length = 5_000 + dice % 30_000 if dice % 100 == 0 else 20 + dice % 700
    return f"{marker} {FILLER[:length]}"


@dataclass(eq=False)
class Memory:
    num: int
    markers: list[str]  # of its versions, the first one first
    pinned: bool = False
    forgotten: bool = False
    superseded_by: int = 0

    @property
    def id(self) -> str:
        return f"ms-{self.num}"

    @property
    def version(self) -> int:
        return len(self.markers)

    def copy(self) -> Memory:
        return Memory(self.num, list(self.markers), self.pinned, self.forgotten, self.superseded_by)

    def become(self, other: Memory) -> None:
        self.markers, self.pinned, self.forgotten = other.markers, other.pinned, other.forgotten
        self.superseded_by = other.superseded_by

    def difference(self, seen: Any) -> str | None:
        """What is wrong with the memory that the server shows: an object, or the reason why there is none."""
        if self.forgotten:
            return None if seen == "forgotten" else f"{self.id} is forgotten, but the server shows {brief(seen)}"
        if not isinstance(seen, dict):
            return f"{self.id}@{self.version} was acknowledged, but is {seen}"
        wanted = {
            "id": self.id,
            "version": self.version,
            "content": text_of(self.markers[-1]),
            "pinned": self.pinned,
            "superseded_by": f"ms-{self.superseded_by}" if self.superseded_by else None,
            "state": "superseded" if self.superseded_by else "active",
        }
        for name, value in wanted.items():
            if seen.get(name) != value:
                return f"{self.id}@{self.version}: {name} is {brief(seen.get(name))}, acknowledged was {brief(value)}"
        return None


def brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else text[:117] + "..."


@dataclass
class Kept:
    """An envelope that exists."""

    marker: str
    digest: str


@dataclass
class Envelopes:
    """Those of one space."""

    floor: int = 0  # the highest number when the round began
    top: int = 0
    kept: dict[int, Kept] = field(default_factory=dict)


@dataclass
class Space:
    name: str
    floor: int = 0  # the highest number taken when the round began
    top: int = 0  # the highest number acknowledged
    memories: dict[int, Memory] = field(default_factory=dict)
    envelopes: Envelopes = field(default_factory=Envelopes)

    def add(self, memory: Memory, chosen: bool = False) -> str | None:
        """Takes an acknowledged memory in. Returns what is wrong with its number. One that the client chose may be any that
        is free, also below where the sequence is."""
        other = self.memories.get(memory.num)
        if other is not None:
            return f"{memory.id} was given to {other.markers[0]} and again to {memory.markers[0]}"
        if memory.num <= self.floor and not chosen:
            return f"{memory.id} was given out, though the sequence was at {self.floor} already"
        self.memories[memory.num] = memory
        self.top = max(self.top, memory.num)
        return None


class Contested:
    """A memory that all writers of a space change at the same time, each with If-Match. Of the versions that somebody
    tried to make when the server was killed, nobody knows which one it was."""

    def __init__(self, space: str, memory: Memory) -> None:
        self.space = space
        self.memory = memory
        self.acknowledged: dict[int, str] = {1: memory.markers[0]}
        self.attempted: dict[int, set[str]] = {}
        self.latest = 1

    def settle(self, versions: list[Any]) -> str | None:
        """Compares with all versions that the server has, the first one first, and takes them over."""
        highest = max(self.acknowledged)
        if len(versions) < highest:
            return f"{self.memory.id}@{highest} was acknowledged, but there are {len(versions)} versions"
        for number, seen in enumerate(versions, start=1):
            possible = (
                {self.acknowledged[number]} if number in self.acknowledged else self.attempted.get(number, set())
            )
            found = [marker for marker in possible if isinstance(seen, dict) and seen["content"] == text_of(marker)]
            if not found:
                return f"{self.memory.id}@{number} is {brief(seen)}, but one of {sorted(possible)} was written"
            self.acknowledged[number] = found[0]
        self.attempted = {}
        self.latest = len(versions)
        self.memory.markers = [self.acknowledged[number] for number in range(1, self.latest + 1)]
        return None
