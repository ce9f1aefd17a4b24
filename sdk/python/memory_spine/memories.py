"""The calls on memories. Each is written once, as steps (see call.py); both clients carry them out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Optional, Union
from urllib.parse import quote

from . import errors
from .call import Listing, Request, Steps, post, post_once
from .call import get as get_request
from .fetching import fetching
from .given import given
from .models import FetchResult, Memory
from .wire import UNSET, Query, Strings, Time, Unset, dump_json, format_time, string_list

_PAGE_MAX = 1000

Scalar = Union[str, int, float, bool]


# --- Storing -------------------------------------------------------------------------------------


def _draft(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a memory as they are sent; times as text."""
    draft = dict(fields)
    if draft.pop("shared", None):
        draft["scope"] = "space"
    if draft.get("tags") is not None:
        draft["tags"] = string_list("tags", draft["tags"])
    for name in ("expires_at", "created_at"):
        if draft.get(name) is not None:
            draft[name] = format_time(draft[name])
    return draft


def _storing(path: str, body: Any, idempotency_key: Optional[str]) -> Request:
    return replace(post_once(path, body, idempotency_key), stores=True)


def store(
    content: str,
    *,
    summary: Optional[str] = None,
    kind: Optional[str] = None,
    tags: Optional[Iterable[str]] = None,
    importance: Optional[str] = None,
    agent: Optional[str] = None,
    task: Optional[str] = None,
    shared: bool = False,
    pinned: Optional[bool] = None,
    trust: Optional[str] = None,
    metadata: Optional[Mapping[str, Any]] = None,
    expires_at: Optional[Time] = None,
    ttl_s: Optional[int] = None,
    supersedes: Optional[str] = None,
    id: Optional[str] = None,
    created_at: Optional[Time] = None,
    idempotency_key: Optional[str] = None,
) -> Steps[Memory]:
    """Stores a memory. It is durable when this returns.

    It belongs to the `task` that is named; else, while this client has a handoff in hand, to the handoff's task. With
    shared=True it belongs to none: it is for the whole space.

    Storing again with the same idempotency_key and the same fields within a day returns the memory that is there.
    """
    fields = given(
        id=id,
        content=content,
        summary=summary,
        kind=kind,
        tags=tags,
        importance=importance,
        agent=agent,
        task=task,
        shared=shared or None,
        pinned=pinned,
        trust=trust,
        metadata=metadata,
        expires_at=expires_at,
        ttl_s=ttl_s,
        supersedes=supersedes,
        created_at=created_at,
    )
    response = yield _storing("/v1/memories", _draft(fields), idempotency_key)
    return response.read(Memory.from_wire)


def store_many(
    memories: Iterable[Union[str, Mapping[str, Any]]], *, idempotency_key: Optional[str] = None
) -> Steps[list[Memory]]:
    """Stores up to 1,000 memories, all or none. Each is a mapping of the fields that `store` takes, or its content."""
    drafts = []
    for number, entry in enumerate(memories):
        if not isinstance(entry, (str, Mapping)):
            example = '{"content": "…"}'
            raise TypeError(f"memories[{number}] must be a text, or a mapping such as {example}, not {entry!r}")
        drafts.append(_draft({"content": entry} if isinstance(entry, str) else entry))
    response = yield _storing("/v1/memories/batch", {"memories": drafts}, idempotency_key)
    return response.read(Memory.list_from_wire)


# --- One memory ----------------------------------------------------------------------------------


def _path(id: str, verb: str = "") -> str:
    if not isinstance(id, str):
        raise TypeError(f"a memory's id is a text such as 'ms-4821', not {id!r}")
    if not id:
        raise ValueError("a memory's id must not be empty")
    return f"/v1/memories/{quote(id, safe='@')}{verb}"


def _if_match(id: str, if_version: Optional[int]) -> tuple[tuple[str, str], ...]:
    return () if if_version is None else (("If-Match", f'"{id}@{if_version}"'),)


def get(id: str, version: Optional[int] = None) -> Steps[Memory]:
    """Reads a memory: its newest version, or the one asked for. The id may name the version itself: "ms-4821@2".

    One that was superseded, has expired or was forgotten is answered, too; its `state` says so.
    """
    response = yield get_request(_path(id if version is None else f"{id}@{version}"))
    return response.read(Memory.from_wire)


def versions(id: str, *, page_size: int = 20) -> Listing[Memory]:
    """All versions of a memory, the newest first, read page by page as they are used."""
    query = Query().add("page_size", page_size)
    return Listing(get_request(_path(id, "/versions"), tuple(query.pairs)), "versions", Memory.from_wire)


def update(
    id: str,
    *,
    if_version: Optional[int] = None,
    content: Union[str, Unset] = UNSET,
    summary: Union[str, None, Unset] = UNSET,
    kind: Union[str, None, Unset] = UNSET,
    tags: Union[Iterable[str], None, Unset] = UNSET,
    importance: Union[str, None, Unset] = UNSET,
    agent: Union[str, None, Unset] = UNSET,
    task: Union[str, None, Unset] = UNSET,
    pinned: Union[bool, Unset] = UNSET,
    trust: Union[str, None, Unset] = UNSET,
    metadata: Union[Mapping[str, Any], None, Unset] = UNSET,
    expires_at: Union[Time, None, Unset] = UNSET,
    ttl_s: Union[int, Unset] = UNSET,
) -> Steps[Memory]:
    """Replaces the fields given, None clears one, and makes a new version where that changes anything.

    With if_version it is refused (PreconditionFailed) where the memory has moved on since.
    """
    fields = {
        "content": content,
        "summary": summary,
        "kind": kind,
        "tags": tags,
        "importance": importance,
        "agent": agent,
        "task": task,
        "pinned": pinned,
        "trust": trust,
        "metadata": metadata,
        "expires_at": expires_at,
        "ttl_s": ttl_s,
    }
    changes = _draft({name: value for name, value in fields.items() if not isinstance(value, Unset)})
    request = Request("PATCH", _path(id), body=dump_json(changes), headers=_if_match(id, if_version), safe=True)
    try:
        response = yield request
        return response.read(Memory.from_wire)
    except errors.PreconditionFailed as error:
        if not error.repeated:
            raise
        present = yield from get(id)
        if present.version != (if_version or 0) + 1 or not _says(present, changes):
            raise
        return present


def _says(memory: Memory, changes: Mapping[str, Any]) -> bool:
    """Whether a memory is what a change was to make of it. (What it does not show, ttl_s, cannot tell.)"""
    return all(memory.raw[name] == value for name, value in changes.items() if name in memory.raw)


def revert(id: str, version: int, *, if_version: Optional[int] = None) -> Steps[Memory]:
    """Makes a new version that says what an old one said."""
    condition = _if_match(id, if_version)
    response = yield post(_path(id, "/revert"), {"version": version}, condition, safe=not condition)
    return response.read(Memory.from_wire)


def pin(id: str, *, if_version: Optional[int] = None) -> Steps[Memory]:
    """Pins a memory: it goes with every handoff and ranks higher. Makes no version."""
    response = yield post(_path(id, "/pin"), headers=_if_match(id, if_version), safe=True)
    return response.read(Memory.from_wire)


def unpin(id: str, *, if_version: Optional[int] = None) -> Steps[Memory]:
    """Undoes `pin`."""
    response = yield post(_path(id, "/unpin"), headers=_if_match(id, if_version), safe=True)
    return response.read(Memory.from_wire)


def forget(id: str, *, if_version: Optional[int] = None) -> Steps[Memory]:
    """Removes what every version says, for good, and returns the tombstone. Forgetting again changes nothing."""
    response = yield Request("DELETE", _path(id), headers=_if_match(id, if_version), safe=True)
    return response.read(Memory.from_wire)


# --- Many memories -------------------------------------------------------------------------------


def fetch(ids: Iterable[str]) -> Steps[FetchResult]:
    """Reads up to 1,000 memories, in the order of the ids ("ms-1", "ms-2@1"), each once; says which are missing.

    An answer holds 8 MiB at most: what it did not give is asked for again, so that all of it is here."""
    return (yield from fetching("/v1/memories/fetch", "ids", string_list("ids", ids), {}))


def _filters(
    *,
    tag: Optional[Strings],
    kind: Optional[Strings],
    agent: Optional[Strings],
    task: Optional[Strings],
    importance: Optional[Strings],
    trust: Optional[Strings],
    pinned: Optional[bool],
    state: Optional[str],
    created_after: Optional[Time],
    created_before: Optional[Time],
    metadata: Optional[Mapping[str, Scalar]],
) -> Query:
    query = Query()
    for name, values in (("tag", tag), ("kind", kind), ("agent", agent), ("task", task), ("importance", importance)):
        query.add_each(name, values)
    query.add_each("trust", trust).add("pinned", pinned).add("state", state)
    query.add_time("created_after", created_after).add_time("created_before", created_before)
    for key, value in (metadata or {}).items():
        query.add(f"metadata.{key}", value)
    return query


def search(
    query: str,
    *,
    limit: int = 20,
    explain: bool = False,
    tag: Optional[Strings] = None,
    kind: Optional[Strings] = None,
    agent: Optional[Strings] = None,
    task: Optional[Strings] = None,
    importance: Optional[Strings] = None,
    trust: Optional[Strings] = None,
    pinned: Optional[bool] = None,
    state: Optional[str] = None,
    created_after: Optional[Time] = None,
    created_before: Optional[Time] = None,
    metadata: Optional[Mapping[str, Scalar]] = None,
) -> Steps[list[Memory]]:
    """The best `limit` memories for the words of `query`, each with its `score`, the highest first.

    Of several values of `tag` all must be there, of the other filters any; of `metadata` every pair must hold.
    """
    if limit < 1:
        raise ValueError(f"limit is {limit}; it must be at least 1")
    parameters = _filters(
        tag=tag,
        kind=kind,
        agent=agent,
        task=task,
        importance=importance,
        trust=trust,
        pinned=pinned,
        state=state,
        created_after=created_after,
        created_before=created_before,
        metadata=metadata,
    )
    parameters.add("query", query).add("explain", True if explain else None).add("page_size", min(limit, _PAGE_MAX))
    listing = Listing(get_request("/v1/memories", tuple(parameters.pairs)), "memories", Memory.from_wire)
    page = yield from listing.page(None)
    found = page.items
    while len(found) < limit and page.next_page_token is not None:
        page = yield from listing.page(page.next_page_token)
        found += page.items
    return found[:limit]


def list_memories(
    *,
    order: Optional[str] = None,
    tag: Optional[Strings] = None,
    kind: Optional[Strings] = None,
    agent: Optional[Strings] = None,
    task: Optional[Strings] = None,
    importance: Optional[Strings] = None,
    trust: Optional[Strings] = None,
    pinned: Optional[bool] = None,
    state: Optional[str] = None,
    created_after: Optional[Time] = None,
    created_before: Optional[Time] = None,
    metadata: Optional[Mapping[str, Scalar]] = None,
    page_size: int = 100,
    page_token: Optional[str] = None,
) -> Listing[Memory]:
    """All memories that pass the filters (see `search`), the newest first unless order="oldest".

    They are read page by page as they are used, from page_token on where one is given.
    """
    parameters = _filters(
        tag=tag,
        kind=kind,
        agent=agent,
        task=task,
        importance=importance,
        trust=trust,
        pinned=pinned,
        state=state,
        created_after=created_after,
        created_before=created_before,
        metadata=metadata,
    )
    parameters.add("order", order).add("page_size", page_size)
    request = get_request("/v1/memories", tuple(parameters.pairs))
    return Listing(request, "memories", Memory.from_wire, page_token)
