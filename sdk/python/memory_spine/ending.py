"""How `run` ends when the process is told to end, so that a restart of an agent costs time and no work.

SIGTERM, which process managers send, ends every loop of the process: nothing more is taken, what is in hand is finished
and settled, and then `run` raises SystemExit. Where that takes longer than `grace_s`, what is in hand is given back, so
that another instance can begin it at once; that uses no attempt. A second SIGTERM does not wait.

Ctrl-C gives back at once: KeyboardInterrupt is what Python makes of it.

A program that has a handler of its own for SIGTERM keeps it; `stop()` of the receiver is what it would call. Only the
main thread may have signal handlers: a `run` in another thread ends together with one in the main thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
import time
from collections.abc import AsyncIterator, Iterator
from types import FrameType
from typing import Optional

from .loop import Loop

# Less than the 10 seconds that `docker stop` waits before it kills, the shortest of the usual times.
GRACE_S = 8.0

# How often it is looked whether the loops of other threads or tasks have ended.
_POLL_S = 0.02

_running: set[Loop] = set()


@contextlib.contextmanager
def _counted(loop: Loop) -> Iterator[None]:
    _running.add(loop)
    try:
        yield
    finally:
        _running.discard(loop)


def _is_ours() -> bool:
    """Whether a SIGTERM would just kill the process, and this is the thread that can change that. (Windows sends none.)"""
    return (
        threading.current_thread() is threading.main_thread()
        and hasattr(signal, "pthread_kill")
        and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    )


def _stop_all() -> None:
    for loop in list(_running):
        loop.cancel.set()


class _Handler:
    """The handler of SIGTERM while a blocking `run` is in the main thread."""

    def __init__(self, grace_s: float) -> None:
        self._grace_s = grace_s
        self._timer: Optional[threading.Timer] = None
        self.until: Optional[float] = None  # of time.monotonic(), where it was told to end

    def __call__(self, number: int, frame: Optional[FrameType]) -> None:
        if self.until is not None:
            raise SystemExit(0)
        self.until = time.monotonic() + self._grace_s
        _stop_all()
        # The handler of the work is interrupted by the same signal again, wherever in it the thread is.
        main = threading.main_thread().ident
        assert main is not None
        self._timer = threading.Timer(self._grace_s, signal.pthread_kill, (main, signal.SIGTERM))
        self._timer.daemon = True
        self._timer.start()

    def rest(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextlib.contextmanager
def finishing(loop: Loop, grace_s: float) -> Iterator[None]:
    """For the time of a blocking `run`."""
    if not _is_ours():
        with _counted(loop):
            yield
        return
    handler = _Handler(grace_s)
    signal.signal(signal.SIGTERM, handler)
    try:
        with _counted(loop):
            yield
        while handler.until is not None and _running and time.monotonic() < handler.until:
            time.sleep(_POLL_S)  # those of other threads
    finally:
        handler.rest()
    if handler.until is not None:
        raise SystemExit(0)


class _AsyncHandler:
    def __init__(self, grace_s: float) -> None:
        self._grace_s = grace_s
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        self._timer: Optional[asyncio.TimerHandle] = None
        self.until: Optional[float] = None
        self.has_cancelled = False

    def install(self) -> bool:
        if not _is_ours():
            return False
        try:
            self._loop.add_signal_handler(signal.SIGTERM, self)
        except (NotImplementedError, RuntimeError):
            return False  # Windows
        return True

    def __call__(self) -> None:
        if self.until is not None:
            self._give_back()
            return
        self.until = time.monotonic() + self._grace_s
        _stop_all()
        self._timer = self._loop.call_later(self._grace_s, self._give_back)

    def _give_back(self) -> None:
        if self._task is not None and not self.has_cancelled:
            self.has_cancelled = True
            self._task.cancel()

    def rest(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._loop.remove_signal_handler(signal.SIGTERM)


@contextlib.asynccontextmanager
async def finishing_async(loop: Loop, grace_s: float) -> AsyncIterator[None]:
    """For the time of an asynchronous `run`."""
    handler = _AsyncHandler(grace_s)
    if not handler.install():
        with _counted(loop):
            yield
        return
    try:
        with _counted(loop):
            yield
        while handler.until is not None and _running and time.monotonic() < handler.until:
            await asyncio.sleep(_POLL_S)  # those of other tasks
    except asyncio.CancelledError:
        if not handler.has_cancelled:
            raise
    finally:
        handler.rest()
    if handler.until is not None:
        raise SystemExit(0)
