"""The asynchronous transport: HTTP/1.1 over asyncio streams, with a pool of kept-alive connections.

Connections belong to the event loop that made them. A client that is used from another loop (a second asyncio.run, say)
starts with an empty pool there; one loop at a time.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import io
import socket
import ssl
import time
from collections.abc import Iterator
from typing import Any, Optional

from . import http1
from .call import Request, Response, Stream
from .http1 import Settings


class _Reader(asyncio.StreamReader):
    """Counts, so that bytes which came after the end of an answer are noticed."""

    unread = 0

    def feed_data(self, data: Any) -> None:
        self.unread += len(data)
        super().feed_data(data)

    async def readuntil(self, separator: Any = b"\n") -> bytes:
        return self._count(await super().readuntil(separator))

    async def readexactly(self, n: int) -> bytes:
        return self._count(await super().readexactly(n))

    async def read(self, n: int = -1) -> bytes:
        return self._count(await super().read(n))

    def _count(self, data: bytes) -> bytes:
        self.unread -= len(data)
        return data


class _Connection:
    def __init__(self, settings: Settings, reader: _Reader, writer: asyncio.StreamWriter) -> None:
        self._settings = settings
        self._reader = reader
        self._writer = writer
        self.reusable = False

    @classmethod
    async def open(cls, settings: Settings) -> _Connection:
        host, port, _ = settings.endpoint
        # What asyncio.open_connection does, with a reader of our own.
        loop = asyncio.get_running_loop()
        reader = _Reader(limit=http1.HEAD_MAX_BYTES, loop=loop)
        protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
        transport, _ = await loop.create_connection(lambda: protocol, host, port, ssl=settings.tls)
        return cls(settings, reader, asyncio.StreamWriter(transport, protocol, reader, loop))

    def is_stale(self) -> bool:
        """The server has closed it, or said what nobody asked for, and the loop has seen that, or would now."""
        reader = self._reader
        if reader.at_eof() or reader.unread or reader.exception() is not None or self._writer.is_closing():
            return True
        return http1.is_readable(self._writer.get_extra_info("socket").fileno())

    def hang_up(self) -> None:
        """Says that nothing more comes from here, which ends what the server lets wait; what it sent is still read."""
        try:
            if self._writer.can_write_eof():
                self._writer.write_eof()
            else:  # TLS has no such thing; the socket below has
                self._writer.get_extra_info("socket").shutdown(socket.SHUT_WR)
        except (OSError, RuntimeError):
            pass  # gone already

    def drop(self) -> None:
        """Closes at once, whatever was going on."""
        try:
            self._writer.transport.abort()
        except RuntimeError:
            pass  # its loop is closed, and so is the connection

    async def close(self) -> None:
        self._writer.close()
        try:
            await self._writer.wait_closed()
        except OSError:
            pass  # lost already, which is as good

    async def exchange(self, request: Request) -> Response:
        """Raises OSError, IncompleteReadError and HTTPException as they come; the connection is then of no more use."""
        status, headers, keep_alive = await self._ask(request)
        body, keep_alive = await self._read_body(status, headers, keep_alive)
        self.reusable = keep_alive and self._writer.transport.get_write_buffer_size() == 0
        return Response(status, headers, body)

    async def open_stream(self, request: Request) -> Response:
        """The same, for an answer that has no end, which comes in chunks. A refusal has one, and is read whole."""
        status, headers, keep_alive = await self._ask(request)
        if status >= 400 or "chunked" not in headers.get("transfer-encoding", "").lower():
            body, _ = await self._read_body(status, headers, keep_alive)
            return Response(status, headers, body)
        return Response(status, headers, b"", _Stream(self._settings, self, request))

    async def _ask(self, request: Request) -> tuple[int, dict[str, str], bool]:
        self.reusable = False
        # Not drained: the loop goes on writing while the answer is read, which may come early where a body is refused.
        self._writer.write(self._head(request) + (request.body or b""))
        return await self._read_head()

    async def _read_body(self, status: int, headers: dict[str, str], keep_alive: bool) -> tuple[bytes, bool]:
        """The body, and whether the connection stays open after it."""
        if status in (204, 304):
            return b"", keep_alive
        if "chunked" in headers.get("transfer-encoding", "").lower():
            return await self._read_chunks(), keep_alive
        if "content-length" in headers:
            return await self._read_length(headers["content-length"]), keep_alive
        return await self._read_to_end(), False

    def _head(self, request: Request) -> bytes:
        head = bytearray(f"{request.method} {request.target} HTTP/1.1\r\n".encode("ascii"))
        for name, value in http1.request_headers(self._settings, request):
            head += name.encode("ascii") + b": " + value + b"\r\n"
        return bytes(head) + b"\r\n"

    async def _read_head(self) -> tuple[int, dict[str, str], bool]:
        """Status, headers, and whether the connection stays open. Interim answers (1xx) are skipped."""
        while True:
            try:
                raw = await self._reader.readuntil(b"\r\n\r\n")
            except asyncio.LimitOverrunError:
                raise http.client.LineTooLong("header") from None
            line, _, rest = raw.partition(b"\r\n")
            version, _, status = line[:12].partition(b" ")
            if version not in (b"HTTP/1.1", b"HTTP/1.0") or not status.isdigit() or len(status) != 3:
                raise http.client.BadStatusLine(line.decode("latin-1"))
            if status[:1] != b"1":
                break
        parsed = http.client.parse_headers(io.BytesIO(rest))
        headers = {name.lower(): value for name, value in parsed.items()}
        closing = "close" in headers.get("connection", "").lower() or version == b"HTTP/1.0"
        return int(status), headers, not closing

    async def _read_length(self, text: str) -> bytes:
        if not (text.isascii() and text.isdigit()):
            raise http.client.HTTPException(f"Content-Length: {text}")
        if int(text) > self._settings.max_response_bytes:
            raise http1.too_large(self._settings)
        return await self._reader.readexactly(int(text))

    async def read_chunk(self, room: int) -> bytes:
        """One chunk of at most so many bytes; empty after the last."""
        line = await self._reader.readuntil(b"\r\n")
        size = int(line.split(b";")[0], 16)
        if size < 0 or size > room:
            raise http1.too_large(self._settings)
        chunk = await self._reader.readexactly(size)
        if size and await self._reader.readexactly(2) != b"\r\n":
            raise http.client.HTTPException("a chunk is longer than it says")
        return chunk

    async def _read_chunks(self) -> bytes:
        body = bytearray()
        while True:
            chunk = await self.read_chunk(self._settings.max_response_bytes - len(body))
            if not chunk:
                break
            body += chunk
        while await self._reader.readuntil(b"\r\n") != b"\r\n":
            pass  # trailers
        return bytes(body)

    async def _read_to_end(self) -> bytes:
        body = bytearray()
        while True:
            part = await self._reader.read(http1.READ_BYTES)
            if not part:
                return bytes(body)
            body += part
            if len(body) > self._settings.max_response_bytes:
                raise http1.too_large(self._settings)


@contextlib.contextmanager
def _errors_of(settings: Settings, request: Request) -> Iterator[None]:
    """What goes wrong on a connection, as the errors of this package."""
    try:
        yield
    except (OSError, asyncio.IncompleteReadError) as error:
        # Since TLS 1.3 a server refuses the client's certificate after the client has begun to speak.
        if isinstance(error, ssl.SSLError) and http1.is_tls_failure(error):
            raise http1.tls_failed(settings.endpoint, error) from error
        raise http1.connection_lost(request, error) from error
    except (http.client.HTTPException, asyncio.LimitOverrunError, ValueError) as error:
        raise http1.invalid(repr(error)) from error


class _Stream(Stream):
    def __init__(self, settings: Settings, connection: _Connection, request: Request) -> None:
        self._settings = settings
        self._connection = connection
        self._request = request

    async def read(self, wait_s: float, room: int) -> bytes:
        try:
            return await asyncio.wait_for(self._read(room), wait_s)
        except asyncio.TimeoutError:
            raise http1.timed_out(self._request) from None

    async def _read(self, room: int) -> bytes:
        with _errors_of(self._settings, self._request):
            return await self._connection.read_chunk(room)

    def close(self) -> None:
        if self._request.cancel is not None:
            self._request.cancel.arm(None)
        self._connection.drop()


class _LoopPool:
    """The connections of one event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, max_connections: int) -> None:
        self.loop = loop
        self.slots = asyncio.Semaphore(max_connections)
        self.idle: list[_Connection] = []


class AsyncTransport:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._pool: Optional[_LoopPool] = None
        self._closed = False

    async def close(self) -> None:
        self._closed = True
        pool, self._pool = self._pool, None
        if pool is None:
            return
        for connection in pool.idle:
            if pool.loop is asyncio.get_running_loop():
                await connection.close()
            else:
                connection.drop()

    def _current_pool(self) -> _LoopPool:
        if self._closed:
            raise RuntimeError("this client is closed")
        loop = asyncio.get_running_loop()
        if self._pool is None or self._pool.loop is not loop:
            for connection in self._pool.idle if self._pool else ():
                connection.drop()
            self._pool = _LoopPool(loop, self._settings.max_connections)
        return self._pool

    async def send(self, request: Request, deadline: float) -> Response:
        pool = self._current_pool()
        answer = self._open_stream(request) if request.streams else self._send(pool, request)
        try:
            return await asyncio.wait_for(answer, max(0.0, deadline - time.monotonic()))
        except asyncio.TimeoutError:
            raise http1.timed_out(request) from None

    async def _send(self, pool: _LoopPool, request: Request) -> Response:
        async with pool.slots:
            connection = await self._take(pool)
            keep = False
            try:
                if request.cancel is not None:
                    if request.cancel.is_set:
                        raise http1.connection_lost(request, "it was cancelled before it was sent")
                    request.cancel.arm(connection.hang_up)
                with _errors_of(self._settings, request):
                    response = await connection.exchange(request)
                keep = connection.reusable
                return response
            finally:
                if request.cancel is not None:
                    request.cancel.arm(None)
                    keep = keep and not request.cancel.is_set
                if keep and not self._closed:
                    pool.idle.append(connection)
                else:
                    connection.drop()

    async def _open_stream(self, request: Request) -> Response:
        """On a connection of its own, which is not one of those that calls share and wait for."""
        connection = await self._connect()
        response = None
        try:
            if request.cancel is not None:
                request.cancel.arm(connection.drop)
            with _errors_of(self._settings, request):
                response = await connection.open_stream(request)
            return response
        finally:
            if response is None or response.stream is None:
                if request.cancel is not None:
                    request.cancel.arm(None)
                connection.drop()

    async def read(self, stream: Stream, wait_s: float) -> Response:
        """What comes next of a stream, as the body of a Response; empty where it has ended."""
        assert isinstance(stream, _Stream)
        return Response(200, {}, await stream.read(wait_s, self._settings.max_response_bytes))

    async def _take(self, pool: _LoopPool) -> _Connection:
        while pool.idle:
            connection = pool.idle.pop()
            if not connection.is_stale():
                return connection
            connection.drop()
        return await self._connect()

    async def _connect(self) -> _Connection:
        try:
            return await _Connection.open(self._settings)
        except ssl.SSLError as error:
            if http1.is_tls_failure(error):
                raise http1.tls_failed(self._settings.endpoint, error) from error
            raise http1.connect_failed(self._settings.endpoint, error) from error
        except OSError as error:
            raise http1.connect_failed(self._settings.endpoint, error) from error
