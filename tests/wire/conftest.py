"""What the wire tests share: a running server."""

import itertools
import os
import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent)]

import certificates  # noqa: E402

certificates.patch_connections()

from api import Api, wait_until  # noqa: E402
from cluster import Database, Node, Postgres  # noqa: E402
from delivery import Background, Desk  # noqa: E402
from server import Server  # noqa: E402

_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """One server for all tests of a file; `.url`, `.data`, `.port`. Tests keep apart by using spaces of their own."""
    running = Server(tmp_path_factory.mktemp("server") / "data").wait_until_ready()
    running.port = running.address[1]
    yield running
    assert running.terminate() == 0, running.log_tail()


@pytest.fixture
def connect(server):
    """Makes connections to the server: connect(), or connect(space="…"). A space of the test's own where none is named."""
    opened = []

    def make(space=None):
        opened.append(Api(server.address, space or f"space-{next(_numbers)}"))
        return opened[-1]

    yield make
    for api in opened:
        api.close()


@pytest.fixture
def api(connect):
    """A connection, in a space of its own."""
    return connect()


@pytest.fixture
def desk(server):
    """A connection that hands work over and takes it, in a space of its own."""
    desk = Desk(server.address, f"space-{next(_numbers)}")
    wait_until(lambda: desk.waiting() == 0, "the calls of the test before have ended")
    yield desk
    desk.close()


@pytest.fixture
def beside(desk):
    """Makes a call in the desk's space on a connection of its own: beside("POST", path, body)."""

    calls = []

    def call(method, path, body=None, headers=None):
        calls.append(Background(desk.address, desk.space, method, path, body, headers))
        return calls[-1]

    yield call
    for one in calls:
        one.abandon()


@pytest.fixture
def poll(desk, beside):
    """A receiver that waits, and is known to wait: poll("worker", wait_s=…)."""

    def begin(agent="worker", **fields):
        before = desk.waiting()
        call = beside("POST", f"/v1/agents/{agent}/receive", {"wait_s": 30, "format": "none", **fields})
        desk.wait_for_waiters(before + 1)
        return call

    return begin


@pytest.fixture
def start(tmp_path):
    """Starts servers of the test's own: start(*options, data=…)."""
    running = []

    def run(*options, data=None, **environment):
        running.append(Server(data or tmp_path / f"data{len(running)}", *options, **environment))
        return running[-1]

    yield run
    for one in running:
        one.discard()


@pytest.fixture(scope="module")
def postgres():
    """One for the nodes of all tests of a file."""
    # The servers are told their database here, and not by the variable for all tests.
    kept = os.environ.pop("SPINE_TEST_POSTGRES", None)
    running = Postgres()
    yield running
    running.close()
    if kept:
        os.environ["SPINE_TEST_POSTGRES"] = kept


@pytest.fixture
def database(postgres):
    """The database of a test's nodes: `.url`, `.run(sql)`."""
    return Database(postgres)


@pytest.fixture
def join(database, tmp_path):
    """Starts nodes over a database of the test's own: join(), join("--option")."""
    nodes = []

    def start(*options, **more):
        nodes.append(Node(tmp_path / f"node{len(nodes)}", database.url, *options, **more))
        return nodes[-1]

    yield start
    for node in nodes:
        node.server.discard()
