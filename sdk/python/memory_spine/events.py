"""What happens in a space, as it happens: an iteration that goes on for ever, over restarts of the server, too.

    for event in spine.events(types=["handoff."]):
        print(event.id, event.event, event.subject)

The server sends events as a stream (server-sent events), each with its id. Where the connection is lost, or nothing was
heard for so long that it must be, it is made again with the last id (Last-Event-ID): no event is lost and none comes
twice. Where events are kept for a time only, and went before this iteration came to them, it ends with a
`SpineError` whose code is `events_pruned`; `error.problem["pruned_to"]` is where to go on (`after`). While the server cannot be reached the iteration waits for it, but for the first time: a wrong address is an
error.

What is common to both clients is `Feed`, written once, as steps (see call.py).
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Optional, cast

from . import errors
from .call import Cancel, Read, Request, Sleep, Steps, Stream, backoff_s
from .deliveries import may_recover
from .delivery import SpaceEvent
from .handoff import AsyncRun, Run
from .method import dress
from .wire import load_json

if TYPE_CHECKING:
    from typing_extensions import ParamSpec

    from .method import Method

    P = ParamSpec("P")

log = logging.getLogger("memory_spine")

# The server says every 15 seconds (--heartbeat) that it is there. Should it be set to say so less often, asking again
# loses nothing.
_SILENCE_S = 60.0
_EVENT_MAX_BYTES = 16 * 1024 * 1024


class Block(NamedTuple):
    """What one block of a stream came to: a position, and an event where there was one."""

    id: int
    event: Optional[SpaceEvent]


class Parser:
    """Server-sent events, by their rules: an empty line ends a block, and what is no whole line yet is kept."""

    def __init__(self) -> None:
        self._rest = b""
        self._id: Optional[int] = None
        self._name = b""
        self._data: list[bytes] = []

    def feed(self, part: bytes) -> list[Block]:
        *lines, self._rest = (self._rest + part).split(b"\n")
        if len(self._rest) > _EVENT_MAX_BYTES:
            raise errors.ProtocolError("an event is larger than can be", code="response_too_large")
        try:
            return [block for line in lines for block in self._line(line.rstrip(b"\r"))]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise errors.ProtocolError(f"this is no stream of events: {error!r}", code="invalid_response") from error

    def _line(self, line: bytes) -> list[Block]:
        name, _, value = line.partition(b":")
        value = value[1:] if value[:1] == b" " else value
        if name == b"id":
            self._id = int(value)
        elif name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._name = value
        elif not line:
            return self._end()
        return []  # a comment, or what is of no use here, such as "retry"

    def _end(self) -> list[Block]:
        name, self._name = self._name, b""
        data, self._data = b"\n".join(self._data), []
        # "problem" is why the stream ends. Who asks to go on is told the same.
        if self._id is None or name:
            return []
        return [Block(self._id, SpaceEvent.from_wire(load_json(data)) if data else None)]


class Feed:
    """Where a stream of events stands, and how it goes on."""

    def __init__(self, query: tuple[tuple[str, str], ...], after: Optional[int]) -> None:
        self._query = query
        self._stream: Optional[Stream] = None
        self._parser = Parser()
        self._was_reached = False
        self.position = after
        self.cancel = Cancel()

    def _request(self) -> Request:
        headers: tuple[tuple[str, str], ...] = (("Accept", "text/event-stream"),)
        if self.position is not None:
            headers += (("Last-Event-ID", str(self.position)),)
        return Request(
            "GET", "/v1/events", self._query, None, headers, retry=False, wait_s=0.0, cancel=self.cancel, streams=True
        )

    def _part(self) -> Steps[bytes]:
        """What comes next, over the connection there is or a new one. Empty where it has ended."""
        if self._stream is None:
            response = yield self._request()
            if response.stream is None:
                raise errors.ProtocolError("the server answered with no stream of events", code="invalid_response")
            self._stream = response.stream
            self._parser = Parser()
            self._was_reached = True
        response = yield Read(self._stream, _SILENCE_S)
        return response.body

    def next(self) -> Steps[list[Block]]:
        """Waits for what comes next. Empty where the feed was told to stop."""
        attempt = 0
        while not self.cancel.is_set:
            try:
                part = yield from self._part()
                blocks = self._parser.feed(part)
                if blocks:
                    return blocks
                if part:
                    continue
                why: object = "it has ended the stream"
            except errors.SpineError as error:
                self.close()
                lost = may_recover(error) or isinstance(error, errors.TimeoutError)
                if not self.cancel.is_set and not (self._was_reached and lost):
                    raise
                why = error
            self.close()
            if self.cancel.is_set:
                break
            if attempt == 0:
                log.warning("the events wait for the server: %s", why)
            yield Sleep(backoff_s(attempt))
            attempt += 1
        return []

    def close(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.close()


class Events:
    """The events of a space, to be looped over; see above. Made by `MemorySpine.events`.

    Each iteration goes on where the last one was left.
    """

    def __init__(self, run: Run, feed: Feed) -> None:
        self._run = run
        self._feed = feed

    @property
    def position(self) -> Optional[int]:
        """The id up to which all events were given, which `events` takes as `after`; None where nothing came yet."""
        return self._feed.position

    def __iter__(self) -> Iterator[SpaceEvent]:
        try:
            while True:
                blocks = self._run(self._feed.next())
                if not blocks:
                    return
                for block in blocks:
                    self._feed.position = block.id
                    if block.event is not None:
                        yield block.event
        finally:
            self._feed.close()

    def stop(self) -> None:
        """Ends the iteration. Other threads and signal handlers may call it."""
        self._feed.cancel.set()


class AsyncEvents:
    """The events of a space, to be looped over with `async for`; see above. Made by `AsyncMemorySpine.events`.

    Each iteration goes on where the last one was left.
    """

    def __init__(self, run: AsyncRun, feed: Feed) -> None:
        self._run = run
        self._feed = feed

    @property
    def position(self) -> Optional[int]:
        """The id up to which all events were given, which `events` takes as `after`; None where nothing came yet."""
        return self._feed.position

    async def __aiter__(self) -> AsyncIterator[SpaceEvent]:
        try:
            while True:
                blocks = await self._run(self._feed.next())
                if not blocks:
                    return
                for block in blocks:
                    self._feed.position = block.id
                    if block.event is not None:
                        yield block.event
        finally:
            self._feed.close()

    def stop(self) -> None:
        """Ends the iteration. For the event loop's own thread."""
        self._feed.cancel.set()


def blocking_events(call: Callable[P, Feed]) -> Method[P, Events]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return Events(self._run, call(*args, **kwargs))

    return cast("Method[P, Events]", dress(method, call, "Events"))


def awaiting_events(call: Callable[P, Feed]) -> Method[P, AsyncEvents]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return AsyncEvents(self._run, call(*args, **kwargs))

    return cast("Method[P, AsyncEvents]", dress(method, call, "AsyncEvents"))
