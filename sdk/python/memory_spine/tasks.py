"""The calls on tasks: their handoffs, and what these kept. Each is written once, as steps (see call.py)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Callable, List, Mapping, Optional, Tuple, TypeVar
from urllib.parse import quote

from .board import Waiver
from .call import Listing, Steps, get, post_once
from .delivery import Trace
from .models import Blame, Fidelity, Task, TaskEntry
from .wire import Query, Time, header_value


T = TypeVar("T")


def _path(id: str, verb: str = "") -> str:
    if not isinstance(id, str):
        raise TypeError(f"a task's id is a text such as 'task-17', not {id!r}")
    if not id:
        raise ValueError("a task's id must not be empty")
    return f"/v1/tasks/{quote(id, safe='')}{verb}"


def _whole(path: str, lists: Tuple[str, ...], parse: Callable[[Mapping[str, Any]], T]) -> Steps[T]:
    """An answer whose lists come in pages, read to the last one."""
    pages: List[Mapping[str, Any]] = []
    token: Optional[str] = None
    while token is not None or not pages:
        response = yield get(path, (("page_token", token),) if token is not None else ())
        pages.append(response.read(dict))
        token = pages[-1].get("next_page_token")
    if len(pages) > 1:
        joined = {name: [item for page in pages for item in page[name]] for name in lists}
        return response.read(lambda last: parse({**last, **joined}))
    return response.read(parse)


def _number(event: Mapping[str, Any]) -> int:
    number: int = event["id"]
    return number


def _in_order(answer: Mapping[str, Any]) -> Trace:
    """Each page of a trace is in order; together they are by the events' numbers."""
    return Trace.from_wire({**answer, "events": sorted(answer["events"], key=_number)})


def task(id: str) -> Steps[Task]:
    """A task: what the user wanted, and its handoffs from the first to the newest."""
    return (yield from _whole(_path(id), ("envelopes",), Task.from_wire))


def tasks(
    *,
    state: Optional[str] = None,
    agent: Optional[str] = None,
    query: Optional[str] = None,
    older_than_s: Optional[float] = None,
    changed_since: Optional[Time] = None,
    page_size: int = 100,
) -> Listing[TaskEntry]:
    """The tasks of the space that pass the filters, the newest change first, read page by page as they are used."""
    asked = Query().add("state", state).add("agent", agent).add("query", query).add("older_than_s", older_than_s)
    asked.add_time("changed_since", changed_since).add("page_size", page_size)
    return Listing(get("/v1/tasks", tuple(asked.pairs)), "tasks", TaskEntry.from_wire)


def fidelity(task: str) -> Steps[Fidelity]:
    """What each handoff of a task kept of the one before it, and what the newest has of the first."""
    return (yield from _whole(_path(task, "/fidelity"), ("hops",), Fidelity.from_wire))


def blame(task: str, key: str) -> Steps[Blame]:
    """Where a constraint, a memory ("ms-4821"), an open decision or "intent" came in, and where it was lost."""
    response = yield get(_path(task, "/blame"), (("key", key),))
    return response.read(Blame.from_wire)


def waive(task: str, key: str, reason: str, *, by: str, idempotency_key: Optional[str] = None) -> Steps[Waiver]:
    """A person waives a constraint for a task, locked or not. It is for programs that act for a person, such as a form
    in which she decides; agents waive with `pack(waive=…)`.

    key     the constraint, as it is spelled in the envelopes of the task
    reason  why it no longer holds; somebody will ask
    by      who says so. Nobody checks it, and what is recorded says that (`unauthenticated`)

    The next envelope of each line of the task goes without it; envelopes that are there stay as they are.
    """
    request = post_once(_path(task, "/waive"), {"key": key, "reason": reason}, idempotency_key)
    person = ("Spine-Person", header_value("by", by))
    response = yield replace(request, headers=(*request.headers, person))
    return response.read(Waiver.from_wire)


def trace(task: str) -> Steps[Trace]:
    """All that happened to a task: envelopes, their deliveries and the events, each in the order of time."""
    return (yield from _whole(_path(task, "/trace"), ("envelopes", "handoffs", "events"), _in_order))
