"""How delivery goes, as frozen dataclasses: what `stats` returns. Figures of which there is no data are None."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Optional, TypeVar

from .models import Queue
from .wire import parse_time

F = TypeVar("F", bound="Figures")


@dataclass(frozen=True)
class Latency:
    """Milliseconds from the first sending to the ack, of `count` handoffs."""

    count: int
    p50: Optional[float]
    p95: Optional[float]
    p99: Optional[float]
    max: Optional[float]

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Latency:
        return cls(raw["count"], raw["p50"], raw["p95"], raw["p99"], raw["max"])


@dataclass(frozen=True)
class Completeness:
    """Which share of the memories named were found, over `count` envelopes."""

    count: int
    mean: Optional[float]
    min: Optional[float]

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Completeness:
        return cls(raw["count"], raw["mean"], raw["min"])


@dataclass(frozen=True)
class Utilization:
    """How full `count` envelopes are. `pinned` and `low` are the shares that are nearly full, and nearly empty."""

    count: int
    mean: Optional[float]
    p50: Optional[float]
    pinned: Optional[float]
    low: Optional[float]

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Utilization:
        return cls(raw["count"], raw["mean"], raw["p50"], raw["pinned"], raw["low"])


@dataclass(frozen=True)
class Hops:
    """At which hop of their chains `count` envelopes are; `histogram` is how many at each."""

    count: int
    mean: Optional[float]
    max: Optional[int]
    histogram: dict[int, int] = field(hash=False)

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Hops:
        return cls(raw["count"], raw["mean"], raw["max"], {hop: count for hop, count in raw["histogram"]})


@dataclass(frozen=True)
class Figures:
    """What came of the handoffs of a window.

    failed        those that used up their attempts with an agent; failure_rate is their share
    latency_ms    how long they took
    completeness  of the envelopes packed; utilization and hops are, too
    retries       attempts beyond the first
    leases_lost   receivers that were not heard of again
    waivers       constraints that were waived
    queue         what waits, is being worked on and is parked, as it is now
    """

    handoffs: int
    acked: int
    completed: int
    failed: int
    failure_rate: Optional[float]
    latency_ms: Latency
    completeness: Completeness
    utilization: Utilization
    hops: Hops
    retries: int
    leases_lost: int
    waivers: int
    queue: Queue
    raw: dict[str, Any] = field(repr=False, compare=False)

    @classmethod
    def from_wire(cls: type[F], raw: Mapping[str, Any], **more: Any) -> F:
        return cls(
            handoffs=raw["handoffs"],
            acked=raw["acked"],
            completed=raw["completed"],
            failed=raw["failed"],
            failure_rate=raw["failure_rate"],
            latency_ms=Latency.from_wire(raw["latency_ms"]),
            completeness=Completeness.from_wire(raw["completeness"]),
            utilization=Utilization.from_wire(raw["utilization"]),
            hops=Hops.from_wire(raw["hops"]),
            retries=raw["retries"],
            leases_lost=raw["leases_lost"],
            waivers=raw["waivers"],
            queue=Queue.from_wire(raw["queue"]),
            raw=dict(raw),
            **more,
        )


@dataclass(frozen=True)
class AgentFigures(Figures):
    """The figures of one agent, and the state of its breaker. `space` is told where all spaces were asked for."""

    agent: str
    space: Optional[str]
    breaker: str

    @classmethod
    def from_target(cls, raw: Mapping[str, Any]) -> AgentFigures:
        return cls.from_wire(raw, agent=raw["agent"], space=raw.get("space"), breaker=raw["breaker"])


@dataclass(frozen=True)
class Point:
    """The figures of one step of the window, which begins `at`. Latencies are in milliseconds; the rest are means."""

    at: datetime
    handoffs: int
    acked: int
    failed: int
    p50: Optional[float]
    p99: Optional[float]
    completeness: Optional[float]
    utilization: Optional[float]
    hop_mean: Optional[float]
    queued: Optional[int]

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Point:
        return cls(
            at=parse_time(raw["at"]),
            handoffs=raw["handoffs"],
            acked=raw["acked"],
            failed=raw["failed"],
            p50=raw["p50"],
            p99=raw["p99"],
            completeness=raw["completeness"],
            utilization=raw["utilization"],
            hop_mean=raw["hop_mean"],
            queued=raw["queued"],
        )


@dataclass(frozen=True)
class Stats:
    """How delivery goes: `overall`, of each agent (`targets`), and at each step of `step_s` seconds (`points`)."""

    window: str
    space: str
    now: datetime
    overall: Figures
    targets: list[AgentFigures] = field(hash=False)
    step_s: int
    points: list[Point] = field(repr=False, hash=False)
    raw: dict[str, Any] = field(repr=False, compare=False)

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Stats:
        return cls(
            window=raw["window"],
            space=raw["space"],
            now=parse_time(raw["now"]),
            overall=Figures.from_wire(raw["overall"]),
            targets=[AgentFigures.from_target(target) for target in raw["targets"]],
            step_s=raw["series"]["step_s"],
            points=[Point.from_wire(point) for point in raw["series"]["points"]],
            raw=dict(raw),
        )
