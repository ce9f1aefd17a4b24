"""The calls on the space that a client works in, and the list of all. Each is written once, as steps (see call.py)."""

from __future__ import annotations

from typing import Optional
from urllib.parse import quote

from .call import Listing, Request, Steps, get, put
from .models import Space, SpaceEntry
from .wire import Query


def space_info() -> Steps[Space]:
    """The settings of the space, and how many memories it has. One that nobody has written to yet has the defaults."""
    response = yield get("/v1/space")
    return response.read(Space.from_wire)


def set_space(
    *,
    guard: Optional[str] = None,
    keep_handoffs_s: Optional[float] = None,
    keep_events_s: Optional[float] = None,
    keep_idle_s: Optional[float] = None,
    trust_floor: Optional[str] = None,
    quota_memories: Optional[int] = None,
    quota_bytes: Optional[int] = None,
    quota_handoffs_per_minute: Optional[int] = None,
    quota_waiting: Optional[int] = None,
    quota_agents: Optional[int] = None,
) -> Steps[Space]:
    """Sets what the space does about credentials in handoffs ("off", "redact" or "refuse"), and how long it keeps ended
    handoffs and events, and itself when nothing is written in it (0: for ever; -1: as the server says). Memories that
    are trusted less than `trust_floor` go along as references only. A quota is what the space may have at most (0: any
    number; -1: as the server says); `QuotaExceeded` is raised beyond it. What is not given stays as it is."""
    if guard is not None and not isinstance(guard, str):
        raise TypeError(f"guard is a text, not {guard!r}")
    body: dict[str, object] = {
        "guard": guard,
        "keep_handoffs_s": keep_handoffs_s,
        "keep_events_s": keep_events_s,
        "keep_idle_s": keep_idle_s,
        "trust_floor": trust_floor,
        "quota_memories": quota_memories,
        "quota_bytes": quota_bytes,
        "quota_handoffs_per_minute": quota_handoffs_per_minute,
        "quota_waiting": quota_waiting,
        "quota_agents": quota_agents,
    }
    response = yield put("/v1/space", {name: value for name, value in body.items() if value is not None})
    return response.read(Space.from_wire)


def delete_space(name: str, *, confirm: str) -> Steps[None]:
    """Deletes a space and everything in it, for good. `confirm` is its name once more."""
    query = Query().add("confirm", confirm)
    yield Request("DELETE", f"/v1/spaces/{quote(name, safe='')}", tuple(query.pairs))


def spaces(*, page_size: int = 100) -> Listing[SpaceEntry]:
    """All spaces of the server in the order in which they were made, read page by page as they are used."""
    query = Query().add("page_size", page_size)
    return Listing(get("/v1/spaces", tuple(query.pairs)), "spaces", SpaceEntry.from_wire)
