"""A channel: what one agent publishes, many receive, each for itself.

    channel = spine.get_channel("oauth-migration")
    channel.publish(envelope=handoff, receivers=["code-generator", "test-writer"], delivery="at-least-once")
    join = channel.join(handoff, timeout=600)
    print(join.state, join.results)

The calls themselves are in channels.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Optional, Union

from . import channels
from .delivery import ChannelInfo, Delivery, Join
from .handoff import AsyncRun, Run
from .handoffs import EnvelopeId
from .wire import Time


class Channel:
    """A channel of the blocking client. It comes into being when it is first used."""

    def __init__(self, run: Run, name: str) -> None:
        self._run = run
        self.name = name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def publish(
        self,
        envelope: EnvelopeId,
        receivers: Optional[Iterable[str]] = None,
        delivery: str = "at-least-once",
        *,
        priority: Optional[int] = None,
        ack_timeout_s: Optional[float] = None,
        max_attempts: Optional[int] = None,
        not_before: Optional[Time] = None,
        queue_timeout_s: Optional[float] = None,
        idempotency_key: Optional[str] = None,
    ) -> list[Delivery]:
        """Sends an envelope to each of the receivers, else to each subscriber: to all of them or, on an error, to none.

        Publishing the same envelope again sends nothing again and returns the same deliveries.
        """
        return self._run(
            channels.publish(
                self.name,
                envelope,
                receivers,
                delivery,
                priority,
                ack_timeout_s,
                max_attempts,
                not_before,
                queue_timeout_s,
                idempotency_key,
            )
        )

    def join(
        self,
        envelope: EnvelopeId,
        need: Union[str, int] = "all",
        timeout: Optional[float] = None,
        *,
        deadline: Optional[Time] = None,
    ) -> Join:
        """Waits until "all" receivers of an envelope, "any", or a number of them have completed it.

        Returns what there is when they have, when they no longer can, and when `timeout` seconds or the deadline are
        over: look at its `state`, or at its truth.
        """
        return self._run(channels.join(self.name, envelope, need, timeout, deadline))

    def subscribe(self, agent: str) -> ChannelInfo:
        """From now on the agent gets what is published without naming receivers."""
        return self._run(channels.subscribe(self.name, agent))

    def unsubscribe(self, agent: str) -> ChannelInfo:
        """Undoes `subscribe`. What was published stays the agent's."""
        return self._run(channels.unsubscribe(self.name, agent))

    def info(self) -> ChannelInfo:
        """The channel and its subscribers."""
        return self._run(channels.info(self.name))

    def describe(self, description: str) -> ChannelInfo:
        """Says what the channel is for."""
        return self._run(channels.describe(self.name, description))


class AsyncChannel:
    """A channel of the asynchronous client. It comes into being when it is first used."""

    def __init__(self, run: AsyncRun, name: str) -> None:
        self._run = run
        self.name = name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    async def publish(
        self,
        envelope: EnvelopeId,
        receivers: Optional[Iterable[str]] = None,
        delivery: str = "at-least-once",
        *,
        priority: Optional[int] = None,
        ack_timeout_s: Optional[float] = None,
        max_attempts: Optional[int] = None,
        not_before: Optional[Time] = None,
        queue_timeout_s: Optional[float] = None,
        idempotency_key: Optional[str] = None,
    ) -> list[Delivery]:
        """Sends an envelope to each of the receivers, else to each subscriber: to all of them or, on an error, to none.

        Publishing the same envelope again sends nothing again and returns the same deliveries.
        """
        return await self._run(
            channels.publish(
                self.name,
                envelope,
                receivers,
                delivery,
                priority,
                ack_timeout_s,
                max_attempts,
                not_before,
                queue_timeout_s,
                idempotency_key,
            )
        )

    async def join(
        self,
        envelope: EnvelopeId,
        need: Union[str, int] = "all",
        timeout: Optional[float] = None,
        *,
        deadline: Optional[Time] = None,
    ) -> Join:
        """Waits until "all" receivers of an envelope, "any", or a number of them have completed it.

        Returns what there is when they have, when they no longer can, and when `timeout` seconds or the deadline are
        over: look at its `state`, or at its truth.
        """
        return await self._run(channels.join(self.name, envelope, need, timeout, deadline))

    async def subscribe(self, agent: str) -> ChannelInfo:
        """From now on the agent gets what is published without naming receivers."""
        return await self._run(channels.subscribe(self.name, agent))

    async def unsubscribe(self, agent: str) -> ChannelInfo:
        """Undoes `subscribe`. What was published stays the agent's."""
        return await self._run(channels.unsubscribe(self.name, agent))

    async def info(self) -> ChannelInfo:
        """The channel and its subscribers."""
        return await self._run(channels.info(self.name))

    async def describe(self, description: str) -> ChannelInfo:
        """Says what the channel is for."""
        return await self._run(channels.describe(self.name, description))
