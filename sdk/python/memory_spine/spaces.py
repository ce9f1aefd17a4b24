"""The calls on the space that a client works in, and the list of all. Each is written once, as steps (see call.py)."""

from __future__ import annotations

from .call import Listing, Steps, get, put
from .models import Space, SpaceEntry
from .wire import Query


def space_info() -> Steps[Space]:
    """The settings of the space, and how many memories it has. One that nobody has written to yet has the defaults."""
    response = yield get("/v1/space")
    return response.read(Space.from_wire)


def set_space(*, guard: str) -> Steps[Space]:
    """Sets what the space does about credentials in handoffs: "off", "redact" or "refuse"."""
    if not isinstance(guard, str):
        raise TypeError(f"guard is a text, not {guard!r}")
    response = yield put("/v1/space", {"guard": guard})
    return response.read(Space.from_wire)


def spaces(*, page_size: int = 100) -> Listing[SpaceEntry]:
    """All spaces of the server in the order in which they were made, read page by page as they are used."""
    query = Query().add("page_size", page_size)
    return Listing(get("/v1/spaces", tuple(query.pairs)), "spaces", SpaceEntry.from_wire)
