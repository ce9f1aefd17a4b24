"""Small TCP proxies, each of which can be shut: the links between a cluster's processes, cut without any privilege.

A link is open, `refused` (what goes through it is reset, and nobody gets in), or `silent` (nothing gets through, and
nobody is told, as when a cable is pulled; what was on its way arrives when it is open again). Only, TCP's own probes
are answered by this machine: who waits for an answer is not told that the other side is silent. failover.py pulls real
cables.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from typing import Any, Coroutine, TypeVar

READ_BYTES = 64 * 1024
Address = tuple[str, int]
T = TypeVar("T")


class Link:
    def __init__(self, proxies: Proxies, target: Address) -> None:
        self.proxies, self.target = proxies, target
        self.state = "open"
        self.is_open = asyncio.Event()
        self.is_open.set()
        self.writers: set[asyncio.StreamWriter] = set()
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(("127.0.0.1", 0))
        self.address: Address = self.socket.getsockname()

    async def listen(self) -> None:
        self.server = await asyncio.start_server(self.serve, sock=self.socket)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writers.add(writer)
        try:
            await self.is_open.wait()
            if self.state == "refused":
                return
            far_reader, far_writer = await asyncio.open_connection(*self.target)
            self.writers.add(far_writer)
            try:
                ways = [asyncio.ensure_future(self.pump(reader, far_writer)), asyncio.ensure_future(self.pump(far_reader, writer))]
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
                for way in ways:
                    way.cancel()
            finally:
                self.end(far_writer)
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            self.end(writer)

    async def pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(READ_BYTES):
                await self.is_open.wait()
                writer.write(data)
                await writer.drain()
            await self.is_open.wait()

    def end(self, writer: asyncio.StreamWriter) -> None:
        self.writers.discard(writer)
        writer.transport.abort()

    def turn(self, state: str) -> None:
        self.state = state
        if state == "refused":
            for writer in list(self.writers):
                writer.transport.abort()
        (self.is_open.clear if state == "silent" else self.is_open.set)()

    # --- From the other threads ---

    def set(self, state: str) -> None:
        self.proxies.call(self.turn, state)

    @property
    def port(self) -> int:
        return self.address[1]


class Proxies:
    """All links, in a thread of their own."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, name="proxies", daemon=True)
        self.thread.start()

    def link(self, target: Address) -> Link:
        async def make() -> Link:
            made = Link(self, target)
            await made.listen()
            return made
        return self.run(make())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()

    def call(self, function: Any, *arguments: Any) -> None:
        async def do() -> None:
            function(*arguments)
        self.run(do())

    def close(self) -> None:
        async def end_all() -> None:
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        self.run(end_all())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()
