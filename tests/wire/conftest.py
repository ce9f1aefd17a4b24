"""What the wire tests share: a running server."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from server import Server  # noqa: E402


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """One server for all tests of a file; `.url`, `.data`, `.port`. Tests keep apart by using spaces of their own."""
    running = Server(tmp_path_factory.mktemp("server") / "data").wait_until_ready()
    running.port = running.address[1]
    yield running
    assert running.terminate() == 0, running.log_tail()
