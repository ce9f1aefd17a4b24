"""Why a plain loop over an inbox was left.

    for work in agent.inbox():
        raise ValueError("no such file")        # the nack should say that

Python closes the iterator of a loop that is left, and does not say why: an exception and a `break` look the same to it,
and the exception cannot be seen from there. It can be seen a moment later, when it ends the program, the thread or the
task. So what was in hand is given back then, with the exception as the reason. Where no such end comes, because
somebody caught the exception or there was none, it is given back a moment later, or with the next call of the client.

One that was caught and forgotten is found among the objects of the process, where it is one already: the garbage
collector knows it when the loop is left, and a moment later its traceback tells whether it came through the loop.
Before Python 3.12 that holds for what is raised by `raise`, not for what the interpreter raises (1 / 0). Where it is not
found the reason says where the loop was left.

An exception belongs to a loop if it came through the frame that the loop is in.
"""

from __future__ import annotations

import asyncio
import atexit
import gc
import os
import sys
import threading
from types import FrameType, TracebackType
from typing import Any, Callable, Optional

# Longer than it takes an exception to get from a loop to the end of its program.
_SOON_S = 0.25

_UNKNOWN = "the receiver left its loop{} without settling this (an exception, or a break)"


def unknown(frame: Optional[FrameType] = None) -> str:
    """What is said where the exception is not known: the line that the loop was left at, without its folder."""
    if frame is None:
        return _UNKNOWN.format("")
    return _UNKNOWN.format(f" at {os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}")


def came_through(error: Optional[BaseException], frame: int, at: Optional[int] = None) -> bool:
    """Whether an exception came through a frame, named by its id() (it is alive while a traceback has it), and from
    that instruction."""
    trace = None if error is None else error.__traceback__
    while trace is not None:
        if id(trace.tb_frame) == frame and at in (None, trace.tb_lasti):
            return True
        trace = trace.tb_next
    return False


def _alive() -> list[BaseException]:
    """All exceptions that there are. By their type: asking a proxy for its class may run code."""
    return [one for one in gc.get_objects() if issubclass(type(one), BaseException)]


# --- Blocking ------------------------------------------------------------------------------------


class Left:
    """A loop that was left. `give_back` is called once, with the exception, or None and what to say instead."""

    def __init__(
        self, client: object, frame: FrameType, give_back: Callable[[Optional[BaseException], str], None]
    ) -> None:
        self.client = client
        self.thread = threading.get_ident()
        self.give_back = give_back
        self.reason = unknown(frame)
        self._frame = frame
        self._at = frame.f_lasti
        self._seen = _alive()

    def is_by(self, error: Optional[BaseException]) -> bool:
        return came_through(error, id(self._frame), self._at)

    def found(self) -> Optional[BaseException]:
        """The exception that the loop was left by, where it was there then and has arrived somewhere since."""
        return next((one for one in self._seen if self.is_by(one)), None)


_lock = threading.RLock()
_left: list[Left] = []
_is_hooked = False


def note(left: Left) -> None:
    global _is_hooked
    with _lock:
        if not _is_hooked:
            _is_hooked = True
            _hook()
        _left.append(left)
    timer = threading.Timer(_SOON_S, _settle, (left, None))
    timer.daemon = True
    try:
        timer.start()
    except RuntimeError:
        pass  # Python 3.12 starts none any more when the main thread has ended; then the hooks see to it


def settle_here() -> None:
    """Before a call: what this thread has left is over, and where an exception is being handled, that may be why."""
    if _left:
        here = threading.get_ident()
        _settle_each([one for one in list(_left) if one.thread == here], sys.exc_info()[1])


def settle_of(client: object, error: Optional[BaseException]) -> None:
    """Before a client is closed, because of an exception where there is one."""
    _settle_each([one for one in list(_left) if one.client is client], error)


def _settle(left: Left, error: Optional[BaseException]) -> None:
    with _lock:
        if left not in _left:
            return
        _left.remove(left)
    left.give_back(error or left.found(), left.reason)


def _settle_each(some: list[Left], error: Optional[BaseException]) -> None:
    for left in some:
        _settle(left, error if left.is_by(error) else None)


def _hook() -> None:
    program, thread = sys.excepthook, threading.excepthook

    def program_ends(kind: type[BaseException], error: BaseException, trace: Optional[TracebackType]) -> None:
        _settle_each([one for one in list(_left) if one.is_by(error)], error)
        program(kind, error, trace)

    def thread_ends(what: Any) -> None:
        _settle_each([one for one in list(_left) if one.is_by(what.exc_value)], what.exc_value)
        thread(what)

    sys.excepthook = program_ends
    threading.excepthook = thread_ends
    atexit.register(lambda: _settle_each(list(_left), None))


# --- Asynchronous --------------------------------------------------------------------------------


class Caller:
    """Who loops over an asynchronous inbox. It is asked when the loop's iterator is closed, which asyncio does after the
    task has gone on, or ended."""

    def __init__(self) -> None:
        # Neither is held: the frame has the iterator, and would keep it from being closed.
        self._task = asyncio.current_task()
        self._frame = id(sys._getframe(2))

    def error(self) -> Optional[BaseException]:
        """The exception that went through the loop and ended its task; None where there is none."""
        task = self._task
        if task is None or not task.done() or task.cancelled():
            return None
        # Not exception(), which would count as having looked at it: asyncio tells of those that nobody looks at.
        error = getattr(task, "_exception", None)
        return error if self.is_by(error) else None

    def is_by(self, error: Optional[BaseException]) -> bool:
        return came_through(error, self._frame)
