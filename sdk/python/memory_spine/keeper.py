"""The thread that renews the leases of what a blocking client's receivers are working on.

One for each client, started when there is something to keep, and gone a moment after there is nothing. It holds
handoffs weakly: one that nobody has any more, in a loop that was left, say, is not renewed and comes again.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from typing import TYPE_CHECKING, Optional

from .call import log

if TYPE_CHECKING:
    from .client import MemorySpine
    from .received import ReceivedHandoff

_IDLE_S = 1.0
_TIMEOUT_S = 10.0


class Keeper:
    def __init__(self, client: MemorySpine) -> None:
        self._client = weakref.ref(client)
        self._reset()

    def _reset(self) -> None:
        self._pid = os.getpid()
        # Re-entrant: the end of an abandoned loop settles its handoff wherever the thread happens to be.
        self._changed = threading.Condition(threading.RLock())
        self._kept: dict[int, weakref.ref[ReceivedHandoff]] = {}
        self._thread: Optional[threading.Thread] = None
        self._wakes_at = 0.0

    def watch(self, handoff: ReceivedHandoff) -> None:
        if self._pid != os.getpid():
            self._reset()  # a forked child has none of its parent's threads
        with self._changed:
            self._kept[id(handoff)] = weakref.ref(handoff)
            if self._thread is None:
                thread = threading.Thread(target=self._work, name="memory-spine-leases", daemon=True)
                try:
                    thread.start()
                except RuntimeError as error:
                    # Python 3.12 starts none any more when the main thread has ended.
                    log.warning("the lease of %s is not renewed: %s", handoff.id, error)
                    return
                self._thread = thread
            elif handoff._renew_at < self._wakes_at:
                self._changed.notify()

    def unwatch(self, handoff: ReceivedHandoff) -> None:
        with self._changed:
            self._kept.pop(id(handoff), None)

    def _work(self) -> None:
        while True:
            with self._changed:
                handoff = self._next()
                pause = _IDLE_S if handoff is None else handoff._renew_at - time.monotonic()
                if pause > 0:
                    waits = handoff is not None
                    del handoff
                    self._wakes_at = time.monotonic() + pause
                    if not self._changed.wait(pause) and not waits and not self._kept:
                        self._thread = None
                        return
                    continue
            client = self._client()
            if client is None or handoff is None:
                return
            try:
                client._run(handoff._renew(), _TIMEOUT_S)
            except RuntimeError:
                self.unwatch(handoff)  # the client was closed
            del client, handoff

    def _next(self) -> Optional[ReceivedHandoff]:
        """The handoff whose lease is to be renewed first. What is settled, lost or gone is forgotten."""
        first: Optional[ReceivedHandoff] = None
        for key, ref in list(self._kept.items()):
            handoff = ref()
            if handoff is None or not handoff._is_held:
                self._kept.pop(key, None)
            elif first is None or handoff._renew_at < first._renew_at:
                first = handoff
        return first
