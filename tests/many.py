"""Thousands of connections from one process: a small HTTP client for asyncio, for tests with many clients at once."""

from __future__ import annotations

import asyncio
import json
import resource
from typing import Any

CONNECTS_AT_ONCE = 100


def allow_descriptors(wanted: int) -> bool:
    """Raises the limit on open files of this process, and of the servers it will start."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))
        except (OSError, ValueError):
            return False
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0] >= wanted


class Client:
    """One kept-alive connection."""

    def __init__(self, address: tuple[str, int], space: str) -> None:
        self.address = address
        self.head = f"Host: localhost\r\nSpine-Space: {space}\r\nContent-Type: application/json\r\n"
        self.reader: asyncio.StreamReader | None = None
        self.writer: asyncio.StreamWriter | None = None

    async def connect(self, gate: asyncio.Semaphore) -> Client:
        async with gate:
            self.reader, self.writer = await asyncio.open_connection(*self.address)
        return self

    def send(self, path: str, body: Any, headers: str = "") -> None:
        assert self.writer is not None
        data = json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\n{self.head}{headers}Content-Length: {len(data)}\r\n\r\n"
        self.writer.write(head.encode() + data)

    async def answer(self) -> tuple[int, Any]:
        assert self.reader is not None
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        length = next(int(line.split(":")[1]) for line in head if line.lower().startswith("content-length:"))
        return int(head[0].split(" ")[1]), json.loads(await self.reader.readexactly(length))

    async def post(self, path: str, body: Any) -> tuple[int, Any]:
        self.send(path, body)
        return await self.answer()

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()


async def connect_all(address: tuple[str, int], space: str, count: int) -> list[Client]:
    gate = asyncio.Semaphore(CONNECTS_AT_ONCE)
    return list(await asyncio.gather(*(Client(address, space).connect(gate) for _ in range(count))))
