"""What the tests of receiving share: sending, waiting until something is so, and a client of either kind."""

import asyncio
import time

import pytest

from memory_spine import AsyncMemorySpine, MemorySpine


def send(client, agent="coder", count=1, **options):
    return [client.send(client.agent_handoff(agent, f"work {n}"), **options) for n in range(count)]


def state(client, handoff):
    return client.handoff(handoff.id).state


def until(condition):
    """Asks again and again, which is work for the server and not sleep, until it is so."""
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline


def is_waiting(client):
    """Whether somebody's request is waiting on the server, beside this one."""
    return client.status()["http"]["requests_active"] > 1


@pytest.fixture
def sync(server, space):
    with MemorySpine(server.url, space=space) as client:
        yield client


@pytest.fixture
def in_loop(server, space):
    """Runs a coroutine function with an asynchronous client."""

    def run(function):
        async def main():
            async with AsyncMemorySpine(server.url, space=space) as spine:
                return await function(spine)

        return asyncio.run(main())

    return run
