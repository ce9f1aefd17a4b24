"""The handoffs of an agent as something to loop over, and what becomes of the one in hand when the loop is left.

    for handoff in spine.agent("code-generator").inbox():
        work(handoff.prompt)

WHEN A LOOP SETTLES. A handoff was handled when the loop comes back for the next one: it is acked then, or completed
where the body took a work lease. A loop that is left early is another matter, because Python does not tell an iterator
why: an exception and a `break` look the same to it. So

    for handoff in agent.inbox():           nacks the handoff in hand, whatever the loop was left by: it comes again.
        …                                   The reason is the exception, where that ends the program, the thread or the
                                            task; else the line where the loop was left (see left.py). A body that wants
                                            to `break` after it has done its work settles first.

    for handoff in agent.inbox():           is told: an exception nacks the handoff, with the exception as the reason.
        with handoff:
            …

    with agent.inbox() as inbox:            is told, too; `break` and `return` ack the handoff in hand.
        for handoff in inbox:
            …

    agent.run(handle)                       nacks with the exception as the reason, and goes on with the next one.

What is no Exception (Ctrl-C, a cancelled task, SIGTERM) is no failure of the work: the handoff is released, which uses no
attempt.

The first form relies on the iterator being let go when the loop is left. CPython does that at once, asyncio soon after;
elsewhere the garbage collector may take its time, and the handoff comes again after its lease.

What the client stores between taking a handoff and settling it belongs to the handoff's task; see work.py.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import AsyncIterator, Iterator
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Optional, TypeVar

from . import left, work
from .crew import GIVE_BACK_S
from .loop import Loop
from .received import AsyncReceivedHandoff, ReceivedHandoff

if TYPE_CHECKING:
    from .client import AsyncMemorySpine, MemorySpine

SyncInbox = TypeVar("SyncInbox", bound="Inbox")
OtherInbox = TypeVar("OtherInbox", bound="AsyncInbox")


class Inbox:
    """The handoffs of an agent, to be looped over; see above. Made by `Receiver.inbox`."""

    def __init__(self, client: MemorySpine, loop: Loop) -> None:
        self._client = client
        self._loop = loop
        self._is_entered = False
        self._in_hand: Optional[ReceivedHandoff] = None
        self._work: Optional[work.Work] = None

    def __iter__(self) -> Iterator[ReceivedHandoff]:
        self._drop(left.unknown())
        handoff: Optional[ReceivedHandoff] = None
        while True:
            if handoff is None:
                items = self._client._run(self._loop.next())
                if not items:
                    return
                handoff = ReceivedHandoff(self._client, *items.pop())
            handoff._loop = self._loop
            self._in_hand = handoff
            try:
                handoff.keep()
                is_mine = self._client._run(self._loop.begin(handoff))
                if is_mine:
                    self._work = work.begin(self._client, handoff.task)
                    yield handoff
            except GeneratorExit:
                if not self._is_entered:
                    self._leave(sys._getframe(1))
                raise
            except BaseException as error:
                self._fail_with(error)
                raise
            self._let_go()
            if is_mine:
                self._client._run(self._loop.succeed(handoff))
            self._loop.ended(handoff)
            handoff = self._following(handoff)

    @staticmethod
    def _following(handoff: ReceivedHandoff) -> Optional[ReceivedHandoff]:
        following, handoff._following = handoff._following, None
        assert following is None or isinstance(following, ReceivedHandoff)
        return following

    def _let_go(self) -> Optional[ReceivedHandoff]:
        """Has nothing in hand from now on; what it had."""
        work.end(self._work)
        handoff, self._in_hand = self._in_hand, None
        return handoff

    def _end(self, handoff: ReceivedHandoff) -> None:
        """The loop was left with this in hand: what was taken on the way is not begun any more."""
        self._loop.ended(handoff)
        following = self._following(handoff)
        if following is not None:
            self._client._run(following._give_back(), GIVE_BACK_S)
            self._loop.ended(following)

    def _leave(self, frame: FrameType) -> None:
        """The loop in that frame was left, nobody knows why, yet."""
        handoff = self._let_go()
        if handoff is not None:
            left.note(left.Left(self._client, frame, functools.partial(self._settle_left, handoff)))

    def _settle_left(self, handoff: ReceivedHandoff, error: Optional[BaseException], reason: str) -> None:
        if error is None:
            self._give_back(handoff, reason)
        else:
            self._fail(handoff, error)

    def _give_back(self, handoff: ReceivedHandoff, reason: str) -> None:
        self._client._run(handoff._fail(reason))
        self._end(handoff)

    def _fail(self, handoff: ReceivedHandoff, error: BaseException) -> None:
        timeout = None if isinstance(error, Exception) else GIVE_BACK_S
        self._client._run(handoff._fail_with(error), timeout)
        self._end(handoff)

    def _drop(self, reason: str) -> None:
        handoff = self._let_go()
        if handoff is not None:
            self._give_back(handoff, reason)

    def _fail_with(self, error: BaseException) -> None:
        handoff = self._let_go()
        if handoff is not None:
            self._fail(handoff, error)

    def stop(self) -> None:
        """Ends the loop after the handoff in hand. Other threads and signal handlers may call it."""
        self._loop.cancel.set()

    def __enter__(self: SyncInbox) -> SyncInbox:
        self._is_entered = True
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self._is_entered = False
        if error is not None:
            self._fail_with(error)
            return
        handoff = self._let_go()
        if handoff is not None:
            handoff._loop = None  # nothing more is taken
            self._client._run(self._loop.succeed(handoff))
            self._end(handoff)


class AsyncInbox:
    """The handoffs of an agent, to be looped over with `async for`; see above. Made by `AsyncReceiver.inbox`."""

    def __init__(self, client: AsyncMemorySpine, loop: Loop) -> None:
        self._client = client
        self._loop = loop
        self._is_entered = False
        self._in_hand: Optional[AsyncReceivedHandoff] = None
        self._work: Optional[work.Work] = None
        self._caller: Optional[left.Caller] = None
        client._inboxes.add(self)

    async def __aiter__(self) -> AsyncIterator[AsyncReceivedHandoff]:
        await self._drop(left.unknown())
        self._caller = left.Caller()
        handoff: Optional[AsyncReceivedHandoff] = None
        while True:
            if handoff is None:
                items = await self._client._run(self._loop.next())
                if not items:
                    return
                handoff = AsyncReceivedHandoff(self._client, *items.pop())
            handoff._loop = self._loop
            self._in_hand = handoff
            try:
                handoff.keep()
                is_mine = await self._client._run(self._loop.begin(handoff))
                if is_mine:
                    self._work = work.begin(self._client, handoff.task)
                    yield handoff
            except GeneratorExit:
                if not self._is_entered:
                    await self._leave(self._caller.error())
                raise
            except BaseException as error:
                # asyncio.run cancels the closing of a loop whose task has ended: why it ended is the reason.
                await self._fail_with(self._caller.error() or error)
                raise
            self._let_go()
            if is_mine:
                await self._client._run(self._loop.succeed(handoff))
            self._loop.ended(handoff)
            handoff = self._following(handoff)

    @staticmethod
    def _following(handoff: AsyncReceivedHandoff) -> Optional[AsyncReceivedHandoff]:
        following, handoff._following = handoff._following, None
        assert following is None or isinstance(following, AsyncReceivedHandoff)
        return following

    def _let_go(self) -> Optional[AsyncReceivedHandoff]:
        """Has nothing in hand from now on; what it had."""
        work.end(self._work)
        handoff, self._in_hand = self._in_hand, None
        return handoff

    async def _end(self, handoff: AsyncReceivedHandoff) -> None:
        """The loop was left with this in hand: what was taken on the way is not begun any more."""
        self._loop.ended(handoff)
        following = self._following(handoff)
        if following is not None:
            await self._client._run(following._give_back(), GIVE_BACK_S)
            self._loop.ended(following)

    async def _leave(self, error: Optional[BaseException]) -> None:
        """The loop was left, by that exception where it is known. Also called by a client that is closed."""
        if error is not None and self._caller is not None and self._caller.is_by(error):
            await self._fail_with(error)
        else:
            await self._drop(left.unknown())

    async def _give_back(self, handoff: AsyncReceivedHandoff, reason: str) -> None:
        await self._client._run(handoff._fail(reason))
        await self._end(handoff)

    async def _fail(self, handoff: AsyncReceivedHandoff, error: BaseException) -> None:
        timeout = None if isinstance(error, Exception) else GIVE_BACK_S
        await self._client._run(handoff._fail_with(error), timeout)
        await self._end(handoff)

    async def _drop(self, reason: str) -> None:
        handoff = self._let_go()
        if handoff is not None:
            await self._give_back(handoff, reason)

    async def _fail_with(self, error: BaseException) -> None:
        handoff = self._let_go()
        if handoff is not None:
            await self._fail(handoff, error)

    def stop(self) -> None:
        """Ends the loop after the handoff in hand. For the event loop's own thread."""
        self._loop.cancel.set()

    async def __aenter__(self: OtherInbox) -> OtherInbox:
        self._is_entered = True
        return self

    async def __aexit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self._is_entered = False
        if error is not None:
            await self._fail_with(error)
            return
        handoff = self._let_go()
        if handoff is not None:
            handoff._loop = None  # nothing more is taken
            await self._client._run(self._loop.succeed(handoff))
            await self._end(handoff)
