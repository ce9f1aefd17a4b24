"""Handlers at work: one after another where `run` was called, or several at once, in threads or tasks of their own.

SEVERAL AT ONCE. One call at a time waits for new handoffs, for as many as there are free hands; whoever has finished one
settles it and takes the next that is ready in the same call. So a hundred handlers hold one waiting connection, not a
hundred.

LEAVING. An exception of a handler is the end of its handoff, not of the loop. Whatever is no Exception (Ctrl-C, a
cancelled task) ends the loop: what is in hand is given back at once, also where a thread is still at it, which nothing
can interrupt; what it returns later is dropped.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from typing import TYPE_CHECKING, Any, Callable, Optional

from . import work
from .call import log
from .loop import Loop
from .received import AsyncReceivedHandoff, ReceivedHandoff

if TYPE_CHECKING:
    from .client import AsyncMemorySpine, MemorySpine

Handler = Callable[[ReceivedHandoff], Any]
OnError = Callable[[ReceivedHandoff, Exception], None]
AsyncHandler = Callable[[AsyncReceivedHandoff], Any]
AsyncOnError = Callable[[AsyncReceivedHandoff, Exception], None]

# How long giving back may take on the way out: a server that is gone must not hold up the end of a process.
GIVE_BACK_S = 5.0


def check_concurrency(concurrency: int) -> None:
    if concurrency < 1:
        raise ValueError(f"concurrency is {concurrency}; it must be at least 1")


def _tell(handoff: object, error: Exception, on_error: Optional[Callable[[Any, Exception], None]]) -> None:
    if on_error is not None:
        on_error(handoff, error)
    elif isinstance(handoff, (ReceivedHandoff, AsyncReceivedHandoff)):
        log.error("%s to %s failed in its handler", handoff.id, handoff.to_agent, exc_info=error)


class Crew:
    """The hands of a blocking `run`."""

    def __init__(
        self, client: MemorySpine, loop: Loop, handler: Handler, on_error: Optional[OnError], concurrency: int
    ) -> None:
        check_concurrency(concurrency)
        if inspect.iscoroutinefunction(handler):
            raise TypeError("the handler is asynchronous: use the run of an AsyncMemorySpine")
        self._client = client
        self._loop = loop
        self._handler = handler
        self._on_error = on_error
        self._concurrency = concurrency
        self._context = contextvars.copy_context()
        self._changed = threading.Condition()
        self._busy: dict[threading.Thread, ReceivedHandoff] = {}
        self._error: Optional[BaseException] = None

    def run(self) -> int:
        if self._concurrency == 1:
            self._run_one_by_one()
        else:
            self._run_together()
        return self._loop.done

    def _run_one_by_one(self) -> None:
        following: Optional[ReceivedHandoff] = None
        while True:
            if following is None:
                items = self._client._run(self._loop.next())
                if not items:
                    return
                following = ReceivedHandoff(self._client, *items[0])
            following = self._handle(following)

    # --- One handoff -----------------------------------------------------------------------------

    def _handle(self, handoff: ReceivedHandoff) -> Optional[ReceivedHandoff]:
        """Returns the next one, where it was taken on the way."""
        handoff._loop = self._loop
        try:
            self._work_on(handoff)
            following, handoff._following = handoff._following, None
            assert following is None or isinstance(following, ReceivedHandoff)
            return following
        except BaseException:
            self._drop_following(handoff)
            raise
        finally:
            self._loop.ended(handoff)

    def _work_on(self, handoff: ReceivedHandoff) -> None:
        try:
            handoff.keep()
            if self._client._run(self._loop.begin(handoff)):
                in_hand = work.begin(self._client, handoff.task)
                try:
                    result = self._handler(handoff)
                finally:
                    work.end(in_hand)
                self._client._run(self._loop.succeed(handoff, result))
        except Exception as error:
            self._client._run(handoff._fail_with(error))
            _tell(handoff, error, self._on_error)
        except BaseException as error:
            self._client._run(handoff._fail_with(error), GIVE_BACK_S)
            raise

    def _drop_following(self, handoff: ReceivedHandoff) -> None:
        following, handoff._following = handoff._following, None
        if following is not None:
            self._client._run(following._give_back(), GIVE_BACK_S)
            self._loop.ended(following)

    # --- Several at once -------------------------------------------------------------------------

    def _run_together(self) -> None:
        try:
            while True:
                free = self._wait_for_hands()
                items = self._client._run(self._loop.next(free))
                if items is None:
                    break
                for item in items:
                    self._start(ReceivedHandoff(self._client, *item))
            with self._changed:
                self._changed.wait_for(lambda: not self._busy)
        except BaseException as error:
            self._loop.cancel.set()
            with self._changed:
                left = list(self._busy.values())
            for handoff in left:
                self._client._run(handoff._fail_with(error), GIVE_BACK_S)
            raise
        if self._error is not None:
            raise self._error

    def _wait_for_hands(self) -> int:
        """How many hands are free, when there is something for them to do."""
        with self._changed:
            self._changed.wait_for(
                lambda: not self._busy or (len(self._busy) < self._concurrency and self._loop.room() > 0)
            )
            return self._concurrency - len(self._busy)

    def _start(self, handoff: ReceivedHandoff) -> None:
        # A daemon: on the way out of the process nobody waits for a handler whose handoff was given back.
        thread = threading.Thread(target=self._work, args=(handoff,), name=f"memory-spine-{handoff.id}", daemon=True)
        handoff.keep()
        with self._changed:
            self._busy[thread] = handoff
        thread.start()

    def _work(self, handoff: ReceivedHandoff) -> None:
        thread = threading.current_thread()
        following: Optional[ReceivedHandoff] = handoff
        try:
            while following is not None:
                with self._changed:
                    self._busy[thread] = following
                following = self._context.copy().run(self._handle, following)
        except BaseException as error:
            self._error = self._error or error
            self._loop.cancel.set()
        finally:
            with self._changed:
                del self._busy[thread]
                self._changed.notify_all()


class AsyncCrew:
    """The hands of an asynchronous `run`."""

    def __init__(
        self,
        client: AsyncMemorySpine,
        loop: Loop,
        handler: AsyncHandler,
        on_error: Optional[AsyncOnError],
        concurrency: int,
    ) -> None:
        check_concurrency(concurrency)
        self._client = client
        self._loop = loop
        self._handler = handler
        self._on_error = on_error
        self._concurrency = concurrency
        self._busy: set[asyncio.Task[None]] = set()

    async def run(self) -> int:
        if self._concurrency == 1:
            await self._run_one_by_one()
        else:
            await self._run_together()
        return self._loop.done

    async def _run_one_by_one(self) -> None:
        following: Optional[AsyncReceivedHandoff] = None
        while True:
            if following is None:
                items = await self._client._run(self._loop.next())
                if not items:
                    return
                following = AsyncReceivedHandoff(self._client, *items[0])
            following = await self._handle(following)

    # --- One handoff -----------------------------------------------------------------------------

    async def _handle(self, handoff: AsyncReceivedHandoff) -> Optional[AsyncReceivedHandoff]:
        """Returns the next one, where it was taken on the way."""
        handoff._loop = self._loop
        try:
            await self._work_on(handoff)
            following, handoff._following = handoff._following, None
            assert following is None or isinstance(following, AsyncReceivedHandoff)
            return following
        except BaseException:
            await self._drop_following(handoff)
            raise
        finally:
            self._loop.ended(handoff)

    async def _work_on(self, handoff: AsyncReceivedHandoff) -> None:
        try:
            handoff.keep()
            if await self._client._run(self._loop.begin(handoff)):
                in_hand = work.begin(self._client, handoff.task)
                try:
                    result = self._handler(handoff)
                    if inspect.isawaitable(result):
                        result = await result
                finally:
                    work.end(in_hand)
                await self._client._run(self._loop.succeed(handoff, result))
        except Exception as error:
            await self._client._run(handoff._fail_with(error))
            _tell(handoff, error, self._on_error)
        except BaseException as error:
            await self._client._run(handoff._fail_with(error), GIVE_BACK_S)
            raise

    async def _drop_following(self, handoff: AsyncReceivedHandoff) -> None:
        following, handoff._following = handoff._following, None
        if following is not None:
            await self._client._run(following._give_back(), GIVE_BACK_S)
            self._loop.ended(following)

    # --- Several at once -------------------------------------------------------------------------

    async def _run_together(self) -> None:
        try:
            while True:
                await self._wait_for_hands()
                items = await self._client._run(self._loop.next(self._concurrency - len(self._busy)))
                if items is None:
                    break
                for item in items:
                    self._start(AsyncReceivedHandoff(self._client, *item))
            await asyncio.gather(*self._busy)
        except BaseException:
            self._loop.cancel.set()
            for task in self._busy:
                task.cancel()
            await asyncio.gather(*self._busy, return_exceptions=True)
            raise

    async def _wait_for_hands(self) -> None:
        """Until there is a free hand, and something for it to do."""
        while True:
            for task in [task for task in self._busy if task.done()]:
                self._busy.discard(task)
                task.result()
            if not self._busy or (len(self._busy) < self._concurrency and self._loop.room() > 0):
                return
            await asyncio.wait(self._busy, return_when=asyncio.FIRST_COMPLETED)

    def _start(self, handoff: AsyncReceivedHandoff) -> None:
        handoff.keep()
        self._busy.add(asyncio.ensure_future(self._work(handoff)))

    async def _work(self, handoff: AsyncReceivedHandoff) -> None:
        following: Optional[AsyncReceivedHandoff] = handoff
        try:
            while following is not None:
                following = await self._handle(following)
        except BaseException:
            self._loop.cancel.set()
            raise
