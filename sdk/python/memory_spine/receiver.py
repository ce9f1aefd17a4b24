"""The receiving side of an agent: take handoffs one by one, in a loop, or with a function.

    for handoff in spine.agent("code-generator").inbox():
        work(handoff.prompt)

WHEN A LOOP SETTLES. A handoff was handled when the loop comes back for the next one: it is acked then, or completed
where the body took a work lease. A loop that is left early is another matter, because Python does not tell an iterator
why: an exception and a `break` look the same to it, and neither can be seen from inside (in Python 3.9 to 3.13). So

    for handoff in agent.inbox():           nacks the handoff in hand, whatever the loop was left by: it comes again.
        …                                   A body that wants to `break` after it has done its work acks first.

    with agent.inbox() as inbox:            is told. An exception nacks the handoff in hand, with the exception as the
        for handoff in inbox:               reason; `break` and `return` ack it.
            …

    agent.run(handle)                       nacks with the exception as the reason, and goes on with the next one.

The first form relies on the iterator being let go when the loop is left. CPython does that at once, asyncio soon after;
elsewhere the garbage collector may take its time, and the handoff comes again after its lease.

What the client stores between taking a handoff and settling it belongs to the handoff's task; see work.py.

While the server cannot be reached the loop waits for it, but for the first time: a wrong address is an error.

What is common to both clients is `Loop`, written once, as steps (see call.py).
"""

from __future__ import annotations

import time
import weakref
from collections.abc import AsyncIterator, Coroutine, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Optional, TypeVar

from . import deliveries, errors, work
from .call import Cancel, Sleep, Steps, acting_as, backoff_s
from .delivery import Taken
from .envelope import Envelope
from .handoffs import envelope as read_envelope
from .received import AsyncReceivedHandoff, ReceivedHandoff, _Received, log

if TYPE_CHECKING:
    from .client import AsyncMemorySpine, MemorySpine

SyncInbox = TypeVar("SyncInbox", bound="Inbox")
OtherInbox = TypeVar("OtherInbox", bound="AsyncInbox")

_WAIT_S = 60.0
_LEFT = "the receiver left its loop without settling this (an exception, or a break)"


def _whole(taken: Taken) -> Steps[Optional[Envelope]]:
    """The envelope of what was taken. An agent that accepts only version 1 got that; the newest form is read then."""
    raw = taken.envelope
    if raw is None:
        return None
    if "envelope_version" in raw:
        return Envelope.from_wire(raw)
    return (yield from read_envelope(taken.envelope_id))


Item = tuple[Taken, Optional[Envelope], float]


def take(agent: str, **options: Any) -> Steps[list[Item]]:
    """What `receive` took, with its envelopes, and the time of time.monotonic() from which the leases count."""
    found = yield from acting_as(agent, deliveries.receive(agent, **options))
    began_at = time.monotonic()
    items: list[Item] = []
    for taken in found:
        try:
            envelope = yield from _whole(taken)
        except (KeyError, TypeError, ValueError) as error:
            raise errors.ProtocolError(f"{taken.id} has an envelope that cannot be read: {error!r}") from error
        items.append((taken, envelope, began_at))
    return items


class Loop:
    """What an inbox goes by: how many to take, how long to wait, and whether it was told to stop."""

    def __init__(
        self,
        agent: str,
        instance: Optional[str],
        max: Optional[int],
        idle_s: Optional[float],
        lease_s: Optional[float],
        work_lease_s: Optional[float],
    ) -> None:
        if max is not None and max < 0:
            raise ValueError(f"max is {max}; it must not be negative")
        self._agent = agent
        self._instance = instance
        self._left = max
        self._idle_s = idle_s
        self._lease_s = lease_s
        self._work_lease_s = work_lease_s
        self._was_reached = False
        self.cancel = Cancel()

    def next(self) -> Steps[Optional[Item]]:
        """Waits for the next handoff. None where the loop is over."""
        idle_at = time.monotonic()
        attempt = 0
        while self._left != 0 and not self.cancel.is_set:
            wait_s = _WAIT_S
            if self._idle_s is not None:
                wait_s = max(0.0, min(wait_s, idle_at + self._idle_s - time.monotonic()))
            try:
                found = yield from take(
                    self._agent,
                    wait_s=wait_s,
                    lease_s=self._lease_s,
                    instance=self._instance,
                    cancel=self.cancel,
                    retry=False,
                )
            except errors.SpineError as error:
                if self.cancel.is_set:
                    return None
                if not self._was_reached or not deliveries.may_recover(error):
                    raise
                if attempt == 0:
                    log.warning("%s waits for the server: %s", self._agent, error)
                yield Sleep(backoff_s(attempt))
                attempt += 1
                continue
            self._was_reached = True
            attempt = 0
            if found:
                self._left = None if self._left is None else self._left - 1
                return found[0]
            if self._idle_s is not None and time.monotonic() >= idle_at + self._idle_s:
                return None
        return None

    def begin(self, handoff: _Received) -> Steps[bool]:
        """Acks with a work lease, where that is wanted. False where the handoff is not this receiver's any more."""
        if self._work_lease_s is None:
            return True
        try:
            yield from handoff._patiently(lambda: handoff._ack(self._work_lease_s, (), None))
        except errors.SpineError as error:
            log.warning("%s was lost before it was begun: %s", handoff.id, error)
            handoff.release()
            return False
        return True

    def succeed(self, handoff: _Received, result: Any = None) -> Steps[None]:
        """Settles what went well. That this fails must not end the loop: the handoff comes again."""
        try:
            yield from handoff._succeed(result)
        except errors.SpineError as error:
            log.warning("%s was handled but could not be settled, and may come again: %s", handoff.id, error)
        finally:
            handoff.release()


class _Stoppable:
    """Has loops, and can end them."""

    def __init__(self) -> None:
        self._loops: weakref.WeakSet[Loop] = weakref.WeakSet()

    def _loop(self, loop: Loop) -> Loop:
        self._loops.add(loop)
        return loop

    def stop(self) -> None:
        """Ends the loops of this receiver, each after the handoff in hand. For threads and signal handlers, too."""
        for loop in list(self._loops):
            loop.cancel.set()


# --- Blocking ------------------------------------------------------------------------------------


class Inbox:
    """The handoffs of an agent, to be looped over; see above. Made by `Receiver.inbox`."""

    def __init__(self, client: MemorySpine, loop: Loop) -> None:
        self._client = client
        self._loop = loop
        self._is_entered = False
        self._in_hand: Optional[ReceivedHandoff] = None
        self._work: Optional[work.Work] = None

    def __iter__(self) -> Iterator[ReceivedHandoff]:
        self._drop(_LEFT)
        while True:
            item = self._client._run(self._loop.next())
            if item is None:
                return
            handoff = ReceivedHandoff(self._client, *item)
            self._in_hand = handoff
            try:
                handoff.keep()
                if not self._client._run(self._loop.begin(handoff)):
                    continue
                self._work = work.begin(self._client, handoff.task)
                yield handoff
            except GeneratorExit:
                if not self._is_entered:
                    self._drop(_LEFT)
                raise
            except BaseException as error:
                self._let_go()
                self._client._run(handoff._fail_with(error))
                raise
            self._let_go()
            self._client._run(self._loop.succeed(handoff))
            del handoff, item

    def _let_go(self) -> Optional[ReceivedHandoff]:
        """Has nothing in hand from now on; what it had."""
        work.end(self._work)
        handoff, self._in_hand = self._in_hand, None
        return handoff

    def _drop(self, reason: str) -> None:
        handoff = self._let_go()
        if handoff is not None:
            self._client._run(handoff._fail(reason))

    def stop(self) -> None:
        """Ends the loop after the handoff in hand. Other threads and signal handlers may call it."""
        self._loop.cancel.set()

    def __enter__(self: SyncInbox) -> SyncInbox:
        self._is_entered = True
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        handoff = self._let_go()
        self._is_entered = False
        if handoff is not None:
            self._client._run(self._loop.succeed(handoff) if error is None else handoff._fail_with(error))


class Receiver(_Stoppable):
    """An agent as a receiver of handoffs. Made by `MemorySpine.agent`; any number of threads may share one."""

    def __init__(self, client: MemorySpine, name: str, instance: Optional[str]) -> None:
        super().__init__()
        self._client = client
        self.name = name
        self.instance = instance

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def receive(self, wait_s: float = 0, max: int = 1, lease_s: Optional[float] = None) -> list[ReceivedHandoff]:
        """Takes up to `max` handoffs, and waits for the first up to wait_s seconds (60 at most) where there is none.

        They are to be settled within lease_s seconds, else they come again; `with handoff:` does that, and renews the
        lease meanwhile.
        """
        steps = take(self.name, wait_s=wait_s, max=max, lease_s=lease_s, instance=self.instance)
        return [ReceivedHandoff(self._client, *item) for item in self._client._run(steps)]

    def inbox(
        self,
        *,
        max: Optional[int] = None,
        idle_s: Optional[float] = None,
        lease_s: Optional[float] = None,
        work_lease_s: Optional[float] = None,
    ) -> Inbox:
        """The handoffs of the agent, to be looped over as they come: acked when the loop comes back for the next one.

        max           ends the loop after that many
        idle_s        ends it when nothing has come for so long; 0: when nothing is waiting
        lease_s       how long the server waits for a sign of life; it is renewed while the body works
        work_lease_s  acks each at once, so that its sender goes on, and completes it when the loop comes back

        What a `break` or an exception does is told at the top of this module, and in the README.
        """
        return Inbox(self._client, self._loop(Loop(self.name, self.instance, max, idle_s, lease_s, work_lease_s)))

    def run(
        self,
        handler: Callable[[ReceivedHandoff], Any],
        *,
        max: Optional[int] = None,
        idle_s: Optional[float] = None,
        lease_s: Optional[float] = None,
        work_lease_s: Optional[float] = None,
        on_error: Optional[Callable[[ReceivedHandoff, Exception], None]] = None,
    ) -> int:
        """Calls `handler` with each handoff, and returns how many there were. The arguments are those of `inbox`.

        What the handler returns completes the handoff; None acks it. An exception nacks it, is given to on_error (else
        logged), and the next one follows. Ctrl-C, and whatever else is no Exception, nacks it and ends this.
        """
        loop = self._loop(Loop(self.name, self.instance, max, idle_s, lease_s, work_lease_s))
        count = 0
        while True:
            item = self._client._run(loop.next())
            if item is None:
                return count
            count += 1
            self._handle(ReceivedHandoff(self._client, *item), loop, handler, on_error)

    def _handle(
        self,
        handoff: ReceivedHandoff,
        loop: Loop,
        handler: Callable[[ReceivedHandoff], Any],
        on_error: Optional[Callable[[ReceivedHandoff, Exception], None]],
    ) -> None:
        try:
            handoff.keep()
            if self._client._run(loop.begin(handoff)):
                in_hand = work.begin(self._client, handoff.task)
                try:
                    result = handler(handoff)
                finally:
                    work.end(in_hand)
                self._client._run(loop.succeed(handoff, result))
        except Exception as error:
            self._client._run(handoff._fail_with(error))
            if on_error is None:
                log.exception("%s to %s failed in its handler", handoff.id, self.name)
            else:
                on_error(handoff, error)
        except BaseException as error:
            self._client._run(handoff._fail_with(error))
            raise


# --- Asynchronous --------------------------------------------------------------------------------


class AsyncInbox:
    """The handoffs of an agent, to be looped over with `async for`; see above. Made by `AsyncReceiver.inbox`."""

    def __init__(self, client: AsyncMemorySpine, loop: Loop) -> None:
        self._client = client
        self._loop = loop
        self._is_entered = False
        self._in_hand: Optional[AsyncReceivedHandoff] = None
        self._work: Optional[work.Work] = None

    async def __aiter__(self) -> AsyncIterator[AsyncReceivedHandoff]:
        await self._drop(_LEFT)
        while True:
            item = await self._client._run(self._loop.next())
            if item is None:
                return
            handoff = AsyncReceivedHandoff(self._client, *item)
            self._in_hand = handoff
            try:
                handoff.keep()
                if not await self._client._run(self._loop.begin(handoff)):
                    continue
                self._work = work.begin(self._client, handoff.task)
                yield handoff
            except GeneratorExit:
                if not self._is_entered:
                    await self._drop(_LEFT)
                raise
            except BaseException as error:
                self._let_go()
                await self._client._run(handoff._fail_with(error))
                raise
            self._let_go()
            await self._client._run(self._loop.succeed(handoff))
            del handoff, item

    def _let_go(self) -> Optional[AsyncReceivedHandoff]:
        """Has nothing in hand from now on; what it had."""
        work.end(self._work)
        handoff, self._in_hand = self._in_hand, None
        return handoff

    async def _drop(self, reason: str) -> None:
        handoff = self._let_go()
        if handoff is not None:
            await self._client._run(handoff._fail(reason))

    def stop(self) -> None:
        """Ends the loop after the handoff in hand. For the event loop's own thread."""
        self._loop.cancel.set()

    async def __aenter__(self: OtherInbox) -> OtherInbox:
        self._is_entered = True
        return self

    async def __aexit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        handoff = self._let_go()
        self._is_entered = False
        if handoff is not None:
            await self._client._run(self._loop.succeed(handoff) if error is None else handoff._fail_with(error))


class AsyncReceiver(_Stoppable):
    """An agent as a receiver of handoffs. Made by `AsyncMemorySpine.agent`."""

    def __init__(self, client: AsyncMemorySpine, name: str, instance: Optional[str]) -> None:
        super().__init__()
        self._client = client
        self.name = name
        self.instance = instance

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    async def receive(
        self, wait_s: float = 0, max: int = 1, lease_s: Optional[float] = None
    ) -> list[AsyncReceivedHandoff]:
        """Takes up to `max` handoffs, and waits for the first up to wait_s seconds (60 at most) where there is none.

        They are to be settled within lease_s seconds, else they come again; `async with handoff:` does that, and renews
        the lease meanwhile.
        """
        steps = take(self.name, wait_s=wait_s, max=max, lease_s=lease_s, instance=self.instance)
        return [AsyncReceivedHandoff(self._client, *item) for item in await self._client._run(steps)]

    def inbox(
        self,
        *,
        max: Optional[int] = None,
        idle_s: Optional[float] = None,
        lease_s: Optional[float] = None,
        work_lease_s: Optional[float] = None,
    ) -> AsyncInbox:
        """The handoffs of the agent, to be looped over as they come: acked when the loop comes back for the next one.

        The arguments are those of `Receiver.inbox`.
        """
        return AsyncInbox(self._client, self._loop(Loop(self.name, self.instance, max, idle_s, lease_s, work_lease_s)))

    async def run(
        self,
        handler: Callable[[AsyncReceivedHandoff], Coroutine[Any, Any, Any]],
        *,
        max: Optional[int] = None,
        idle_s: Optional[float] = None,
        lease_s: Optional[float] = None,
        work_lease_s: Optional[float] = None,
        on_error: Optional[Callable[[AsyncReceivedHandoff, Exception], None]] = None,
    ) -> int:
        """Awaits `handler` with each handoff, and returns how many there were. See `Receiver.run`.

        A task that is cancelled meanwhile nacks the handoff in hand.
        """
        loop = self._loop(Loop(self.name, self.instance, max, idle_s, lease_s, work_lease_s))
        count = 0
        while True:
            item = await self._client._run(loop.next())
            if item is None:
                return count
            count += 1
            await self._handle(AsyncReceivedHandoff(self._client, *item), loop, handler, on_error)

    async def _handle(
        self,
        handoff: AsyncReceivedHandoff,
        loop: Loop,
        handler: Callable[[AsyncReceivedHandoff], Coroutine[Any, Any, Any]],
        on_error: Optional[Callable[[AsyncReceivedHandoff, Exception], None]],
    ) -> None:
        try:
            handoff.keep()
            if await self._client._run(loop.begin(handoff)):
                in_hand = work.begin(self._client, handoff.task)
                try:
                    result = await handler(handoff)
                finally:
                    work.end(in_hand)
                await self._client._run(loop.succeed(handoff, result))
        except Exception as error:
            await self._client._run(handoff._fail_with(error))
            if on_error is None:
                log.exception("%s to %s failed in its handler", handoff.id, self.name)
            else:
                on_error(handoff, error)
        except BaseException as error:
            await self._client._run(handoff._fail_with(error))
            raise
