"""The calls on envelopes: pack one, read it, compare two. Each is written once, as steps (see call.py)."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any, Optional, Union
from urllib.parse import quote

from .call import Steps, get, of_agent, post, post_once
from .envelope import Considered, DryRun, Envelope, Held
from .fetching import fetching
from .models import Difference, FetchResult, Receipt, Verification
from .wire import string_list

EnvelopeId = Union[str, Envelope, Held]
"""An envelope, the received handoff that brought it, or its id."""


def envelope_id(what: str, envelope: EnvelopeId) -> str:
    id: Any = envelope
    if isinstance(envelope, Envelope):
        id = envelope.id
    elif isinstance(envelope, Held):
        id = envelope.envelope_id
    if not isinstance(id, str):
        raise TypeError(f"{what} is an envelope or its id, such as 'env-17', not {id!r}")
    if not id:
        why = ": that of a dry run was not stored" if isinstance(envelope, DryRun) else ""
        raise ValueError(f"{what} names no envelope{why}")
    return id


def envelope_path(envelope: EnvelopeId, verb: str = "") -> str:
    return f"/v1/envelopes/{quote(envelope_id('id', envelope), safe='')}{verb}"


def _objects(what: str, value: Iterable[Mapping[str, Any]], example: str) -> list[dict[str, Any]]:
    """A list of mappings. One mapping is refused: it would be taken apart into its names."""
    if isinstance(value, (str, bytes, Mapping)):
        raise TypeError(f"{what} must be a list of mappings such as {example}, not {value!r}")
    entries = list(value)
    for number, entry in enumerate(entries):
        if not isinstance(entry, Mapping):
            raise TypeError(f"{what}[{number}] must be a mapping such as {example}, not {entry!r}")
    return [dict(entry) for entry in entries]


def packing(to: str, summary: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What an envelope is packed from, as it is sent: the arguments of `pack` by their names on the wire, taken from
    those of the function that was called (its locals()). What is not given is left to the server."""
    given = {name: value for name, value in arguments.items() if name in _PACKED}
    named = "history" if "history" in given else "execution_history"
    history = _objects(named, given.pop(named, ()), '{"action": "…"}')
    parent = given.pop("parent", None)
    fields = {
        "target_agent": to,
        "task_summary": summary,
        "execution_history": history,
        "constraints": given.pop("constraints", None) or None,
        "expected_output": given.pop("expected_output", None) or None,
        "open_decisions": string_list("open_decisions", given.pop("open_decisions", ())),
        "resolved_decisions": _objects(
            "resolved_decisions", given.pop("resolved_decisions", ()), '{"decision": "…", "outcome": "…"}'
        ),
        "parent": None if parent is None else envelope_id("parent", parent),
        "refs": string_list("refs", given.pop("refs", ())),
        "waive": _objects("waive", given.pop("waive", ()), '{"key": "…", "reason": "…"}'),
        "locked": string_list("locked", given.pop("locked", ())),
        "new_root": True if given.pop("new_root", False) else None,
        "from": given.pop("from_", None),
        **given,
    }
    return {name: value for name, value in fields.items() if value is not None and value != []}


def _pack(
    body: dict[str, Any],
    parent: Optional[EnvelopeId],
    from_: Optional[str],
    dry_run: bool,
    idempotency_key: Optional[str],
) -> Steps[Envelope]:
    receiver = parent.to_agent if from_ is None and isinstance(parent, Held) else None
    if receiver is not None:
        body["from"] = receiver
    if dry_run:
        request = post("/v1/envelopes", {**body, "dry_run": True}, safe=True)
    else:
        request = post_once("/v1/envelopes", body, idempotency_key)
    response = yield request if receiver is None else of_agent(receiver, request)
    return response.read(DryRun.from_answer) if dry_run else response.read(Envelope.from_wire)


def pack(
    to: str,
    summary: str,
    *,
    intent: Optional[str] = None,
    constraints: Optional[Mapping[str, Any]] = None,
    state: Optional[str] = None,
    history: Iterable[Mapping[str, Any]] = (),
    refs: Iterable[str] = (),
    open_decisions: Iterable[str] = (),
    resolved_decisions: Iterable[Mapping[str, Any]] = (),
    expected_output: Optional[Mapping[str, Any]] = None,
    parent: Optional[EnvelopeId] = None,
    task: Optional[str] = None,
    waive: Iterable[Mapping[str, Any]] = (),
    locked: Iterable[str] = (),
    new_root: bool = False,
    include_recent: int = 20,
    include_pins: bool = True,
    scope: Optional[str] = None,
    strategy: str = "priority",
    tokenizer: Optional[str] = None,
    max_hops: Optional[int] = None,
    from_: Optional[str] = None,
    dry_run: bool = False,
    idempotency_key: Optional[str] = None,
) -> Steps[Envelope]:
    """Packs what the next agent needs into an envelope that fits its token budget. It is durable when this returns.

    to                  who gets the work; "next" asks the routes (`put_route`)
    summary             what it is to accomplish; memories that the text names (ms-4821 through ms-4825) go with it
    intent              the user's own words; given once, at the first envelope
    constraints         what must hold from here on, at every later hop, too; max_tokens is the receiver's budget
    state               where the work stands
    history             what was done: {"agent", "action", "decision", "why", "memory_id", "at"}
    refs                further memories by id, or ranges ("ms-1 through ms-5")
    open_decisions      what is still to be decided
    resolved_decisions  what was open and is decided: {"decision", "outcome"}
    expected_output     what the receiver should produce: {"format", "length", "schema", "criteria", …}
    parent              the envelope that this one continues, its id, or the received handoff that brought it; its
                        intent, constraints, memories… go on
    task                a name for a new task; a later hop has its parent's. The name of a task that has a chain, without
                        `parent`, goes on from what `from_` holds of it, else from its end
    waive               inherited constraints that no longer hold: {"key", "reason"}
    locked              keys of constraints, inherited ones or this hop's, that no agent may waive from here on
    new_root            begins a second chain in a task that has one; not with `parent`
    include_recent      up to how many memories to add by relevance; what has little to do with the work stays behind
    include_pins        whether to add what is pinned in the space or the task
    scope               whose memories may be added by relevance: "task" (the default), those of this task and those
                        without one; "space", those of other tasks, too
    strategy            "priority", "full", "summary" or "lazy"
    tokenizer           what the budget is counted in; else the receiver's
    max_hops            how many handoffs the chain may have
    from_               who hands over; else the agent that received the parent, where that is a received handoff; else
                        the client's agent
    dry_run             stores nothing and returns a `DryRun`: the envelope that it would be, and other budgets

    Raises BudgetTooSmall, ConstraintConflict, ConstraintLocked, ParentUnclear, CredentialsFound, HopLimit, RoutingLoop,
    NoRoute. That memories cannot be found is no error: see `missing`.
    """
    return (yield from _pack(packing(to, summary, locals()), parent, from_, dry_run, idempotency_key))


# What `pack` says about the envelope; agent_handoff has another name for the history.
_PACKED = {*inspect.signature(pack).parameters, "execution_history"} - {"to", "summary", "dry_run", "idempotency_key"}


def agent_handoff(
    target_agent: str,
    task_summary: str,
    include_recent: int = 20,
    include_pins: bool = True,
    constraints: Optional[Mapping[str, Any]] = None,
    execution_history: Iterable[Mapping[str, Any]] = (),
    expected_output: Optional[Mapping[str, Any]] = None,
    intent: Optional[str] = None,
    state: Optional[str] = None,
    open_decisions: Iterable[str] = (),
    parent: Optional[EnvelopeId] = None,
    task: Optional[str] = None,
    strategy: str = "priority",
    refs: Iterable[str] = (),
    max_hops: Optional[int] = None,
    waive: Iterable[Mapping[str, Any]] = (),
    *,
    dry_run: bool = False,
    resolved_decisions: Iterable[Mapping[str, Any]] = (),
    from_: Optional[str] = None,
    tokenizer: Optional[str] = None,
    scope: Optional[str] = None,
    locked: Iterable[str] = (),
    new_root: bool = False,
    idempotency_key: Optional[str] = None,
) -> Steps[Envelope]:
    """Packs what the next agent needs into an envelope: the older name of `pack`, with its arguments in this order.

    target_agent, task_summary and execution_history are what `pack` calls to, summary and history.
    """
    return (yield from _pack(packing(target_agent, task_summary, locals()), parent, from_, dry_run, idempotency_key))


def envelope(id: str) -> Steps[Envelope]:
    """Reads an envelope."""
    response = yield get(envelope_path(id))
    return response.read(Envelope.from_wire)


def prompt(id: EnvelopeId) -> Steps[str]:
    """What the receiving model reads, in Markdown."""
    response = yield get(envelope_path(id), (("format", "prompt"),))
    return response.text


def render(id: EnvelopeId, form: str) -> Steps[dict[str, Any]]:
    """The envelope in another form: "v1", or "both"."""
    if form not in ("v1", "both"):
        raise ValueError(f"form is {form!r}; expected 'v1' or 'both' (what a model reads is prompt())")
    response = yield get(envelope_path(id), (("format", form),))
    return response.read(dict)


def resolve(id: EnvelopeId, ids: Optional[Iterable[str]] = None) -> Steps[FetchResult]:
    """Fetches what an envelope trimmed or missed, as it is now: all, or the ids given. `receipts` tells who did."""
    wanted = None if ids is None else string_list("ids", ids)
    return (yield from fetching(envelope_path(id, "/resolve"), "ids", wanted, {}))


def receipts(id: EnvelopeId) -> Steps[list[Receipt]]:
    """Who fetched what an envelope could not carry."""
    response = yield get(envelope_path(id, "/receipts"))
    return response.read(Receipt.list_from_wire)


def considered(id: EnvelopeId) -> Steps[Considered]:
    """What an envelope was chosen from, as it was recorded when it was packed: what it has, what not, and why."""
    response = yield get(envelope_path(id, "/considered"))
    return response.read(Considered.from_wire)


def verify(id: EnvelopeId) -> Steps[Verification]:
    """Has the server check the digests of an envelope and of all before it, to the root of the chain."""
    response = yield get(envelope_path(id, "/verify"))
    return response.read(Verification.from_wire)


def diff(a: EnvelopeId, b: EnvelopeId) -> Steps[Difference]:
    """What `b` kept of `a`, and what it added, changed or dropped."""
    response = yield get(envelope_path(a, f"/diff/{quote(envelope_id('b', b), safe='')}"))
    return response.read(Difference.from_wire)
