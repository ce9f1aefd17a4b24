"""A handoff in the hands of its receiver: read it, work, settle it.

    with handoff:                       # acked when the block ends, nacked where an exception leaves it
        work(handoff.prompt)

SETTLING. Ack is acceptance: the sender, who may be waiting for it, goes on. A receiver that works for long acks at once
with a work lease and completes later; one that does not come back loses the work lease, and the handoff comes again.

THE LEASE. While a handoff is kept (in a `with` block, an inbox, or `run`) its lease is renewed in the background, at a
third of its time. Should that fail, because the server gave the handoff to somebody else or could not be reached for so
long that it may have, `lease_lost` is true: what the receiver does from then on may be done twice.

THE TASK. What its client stores meanwhile belongs to the handoff's task, and so does what `handoff.store` stores at any
time; see work.py.

What is common to both clients is written once, as steps (see call.py); the classes at the end differ in how they run
them and in who renews the lease, a thread (keeper.py) or a task.
"""

from __future__ import annotations

import asyncio
import logging
import time
import weakref
from collections.abc import Iterable, Mapping
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Optional, TypeVar

from . import deliveries, errors, handoffs, memories, work
from .call import Sleep, Steps, acting_as, backoff_s
from .delivery import Delivery, Taken
from .envelope import Envelope, Held, News
from .handoff import AsyncEnvelope, SyncEnvelope, awaiting_handing_on, handing_on
from .loop import Item, Loop
from .hand_on import hand_on
from .method import awaiting_of, awaiting_on, blocking_of, blocking_on
from .models import FetchResult

if TYPE_CHECKING:
    from .client import AsyncMemorySpine, MemorySpine

log = logging.getLogger("memory_spine")

A = TypeVar("A", bound="AsyncReceivedHandoff")
R = TypeVar("R", bound="ReceivedHandoff")
T = TypeVar("T")

_NOT_BEGUN = "the receiver left its loop before it had begun this"
_INTERRUPTED = "the receiver was stopped: {}"

# What a nack may say of an exception: enough for a message, too little for a whole prompt or page in it.
_REASON_MAX = 1000
_RENEW_MIN_S = 0.05
_RENEW_TIMEOUT_S = 10.0


def reason_of(error: BaseException) -> str:
    """What a nack says about an exception: its kind and its text, in characters that can be sent."""
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    text = text.encode("utf-8", "replace").decode("utf-8").replace("\0", "")
    return text if len(text) <= _REASON_MAX else f"{text[: _REASON_MAX - 1]}…"


class _Received(Held):
    """What both kinds have in common. `taken` is the handoff as it was when it was taken."""

    def __init__(self, taken: Taken, envelope: Optional[Envelope], sent_at: float) -> None:
        self._taken = taken
        self._read = envelope
        self._in_hand: Optional[work.Work] = None
        self._loop: Optional[Loop] = None  # that it is worked on in
        self._following: Optional[_Received] = None  # what the loop has next, where that was taken already
        self._latest: Delivery = taken
        self._settled: Optional[str] = None
        self._lost = False
        self.in_doubt = False  # whether an earlier try at it ended in the middle; see idempotent.py
        self._lease_until = 0.0  # of time.monotonic(), as the others
        self._renew_at = 0.0
        self._note_lease(taken, sent_at)

    @property
    def id(self) -> str:
        return self._taken.id

    @property
    def lease(self) -> str:
        """What proves that the handoff is this receiver's, such as "ho-12.1"."""
        return self._taken.lease

    @property
    def lease_expires_at(self) -> Optional[datetime]:
        """When the lease, or the work lease, ends unless it is renewed; None where there is none any more."""
        return self._latest.due_at if self._settled in (None, "ack") else None

    @property
    def attempt(self) -> int:
        return self._taken.attempt

    @property
    def max_attempts(self) -> int:
        return self._taken.max_attempts

    @property
    def redelivered(self) -> bool:
        """Whether a receiver has had it before: what is to be done may be done already. See `idempotent`."""
        return self._taken.redelivered

    @property
    def envelope_id(self) -> str:
        return self._taken.envelope_id

    @property
    def from_agent(self) -> Optional[str]:
        return self._taken.from_agent

    @property
    def to_agent(self) -> str:
        return self._taken.to_agent

    @property
    def channel(self) -> Optional[str]:
        return self._taken.channel

    @property
    def priority(self) -> int:
        return self._taken.priority

    @property
    def delivery(self) -> Delivery:
        """The handoff as the server told it last."""
        return self._latest

    @property
    def prompt(self) -> str:
        """What the receiving model reads, in Markdown."""
        if self._taken.prompt is None:
            raise self._unreadable()
        return self._taken.prompt

    @property
    def since(self) -> list[News]:
        """What happened after it was packed: to its memories, and which results have come ("result"). The prompt ends
        with those."""
        return list(self._taken.since)

    @property
    def flags(self) -> tuple[str, ...]:
        """What a reader should know of the envelope: "invisible", where characters that nobody sees stand in it and no
        script or emoji needs them. A model reads them all the same."""
        return self._taken.flags

    @property
    def v1(self) -> Optional[dict[str, Any]]:
        """The envelope in the flat form of version 1, where the agent accepts nothing newer; else None."""
        raw = self._taken.envelope
        return raw if raw is not None and "envelope_version" not in raw else None

    @property
    def lease_lost(self) -> bool:
        """Whether somebody else may have the handoff by now, so that it had better be left alone."""
        return self._lost

    @property
    def settled(self) -> Optional[str]:
        """How it was settled: "ack", "nack", "release", "reject" or "complete"; None where it was not, yet."""
        return self._settled

    def __repr__(self) -> str:
        state = "lease lost" if self._lost else self._settled or "leased"
        return f"<{type(self).__name__} {self.id} to {self.to_agent}, attempt {self.attempt}, {state}>"

    @property
    def task(self) -> Optional[str]:
        """The id of the task that it belongs to; None where its envelope cannot be read."""
        return None if self._read is None else self._read.task

    def _work(self, client: object) -> None:
        """From here on the client works on it, in this context."""
        self._rest()
        self._in_hand = work.begin(client, self.task)

    def _rest(self) -> None:
        """It is not worked on any more."""
        work.end(self._in_hand)
        self._in_hand = None

    def _for_it(self, steps: Steps[T]) -> Steps[T]:
        """The steps in the name of the agent that has it, for its task."""
        return acting_as(self.to_agent, steps, self.task)

    def _unreadable(self) -> errors.SpineError:
        return errors.ServerError(
            self._taken.problem or "the handoff came without its envelope", code="envelope_damaged"
        )

    # --- Steps -----------------------------------------------------------------------------------

    def _note_lease(self, latest: Delivery, sent_at: float) -> None:
        """Counts from when the request was sent, by the clock of this machine, so as not to trust the server's."""
        self._latest = latest
        lease_s = latest.lease_s
        if lease_s is not None:
            self._lease_until = sent_at + lease_s
            self._renew_at = sent_at + max(_RENEW_MIN_S, lease_s / 3)

    @property
    def _has_lease(self) -> bool:
        return self._settled is None or (self._settled == "ack" and self._latest.work_lease)

    @property
    def _is_held(self) -> bool:
        """Whether there is a lease to renew."""
        return not self._lost and self._has_lease

    def _did(self, verb: str, steps: Steps[Delivery]) -> Steps[Delivery]:
        sent_at, settled = time.monotonic(), self._settled
        try:
            latest = yield from acting_as(self.to_agent, steps)
        except errors.StaleLeaseError:
            # Not where it was settled while this was under way, in another thread.
            self._lost = self._lost or self._has_lease
            raise
        if verb == "progress":
            # Another thread may have settled it meanwhile, and knows better what it is now.
            if self._settled == settled:
                self._note_lease(latest, sent_at)
            return latest
        # In this order: whoever looks in between, to renew the lease, must not take it for given up.
        self._note_lease(latest, sent_at)
        self._settled = verb
        self._lost = False
        if not self._is_held:
            self._unkeep()
        return latest

    def _unkeep(self) -> None:
        """Renews the lease no more."""

    def _settle(self, verb: str, body: dict[str, Any]) -> Steps[Delivery]:
        return self._did(verb, deliveries.settle(self.id, verb, body))

    def _settle_for_good(self, verb: str, body: dict[str, Any]) -> Steps[Delivery]:
        """Settles, and has the loop's next handoff taken in the same call, where it is in a loop that wants one."""
        return self._did(verb, self._settle_and_take(verb, body))

    def _settle_and_take(self, verb: str, body: dict[str, Any]) -> Steps[Delivery]:
        if self._loop is not None and self._following is None:
            entry = {"id": self.id, "verb": verb, **body}
            settled, items = yield from self._loop.settle_and_take(entry)
            for item in items:
                self._following = self._successor(item)
            if settled is not None:
                return deliveries.read_settled(settled)
        return (yield from deliveries.settle(self.id, verb, body))

    def _successor(self, item: Item) -> _Received:
        """What comes next in the loop. It is kept from now on: what is in hand may not be over yet."""
        raise NotImplementedError

    def _ack(self, work_lease_s: Optional[float], gaps: Iterable[Any], input_tokens: Optional[int]) -> Steps[Delivery]:
        return self._settle("ack", deliveries.ack_body(self.lease, work_lease_s, gaps, input_tokens))

    def _nack(self, reason: Optional[str], delay_s: Optional[float]) -> Steps[Delivery]:
        return self._settle("nack", deliveries.nack_body(self.lease, reason, delay_s))

    def _release(self, reason: Optional[str], delay_s: Optional[float]) -> Steps[Delivery]:
        return self._settle("release", deliveries.nack_body(self.lease, reason, delay_s))

    def _reject(self, reason: str) -> Steps[Delivery]:
        return self._settle("reject", {"lease": self.lease, "reason": reason})

    def _progress(self, note: Optional[str], work_lease_s: Optional[float]) -> Steps[Delivery]:
        return self._settle("progress", deliveries.progress_body(self.lease, note, work_lease_s))

    def _complete(
        self, result: Any, gaps: Iterable[Any], input_tokens: Optional[int], remember: bool = True
    ) -> Steps[Delivery]:
        return self._settle("complete", deliveries.complete_body(self.lease, result, gaps, input_tokens, remember))

    def _hand_on(self, then: Mapping[str, Any], result: Any, gaps: Iterable[Any], more: dict[str, Any]) -> Steps[Delivery]:
        body = deliveries.complete_body(self.lease, result, gaps, then=then, **more)
        latest = yield from self._settle_for_good("complete", body)
        following = latest.raw.get("then")
        if not isinstance(following, Mapping):
            raise errors.ProtocolError(
                f"{self.id} was finished, but this server does not know how to hand on in the same call: it is too old",
                code="invalid_response",
            )
        return Delivery.from_wire(following)

    def _need(self, refs: Iterable[str]) -> Steps[FetchResult]:
        try:
            return (yield from acting_as(self.to_agent, deliveries.need(self.id, self.lease, refs)))
        except errors.StaleLeaseError:
            self._lost = self._lost or self._has_lease
            raise

    def _renew(self) -> Steps[None]:
        """Renews the lease, once; where that fails says when to try again, or that it is lost."""
        try:
            yield from self._progress(None, None)
        except errors.StaleLeaseError:
            pass
        except errors.SpineError:
            now = time.monotonic()
            self._lost = self._lost or (self._has_lease and now >= self._lease_until)
            self._renew_at = now + max(_RENEW_MIN_S, min(1.0, (self._lease_until - now) / 3))

    def _succeed(self, result: Any = None) -> Steps[None]:
        """Settles what went well and is not settled: completes what has a result or a work lease, acks the rest."""
        completes = result is not None or (self._settled == "ack" and self._latest.work_lease)
        if completes and self._settled in (None, "ack"):
            body = deliveries.complete_body(self.lease, result, (), None)
            yield from self._patiently(lambda: self._settle_for_good("complete", body))
        elif self._settled is None:
            body = deliveries.ack_body(self.lease, None, (), None)
            yield from self._patiently(lambda: self._settle_for_good("ack", body))

    def _patiently(self, settle: Callable[[], Steps[Delivery]]) -> Steps[Delivery]:
        """Settles, and tries again until the lease has ended while the server cannot be reached."""
        attempt = 0
        while True:
            try:
                return (yield from settle())
            except errors.SpineError as error:
                pause = backoff_s(attempt)
                if not deliveries.may_recover(error) or time.monotonic() + pause >= self._lease_until:
                    raise
            attempt += 1
            yield Sleep(pause)

    def _fail(self, reason: str) -> Steps[None]:
        """Nacks what went wrong and is not settled. That this fails is no matter: the lease runs out."""
        return self._leave(self._nack, reason, None)

    def _fail_with(self, error: BaseException) -> Steps[None]:
        """What was interrupted, by Ctrl-C, say, is no failure of the work: it uses no attempt, and may start anew at
        once. A handler that ends the process with an exit code has failed: it would do so again."""
        if isinstance(error, Exception) or (isinstance(error, SystemExit) and error.code):
            return self._fail(reason_of(error))
        return self._leave(self._release, _INTERRUPTED.format(type(error).__name__), None)

    def _give_back(self) -> Steps[None]:
        """Gives back what was taken and not begun: the loop was left."""
        return self._leave(self._release, _NOT_BEGUN, None)

    def _leave(
        self, settle: Callable[[str, Optional[float]], Steps[Delivery]], reason: str, delay_s: Optional[float]
    ) -> Steps[None]:
        try:
            if self._is_held:
                yield from settle(reason, delay_s)
        except errors.SpineError as error:
            log.warning("%s could not be given back, and comes again when its lease has run out: %s", self.id, error)
        finally:
            self._unkeep()


class ReceivedHandoff(_Received):
    """A handoff of the blocking client, in the hands of its receiver. `receive` and `inbox` give it."""

    def __init__(self, client: MemorySpine, taken: Taken, envelope: Optional[Envelope], sent_at: float) -> None:
        super().__init__(taken, envelope, sent_at)
        self._client = client
        self._envelope = None if envelope is None else SyncEnvelope.bind(client._run, envelope, taken.prompt)

    @property
    def envelope(self) -> SyncEnvelope:
        """What was handed over."""
        if self._envelope is None:
            raise self._unreadable()
        return self._envelope

    def ack(
        self, work_lease_s: Optional[float] = None, *, gaps: Iterable[Any] = (), input_tokens: Optional[int] = None
    ) -> Delivery:
        """Accepts it. With work_lease_s it comes again unless it is completed or renewed (`progress`) in time."""
        return self._client._run(self._ack(work_lease_s, gaps, input_tokens))

    def nack(self, reason: Optional[str] = None, delay_s: Optional[float] = None) -> Delivery:
        """Gives it back: it comes again, after delay_s or the server's backoff, while it has attempts left."""
        return self._client._run(self._nack(reason, delay_s))

    def release(self, reason: Optional[str] = None, delay_s: Optional[float] = None) -> Delivery:
        """Gives it back unfinished, because this receiver is stopped: no attempt is used, and it keeps its place. Also
        after an ack. `run` and the inboxes do that on Ctrl-C and SIGTERM."""
        return self._client._run(self._release(reason, delay_s))

    def reject(self, reason: str) -> Delivery:
        """Refuses it for good: a fallback agent gets it, or it is parked."""
        return self._client._run(self._reject(reason))

    def progress(self, note: Optional[str] = None, work_lease_s: Optional[float] = None) -> Delivery:
        """Says that it is being worked on, which renews the lease or the work lease."""
        return self._client._run(self._progress(note, work_lease_s))

    def complete(
        self,
        result: Any = None,
        gaps: Iterable[Any] = (),
        *,
        input_tokens: Optional[int] = None,
        remember: bool = True,
    ) -> Delivery:
        """Ends it with a result, any JSON, and with what was missing. It need not be acked before.

        The result becomes a memory of the task, which the next agent finds in its prompt; remember=False keeps it out.
        """
        return self._client._run(self._complete(result, gaps, input_tokens, remember))

    def need(self, refs: Iterable[str]) -> FetchResult:
        """Fetches memories that the work needs. Renews the lease, too."""
        return self._client._run(self._need(refs))

    pack = handing_on(handoffs.pack)
    agent_handoff = handing_on(handoffs.agent_handoff)
    hand_on = blocking_on(hand_on)
    store = blocking_of(memories.store)
    store_many = blocking_of(memories.store_many)

    def _successor(self, item: Item) -> ReceivedHandoff:
        successor = ReceivedHandoff(self._client, *item)
        successor.keep()
        return successor

    def keep(self) -> None:
        """Renews the lease in the background from now on, until it is settled."""
        self._client._keeper.watch(self)

    def _unkeep(self) -> None:
        """Renews the lease no more."""
        self._client._keeper.unwatch(self)

    def __enter__(self: R) -> R:
        self.keep()
        self._work(self._client)
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self._rest()
        try:
            self._client._run(self._succeed() if error is None else self._fail_with(error))
        finally:
            self._unkeep()


class AsyncReceivedHandoff(_Received):
    """A handoff of the asynchronous client, in the hands of its receiver. `receive` and `inbox` give it."""

    def __init__(self, client: AsyncMemorySpine, taken: Taken, envelope: Optional[Envelope], sent_at: float) -> None:
        super().__init__(taken, envelope, sent_at)
        self._client = client
        self._envelope = None if envelope is None else AsyncEnvelope.bind(client._run, envelope, taken.prompt)
        self._task: Optional[asyncio.Task[None]] = None

    @property
    def envelope(self) -> AsyncEnvelope:
        """What was handed over."""
        if self._envelope is None:
            raise self._unreadable()
        return self._envelope

    async def ack(
        self, work_lease_s: Optional[float] = None, *, gaps: Iterable[Any] = (), input_tokens: Optional[int] = None
    ) -> Delivery:
        """Accepts it. With work_lease_s it comes again unless it is completed or renewed (`progress`) in time."""
        return await self._client._run(self._ack(work_lease_s, gaps, input_tokens))

    async def nack(self, reason: Optional[str] = None, delay_s: Optional[float] = None) -> Delivery:
        """Gives it back: it comes again, after delay_s or the server's backoff, while it has attempts left."""
        return await self._client._run(self._nack(reason, delay_s))

    async def release(self, reason: Optional[str] = None, delay_s: Optional[float] = None) -> Delivery:
        """Gives it back unfinished, because this receiver is stopped: no attempt is used, and it keeps its place. Also
        after an ack. `run` and the inboxes do that on Ctrl-C and SIGTERM."""
        return await self._client._run(self._release(reason, delay_s))

    async def reject(self, reason: str) -> Delivery:
        """Refuses it for good: a fallback agent gets it, or it is parked."""
        return await self._client._run(self._reject(reason))

    async def progress(self, note: Optional[str] = None, work_lease_s: Optional[float] = None) -> Delivery:
        """Says that it is being worked on, which renews the lease or the work lease."""
        return await self._client._run(self._progress(note, work_lease_s))

    async def complete(
        self,
        result: Any = None,
        gaps: Iterable[Any] = (),
        *,
        input_tokens: Optional[int] = None,
        remember: bool = True,
    ) -> Delivery:
        """Ends it with a result, any JSON, and with what was missing. It need not be acked before.

        The result becomes a memory of the task, which the next agent finds in its prompt; remember=False keeps it out.
        """
        return await self._client._run(self._complete(result, gaps, input_tokens, remember))

    async def need(self, refs: Iterable[str]) -> FetchResult:
        """Fetches memories that the work needs. Renews the lease, too."""
        return await self._client._run(self._need(refs))

    pack = awaiting_handing_on(handoffs.pack)
    agent_handoff = awaiting_handing_on(handoffs.agent_handoff)
    hand_on = awaiting_on(hand_on)
    store = awaiting_of(memories.store)
    store_many = awaiting_of(memories.store_many)

    def _successor(self, item: Item) -> AsyncReceivedHandoff:
        successor = AsyncReceivedHandoff(self._client, *item)
        successor.keep()
        return successor

    def keep(self) -> None:
        """Renews the lease in the background from now on, until it is settled."""
        if self._task is None:
            self._task = asyncio.ensure_future(_keep(weakref.ref(self)))

    def _unkeep(self) -> None:
        """Renews the lease no more."""
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def __aenter__(self: A) -> A:
        self.keep()
        self._work(self._client)
        return self

    async def __aexit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self._rest()
        try:
            await self._client._run(self._succeed() if error is None else self._fail_with(error))
        finally:
            self._unkeep()


async def _keep(ref: weakref.ref[AsyncReceivedHandoff]) -> None:
    """Holds the handoff only while it renews: one that nobody has any more is left to come again."""
    while True:
        handoff = ref()
        if handoff is None or not handoff._is_held:
            return
        pause = handoff._renew_at - time.monotonic()
        if pause <= 0:
            await handoff._client._run(handoff._renew(), _RENEW_TIMEOUT_S)
            pause = 0.0
        del handoff
        await asyncio.sleep(max(0.0, pause))
