"""The calls on keys, which let their holders in, and on who one is. Each is written once, as steps (see call.py)."""

from __future__ import annotations

from typing import Any, Optional
from urllib.parse import quote

from .call import Listing, Steps, get, post
from .models import Key, NewKey, Session
from .wire import Query, Strings, Time, format_time


def _path(id: str, verb: str = "") -> str:
    if not isinstance(id, str):
        raise TypeError(f"a key's id is a text such as 'key-7', not {id!r}")
    return f"/v1/keys/{quote(id, safe='')}{verb}"


def create_key(
    name: str,
    *,
    space: Optional[str] = None,
    agent: Optional[str] = None,
    scopes: Optional[Strings] = None,
    trust: Optional[str] = None,
    expires_at: Optional[Time] = None,
    ttl_s: Optional[float] = None,
) -> Steps[NewKey]:
    """Makes a key; its `secret` is told this once. The first of a server must be admin of all spaces, and from then on
    everybody needs one.

    name        what people call it
    space       the one space that it is for, "*" for all; that of the client where not given
    agent       the one agent that it speaks and takes work for; any where not given
    scopes      what it may do: "read", "write", "receive", "admin", which includes the others
    trust       what it stores has this trust at most: "system", "user", "agent", "external"
    expires_at  when it ends; or ttl_s, after how many seconds. Never where neither is given
    """
    body: dict[str, Any] = {
        "name": name,
        "space": space,
        "agent": agent,
        "scopes": None if scopes is None else [scopes] if isinstance(scopes, str) else list(scopes),
        "trust": trust,
        "expires_at": None if expires_at is None else format_time(expires_at),
        "ttl_s": ttl_s,
    }
    # Not safe: a second one would be a second key, whose first secret nobody has.
    response = yield post("/v1/keys", {name: value for name, value in body.items() if value is not None})
    return response.read(NewKey.from_wire)


def keys(*, page_size: int = 100) -> Listing[Key]:
    """The keys that this one may see, in the order in which they were made, read page by page. No secrets."""
    query = Query().add("page_size", page_size)
    return Listing(get("/v1/keys", tuple(query.pairs)), "keys", Key.from_wire)


def key(id: str) -> Steps[Key]:
    """One key, such as "key-7"."""
    response = yield get(_path(id))
    return response.read(Key.from_wire)


def rotate_key(id: str, *, grace_s: Optional[float] = None) -> Steps[NewKey]:
    """Gives a key a new secret, told this once. The one before is valid for `grace_s` seconds more: a day, or 0: no
    longer."""
    response = yield post(_path(id, "/rotate"), {} if grace_s is None else {"grace_s": grace_s})
    return response.read(NewKey.from_wire)


def revoke_key(id: str, *, reason: Optional[str] = None) -> Steps[Key]:
    """Ends a key for good, with its open streams, waiting calls and sessions."""
    response = yield post(_path(id, "/revoke"), {} if reason is None else {"reason": reason}, safe=True)
    return response.read(Key.from_wire)


def session() -> Steps[Session]:
    """Who one is to the server: whether it asks for keys, and which key this client has. Answered without one, too."""
    response = yield get("/v1/session")
    return response.read(Session.from_wire)
