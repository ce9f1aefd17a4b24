"""The calls on deliveries: send an envelope to an agent, see what became of it, take it, settle it, and deal with what
was parked. Each is written once, as steps (see call.py)."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Optional, Union
from urllib.parse import quote

from . import errors
from .agents import path_of as agent_path
from .call import Cancel, Listing, Sleep, Steps, backoff_s, get, post, post_once
from .delivery import Ack, Delivery, Parked, Taken
from .envelope import Envelope
from .handoffs import EnvelopeId, envelope_id, envelope_path
from .models import FetchResult
from .wire import Query, Time, string_list

Sendable = Union[str, Envelope, Mapping[str, Any]]
"""An envelope, its id, or a mapping: an envelope as the server sent it, or what a new one is to be made of."""

HandoffId = Union[str, Delivery]
"""A delivery, or its id."""

# The shortest wait that is one.
_WAIT_MIN_S = 0.001


def _id(handoff: HandoffId) -> str:
    id = handoff.id if isinstance(handoff, Delivery) else handoff
    if not isinstance(id, str):
        raise TypeError(f"a handoff is named by its id, such as 'ho-17', not {id!r}")
    if not id:
        raise ValueError("a handoff's id must not be empty")
    return quote(id, safe="")


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def may_recover(error: errors.SpineError) -> bool:
    """Whether a call that waits goes on waiting: the server is starting, stopping, or has too much to do."""
    return isinstance(error, (errors.ConnectionError, errors.Unavailable)) and (
        error.retryable or isinstance(error, errors.ConnectionError)
    )


# --- Sending -------------------------------------------------------------------------------------


def _stored_id(envelope: Sendable) -> Optional[str]:
    """The id of an envelope that the server has; None for a mapping that is still to be made one."""
    if not isinstance(envelope, Mapping):
        return envelope_id("envelope", envelope)
    id = envelope.get("id")
    return id if isinstance(id, str) and id and envelope.get("digest") else None


def _draft(envelope: Sendable, target: Optional[str]) -> dict[str, Any]:
    assert isinstance(envelope, Mapping)
    draft = dict(envelope)
    if target is not None and not {"target_agent", "target", "to"} & draft.keys():
        draft["target_agent"] = target
    return draft


def _order(
    target: Optional[str],
    ack_timeout_s: Optional[float],
    max_attempts: Optional[int],
    fallbacks: Optional[Iterable[str]],
    priority: Optional[int],
) -> dict[str, Any]:
    return _given(
        to=target,
        ack_timeout_s=ack_timeout_s,
        max_attempts=max_attempts,
        fallbacks=None if fallbacks is None else string_list("fallbacks", fallbacks),
        priority=priority,
    )


def stored(envelope: Sendable, target: Optional[str]) -> Steps[str]:
    """The id of an envelope, which is packed now where it is a mapping that was not."""
    id = _stored_id(envelope)
    if id is None:
        response = yield post_once("/v1/envelopes", _draft(envelope, target), None)
        id = response.read(Envelope.from_wire).id
    return id


def send(
    envelope: Sendable,
    target: Optional[str] = None,
    *,
    ack_timeout_s: Optional[float] = None,
    max_attempts: Optional[int] = None,
    fallbacks: Optional[Iterable[str]] = None,
    priority: Optional[int] = None,
    idempotency_key: Optional[str] = None,
) -> Steps[Delivery]:
    """Hands an envelope to an agent without waiting for it. It is durable when this returns; the server does the rest.

    envelope       what `agent_handoff` returned, or its id; or a mapping of what agent_handoff takes, which is packed
                   and sent in one step
    target         who gets it; else whom it is addressed to
    ack_timeout_s  how long an attempt waits for somebody to take it
    max_attempts   how often it is tried
    fallbacks      the agents that get it then, in order; after the last it is parked
    priority       0 to 9, the higher first; 5 where none is given

    Sending the same envelope to the same agent again never makes a second handoff: what is under way goes on as it is;
    what was withdrawn (after an AckTimeoutError) has its next attempt; what was acked is returned as it is. Raises CircuitOpenError, HandoffParkedError.
    """
    body = _order(target, ack_timeout_s, max_attempts, fallbacks, priority)
    id = _stored_id(envelope)
    if id is not None:
        body["envelope_id"] = id
    else:
        body["envelope"] = _draft(envelope, target)
    response = yield post_once("/v1/handoffs", body, idempotency_key)
    return response.read(Delivery.from_wire)


def deliver_handoff(
    envelope: Sendable,
    target: Optional[str] = None,
    timeout: float = 15,
    *,
    ack_timeout_s: Optional[float] = None,
    max_attempts: Optional[int] = None,
    fallbacks: Optional[Iterable[str]] = None,
    priority: Optional[int] = None,
) -> Steps[Ack]:
    """Hands an envelope to an agent and waits until it has acked, `timeout` seconds at most (600 at most).

    The arguments are those of `send`, and so is what delivering again does: after an AckTimeoutError, the next attempt
    of the same handoff; after the ack, it returns the ack; in between, it waits for the handoff that is under way. With
    ack_timeout_s or fallbacks the server makes its attempts, and goes to the fallbacks, within the timeout; without
    them it is one attempt. A server that restarts meanwhile is waited for.

    Raises AckTimeoutError, which is also the built-in TimeoutError; CircuitOpenError; HandoffParkedError.
    """
    if not timeout > 0:
        raise ValueError(f"timeout is {timeout!r}; it must be positive (send does not wait)")
    deadline = time.monotonic() + timeout
    body = _order(target, ack_timeout_s, max_attempts, fallbacks, priority)
    body["envelope_id"] = yield from stored(envelope, target)
    wait_s = timeout
    attempt = 0
    while True:
        request = post("/v1/handoffs", {**body, "wait_s": wait_s}, safe=True)
        try:
            response = yield replace(request, wait_s=wait_s, retry=False)
            return response.read(Ack.from_ack)
        except errors.SpineError as error:
            pause = backoff_s(attempt)
            wait_s = max(_WAIT_MIN_S, deadline - time.monotonic() - pause)
            if not may_recover(error) or wait_s <= _WAIT_MIN_S:
                raise
        attempt += 1
        yield Sleep(pause)


def handoff(id: HandoffId) -> Steps[Delivery]:
    """What became of a handoff: its state, all that happened to it, and its result."""
    response = yield get(f"/v1/handoffs/{_id(id)}")
    return response.read(Delivery.from_wire)


def handoffs(
    *,
    state: Optional[str] = None,
    to: Optional[str] = None,
    from_: Optional[str] = None,
    envelope: Optional[EnvelopeId] = None,
    order: Optional[str] = None,
    page_size: int = 100,
) -> Listing[Delivery]:
    """The handoffs of the space that pass the filters, read page by page as they are used.

    order  "oldest" (first; what the server does by itself) or "newest"
    """
    query = Query().add("state", state).add("to", to).add("from", from_).add("order", order)
    query.add("envelope_id", None if envelope is None else envelope_id("envelope", envelope)).add(
        "page_size", page_size
    )
    return Listing(get("/v1/handoffs", tuple(query.pairs)), "handoffs", Delivery.from_wire)


# --- Receiving -----------------------------------------------------------------------------------


def _taken(answer: Mapping[str, Any]) -> list[Taken]:
    return [Taken.from_taken(entry) for entry in answer["handoffs"]]


def receive(
    agent: str,
    *,
    wait_s: float = 0,
    max: int = 1,
    lease_s: Optional[float] = None,
    instance: Optional[str] = None,
    cancel: Optional[Cancel] = None,
    retry: bool = True,
) -> Steps[list[Taken]]:
    """Takes up to `max` handoffs of an agent, and waits for the first where there is none."""
    body = {"wait_s": wait_s, "max": max, **_given(lease_s=lease_s, instance=instance)}
    # Safe, although a reply that is lost takes handoffs with it: their lease runs out, and they come again.
    request = post(agent_path(agent, "/receive"), body, safe=True)
    response = yield replace(request, wait_s=wait_s, cancel=cancel, retry=retry)
    return response.read(_taken)


# --- Settling ------------------------------------------------------------------------------------


def _settle(id: str, verb: str, body: dict[str, Any], safe: bool) -> Steps[Delivery]:
    response = yield post(f"/v1/handoffs/{_id(id)}/{verb}", body, safe=safe)
    return response.read(Delivery.from_wire)


def ack(
    id: str, lease: str, work_lease_s: Optional[float], gaps: Iterable[Any], input_tokens: Optional[int]
) -> Steps[Delivery]:
    body = _given(lease=lease, work_lease_s=work_lease_s, gaps=list(gaps) or None, input_tokens=input_tokens)
    return (yield from _settle(id, "ack", body, safe=True))


def nack(id: str, lease: str, reason: Optional[str], delay_s: Optional[float]) -> Steps[Delivery]:
    # Not safe: said again it is refused, because the lease has ended.
    return (yield from _settle(id, "nack", _given(lease=lease, reason=reason, delay_s=delay_s), safe=False))


def reject(id: str, lease: str, reason: str) -> Steps[Delivery]:
    return (yield from _settle(id, "reject", {"lease": lease, "reason": reason}, safe=False))


def progress(id: str, lease: str, note: Optional[str], work_lease_s: Optional[float]) -> Steps[Delivery]:
    body = _given(lease=lease, note=note, work_lease_s=work_lease_s)
    return (yield from _settle(id, "progress", body, safe=True))


def complete(
    id: str, lease: str, result: Any, gaps: Iterable[Any], input_tokens: Optional[int], remember: bool = True
) -> Steps[Delivery]:
    body = _given(
        lease=lease,
        result=result,
        gaps=list(gaps) or None,
        input_tokens=input_tokens,
        remember=None if remember else False,
    )
    return (yield from _settle(id, "complete", body, safe=True))


def need(id: str, lease: str, refs: Iterable[str]) -> Steps[FetchResult]:
    body = {"lease": lease, "refs": string_list("refs", refs)}
    response = yield post(f"/v1/handoffs/{_id(id)}/need", body, safe=True)
    return response.read(FetchResult.from_wire)


# --- Parked --------------------------------------------------------------------------------------


def park_envelope(envelope: Sendable, reason: str, *, by: Optional[str] = None) -> Steps[Delivery]:
    """Parks an envelope for a person: whatever of it was not acked is delivered no more, and nothing of it is lost."""
    id = _stored_id(envelope)
    if id is None:
        raise ValueError("envelope is a mapping without id and digest: only what the server has can be parked")
    response = yield post_once(envelope_path(id, "/park"), _given(reason=reason, by=by), None)
    return response.read(Delivery.from_wire)


def parked(
    *,
    to: Optional[str] = None,
    from_: Optional[str] = None,
    envelope: Optional[EnvelopeId] = None,
    task: Optional[str] = None,
    reason: Optional[str] = None,
    since: Optional[Time] = None,
    before: Optional[Time] = None,
    order: Optional[str] = None,
    page_size: int = 100,
) -> Listing[Parked]:
    """What is parked in the space and passes the filters, with its reason and what can be done, read page by page as it
    is used."""
    query = Query().add("to", to).add("from", from_)
    query.add("envelope_id", None if envelope is None else envelope_id("envelope", envelope))
    query.add("task", task).add("reason", reason).add_time("since", since).add_time("before", before)
    query.add("order", order).add("page_size", page_size)
    return Listing(get("/v1/parked", tuple(query.pairs)), "parked", Parked.from_parked)


def _decide(handoff: HandoffId, verb: str, body: dict[str, Any]) -> Steps[Delivery]:
    response = yield post(f"/v1/parked/{_id(handoff)}/{verb}", body)
    return response.read(Delivery.from_wire)


def redrive(handoff: HandoffId, *, why: Optional[str] = None, by: Optional[str] = None) -> Steps[Delivery]:
    """Sends what is parked to the same agent again, with new attempts."""
    return (yield from _decide(handoff, "redrive", _given(why=why, by=by)))


def reroute(handoff: HandoffId, to: str, *, why: Optional[str] = None, by: Optional[str] = None) -> Steps[Delivery]:
    """Sends what is parked to another agent."""
    return (yield from _decide(handoff, "reroute", _given(to=to, why=why, by=by)))


def shrink(
    handoff: HandoffId, max_tokens: int, *, why: Optional[str] = None, by: Optional[str] = None
) -> Steps[Delivery]:
    """Packs what is parked anew, within fewer tokens, and sends that. Returns the new delivery."""
    return (yield from _decide(handoff, "shrink", _given(max_tokens=max_tokens, why=why, by=by)))


def discard(handoff: HandoffId, why: str, *, by: Optional[str] = None) -> Steps[Delivery]:
    """Takes what is parked out of the queue for good; it stays visible, as discarded."""
    return (yield from _decide(handoff, "discard", _given(why=why, by=by)))
