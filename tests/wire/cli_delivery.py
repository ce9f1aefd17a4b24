"""What the tests of the commands about delivery share: sending, taking, looking, and receivers that run beside the test."""

import subprocess
import time

import pytest
from server import binary


def sent(spine, to="coder", summary="Go.", *args):
    """A new envelope for an agent, delivered."""
    return spine.ok("send", "--to", to, summary, "--from", "analyst", "--json", *args).json


def taken(spine, agent="coder", *args):
    (handoff,) = spine.ok("receive", agent, "--json", *args).json["handoffs"]
    return handoff


def state(spine, handoff="ho-1"):
    return spine.ok("get", handoff, "--json").json


def events(spine, handoff="ho-1"):
    return [event["event"].split(".")[1] for event in state(spine, handoff)["events"]]


_started = []


def start(spine, *args, env=None):
    """One that runs while the test goes on; it does not outlive it."""
    _started.append(
        subprocess.Popen(
            [str(binary()), *args], env=spine.env(env), cwd=spine.home, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
        )
    )
    return _started[-1]


@pytest.fixture(autouse=True)
def nothing_is_left_running():
    yield
    while _started:
        process = _started.pop()
        if process.poll() is None:
            process.kill()
            process.wait()


def wait_for(condition, what):
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def parked(spine, to="coder"):
    """A handoff that was rejected."""
    sent(spine, to)
    lease = taken(spine, to)["lease"]
    assert spine.ok("reject", lease, "not mine", "--json").json["state"] == "parked"
    return lease.split(".")[0]
