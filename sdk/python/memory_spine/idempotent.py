"""Handlers that have their effect once, although a handoff may come more than once.

    @idempotent(path="handled.db")
    def handle(handoff):
        return charge(handoff.prompt)           # remembered, and returned again where the handoff comes again

    spine.agent("payments").run(handle)

A handoff comes again when its receiver crashed, was cut off, or did its work and the ack was lost. `idempotent`
remembers in an SQLite file which ones were handled, and with what result.

WHAT IT GUARANTEES, for all processes on a machine that name the same file:

1. A handler that has returned is not called again for that handoff. Its result is on the disk before the handoff is
   settled; should it come again, after a crash between the effect and the ack, say, the remembered result settles it.
2. A handoff is not handled by two at once. Whoever gets it while another is still at it (its lease was lost, it lives
   on) gives it back for later. That a process died is known from the operating system, which drops its lock.
3. Where a process died in the middle of a handler, nobody can know whether the effect took place. The handler is called
   again, with handoff.in_doubt set, so that it can look; with in_doubt="reject" the handoff is rejected instead, and is
   parked for a person unless it has a fallback agent: at most once instead of at least once. Should the person redrive
   it, that is the decision to do it again.
4. A handler of two parameters gets a database connection, in a transaction that also remembers the handoff. What it
   writes there takes place exactly once, with no doubt, because both are committed together or not at all:

       @idempotent(path="payments.db")
       def handle(handoff, db):
           db.execute("INSERT INTO payments VALUES (?, ?)", (handoff.id, 100))

   Such handlers wait for one another, because SQLite has one writer at a time.

A handler that raises has not handled the handoff: it may be called again. The file must be on a local disk; agents on
several machines need a database that they share, and rule 4 done by hand.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hashlib
import inspect
import json
import os
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any, Callable, Optional, TypeVar, Union, cast, overload

from .delivery import Delivery
from .received import _Received
from .wire import dump_json

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

F = TypeVar("F", bound=Callable[..., Any])
Path = Union[str, "os.PathLike[str]"]

_DEFAULT_PATH = "handled.db"
_BUSY_S = 60.0
_AGAIN_S = 5.0
_BUSY = "another process is still working on it"
_DOUBT = "a process died while it handled this; whether the effect took place is for a person to find out"


# --- Locks that die with their process -----------------------------------------------------------


class _Claims:
    """Locks on bytes of a file, one for each key. The operating system drops them when the process ends.

    Its locks know processes, not threads, and all of a file's go when any descriptor of it is closed: so there is one
    of these for each file in a process, never closed, and it knows what the threads have.
    """

    _all: dict[str, _Claims] = {}
    _lock = threading.Lock()

    def __init__(self, path: str) -> None:
        self._path = path
        self._pid = 0
        self._held: set[str] = set()
        self._file = -1

    @classmethod
    def of(cls, path: str) -> _Claims:
        with cls._lock:
            return cls._all.setdefault(path, cls(path))

    @contextlib.contextmanager
    def claim(self, key: str) -> Iterator[bool]:
        """Whether the key is this caller's, until the end of the block."""
        offset = int.from_bytes(hashlib.sha256(key.encode("utf-8")).digest()[:4], "big")
        with self._lock:
            if self._pid != os.getpid():  # new, or forked: a child has none of its parent's locks
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
                self._held = set()
                self._pid = os.getpid()
            mine = key not in self._held and _try_lock(self._file, offset)
            if mine:
                self._held.add(key)
        try:
            yield mine
        finally:
            if mine:
                with self._lock:
                    self._held.discard(key)
                    _unlock(self._file, offset)


if sys.platform == "win32":

    def _try_lock(file: int, offset: int) -> bool:
        os.lseek(file, offset, os.SEEK_SET)
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(file: int, offset: int) -> None:
        os.lseek(file, offset, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)

else:

    def _try_lock(file: int, offset: int) -> bool:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, offset, os.SEEK_SET)
        except OSError:
            return False
        return True

    def _unlock(file: int, offset: int) -> None:
        fcntl.lockf(file, fcntl.LOCK_UN, 1, offset, os.SEEK_SET)


# --- What was handled ----------------------------------------------------------------------------


class Handled:
    """The file. A row is there from when a handler is called; `result` is there when it has returned."""

    def __init__(self, path: Path) -> None:
        text = os.fspath(path)
        if not text or text.startswith(":memory:"):
            raise ValueError("what was handled is remembered in a file: name one")
        self.path = os.path.realpath(text)
        self.claims = _Claims.of(self.path + ".lock")

    def open(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
        try:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")
            db.execute(
                "CREATE TABLE IF NOT EXISTS spine_handled "
                "(key TEXT PRIMARY KEY, result TEXT, at REAL NOT NULL) WITHOUT ROWID"
            )
        except BaseException:
            db.close()
            raise
        return db

    @staticmethod
    def read(db: sqlite3.Connection, key: str) -> Optional[tuple[Optional[str]]]:
        """None: never begun; (None,): begun, not done; (result,): done."""
        row = db.execute("SELECT result FROM spine_handled WHERE key = ?", (key,)).fetchone()
        return cast("Optional[tuple[Optional[str]]]", row)

    @staticmethod
    def write(db: sqlite3.Connection, key: str, result: Optional[str]) -> None:
        db.execute("INSERT OR REPLACE INTO spine_handled VALUES (?, ?, ?)", (key, result, time.time()))

    def look(self, key: str) -> Optional[tuple[Optional[str]]]:
        with contextlib.closing(self.open()) as db:
            return self.read(db, key)

    def note(self, key: str, result: Optional[str]) -> None:
        with contextlib.closing(self.open()) as db:
            self.write(db, key, result)

    def forget(self, key: str) -> None:
        with contextlib.closing(self.open()) as db:
            db.execute("DELETE FROM spine_handled WHERE key = ?", (key,))

    def forget_older(self, age_s: float) -> int:
        """Forgets what was handled longer ago than that; returns how many. What is forgotten could be handled again."""
        with contextlib.closing(self.open()) as db:
            done = db.execute("DELETE FROM spine_handled WHERE result IS NOT NULL AND at < ?", (time.time() - age_s,))
            return done.rowcount

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        with contextlib.closing(self.open()) as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise
            if not db.in_transaction:
                raise RuntimeError("the handler ended the transaction that it was given: leave commit to idempotent")
            db.execute("COMMIT")


def _key(name: str, handoff: _Received) -> str:
    """Names a handoff among those of all servers: its id alone would be another's on a server that was made anew."""
    raw = handoff.delivery.raw.get("envelope") if handoff.v1 is None else None
    digest = raw.get("digest") if isinstance(raw, dict) else None
    return json.dumps([name, handoff.to_agent, handoff.id, digest or handoff.envelope_id])


def _dump(result: Any) -> str:
    """What is remembered of a result. What a settling returned (`return work.hand_on(…)`) is none."""
    return dump_json(None if isinstance(result, Delivery) else result).decode("utf-8")


# --- The decorator -------------------------------------------------------------------------------


class _Handler:
    """What both kinds of handlers share."""

    def __init__(self, handler: Callable[..., Any], path: Path, in_doubt: str, name: Optional[str]) -> None:
        if in_doubt not in ("run", "reject"):
            raise ValueError(f"in_doubt is {in_doubt!r}; expected 'run' or 'reject'")
        self.handler = handler
        self.handled = Handled(path)
        self.rejects = in_doubt == "reject"
        self.name = name or f"{handler.__module__}.{handler.__qualname__}"
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        given = [
            one
            for one in inspect.signature(handler).parameters.values()
            if one.kind in kinds and one.default is inspect.Parameter.empty
        ]
        if len(given) not in (1, 2):
            raise TypeError(f"{self.name} takes {len(given)} parameters; expected handoff, or handoff and db")
        self.takes_db = len(given) == 2

    def begin(self, key: str) -> Optional[tuple[Optional[str]]]:
        """What was known before; from now on it is known that it was begun."""
        known = self.handled.look(key)
        if known is None:
            self.handled.note(key, None)
        return known

    def call(self, handoff: Any) -> Any:
        key = _key(self.name, handoff)
        if self.takes_db:
            return self.call_in_transaction(handoff, key)
        with self.handled.claims.claim(key) as mine:
            if not mine:
                handoff.nack(_BUSY, _AGAIN_S)
                return None
            known = self.begin(key)
            if known is not None and known[0] is not None:
                return json.loads(known[0])
            if known is not None and self.rejects:
                handoff.reject(_DOUBT)
                self.handled.forget(key)
                return None
            handoff.in_doubt = known is not None
            try:
                result = self.handler(handoff)
                text = _dump(result)
            except Exception:
                self.handled.forget(key)
                raise
            self.handled.note(key, text)
            return result

    def call_in_transaction(self, handoff: Any, key: str) -> Any:
        with self.handled.transaction() as db:
            known = self.handled.read(db, key)
            if known is not None and known[0] is not None:
                return json.loads(known[0])
            result = self.handler(handoff, db)
            self.handled.write(db, key, _dump(result))
        return result

    async def call_async(self, handoff: Any) -> Any:
        key = _key(self.name, handoff)
        if self.takes_db:
            return await self.call_async_in_transaction(handoff, key)
        with self.handled.claims.claim(key) as mine:
            if not mine:
                await handoff.nack(_BUSY, _AGAIN_S)
                return None
            known = await asyncio.to_thread(self.begin, key)
            if known is not None and known[0] is not None:
                return json.loads(known[0])
            if known is not None and self.rejects:
                await handoff.reject(_DOUBT)
                await asyncio.to_thread(self.handled.forget, key)
                return None
            handoff.in_doubt = known is not None
            try:
                result = await self.handler(handoff)
                text = _dump(result)
            except Exception:
                await asyncio.to_thread(self.handled.forget, key)
                raise
            await asyncio.to_thread(self.handled.note, key, text)
            return result

    async def call_async_in_transaction(self, handoff: Any, key: str) -> Any:
        # The waiting for other writers, at its start, is what must not hold up the event loop.
        transaction = self.handled.transaction()
        db = await asyncio.to_thread(transaction.__enter__)
        try:
            known = self.handled.read(db, key)
            if known is None or known[0] is None:
                result = await self.handler(handoff, db)
                self.handled.write(db, key, _dump(result))
            else:
                result = json.loads(known[0])
        except BaseException:
            transaction.__exit__(*sys.exc_info())
            raise
        await asyncio.to_thread(transaction.__exit__, None, None, None)
        return result


@overload
def idempotent(path: F) -> F: ...
@overload
def idempotent(
    path: Path = _DEFAULT_PATH, *, in_doubt: str = "run", name: Optional[str] = None
) -> Callable[[Callable[..., Any]], Callable[[Any], Any]]: ...
def idempotent(path: Any = _DEFAULT_PATH, *, in_doubt: str = "run", name: Optional[str] = None) -> Any:
    """Makes a handler of handoffs, a function or a coroutine function, have its effect once; see above.

    path      the SQLite file that remembers, made where there is none; "handled.db" in the working directory else
    in_doubt  what becomes of a handoff whose handler was cut short by a crash: "run" it again, or "reject" it
    name      what the handler is remembered by; else its module and name, so that renaming it forgets what it handled
    """
    if callable(path):
        return idempotent()(path)

    def decorate(handler: Callable[..., Any]) -> Callable[[Any], Any]:
        inner = _Handler(handler, path, in_doubt, name)
        if inspect.iscoroutinefunction(handler):

            @functools.wraps(handler)
            async def handle_async(handoff: Any) -> Any:
                return await inner.call_async(handoff)

            handle_async.handled = inner.handled  # type: ignore[attr-defined]
            return handle_async

        @functools.wraps(handler)
        def handle(handoff: Any) -> Any:
            return inner.call(handoff)

        handle.handled = inner.handled  # type: ignore[attr-defined]
        return handle

    return decorate
