"""What both transports share of HTTP/1.1: the head of a request, and limits for the answer."""

from __future__ import annotations

import select
from dataclasses import dataclass

from . import errors
from .call import Request
from .wire import Endpoint

HEAD_MAX_BYTES = 64 * 1024
READ_BYTES = 64 * 1024

Header = tuple[str, bytes]


@dataclass(frozen=True)
class Settings:
    """What a transport is told once. `headers` go with every request."""

    endpoint: Endpoint
    headers: tuple[tuple[str, str], ...]
    max_connections: int
    max_response_bytes: int


def request_headers(settings: Settings, request: Request) -> list[Header]:
    """All headers of a request; their values are UTF-8, which the names of agents need.

    What the request says itself (who is calling, what it accepts) takes the place of what the client was told once; ""
    leaves it out.
    """
    own = {name for name, _ in request.headers}
    usual = (("Host", settings.endpoint.authority), ("Accept", "application/json"), *settings.headers)
    headers = [*((name, value) for name, value in usual if name not in own), *request.headers]
    if request.body is not None:
        if request.body:
            headers.append(("Content-Type", "application/json"))
        headers.append(("Content-Length", str(len(request.body))))
    return [(name, value.encode("utf-8")) for name, value in headers if value]


def is_readable(fileno: int) -> bool:
    """Whether there is something to read right now. On an idle connection that is its end, or what nobody asked for."""
    if hasattr(select, "poll"):
        poll = select.poll()
        poll.register(fileno, select.POLLIN)
        return bool(poll.poll(0))
    return bool(select.select([fileno], [], [], 0)[0])


def connect_failed(endpoint: Endpoint, error: Exception) -> errors.ConnectionError:
    return errors.ConnectionError(
        f"no Memory Spine at http://{endpoint.authority}: {error}", code="connect_failed", retryable=True
    )


def connection_lost(request: Request, error: object) -> errors.ConnectionError:
    return errors.ConnectionError(
        f"the connection was lost during {request.method} {request.path}: {error}",
        code="connection_lost",
        retryable=request.safe,
    )


def timed_out(request: Request) -> errors.TimeoutError:
    return errors.TimeoutError(
        f"no answer in time to {request.method} {request.path}", code="timeout", retryable=request.safe
    )


def invalid(what: object) -> errors.ProtocolError:
    return errors.ProtocolError(f"this is no HTTP answer: {what}", code="invalid_response")


def too_large(settings: Settings) -> errors.ProtocolError:
    return errors.ProtocolError(
        f"the answer is larger than max_response_bytes ({settings.max_response_bytes}): ask for less at a time",
        code="response_too_large",
    )
