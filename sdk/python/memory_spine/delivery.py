"""Deliveries, as frozen dataclasses: what became of a handoff on its way to an agent.

An envelope (envelope.py) says what is handed on; a delivery says whether it arrived. One envelope has one delivery for
each agent that it was sent to. On the wire it is called a handoff, and its id is "ho-17".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Optional, TypeVar

from .envelope import News
from .models import optional_time
from .wire import parse_time

D = TypeVar("D", bound="Delivery")


def _work_of(raw: Mapping[str, Any]) -> tuple[Optional[str], Optional[str]]:
    """The task and the summary of a handoff: what the server says of them, or what its envelope does."""
    envelope = raw.get("envelope")
    work = envelope.get("task") if isinstance(envelope, Mapping) else None
    of_envelope = (work.get("id"), work.get("summary")) if isinstance(work, Mapping) else (None, None)
    return raw.get("task") or of_envelope[0], raw.get("summary") or of_envelope[1]


@dataclass(frozen=True)
class Event:
    """Something that happened: "handoff.queued", "handoff.acked", "breaker.opened"… `actor` did it, with `key`, where
    the server has keys."""

    id: int
    at: datetime
    event: str
    handoff: Optional[str]
    envelope_id: Optional[str]
    attempt: Optional[int]
    agent: Optional[str]
    actor: Optional[str]
    key: Optional[str]
    note: Optional[str]
    raw: dict[str, Any] = field(repr=False, compare=False)

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Event:
        return cls(
            id=raw["id"],
            at=parse_time(raw["at"]),
            event=raw["event"],
            handoff=raw.get("handoff"),
            envelope_id=raw.get("envelope_id"),
            attempt=raw.get("attempt"),
            agent=raw.get("agent"),
            actor=raw.get("actor"),
            key=raw.get("key"),
            note=raw.get("note"),
            raw=dict(raw),
        )


_TYPE_PREFIX = "com.memoryspine."


@dataclass(frozen=True)
class SpaceEvent:
    """Something that happened in the space, as `events` tells it.

    event           "memory.stored", "envelope.packed", "handoff.acked", "agent.set", "alert.fired"…
    subject         what it is about: "ms-12", "env-3", "ho-7", the name of an agent…
    agent, actor    the agent that it is about; who did it
    key             the key that let them in, "key-7"; None where the server has none, or did it itself
    data            what else there is to say of it: "note", "attempt", "latency_ms"…
    raw             the event as the server sent it, a CloudEvent
    """

    id: int
    at: datetime
    event: str
    subject: Optional[str]
    agent: Optional[str]
    actor: Optional[str]
    key: Optional[str]
    data: dict[str, Any] = field(hash=False)
    raw: dict[str, Any] = field(repr=False, compare=False)

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> SpaceEvent:
        kind, data = raw["type"], raw["data"]
        return cls(
            id=int(raw["id"]),
            at=parse_time(raw["time"]),
            event=kind[len(_TYPE_PREFIX) :] if kind.startswith(_TYPE_PREFIX) else kind,
            subject=raw.get("subject"),
            agent=data.get("agent"),
            actor=data.get("actor"),
            key=data.get("key"),
            data=dict(data),
            raw=dict(raw),
        )


@dataclass(frozen=True)
class AuditEntry:
    """Who (`actor`, None: the server by itself) did what (`action`) to which `object`, and when. `key` let them in: "key-7"
    (None: the server has no keys, or did it itself)."""

    id: int
    at: datetime
    actor: Optional[str]
    key: Optional[str]
    action: str
    object: Optional[str]
    space: str
    agent: Optional[str]
    note: Optional[str]
    raw: dict[str, Any] = field(repr=False, compare=False)

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> AuditEntry:
        return cls(
            id=raw["id"],
            at=parse_time(raw["at"]),
            actor=raw.get("actor"),
            key=raw.get("key"),
            action=raw["action"],
            object=raw.get("object"),
            space=raw["space"],
            agent=raw.get("agent"),
            note=raw.get("note"),
            raw=dict(raw),
        )


@dataclass(frozen=True)
class Notice:
    """What the server tells a sender on its next call: an earlier handoff of it was parked."""

    event: str
    handoff: str
    envelope_id: str
    to_agent: str
    reason: Optional[str]

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Notice:
        return cls(raw["event"], raw["handoff"], raw["envelope_id"], raw["to"], raw.get("reason"))


@dataclass(frozen=True)
class Delivery:
    """One delivery of one envelope to one agent, as it was when it was read.

    state              "queued", "leased", "acked", "completed", "parked", "expired" or "discarded"
    to_agent, target   who has it now; whom the sender named, which is another where a fallback has taken over
    attempt            which attempt this is with that agent, from 1
    leases             how often somebody has taken it
    receiver           the instance of the agent that holds or held it
    progress, reason   what the receiver said last; why the last attempt failed
    not_before         nobody gets it before that time
    held_until         it is held behind the open breaker of its agent, at least until then
    queue_timeout_s    how long it waits for somebody to take it; it is parked at queue_timeout_at
    auto_redriven      an outage of its agent parked it, and it came back by itself
    due_at             when something happens by itself: the next attempt, or the end of a lease or a timeout
    work_lease         whether it was acked, and comes back should the receiver not be heard of again
    result, gaps       what the receiver made of it and what was missing; `handoff` and `join` know that
    result_memory      the id of the memory that the result is; `result` is None where that was forgotten
    events             all that happened to it; `handoff` knows that
    notices            which handoffs of this sender were parked since its last `send` or `deliver_handoff`, which tell
    replaces           the id of the parked handoff that this one is a smaller form of
    task, summary      the task that it is part of, and what is to be done; None in answers that do not tell it: `send`
                       tells the task, `handoff`, `parked` and `queue` both

    A key without the scope read is told the ids, the state and times; names are empty then, and numbers 0.
    """

    id: str
    envelope_id: str
    state: str
    from_agent: Optional[str]
    to_agent: str
    target: str = field(repr=False)
    channel: Optional[str] = field(repr=False)
    priority: int = field(repr=False)
    attempt: int
    max_attempts: int = field(repr=False)
    leases: int = field(repr=False)
    fallbacks: list[str] = field(repr=False, hash=False)
    receiver: Optional[str] = field(repr=False)
    progress: Optional[str] = field(repr=False)
    reason: Optional[str]
    created_at: datetime = field(repr=False)
    changed_at: datetime = field(repr=False)
    acked_at: Optional[datetime] = field(repr=False)
    due_at: Optional[datetime] = field(repr=False)
    work_lease: bool = field(repr=False)
    result: Any = field(repr=False, hash=False)
    result_memory: Optional[str] = field(repr=False)
    gaps: list[Any] = field(repr=False, hash=False)
    input_tokens: Optional[int] = field(repr=False)
    events: list[Event] = field(repr=False, compare=False)
    notices: list[Notice] = field(repr=False, compare=False)
    replaces: Optional[str] = field(repr=False)
    not_before: Optional[datetime] = field(repr=False)
    held_until: Optional[datetime] = field(repr=False)
    queue_timeout_s: Optional[float] = field(repr=False)
    queue_timeout_at: Optional[datetime] = field(repr=False)
    auto_redriven: bool = field(repr=False)
    task: Optional[str] = field(repr=False, compare=False)
    summary: Optional[str] = field(repr=False, compare=False)
    raw: dict[str, Any] = field(repr=False, compare=False)

    @property
    def to(self) -> str:
        """The same as to_agent."""
        return self.to_agent

    @property
    def lease_s(self) -> Optional[float]:
        """How long it may stay in its state, from its last change on; None where nothing ends that."""
        return None if self.due_at is None else (self.due_at - self.changed_at).total_seconds()

    @classmethod
    def from_wire(cls: type[D], raw: Mapping[str, Any], **more: Any) -> D:
        task, summary = _work_of(raw)
        return cls(
            id=raw["id"],
            envelope_id=raw["envelope_id"],
            state=raw["state"],
            from_agent=raw.get("from"),
            to_agent=raw.get("to", ""),
            target=raw.get("target", raw.get("to", "")),
            channel=raw.get("channel"),
            priority=raw.get("priority", 0),
            attempt=raw.get("attempt", 0),
            max_attempts=raw.get("max_attempts", 0),
            leases=raw.get("leases", 0),
            fallbacks=list(raw.get("fallbacks") or ()),
            receiver=raw.get("receiver"),
            progress=raw.get("progress"),
            reason=raw.get("reason"),
            created_at=parse_time(raw["created_at"]),
            changed_at=parse_time(raw["changed_at"]),
            acked_at=optional_time(raw.get("acked_at")),
            due_at=optional_time(raw.get("due_at")),
            work_lease=bool(raw.get("work_lease")),
            result=raw.get("result"),
            result_memory=raw.get("result_memory"),
            gaps=list(raw.get("gaps") or ()),
            input_tokens=raw.get("input_tokens"),
            events=[Event.from_wire(entry) for entry in raw.get("events") or ()],
            notices=[Notice.from_wire(entry) for entry in raw.get("notices") or ()],
            replaces=raw.get("replaces"),
            not_before=optional_time(raw.get("not_before")),
            held_until=optional_time(raw.get("held_until")),
            queue_timeout_s=raw.get("queue_timeout_s"),
            queue_timeout_at=optional_time(raw.get("queue_timeout_at")),
            auto_redriven=bool(raw.get("auto_redriven")),
            task=task,
            summary=summary,
            raw=dict(raw),
            **more,
        )


@dataclass(frozen=True)
class Ack(Delivery):
    """A delivery that its receiver has accepted: `acked_at` says when, `to` who."""

    @property
    def handoff(self) -> str:
        """The same as id."""
        return self.id

    @classmethod
    def from_ack(cls, raw: Mapping[str, Any]) -> Ack:
        ack = cls.from_wire(raw)
        if ack.state not in ("acked", "completed"):
            raise ValueError(f"{ack.id} is {ack.state}, not acked")
        return ack


@dataclass(frozen=True)
class Parked(Delivery):
    """A delivery that waits for a person: `reason` says why, `remedies` what can be done about it."""

    remedies: list[str] = field(repr=False, hash=False)

    @classmethod
    def from_parked(cls, raw: Mapping[str, Any]) -> Parked:
        return cls.from_wire(raw, remedies=list(raw.get("remedies") or ()))


@dataclass(frozen=True)
class Taken(Delivery):
    """A delivery that was given to a receiver: `lease` proves that it is this receiver's. `problem` is why its envelope
    could not be read, which is then None. `flags` has "invisible" where characters that nobody sees stand in the
    envelope."""

    lease: str
    lease_expires_at: datetime
    redelivered: bool
    envelope: Optional[dict[str, Any]] = field(repr=False, hash=False)
    prompt: Optional[str] = field(repr=False)
    problem: Optional[str] = field(repr=False)
    since: list[News] = field(repr=False, hash=False)
    flags: tuple[str, ...] = ()

    @classmethod
    def from_taken(cls, raw: Mapping[str, Any]) -> Taken:
        return cls.from_wire(
            raw,
            lease=raw["lease"],
            lease_expires_at=parse_time(raw["lease_expires_at"]),
            redelivered=bool(raw["redelivered"]),
            envelope=raw.get("envelope"),
            prompt=raw.get("prompt"),
            problem=raw.get("problem"),
            since=[News.from_wire(entry) for entry in raw.get("since") or ()],
            flags=tuple(raw.get("flags") or ()),
        )


# --- Channels, routes, traces --------------------------------------------------------------------


@dataclass(frozen=True)
class ChannelInfo:
    """A channel and who gets what is published to it. A list of channels does not name the subscribers."""

    name: str
    description: Optional[str]
    subscriber_count: int
    subscribers: list[str] = field(hash=False)
    created_at: datetime = field(repr=False)

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> ChannelInfo:
        return cls(
            name=raw["name"],
            description=raw.get("description"),
            subscriber_count=raw["subscriber_count"],
            subscribers=list(raw.get("subscribers") or ()),
            created_at=parse_time(raw["created_at"]),
        )


@dataclass(frozen=True)
class Join:
    """What the receivers of a published envelope made of it. True where as many completed it as were needed.

    state       "joined"; "failed": too many were parked or discarded; "deadline" or "waiting": not yet
    receivers   how many there are; `completed` of them have completed it, and `need` must have
    deliveries  one for each, with its `result` and its `gaps`
    """

    state: str
    receivers: int
    completed: int
    need: int
    deliveries: list[Delivery] = field(repr=False, hash=False)

    def __bool__(self) -> bool:
        return self.state == "joined"

    @property
    def results(self) -> dict[str, Any]:
        """The results of those that have completed it, by agent."""
        return {one.to_agent: one.result for one in self.deliveries if one.state == "completed"}

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Join:
        return cls(
            state=raw["state"],
            receivers=raw["receivers"],
            completed=raw["completed"],
            need=raw["need"],
            deliveries=[Delivery.from_wire(entry) for entry in raw["results"]],
        )


@dataclass(frozen=True)
class Route:
    """A rule for target_agent="next": from which agent (None: any), when what holds, to which; by order."""

    name: str
    from_agent: Optional[str]
    to_agent: str
    when: dict[str, Any] = field(hash=False)
    order: int
    description: Optional[str]
    raw: dict[str, Any] = field(repr=False, compare=False)

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Route:
        return cls(
            name=raw["name"],
            from_agent=raw.get("from"),
            to_agent=raw["to"],
            when=dict(raw.get("when") or {}),
            order=raw["order"],
            description=raw.get("description"),
            raw=dict(raw),
        )


@dataclass(frozen=True)
class TraceEnvelope:
    """An envelope of a task's trace."""

    id: str
    from_agent: Optional[str]
    to_agent: str
    hop: int
    created_at: datetime
    token_count: int

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> TraceEnvelope:
        return cls(raw["id"], raw.get("from"), raw["to"], raw["hop"], parse_time(raw["created_at"]), raw["token_count"])


@dataclass(frozen=True)
class Trace:
    """All that happened to a task: its envelopes, their deliveries and the events, each in the order of time."""

    task: str
    envelopes: list[TraceEnvelope] = field(hash=False)
    deliveries: list[Delivery] = field(repr=False, hash=False)
    events: list[Event] = field(repr=False, hash=False)
    raw: dict[str, Any] = field(repr=False, compare=False)

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Trace:
        return cls(
            task=raw["task"],
            envelopes=[TraceEnvelope.from_wire(entry) for entry in raw["envelopes"]],
            deliveries=[Delivery.from_wire(entry) for entry in raw["handoffs"]],
            events=[Event.from_wire(entry) for entry in raw["events"]],
            raw=dict(raw),
        )
