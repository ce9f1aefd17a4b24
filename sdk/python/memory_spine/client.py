"""The two clients. Both are lists of calls; what a call does is in the modules named after its subject."""

from __future__ import annotations

import asyncio
import os
import time
import weakref
from types import TracebackType
from typing import Optional, TypeVar

from . import agents as agent_calls
from . import alerts as alert_calls
from . import channels as channel_calls
from . import deliveries, handoffs, left, many, memories, server, watching
from . import keys as key_calls
from . import quarantine as quarantine_calls
from . import queues as queue_calls
from . import spaces as space_calls
from . import tasks as task_calls
from ._version import __version__
from .async_transport import AsyncTransport
from .call import Read, Request, Response, Sleep, Steps, in_task, perform
from .channel import AsyncChannel, Channel
from .credentials import Path, find_key, tls_context
from .errors import SpineError
from .handoff import AsyncEnvelope, SyncEnvelope, awaiting_handoff, blocking_handoff
from .events import awaiting_events, blocking_events
from .http1 import Settings
from .inbox import AsyncInbox
from .keeper import Keeper
from .method import awaiting, awaiting_pages, blocking, blocking_pages
from .receiver import AsyncReceiver, Receiver
from .transport import Transport
from .wire import Endpoint, header_value
from .work import task_of

T = TypeVar("T")
Self = TypeVar("Self")

DEFAULT_ENDPOINT = "http://127.0.0.1:8788"


class _Client:
    """What both clients are told, and read from the environment where they are not."""

    def __init__(
        self,
        endpoint: Optional[str] = None,
        space: Optional[str] = None,
        agent: Optional[str] = None,
        timeout: float = 30.0,
        *,
        key: Optional[str] = None,
        key_file: Optional[Path] = None,
        ca_file: Optional[Path] = None,
        cert_file: Optional[Path] = None,
        cert_key_file: Optional[Path] = None,
        retries: Optional[int] = None,
        max_connections: int = 100,
        max_response_bytes: int = 64 * 1024 * 1024,
    ) -> None:
        """Connects to nothing yet.

        endpoint            where the server is; else SPINE_URL, else http://127.0.0.1:8788
        space               the space to work in; else SPINE_SPACE, else the server's "default"
        agent               who is calling, the author of what is stored; else SPINE_AGENT, else nobody
                            (what is stored belongs to the task of the handoff in hand, else to SPINE_TASK, which
                            `spine receive --exec` sets)
        timeout             seconds that one call may take. Within them it is tried again where that is safe, so that
                            a restart of the server is waited for
        key, key_file       what the client proves itself with where the server asks for a key, or a file of mode 0600
                            that holds it; else SPINE_KEY, else SPINE_KEY_FILE
        ca_file             of an https:// server: the certificates (PEM) of the authorities that are trusted, instead
                            of the system's; else SPINE_CA_FILE
        cert_file           the client's certificate, where the server asks for one; else SPINE_CERT_FILE
        cert_key_file       its private key, where that is not in the same file; else SPINE_CERT_KEY_FILE
        retries             how often a request is sent again at most; 0: never. None: as often as there is time for
        max_connections     beyond it, calls wait for one another
        max_response_bytes  beyond it, an answer is refused
        """
        if timeout <= 0 or (retries or 0) < 0 or max_connections < 1 or max_response_bytes < 1:
            raise ValueError("timeout, max_connections and max_response_bytes must be positive, retries not negative")
        self._endpoint = endpoint or os.environ.get("SPINE_URL") or DEFAULT_ENDPOINT
        self._space = space or os.environ.get("SPINE_SPACE") or None
        self._agent = agent or os.environ.get("SPINE_AGENT") or None
        self._task = self._task_around()
        self.timeout = timeout
        self.retries = retries
        headers: list[tuple[str, str]] = [("User-Agent", f"memory-spine-python/{__version__}")]
        if self._space is not None:
            headers.append(("Spine-Space", header_value("space", self._space)))
        if self._agent is not None:
            headers.append(("Spine-Agent", header_value("agent", self._agent)))
        at = Endpoint.parse(self._endpoint)
        secret = find_key(key, key_file)
        if secret is not None:
            headers.append(("Authorization", f"Bearer {secret}"))
        tls = tls_context(at, ca_file, cert_file, cert_key_file)
        self._open(Settings(at, tuple(headers), max_connections, max_response_bytes, tls))

    def _open(self, settings: Settings) -> None:
        raise NotImplementedError

    @property
    def endpoint(self) -> str:
        return self._endpoint

    @property
    def space(self) -> Optional[str]:
        """The space that was asked for; None is the server's default."""
        return self._space

    @property
    def agent_name(self) -> Optional[str]:
        """Who is calling, the `agent` that the client was made with; None is nobody."""
        return self._agent

    def _task_around(self) -> Optional[str]:
        """The task that this program was started for. It is one of the server and the space that it was told."""
        here = (os.environ.get("SPINE_URL") or DEFAULT_ENDPOINT, os.environ.get("SPINE_SPACE") or None)
        return (os.environ.get("SPINE_TASK") or None) if here == (self._endpoint, self._space) else None

    def _for_task(self, request: Request) -> Request:
        """What is stored belongs to what the client has in hand."""
        return in_task(task_of(self) or self._task, request) if request.stores else request

    def _named(self, name: Optional[str]) -> str:
        name = self._agent if name is None else name
        if not isinstance(name, str) or not name:
            raise ValueError("which agent? Name one, here or when the client is made (agent=…)")
        return name

    def __repr__(self) -> str:
        return f"{type(self).__name__}(endpoint={self.endpoint!r}, space={self.space!r}, agent={self._agent!r})"


class MemorySpine(_Client):
    """The blocking client. Any number of threads may share one.

    with MemorySpine() as spine:
        memory = spine.store("The gateway answers 429 with Retry-After in seconds.", tags=["gateway"])
    """

    def _open(self, settings: Settings) -> None:
        self._transport = Transport(settings)
        self._keeper = Keeper(self)

    def _run(self, steps: Steps[T], timeout: Optional[float] = None) -> T:
        left.settle_here()
        effects = perform(steps, self.timeout if timeout is None else timeout, self.retries)
        try:
            effect = next(effects)
            while True:
                response: Optional[Response] = None
                try:
                    if isinstance(effect, Sleep):
                        time.sleep(effect.seconds)
                    elif isinstance(effect, Read):
                        response = self._transport.read(effect.stream, effect.wait_s)
                    else:
                        response = self._transport.send(self._for_task(effect.request), effect.deadline)
                except SpineError as error:
                    effect = effects.throw(error)
                else:
                    effect = effects.send(response)
        except StopIteration as stop:
            result: T = stop.value
            return result

    def close(self) -> None:
        """Closes the connections. Calls under way in other threads end as they would have; later ones are refused."""
        left.settle_of(self, None)
        self._transport.close()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        left.settle_of(self, error)
        self.close()

    def agent(self, name: Optional[str] = None, *, instance: Optional[str] = None) -> Receiver:
        """An agent as a receiver of handoffs: `receive`, `inbox`, `run`. Asks the server nothing yet.

        name      which agent; else the one that the client was made with
        instance  which of several that share its queue this is, for those who look
        """
        return Receiver(self, self._named(name), instance)

    def get_channel(self, name: str) -> Channel:
        """A channel: `publish`, `join`, `subscribe`. Asks the server nothing yet."""
        return Channel(self._run, name)

    store = blocking(memories.store)
    store_many = blocking(memories.store_many)
    get = blocking(memories.get)
    versions = blocking_pages(memories.versions)
    update = blocking(memories.update)
    revert = blocking(memories.revert)
    pin = blocking(memories.pin)
    unpin = blocking(memories.unpin)
    forget = blocking(memories.forget)
    fetch = blocking(memories.fetch)
    search = blocking(memories.search)
    list = blocking_pages(memories.list_memories)

    pack = blocking_handoff(handoffs.pack)
    agent_handoff = blocking_handoff(handoffs.agent_handoff)
    envelope = blocking(handoffs.envelope, SyncEnvelope.bind)
    resolve = blocking(handoffs.resolve)
    receipts = blocking(handoffs.receipts)
    considered = blocking(handoffs.considered)
    verify = blocking(handoffs.verify)
    diff = blocking(handoffs.diff)

    send = blocking(deliveries.send)
    deliver_handoff = blocking(deliveries.deliver_handoff)
    handoff = blocking(deliveries.handoff)
    handoffs = blocking_pages(deliveries.handoffs)
    cancel = blocking(deliveries.cancel)
    move = blocking(deliveries.move)
    cancel_many = blocking(many.cancel_many)
    move_many = blocking(many.move_many)
    queues = blocking_pages(queue_calls.queues)
    queue = blocking_pages(queue_calls.queue)

    park_envelope = blocking(deliveries.park_envelope)
    parked = blocking_pages(deliveries.parked)
    redrive = blocking(deliveries.redrive)
    reroute = blocking(deliveries.reroute)
    shrink = blocking(deliveries.shrink)
    discard = blocking(deliveries.discard)
    restore = blocking(deliveries.restore)
    redrive_many = blocking(many.redrive_many)
    reroute_many = blocking(many.reroute_many)
    discard_many = blocking(many.discard_many)
    restore_many = blocking(many.restore_many)

    channels = blocking_pages(channel_calls.channels)
    routes = blocking_pages(channel_calls.routes)
    route = blocking(channel_calls.route)
    put_route = blocking(channel_calls.put_route)
    delete_route = blocking(channel_calls.delete_route)

    task = blocking(task_calls.task)
    tasks = blocking_pages(task_calls.tasks)
    fidelity = blocking(task_calls.fidelity)
    blame = blocking(task_calls.blame)
    waive = blocking(task_calls.waive)
    trace = blocking(task_calls.trace)

    register_agent = blocking(agent_calls.register_agent)
    agent_info = blocking(agent_calls.agent_info)
    agents = blocking_pages(agent_calls.agents)
    reset_breaker = blocking(agent_calls.reset_breaker)
    delete_agent = blocking(agent_calls.delete_agent)

    space_info = blocking(space_calls.space_info)
    set_space = blocking(space_calls.set_space)
    quarantine = blocking(quarantine_calls.quarantine)
    release_quarantined = blocking(quarantine_calls.release_quarantined)
    purge = blocking(quarantine_calls.purge)
    quarantined = blocking_pages(quarantine_calls.quarantined)
    delete_space = blocking(space_calls.delete_space)
    spaces = blocking_pages(space_calls.spaces)

    alerts = blocking_pages(alert_calls.alerts)
    alert_rules = blocking(alert_calls.alert_rules)
    ack_alert = blocking(alert_calls.ack_alert)
    silence_alert = blocking(alert_calls.silence_alert)

    stats = blocking(watching.stats)
    audit = blocking_pages(watching.audit)
    events = blocking_events(watching.events)

    create_key = blocking(key_calls.create_key)
    keys = blocking_pages(key_calls.keys)
    key = blocking(key_calls.key)
    rotate_key = blocking(key_calls.rotate_key)
    revoke_key = blocking(key_calls.revoke_key)
    session = blocking(key_calls.session)

    tokens = blocking(server.tokens)
    status = blocking(server.status)
    cluster = blocking(server.cluster)
    healthy = blocking(server.healthy)
    ready = blocking(server.ready)


class AsyncMemorySpine(_Client):
    """The asynchronous client: the same calls, to be awaited. Any number of tasks of one event loop may share one.

    async with AsyncMemorySpine() as spine:
        memory = await spine.store("The gateway answers 429 with Retry-After in seconds.", tags=["gateway"])
    """

    def _open(self, settings: Settings) -> None:
        self._transport = AsyncTransport(settings)
        self._inboxes: weakref.WeakSet[AsyncInbox] = weakref.WeakSet()

    async def _run(self, steps: Steps[T], timeout: Optional[float] = None) -> T:
        effects = perform(steps, self.timeout if timeout is None else timeout, self.retries)
        try:
            effect = next(effects)
            while True:
                response: Optional[Response] = None
                try:
                    if isinstance(effect, Sleep):
                        await asyncio.sleep(effect.seconds)
                    elif isinstance(effect, Read):
                        response = await self._transport.read(effect.stream, effect.wait_s)
                    else:
                        response = await self._transport.send(self._for_task(effect.request), effect.deadline)
                except SpineError as error:
                    effect = effects.throw(error)
                else:
                    effect = effects.send(response)
        except StopIteration as stop:
            result: T = stop.value
            return result

    async def close(self) -> None:
        """Closes the connections. Calls under way in other tasks end as they would have; later ones are refused."""
        await self._close(None)

    async def _close(self, error: Optional[BaseException]) -> None:
        for inbox in list(self._inboxes):
            await inbox._leave(error)
        await self._transport.close()

    async def __aenter__(self: Self) -> Self:
        return self

    async def __aexit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self._close(error)

    def agent(self, name: Optional[str] = None, *, instance: Optional[str] = None) -> AsyncReceiver:
        """An agent as a receiver of handoffs: `receive`, `inbox`, `run`. Asks the server nothing yet.

        name      which agent; else the one that the client was made with
        instance  which of several that share its queue this is, for those who look
        """
        return AsyncReceiver(self, self._named(name), instance)

    def get_channel(self, name: str) -> AsyncChannel:
        """A channel: `publish`, `join`, `subscribe`. Asks the server nothing yet."""
        return AsyncChannel(self._run, name)

    store = awaiting(memories.store)
    store_many = awaiting(memories.store_many)
    get = awaiting(memories.get)
    versions = awaiting_pages(memories.versions)
    update = awaiting(memories.update)
    revert = awaiting(memories.revert)
    pin = awaiting(memories.pin)
    unpin = awaiting(memories.unpin)
    forget = awaiting(memories.forget)
    fetch = awaiting(memories.fetch)
    search = awaiting(memories.search)
    list = awaiting_pages(memories.list_memories)

    pack = awaiting_handoff(handoffs.pack)
    agent_handoff = awaiting_handoff(handoffs.agent_handoff)
    envelope = awaiting(handoffs.envelope, AsyncEnvelope.bind)
    resolve = awaiting(handoffs.resolve)
    receipts = awaiting(handoffs.receipts)
    considered = awaiting(handoffs.considered)
    verify = awaiting(handoffs.verify)
    diff = awaiting(handoffs.diff)

    send = awaiting(deliveries.send)
    deliver_handoff = awaiting(deliveries.deliver_handoff)
    handoff = awaiting(deliveries.handoff)
    handoffs = awaiting_pages(deliveries.handoffs)
    cancel = awaiting(deliveries.cancel)
    move = awaiting(deliveries.move)
    cancel_many = awaiting(many.cancel_many)
    move_many = awaiting(many.move_many)
    queues = awaiting_pages(queue_calls.queues)
    queue = awaiting_pages(queue_calls.queue)

    park_envelope = awaiting(deliveries.park_envelope)
    parked = awaiting_pages(deliveries.parked)
    redrive = awaiting(deliveries.redrive)
    reroute = awaiting(deliveries.reroute)
    shrink = awaiting(deliveries.shrink)
    discard = awaiting(deliveries.discard)
    restore = awaiting(deliveries.restore)
    redrive_many = awaiting(many.redrive_many)
    reroute_many = awaiting(many.reroute_many)
    discard_many = awaiting(many.discard_many)
    restore_many = awaiting(many.restore_many)

    channels = awaiting_pages(channel_calls.channels)
    routes = awaiting_pages(channel_calls.routes)
    route = awaiting(channel_calls.route)
    put_route = awaiting(channel_calls.put_route)
    delete_route = awaiting(channel_calls.delete_route)

    task = awaiting(task_calls.task)
    tasks = awaiting_pages(task_calls.tasks)
    fidelity = awaiting(task_calls.fidelity)
    blame = awaiting(task_calls.blame)
    waive = awaiting(task_calls.waive)
    trace = awaiting(task_calls.trace)

    register_agent = awaiting(agent_calls.register_agent)
    agent_info = awaiting(agent_calls.agent_info)
    agents = awaiting_pages(agent_calls.agents)
    reset_breaker = awaiting(agent_calls.reset_breaker)
    delete_agent = awaiting(agent_calls.delete_agent)

    space_info = awaiting(space_calls.space_info)
    set_space = awaiting(space_calls.set_space)
    quarantine = awaiting(quarantine_calls.quarantine)
    release_quarantined = awaiting(quarantine_calls.release_quarantined)
    purge = awaiting(quarantine_calls.purge)
    quarantined = awaiting_pages(quarantine_calls.quarantined)
    delete_space = awaiting(space_calls.delete_space)
    spaces = awaiting_pages(space_calls.spaces)

    alerts = awaiting_pages(alert_calls.alerts)
    alert_rules = awaiting(alert_calls.alert_rules)
    ack_alert = awaiting(alert_calls.ack_alert)
    silence_alert = awaiting(alert_calls.silence_alert)

    stats = awaiting(watching.stats)
    audit = awaiting_pages(watching.audit)
    events = awaiting_events(watching.events)

    create_key = awaiting(key_calls.create_key)
    keys = awaiting_pages(key_calls.keys)
    key = awaiting(key_calls.key)
    rotate_key = awaiting(key_calls.rotate_key)
    revoke_key = awaiting(key_calls.revoke_key)
    session = awaiting(key_calls.session)

    tokens = awaiting(server.tokens)
    status = awaiting(server.status)
    cluster = awaiting(server.cluster)
    healthy = awaiting(server.healthy)
    ready = awaiting(server.ready)
