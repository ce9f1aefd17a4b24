"""/openapi.json as programs of others see it: a public linter has nothing to say."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from server import ROOT, Server  # noqa: E402


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = Server(tmp_path_factory.mktemp("server") / "data").wait_until_ready()
    yield running
    assert running.terminate() == 0, running.log_tail()


def test_a_public_linter_finds_nothing_in_any_operation(server):
    lint = [shutil.which("node"), str(ROOT / "tests" / "openapi" / "lint.mjs"), server.url]
    done = subprocess.run(lint, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith(" passed, 0 failed\n")
