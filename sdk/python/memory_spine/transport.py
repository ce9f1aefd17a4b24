"""The blocking transport: http.client over a pool of kept-alive connections.

Any number of threads may send at once; each takes a connection for one exchange. The newest idle one is taken first,
so that the connections of a burst are left to the server's idle timeout. A connection that the server closed while it
was idle is noticed before anything is sent on it.

A forked child starts with an empty pool: two processes must not talk on one connection.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import socket
import ssl
import threading
import time
import weakref
from collections.abc import Iterator
from typing import Any, Optional, Union

from . import http1
from .call import Request, Response, Stream
from .http1 import Settings


class _DeadlineSocket(socket.socket):
    """A socket whose timeout is a point in time, so that a peer which sends a byte now and then cannot hold a call."""

    deadline = 0.0

    def _arm(self) -> None:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise socket.timeout("timed out")
        self.settimeout(left)

    def recv_into(self, *args: Any, **kwargs: Any) -> int:
        self._arm()
        return super().recv_into(*args, **kwargs)

    def sendall(self, *args: Any, **kwargs: Any) -> None:
        self._arm()
        super().sendall(*args, **kwargs)


class _DeadlineTlsSocket(ssl.SSLSocket):
    """The same, of a secure connection."""

    deadline = 0.0

    def _arm(self) -> None:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise socket.timeout("timed out")
        self.settimeout(left)

    def recv_into(self, *args: Any, **kwargs: Any) -> int:
        self._arm()
        return super().recv_into(*args, **kwargs)

    def sendall(self, *args: Any, **kwargs: Any) -> None:
        self._arm()
        super().sendall(*args, **kwargs)


def _secured(context: ssl.SSLContext, plain: socket.socket, host: str, deadline: float) -> _DeadlineTlsSocket:
    context.sslsocket_class = _DeadlineTlsSocket
    try:
        made = context.wrap_socket(plain, server_hostname=host, do_handshake_on_connect=False)
    except BaseException:
        plain.close()
        raise
    try:
        assert isinstance(made, _DeadlineTlsSocket)
        made.deadline = deadline
        made._arm()
        made.do_handshake()
    except BaseException:
        made.close()
        raise
    return made


class _Connection:
    def __init__(self, settings: Settings, deadline: float) -> None:
        self._settings = settings
        host, port, _ = settings.endpoint
        left = deadline - time.monotonic()
        if left <= 0:
            raise socket.timeout("timed out")
        plain = socket.create_connection((host, port), timeout=left)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._sock: Union[_DeadlineSocket, _DeadlineTlsSocket]
        if settings.tls is None:
            self._sock = _DeadlineSocket(plain.family, plain.type, plain.proto, fileno=plain.detach())
        else:
            self._sock = _secured(settings.tls, plain, host, deadline)
        self._http = http.client.HTTPConnection(host, port)
        self._http.sock = self._sock
        self.reusable = False

    def close(self) -> None:
        self._http.close()
        self._sock.close()

    def hang_up(self) -> None:
        """Says that nothing more comes from here, which ends what the server lets wait; what it sent is still read."""
        try:
            # Of the socket below: that of TLS would take what is yet to be read for plain text.
            socket.socket.shutdown(self._sock, socket.SHUT_WR)
        except OSError:
            pass  # gone already

    def is_stale(self) -> bool:
        return http1.is_readable(self._sock.fileno())

    def cut(self) -> None:
        """Ends it for both sides at once, also for whoever is reading from it in another thread."""
        try:
            socket.socket.shutdown(self._sock, socket.SHUT_RDWR)
        except OSError:
            pass  # gone already

    def exchange(self, request: Request, deadline: float) -> Response:
        """Raises OSError and HTTPException as they come; the connection is then of no more use."""
        answer, lost = self._ask(request, deadline)
        with answer:
            self.reusable = lost is None and not answer.will_close
            return Response(answer.status, _headers(answer), self._read_body(answer))

    def open_stream(self, request: Request, deadline: float) -> Response:
        """The same, for an answer that has no end. A refusal has one, and is read whole."""
        answer, _ = self._ask(request, deadline)
        if answer.status >= 400:
            with answer:
                return Response(answer.status, _headers(answer), self._read_body(answer))
        return Response(answer.status, _headers(answer), b"", _Stream(self._settings, self, request, answer))

    def read_some(self, answer: http.client.HTTPResponse, deadline: float) -> bytes:
        self._sock.deadline = deadline
        return answer.read1(http1.READ_BYTES)

    def _ask(
        self, request: Request, deadline: float
    ) -> tuple[http.client.HTTPResponse, Optional[OSError]]:
        """The answer, whose head was read, and what went wrong meanwhile."""
        self._sock.deadline = deadline
        self.reusable = False
        self._http.putrequest(request.method, request.target, skip_host=True, skip_accept_encoding=True)
        # http.client sends bytes as they are, but the types of it that come with mypy 1.0 know only text.
        headers: list[tuple[str, Any]] = [*http1.request_headers(self._settings, request)]
        for name, value in headers:
            self._http.putheader(name, value)
        lost: Optional[OSError] = None
        try:
            self._http.endheaders(request.body or None)
        except (BrokenPipeError, ConnectionResetError) as error:
            # A server that refuses a body early answers before it has read it all. Its answer says more than the reset.
            lost = error
        try:
            return self._http.getresponse(), lost
        except (OSError, http.client.HTTPException) as error:
            raise (lost or error) from error

    def _read_body(self, answer: http.client.HTTPResponse) -> bytes:
        limit = self._settings.max_response_bytes
        if answer.length is not None and answer.length > limit:
            raise http1.too_large(self._settings)
        parts: list[bytes] = []
        size = 0
        while True:
            part = answer.read(http1.READ_BYTES)
            if not part:
                break
            parts.append(part)
            size += len(part)
            if size > limit:
                raise http1.too_large(self._settings)
        if answer.length:
            raise http.client.IncompleteRead(b"", answer.length)
        return b"".join(parts)


def _headers(answer: http.client.HTTPResponse) -> dict[str, str]:
    return {name.lower(): value for name, value in answer.getheaders()}


@contextlib.contextmanager
def _errors_of(settings: Settings, request: Request) -> Iterator[None]:
    """What goes wrong on a connection, as the errors of this package."""
    try:
        yield
    except socket.timeout:
        raise http1.timed_out(request) from None
    except (OSError, http.client.IncompleteRead) as error:
        # Since TLS 1.3 a server refuses the client's certificate after the client has begun to speak.
        if isinstance(error, ssl.SSLError) and http1.is_tls_failure(error):
            raise http1.tls_failed(settings.endpoint, error) from error
        raise http1.connection_lost(request, error) from error
    except (http.client.HTTPException, ValueError) as error:
        raise http1.invalid(repr(error)) from error


class _Stream(Stream):
    def __init__(
        self, settings: Settings, connection: _Connection, request: Request, answer: http.client.HTTPResponse
    ) -> None:
        self._settings = settings
        self._connection = connection
        self._request = request
        self._answer = answer

    def read(self, deadline: float) -> bytes:
        with _errors_of(self._settings, self._request):
            return self._connection.read_some(self._answer, deadline)

    def close(self) -> None:
        if self._request.cancel is not None:
            self._request.cancel.arm(None)
        self._answer.close()
        self._connection.close()


class Transport:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._reset()
        _pools.add(self)

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._slots = threading.BoundedSemaphore(self._settings.max_connections)
        self._idle: list[_Connection] = []
        self._closed = False

    def reset_after_fork(self) -> None:
        """In the child, which has one thread. Closing the parent's connections here leaves them open there."""
        idle, closed = self._idle, self._closed
        self._reset()
        self._closed = closed
        for connection in idle:
            connection.close()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def send(self, request: Request, deadline: float) -> Response:
        if request.streams:
            return self._open_stream(request, deadline)
        if not self._slots.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise http1.timed_out(request)
        try:
            return self._send(request, deadline)
        finally:
            self._slots.release()

    def _send(self, request: Request, deadline: float) -> Response:
        connection = self._take(request, deadline)
        keep = False
        try:
            if request.cancel is not None:
                request.cancel.arm(connection.hang_up)
            with _errors_of(self._settings, request):
                response = connection.exchange(request, deadline)
            keep = connection.reusable
            return response
        finally:
            if request.cancel is not None:
                request.cancel.arm(None)
                keep = keep and not request.cancel.is_set
            self._put_back(connection, keep)

    def _open_stream(self, request: Request, deadline: float) -> Response:
        """On a connection of its own, which is not one of those that calls share and wait for."""
        if self._closed:
            raise RuntimeError("this client is closed")
        connection = self._connect(request, deadline)
        response = None
        try:
            if request.cancel is not None:
                request.cancel.arm(connection.cut)
            with _errors_of(self._settings, request):
                response = connection.open_stream(request, deadline)
            return response
        finally:
            if response is None or response.stream is None:
                if request.cancel is not None:
                    request.cancel.arm(None)
                connection.close()

    def read(self, stream: Stream, wait_s: float) -> Response:
        """What comes next of a stream, as the body of a Response; empty where it has ended."""
        assert isinstance(stream, _Stream)
        return Response(200, {}, stream.read(time.monotonic() + wait_s))

    def _take(self, request: Request, deadline: float) -> _Connection:
        while True:
            with self._lock:
                if self._closed:
                    raise RuntimeError("this client is closed")
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                break
            if not connection.is_stale():
                return connection
            connection.close()
        return self._connect(request, deadline)

    def _connect(self, request: Request, deadline: float) -> _Connection:
        try:
            return _Connection(self._settings, deadline)
        except socket.timeout:
            raise http1.timed_out(request) from None
        except ssl.SSLError as error:
            if http1.is_tls_failure(error):
                raise http1.tls_failed(self._settings.endpoint, error) from error
            raise http1.connect_failed(self._settings.endpoint, error) from error
        except OSError as error:
            raise http1.connect_failed(self._settings.endpoint, error) from error

    def _put_back(self, connection: _Connection, keep: bool) -> None:
        with self._lock:
            keep = keep and not self._closed
            if keep:
                self._idle.append(connection)
        if not keep:
            connection.close()


_pools: weakref.WeakSet[Transport] = weakref.WeakSet()


def _after_fork_in_child() -> None:
    for pool in list(_pools):
        pool.reset_after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
