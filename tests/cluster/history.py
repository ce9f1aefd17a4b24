"""What the clients of a cluster asked and were answered, and what was done to the cluster meanwhile.

A call is noted when it begins, and completed when its answer is there: one that is never answered stays as it is, and
may have happened or not. All times are of one monotonic clock, that of the process which has the clients.
"""

from __future__ import annotations

import json
import threading
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

UNANSWERED = 0
NEVER = float("inf")


@dataclass(slots=True)
class Call:
    """One request. `verb` is send, publish, join, store, probe, write, read, receive, ack, complete, nack, look or stream."""

    client: str
    node: str
    space: str
    verb: str
    key: str = ""
    id: str = ""
    lease: int = 0
    value: str = ""  # what was written or read, or the result of a completion
    group: str = ""  # sends of one group are to be given out in their order
    is_waiting: bool = False  # a send that waits for its ack, and withdraws the handoff when that does not come
    began_at: float = 0.0
    ended_at: float = NEVER
    status: int = UNANSWERED
    code: str = ""
    taken: list[tuple[str, int]] = field(default_factory=list)  # of a receive: handoff and number of the lease
    hands_on: bool = False  # a completion with a next handoff
    made: list[str] = field(default_factory=list)  # handoffs: of a publish, or that which was handed on
    results: dict[str, Any] = field(default_factory=dict)  # of a join: by handoff
    events: list[tuple[int, str, str]] = field(default_factory=list)  # of a stream: number, type and handoff

    @property
    def is_accepted(self) -> bool:
        return 200 <= self.status < 300


@dataclass
class Mark:
    """From this moment on these nodes have all that they need to serve every space."""

    at: float
    what: str
    nodes: list[str]


@dataclass
class View:
    """What one node shows at the end, when nothing is done to anybody any more."""

    node: str
    handoffs: dict[tuple[str, str], dict[str, Any] | None] = field(default_factory=dict)  # None: it is not found
    memories: dict[tuple[str, str], str | None] = field(default_factory=dict)
    listed_handoffs: dict[str, list[str]] = field(default_factory=dict)  # by space
    listed_memories: dict[str, list[tuple[str, str]]] = field(default_factory=dict)  # id and content
    events: dict[str, list[tuple[int, str, str]]] = field(default_factory=dict)  # of handoffs, by space: as of a stream


class History:
    """Of all clients. Appending to a list is one step, so calls need no lock; marks are the driver's alone."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.marks: list[Mark] = []
        self.problems: list[str] = []
        self.lock = threading.Lock()

    def begin(self, call: Call) -> Call:
        call.began_at = time.monotonic()
        self.calls.append(call)
        return call

    def end(self, call: Call, status: int, code: str = "") -> None:
        call.code = code
        call.ended_at = time.monotonic()
        call.status = status  # last: who looks at it meanwhile finds the time

    def mark(self, what: str, nodes: list[str]) -> Mark:
        mark = Mark(time.monotonic(), what, nodes)
        self.marks.append(mark)
        return mark

    def problem(self, text: str) -> None:
        with self.lock:
            self.problems.append(text)

    def save(self, path: Path) -> None:
        """A line of JSON for each mark and call, in the order of their times."""
        lines = [(call.began_at, {"call": asdict(call)}) for call in list(self.calls)]
        lines += [(mark.at, {"mark": asdict(mark)}) for mark in self.marks]
        with path.open("w") as file:
            for _, line in sorted(lines, key=lambda pair: pair[0]):
                file.write(json.dumps(line) + "\n")
