"""The calls on deliveries: send an envelope to an agent, see what became of it, take it, settle it, and deal with what
was parked. Each is written once, as steps (see call.py)."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Callable, Optional, Union
from urllib.parse import quote

from . import errors
from .agents import path_of as agent_path
from .board import Decided
from .call import Cancel, Listing, Sleep, Steps, backoff_s, get, post, post_once
from .delivery import Ack, Delivery, Parked, Taken
from .envelope import Envelope
from .fetching import fetching
from .given import chosen, given
from .handoffs import EnvelopeId, envelope_id, envelope_path
from .models import FetchResult
from .wire import Query, Time, format_time, string_list

Sendable = Union[str, Envelope, Mapping[str, Any]]
"""An envelope, its id, or a mapping: an envelope as the server sent it, or what a new one is to be made of."""

HandoffId = Union[str, Delivery, Decided]
"""A delivery, one that something was decided about, or its id."""

# The shortest wait that is one.
_WAIT_MIN_S = 0.001

# How many handoffs one call can take.
LIMIT_MAX = 100


def handoff_id(handoff: HandoffId) -> str:
    id = handoff.id if isinstance(handoff, (Delivery, Decided)) else handoff
    if not isinstance(id, str):
        raise TypeError(f"a handoff is named by its id, such as 'ho-17', not {id!r}")
    if not id:
        raise ValueError("a handoff's id must not be empty")
    return id


def _id(handoff: HandoffId) -> str:
    return quote(handoff_id(handoff), safe="")


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


# What `send` says about the delivery, beside the receiver.
_ORDERED = ("ack_timeout_s", "max_attempts", "fallbacks", "priority", "not_before", "queue_timeout_s")


def order(to: Optional[str], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """How an envelope is to be delivered, as it is sent: the arguments of `send`, taken from those of the function that
    was called (its locals())."""
    body = {**given(to=to), **chosen(_ORDERED, arguments)}
    if "fallbacks" in body:
        body["fallbacks"] = string_list("fallbacks", body["fallbacks"])
    return body


def _one(to: Optional[str], target: Optional[str]) -> Optional[str]:
    """`target` is the older name of `to`."""
    if to is not None and target is not None and to != target:
        raise TypeError("to and target are the same: give one of them")
    return target if to is None else to


def stored(envelope: Sendable, target: Optional[str]) -> Steps[str]:
    """The id of an envelope, which is packed now where it is a mapping that was not."""
    id = _stored_id(envelope)
    if id is None:
        response = yield post_once("/v1/envelopes", _draft(envelope, target), None)
        id = response.read(Envelope.from_wire).id
    return id


def send(
    envelope: Sendable,
    to: Optional[str] = None,
    *,
    ack_timeout_s: Optional[float] = None,
    max_attempts: Optional[int] = None,
    fallbacks: Optional[Iterable[str]] = None,
    priority: Optional[int] = None,
    not_before: Optional[Time] = None,
    queue_timeout_s: Optional[float] = None,
    idempotency_key: Optional[str] = None,
    target: Optional[str] = None,
) -> Steps[Delivery]:
    """Hands an envelope to an agent without waiting for it. It is durable when this returns; the server does the rest.

    envelope         what `pack` returned, or its id; or a mapping of what `POST /v1/envelopes` takes, which is packed
                     and sent in one step
    to               who gets it; else whom it is addressed to
    ack_timeout_s    how long a receiver has to ack it
    max_attempts     how often it is tried
    fallbacks        the agents that get it then, in order; after the last it is parked
    priority         0 to 9, the higher first; 5 where none is given
    not_before       it is given to nobody before that time; sent again with another one, what is queued is put off
    queue_timeout_s  how long it waits for somebody to take it; then it is parked
    target           the older name of `to`

    Sending the same envelope to the same agent again never makes a second handoff: what is under way goes on as it is;
    what was withdrawn (after an AckTimeoutError) has its next attempt; what was acked is returned as it is. Behind an
    open breaker it is accepted and held (`held_until`), and goes on by itself. Raises HandoffParkedError.
    """
    to = _one(to, target)
    body = order(to, locals())
    id = _stored_id(envelope)
    if id is not None:
        body["envelope_id"] = id
    else:
        body["envelope"] = _draft(envelope, to)
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
    body = order(target, locals())
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


def _of_queued(
    id: HandoffId, verb: str, body: dict[str, Any], is_done: Callable[[Delivery], bool]
) -> Steps[Delivery]:
    """Safe to send again: where it was carried out and its answer lost, it is refused, because the handoff is not there
    any more. Then it is read."""
    try:
        response = yield post(f"/v1/handoffs/{_id(id)}/{verb}", body, safe=True)
        return response.read(Delivery.from_wire)
    except errors.HandoffConflict as error:
        if not error.repeated:
            raise
        present = yield from handoff(id)
        if not is_done(present):
            raise
        return present


def cancel(handoff: HandoffId, *, why: Optional[str] = None, by: Optional[str] = None) -> Steps[Delivery]:
    """Takes a handoff that nobody has taken yet out of its queue, for good; it stays visible, as discarded. Raises
    HandoffConflict where somebody has it."""
    body = given(why=why, by=by)
    return (yield from _of_queued(handoff, "cancel", body, lambda present: present.state == "discarded"))


def move(handoff: HandoffId, to: str, *, why: Optional[str] = None, by: Optional[str] = None) -> Steps[Delivery]:
    """Gives a handoff that nobody has taken yet to another agent. Raises HandoffConflict where somebody has it."""
    body = given(to=to, why=why, by=by)
    return (yield from _of_queued(handoff, "move", body, lambda present: present.to_agent == to))


# --- Receiving -----------------------------------------------------------------------------------


def _taken(answer: Mapping[str, Any]) -> list[Taken]:
    return [Taken.from_taken(entry) for entry in answer["handoffs"]]


def receive(
    agent: str,
    *,
    wait_s: float = 0,
    limit: int = 1,
    lease_s: Optional[float] = None,
    instance: Optional[str] = None,
    cancel: Optional[Cancel] = None,
    retry: bool = True,
) -> Steps[list[Taken]]:
    """Takes up to `limit` handoffs of an agent, and waits for the first where there is none."""
    body = {"wait_s": wait_s, "max": limit, **given(lease_s=lease_s, instance=instance)}
    # Safe, although a reply that is lost takes handoffs with it: their lease runs out, and they come again.
    request = post(agent_path(agent, "/receive"), body, safe=True)
    response = yield replace(request, wait_s=wait_s, cancel=cancel, retry=retry)
    return response.read(_taken)


def _next(answer: Mapping[str, Any]) -> Optional[Delivery]:
    return None if answer["handoff"] is None else Delivery.from_wire(answer["handoff"])


def peek(agent: str, *, wait_s: float = 0) -> Steps[Optional[Delivery]]:
    """The handoff that a receiver of an agent would get next; nothing is taken."""
    query = Query().add("wait_s", wait_s)
    response = yield replace(get(agent_path(agent, "/peek"), tuple(query.pairs)), wait_s=wait_s)
    return response.read(_next)


def settle_and_receive(
    agent: str, settle: Mapping[str, Any], *, lease_s: Optional[float], instance: Optional[str]
) -> Steps[tuple[Optional[Mapping[str, Any]], list[Taken]]]:
    """Settles one handoff of an agent and takes the next that is ready, in one call and one commit. Said again it is
    answered as before, because a settling is known by its lease; what an answer that is lost had taken comes again.

    The first of what is returned is what the server says of the settling; None where it does not know how to.
    """
    body = {"wait_s": 0, "max": 1, "settle": [dict(settle)], **given(lease_s=lease_s, instance=instance)}
    response = yield post(agent_path(agent, "/receive"), body, safe=True)
    return response.read(_settled)


def _settled(answer: Mapping[str, Any]) -> tuple[Optional[Mapping[str, Any]], list[Taken]]:
    settled = answer.get("settled")
    return (settled[0] if settled else None), _taken(answer)


# --- Settling ------------------------------------------------------------------------------------


def _settle(id: str, verb: str, body: dict[str, Any]) -> Steps[Delivery]:
    """Safe to send again: an ack and a completion are answered as before. What gave the handoff back ended its lease,
    so that saying it again is refused: then what became of the handoff is read."""
    try:
        response = yield post(f"/v1/handoffs/{_id(id)}/{verb}", body, safe=True)
        return response.read(Delivery.from_wire)
    except errors.StaleLeaseError as error:
        if not error.repeated or verb not in ("nack", "release", "reject"):
            raise
        return (yield from handoff(id))


def read_settled(answer: Mapping[str, Any]) -> Delivery:
    """What was said of a settling that went along with `receive`: the handoff, or the problem, which is raised."""
    problem = answer.get("problem")
    if isinstance(problem, Mapping):
        raise errors.from_problem(problem.get("status") or 409, problem, None)
    try:
        return Delivery.from_wire(answer["handoff"])
    except (KeyError, TypeError, ValueError) as error:
        raise errors.ProtocolError(f"this is no settled handoff: {error!r}", code="invalid_response") from error


def settle(id: str, verb: str, body: Mapping[str, Any]) -> Steps[Delivery]:
    """Settles with a body that one of the next functions made."""
    return (yield from _settle(id, verb, dict(body)))


def ack_body(
    lease: str, work_lease_s: Optional[float], gaps: Iterable[Any], input_tokens: Optional[int]
) -> dict[str, Any]:
    return given(lease=lease, work_lease_s=work_lease_s, gaps=list(gaps) or None, input_tokens=input_tokens)


def nack_body(lease: str, reason: Optional[str], delay_s: Optional[float]) -> dict[str, Any]:
    return given(lease=lease, reason=reason, delay_s=delay_s)


def progress_body(lease: str, note: Optional[str], work_lease_s: Optional[float]) -> dict[str, Any]:
    return given(lease=lease, note=note, work_lease_s=work_lease_s)


def complete_body(
    lease: str,
    result: Any,
    gaps: Iterable[Any],
    input_tokens: Optional[int],
    remember: bool = True,
    then: Optional[Mapping[str, Any]] = None,
) -> dict[str, Any]:
    return given(
        lease=lease,
        result=result,
        gaps=list(gaps) or None,
        input_tokens=input_tokens,
        remember=None if remember else False,
        then=then,
    )


def need(id: str, lease: str, refs: Iterable[str]) -> Steps[FetchResult]:
    return (yield from fetching(f"/v1/handoffs/{_id(id)}/need", "refs", string_list("refs", refs), {"lease": lease}))


# --- Parked --------------------------------------------------------------------------------------


def park_envelope(envelope: Sendable, reason: str, *, by: Optional[str] = None) -> Steps[Delivery]:
    """Parks an envelope for a person: whatever of it was not acked is delivered no more, and nothing of it is lost."""
    id = _stored_id(envelope)
    if id is None:
        raise ValueError("envelope is a mapping without id and digest: only what the server has can be parked")
    response = yield post_once(envelope_path(id, "/park"), given(reason=reason, by=by), None)
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


def _decide(id: HandoffId, verb: str, body: dict[str, Any]) -> Steps[Delivery]:
    """Safe to send again: where it was carried out and its answer lost, it is refused, because nothing is parked any
    more. Then what became of the handoff is read."""
    try:
        response = yield post(f"/v1/parked/{_id(id)}/{verb}", body, safe=True)
        return response.read(Delivery.from_wire)
    except errors.HandoffConflict as error:
        if not error.repeated or error.code not in ("not_parked", "not_restorable"):
            raise
        return (yield from handoff(id))


def redrive(handoff: HandoffId, *, why: Optional[str] = None, by: Optional[str] = None) -> Steps[Delivery]:
    """Sends what is parked to the same agent again, with new attempts."""
    return (yield from _decide(handoff, "redrive", given(why=why, by=by)))


def reroute(handoff: HandoffId, to: str, *, why: Optional[str] = None, by: Optional[str] = None) -> Steps[Delivery]:
    """Sends what is parked to another agent."""
    return (yield from _decide(handoff, "reroute", given(to=to, why=why, by=by)))


def shrink(
    handoff: HandoffId, max_tokens: int, *, why: Optional[str] = None, by: Optional[str] = None
) -> Steps[Delivery]:
    """Packs what is parked anew, within fewer tokens, and sends that. Returns the new delivery."""
    body = given(max_tokens=max_tokens, why=why, by=by)
    response = yield post_once(f"/v1/parked/{_id(handoff)}/shrink", body, None)
    return response.read(Delivery.from_wire)


def discard(handoff: HandoffId, why: str, *, by: Optional[str] = None) -> Steps[Delivery]:
    """Takes what is parked out of the queue for good; it stays visible, as discarded."""
    return (yield from _decide(handoff, "discard", given(why=why, by=by)))


def restore(handoff: HandoffId, *, why: Optional[str] = None, by: Optional[str] = None) -> Steps[Delivery]:
    """Undoes a decision: what was discarded or cancelled, or redriven or rerouted and not taken since, is parked again.
    Raises HandoffConflict for everything else."""
    return (yield from _decide(handoff, "restore", given(why=why, by=by)))
