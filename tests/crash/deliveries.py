"""What the clients of the delivery test have seen, and what must follow from it.

A handoff is known by its id once an answer named it. Every lease that a receiver was given is noted, and every settle that
was tried, with when it was sent and when it was answered. From that:

  - a lease is given to one receiver only, and the next one not before it has ended: its time was over, or somebody had
    begun to give it back;
  - a settle is answered with 2xx only while its lease is the newest; one that was answered with 409 has changed nothing;
  - an ack or a completion that was answered with 2xx stays, with its result;
  - what was accepted is there, in a state that a person can see;
  - or it was pruned, where the server keeps what has ended for a time only: then it had ended, in a way that somebody has
    asked for, it stays pruned, and its chain still verifies. What is open or parked is never pruned, nor its events.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from operations import expect

STATES = ("queued", "leased", "acked", "completed", "parked", "expired", "discarded")
GIVES_BACK = ("nack", "reject")
OVER = ("completed", "expired", "discarded")


def at(text: str) -> float:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


@dataclass
class Settle:
    verb: str
    sent_at: float
    result: Any = None
    status: int = 0  # 0: not answered
    answered_at: float = 0.0
    due_at: float = 0.0  # a work lease's end, where it was acked with one


@dataclass
class Lease:
    receiver: str
    given_at: float  # by the server's clock
    ends_at: float  # by the server's clock
    seen_at: float  # by ours
    settles: list[Settle] = field(default_factory=list)


@dataclass
class Known:
    """One handoff."""

    id: str
    leases: dict[int, Lease] = field(default_factory=dict)
    is_settled: bool = False  # no need to look at it again
    is_pruned: bool = False
    envelope: str | None = None
    waited: bool = False  # its sender waited: it may have expired


class History:
    """Of all clients. A client notes what it knows at once; the lock makes the order of notes that of the clock."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.handoffs: dict[str, Known] = {}
        self.problems: list[str] = []
        self.counts = {"accepted": 0, "leases": 0, "settled": 0, "stale": 0, "lost replies": 0, "pruned": 0}

    def accepted(self, handoff: str, envelope: str | None = None, waited: bool = False) -> None:
        with self.lock:
            if handoff not in self.handoffs:
                self.handoffs[handoff] = Known(handoff)
                self.counts["accepted"] += 1
            known = self.handoffs[handoff]
            known.envelope = known.envelope or envelope
            known.waited = known.waited or waited

    def leased(self, receiver: str, taken: dict[str, Any]) -> None:
        """A receiver was answered with a handoff."""
        number = int(taken["lease"].rsplit(".", 1)[1])
        lease = Lease(receiver, at(taken["changed_at"]), at(taken["lease_expires_at"]), time.monotonic())
        with self.lock:
            known = self.handoffs.setdefault(taken["id"], Known(taken["id"], waited=True))
            if known.is_pruned:
                self.problems.append(f"{taken['lease']} was given out, and {taken['id']} was pruned")
            self.counts["leases"] += 1
            other = known.leases.get(number)
            if other is not None:
                self.problems.append(f"{taken['lease']} was given to {other.receiver} and to {receiver}")
            known.leases[number] = lease
            known.is_settled = False

    def settling(self, handoff: str, number: int, verb: str, result: Any = None) -> Settle:
        settle = Settle(verb, time.monotonic(), result)
        with self.lock:
            self.handoffs[handoff].leases[number].settles.append(settle)
        return settle

    def settled(self, handoff: str, number: int, settle: Settle, status: int, body: dict[str, Any]) -> None:
        with self.lock:
            settle.status, settle.answered_at = status, time.monotonic()
            self.counts["settled" if status == 200 else "stale"] += 1
            if status == 200 and body.get("work_lease") and body.get("due_at"):
                settle.due_at = at(body["due_at"])
            newer = [n for n, lease in self.handoffs[handoff].leases.items() if n > number and lease.seen_at < settle.sent_at]
            if status == 200 and newer:
                self.problems.append(f"{settle.verb} with {handoff}.{number} was answered with 200, though {handoff}.{newer[0]} had been given out")
            if status == 409 and body.get("code") != "stale_lease":
                self.problems.append(f"{settle.verb} with {handoff}.{number} was answered with {body}")

    # --- After a restart, when nobody else is there ---

    def check_leases(self, known: Known) -> None:
        """No two at a time. Numbers may be missing: a lease whose reply was lost is known to nobody."""
        numbers = sorted(known.leases)
        for number, following in zip(numbers, numbers[1:]):
            lease, after = known.leases[number], known.leases[following]
            if following != number + 1:
                continue
            begun = [settle for settle in lease.settles if settle.sent_at < after.seen_at]
            if any(settle.verb in GIVES_BACK and settle.status != 409 for settle in begun):
                continue
            acks = [settle for settle in begun if settle.verb in ("ack", "complete") and settle.status == 200]
            final = [settle for settle in acks if not settle.due_at]
            expect(not final, f"{known.id}.{number} was {final and final[0].verb}ed, and then given out as {known.id}.{following}")
            # An ack with a work lease whose reply was lost may have made the lease longer, never shorter.
            ends_at = max([lease.ends_at if not acks else 0.0, *(settle.due_at for settle in acks)])
            if acks or not any(settle.verb == "ack" and settle.status == 0 for settle in begun):
                expect(after.given_at >= ends_at - 0.002,
                       f"{known.id}.{following} was given to {after.receiver} {ends_at - after.given_at:.3f} s before {known.id}.{number} of {lease.receiver} ended")

    def check_state(self, known: Known, seen: dict[str, Any]) -> None:
        """seen: what the server shows."""
        expect(seen["state"] in STATES, f"{known.id} is {seen['state']}")
        settles = [(number, settle) for number, lease in known.leases.items() for settle in lease.settles]
        completed = [settle for _, settle in settles if settle.verb == "complete" and settle.status == 200]
        acked = [settle for _, settle in settles if settle.verb == "ack" and settle.status == 200 and not settle.due_at]
        if completed:
            expect(seen["state"] == "completed", f"{known.id} was completed, and is {seen['state']}")
            first = [settle.result for settle in completed]
            expect(seen.get("result") in first, f"the result of {known.id} is {seen.get('result')!r}, completed with {first}")
        elif acked:
            possible = {"acked"} | {"completed" for _, settle in settles if settle.verb == "complete" and settle.status == 0}
            expect(seen["state"] in possible, f"{known.id} was acked, and is {seen['state']}")
        elif seen["state"] == "completed":
            tried = [settle.result for _, settle in settles if settle.verb == "complete" and settle.status == 0]
            expect(seen.get("result") in tried, f"{known.id} is completed with {seen.get('result')!r}, which nobody said")
        elif seen["state"] == "acked" and not seen["work_lease"]:
            tried = [settle for _, settle in settles if settle.verb == "ack" and settle.status == 0]
            expect(bool(tried), f"{known.id} is acked, and nobody acked it")
        is_over = seen["state"] in OVER or (seen["state"] == "acked" and not seen["work_lease"])
        expect(not known.is_pruned, f"{known.id} was pruned, and is there again")
        known.is_settled = (is_over and seen["state"] != "expired") or seen["state"] == "parked"
        events = [event["event"] for event in seen["events"]]
        # What is over may lose events that are older than they are kept, also when it is sent again later.
        was_over = is_over or any(event["note"] == "sent again" for event in seen["events"])
        if was_over and (not events or seen["events"][0]["at"] > seen["created_at"]):
            return
        expect(events[0] == "handoff.queued", f"the first that happened to {known.id} is {events[0]}")
        given = events.count("handoff.leased")
        expect(given >= max(known.leases, default=0), f"{known.id} was leased {given} times, and {max(known.leases, default=0)} is the newest lease")

    def check_pruned(self, known: Known, detail: str) -> None:
        """detail: what the server says of it."""
        state = detail.split(" as ", 1)[1].split(",", 1)[0]
        tried = {settle.verb for lease in known.leases.values() for settle in lease.settles if settle.status in (0, 200)}
        possible = {"completed": "complete" in tried, "acked": "ack" in tried, "expired": known.waited}
        expect(possible.get(state, False), f"{known.id} was pruned as {state}, and {sorted(tried)} was tried")
        if not known.is_pruned:
            self.counts["pruned"] += 1
        known.is_settled = known.is_pruned = True
