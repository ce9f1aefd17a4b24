"""The calls that watch a space: how delivery goes, what happened, what happens. Each is written once (see call.py)."""

from __future__ import annotations

from typing import Optional

from .call import Listing, Steps, get
from .delivery import AuditEntry
from .events import Feed
from .stats import Stats
from .wire import Query, Strings, Time


def _joined(values: Optional[Strings]) -> Optional[str]:
    """Beginnings of names, as one parameter; None where there are none."""
    return values if values is None or isinstance(values, str) else ",".join(values) or None


def stats(window: str = "5m", *, space: Optional[str] = None) -> Steps[Stats]:
    """How delivery goes: of the space, of each of its agents, and point by point.

    window  how far back: "1m", "5m", "1h" or "24h"
    space   "all": of all spaces of the server, not only of the client's
    """
    response = yield get("/v1/stats", tuple(Query().add("window", window).add("space", space).pairs))
    return response.read(Stats.from_wire)


def audit(
    *,
    actor: Optional[str] = None,
    key: Optional[str] = None,
    object: Optional[str] = None,
    action: Optional[Strings] = None,
    since: Optional[Time] = None,
    until: Optional[Time] = None,
    after: Optional[int] = None,
    order: str = "oldest",
    page_size: int = 100,
) -> Listing[AuditEntry]:
    """Who did what to which object, read page by page as it is used.

    actor         who did it
    key           with which key: "key-7"
    object        to what: "ms-12", "env-3", "ho-7", or the name of an agent, a channel or a route
    action        beginnings of actions, such as "memory." or ["handoff.ack", "handoff.nack"]
    since, until  from when, and up to when
    after         behind the entry with this id
    order         "oldest" or "newest" first
    """
    query = Query().add("actor", actor).add("key", key).add("object", object).add("action", _joined(action))
    query.add_time("since", since).add_time("until", until).add("after", after)
    query.add("order", order).add("page_size", page_size)
    return Listing(get("/v1/audit", tuple(query.pairs)), "entries", AuditEntry.from_wire)


def events(*, after: Optional[int] = None, types: Optional[Strings] = None) -> Feed:
    """What happens in the space, as it happens, to be looped over. It goes on for ever, over restarts of the server,
    too; no event is lost and none comes twice. `break` ends it, or its `stop()`; its `position` is where it stands.

    after  begins behind the event with this id, 0: with the first there is; else with what happens from the beginning
           of the iteration on
    types  only events whose names begin so: "handoff.", ["memory.stored", "alert."]
    """
    if after is not None and not isinstance(after, int):
        raise TypeError(f"after is the id of an event, a number, not {after!r}")
    return Feed(tuple(Query().add("types", _joined(types)).pairs), after)
