"""The calls on envelopes: pack one, read it, compare two. Each is written once, as steps (see call.py)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Optional, Union
from urllib.parse import quote

from .call import Steps, get, of_agent, post, post_once
from .envelope import Considered, DryRun, Envelope, Held
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
    idempotency_key: Optional[str] = None,
) -> Steps[Envelope]:
    """Packs what the next agent needs into an envelope that fits its token budget. It is durable when this returns.

    target_agent        who gets the work; "next" asks the routes (`put_route`)
    task_summary        what it is to accomplish; memories that the text names (ms-4821 through ms-4825) go with it
    include_recent      up to how many memories to add by relevance; what has little to do with the work stays behind
    include_pins        whether to add what is pinned in the space or the task
    constraints         what must hold from here on, at every later hop, too; max_tokens is the receiver's budget
    execution_history   what was done: {"agent", "action", "decision", "why", "memory_id", "at"}
    expected_output     what the receiver should produce: {"format", "length", "schema", "criteria", …}
    intent              the user's own words; given once, at the first handoff
    state               where the work stands
    open_decisions      what is still to be decided
    parent              the envelope that this one continues, its id, or the received handoff that brought it; its
                        intent, constraints, memories… go on
    task                a name for a new task; a later hop has its parent's
    strategy            "priority", "full", "summary" or "lazy"
    refs                further memories by id, or ranges ("ms-1 through ms-5")
    max_hops            how many handoffs the chain may have
    waive               inherited constraints that no longer hold: {"key", "reason"}
    dry_run             stores nothing and returns a `DryRun`: the envelope that it would be, and other budgets
    resolved_decisions  what was open and is decided: {"decision", "outcome"}
    from_               who hands over; else the agent that received the parent, where that is a received handoff; else
                        the client's agent
    tokenizer           what the budget is counted in; else the receiver's
    scope               whose memories may be added by relevance: "task" (the default), those of this task and those
                        without one; "space", those of other tasks, too

    Raises BudgetTooSmall, ConstraintConflict, CredentialsFound, HopLimit, RoutingLoop, NoRoute. That memories cannot be
    found is no error: see `missing`.
    """
    fields = {
        "target_agent": target_agent,
        "task_summary": task_summary,
        "include_recent": include_recent,
        "include_pins": include_pins,
        "constraints": constraints or None,
        "execution_history": _objects("execution_history", execution_history, '{"action": "…"}'),
        "expected_output": expected_output or None,
        "intent": intent,
        "state": state,
        "open_decisions": string_list("open_decisions", open_decisions),
        "resolved_decisions": _objects(
            "resolved_decisions", resolved_decisions, '{"decision": "…", "outcome": "…"}'
        ),
        "parent": None if parent is None else envelope_id("parent", parent),
        "task": task,
        "strategy": strategy,
        "refs": string_list("refs", refs),
        "max_hops": max_hops,
        "waive": _objects("waive", waive, '{"key": "…", "reason": "…"}'),
        "from": from_,
        "tokenizer": tokenizer,
        "scope": scope,
    }
    body = {name: value for name, value in fields.items() if value is not None and value != []}
    receiver = parent.to_agent if from_ is None and isinstance(parent, Held) else None
    if receiver is not None:
        body["from"] = receiver
    if dry_run:
        request = post("/v1/envelopes", {**body, "dry_run": True}, safe=True)
    else:
        request = post_once("/v1/envelopes", body, idempotency_key)
    response = yield request if receiver is None else of_agent(receiver, request)
    return response.read(DryRun.from_answer) if dry_run else response.read(Envelope.from_wire)


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
    body = {} if ids is None else {"ids": string_list("ids", ids)}
    response = yield post(envelope_path(id, "/resolve"), body, safe=True)
    return response.read(FetchResult.from_wire)


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
