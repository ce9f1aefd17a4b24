"""Handoffs with retries, for senders that want an ack or an error and nothing in between.

    client = HandoffClient(spine, max_retries=3, timeout=15)
    ack = client.send_handoff(handoff, "code-generator")

Each try is an attempt of one and the same handoff, so that retrying makes no duplicates. The circuit breaker is the
server's: there is one for each target, and all senders of a space share it. What fails for good is parked by the
server.
"""

from __future__ import annotations

import asyncio
import random
import time
from typing import TYPE_CHECKING, Optional

from . import deliveries, errors
from .deliveries import Sendable
from .delivery import Ack, Delivery
from .models import Breaker

if TYPE_CHECKING:
    from .client import AsyncMemorySpine, MemorySpine

_BACKOFF_MAX_S = 30.0
_CLOSED = Breaker("closed", 0, None)


class _Policy:
    def __init__(self, max_retries: int, timeout: float) -> None:
        if max_retries < 1 or not timeout > 0:
            raise ValueError("max_retries must be at least 1, and timeout positive")
        self.max_retries = max_retries
        self.timeout = timeout

    def _pause_after(self, attempt: int) -> float:
        """2, 4, 8… seconds at most, and half of that at least: senders that failed together do not retry together."""
        return min(2.0**attempt, _BACKOFF_MAX_S) * random.uniform(0.5, 1)

    def _failure(
        self, target_agent: str, last: errors.SpineError, parked: Optional[Delivery] = None
    ) -> errors.HandoffError:
        failed = f"Handoff to {target_agent} failed after {self.max_retries} attempts"
        if parked is None:
            return errors.HandoffError(
                f"{failed}: {last.detail}", code=last.code, status=last.status, problem=last.problem
            )
        return errors.HandoffError(
            f"{failed}: {_cause(last)}. It is parked as {parked.id}: redrive, reroute, shrink or discard it",
            code=last.code,
            status=last.status,
            problem={**last.problem, "handoff": parked.id},
        )


def _cause(error: errors.SpineError) -> str:
    """What went wrong, without the server's advice, which follows a semicolon: here it has been taken already."""
    return error.detail.partition(";")[0]


# What is worth another try. CircuitOpenError and HandoffParkedError are not.
_AGAIN = (errors.TimeoutError, errors.ConnectionError, errors.Unavailable)


class HandoffClient(_Policy):
    """Delivers with up to `max_retries` attempts, each of which waits `timeout` seconds for the ack."""

    def __init__(self, spine: MemorySpine, max_retries: int = 3, timeout: float = 15) -> None:
        super().__init__(max_retries, timeout)
        self.spine = spine

    def send_handoff(self, envelope: Sendable, target_agent: str) -> Ack:
        """Delivers an envelope, or parks it and raises HandoffError, whose `handoff` is the id of what is parked. A
        CircuitOpenError parks nothing.
        """
        last: Optional[errors.SpineError] = None
        id = self.spine._run(deliveries.stored(envelope, target_agent))
        for attempt in range(1, self.max_retries + 1):
            if last is not None:
                time.sleep(self._pause_after(attempt - 1))
            try:
                return self.spine.deliver_handoff(id, target_agent, self.timeout, max_attempts=self.max_retries)
            except _AGAIN as error:
                last = error
        assert last is not None
        try:
            parked = self.spine.park_envelope(id, reason=_cause(last))
        except errors.SpineError as error:
            if error.code == "already_settled":  # somebody else delivered it meanwhile
                return self.spine.deliver_handoff(id, target_agent, self.timeout)
            raise self._failure(target_agent, error) from error
        raise self._failure(target_agent, last, parked) from last

    def circuit(self, target_agent: str) -> Breaker:
        """The circuit breaker of a target, as the server has it."""
        try:
            return self.spine.agent_info(target_agent).breaker or _CLOSED
        except errors.NotFound:
            return _CLOSED


class AsyncHandoffClient(_Policy):
    """Delivers with up to `max_retries` attempts, each of which waits `timeout` seconds for the ack."""

    def __init__(self, spine: AsyncMemorySpine, max_retries: int = 3, timeout: float = 15) -> None:
        super().__init__(max_retries, timeout)
        self.spine = spine

    async def send_handoff(self, envelope: Sendable, target_agent: str) -> Ack:
        """Delivers an envelope, or parks it and raises HandoffError, whose `handoff` is the id of what is parked. A
        CircuitOpenError parks nothing.
        """
        last: Optional[errors.SpineError] = None
        id = await self.spine._run(deliveries.stored(envelope, target_agent))
        for attempt in range(1, self.max_retries + 1):
            if last is not None:
                await asyncio.sleep(self._pause_after(attempt - 1))
            try:
                return await self.spine.deliver_handoff(id, target_agent, self.timeout, max_attempts=self.max_retries)
            except _AGAIN as error:
                last = error
        assert last is not None
        try:
            parked = await self.spine.park_envelope(id, reason=_cause(last))
        except errors.SpineError as error:
            if error.code == "already_settled":  # somebody else delivered it meanwhile
                return await self.spine.deliver_handoff(id, target_agent, self.timeout)
            raise self._failure(target_agent, error) from error
        raise self._failure(target_agent, last, parked) from last

    async def circuit(self, target_agent: str) -> Breaker:
        """The circuit breaker of a target, as the server has it."""
        try:
            return (await self.spine.agent_info(target_agent)).breaker or _CLOSED
        except errors.NotFound:
            return _CLOSED
