"""What people look at and decide: queues, decisions about many handoffs at once, waivers. Frozen dataclasses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Optional

from .delivery import Delivery
from .models import Breaker, Queue, optional_time
from .wire import parse_time


@dataclass(frozen=True)
class AgentQueue:
    """An agent that has open or parked work: how much, and why the first of what is queued waits.

    queue              how many handoffs are queued, leased, worked on, parked
    presence           "working", "waiting" (a call of it waits for work now), "away" or "never_seen"
    receivers_waiting  how many of its calls wait for work
    oldest_at          since when the first waits; None: nothing does
    why                "empty_chair" (nobody takes anything), "busy", "held" (behind its breaker), "backoff" or
                       "deferred"; None: nothing waits
    until              when that ends, where it is known
    """

    agent: str
    queue: Queue
    breaker: Breaker = field(repr=False)
    presence: str
    receivers_waiting: int = field(repr=False)
    last_seen_at: Optional[datetime] = field(repr=False)
    oldest_at: Optional[datetime]
    why: Optional[str]
    until: Optional[datetime] = field(repr=False)
    raw: dict[str, Any] = field(repr=False, compare=False)

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> AgentQueue:
        return cls(
            agent=raw["agent"],
            queue=Queue.from_wire(raw),
            breaker=Breaker.from_wire(raw["breaker"]),
            presence=raw["presence"],
            receivers_waiting=raw["receivers_waiting"],
            last_seen_at=optional_time(raw.get("last_seen_at")),
            oldest_at=optional_time(raw.get("oldest_at")),
            why=raw.get("why"),
            until=optional_time(raw.get("until")),
            raw=dict(raw),
        )


@dataclass(frozen=True)
class QueueEntry(Delivery):
    """A handoff that waits for an agent: `position` 1 is taken next; `since` when. `why` and `until` are those of
    AgentQueue."""

    position: int
    since: datetime
    why: str
    until: Optional[datetime] = field(repr=False)

    @classmethod
    def from_entry(cls, raw: Mapping[str, Any]) -> QueueEntry:
        return cls.from_wire(
            raw,
            position=raw["position"],
            since=parse_time(raw["since"]),
            why=raw["why"],
            until=optional_time(raw.get("until")),
        )


@dataclass(frozen=True)
class Decided:
    """A handoff that something was decided about, together with others; of a dry run, as it is."""

    id: str
    envelope_id: str
    state: str
    to_agent: str
    reason: Optional[str]
    task: Optional[str]
    summary: Optional[str] = field(repr=False)

    @property
    def to(self) -> str:
        """The same as to_agent."""
        return self.to_agent

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Decided:
        return cls(
            id=raw["id"],
            envelope_id=raw["envelope_id"],
            state=raw["state"],
            to_agent=raw["to"],
            reason=raw.get("reason"),
            task=raw.get("task"),
            summary=raw.get("summary"),
        )


@dataclass(frozen=True)
class Refused:
    """A handoff that it could not be done to: the code of the problem, and a sentence."""

    id: str
    code: str
    detail: str

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Refused:
        return cls(raw["id"], raw["code"], raw["detail"])


@dataclass(frozen=True)
class Bulk:
    """What came of a decision about many handoffs.

    action   "redrive", "reroute", "discard", "restore", "cancel" or "move"
    dry_run  nothing was changed: `done` and `refused` are what would be
    matched  how many fitted, before anything was done
    more     the limit has ended it: the same call goes on
    """

    action: str
    dry_run: bool
    matched: int
    done: list[Decided] = field(hash=False)
    refused: list[Refused] = field(hash=False)
    more: bool


@dataclass(frozen=True)
class Waiver:
    """What a person has waived for a task: the constraint, and what it said in `envelope`, the newest end that has it.

    `waiver` is its number, which `Waived` of later envelopes names; `unauthenticated`: nobody has checked who `by` is.
    """

    task: str
    waiver: int
    key: str
    value: Any = field(hash=False)
    envelope: str
    reason: str
    by: str
    unauthenticated: bool
    at: datetime

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Waiver:
        return cls(
            task=raw["task"],
            waiver=raw["waiver"],
            key=raw["key"],
            value=raw["value"],
            envelope=raw["envelope"],
            reason=raw["reason"],
            by=raw["by"],
            unauthenticated=bool(raw["unauthenticated"]),
            at=parse_time(raw["at"]),
        )
