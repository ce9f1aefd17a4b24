"""The calls on the space that a client works in. Each is written once, as steps (see call.py)."""

from __future__ import annotations

from .call import Steps, get, put
from .models import Space


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
