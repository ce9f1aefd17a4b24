"""What the tests of the C library share: a running server, and the programs that were built (make c-tests)."""

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(Path(__file__).resolve().parent), str(ROOT / "tests")]

from server import Server  # noqa: E402


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """One server for all tests of a file; `.url`."""
    running = Server(tmp_path_factory.mktemp("server") / "data").wait_until_ready()
    yield running
    assert running.terminate() == 0, running.log_tail()


@pytest.fixture(scope="session")
def program():
    """The path of a test program: program("calls"), or of a variant: program("calls", "asan")."""

    def find(name, variant=None):
        path = ROOT / "build" / (variant or "") / "sdk" / "c" / "tests" / name
        if not path.exists():
            pytest.fail(f"{path} is missing: make c-tests, SAN=address c-tests, SAN=thread c-tests")
        return str(path)

    return find


@pytest.fixture(scope="session")
def environment():
    """Without a person's settings, which the library reads."""
    return {name: value for name, value in os.environ.items() if not name.startswith("SPINE_")}
