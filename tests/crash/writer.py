"""A client that writes until the server is gone."""

from __future__ import annotations

import random
import threading
from typing import Union

from envelopes import Handoff
from model import Contested, Memory, Space, text_of
from operations import REFUSED_STATUS, Broken, BrokenBatch, Change, ContestedUpdate, Store, expect
from wire import Connection, Lost

Operation = Union[Store, BrokenBatch, Change, ContestedUpdate, Handoff]

KEPT_MEMORIES = 200  # that a writer goes on changing
BATCH_MAX = 25


class Writer(threading.Thread):
    """One connection in one space. What it writes is its own, so that it always knows what a memory must look like; the
    contested one is everybody's."""

    def __init__(
        self, number: int, round_number: int, seed: str, space: Space, mine: list[Memory], contested: Contested | None
    ) -> None:
        super().__init__()
        self.prefix = f"mk-{round_number}-{number}"
        self.random = random.Random(f"{seed}/{self.prefix}")
        self.space = space
        self.mine = mine
        self.contested = contested
        self.last_envelope: int | None = None
        self.count = 0
        self.acknowledged: list[Operation] = []
        self.unanswered: list[Operation] = []
        self.problems: list[str] = []
        self.address = ("", 0)

    def begin(self, address: tuple[str, int]) -> None:
        self.address = address
        self.start()

    def run(self) -> None:
        try:
            connection = Connection(self.address, self.space.name)
            while True:
                self._write(connection, self._choose())
        except Lost:
            pass
        except Broken as broken:
            self.problems.append(str(broken))
        except Exception as error:  # An error of the test itself must not pass for a round without writes.
            self.problems.append(repr(error))

    def _write(self, connection: Connection, operation: Operation) -> None:
        try:
            answer = operation.ask(connection)
        except Lost:
            self.unanswered.append(operation)
            raise
        if operation.answered(answer):
            self.acknowledged.append(operation)
            self._own(operation)
            self._maybe_again(connection, operation)

    def _maybe_again(self, connection: Connection, operation: Operation) -> None:
        """A client that did not see the answer sends the same again."""
        if isinstance(operation, (Store, Handoff)) and operation.key and self.random.random() < 0.05:
            answer = operation.ask(connection)
            if answer.status != REFUSED_STATUS:
                operation.retried(answer)

    def _own(self, operation: Operation) -> None:
        if isinstance(operation, Store) and operation.nums:
            self.mine.extend(self.space.memories[num] for num in operation.nums)
            del self.mine[:-KEPT_MEMORIES]
        if isinstance(operation, Handoff):
            self.last_envelope = operation.num

    # --- What to write next ---

    def _marker(self) -> str:
        self.count += 1
        return f"{self.prefix}-{self.count}-"

    def _choose(self) -> Operation:
        dice = self.random.random()
        memory = self._pick()
        if self.contested is not None and dice < 0.06:
            return ContestedUpdate(self.contested, self._marker(), self.contested.latest + 1)
        if memory is not None and dice < 0.45:
            return self._change(memory, dice)
        if memory is not None and dice < 0.48:
            return BrokenBatch([self._marker() for _ in range(3)], memory)
        if dice < 0.55:
            return self._hand_over(memory)
        if dice < 0.65:
            return self._store(self.random.randint(2, BATCH_MAX), batch=True)
        store = self._store(1)
        if memory is not None and dice < 0.69:
            store.replaces = memory
            self.mine.remove(memory)
        elif dice < 0.71:
            store.num = self.space.top + self.random.randint(1, 20)
        return store

    def _store(self, count: int, batch: bool = False) -> Store:
        markers = [self._marker() for _ in range(count)]
        return Store(
            self.space, markers, markers[0].replace("mk", "key") if self.random.random() < 0.8 else None, batch
        )

    def _hand_over(self, memory: Memory | None) -> Handoff:
        marker = self._marker().replace("mk", "he")
        parent = self.last_envelope if self.random.random() < 0.5 else None
        key = marker.replace("he", "key") if self.random.random() < 0.6 else None
        return Handoff(self.space, marker, key, memory, parent)

    def _pick(self) -> Memory | None:
        """One of its own, rather a new one."""
        if not self.mine:
            return None
        memory = self.mine[-1 - min(int(self.random.expovariate(0.05)), len(self.mine) - 1)]
        expect(not memory.forgotten and not memory.superseded_by, f"{memory.id} is still being changed")
        return memory

    def _change(self, memory: Memory, dice: float) -> Change:
        after = memory.copy()
        if dice < 0.28:
            after.markers.append(self._marker())
            body = {"content": text_of(after.markers[-1])}
            return Change(memory, after, "PATCH", "", body, if_match=True)
        if dice < 0.34 and len(set(memory.markers)) > 1:
            to = self.random.choice([n for n, m in enumerate(memory.markers, start=1) if m != memory.markers[-1]])
            after.markers.append(memory.markers[to - 1])
            return Change(memory, after, "POST", "/revert", {"version": to}, if_match=True)
        if dice < 0.42:
            after.pinned = not memory.pinned
            path = "/pin" if after.pinned else "/unpin"
            return Change(memory, after, "POST", path, if_match=self.random.random() < 0.5)
        after.forgotten, after.pinned = True, False
        self.mine.remove(memory)
        return Change(memory, after, "DELETE", "", if_match=self.random.random() < 0.5)
