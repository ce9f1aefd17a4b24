"""What a client is working on: the task that goes with what it stores.

A loop or a handler that has a handoff in hand says so here, and every `store` of its client carries the handoff's task
(the header Spine-Task), wherever in the work it is called: what was said is part of the context (contextvars), which
tasks of asyncio inherit, and `asyncio.to_thread`. A plain thread begins without one: `handoff.store` works there, too.

A context cannot be left from outside, and a loop may be ended by another task than the one that ran it. So the entry
itself says whether it is over.
"""

from __future__ import annotations

import weakref
from contextvars import ContextVar
from typing import Optional


class Work:
    """A handoff in hand. Neither the client nor the handoff is kept alive by it."""

    def __init__(self, client: object, task: str) -> None:
        self._client = weakref.ref(client)
        self.task = task
        self.is_over = False

    def is_of(self, client: object) -> bool:
        return not self.is_over and self._client() is client

    def end(self) -> None:
        self.is_over = True


_in_hand: ContextVar[tuple[Work, ...]] = ContextVar("memory_spine_in_hand", default=())


def begin(client: object, task: Optional[str]) -> Optional[Work]:
    """From here on the client works on the task, in this context, until the work is ended. None where there is none."""
    if task is None:
        return None
    work = Work(client, task)
    _in_hand.set((*(one for one in _in_hand.get() if not one.is_over), work))
    return work


def end(work: Optional[Work]) -> None:
    if work is not None:
        work.end()


def task_of(client: object) -> Optional[str]:
    """The task of what the client has in hand here; of several, of what was begun last."""
    return next((work.task for work in reversed(_in_hand.get()) if work.is_of(client)), None)
