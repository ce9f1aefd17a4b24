"""The protocol's objects, as frozen dataclasses.

`from_wire` reads what the server sent: a required field that is absent is a KeyError, an optional one gets its default,
and a field that this version does not know survives in `raw`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Optional, TypeVar

from .wire import parse_time

H = TypeVar("H", bound="Hop")


def optional_time(value: Optional[str]) -> Optional[datetime]:
    return None if value is None else parse_time(value)


@dataclass(frozen=True)
class Term:
    """What one word of the query gave to a score: its stem, its part, how often it is there, how rare it is."""

    term: str
    score: float
    count: int
    idf: float

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Term:
        return cls(raw["term"], raw["score"], raw["count"], raw["idf"])


@dataclass(frozen=True)
class Explanation:
    """The parts of a score: score = (text + neighbours) × (1 + importance + pinned + recency)."""

    text: float
    neighbours: float
    importance: float
    pinned: float
    recency: float
    terms: tuple[Term, ...]
    raw: dict[str, Any] = field(repr=False, compare=False)

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Explanation:
        return cls(
            text=raw["text"],
            neighbours=raw.get("neighbours", 0.0),
            importance=raw["importance"],
            pinned=raw["pinned"],
            recency=raw["recency"],
            terms=tuple(Term.from_wire(term) for term in raw["terms"]),
            raw=dict(raw),
        )


@dataclass(frozen=True)
class Origin:
    """Who stored a version of a memory, by which way, as the server saw it. Callers cannot set it.

    key       the id of the key that was used, such as "key-7"; None where the server asked for none
    protocol  "http", "mcp", or "transfer": it was moved here from another server
    client    what the caller called itself, which is its own word; None where it did not say
    claimed   of what was moved: the origin that the other server told, as it told it; nobody has checked it
    """

    key: Optional[str]
    protocol: str
    client: Optional[str]
    claimed: Optional[dict[str, Any]] = field(hash=False)
    raw: dict[str, Any] = field(repr=False, compare=False)

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Origin:
        return cls(raw.get("key"), raw["protocol"], raw.get("client"), raw.get("claimed"), dict(raw))


@dataclass(frozen=True)
class Memory:
    """A memory, in one of its versions.

    Times are aware datetimes in UTC. `content` is "" in a forgotten memory and never otherwise. `current_version` is
    there where one version was asked for, `score` and `relevance` (0 to 1) in a search, `explanation` in a search with
    explain=True. `flags` has "invisible" where characters that nobody sees stand in it. `trust` is "system", "user",
    "agent" or "external". `origin` is who stored this version by which way, as the server saw it; None where it is not
    known. `quarantined_at`: since when its text is kept from everybody.
    """

    id: str
    version: int
    state: str
    content: str
    summary: Optional[str]
    kind: Optional[str]
    tags: tuple[str, ...]
    importance: str
    agent: Optional[str]
    task: Optional[str]
    pinned: bool
    trust: str
    metadata: dict[str, Any] = field(hash=False)
    expires_at: Optional[datetime]
    supersedes: Optional[str]
    superseded_by: Optional[str]
    digest: Optional[str]
    created_at: datetime
    updated_at: datetime
    current_version: Optional[int]
    score: Optional[float]
    relevance: Optional[float]
    explanation: Optional[Explanation]
    raw: dict[str, Any] = field(repr=False, compare=False)
    flags: tuple[str, ...] = ()
    origin: Optional[Origin] = None
    quarantined_at: Optional[datetime] = None

    @property
    def ref(self) -> str:
        """This version's own id, such as "ms-4821@3"."""
        return f"{self.id}@{self.version}"

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Memory:
        explain, origin = raw.get("explain"), raw.get("origin")
        return cls(
            id=raw["id"],
            version=raw["version"],
            state=raw["state"],
            content=raw.get("content") or "",
            summary=raw.get("summary"),
            kind=raw.get("kind"),
            tags=tuple(raw.get("tags") or ()),
            importance=raw.get("importance") or "medium",
            agent=raw.get("agent"),
            task=raw.get("task"),
            pinned=bool(raw.get("pinned")),
            trust=raw.get("trust") or "agent",
            metadata=dict(raw.get("metadata") or {}),
            expires_at=optional_time(raw.get("expires_at")),
            supersedes=raw.get("supersedes"),
            superseded_by=raw.get("superseded_by"),
            digest=raw.get("digest"),
            created_at=parse_time(raw["created_at"]),
            updated_at=parse_time(raw["updated_at"]),
            current_version=raw.get("current_version"),
            score=raw.get("score"),
            relevance=raw.get("relevance"),
            explanation=None if explain is None else Explanation.from_wire(explain),
            raw=dict(raw),
            flags=tuple(raw.get("flags") or ()),
            origin=None if origin is None else Origin.from_wire(origin),
            quarantined_at=optional_time(raw.get("quarantined_at")),
        )

    @classmethod
    def list_from_wire(cls, raw: Mapping[str, Any]) -> list[Memory]:
        return [cls.from_wire(memory) for memory in raw["memories"]]


@dataclass(frozen=True)
class Missing:
    """An id that `fetch` or a handoff could not resolve.

    `reason` is "unknown", "forgotten" or "quarantined", in an envelope also "expired" or "unavailable". What one answer
    had no room for is asked for again.
    """

    id: str
    reason: str

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Missing:
        return cls(raw["id"], raw["reason"])


@dataclass(frozen=True)
class FetchResult:
    """What `fetch` or `resolve` found, in the order of the ids, and what it did not find."""

    memories: list[Memory]
    missing: list[Missing]

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> FetchResult:
        return cls(Memory.list_from_wire(raw), [Missing.from_wire(entry) for entry in raw["missing"]])


# --- Chains of envelopes -------------------------------------------------------------------------


@dataclass(frozen=True)
class Verification:
    """What the server says about a chain of envelopes. It is true where the chain is `ok`.

    verdict    "intact"; "forgotten": a text is gone, the rest was checked; "damaged" or "unchained"
    checked    how many envelopes were looked at
    first_bad  the id of the envelope that is damaged, or not its parent's child
    """

    id: str
    ok: bool
    verdict: str
    checked: int
    first_bad: Optional[str]

    def __bool__(self) -> bool:
        return self.ok

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Verification:
        return cls(raw["id"], raw["ok"], raw["verdict"], raw["checked"], raw["first_bad"])


@dataclass(frozen=True)
class Receipt:
    """Who fetched a memory that an envelope could not carry, and when."""

    id: str
    agent: str
    at: datetime

    @classmethod
    def list_from_wire(cls, raw: Mapping[str, Any]) -> list[Receipt]:
        return [cls(entry["id"], entry["agent"], parse_time(entry["at"])) for entry in raw["receipts"]]


@dataclass(frozen=True)
class Change:
    """What became of one thing between two envelopes.

    kind           "intent", "constraint", "decision", "step" or "memory"
    fate           "added", "narrowed", "changed", "waived" or "dropped"
    key            which one
    before, after  its values
    reason, by     of what was waived
    """

    kind: str
    fate: str
    key: Optional[str]
    before: Any = field(hash=False)
    after: Any = field(hash=False)
    reason: Optional[str]
    by: Optional[str]

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Change:
        return cls(
            kind=raw["kind"],
            fate=raw["fate"],
            key=raw.get("key"),
            before=raw.get("before"),
            after=raw.get("after"),
            reason=raw.get("reason"),
            by=raw.get("by"),
        )


def _changes(raw: Mapping[str, Any]) -> list[Change]:
    return [Change.from_wire(entry) for entry in raw.get("changes") or ()]


@dataclass(frozen=True)
class Difference:
    """What one envelope has of another: `score` is `kept` / `total`."""

    from_id: str
    to_id: str
    score: float
    kept: int
    total: int
    changes: list[Change] = field(hash=False)

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Difference:
        return cls(raw["from"], raw["to"], raw["score"], raw["kept"], raw["total"], _changes(raw))


@dataclass(frozen=True)
class Hop:
    """One handoff of a task; `envelope` is its envelope's id."""

    envelope: str
    parent: Optional[str]
    hop: int
    from_agent: Optional[str]
    to_agent: str
    created_at: datetime
    raw: dict[str, Any] = field(repr=False, compare=False)

    @classmethod
    def from_wire(cls: type[H], raw: Mapping[str, Any], **more: Any) -> H:
        return cls(
            envelope=raw["envelope"],
            parent=raw.get("parent"),
            hop=raw["hop"],
            from_agent=raw.get("from"),
            to_agent=raw["to"],
            created_at=parse_time(raw["created_at"]),
            raw=dict(raw),
            **more,
        )


@dataclass(frozen=True)
class TaskHop(Hop):
    """A handoff with what its envelope came to; `refs`, `missing` and `trimmed` are numbers of memories."""

    state: Optional[str]
    token_count: int
    max_tokens: int
    refs: int
    missing: int
    trimmed: int

    @classmethod
    def from_task(cls, raw: Mapping[str, Any]) -> TaskHop:
        return cls.from_wire(
            raw,
            state=raw.get("state"),
            token_count=raw["token_count"],
            max_tokens=raw["max_tokens"],
            refs=raw["refs"],
            missing=raw["missing"],
            trimmed=raw["trimmed"],
        )


@dataclass(frozen=True)
class Task:
    """A task with all its handoffs, the first one first."""

    id: str
    intent: Optional[str]
    hops: list[TaskHop] = field(hash=False)
    raw: dict[str, Any] = field(repr=False, compare=False)

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Task:
        return cls(raw["id"], raw.get("intent"), [TaskHop.from_task(hop) for hop in raw["envelopes"]], dict(raw))


@dataclass(frozen=True)
class TaskEntry:
    """A task in the list of tasks; `envelopes` is how many it has.

    `intent` is what the user wants and `summary` what the newest envelope asks for, each cut to 200 characters.
    """

    id: str
    created_at: datetime
    envelopes: int
    intent: Optional[str] = None
    summary: Optional[str] = None

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> TaskEntry:
        return cls(
            raw["id"], parse_time(raw["created_at"]), raw["envelopes"], raw.get("intent"), raw.get("summary")
        )


@dataclass(frozen=True)
class HopFidelity(Hop):
    """What a handoff kept of the one before it (`score`) and of the first one (`root_score`).

    The first one itself has nothing to keep: its scores are None.
    """

    score: Optional[float]
    kept: Optional[int]
    total: Optional[int]
    changes: list[Change] = field(hash=False)
    root_score: Optional[float]
    root_intent_and_constraints: Optional[float]

    @classmethod
    def from_fidelity(cls, raw: Mapping[str, Any]) -> HopFidelity:
        against_root = raw.get("against_root") or {}
        return cls.from_wire(
            raw,
            score=raw.get("score"),
            kept=raw.get("kept"),
            total=raw.get("total"),
            changes=_changes(raw),
            root_score=against_root.get("score"),
            root_intent_and_constraints=against_root.get("intent_and_constraints"),
        )


@dataclass(frozen=True)
class Fidelity:
    """How much the newest envelope of a task has of the first: of everything, and of intent and constraints alone."""

    task: str
    score: float
    intent_and_constraints: float
    hops: list[HopFidelity] = field(hash=False)
    raw: dict[str, Any] = field(repr=False, compare=False)

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Fidelity:
        return cls(
            task=raw["task"],
            score=raw["score"],
            intent_and_constraints=raw["intent_and_constraints"],
            hops=[HopFidelity.from_fidelity(hop) for hop in raw["hops"]],
            raw=dict(raw),
        )


@dataclass(frozen=True)
class Blame:
    """Where something came into a task and where it was lost.

    verdict     "still there", "lost" or "never there"
    introduced  the handoff that it came in with
    lost        the first one without it; `fate`, `reason` and `by` say how
    """

    task: str
    key: str
    verdict: str
    introduced: Optional[Hop]
    lost: Optional[Hop]
    fate: Optional[str]
    reason: Optional[str]
    by: Optional[str]
    raw: dict[str, Any] = field(repr=False, compare=False)

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Blame:
        introduced, lost = raw.get("introduced"), raw.get("lost")
        how = lost or {}
        return cls(
            task=raw["task"],
            key=raw["key"],
            verdict=raw["verdict"],
            introduced=None if introduced is None else Hop.from_wire(introduced),
            lost=None if lost is None else Hop.from_wire(lost),
            fate=how.get("fate"),
            reason=how.get("reason"),
            by=how.get("by"),
            raw=dict(raw),
        )


# --- Agents --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Queue:
    """How many handoffs of an agent wait, are leased to a receiver, are worked on after their ack, and are parked."""

    queued: int
    leased: int
    working: int
    parked: int

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Queue:
        return cls(*(int(raw.get(name) or 0) for name in ("queued", "leased", "working", "parked")))


@dataclass(frozen=True)
class Breaker:
    """Whether an agent is sent anything: `state` is "closed" (it is), "open" (not until reset_at) or "half_open" (one).

    `failures` is how many handoffs in a row it failed.
    """

    state: str
    failures: int
    reset_at: Optional[datetime]

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Breaker:
        return cls(raw["state"], int(raw.get("failures") or 0), optional_time(raw.get("reset_at")))


@dataclass(frozen=True)
class Agent:
    """A registered agent: the envelope versions that it reads, how its tokens are counted, how many it takes.

    Settings are None, and `fallbacks` empty, where the server's defaults hold. `queue`, `breaker`, `last_seen_at` tell
    how it was when it was read; they are None where the server did not say. `etag` is what `register_agent` takes as
    `if_match`; agents of a list have none. `webhook_secret`, which `verify_webhook` takes, is told by `register_agent`
    alone, to whoever registers an agent that has a webhook.
    """

    name: str
    accepts: tuple[str, ...]
    tokenizer: Optional[str]
    max_tokens: Optional[int]
    description: Optional[str]
    ack_timeout_s: Optional[float]
    queue_timeout_s: Optional[float]
    max_attempts: Optional[int]
    fallbacks: tuple[str, ...]
    webhook: Optional[str]
    webhook_secret: Optional[str] = field(repr=False, compare=False)
    created_at: datetime
    updated_at: datetime
    queue: Optional[Queue] = field(compare=False)
    breaker: Optional[Breaker] = field(compare=False)
    last_seen_at: Optional[datetime] = field(repr=False, compare=False)
    raw: dict[str, Any] = field(repr=False, compare=False)
    etag: Optional[str] = field(default=None, repr=False, compare=False)

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Agent:
        queue, breaker = raw.get("queue"), raw.get("breaker")
        return cls(
            name=raw["name"],
            accepts=tuple(raw["accepts"]),
            tokenizer=raw.get("tokenizer"),
            max_tokens=raw.get("max_tokens"),
            description=raw.get("description"),
            ack_timeout_s=raw.get("ack_timeout_s"),
            queue_timeout_s=raw.get("queue_timeout_s"),
            max_attempts=raw.get("max_attempts"),
            fallbacks=tuple(raw.get("fallbacks") or ()),
            webhook=raw.get("webhook"),
            webhook_secret=raw.get("webhook_secret"),
            created_at=parse_time(raw["created_at"]),
            updated_at=parse_time(raw["updated_at"]),
            queue=None if queue is None else Queue.from_wire(queue),
            breaker=None if breaker is None else Breaker.from_wire(breaker),
            last_seen_at=optional_time(raw.get("last_seen_at")),
            raw=dict(raw),
        )


# --- Spaces --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Space:
    """A space: what it does about credentials in handoffs ("off", "redact", "refuse"), and how many memories it has."""

    name: str
    guard: str
    memories: int
    raw: dict[str, Any] = field(repr=False, compare=False)

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Space:
        return cls(raw["name"], raw["guard"], raw["memories"], dict(raw))


@dataclass(frozen=True)
class SpaceEntry:
    """A space in the list of all: how much is in it."""

    name: str
    memories: int
    handoffs_open: int
    parked: int
    created_at: datetime
    raw: dict[str, Any] = field(repr=False, compare=False)

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> SpaceEntry:
        return cls(
            name=raw["name"],
            memories=raw["memories"],
            handoffs_open=raw["handoffs_open"],
            parked=raw["parked"],
            created_at=parse_time(raw["created_at"]),
            raw=dict(raw),
        )


@dataclass(frozen=True)
class Alert:
    """Something is wrong, or was: with an agent, or (agent None) with the space as a whole."""

    id: str
    name: str
    severity: str
    pages: bool
    state: str
    agent: Optional[str]
    summary: str
    value: float
    threshold: float
    since: datetime
    resolved_at: Optional[datetime]
    acknowledged_by: Optional[str]
    acknowledged_at: Optional[datetime]
    silenced_until: Optional[datetime]
    raw: dict[str, Any] = field(repr=False, compare=False)

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Alert:
        return cls(
            id=raw["id"],
            name=raw["name"],
            severity=raw["severity"],
            pages=raw["pages"],
            state=raw["state"],
            agent=raw["agent"],
            summary=raw["summary"],
            value=raw["value"],
            threshold=raw["threshold"],
            since=parse_time(raw["since"]),
            resolved_at=optional_time(raw["resolved_at"]),
            acknowledged_by=raw.get("acknowledged_by"),
            acknowledged_at=optional_time(raw.get("acknowledged_at")),
            silenced_until=optional_time(raw.get("silenced_until")),
            raw=dict(raw),
        )


@dataclass(frozen=True)
class AlertRule:
    """When an alert fires: where what it measures is "above", "below" or "at_least" the threshold.

    unit         "handoffs", "share" (0 to 1), "ms" or "hops"
    threshold    in force now; None where it depends on what is usual, and too little is known of that yet
    window_s     how far back the figure goes; None where it is a fact of now
    min_samples  how many handoffs or envelopes must be in the window
    hold_s       how long it must hold; 0 is at once
    """

    name: str
    severity: str
    pages: bool
    of: str
    measures: str
    unit: str
    comparison: str
    threshold: Optional[float]
    window_s: Optional[int]
    min_samples: int
    hold_s: int
    raw: dict[str, Any] = field(repr=False, compare=False)

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> AlertRule:
        return cls(
            name=raw["name"],
            severity=raw["severity"],
            pages=raw["pages"],
            of=raw["of"],
            measures=raw["measures"],
            unit=raw["unit"],
            comparison=raw["comparison"],
            threshold=raw["threshold"],
            window_s=raw["window_s"],
            min_samples=raw["min_samples"],
            hold_s=raw["hold_s"],
            raw=dict(raw),
        )


# --- Keys ----------------------------------------------------------------------------------------


def _maybe_time(text: Optional[str]) -> Optional[datetime]:
    return None if text is None else parse_time(text)


@dataclass(frozen=True)
class Key:
    """A key, without its secret. `space` is "*" where it is for all of them, `agent` None where it is nobody's own.

    status         "valid", "expired" or "revoked"
    rotated_until  so long the secret before the last rotation is valid, too
    """

    id: str
    name: str
    space: str
    agent: Optional[str]
    scopes: tuple[str, ...]
    trust: str
    status: str
    created_at: datetime
    created_by: Optional[str]
    expires_at: Optional[datetime]
    revoked_at: Optional[datetime]
    reason: Optional[str]
    rotated_until: Optional[datetime]

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Key:
        return cls(**cls._members(raw))

    @staticmethod
    def _members(raw: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "id": raw["id"],
            "name": raw["name"],
            "space": raw["space"],
            "agent": raw["agent"],
            "scopes": tuple(raw["scopes"]),
            "trust": raw["trust"],
            "status": raw["status"],
            "created_at": parse_time(raw["created_at"]),
            "created_by": raw["created_by"],
            "expires_at": _maybe_time(raw["expires_at"]),
            "revoked_at": _maybe_time(raw["revoked_at"]),
            "reason": raw["reason"],
            "rotated_until": _maybe_time(raw["rotated_until"]),
        }


@dataclass(frozen=True)
class NewKey(Key):
    """A key that was just made or rotated. Its `secret` is what clients are made with; it is told this once, and is not
    in the repr."""

    secret: str = field(repr=False, compare=False)

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> NewKey:
        return cls(**cls._members({**raw, "status": "valid"}), secret=raw["key"])  # it is new


@dataclass(frozen=True)
class SessionKey:
    """The key of who asks."""

    id: str
    name: str
    space: str
    agent: Optional[str]
    scopes: tuple[str, ...]
    trust: str
    expires_at: Optional[datetime]

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> SessionKey:
        return cls(
            raw["id"],
            raw["name"],
            raw["space"],
            raw["agent"],
            tuple(raw["scopes"]),
            raw["trust"],
            _maybe_time(raw["expires_at"]),
        )


@dataclass(frozen=True)
class Session:
    """Who one is to the server. mode: "open", nobody needs a key, or "keys"; key: None where none was sent."""

    mode: str
    key: Optional[SessionKey]

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Session:
        return cls(raw["mode"], None if raw["key"] is None else SessionKey.from_wire(raw["key"]))
