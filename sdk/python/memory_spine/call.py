"""Calls without input or output: what to send, when to send it again, what to make of the answer.

A call of the protocol is a generator. It yields each `Request`, is sent the `Response`, and returns the result:

    def get(id: str) -> Steps[Memory]:
        response = yield Request("GET", f"/v1/memories/{id}")
        return response.read(Memory.from_wire)

`perform` turns that into the two things that need a machine, `Send` and `Sleep`, with deadlines and retries in between.
The blocking client and the asynchronous one differ only in how they do these two; nothing else is written twice.

RETRIES. A request is sent again, until the call's time is over, where that cannot do anything twice:

- it was not sent at all (no connection could be made);
- the connection was lost, and the request is `safe`: it only reads, says what is to be however often it is said, or
  carries an Idempotency-Key;
- the server refused it with 503 and said when to come again (it is busy, or the node of a cluster that has the space is
  being replaced), or that it is about to stop. What is refused has changed nothing. A breaker that is open (`circuit_open`) is no such refusal: whoever waits is told.

All attempts and the waits between them share the call's one deadline, so that a call outlives a restart of the server.

Some requests are refused when they are said again, because they were carried out: a lease that was given back, a parked
handoff that was redriven. They are sent again all the same, the error says that it is `repeated`, and the call looks at
what became of it.

WAITING. A request may ask the server to wait (`wait_s`), for a handoff or an ack. Each time that it is sent, the time
for its answer has that much more; the deadline of what follows it counts from its answer. A call that would rather
go on waiting than fail while the server restarts says so itself: it sends such a request with retry=False, and yields a
`Sleep` before it sends it again. `Cancel` ends the waiting from outside.

STREAMS. The answer to a request that `streams` has no end. Its Response comes when it has begun, and has the `stream`;
a call yields a `Read` for each part of it, and is sent a Response whose body is that part, empty where it has ended
after all. A stream has a connection of its own, which `close` ends.
"""

from __future__ import annotations

import logging
import random
import threading
import time
import uuid
import warnings
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Generic, Optional, TypeVar, Union
from urllib.parse import urlencode

from . import errors
from .wire import dump_json, header_value, load_json

T = TypeVar("T")

log = logging.getLogger("memory_spine")

# A server that is started again takes some hundred milliseconds; one that takes long is asked every other second.
_BACKOFF_S = 0.05
_BACKOFF_MAX_S = 2.0

# Which attempt says that a call is waiting for the server: by then it has waited for about a second.
_TELL_AT = 5

# How much later than asked for the answer to a request that waits may come.
_LATE_S = 5.0

# Where warnings.warn finds the caller's line: above _warn_of, read, the call, perform, the client's run and the method.
_WARNING_DEPTH = 7


class SpineWarning(UserWarning):
    """The server carried out a request and has something to say about it, such as a field that it does not know."""


class Cancel:
    """Ends a request that the server lets wait, from another thread or from a signal handler, now or when it is sent.

    The request then fails with ConnectionError, or succeeds, where its answer was on the way already: nothing that the
    server gave is lost.
    """

    def __init__(self) -> None:
        # A signal handler may interrupt the thread that holds it.
        self._lock = threading.RLock()
        self._hang_up: Optional[Callable[[], None]] = None
        self.is_set = False

    def set(self) -> None:
        with self._lock:
            self.is_set = True
            if self._hang_up is not None:
                self._hang_up()

    def arm(self, hang_up: Optional[Callable[[], None]]) -> None:
        """For transports: how to hang up while the request is under way; None when it is no longer."""
        with self._lock:
            self._hang_up = hang_up
            if self.is_set and hang_up is not None:
                hang_up()


@dataclass(frozen=True)
class Request:
    """One HTTP request. `safe`: sending it twice does what sending it once does. `stores`: it makes memories."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    body: Optional[bytes] = None
    headers: tuple[tuple[str, str], ...] = ()
    safe: bool = False
    retry: bool = True
    wait_s: Optional[float] = None
    cancel: Optional[Cancel] = None
    streams: bool = False
    stores: bool = False

    @property
    def target(self) -> str:
        return f"{self.path}?{urlencode(self.query)}" if self.query else self.path


class Stream:
    """An answer that has no end, in the hands of a transport, which also has the `read`."""

    def close(self) -> None:
        """Ends it, and its connection."""
        raise NotImplementedError


@dataclass(frozen=True)
class Response:
    """One HTTP answer, read whole. Header names are in lower case."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    stream: Optional[Stream] = field(default=None, repr=False)

    def read(self, parse: Callable[[Mapping[str, Any]], T]) -> T:
        """What `parse` makes of the JSON object in the body; a ProtocolError where it has not the promised shape."""
        try:
            answer = load_json(self.body)
            result = parse(answer)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise self._unexpected() from error
        _warn_of(answer)
        return result

    @property
    def text(self) -> str:
        """The body as text."""
        try:
            return self.body.decode("utf-8")
        except ValueError as error:
            raise self._unexpected() from error

    def _unexpected(self) -> errors.ProtocolError:
        return errors.ProtocolError(
            f"the server answered {self.status} with {self.body[:80]!r}, which is not what was asked for",
            code="invalid_response",
            status=self.status,
        )

    def error(self) -> errors.SpineError:
        try:
            problem = load_json(self.body)
        except ValueError:
            problem = None
        after = self.headers.get("retry-after", "")
        retry_after = float(after) if after.isdigit() else None
        return errors.from_problem(self.status, problem if isinstance(problem, dict) else {}, retry_after)


def _warn_of(answer: Mapping[str, Any]) -> None:
    notes = answer.get("warnings")
    for note in notes if isinstance(notes, list) else ():
        text = f"{note.get('field')}: {note.get('detail')}" if isinstance(note, dict) else str(note)
        # Whoever wires agents together sends before the first receiver is there; only a likely slip is worth a warning.
        if isinstance(note, dict) and note.get("code") == "agent_never_seen" and "Did you mean" not in text:
            log.info("%s", text)
        else:
            warnings.warn(text, SpineWarning, stacklevel=_WARNING_DEPTH)


@dataclass(frozen=True)
class Sleep:
    seconds: float


@dataclass(frozen=True)
class Read:
    """Read what comes next of a stream, which is to come within so many seconds."""

    stream: Stream
    wait_s: float


Steps = Generator[Union[Request, Sleep, Read], Response, T]


def get(path: str, query: tuple[tuple[str, str], ...] = ()) -> Request:
    return Request("GET", path, query, safe=True)


def post(path: str, body: Any = None, headers: tuple[tuple[str, str], ...] = (), safe: bool = False) -> Request:
    return Request("POST", path, (), b"" if body is None else dump_json(body), headers, safe)


def put(path: str, body: Any, headers: tuple[tuple[str, str], ...] = ()) -> Request:
    """A PUT says what is to be, however often it is said; not so where a header such as If-Match makes a condition."""
    return Request("PUT", path, (), dump_json(body), headers, safe=not headers)


def post_once(path: str, body: Any, idempotency_key: Optional[str]) -> Request:
    """A POST that creates. It carries a key, its own where the caller gives none, so that it can be sent again."""
    key = uuid.uuid4().hex if idempotency_key is None else header_value("idempotency_key", idempotency_key)
    return post(path, body, (("Idempotency-Key", key),), safe=True)


def of_agent(agent: str, request: Request) -> Request:
    """The same request in the name of an agent, whoever the client was made for.

    A name that cannot be a header (it ends with a blank, say) is left out, and so is the client's: of what is settled
    the server knows whose it is.
    """
    try:
        caller = header_value("agent", agent)
    except ValueError:
        caller = ""
    return replace(request, headers=(*request.headers, ("Spine-Agent", caller)))


def in_task(task: Optional[str], request: Request) -> Request:
    """The same request with the task of what it stores. One that has said so already, or stores nothing, is as it was.

    A task whose name cannot be a header is left out.
    """
    if task is None or not request.stores or any(name == "Spine-Task" for name, _ in request.headers):
        return request
    try:
        return replace(request, headers=(*request.headers, ("Spine-Task", header_value("task", task))))
    except ValueError:
        return request


def acting_as(agent: str, steps: Steps[T], task: Optional[str] = None) -> Steps[T]:
    """The same steps, carried out in the name of an agent, and for a task."""
    try:
        step = next(steps)
        while True:
            try:
                response = yield in_task(task, of_agent(agent, step)) if isinstance(step, Request) else step
            except errors.SpineError as error:
                step = steps.throw(error)
            else:
                step = steps.send(response)
    except StopIteration as stop:
        result: T = stop.value
        return result


# --- Pages ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Page(Generic[T]):
    """One page of a list. `next_page_token` is None on the last one."""

    items: list[T]
    next_page_token: Optional[str]


@dataclass(frozen=True)
class Listing(Generic[T]):
    """A list that is read in pages: its first request, the array's name in the answers, what to make of an entry."""

    request: Request
    name: str
    parse: Callable[[Mapping[str, Any]], T]
    page_token: Optional[str] = None

    def page(self, token: Optional[str]) -> Steps[Page[T]]:
        query = self.request.query if token is None else (*self.request.query, ("page_token", token))
        response = yield replace(self.request, query=query)
        page = response.read(self._parse)
        if token is not None and page.next_page_token == token:
            raise errors.ProtocolError("the server answered with the same page again", code="invalid_response")
        return page

    def _parse(self, answer: Mapping[str, Any]) -> Page[T]:
        return Page([self.parse(item) for item in answer[self.name]], answer["next_page_token"])


# --- From steps to effects -----------------------------------------------------------------------


@dataclass(frozen=True)
class Send:
    """Send the request; the deadline is a time of time.monotonic()."""

    request: Request
    deadline: float


Effect = Union[Send, Sleep, Read]
Effects = Generator[Effect, Optional[Response], T]


def perform(steps: Steps[T], timeout: float, retries: Optional[int]) -> Effects[T]:
    """The effects that carry out a call, within `timeout` seconds in all but for what it waits. A request is sent again
    `retries` times at most, or (None) as often as there is time for."""
    deadline = time.monotonic() + timeout
    try:
        step = next(steps)
        while True:
            if isinstance(step, Sleep):
                yield step
                step = next(steps)
                continue
            waits = step.wait_s is not None
            if isinstance(step, Request) and step.wait_s is not None:
                deadline = time.monotonic() + step.wait_s + (timeout if step.retry else min(timeout, _LATE_S))
            try:
                if isinstance(step, Read):
                    response = _answered((yield step))
                else:
                    response = yield from _exchange(step, deadline, min(timeout, _LATE_S), retries)
            except errors.SpineError as error:
                deadline = time.monotonic() + timeout if waits else deadline
                step = steps.throw(error)
            else:
                deadline = time.monotonic() + timeout if waits else deadline
                step = steps.send(response)
    except StopIteration as stop:
        result: T = stop.value
        return result


def _answered(response: Optional[Response]) -> Response:
    assert response is not None
    return response


def _exchange(request: Request, deadline: float, late_s: float, retries: Optional[int]) -> Effects[Response]:
    attempt = 0
    was_lost = False
    nobody: Optional[errors.SpineError] = None
    while True:
        try:
            until = deadline if request.wait_s is None else time.monotonic() + request.wait_s + late_s
            response = _answered((yield Send(request, until)))
            if response.status < 400:
                return response
            raise response.error()
        except errors.SpineError as error:
            error.repeated = was_lost
            if nobody is not None and error.code == "timeout":
                raise nobody from None  # that nobody is there says more than that the time is over
            nobody = error if error.code == "connect_failed" else None
            wait = _wait_before_retry(request, error, attempt)
            if wait is None or (retries is not None and attempt >= retries) or time.monotonic() + wait >= deadline:
                raise
            if attempt == _TELL_AT:
                log.warning("trying again for up to %.0f s: %s", deadline - time.monotonic(), error)
            was_lost = was_lost or error.code == "connection_lost"
        attempt += 1
        yield Sleep(wait)


def backoff_s(attempt: int) -> float:
    """Half to all of a time that doubles: clients that lost their server together do not come back together."""
    return min(_BACKOFF_S * 2.0 ** min(attempt, 16), _BACKOFF_MAX_S) * random.uniform(0.5, 1)


def _wait_before_retry(request: Request, error: errors.SpineError, attempt: int) -> Optional[float]:
    """Seconds to wait before the request is sent again, or None where it must not be."""
    if not request.retry:
        return None
    if isinstance(error, errors.ConnectionError):
        if error.code != "connect_failed" and not request.safe:
            return None
        return backoff_s(attempt)
    if not isinstance(error, errors.Unavailable) or not error.retryable:
        return None
    if error.retry_after is not None:
        return error.retry_after + random.uniform(0, _BACKOFF_S)
    return backoff_s(attempt) if error.code == "draining" else None
