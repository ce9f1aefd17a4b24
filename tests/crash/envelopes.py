"""Handoffs in the crash test: an envelope that was acknowledged is there after the kill, whole, once.

An envelope is known by the marker in its summary. Each refers to a memory of its writer, and some continue the writer's
last one. What must hold after a restart: an acknowledged envelope is answered with the digest that was acknowledged,
its content has that digest, and the server's own check of the chain agrees; one that was not answered is there wholly
or not at all; every other number since the last round is free; a key that is sent again makes no second envelope.
"""

from __future__ import annotations

import hashlib
import json
import random
from dataclasses import dataclass, field
from typing import Any

from model import Kept, Memory, Space, brief
from operations import REFUSED_STATUS, expect
from operations import num_of as memory_num_of
from wire import Answer, Connection

OLD_SAMPLE = 20  # envelopes of earlier rounds that are looked at again
RETRY_SAMPLE = 10
MAX_HOPS = 64
PROBE = "he-0-0-1-"


def num_of(identifier: str) -> int:
    return int(identifier.removeprefix("env-"))


def digest_of(envelope: dict[str, Any]) -> str:
    """SHA-256 over the canonical JSON without the digest; `since` is told beside the envelope."""
    rest = {key: value for key, value in envelope.items() if key not in ("digest", "since")}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def memories_of(envelope: dict[str, Any]) -> list[int]:
    return [memory_num_of(ref["id"]) for ref in envelope["memory"]["refs"] if ref["form"] != "ref"]


@dataclass(eq=False)
class Handoff:
    space: Space
    marker: str
    key: str | None
    memory: Memory | None
    parent: int | None = None
    num: int | None = None  # once it is known
    shown: list[int] = field(default_factory=list)  # the memories whose text is in it

    def ask(self, connection: Connection) -> Answer:
        body: dict[str, Any] = {
            "target_agent": "next-one",
            "task_summary": f"{self.marker} go on with the work",
            "state": f"as far as {self.marker}",  # something new, so that a chain is no loop
            "include_recent": 0,
            "include_pins": False,
        }
        if self.memory is not None:
            body["refs"] = [self.memory.id]
        if self.parent is not None:
            body["parent"] = f"env-{self.parent}"
        else:
            body["max_hops"] = MAX_HOPS
        return connection.ask("POST", "/v1/envelopes", body, key=self.key)

    def answered(self, answer: Answer) -> bool:
        if answer.status == REFUSED_STATUS or self._is_at_limit(answer):
            return False
        what = f"handing over {self.marker}"
        expect(answer.status == 201, f"{what} was answered with {answer.status} {brief(answer.body)}")
        expect(not answer.replayed, f"{what} for the first time was answered with a replayed reply")
        self._take(answer.body)
        return True

    def _is_at_limit(self, answer: Answer) -> bool:
        return self.parent is not None and answer.status >= 400 and answer.body.get("code") == "hop_limit"

    def retried(self, answer: Answer) -> None:
        what = f"handing over {self.marker} again"
        if self.num is None and self._is_at_limit(answer):
            return
        if self.num is not None and any(self.space.memories[num].forgotten for num in self.shown):
            gone = answer.status == 409 and answer.body["code"] == "memory_forgotten"
            expect(gone, f"{what}, which is forgotten in part, was answered with {answer.status} {brief(answer.body)}")
            return
        expect(answer.status == 201, f"{what} was answered with {answer.status} {brief(answer.body)}")
        expect(answer.replayed == (self.num is not None), f"{what}: replayed is {answer.replayed}")
        num = num_of(answer.body["id"])
        if self.num is None:
            self._take(answer.body)
        expect(num == self.num, f"{self.marker} is env-{self.num}, but its key was answered with env-{num}")

    def _take(self, envelope: dict[str, Any]) -> None:
        num = num_of(envelope["id"])
        other = self.space.envelopes.kept.get(num)
        floor = self.space.envelopes.floor
        expect(other is None, f"env-{num} was given to {other and other.marker} and again to {self.marker}")
        expect(num > floor, f"env-{num} was given out, though env-{floor} was there")
        expect(digest_of(envelope) == envelope["digest"], f"env-{num} was answered with a digest of something else")
        self.happened(envelope)

    def happened(self, envelope: dict[str, Any]) -> Kept:
        self.num = num_of(envelope["id"])
        self.shown = memories_of(envelope)
        kept = self.space.envelopes.kept[self.num] = Kept(self.marker, envelope["digest"])
        self.space.envelopes.top = max(self.space.envelopes.top, self.num)
        return kept


def verify_envelopes(
    connection: Connection, space: Space, acknowledged: list[Any], unanswered: list[Any], dice: random.Random
) -> None:
    """After a restart, once the memories have been settled."""
    envelopes = space.envelopes
    probe = Handoff(space, PROBE, None, None)
    top = envelopes.top
    expect(probe.answered(probe.ask(connection)), "a handoff after the restart was refused")
    expect(probe.num is not None and probe.num > top, f"env-{probe.num} was given out after env-{top}")
    waiting = {operation.marker: operation for operation in unanswered if isinstance(operation, Handoff)}
    old = dice.sample(range(1, envelopes.floor + 1), min(OLD_SAMPLE, envelopes.floor))
    for num in [*old, *range(envelopes.floor + 1, probe.num or 0)]:
        look_at(connection, space, num, waiting)
    envelopes.floor = envelopes.top
    known = [operation for operation in acknowledged if isinstance(operation, Handoff) and operation.key]
    for operation in dice.sample(known, min(RETRY_SAMPLE, len(known))):
        operation.retried(operation.ask(connection))
    for operation in waiting.values():
        if operation.key:
            operation.retried(operation.ask(connection))
            operation.retried(operation.ask(connection))
    envelopes.floor = envelopes.top


def look_at(connection: Connection, space: Space, num: int, waiting: dict[str, Handoff]) -> None:
    answer = connection.ask("GET", f"/v1/envelopes/env-{num}")
    kept = space.envelopes.kept.get(num)
    if answer.status == 404:
        expect(kept is None, f"env-{num} was acknowledged to {kept and kept.marker}, and is gone")
        return
    expect(answer.status == 200, f"env-{num} was answered with {answer.status} {brief(answer.body)}")
    marker = answer.body["task"]["summary"].split(" ")[0]
    if kept is None:
        operation = waiting.get(marker)
        if operation is None or operation.num is not None:
            expect(operation is not None, f"env-{num} is there, and nobody handed it over: {marker}")
            expect(False, f"{marker} is there twice, as env-{operation and operation.num} and env-{num}")
        else:
            kept = operation.happened(answer.body)
    assert kept is not None
    expect(marker == kept.marker, f"env-{num} is {marker}, acknowledged was {kept.marker}")
    expect(answer.body["digest"] == kept.digest, f"env-{num} has another digest than was acknowledged")
    whole = not any(space.memories[shown].forgotten for shown in memories_of(answer.body))
    expect(not whole or digest_of(answer.body) == kept.digest, f"env-{num} does not have its digest")
    check = connection.ask("GET", f"/v1/envelopes/env-{num}/verify")
    expect(check.status == 200 and check.body["ok"], f"env-{num} does not verify: {brief(check.body)}")
    # A memory of an envelope further up the chain may be forgotten as well.
    expect(whole or check.body["verdict"] == "forgotten", f"env-{num} verifies as {check.body['verdict']}")
