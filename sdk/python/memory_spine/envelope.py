"""Envelopes, as frozen dataclasses: what `agent_handoff` packs, and what `dry_run` says it would.

`Handoff` and `AsyncHandoff`, which the clients return, are envelopes with the way back to their client: see handoff.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Optional, TypeVar

from .canonical import digest_of
from .models import Missing
from .wire import parse_time

E = TypeVar("E", bound="Envelope")


@dataclass(frozen=True)
class Ref:
    """A memory in an envelope.

    why        "cited", "pinned", "inherited", "relevant" or, in old ones, "recent"
    form       "full", "summary" or "ref", which has no text
    text       what it says; None in the form "ref", and where the memory was forgotten since
    relevance  how much it has to do with the work, 0 to 1; None in an envelope of minor 0
    """

    id: str
    version: int
    why: str
    form: str
    text: Optional[str]
    tokens: int
    importance: str
    trust: str
    kind: Optional[str]
    agent: Optional[str]
    digest: str
    superseded_by: Optional[str]
    relevance: Optional[float]
    created_at: datetime
    raw: dict[str, Any] = field(repr=False, compare=False)

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Ref:
        return cls(
            id=raw["id"],
            version=raw["version"],
            why=raw["why"],
            form=raw["form"],
            text=raw.get("text"),
            tokens=raw["tokens"],
            importance=raw["importance"],
            trust=raw["trust"],
            kind=raw.get("kind"),
            agent=raw.get("agent"),
            digest=raw["digest"],
            superseded_by=raw.get("superseded_by"),
            relevance=raw.get("relevance"),
            created_at=parse_time(raw["created_at"]),
            raw=dict(raw),
        )


@dataclass(frozen=True)
class Trimmed:
    """What is not in the envelope in full. `form` is what is left of it: "summary", "ref" or "none".

    `reason` is "budget", "room" (the prompt had no room to name it, either), "repetition" (it says what another says),
    "lazy", "summary" or "trust_floor" (it is trusted less than the space asks for). `why` and `relevance` are those of a
    `Ref`; None for a step of the history, and in an envelope of minor 0. A dry run's budgets say none of the three and
    no `score`.
    """

    id: str
    form: str
    tokens: int
    reason: Optional[str]
    score: Optional[float]
    why: Optional[str] = None
    relevance: Optional[float] = None

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Trimmed:
        return cls(
            id=raw["id"],
            form=raw["form"],
            tokens=raw["tokens"],
            reason=raw.get("reason"),
            score=raw.get("score"),
            why=raw.get("why"),
            relevance=raw.get("relevance"),
        )


@dataclass(frozen=True)
class Waived:
    """A constraint that no longer holds: what it said, who waived it, why, and at which hop.

    Of what a person has waived for the whole task: `waiver` is its number, and `unauthenticated` whether nobody has
    checked who that was.
    """

    key: str
    value: Any = field(hash=False)
    by: str
    reason: str
    at_hop: int
    waiver: Optional[int] = None
    unauthenticated: bool = False

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Waived:
        person = (raw.get("waiver"), bool(raw.get("unauthenticated", False)))
        return cls(raw["key"], raw["value"], raw["by"], raw["reason"], raw["at_hop"], *person)


@dataclass(frozen=True)
class News:
    """What became of a memory since it was packed: "updated", to `version`; "superseded", `by`; "forgotten"; "expired".

    Or a "result" that has come: the memory that it is (None: it is too large for one), whose, of which `handoff`.
    """

    id: Optional[str]
    event: str
    version: Optional[int]
    by: Optional[str]
    handoff: Optional[str] = None
    agent: Optional[str] = None

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> News:
        return cls(
            raw["id"], raw["event"], raw.get("version"), raw.get("by"), raw.get("handoff"), raw.get("agent")
        )


@dataclass(frozen=True)
class Finding:
    """A credential that the guard blanked: what kind it is, and where it stood."""

    kind: str
    where: str

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Finding:
        return cls(raw["kind"], raw["where"])


@dataclass(frozen=True)
class Guard:
    """That a handoff was looked through for credentials, by which policy, and what was found and blanked."""

    policy: str
    findings: list[Finding] = field(hash=False)

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Guard:
        return cls(raw["policy"], [Finding.from_wire(entry) for entry in raw.get("findings") or ()])


# What is not part of what the digest is made of: itself, and what the server says beside the envelope.
_NOT_DIGESTED = ("digest", "since", "warnings")


@dataclass(frozen=True)
class Envelope:
    """What one agent hands to the next. It never changes; whoever adds something makes a new one with this as parent.

    id, digest        its name, and the SHA-256 of all that it says
    token_count       of the prompt, counted exactly in `tokenizer`; never more than max_tokens
    utilization       token_count / max_tokens
    worth             of all that the prompt carries, as the choice saw it: more room never makes it less; None in an
                      envelope of minor 0
    memory_refs       the ids of the memories in it; `refs` has them whole
    missing           what was named and could not be found
    trimmed           what is not there in full, because of the budget
    completeness      the share of the memories named that were found
    task, intent      the task's id; the user's own words, the same at every hop
    summary, state    what the receiver is to accomplish; where the work stands
    parent, root      ids of the envelope that this one continues, and of the first one
    constraints       what must hold, at every later hop, too
    waived, locked    what no longer holds, by whom and why; keys of the constraints that no agent may waive, sorted
    hop, max_hops     which handoff of the chain this is, and how many there may be
    path              the agents that the work went through, this receiver last
    trust             how far what it carries can be trusted, the least of its parts: "system", "user", "agent",
                      "external"; None in an envelope of minor 0 or 1
    fetch_hint        how the receiver fetches memories, as the prompt says it: "mcp", "command", "http"; None: not said
    guard             what was found in a handoff that had to be free of credentials; None where nobody asked for that
    since             what became of its memories after it was packed; known where it was read again, with `envelope`
    raw               the envelope as the server sent it
    """

    id: str
    digest: str = field(repr=False)
    envelope_version: str = field(repr=False)
    envelope_minor: int = field(repr=False)
    created_at: datetime = field(repr=False)
    from_agent: Optional[str]
    to_agent: str
    task: str
    intent: Optional[str] = field(repr=False)
    summary: str = field(repr=False)
    state: Optional[str] = field(repr=False)
    open_decisions: list[Any] = field(repr=False, hash=False)
    memory_refs: list[str] = field(hash=False)
    refs: list[Ref] = field(repr=False, hash=False)
    missing: list[Missing] = field(hash=False)
    history: list[dict[str, Any]] = field(repr=False, hash=False)
    constraints: dict[str, Any] = field(repr=False, hash=False)
    waived: list[Waived] = field(repr=False, hash=False)
    locked: list[str] = field(repr=False, hash=False)
    expected_output: dict[str, Any] = field(repr=False, hash=False)
    guard: Optional[Guard] = field(repr=False)
    trust: Optional[str] = field(repr=False)
    fetch_hint: Optional[str] = field(repr=False)
    parent: Optional[str]
    root: str = field(repr=False)
    hop: int
    max_hops: int = field(repr=False)
    path: list[str] = field(repr=False, hash=False)
    token_count: int
    max_tokens: int
    tokenizer: str = field(repr=False)
    strategy: str = field(repr=False)
    utilization: float = field(repr=False)
    worth: Optional[float] = field(repr=False)
    trimmed: list[Trimmed] = field(repr=False, hash=False)
    completeness: float
    since: list[News] = field(repr=False, compare=False)
    raw: dict[str, Any] = field(repr=False, compare=False)

    @classmethod
    def from_wire(cls: type[E], raw: Mapping[str, Any], **more: Any) -> E:
        task, memory, lineage, budget = raw["task"], raw["memory"], raw["lineage"], raw["budget"]
        guard = raw.get("guard")
        return cls(
            id=raw["id"] or "",
            digest=raw.get("digest") or "",
            envelope_version=raw["envelope_version"],
            envelope_minor=raw["envelope_minor"],
            created_at=parse_time(raw["created_at"]),
            from_agent=raw.get("from"),
            to_agent=raw["to"],
            task=task["id"],
            intent=task.get("intent"),
            summary=task["summary"],
            state=task.get("state"),
            open_decisions=list(task.get("open_decisions") or ()),
            memory_refs=[ref["id"] for ref in memory["refs"]],
            refs=[Ref.from_wire(ref) for ref in memory["refs"]],
            missing=[Missing.from_wire(entry) for entry in memory["missing"]],
            history=[dict(step) for step in raw["history"]],
            constraints=dict(raw["constraints"]),
            waived=[Waived.from_wire(entry) for entry in raw.get("waived") or ()],
            locked=list(raw.get("locked") or ()),
            expected_output=dict(raw.get("expected_output") or {}),
            guard=None if guard is None else Guard.from_wire(guard),
            trust=raw.get("trust"),
            fetch_hint=raw.get("fetch_hint"),
            parent=lineage.get("parent"),
            root=lineage["root"] or "",
            hop=lineage["hop"],
            max_hops=lineage["max_hops"],
            path=list(lineage["path"]),
            token_count=budget["token_count"],
            max_tokens=budget["max_tokens"],
            tokenizer=budget["tokenizer"],
            strategy=budget["strategy"],
            utilization=budget["utilization"],
            worth=budget.get("worth"),
            trimmed=[Trimmed.from_wire(entry) for entry in budget["trimmed"]],
            completeness=raw["completeness"]["score"],
            since=[News.from_wire(entry) for entry in raw.get("since") or ()],
            raw=dict(raw),
            **more,
        )

    def verify(self) -> bool:
        """Whether the digest is that of what the envelope says. Checked here, from `raw`, without asking the server.

        It is not, either, where the text of a memory was forgotten since; the client's `verify` tells that apart, and
        follows the whole chain.
        """
        said = {name: value for name, value in self.raw.items() if name not in _NOT_DIGESTED}
        return bool(self.digest) and self.digest == digest_of(said)


class Held:
    """An envelope in the hands of an agent that received it. See received.py, which has more to say of it."""

    @property
    def envelope_id(self) -> str:
        """The id of the envelope."""
        raise NotImplementedError

    @property
    def to_agent(self) -> str:
        """The agent that received it."""
        raise NotImplementedError


@dataclass(frozen=True)
class Budget:
    """What a handoff would come to within `max_tokens`: it fits, with `kept` memories, or needs `minimum` tokens.

    `code` says why it does not fit.
    """

    max_tokens: int
    fits: bool
    token_count: Optional[int]
    kept: Optional[int]
    trimmed: list[Trimmed] = field(hash=False)
    code: Optional[str]
    minimum: Optional[int]

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Budget:
        return cls(
            max_tokens=raw["max_tokens"],
            fits=raw["fits"],
            token_count=raw.get("token_count"),
            kept=raw.get("kept"),
            trimmed=[Trimmed.from_wire(entry) for entry in raw.get("trimmed") or ()],
            code=raw.get("code"),
            minimum=raw.get("minimum"),
        )


@dataclass(frozen=True)
class ConsideredMemory:
    """A memory that an envelope has, or could have had.

    why        as in a `Ref`
    fate       "full", "summary", "ref": it is there, in that form; "left_out": there was no room; "passed_over": it was
               not chosen at all
    reason     why it is not there in full; None where it is. "budget", "room", "repetition", "lazy", "summary": as
               in a `Trimmed`; "not_relevant": less relevant than the floor; "not_asked_for": beyond include_recent
    repeats    of a "repetition": the id of the memory that says the same; None otherwise
    tokens     what it takes, or would have taken; None where that is not known
    text       the beginning, in one line; None where it is not shown or was forgotten
    """

    id: str
    why: str
    relevance: float
    fate: str
    reason: Optional[str]
    repeats: Optional[str]
    tokens: Optional[int]
    text: Optional[str]

    @property
    def is_carried(self) -> bool:
        """Whether the envelope has it, in whatever form."""
        return self.fate in ("full", "summary", "ref")

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> ConsideredMemory:
        return cls(
            id=raw["id"],
            why=raw["why"],
            relevance=raw["relevance"],
            fate=raw["fate"],
            reason=raw.get("reason"),
            repeats=raw.get("repeats"),
            tokens=raw.get("tokens"),
            text=raw.get("text"),
        )


@dataclass(frozen=True)
class Considered:
    """What an envelope was chosen from, as it was when it was packed.

    recorded        False: it was packed before this was recorded. Then the next three are None, and what was passed
                    over is not known
    floor           what is less relevant was passed over, unless it was named, decided, opened or pinned
    include_recent  up to how many could come by relevance
    scope           "task" or "space": whose memories were looked at
    memories        what it has, what it had no room for, what was passed over (the first 32), in this order
    """

    envelope: Optional[str]
    recorded: bool
    floor: Optional[float]
    include_recent: Optional[int]
    scope: Optional[str]
    memories: list[ConsideredMemory] = field(hash=False)

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Considered:
        return cls(
            envelope=raw.get("envelope"),
            recorded=raw["recorded"],
            floor=raw.get("floor"),
            include_recent=raw.get("include_recent"),
            scope=raw.get("scope"),
            memories=[ConsideredMemory.from_wire(entry) for entry in raw["considered"]],
        )


@dataclass(frozen=True)
class DryRun(Envelope):
    """The envelope that a handoff would make, what it was chosen from, and what the usual budgets would lose.

    Nothing was stored. `id`, `digest` and, at the start of a chain, `root` are "". `considered` is None where the
    server does not say it.
    """

    budgets: list[Budget] = field(hash=False)
    considered: Optional[Considered] = field(repr=False)

    @classmethod
    def from_answer(cls, answer: Mapping[str, Any]) -> DryRun:
        considered = answer.get("considered")
        return cls.from_wire(
            answer["envelope"],
            budgets=[Budget.from_wire(entry) for entry in answer["budgets"]],
            considered=None if considered is None else Considered.from_wire(considered),
        )
