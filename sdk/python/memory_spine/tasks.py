"""The calls on tasks: their handoffs, and what these kept. Each is written once, as steps (see call.py)."""

from __future__ import annotations

from urllib.parse import quote

from .call import Listing, Steps, get
from .delivery import Trace
from .models import Blame, Fidelity, Task, TaskEntry
from .wire import Query


def _path(id: str, verb: str = "") -> str:
    if not isinstance(id, str):
        raise TypeError(f"a task's id is a text such as 'task-17', not {id!r}")
    if not id:
        raise ValueError("a task's id must not be empty")
    return f"/v1/tasks/{quote(id, safe='')}{verb}"


def task(id: str) -> Steps[Task]:
    """A task: what the user wanted, and its handoffs from the first to the newest."""
    response = yield get(_path(id))
    return response.read(Task.from_wire)


def tasks(*, page_size: int = 100) -> Listing[TaskEntry]:
    """All tasks of the space, the newest first, read page by page as they are used."""
    query = Query().add("page_size", page_size)
    return Listing(get("/v1/tasks", tuple(query.pairs)), "tasks", TaskEntry.from_wire)


def fidelity(task: str) -> Steps[Fidelity]:
    """What each handoff of a task kept of the one before it, and what the newest has of the first."""
    response = yield get(_path(task, "/fidelity"))
    return response.read(Fidelity.from_wire)


def blame(task: str, key: str) -> Steps[Blame]:
    """Where a constraint, a memory ("ms-4821"), an open decision or "intent" came in, and where it was lost."""
    response = yield get(_path(task, "/blame"), (("key", key),))
    return response.read(Blame.from_wire)


def trace(task: str) -> Steps[Trace]:
    """All that happened to a task: envelopes, their deliveries and the events, each in the order of time."""
    response = yield get(_path(task, "/trace"))
    return response.read(Trace.from_wire)
