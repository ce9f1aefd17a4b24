"""The protocol's objects, as frozen dataclasses.

`from_wire` reads what the server sent: a required field that is absent is a KeyError, an optional one gets its default,
and a field that this version does not know survives in `raw`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Optional

from .wire import parse_time


def _time(value: Optional[str]) -> Optional[datetime]:
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
    """The parts of a score: score = text × (1 + importance + pinned + recency)."""

    text: float
    importance: float
    pinned: float
    recency: float
    terms: tuple[Term, ...]
    raw: dict[str, Any] = field(repr=False, compare=False)

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Explanation:
        return cls(
            text=raw["text"],
            importance=raw["importance"],
            pinned=raw["pinned"],
            recency=raw["recency"],
            terms=tuple(Term.from_wire(term) for term in raw["terms"]),
            raw=dict(raw),
        )


@dataclass(frozen=True)
class Memory:
    """A memory, in one of its versions.

    Times are aware datetimes in UTC. `content` is "" in a forgotten memory and never otherwise. `current_version` is
    there where one version was asked for, `score` in a search, `explanation` in a search with explain=True.
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
    explanation: Optional[Explanation]
    raw: dict[str, Any] = field(repr=False, compare=False)

    @property
    def ref(self) -> str:
        """This version's own id, such as "ms-4821@3"."""
        return f"{self.id}@{self.version}"

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Memory:
        explain = raw.get("explain")
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
            expires_at=_time(raw.get("expires_at")),
            supersedes=raw.get("supersedes"),
            superseded_by=raw.get("superseded_by"),
            digest=raw.get("digest"),
            created_at=parse_time(raw["created_at"]),
            updated_at=parse_time(raw["updated_at"]),
            current_version=raw.get("current_version"),
            score=raw.get("score"),
            explanation=None if explain is None else Explanation.from_wire(explain),
            raw=dict(raw),
        )

    @classmethod
    def list_from_wire(cls, raw: Mapping[str, Any]) -> list[Memory]:
        return [cls.from_wire(memory) for memory in raw["memories"]]


@dataclass(frozen=True)
class Missing:
    """An id that `fetch` could not answer; `reason` is "unknown" or "forgotten"."""

    id: str
    reason: str

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Missing:
        return cls(raw["id"], raw["reason"])


@dataclass(frozen=True)
class FetchResult:
    """What `fetch` found, in the order of the ids, and what it did not find."""

    memories: list[Memory]
    missing: list[Missing]

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> FetchResult:
        return cls(Memory.list_from_wire(raw), [Missing.from_wire(entry) for entry in raw["missing"]])
