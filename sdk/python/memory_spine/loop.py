"""What the loops of a receiver go by, whoever runs them: how many to take, when to end, and settling one while taking
the next in one call. All of it is steps (see call.py), for both clients, and may be used by several workers at once.

ONE CALL. `receive` takes what is to be settled along (`settle`): finishing a handoff, handing it on and taking the next
one are one call and one commit. The loop does that where it wants another one. It does not wait in that call: whether
the result was taken is known at once, and where nothing is ready the loop waits in a call of its own.

WHAT COUNTS. `limit` counts what went well, so that a handler that fails does not use it up; `max`, the older name,
counts what was taken. What is on its way to this receiver is counted as taken until the answer says otherwise, so that
workers that ask at the same time do not take too many together.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Optional

from . import deliveries, errors
from .call import Cancel, Sleep, Steps, acting_as, backoff_s, log
from .delivery import Taken
from .envelope import Envelope
from .handoffs import envelope as read_envelope

if TYPE_CHECKING:
    from .received import _Received

# The longest that the server lets a receiver wait.
_WAIT_S = 60.0

Item = tuple[Taken, Optional[Envelope], float]


def _whole(taken: Taken) -> Steps[Optional[Envelope]]:
    """The envelope of what was taken. An agent that accepts only version 1 got that; the newest form is read then."""
    raw = taken.envelope
    if raw is None:
        return None
    if "envelope_version" in raw:
        return Envelope.from_wire(raw)
    return (yield from read_envelope(taken.envelope_id))


def _items(found: list[Taken]) -> Steps[list[Item]]:
    """What was taken with its envelopes, and the time of time.monotonic() from which the leases count."""
    began_at = time.monotonic()
    items: list[Item] = []
    for taken in found:
        try:
            envelope = yield from _whole(taken)
        except (KeyError, TypeError, ValueError) as error:
            raise errors.ProtocolError(f"{taken.id} has an envelope that cannot be read: {error!r}") from error
        items.append((taken, envelope, began_at))
    return items


def take(agent: str, **options: Any) -> Steps[list[Item]]:
    """What `receive` took."""
    found = yield from acting_as(agent, deliveries.receive(agent, **options))
    return (yield from _items(found))


class Loop:
    """One loop of a receiver: what it was told, how far it is, and whether it was told to stop."""

    def __init__(
        self,
        agent: str,
        instance: Optional[str],
        *,
        limit: Optional[int] = None,
        max: Optional[int] = None,
        idle_s: Optional[float] = None,
        lease_s: Optional[float] = None,
        work_lease_s: Optional[float] = None,
        patience_s: float = 0.0,
    ) -> None:
        """patience_s is how long the server is waited for that was never reached."""
        for name, value in (("limit", limit), ("max", max)):
            if value is not None and value < 0:
                raise ValueError(f"{name} is {value}; it must not be negative")
        self._agent = agent
        self._instance = instance
        self._limit = limit
        self._max = max
        self._idle_s = idle_s
        self._lease_s = lease_s
        self._work_lease_s = work_lease_s
        self._patience_s = patience_s
        self._was_reached = False
        self._lock = threading.Lock()
        self._taken = 0
        self._in_hand = 0
        self.done = 0
        self.cancel = Cancel()

    # --- How many --------------------------------------------------------------------------------

    def room(self) -> int:
        """How many more may be taken now; 0 also where what is in hand has to end first."""
        if self.cancel.is_set:
            return 0
        rooms = [2**31]
        if self._max is not None:
            rooms.append(self._max - self._taken)
        if self._limit is not None:
            rooms.append(self._limit - self.done - self._in_hand)
        return max(0, min(rooms))

    def _reserve(self, free: int) -> int:
        with self._lock:
            room = min(free, self.room())
            self._taken += room
            self._in_hand += room
            return room

    def _give_up(self, count: int) -> None:
        with self._lock:
            self._taken -= count
            self._in_hand -= count

    def ended(self, handoff: _Received) -> None:
        """The handoff is out of hand; it counts where it went well."""
        with self._lock:
            self._in_hand -= 1
            if handoff.settled in ("ack", "complete"):
                self.done += 1

    # --- Taking ----------------------------------------------------------------------------------

    def next(self, free: int = 1) -> Steps[Optional[list[Item]]]:
        """Waits for up to `free` handoffs. None where the loop is over; empty where what is in hand has to end first."""
        began_at = time.monotonic()
        attempt = 0
        while not self.cancel.is_set:
            wait_s = _WAIT_S
            if self._idle_s is not None:
                wait_s = max(0.0, min(wait_s, began_at + self._idle_s - time.monotonic()))
            room = self._reserve(free)
            if room == 0:
                return [] if self._in_hand > 0 else None
            found: list[Item] = []
            try:
                found = yield from take(
                    self._agent,
                    wait_s=wait_s,
                    limit=min(room, deliveries.LIMIT_MAX),
                    lease_s=self._lease_s,
                    instance=self._instance,
                    cancel=self.cancel,
                    retry=False,
                )
            except errors.SpineError as error:
                if self.cancel.is_set:
                    return None
                waited_s = time.monotonic() - began_at
                if not deliveries.may_recover(error) or (not self._was_reached and waited_s >= self._patience_s):
                    raise
                if attempt == 0:
                    log.warning("%s waits for the server: %s", self._agent, error)
                yield Sleep(backoff_s(attempt))
                attempt += 1
                continue
            finally:
                self._give_up(room - len(found))
            if attempt:
                log.warning("%s goes on: the server is back", self._agent)
            self._was_reached = True
            attempt = 0
            if found:
                return found
            if self._idle_s is not None and time.monotonic() >= began_at + self._idle_s:
                return None
        return None

    def settle_and_take(self, settle: Mapping[str, Any]) -> Steps[tuple[Optional[Mapping[str, Any]], list[Item]]]:
        """Settles, and takes the next one that is ready in the same call, where one is wanted.

        The first of what is returned is what the server says of the settling, the handoff or a problem; None where it
        said nothing, so that it is still to be settled.
        """
        room = self._reserve(1)
        items: list[Item] = []
        try:
            if room == 0:
                return None, []
            settled, found = yield from deliveries.settle_and_receive(
                self._agent, settle, lease_s=self._lease_s, instance=self._instance
            )
            try:
                items = yield from _items(found)
            except errors.SpineError as error:
                log.warning("%s was taken and could not be read; it comes again: %s", found[0].id, error)
            return settled, items
        finally:
            self._give_up(room - len(items))

    # --- Settling --------------------------------------------------------------------------------

    def begin(self, handoff: _Received) -> Steps[bool]:
        """Acks with a work lease, where that is wanted. False where the handoff is not this receiver's any more."""
        if self._work_lease_s is None:
            return True
        try:
            yield from handoff._patiently(lambda: handoff._ack(self._work_lease_s, (), None))
        except errors.SpineError as error:
            log.warning("%s was lost before it was begun: %s", handoff.id, error)
            handoff._unkeep()
            return False
        return True

    def succeed(self, handoff: _Received, result: Any = None) -> Steps[None]:
        """Settles what went well. That this fails must not end the loop: the handoff comes again."""
        try:
            yield from handoff._succeed(result)
        except errors.SpineError as error:
            log.warning("%s was handled but could not be settled, and may come again: %s", handoff.id, error)
        finally:
            handoff._unkeep()
