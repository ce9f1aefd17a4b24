"""The calls on channels and routes. Each is written once, as steps (see call.py)."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Optional, Union
from urllib.parse import quote

from . import errors
from .call import Listing, Request, Sleep, Steps, backoff_s, get, post, post_once, put
from .deliveries import may_recover
from .delivery import ChannelInfo, Delivery, Join, Route
from .given import given
from .handoffs import EnvelopeId, envelope_id
from .wire import Query, Time, format_time, string_list

_JOIN_WAIT_S = 60.0


def _quoted(name: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"a name is a text, not {name!r}")
    if not name:
        raise ValueError("a name must not be empty")
    return quote(name, safe="")


def _path(kind: str, name: str, verb: str = "") -> str:
    return f"/v1/{kind}/{_quoted(name)}{verb}"


# --- Channels ------------------------------------------------------------------------------------


def channels(*, page_size: int = 100) -> Listing[ChannelInfo]:
    """All channels of the space, by name, read page by page as they are used."""
    query = Query().add("page_size", page_size)
    return Listing(get("/v1/channels", tuple(query.pairs)), "channels", ChannelInfo.from_wire)


def info(channel: str) -> Steps[ChannelInfo]:
    response = yield get(_path("channels", channel))
    return response.read(ChannelInfo.from_wire)


def describe(channel: str, description: str) -> Steps[ChannelInfo]:
    response = yield put(_path("channels", channel), {"description": description})
    return response.read(ChannelInfo.from_wire)


def _subscriber(channel: str, agent: str) -> str:
    return f"{_path('channels', channel)}/subscribers/{_quoted(agent)}"


def subscribe(channel: str, agent: str) -> Steps[ChannelInfo]:
    response = yield put(_subscriber(channel, agent), {})
    return response.read(ChannelInfo.from_wire)


def unsubscribe(channel: str, agent: str) -> Steps[ChannelInfo]:
    try:
        response = yield Request("DELETE", _subscriber(channel, agent), safe=True)
        return response.read(ChannelInfo.from_wire)
    except errors.NotFound as error:
        if not error.repeated:
            raise
        return (yield from info(channel))


def _published(answer: Mapping[str, Any]) -> list[Delivery]:
    return [Delivery.from_wire(entry) for entry in answer["handoffs"]]


def publish(
    channel: str,
    envelope: EnvelopeId,
    receivers: Optional[Iterable[str]],
    delivery: str,
    priority: Optional[int],
    ack_timeout_s: Optional[float],
    max_attempts: Optional[int],
    not_before: Optional[Time],
    queue_timeout_s: Optional[float],
    idempotency_key: Optional[str],
) -> Steps[list[Delivery]]:
    body = given(
        envelope_id=envelope_id("envelope", envelope),
        receivers=None if receivers is None else string_list("receivers", receivers),
        delivery=delivery,
        priority=priority,
        ack_timeout_s=ack_timeout_s,
        max_attempts=max_attempts,
        not_before=None if not_before is None else format_time(not_before),
        queue_timeout_s=queue_timeout_s,
    )
    response = yield post_once(_path("channels", channel, "/publish"), body, idempotency_key)
    return response.read(_published)


def join(
    channel: str,
    envelope: EnvelopeId,
    need: Union[str, int],
    timeout: Optional[float],
    deadline: Optional[Time],
) -> Steps[Join]:
    """Asks again and again, because the server waits a minute at most."""
    until = None if timeout is None else time.monotonic() + timeout
    body = given(
        envelope_id=envelope_id("envelope", envelope),
        need=need,
        deadline=None if deadline is None else format_time(deadline),
    )
    attempt = 0
    while True:
        wait_s = _JOIN_WAIT_S if until is None else max(0.0, min(_JOIN_WAIT_S, until - time.monotonic()))
        request = post(_path("channels", channel, "/join"), {**body, "wait_s": wait_s}, safe=True)
        try:
            response = yield replace(request, wait_s=wait_s, retry=False)
        except errors.SpineError as error:
            pause = backoff_s(attempt)
            attempt += 1
            if not may_recover(error) or attempt > 20 or (until is not None and time.monotonic() + pause >= until):
                raise
            yield Sleep(pause)
            continue
        attempt = 0
        joined = response.read(Join.from_wire)
        if joined.state != "waiting" or (until is not None and time.monotonic() >= until):
            return joined


# --- Routes --------------------------------------------------------------------------------------


def routes(*, page_size: int = 100) -> Listing[Route]:
    """All routes of the space, read page by page as they are used."""
    query = Query().add("page_size", page_size)
    return Listing(get("/v1/routes", tuple(query.pairs)), "routes", Route.from_wire)


def route(name: str) -> Steps[Route]:
    """Reads a route."""
    response = yield get(_path("routes", name))
    return response.read(Route.from_wire)


def put_route(
    name: str,
    to: str,
    *,
    from_: Optional[str] = None,
    when: Optional[Mapping[str, Any]] = None,
    order: int = 100,
    description: Optional[str] = None,
) -> Steps[Route]:
    """Makes a route, or replaces it: where target_agent="next" leads, from an agent (else from any).

    `when` has any of "constraint" (names and values), "tag", "state" and "hop" ({"min", "max"}); all of it must hold.
    Of the routes that fit the one with the lowest order is taken.
    """
    body = given(to=to, when=None if when is None else dict(when), order=order, description=description)
    body["from"] = from_
    response = yield put(_path("routes", name), body)
    return response.read(Route.from_wire)


def delete_route(name: str) -> Steps[None]:
    """Deletes a route."""
    try:
        yield Request("DELETE", _path("routes", name), safe=True)
    except errors.NotFound as error:
        if not error.repeated:
            raise
