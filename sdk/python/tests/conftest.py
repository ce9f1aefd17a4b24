"""The real server and both clients, for the tests. Each test works in a space of its own, so they share one server."""

import asyncio
import contextlib
import itertools
import os
import sys
import threading
from pathlib import Path

import pytest

SDK = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(SDK), str(SDK.parent.parent / "tests")]

from server import Server  # noqa: E402

from memory_spine import (  # noqa: E402
    AsyncChannel,
    AsyncEvents,
    AsyncHandoff,
    AsyncHandoffClient,
    AsyncMemorySpine,
    AsyncPages,
    AsyncReceivedHandoff,
    AsyncReceiver,
    HandoffClient,
    MemorySpine,
)

# What the asynchronous client returns that has methods to be awaited.
AWAITED = (AsyncHandoff, AsyncReceiver, AsyncReceivedHandoff, AsyncChannel)


class Blocking:
    """An asynchronous client, or something of it, that is used like a blocking one, so that one test holds for both."""

    def __init__(self, inner, loop):
        self._inner = inner
        self._loop = loop

    def __getattr__(self, name):
        value = getattr(self._inner, name)
        if callable(value):
            return lambda *args, **kwargs: self._wait(value, args, kwargs)
        return self._wrap(value)

    def __eq__(self, other):
        return self._inner == unwrap(other)

    def _wait(self, function, args, kwargs):
        value = function(*map(unwrap, args), **{name: unwrap(value) for name, value in kwargs.items()})
        if asyncio.iscoroutine(value):
            value = self._loop.run_until_complete(value)
        return self._wrap(value)

    def _wrap(self, value):
        if isinstance(value, list):
            return [self._wrap(entry) for entry in value]
        if isinstance(value, AWAITED):
            return Blocking(value, self._loop)
        if isinstance(value, AsyncEvents):
            return BlockingEvents(value, self._loop)
        return BlockingPages(value, self._loop) if isinstance(value, AsyncPages) else value

    def __enter__(self):
        self._loop.run_until_complete(self._inner.__aenter__())
        return self

    def __exit__(self, *how):
        return self._loop.run_until_complete(self._inner.__aexit__(*how))


def unwrap(value):
    return value._inner if isinstance(value, Blocking) else value


class BlockingPages:
    def __init__(self, pages, loop):
        self._pages = pages
        self._loop = loop

    def __iter__(self):
        return self._iterate(self._pages.__aiter__())

    def pages(self):
        return self._iterate(self._pages.pages())

    def all(self):
        return self._loop.run_until_complete(self._pages.all())

    def _iterate(self, iterator):
        try:
            while True:
                try:
                    yield self._loop.run_until_complete(iterator.__anext__())
                except StopAsyncIteration:
                    return
        finally:
            self._loop.run_until_complete(iterator.aclose())


class BlockingEvents(BlockingPages):
    """The events of an asynchronous client; they are pages to conftest, and to nobody else."""

    def __getattr__(self, name):
        return getattr(self._pages, name)


@pytest.fixture(autouse=True)
def no_environment(monkeypatch):
    for name in [name for name in os.environ if name.startswith("SPINE_") and name != "SPINE_BIN"]:
        monkeypatch.delenv(name, raising=False)


@contextlib.contextmanager
def serving(directory):
    """A server that ends as it should."""
    running = Server(directory / "data").wait_until_ready()
    yield running
    assert running.terminate() == 0, running.log_tail()


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture
def start_server(tmp_path):
    """Starts servers of the test's own."""
    running = []

    def start(data=None, **options):
        running.append(Server(data or tmp_path / f"data{len(running)}", **options))
        return running[-1].wait_until_ready()

    yield start
    for one in running:
        if one.process.poll() is None:
            one.terminate()


@pytest.fixture(params=["sync", "async"])
def connect(request):
    """Makes clients of either kind, used alike: connect(url, space=…)."""
    opened = []
    loop = asyncio.new_event_loop()

    def make(endpoint, **options):
        if request.param == "sync":
            client = MemorySpine(endpoint, **options)
        else:
            client = Blocking(AsyncMemorySpine(endpoint, **options), loop)
        opened.append(client)
        return client

    yield make
    for client in opened:
        client.close()
    loop.close()


_space_numbers = itertools.count(1)


@pytest.fixture
def space():
    return f"test-{next(_space_numbers)}"


@pytest.fixture
def spine(connect, server, space):
    return connect(server.url, space=space)


@pytest.fixture
def other(server, space):
    """Another agent's client in the same space, always a blocking one: for use in threads."""
    with MemorySpine(server.url, space=space) as client:
        yield client


@pytest.fixture
def handoff_client():
    """Makes the HandoffClient that belongs to a client."""

    def make(spine, **options):
        if isinstance(spine, Blocking):
            return Blocking(AsyncHandoffClient(spine._inner, **options), spine._loop)
        return HandoffClient(spine, **options)

    return make


@pytest.fixture
def in_thread():
    """Starts functions in threads, and has them end, without an error, before the test does."""
    threads = []
    failed = []

    def start(function, *args, **kwargs):
        def work():
            try:
                function(*args, **kwargs)
            except BaseException as error:
                failed.append(error)

        threads.append(threading.Thread(target=work))
        threads[-1].start()
        return threads[-1]

    def join():
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
        if failed:
            raise failed.pop()

    start.join = join
    yield start
    join()
