"""The receiving side of an agent: take handoffs one by one, in a loop (inbox.py), or with a function (crew.py)."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Optional

from .crew import AsyncCrew, AsyncHandler, AsyncOnError, Crew, Handler, OnError
from .deliveries import peek
from .delivery import Delivery
from .ending import GRACE_S, finishing, finishing_async
from .inbox import AsyncInbox, Inbox
from .loop import Loop, take
from .received import AsyncReceivedHandoff, ReceivedHandoff

if TYPE_CHECKING:
    from .client import AsyncMemorySpine, MemorySpine


def _either(limit: Optional[int], max: Optional[int]) -> Optional[int]:
    """`max` is the older name of `limit`."""
    if limit is not None and max is not None:
        raise TypeError("limit and max are the same: give one of them")
    return max if limit is None else limit


class _Stoppable:
    """Has loops, and can end them."""

    def __init__(self, name: str, instance: Optional[str], patience_s: float) -> None:
        self.name = name
        self.instance = instance
        self._patience_s = patience_s
        self._loops: weakref.WeakSet[Loop] = weakref.WeakSet()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def _loop(
        self,
        limit: Optional[int],
        max: Optional[int],
        idle_s: Optional[float],
        lease_s: Optional[float],
        work_lease_s: Optional[float],
    ) -> Loop:
        loop = Loop(
            self.name,
            self.instance,
            limit=limit,
            max=max,
            idle_s=idle_s,
            lease_s=lease_s,
            work_lease_s=work_lease_s,
            patience_s=self._patience_s,
        )
        self._loops.add(loop)
        return loop

    def stop(self) -> None:
        """Ends the loops of this receiver, each after the handoff in hand. For threads and signal handlers, too."""
        for loop in list(self._loops):
            loop.cancel.set()


# --- Blocking ------------------------------------------------------------------------------------


class Receiver(_Stoppable):
    """An agent as a receiver of handoffs. Made by `MemorySpine.agent`; any number of threads may share one."""

    def __init__(self, client: MemorySpine, name: str, instance: Optional[str]) -> None:
        super().__init__(name, instance, 0.0 if client.retries == 0 else client.timeout)
        self._client = client

    def receive(
        self,
        wait_s: float = 0,
        limit: Optional[int] = None,
        lease_s: Optional[float] = None,
        *,
        max: Optional[int] = None,
    ) -> list[ReceivedHandoff]:
        """Takes up to `limit` handoffs (1), and waits for the first up to wait_s seconds (60 at most) where there is
        none.

        They are to be settled within lease_s seconds, else they come again; `with handoff:` does that, and renews the
        lease meanwhile. `max` is the older name of `limit`.
        """
        wanted = _either(limit, max)
        steps = take(
            self.name, wait_s=wait_s, limit=1 if wanted is None else wanted, lease_s=lease_s, instance=self.instance
        )
        return [ReceivedHandoff(self._client, *item) for item in self._client._run(steps)]

    def peek(self, wait_s: float = 0) -> Optional[Delivery]:
        """The handoff that `receive` would give next, or None; waits for it up to wait_s seconds (60 at most).

        Nothing is taken, no attempt is used, and the agent does not count as seen. Another receiver may be faster.
        """
        return self._client._run(peek(self.name, wait_s=wait_s))

    def inbox(
        self,
        *,
        limit: Optional[int] = None,
        idle_s: Optional[float] = None,
        lease_s: Optional[float] = None,
        work_lease_s: Optional[float] = None,
        max: Optional[int] = None,
    ) -> Inbox:
        """The handoffs of the agent, to be looped over as they come: acked when the loop comes back for the next one.

        limit         ends the loop after that many
        idle_s        ends it when nothing has come for so long; 0: when nothing is waiting
        lease_s       how long the server waits for a sign of life; it is renewed while the body works
        work_lease_s  acks each at once, so that its sender goes on, and completes it when the loop comes back
        max           the older name of `limit`

        What a `break` or an exception does is told in the README and in inbox.py.
        """
        return Inbox(self._client, self._loop(None, _either(limit, max), idle_s, lease_s, work_lease_s))

    def run(
        self,
        handler: Handler,
        *,
        limit: Optional[int] = None,
        concurrency: int = 1,
        idle_s: Optional[float] = None,
        lease_s: Optional[float] = None,
        work_lease_s: Optional[float] = None,
        on_error: Optional[OnError] = None,
        grace_s: float = GRACE_S,
        max: Optional[int] = None,
    ) -> int:
        """Calls `handler` with each handoff as it comes, and returns how many went well.

        limit         ends it when so many went well; what failed comes again and does not count
        concurrency   how many handlers work at once, each in a thread of its own; 1: in this thread
        idle_s        ends it when nothing has come for so long; 0: when nothing is waiting
        lease_s       how long the server waits for a sign of life; it is renewed while the handler works
        work_lease_s  acks each at once, so that its sender goes on, and completes it when the handler returns
        on_error      is called with the handoff and the exception of a handler that failed; else that is logged
        grace_s       how long handlers may go on after SIGTERM, before their handoffs are released
        max           ends it after so many, whether they went well or not

        What the handler returns completes the handoff; None acks it. An exception nacks it, with its kind and text as
        the reason, and the next one follows.

        SIGTERM takes nothing more, finishes what is in hand and raises SystemExit; Ctrl-C gives back what is in hand at
        once. See ending.py.
        """
        loop = self._loop(limit, max, idle_s, lease_s, work_lease_s)
        crew = Crew(self._client, loop, handler, on_error, concurrency)
        with finishing(loop, grace_s):
            return crew.run()


# --- Asynchronous --------------------------------------------------------------------------------


class AsyncReceiver(_Stoppable):
    """An agent as a receiver of handoffs. Made by `AsyncMemorySpine.agent`."""

    def __init__(self, client: AsyncMemorySpine, name: str, instance: Optional[str]) -> None:
        super().__init__(name, instance, 0.0 if client.retries == 0 else client.timeout)
        self._client = client

    async def receive(
        self,
        wait_s: float = 0,
        limit: Optional[int] = None,
        lease_s: Optional[float] = None,
        *,
        max: Optional[int] = None,
    ) -> list[AsyncReceivedHandoff]:
        """Takes up to `limit` handoffs (1), and waits for the first up to wait_s seconds (60 at most) where there is
        none.

        They are to be settled within lease_s seconds, else they come again; `async with handoff:` does that, and renews
        the lease meanwhile. `max` is the older name of `limit`.
        """
        wanted = _either(limit, max)
        steps = take(
            self.name, wait_s=wait_s, limit=1 if wanted is None else wanted, lease_s=lease_s, instance=self.instance
        )
        return [AsyncReceivedHandoff(self._client, *item) for item in await self._client._run(steps)]

    async def peek(self, wait_s: float = 0) -> Optional[Delivery]:
        """The handoff that `receive` would give next, or None; waits for it up to wait_s seconds (60 at most).

        Nothing is taken, no attempt is used, and the agent does not count as seen. Another receiver may be faster.
        """
        return await self._client._run(peek(self.name, wait_s=wait_s))

    def inbox(
        self,
        *,
        limit: Optional[int] = None,
        idle_s: Optional[float] = None,
        lease_s: Optional[float] = None,
        work_lease_s: Optional[float] = None,
        max: Optional[int] = None,
    ) -> AsyncInbox:
        """The handoffs of the agent, to be looped over as they come: acked when the loop comes back for the next one.

        The arguments are those of `Receiver.inbox`.
        """
        return AsyncInbox(self._client, self._loop(None, _either(limit, max), idle_s, lease_s, work_lease_s))

    async def run(
        self,
        handler: AsyncHandler,
        *,
        limit: Optional[int] = None,
        concurrency: int = 1,
        idle_s: Optional[float] = None,
        lease_s: Optional[float] = None,
        work_lease_s: Optional[float] = None,
        on_error: Optional[AsyncOnError] = None,
        grace_s: float = GRACE_S,
        max: Optional[int] = None,
    ) -> int:
        """Calls `handler` with each handoff as it comes, awaits what it returns, and returns how many went well. The
        arguments are those of `Receiver.run`.

        With concurrency=N up to N handlers are awaited at once, each in a task of its own. A task that is cancelled
        meanwhile gives back what is in hand at once.
        """
        loop = self._loop(limit, max, idle_s, lease_s, work_lease_s)
        crew = AsyncCrew(self._client, loop, handler, on_error, concurrency)
        async with finishing_async(loop, grace_s):
            return await crew.run()
        raise AssertionError("not reached")  # mypy does not know what the block does with exceptions
